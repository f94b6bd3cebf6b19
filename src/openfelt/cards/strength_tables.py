"""The strength of every hand on every street, as matrices [canonical board, hole pair].

One sort per board ranks all its hands; running counts, without hands that share a card, give the number that
each one beats. The sums of the turn come from the table of the river, those of the flop from the turn, those
before the flop from the flop.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards import boards, deck, evaluator, strength
from openfelt.cards.boards import IDENTITY, PERMUTATION_BITS, PERMUTED_PAIR, board_set, find_board, step
from openfelt.cards.deck import (
    BOARD_CARDS,
    CARDS,
    FLOP,
    PAIR_CARDS,
    PAIRS,
    PREFLOP,
    RIVER,
    TURN,
    Cards,
    pair_class,
    pair_number,
    parse_hand,
)
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.cards.strength import OPPONENTS, RIVER_SCALE, RUNOUTS
from openfelt.core.disk_cache import FolderContents, cache_name, load_or_build
from openfelt.core.jit import Ints, Longs, kernel
from openfelt.core.user_folders import cache_folder

NO_HAND = 65535  # in a table of HS where a hole card is on the board; sums are 0 there
STEP = 128  # boards between two calls of `progress`

Shorts = NDArray[np.uint16]
Progress = Callable[[float], object]  # called with the share of the work done since the last call


class StreetStrength(NamedTuple):
    """The tables of one street. On the river there are no sums: they would be HS and its square."""

    hs: Shorts  # [boards, 1326] twice the opponents beaten plus those tied
    ehs: NDArray[Any]  # [boards, 1326] sum of HS on the river over all possible boards
    ehs2: NDArray[Any]  # [boards, 1326] sum of its square


class StrengthTables(NamedTuple):
    """The tables of all streets. Before the flop there is one board, the empty one, and no HS."""

    preflop: StreetStrength
    flop: StreetStrength
    turn: StreetStrength
    river: StreetStrength

    def at(self, hole: Cards, board: Cards = ()) -> tuple[float, float, float]:
        """HS, EHS and E[HS^2] of one hand."""
        own, table = parse_hand(hole, board)
        street = BOARD_CARDS.index(len(table))
        number, permutation = find_board(table)
        place = number, PERMUTED_PAIR[permutation, pair_number(own)]
        tables, runouts = self[street], RUNOUTS[street]
        if street == RIVER:
            hs = int(tables.hs[place]) / RIVER_SCALE
            return hs, hs, hs * hs
        ehs = int(tables.ehs[place]) / (runouts * RIVER_SCALE)
        hs = ehs if street == PREFLOP else int(tables.hs[place]) / (2 * OPPONENTS[street])
        return hs, ehs, int(tables.ehs2[place]) / (runouts * RIVER_SCALE**2)


_loaded: dict[Path, StrengthTables] = {}  # by folder


def strength_tables(*, threads: int = 2, progress: Progress | None = None) -> StrengthTables:
    """The tables, from the cache folder; computed on first use (about ten seconds, 0.7 GB)."""

    def make() -> FolderContents:
        made: dict[str, NDArray[Any]] = {}
        for street, part in make_tables(threads=threads, progress=progress)._asdict().items():
            made |= {f"{street}.{name}": table for name, table in part._asdict().items()}
        return made, {}

    def restore(arrays: dict[str, NDArray[Any]], _: object) -> StrengthTables:
        streets = [
            StreetStrength(*(arrays[f"{street}.{name}"] for name in StreetStrength._fields))
            for street in StrengthTables._fields
        ]
        return StrengthTables(*streets)

    folder = tables_folder()
    if folder not in _loaded:
        _loaded[folder] = load_or_build(folder, "strength", "The table of hand strengths", make, restore)
    return _loaded[folder]


def tables_folder() -> Path:
    """The folder in which they are cached."""
    sources = (boards, deck, evaluator, strength, sys.modules[__name__])
    return cache_folder() / "cards" / cache_name("strength", sources)


def make_tables(*, threads: int = 2, progress: Progress | None = None) -> StrengthTables:
    """Compute the tables by enumeration."""
    sizes = [len(board_set(cards).key) for cards in BOARD_CARDS]
    work = 2.0 * sum(sizes[FLOP:]) + 48 * sum(sizes[FLOP:RIVER]) / 10
    report = progress or (lambda _: None)

    def over_boards(function: Callable[..., None], size: int, weight: float, *arguments: Any) -> None:
        def some(first: int) -> None:
            function(*arguments, first, min(first + STEP, size))
            report(weight * min(STEP, size - first) / work)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(some, range(0, size, STEP)))

    hs = [np.full((size, PAIRS), NO_HAND, np.uint16) for size in sizes]
    for street in (FLOP, TURN, RIVER):
        cards = board_set(BOARD_CARDS[street]).cards()
        over_boards(rank_hands, sizes[street], 2.0, cards, hs[street])
    below, squares = hs[RIVER], np.empty((0, 0), np.uint64)
    sums = {}
    for street, table in ((TURN, boards.boards().to_5), (FLOP, boards.boards().to_4)):
        ehs, ehs2 = (np.zeros((sizes[street], PAIRS), kind) for kind in (np.uint32, np.uint64))
        over_boards(_sum_next, sizes[street], 4.8, table, below, squares, ehs, ehs2)
        sums[street] = below, squares = ehs, ehs2
    ehs, ehs2 = (np.zeros((1, PAIRS), np.uint64) for _ in range(2))
    _sum_flops(*boards.boards()[:3], *sums[FLOP], ehs, ehs2)
    nothing = (
        np.empty((0, PAIRS), np.uint16),
        np.empty((0, PAIRS), np.uint32),
        np.empty((0, PAIRS), np.uint64),
    )
    return StrengthTables(
        preflop=StreetStrength(nothing[0], ehs, ehs2),
        flop=StreetStrength(hs[FLOP], *sums[FLOP]),
        turn=StreetStrength(hs[TURN], *sums[TURN]),
        river=StreetStrength(hs[RIVER], *nothing[1:]),
    )


def preflop_lines(tables: StrengthTables) -> list[str]:
    """The lines of `preflop.csv`, which gives preflop strengths without tables."""
    sums: dict[str, str] = {}
    for pair, cards in enumerate(PAIR_CARDS.tolist()):
        sums[pair_class(cards)] = f"{tables.preflop.ehs[0, pair]},{tables.preflop.ehs2[0, pair]}"
    return ["hole,hs,hs2", *(f"{name},{numbers}" for name, numbers in sums.items())]


@kernel
def rank_hands(cards: Longs, hs: Shorts, first: int, last: int) -> None:
    """HS of all hands on the boards from `first` up to `last`."""
    keys = np.empty(PAIRS, np.int64)
    beaten, level = np.zeros(CARDS, np.int64), np.zeros(CARDS, np.int64)  # by card: weaker hands, equal ones
    for board in range(first, last):
        word = np.uint64(0)
        for card in cards[board]:
            word |= CARD_BIT[card]
        count = 0
        for pair in range(PAIRS):
            hole = CARD_BIT[PAIR_CARDS[pair, 0]] | CARD_BIT[PAIR_CARDS[pair, 1]]
            if not hole & word:
                keys[count] = evaluate(word | hole) << 11 | pair
                count += 1
        keys[:count].sort()
        beaten[:] = 0
        start = 0
        while start < count:
            end = start
            while end < count and keys[end] >> 11 == keys[start] >> 11:
                for card in PAIR_CARDS[keys[end] & 2047]:
                    level[card] += 1
                end += 1
            for place in range(start, end):
                pair = keys[place] & 2047
                low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
                weaker = start - beaten[low] - beaten[high]
                equal = end - start - level[low] - level[high] + 1  # the hand itself is subtracted twice
                hs[board, pair] = 2 * weaker + equal
            for place in range(start, end):
                for card in PAIR_CARDS[keys[place] & 2047]:
                    beaten[card] += 1
                    level[card] = 0
            start = end


@kernel
def _sum_next(
    table: Ints,
    below: NDArray[Any],  # of the next street: HS on the river, or sums of it
    squares: NDArray[np.uint64],  # sums of its square; empty if the next street is the river
    ehs: NDArray[np.uint32],
    ehs2: NDArray[np.uint64],
    first: int,
    last: int,
) -> None:
    """Sum over all next cards, for the boards from `first` up to `last`."""
    for board in range(first, last):
        for card in range(CARDS):
            entry = table[board, card]
            if entry < 0:
                continue
            after, permutation = entry >> PERMUTATION_BITS, entry & 31
            if len(squares):
                for pair in range(PAIRS):  # sums are zero for hands that share a card with the board
                    permuted = PERMUTED_PAIR[permutation, pair]
                    ehs[board, pair] += below[after, permuted]
                    ehs2[board, pair] += squares[after, permuted]
            else:
                for pair in range(PAIRS):
                    found = np.uint64(below[after, PERMUTED_PAIR[permutation, pair]])
                    found = found if found < NO_HAND else np.uint64(0)
                    ehs[board, pair] += found
                    ehs2[board, pair] += found * found


@kernel
def _sum_flops(
    to_1: Ints,
    to_2: Ints,
    to_3: Ints,
    flop_ehs: NDArray[np.uint32],
    flop_ehs2: NDArray[np.uint64],
    ehs: NDArray[np.uint64],
    ehs2: NDArray[np.uint64],
) -> None:
    """Sum over all 22,100 flops."""
    for first in range(CARDS):
        for second in range(first):
            for third in range(second):
                board, permutation = step(to_1, 0, IDENTITY, first)
                board, permutation = step(to_2, board, permutation, second)
                board, permutation = step(to_3, board, permutation, third)
                for pair in range(PAIRS):
                    permuted = PERMUTED_PAIR[permutation, pair]
                    ehs[0, pair] += flop_ehs[board, permuted]
                    ehs2[0, pair] += flop_ehs2[board, permuted]
