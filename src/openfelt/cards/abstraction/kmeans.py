"""Clusters of hands with similar distributions of their strength on the river, by k-means.

A hand before the river is described by the cumulative distribution of its strength on the river, over BINS
steps from 0 to 1. The squared distance of two such curves is close to the earth mover's distance that
Johanson et al. 2013 recommend, and k-means can average the curves. Centres are numbered by mean strength.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import (
    COMPOSED,
    IDENTITY,
    PERMUTATION_BITS,
    PERMUTED_CARD,
    PERMUTED_PAIR,
    board_set,
    boards,
)
from openfelt.cards.deck import BOARD_CARDS, CARDS, FLOP, PAIRS
from openfelt.cards.strength import RIVER_SCALE
from openfelt.cards.strength_tables import NO_HAND, StrengthTables
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints, Longs, kernel

BINS = 20
SAMPLE = 100_000  # hands to which the centres are fitted
SEED = 0
ROUNDING = 1e-9  # far more than the rounding error of sums and squared distances
STEP_OF = (np.arange(RIVER_SCALE + 1) * BINS // (RIVER_SCALE + 1)).astype(np.uint8)  # bin of a strength
STRIDE = 5  # bins between two checks whether a centre is already too far


class SortedCentres(NamedTuple):
    """Centres sorted by their sums, smallest first."""

    curves: Floats  # [centres, BINS]
    sums: Floats
    number: Longs  # original number of each centre


def centres(street: int, tables: StrengthTables, count: int) -> Floats:
    """The centres [count, BINS] for the flop or the turn, fitted to a sample of all hands."""
    generator = np.random.default_rng(SEED)
    multiplicity = board_set(BOARD_CARDS[street]).multiplicity
    found = np.empty((SAMPLE, BINS))
    chosen = generator.choice(len(multiplicity), SAMPLE, p=multiplicity / multiplicity.sum())
    order = np.sort(chosen)
    counts = np.empty((1, PAIRS, BINS), np.int64)
    last = -1
    for place, board in enumerate(order):
        if board != last:
            count_board(street, tables.river.hs, int(board), counts[0])
            last = board
        possible = np.flatnonzero(tables[street].hs[board] != NO_HAND)
        found[place] = cumulated(counts[0, generator.choice(possible)])
    fitted = fit(found, np.ones(SAMPLE), count)
    return fitted[np.lexsort((*fitted.T, -fitted.sum(axis=1)))]


def cuts_between_means(values: Longs, weights: Longs, count: int) -> Longs:
    """The midpoints between the means of `count` clusters of E[HS^2] values, clustered by their root HS."""
    roots = np.sqrt(values)
    means = np.sort(fit(roots[:, None], weights.astype(np.float64), min(count, len(values)))[:, 0])
    return np.ceil(((means[1:] + means[:-1]) / 2) ** 2).astype(np.int64)


def fit(points: Floats, weights: Floats, count: int) -> Floats:
    try:
        from sklearn.cluster import KMeans
    except ImportError:
        raise FeltError("k-means needs scikit-learn: pip install 'openfelt[models]'.") from None
    fitted = KMeans(count, n_init=1, max_iter=100, random_state=SEED).fit(points, sample_weight=weights)
    return np.asarray(fitted.cluster_centers_, np.float64)


def strength_counts(strengths: Longs) -> Longs:
    """The number of strengths (in 1,980ths) in each of the BINS bins."""
    return np.bincount(STEP_OF[strengths], minlength=BINS)


def cumulated(counts: Longs) -> Floats:
    """The share of boards up to each bin."""
    return np.asarray(np.cumsum(counts) / counts.sum())


def count_board(street: int, river_hs: NDArray[np.uint16], board: int, counts: Longs) -> None:
    """Histograms [1326, BINS] of the strength on the river, for all pairs of hole cards on one board."""
    counts[...] = 0
    steps = boards()
    if street == FLOP:
        _count_two(steps.to_4, steps.to_5, river_hs, board, counts)
    else:
        _count_one(steps.to_5, river_hs, board, IDENTITY, 0, counts)


@kernel
def _count_one(
    to_5: Ints, river_hs: NDArray[np.uint16], board: int, permutation: int, first: int, counts: Longs
) -> None:
    """Count the boards with one more card, from `first` on."""
    for card in range(first, CARDS):
        entry = to_5[board, PERMUTED_CARD[permutation, card]]
        if entry < 0:
            continue
        strength, permuted = (
            river_hs[entry >> PERMUTATION_BITS],
            PERMUTED_PAIR[COMPOSED[permutation, entry & 31]],
        )
        for pair in range(PAIRS):
            found = strength[permuted[pair]]
            if found != NO_HAND:
                counts[pair, STEP_OF[found]] += 1


@kernel
def _count_two(to_4: Ints, to_5: Ints, river_hs: NDArray[np.uint16], board: int, counts: Longs) -> None:
    for card in range(CARDS):
        entry = to_4[board, card]
        if entry >= 0:  # the order of two cards does not matter
            _count_one(to_5, river_hs, entry >> PERMUTATION_BITS, entry & 31, card + 1, counts)


def sort_centres(centres: Floats) -> SortedCentres:
    """The centres [centres, BINS] in the order in which `nearest_centre` searches them."""
    sums = centres.sum(axis=1)
    number = np.argsort(sums, kind="stable")
    return SortedCentres(np.ascontiguousarray(centres[number]), sums[number], number)


@kernel
def nearest_centre(counts: Longs, centres: SortedCentres, shares: Floats) -> int:
    """The number of the centre nearest to the cumulated counts. `shares` [BINS] is scratch space."""
    total, so_far = counts.sum(), 0
    for place in range(BINS):
        so_far += counts[place]
        shares[place] = so_far / total
    return nearest(shares, centres)


@kernel
def nearest(point: Floats, centres: SortedCentres) -> int:
    """The number of the centre nearest to a point; the first of equal ones.

    Two points of n numbers whose sums differ by d have a squared distance of at least d * d / n. So centres
    are searched in the order of d, up and down from the point's own sum, until no remaining one can be as
    near as the nearest so far.
    """
    own_sum, size = 0.0, len(point)
    for place in range(size):
        own_sum += point[place]
    up = np.searchsorted(centres.sums, own_sum)
    down = up - 1
    found, least = 0, np.inf
    while up < len(centres.sums) or down >= 0:
        above = centres.sums[up] - own_sum if up < len(centres.sums) else np.inf
        below = own_sum - centres.sums[down] if down >= 0 else np.inf
        if min(above, below) ** 2 / size > least + ROUNDING:
            break
        if down < 0 or above < below:
            at, up = up, up + 1
        else:
            at, down = down, down - 1
        distance = 0.0
        for first in range(0, size, STRIDE):
            for place in range(first, min(first + STRIDE, size)):
                apart = point[place] - centres.curves[at, place]
                distance += apart * apart
            if distance > least:
                break
        if distance < least or (distance == least and centres.number[at] < found):
            found, least = centres.number[at], distance
    return found


@kernel
def nearest_centres(
    counts: Longs,
    possible: NDArray[np.bool_],
    centres: SortedCentres,
    shares: Floats,
    buckets: NDArray[np.uint16],
) -> None:
    """The nearest centre of each pair's counts [1326, BINS]."""
    for pair in range(len(counts)):
        buckets[pair] = nearest_centre(counts[pair], centres, shares) if possible[pair] else 0
