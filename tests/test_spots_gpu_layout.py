"""The arrays that a GPU reads for spots, against definitions; `gpu_spots.py` tests the kernels."""

from __future__ import annotations

import numpy as np

from openfelt.cards.deck import PAIR_CARDS
from openfelt.spots.gpu.kernels import (
    HIGH_NOT_STRONGER,
    HIGH_WEAKER,
    LOW_NOT_STRONGER,
    LOW_WEAKER,
    NOT_STRONGER,
    PAIR_OF,
    SAME,
    WEAKER,
)
from openfelt.spots.gpu.layout import lay_out
from openfelt.spots.runouts import pairs_of
from openfelt.spots.solver import SpotSolver
from openfelt.spots.spot import Spot

OOP, IP = "TT+,AK,76s,KdQd", "QQ-99,AJs+,87s,AQo"


def engine(board):
    return SpotSolver(Spot(oop=OOP, ip=IP, board=board, pot=20, stack=30, bets="a")).engine


def test_running_sums_give_what_each_hand_beats():
    engines = [engine("Td9d6h2c3c"), engine("8s7s6sAcAd")]
    (layout,) = lay_out(engines)
    draw = np.random.default_rng(1)
    for player in (0, 1):
        boards = layout.boards[player]
        for number, each in enumerate(engines):
            own_size, size, own, theirs, parent = boards.board[number]
            assert parent == number
            reach = np.append(draw.uniform(size=size), np.zeros(layout.width - size))
            order = boards.order[2 * theirs : 2 * (theirs + size)]
            sums = np.append(0.0, np.cumsum(np.append(reach[:size], reach[order])))
            look = boards.look[:, own : own + own_size].astype(int)
            low, high = look[PAIR_OF] & 63, look[PAIR_OF] >> 6
            start, end = boards.card[number, low], boards.card[number, low + 1]
            start_2, end_2 = boards.card[number, high], boards.card[number, high + 1]
            before = sums[start] + sums[start_2]
            weaker = sums[look[WEAKER]] - (sums[look[LOW_WEAKER]] + sums[look[HIGH_WEAKER]] - before)
            not_stronger = sums[look[NOT_STRONGER]] + reach[look[SAME]]
            not_stronger -= sums[look[LOW_NOT_STRONGER]] + sums[look[HIGH_NOT_STRONGER]] - before
            met = sums[size] + reach[look[SAME]] - (sums[end] + sums[end_2] - before)
            runouts = each.runouts[0]
            mine, other = (PAIR_CARDS[pairs_of(runouts, who, 0)] for who in (player, 1 - player))
            rank, other_rank = (
                runouts.rank[runouts.hands[who, 0] :][: runouts.size[who, 0]] for who in (player, 1 - player)
            )
            free = ~(mine[:, :, None, None] == other.T[None, None]).any(axis=(1, 2))
            for found, counts in (
                (weaker, other_rank < rank[:, None]),
                (not_stronger, other_rank <= rank[:, None]),
                (met, np.ones_like(free)),
            ):
                np.testing.assert_allclose(found, (free & counts) @ reach[:size], atol=1e-12)


def test_values_of_boards_come_back_to_each_hand():
    """What `add_boards` reads equals what the CPU adds, with merged turns and rivers."""
    both = [engine("Td9d6h2c"), engine("TsTd6h6c")]
    first, second = lay_out(both)
    draw = np.random.default_rng(2)
    for player in (0, 1):
        boards = first.boards[player]
        assert len(boards.image_board) == boards.image[-1]
        for number, each in enumerate(both):
            here, below = each.runouts
            offset = int(np.flatnonzero(second.spot == number)[0])
            size, images = int(here.size[player, 0]), range(boards.image[number], boards.image[number + 1])
            values = draw.uniform(size=(len(second.spot), second.width))
            values[:, -1] = 0.0
            back = boards.back[boards.back_first[number] :][: len(images) * size].reshape(-1, size)
            found = sum(
                values[boards.image_board[image], row] for image, row in zip(images, back, strict=True)
            )
            wanted = np.zeros(size)
            for board in range(len(below.card)):
                for image in range(below.image[board], below.image[board + 1]):
                    start, many = below.image_hands[player, image], below.size[player, board]
                    np.add.at(wanted, below.seen_as[start : start + many], values[offset + board, :many])
            np.testing.assert_allclose(found, wanted, atol=1e-12)
