"""Some boards for GPU kernels: the table of `plan.py`, for boards of different flops."""

from __future__ import annotations

import numpy as np

from openfelt.core.jit import Ints, Longs
from openfelt.solve.vector.gpu.plan import (
    CARDS,
    NUMBER,
    OF_TURN,
    RIVER,
    RIVER_AS,
    RIVER_FIRST,
    RIVER_NUMBER,
    RIVER_THROUGH,
    RIVER_TURN,
    SAMPLED,
    THROUGH,
    TURN,
)
from openfelt.solve.vector.public_boards import PublicBoards


def table_shape(boards: PublicBoards, count: int) -> tuple[int, int]:
    """The shape of the table of that many boards."""
    return SAMPLED + 1, count * max(boards.rivers + 1, 3) + 1


def pack_boards(boards: PublicBoards, chosen: Longs, offsets: Longs, most: int) -> tuple[Ints, int]:
    """The table of these boards, with room for `most`, and how many rivers they have.

    Each board takes the place of a turn. NUMBER and THROUGH are of the flops, then of the turns. The sampled
    rivers of a board begin at its offset.
    """
    count, table = len(chosen), np.zeros(table_shape(boards, most), np.int32)
    rivers = images = 0
    for board, (flop, turn) in enumerate(boards.places[chosen].tolist()):
        plan = boards.plans[flop]
        table[CARDS, 3 * board : 3 * board + 3] = boards.deck.flops[flop].cards
        table[TURN, board] = plan.turn[turn]
        table[SAMPLED, board] = rivers + offsets[board]
        for row, values in ((NUMBER, plan.number), (THROUGH, plan.through)):
            table[row, board], table[row, count + board] = values[0], values[1 + turn]
        first, last = int(plan.of_turn[turn]), int(plan.of_turn[turn + 1])
        into, after = slice(rivers, rivers + last - first), 1 + plan.turns
        table[RIVER, into] = plan.river[first:last]
        table[RIVER_TURN, into] = board
        table[RIVER_NUMBER, into] = plan.number[after + first : after + last]
        table[RIVER_THROUGH, into] = plan.through[after + first : after + last]
        begin, end = int(plan.river_first[first]), int(plan.river_first[last])
        table[RIVER_FIRST, into] = images + plan.river_first[first:last] - begin
        table[RIVER_AS, images : images + end - begin] = plan.river_as[begin:end]
        rivers, images = rivers + last - first, images + end - begin
        table[OF_TURN, board + 1] = rivers
    table[RIVER_FIRST, rivers] = images
    return table, rivers
