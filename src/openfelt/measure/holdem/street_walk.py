"""One street of betting, decision by decision: slower than the kernels, and for any choice of actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from openfelt.cards.deck import PAIR_CARDS
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import PLACE, PLAYER
from openfelt.games.game import TERMINAL
from openfelt.solve.vector.betting_lines import BettingLines, children


class StreetWalk(NamedTuple):
    """What the values of a seat on a street follow from. Arrays of values end in [1326]."""

    betting: BettingLines
    seat: int
    at_root: Mapping[int, Floats]  # the values at the roots of the next street
    theirs: Callable[[int], Floats]  # at a decision of the opponent: [parts, 1326, actions] probabilities
    ours: Callable[[int, Floats], Floats]  # at one of the seat, from the values of its actions

    def value(self, node: int, reach: Floats) -> Floats:
        """The value of a node, with the opponent's reach [parts, 1326] of it."""
        if node in self.at_root:
            return self.at_root[node]
        player = int(self.betting.node[node, PLAYER])
        if player == TERMINAL:
            leaf = int(self.betting.node[node, PLACE])
            stays = int(self.betting.leaves.inside[leaf]) >> self.seat & 1
            paid = self.betting.leaves.paid[leaf]
            return np.asarray(
                (paid[1 - self.seat] if stays else -paid[self.seat]) * met_by(reach.sum(axis=0))
            )
        below = children(self.betting.node, node)
        if player == self.seat:
            values = [self.value(child, reach) for child in below]
            return self.ours(node, np.array(np.broadcast_arrays(*values)))
        shares = self.theirs(node)
        values = [self.value(child, reach * shares[:, :, action]) for action, child in enumerate(below)]
        return np.asarray(sum(values))


def met_by(reach: Floats) -> Floats:
    """[1326] for each hand, the sum of a reach over the hands that share no card with it."""
    low, high = PAIR_CARDS.T.astype(np.int64)
    of_card = np.bincount(low, reach, minlength=52) + np.bincount(high, reach, minlength=52)
    return np.asarray(reach.sum() - of_card[low] - of_card[high] + reach)
