"""The lists of `river_squares.py` on a GPU: filled, summed and looked up by a block of threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from openfelt.cards.deck import CARDS as DECK
from openfelt.core.cuda import WARP
from openfelt.core.cuda_build import cuda
from openfelt.solve.vector.gpu.river_squares import (
    BOTH,
    BYTE,
    EVERY,
    FOUR,
    HANDS,
    KIND_WORD,
    KINDS,
    LONGEST,
    PIECE_SUMS,
    PLAIN,
    RANK_COUNT,
    ROW,
    SIDE_WORDS,
    SQUARE_LIST,
    SQUARES,
    SUITED,
    SUITED_EVERY,
    SUITED_ROW,
    TEN_BITS,
    THREE,
    U,
    kind_counts,
    kind_of,
)

FEWER = True  # whether the game has fewer bets than the lines; set when the kernel is built


def enter(square: Any, board: int, ranks: Any, own: Any, table: Any, cells: Any) -> Any:
    """Write the sums of a square to the lists of its cards and of squares; returns the total."""
    plain = beside = lone = own[0] - own[0]
    for side in range(2):
        at, step, apart = cells + U(4) * ranks[side], (4 if side else 1), (1 if side else 4)
        row, suited = at + (square[SIDE_WORDS * side] & BYTE) * U(ROW), cells + U(SUITED) + ranks[side]
        for suit in range(4):
            start = apart * suit
            others, last = own[start] + own[start + step] + own[start + 2 * step], own[start + 3 * step]
            table[row + U(suit)] = others if board == FOUR else others + last
            if board != PLAIN and suit == 3:
                place = square[SIDE_WORDS * side + 2] & BYTE
                table[suited + place * U(SUITED_ROW)] = others
                place = square[SIDE_WORDS * side + 3] & BYTE
                table[suited + place * U(SUITED_ROW)] = last
            if side == 0 and suit < 3:
                plain += others
                beside += last
            elif side == 0:
                lone = others
        if board == FOUR:
            row = at + (square[SIDE_WORDS * side + 1] & BYTE) * U(ROW)
            for suit in range(4):
                table[row + U(suit)] = own[apart * suit + 3 * step]
    squares, both = cells + U(SQUARE_LIST), own[HANDS - 1]
    half = np.float32(0.5) if ranks[0] == ranks[1] else np.float32(1.0)  # hands of one rank appear twice
    every = plain + beside + lone + both
    if board == PLAIN:
        table[squares + (square[KIND_WORD] & TEN_BITS)] = half * every
    else:
        not_both = plain + beside + lone
        table[squares + (square[KIND_WORD] & TEN_BITS)] = half * (plain if board == FOUR else not_both)
        table[squares + (square[KIND_WORD + BOTH] & TEN_BITS)] = half * both
    if board == FOUR:
        table[squares + (square[KIND_WORD + 1] & TEN_BITS)] = half * beside
        table[squares + (square[KIND_WORD + 2] & TEN_BITS)] = half * lone
    return every


def add_up(board: int, table: Any, cells: Any) -> None:
    """Replace each entry of the lists by the sum of those before it; a thread for each list or piece."""
    thread, here, zero = U(cuda.threadIdx.x), cuda.local.array(LONGEST, np.float32), np.float32(0.0)
    first, length = U(2 * WARP + 16), LONGEST if board == FOUR else RANK_COUNT
    # Pieces and their lengths, which cover the entries of the list of squares: once, twice or four times 91.
    pieces, many = (14, 26) if board == FOUR else (13, 14) if board == THREE else (13, 7)
    piece, running = max(thread, first) - first, zero
    at, sums = cells + U(SQUARE_LIST) + piece * U(many), cells + U(PIECE_SUMS)
    if thread < U(DECK):
        place = cells + thread
        for step in range(length):  # independent loads, so that none waits for another
            here[step] = table[place + U(step * ROW)]
        for step in range(length):
            table[place + U(step * ROW)] = running
            running += here[step]
        table[place + U(EVERY)] = running
    elif board != PLAIN and U(2 * WARP) <= thread < U(2 * WARP + RANK_COUNT):
        place = cells + U(SUITED) + thread - U(2 * WARP)
        for step in range(LONGEST):
            here[step] = table[place + U(step * SUITED_ROW)]
        for step in range(LONGEST):
            table[place + U(step * SUITED_ROW)] = running
            running += here[step]
        table[place + U(LONGEST * SUITED_ROW)] = running
    elif first <= thread < first + U(pieces):
        for step in range(many):
            here[step] = table[at + U(step)]
        for step in range(many):
            running += here[step]
        table[sums + piece] = running
    sync_warp()
    if first <= thread <= first + U(pieces):  # the last of these threads writes the total only
        even, odd = zero, zero
        for other in range(pieces):
            total = table[sums + U(other)]
            if other % 2:
                odd += total if U(other) < piece else zero
            else:
                even += total if U(other) < piece else zero
        running = even + odd
        table[at] = running
        if piece < U(pieces):
            for step in range(1, many):
                running += here[step - 1]
                table[at + U(step)] = running


def sync_warp() -> None:
    """Wait for the threads of a warp. The simulator has no warps; `engine.py` replaces this there."""
    cuda.syncwarp()


def look_up(
    square: Any, board: int, ranks: Any, own: Any, pot: Any, table: Any, cells: Any, call: Any, met: Any
) -> None:
    """The value of each hand of a square at showdown, and the opponent's reach that is compatible with it."""
    squares = cells + U(SQUARE_LIST)
    every = table[squares + U(SQUARES if board == PLAIN else 2 * SQUARES if board == THREE else 4 * SQUARES)]
    for kind in range(KINDS):
        if kind_counts(kind, board):
            word = square[KIND_WORD + kind]
            lower, not_higher = table[squares + (word >> U(10) & TEN_BITS)], table[squares + (word >> U(20))]
            for hand in range(HANDS):
                if kind_of(hand, board) >= kind:
                    call[hand] = pot * (lower + not_higher - every)
    for side in range(2):
        at, suited = cells + U(4) * ranks[side], cells + U(SUITED) + ranks[side]
        for suit in range(4):
            if board != PLAIN and suit == 3:
                here = table[suited + U(SUITED_EVERY - SUITED)]
                plain = _between(table, suited, square[SIDE_WORDS * side + 2], SUITED_ROW) - here
                with_suit = _between(table, suited, square[SIDE_WORDS * side + 3], SUITED_ROW) - here
            else:
                here = table[at + U(EVERY + suit)]
                plain = with_suit = _between(table, at + U(suit), square[SIDE_WORDS * side], ROW) - here
                if board == FOUR:
                    word = square[SIDE_WORDS * side + 1]
                    with_suit = _between(table, at + U(suit), word, ROW) - here
            for other in range(4):  # the suit of the other card
                hand = 4 * other + suit if side else 4 * suit + other
                call[hand] -= pot * (with_suit if other == 3 else plain)
                met[hand] = met[hand] - here if side else own[hand] + (every - here)
    if FEWER:
        # Rounding must not make it negative: then an illegal bet would win (`betting_lines.NEVER`).
        for hand in range(HANDS):
            met[hand] = max(met[hand], np.float32(0.0))


def _between(table: Any, at: Any, word: Any, apart: int) -> Any:
    """The sum of the lower entries of a list plus the sum of those that are not higher."""
    return table[at + (word >> U(8) & BYTE) * U(apart)] + table[at + (word >> U(16)) * U(apart)]
