"""Bucket tables that are quick to make: a hash of what hands have in common that are equal up to suits."""

from __future__ import annotations

import numba
import numpy as np

from openfelt.cards.abstraction.abstraction import Abstraction, BucketTables, bucket_type
from openfelt.cards.abstraction.lossless import flop_hands
from openfelt.cards.abstraction.spec import ALL_HANDS
from openfelt.cards.boards import PERMUTED_PAIR, board_set, find_board
from openfelt.cards.deck import BOARD_CARDS, FLOP, PAIR, PAIR_CARDS, PAIRS, parse_hand

MOST_TABLES = 2  # in memory, of 0.2 to 0.4 GB each


class MadeUpBuckets:
    """Stands in for the methods of `Abstraction` that need the strengths of all hands."""

    def __init__(self):
        self._made = {}

    def tables(self, abstraction: Abstraction) -> BucketTables:
        if abstraction.name not in self._made:
            if len(self._made) == MOST_TABLES:
                self._made.pop(next(iter(self._made)))
            kind, tables = bucket_type(abstraction.spec), []
            for count, size in zip(abstraction.counts, BOARD_CARDS, strict=True):
                if count == ALL_HANDS[FLOP]:
                    tables.append(flop_hands())
                    continue
                cards = board_set(size).cards()
                tables.append(np.empty((len(cards), PAIRS), kind))
                _fill(cards, PAIR_CARDS, np.uint64(count), tables[-1])
            self._made[abstraction.name] = BucketTables(*tables)
        return self._made[abstraction.name]

    def of(self, abstraction: Abstraction, board):
        """The buckets of all hands on a board."""
        number, permutation = find_board(board)
        table = self.tables(abstraction)[BOARD_CARDS.index(len(board))]
        return np.asarray(table[number][PERMUTED_PAIR[permutation]], np.int64)

    def bucket(self, abstraction: Abstraction, hole, board=()) -> int:
        own, shown = parse_hand(hole, board)
        number, permutation = find_board(shown)
        pair = PERMUTED_PAIR[permutation, PAIR[own[0], own[1]]]
        return int(self.tables(abstraction)[BOARD_CARDS.index(len(shown))][number, pair])


@numba.njit
def _fill(boards, pair_cards, buckets, table):
    """A hash of the ranks, and of how many cards of their suits are on the board."""
    low, high = pair_cards[:, 0].astype(np.int64), pair_cards[:, 1].astype(np.int64)
    low_suit, high_suit = low % 4, high % 4
    pairs, kinds = low // 4 == high // 4, (low // 4 * 13 + high // 4) * 2 + (low_suit == high_suit)
    on_board = np.empty(4, np.int64)  # cards of each suit
    for board in range(len(boards)):
        on_board[:] = 0
        for card in boards[board]:
            on_board[card % 4] += 1
        for pair in range(len(pairs)):
            one, other = on_board[low_suit[pair]], on_board[high_suit[pair]]
            if pairs[pair] and one > other:  # two cards of a rank have no order
                one, other = other, one
            key = np.uint64(((board * 338 + kinds[pair]) * 6 + one) * 6 + other) * np.uint64(
                0x9E3779B97F4A7C15
            )
            key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
            table[board, pair] = ((key >> np.uint64(32)) * buckets) >> np.uint64(32)
