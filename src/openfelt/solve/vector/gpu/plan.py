"""The plan of a flop for GPU kernels: a single table, so that one copy suffices."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from openfelt.cards.boards import COMPOSED
from openfelt.cards.public_cards import Deck, Flop, Plan
from openfelt.core.jit import Ints

# The rows of the table. CARDS are those of the flop, once for each turn; NUMBER and THROUGH are of the flop,
# then of its turns. SAMPLED is where the rivers that are sampled begin, by turn; only learners have it.
(
    CARDS,
    NUMBER,
    THROUGH,
    TURN,
    TURN_FIRST,
    TURN_BACK,
    OF_TURN,
    RIVER,
    RIVER_TURN,
    RIVER_NUMBER,
    RIVER_THROUGH,
    RIVER_FIRST,
    RIVER_AS,
    SAMPLED,
) = range(14)

INVERSE = np.array([order.tolist().index(0) for order in COMPOSED], np.int32)  # [24] inverse permutations


def plan_shape(deck: Deck) -> tuple[int, int]:
    """The shape of the table, the same for all flops of a deck."""
    return RIVER_AS + 1, (deck.size - 3) * (deck.size - 4) + 1


def packed(deck: Deck, flop: Flop, plan: Plan) -> Ints:
    """[rows, columns] the table."""
    boards = 1 + plan.turns
    rows = {
        CARDS: np.tile(flop.cards, plan.turns),
        NUMBER: plan.number[:boards],
        THROUGH: plan.through[:boards],
        TURN: plan.turn,
        TURN_FIRST: plan.turn_first,
        TURN_BACK: INVERSE[plan.turn_as],
        OF_TURN: plan.of_turn,
        RIVER: plan.river,
        RIVER_TURN: np.repeat(np.arange(plan.turns), np.diff(plan.of_turn)),
        RIVER_NUMBER: plan.number[boards:],
        RIVER_THROUGH: plan.through[boards:],
        RIVER_FIRST: plan.river_first,
        RIVER_AS: plan.river_as,
    }
    return plan_of(deck, rows)


def plan_of(deck: Deck, rows: Mapping[int, ArrayLike]) -> Ints:
    """The table with these rows."""
    table = np.zeros(plan_shape(deck), np.int32)
    for row, values in rows.items():
        own = np.asarray(values)
        table[row, : len(own)] = own
    return table
