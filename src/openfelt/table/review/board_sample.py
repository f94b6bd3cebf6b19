"""Boards that may follow a decision, and the buckets of all hands on them, computed without tables.

From the flop on these are all boards that may follow. Before the flop they are a sample, and buckets on the
flop are computed from a sample of the cards to come: a flop takes a fifth of a second otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np

from openfelt.cards.abstraction.abstraction import Abstraction
from openfelt.cards.abstraction.board_buckets import BoardBuckets
from openfelt.cards.deck import BOARD_CARDS, CARDS, FLOP, PAIR, PREFLOP, RIVER, STREETS
from openfelt.core.jit import Ints, Longs

SAMPLED_BOARDS = 48  # before the flop
SAMPLED_RUNOUTS = 64  # of a flop
KEPT = 4  # samples, and buckets of them


class BoardSample(NamedTuple):
    """Full boards that begin with the cards of a decision."""

    street: int  # of the decision
    boards: Ints  # [boards, 5]
    is_complete: bool  # whether these are all boards that may follow


class SampleBuckets(NamedTuple):
    """The buckets of all hands on the boards of a sample."""

    place: Longs  # [boards, streets] row of each board in the table of a street; -1 before the decision
    tables: tuple[Longs, ...]  # by street [rows, 1326]
    rows: dict[tuple[int, ...], int]  # by the cards of a street, sorted

    def find(self, hole: Sequence[int], board: Sequence[int]) -> int | None:
        """The bucket of one hand; None if the board is not in the sample."""
        row = self.rows.get(tuple(sorted(board)))
        return (
            None if row is None else int(self.tables[BOARD_CARDS.index(len(board))][row, PAIR[tuple(hole)]])
        )


@lru_cache(maxsize=KEPT)
def board_sample(hole: tuple[int, ...], board: tuple[int, ...], most: int | None = None) -> BoardSample:
    """The boards after a decision of a player with these hole cards: from the flop on all, or `most`."""
    street, rest = (
        BOARD_CARDS.index(len(board)),
        [card for card in range(CARDS) if card not in (*hole, *board)],
    )
    if street == PREFLOP:
        generator = np.random.default_rng(0)
        drawn = [generator.choice(rest, BOARD_CARDS[RIVER], replace=False) for _ in range(SAMPLED_BOARDS)]
        return BoardSample(street, np.array(drawn, np.int32), False)
    left = BOARD_CARDS[RIVER] - len(board)
    every = np.array([(*board, *more) for more in permutations(rest, left)], np.int32)
    if most is None or len(every) <= most:
        return BoardSample(street, every, True)
    chosen = np.random.default_rng(0).choice(len(every), most, replace=False)
    return BoardSample(street, every[chosen], False)


_buckets: list[tuple[BoardSample, Abstraction, SampleBuckets]] = []  # latest last


def sample_buckets(sample: BoardSample, abstraction: Abstraction) -> SampleBuckets:
    """The buckets of an abstraction on the boards of a sample."""
    for entry in _buckets:
        if entry[0] is sample and entry[1] is abstraction:
            return entry[2]
    made = _compute(sample, abstraction)
    _buckets.append((sample, abstraction, made))
    del _buckets[:-KEPT]
    return made


@lru_cache(maxsize=KEPT)
def _board_buckets(abstraction: Abstraction) -> BoardBuckets:
    return BoardBuckets(abstraction)


def _compute(sample: BoardSample, abstraction: Abstraction) -> SampleBuckets:
    computing = _board_buckets(abstraction)
    place = np.full((len(sample.boards), len(STREETS)), -1)
    tables, rows = list[Longs](), dict[tuple[int, ...], int]()
    for street, size in enumerate(BOARD_CARDS):
        found = list[Longs]()
        for number, cards in enumerate(sample.boards[:, :size].tolist() if street >= sample.street else ()):
            key = tuple(sorted(cards))
            if key not in rows:
                is_rough = street == FLOP and sample.street == PREFLOP
                rows[key] = len(found)
                found.append(computing.of(key, SAMPLED_RUNOUTS if is_rough else None))
            place[number, street] = rows[key]
        tables.append(np.array(found) if found else np.zeros((0, 0), np.int64))
    return SampleBuckets(place, tuple(tables), rows)
