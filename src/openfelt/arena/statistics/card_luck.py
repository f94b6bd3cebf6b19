"""The luck of the cards in hold'em: control variates with mean 0, to be regressed out of winnings.

Each seat has two. The first is the equity of its hole cards against one random hand minus 1/2, the mean over
all hole cards. The second is its share of the pot if nobody folded, minus an equal share. Neither depends on
any action.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from openfelt.arena.hand_kernels import Deals
from openfelt.cards.deck import PAIR, PAIR_CARDS, PREFLOP, pair_class
from openfelt.cards.strength import RIVER_SCALE, RUNOUTS, preflop_sums
from openfelt.core.jit import Floats

CONTROLS = 2


def card_luck(deals: Deals) -> Floats:
    """[deals, seats, CONTROLS] the control variates."""
    players = deals.value.shape[1]
    holes = deals.cards[:, : 2 * players].reshape(-1, players, 2)
    hole = _strengths()[PAIR[holes[:, :, 0], holes[:, :, 1]]] - 0.5
    wins = (deals.value == deals.value.max(axis=1, keepdims=True)).astype(float)
    share = wins / wins.sum(axis=1, keepdims=True) - 1.0 / players
    return np.stack([hole, share], axis=2)


@cache
def _strengths() -> Floats:
    """[1326] equity of each pair of hole cards against a random hand."""
    sums = preflop_sums()
    whole = RUNOUTS[PREFLOP] * RIVER_SCALE
    return np.array([sums[pair_class(pair.tolist())][0] / whole for pair in PAIR_CARDS])
