"""The buckets of all hands on one board, computed without the tables of all boards.

The same buckets as `Abstraction.bucket` gives hand by hand and `Abstraction.tables` for all boards at once;
here it takes about a millisecond on the river and a tenth of a second on the flop.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.abstraction.abstraction import Abstraction
from openfelt.cards.abstraction.centre_tree import CentreTree, build_tree
from openfelt.cards.abstraction.kmeans import BINS, STEP_OF, nearest_centres
from openfelt.cards.abstraction.lossless import flop_hands_on
from openfelt.cards.abstraction.ochs import cluster_of_pairs, river_buckets
from openfelt.cards.abstraction.recipes import OPPONENTS, measure_of
from openfelt.cards.abstraction.spec import OCHS
from openfelt.cards.boards import hole_class
from openfelt.cards.deck import BOARD_CARDS, CARDS, FLOP, PAIR_CARDS, PAIRS, PREFLOP, RIVER, STREETS
from openfelt.cards.strength import RUNOUTS
from openfelt.cards.strength_tables import NO_HAND, rank_hands
from openfelt.core.jit import Longs, kernel


class BoardBuckets:
    """Computes the buckets of all 1,326 hands on a board, one board at a time.

    Parameters
    ----------
    abstraction : Abstraction
    """

    def __init__(self, abstraction: Abstraction) -> None:
        self.abstraction = abstraction
        self._trees: dict[int, CentreTree] = {}  # by street

    def of(self, board: Sequence[int], runouts: int | None = None) -> Longs:
        """[1326] buckets; 0 for hands that share a card with the board.

        With `runouts` they are estimated from that many of the cards to come: neighbouring buckets may be
        confused.
        """
        street, recipe = BOARD_CARDS.index(len(board)), self.abstraction.recipe
        numbers = recipe[STREETS[street]]
        if street == PREFLOP:
            return np.asarray(numbers[hole_class()], np.int64)
        if street == FLOP and self.abstraction.spec.has_lossless_flop:
            return flop_hands_on(board).astype(np.int64)
        if self.abstraction.spec.kind == OCHS and street == RIVER and numbers.ndim == 2:
            table = np.zeros((1, PAIRS), np.int64)
            clusters = cluster_of_pairs(recipe[OPPONENTS])
            river_buckets(np.array([board], np.int64), clusters, self._tree(street), table)
            return np.asarray(table[0])
        strengths = _river_strengths(board, runouts)
        possible = np.asarray(~np.isin(PAIR_CARDS, list(board)).any(axis=1))
        if numbers.ndim == 2:
            counts = np.zeros((PAIRS, BINS), np.int64)
            _count_bins(strengths, counts)
            return nearest_centres(counts, possible, self._tree(street))
        power = 1 if measure_of(self.abstraction.spec) == "ehs" else 2
        values = np.where(strengths == NO_HAND, 0, strengths.astype(np.int64) ** power).sum(axis=0)
        # `RUNOUTS` counts the orders of the cards to come.
        count = np.maximum((strengths != NO_HAND).sum(axis=0), 1)
        buckets = np.searchsorted(numbers, values * RUNOUTS[street] // count, side="right")
        return np.where(possible, buckets, 0)

    def _tree(self, street: int) -> CentreTree:
        if street not in self._trees:
            self._trees[street] = build_tree(self.abstraction.recipe[STREETS[street]])
        return self._trees[street]


def _river_strengths(board: Sequence[int], most: int | None = None) -> NDArray[np.uint16]:
    """[boards, 1326] HS on each river board that may follow, or on some; NO_HAND for impossible hands."""
    rest = [card for card in range(CARDS) if card not in board]
    boards = np.array([(*board, *more) for more in combinations(rest, 5 - len(board))], np.int64)
    if most is not None and most < len(boards):
        boards = np.random.default_rng(0).permutation(boards)[:most]
    strengths = np.full((len(boards), PAIRS), NO_HAND, np.uint16)
    rank_hands(boards, strengths, 0, len(boards))
    return strengths


@kernel
def _count_bins(strengths: NDArray[np.uint16], counts: Longs) -> None:
    """Histograms [1326, BINS] of the strength on the river."""
    for board in range(len(strengths)):
        for pair in range(PAIRS):
            found = strengths[board, pair]
            if found != NO_HAND:
                counts[pair, STEP_OF[found]] += 1
