"""Recipes: the numbers that define the buckets of an abstraction.

On each street a recipe is either *cuts*, ascending values of one measure (the bucket of a hand is the number
of cuts that it reaches), or *centres*, distributions of the strength on the river (a hand belongs to the
nearest). Measures are the whole numbers of `cards/strength_tables.py`: sums of HS on the river or of its
square. With `ochs` the centres of the river are equities against clusters of the opponent's hole cards
(`ochs.py`), and the recipe includes these clusters. A lossless flop needs no numbers: they are empty.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.abstraction.spec import EHS, HOLE_KINDS, KMEANS, OCHS, PERCENTILE, Spec
from openfelt.cards.boards import board_set, hole_class
from openfelt.cards.deck import BOARD_CARDS, FLOP, PAIR_CARDS, PREFLOP, RIVER, STREETS, pair_class
from openfelt.cards.strength import RIVER_SCALE, RUNOUTS, preflop_sums
from openfelt.cards.strength_tables import NO_HAND, StrengthTables
from openfelt.core.jit import Longs

Recipe = dict[str, NDArray[Any]]  # by street, and the clusters of OCHS
OPPONENTS = "opponents"


def parts_of(spec: Spec) -> tuple[str, ...]:
    """The names of the arrays of a recipe."""
    return (*STREETS, OPPONENTS) if spec.kind == OCHS else tuple(STREETS)


def needs_tables(spec: Spec) -> bool:
    """Whether the recipe depends on all hands."""
    return spec.kind in (PERCENTILE, KMEANS, OCHS) and any(
        spec.needs_numbers(street) for street in range(FLOP, len(STREETS))
    )


def make_recipe(spec: Spec, tables: StrengthTables | None) -> Recipe:
    """The recipe of an abstraction; grids need no tables."""
    recipe: Recipe = {"preflop": _preflop_buckets(spec)}
    if spec.kind == OCHS:
        from openfelt.cards.abstraction.ochs import opponent_clusters

        recipe[OPPONENTS] = opponent_clusters()
    with ThreadPoolExecutor() as pool:
        parts = pool.map(lambda street: _street_recipe(spec, street, tables), range(FLOP, len(STREETS)))
        recipe.update(zip(STREETS[FLOP:], parts, strict=True))
    return recipe


def measure_of(spec: Spec) -> str:
    """The measure of the cuts, a field of the strength tables: "ehs" or "ehs2"."""
    return "ehs" if spec.kind == EHS else "ehs2"


def highest(spec: Spec, street: int) -> int:
    """The measure of a hand that always wins."""
    return RUNOUTS[street] * RIVER_SCALE ** (1 if spec.kind == EHS else 2)


def _street_recipe(spec: Spec, street: int, tables: StrengthTables | None) -> NDArray[Any]:
    count = spec.counts[street]
    if not spec.needs_numbers(street):
        return np.zeros(0, np.int64)
    if spec.kind == OCHS and street == RIVER:
        from openfelt.cards.abstraction.ochs import opponent_clusters, river_centres

        return river_centres(opponent_clusters(), count)
    if tables is None:
        return grid_cuts(highest(spec, street), count)
    if spec.kind in (KMEANS, OCHS):
        from openfelt.cards.abstraction.kmeans import centres, cuts_between_means

        if street != RIVER:
            return centres(street, tables, count)
        return cuts_between_means(*weighted_values(tables, street), count)
    return percentile_cuts(*weighted_values(tables, street), count)


def grid_cuts(highest: int, count: int) -> Longs:
    """The cuts of an even grid from 0 to `highest`."""
    return np.array([-(-highest * place // count) for place in range(1, count)], np.int64)


def percentile_cuts(values: Longs, weights: Longs, count: int) -> Longs:
    """The cuts closest to equal weight in each bucket."""
    before = np.cumsum(weights) - weights
    wanted = np.arange(1, count) * (before[-1] + weights[-1]) / count
    above = np.minimum(np.searchsorted(before, wanted), len(values) - 1)
    below = np.maximum(above - 1, 0)
    places = np.where(wanted - before[below] < before[above] - wanted, below, above)
    return np.asarray(values[places])


def weighted_values(tables: StrengthTables, street: int) -> tuple[Longs, Longs]:
    """The distinct values of E[HS^2], ascending, and the number of hands with each."""
    multiplicity = board_set(BOARD_CARDS[street]).multiplicity
    part = tables[street]
    if street == RIVER:
        counts = np.zeros(NO_HAND + 1, np.int64)
        for board in range(0, len(multiplicity), 4096):
            some = part.hs[board : board + 4096]
            weights = np.repeat(multiplicity[board : board + 4096], some.shape[1])
            counts += np.bincount(some.ravel(), weights, NO_HAND + 1).astype(np.int64)
        present = np.flatnonzero(counts[:NO_HAND])
        return present**2, counts[present]
    possible = part.hs != NO_HAND
    values, place = np.unique(part.ehs2[possible], return_inverse=True)
    weights = np.broadcast_to(multiplicity[:, None], possible.shape)[possible]
    return values.astype(np.int64), np.bincount(place.ravel(), weights).astype(np.int64)


@cache
def hole_kinds() -> tuple[Longs, Longs, Longs]:
    """By class of hole cards [169]: number of pairs, sum of HS, sum of HS^2."""
    found = np.zeros((3, HOLE_KINDS), np.int64)
    for kind, cards in zip(hole_class(), PAIR_CARDS.tolist(), strict=True):
        found[0, kind] += 1
        found[1:, kind] = preflop_sums()[pair_class(cards)]
    return found[0], found[1], found[2]


def _preflop_buckets(spec: Spec) -> NDArray[np.uint16]:
    """The bucket of each class of hole cards."""
    count, (pairs, ehs, ehs2) = spec.counts[PREFLOP], hole_kinds()
    values = ehs if spec.kind == EHS else ehs2
    if count == HOLE_KINDS:
        return np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.uint16)
    if spec.kind in (PERCENTILE, KMEANS, OCHS):
        order = np.argsort(values, kind="stable")
        cuts = percentile_cuts(values[order], pairs[order], count)
    else:
        cuts = grid_cuts(highest(spec, PREFLOP), count)
    return np.searchsorted(cuts, values, side="right").astype(np.uint16)
