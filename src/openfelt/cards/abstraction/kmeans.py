"""Clusters of hands with similar distributions of their strength on the river, by k-means.

A hand before the river is described by the cumulative distribution of its strength on the river, over BINS
steps from 0 to 1. The squared distance of two such curves is close to the earth mover's distance that
Johanson et al. 2013 recommend, and k-means can average the curves. Centres are numbered by mean strength.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.abstraction.centre_tree import CentreTree, nearest
from openfelt.cards.abstraction.clusters import SEED, fit
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
from openfelt.core.jit import Floats, Ints, Longs, kernel

BINS = 20
SAMPLE, SAMPLE_OF_BUCKET = 100_000, 30  # hands to which the centres are fitted: at least, and for each
STEP_OF = (np.arange(RIVER_SCALE + 1) * BINS // (RIVER_SCALE + 1)).astype(np.uint8)  # bin of a strength
SLOTS = 4096  # of the hash table of the histograms on a board: a power of two, well above 1326
HASH_FACTOR, HASH_SHIFT = 0x9E3779B97F4A7C1, 40  # products differ most in their high bits


def centres(street: int, tables: StrengthTables, count: int) -> Floats:
    """The centres [count, BINS] for the flop or the turn, fitted to a sample of all hands."""
    generator = np.random.default_rng(SEED)
    multiplicity = board_set(BOARD_CARDS[street]).multiplicity
    size = max(SAMPLE, SAMPLE_OF_BUCKET * count)
    chosen = generator.choice(len(multiplicity), size, p=multiplicity / multiplicity.sum())
    counts, found = np.empty((PAIRS, BINS), np.int64), []
    for board, hands in zip(*np.unique(chosen, return_counts=True), strict=True):
        count_board(street, tables.river.hs, int(board), counts)
        possible = np.flatnonzero(tables[street].hs[board] != NO_HAND)
        drawn = counts[generator.choice(possible, int(hands))]
        found.append(np.cumsum(drawn, axis=1) / drawn.sum(axis=1, keepdims=True))
    fitted = fit(np.concatenate(found), np.ones(size), count)
    return fitted[np.lexsort((*fitted.T, -fitted.sum(axis=1)))]


def cuts_between_means(values: Longs, weights: Longs, count: int) -> Longs:
    """The midpoints between the means of `count` clusters of E[HS^2] values, clustered by their root HS."""
    roots = np.sqrt(values)
    means = np.sort(fit(roots[:, None], weights.astype(np.float64), min(count, len(values)))[:, 0])
    return np.ceil(((means[1:] + means[:-1]) / 2) ** 2).astype(np.int64)


def strength_counts(strengths: Longs) -> Longs:
    """The number of strengths (in 1,980ths) in each of the BINS bins."""
    return np.bincount(STEP_OF[strengths], minlength=BINS)


@kernel
def cumulated(counts: Longs) -> Floats:
    """The share of boards up to each bin."""
    shares: Floats = np.cumsum(counts) / counts.sum()
    return shares


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


@kernel
def nearest_centres(counts: Longs, possible: NDArray[np.bool_], tree: CentreTree) -> Longs:
    """The nearest centre of each pair's counts [1326, BINS]; 0 where a hand is impossible.

    Many hands on a board have equal counts. Only the first of them is searched for.
    """
    first, same = np.full(SLOTS, -1), np.empty(len(counts), np.int64)
    points, found = np.empty((len(counts), BINS)), 0
    for pair in range(len(counts)):
        if possible[pair]:
            slot = _find_slot(counts, pair, first)
            if first[slot] < 0:
                first[slot], same[pair] = pair, found
                points[found] = cumulated(counts[pair])
                found += 1
            else:
                same[pair] = same[first[slot]]
    numbers, buckets = nearest(points[:found], tree), np.zeros(len(counts), np.int64)
    for pair in range(len(counts)):
        if possible[pair]:
            buckets[pair] = numbers[same[pair]]
    return buckets


@kernel
def _find_slot(counts: Longs, pair: int, first: Longs) -> int:
    """The slot of a pair's counts: empty (-1), or with the first pair of equal counts."""
    mixed = np.int64(0)
    for place in range(BINS):
        mixed = mixed * HASH_FACTOR + counts[pair, place]
    slot = mixed >> HASH_SHIFT & SLOTS - 1
    while first[slot] >= 0 and not np.array_equal(counts[first[slot]], counts[pair]):
        slot = slot + 1 & SLOTS - 1
    return int(slot)
