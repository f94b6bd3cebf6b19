"""`sparbot-like`: a stand-in for Sparbot, an opponent of HS14 and PJL11. It is not Sparbot.

The original (Billings, Burch, Davidson, Holte, Schaeffer, Schauenberg & Szafron 2003, "Approximating
game-theoretic optimal strategies for full-scale poker") plays equilibria of abstractions of two-player limit
hold'em that linear programs could solve then: six or seven buckets a street by strength, one of them for weak
hands of high potential; at most three bets a street; separate models before and after the flop. The program
was sold with Poker Academy Pro and is closed.

Ours has the same coarseness, but not the method: external sampling learns an approximate equilibrium of one
model of all four streets, with three bets a street, all 169 classes of hole cards before the flop and seven
buckets a street after it. The buckets are k-means clusters of the distribution of strength on the river,
which includes potential; but with seven clusters they mostly follow the mean, and none is for draws alone.
(`policy/pretrained/sparbot-like/README.md` has the command.)

The full game has a fourth bet, which that model does not have. The bot never makes it. If its opponent does,
it calls (one bet into a pot of seven or more), and continues as if the opponent had called the third.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from openfelt.bots.policy_bot import HoldemBot
from openfelt.core.jit import Longs
from openfelt.games.compile.betting_tree import PLAYER, BettingTree, betting_tree
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem
from openfelt.policy.holdem import WHOLE, HoldemPolicy
from openfelt.policy.pretrained import shipped_policy

NAME = "sparbot-like"


class SparbotLike(HoldemBot):
    """Plays the equilibrium of a coarse abstraction with three bets a street."""

    def __init__(self, game: Game) -> None:
        super().__init__(_policy(), game)


@cache
def _policy() -> HoldemPolicy:
    return with_fourth_bets(shipped_policy(NAME))


def with_fourth_bets(policy: HoldemPolicy) -> HoldemPolicy:
    """A two-player policy of three bets a street as one of the full game, as described above."""
    model = policy.tree
    tree = betting_tree(Holdem(model.players, model.abstraction.name), model.abstraction)
    weights = np.zeros(tree.num_slots, np.uint8)
    open_nodes = [(0, 0, False)]  # node of the tree, of the model, whether the player faces a fourth bet
    while open_nodes:
        node, there, is_fourth = open_nodes.pop()
        if tree.node[node, PLAYER] < 0:
            continue
        words, slots = tree.actions(node), _slots_of_buckets(tree, node)
        if is_fourth:
            call = words.index("call")
            weights[slots + call] = WHOLE
            open_nodes.append((tree.child(node, call), there, False))
            continue
        modelled, model_slots = model.actions(there), _slots_of_buckets(model, there)
        for action in range(len(modelled)):
            weights[slots + action] = policy.weights[model_slots + action]
            open_nodes.append((tree.child(node, action), model.child(there, action), False))
        if len(words) > len(modelled):
            fourth_bet, called = len(modelled), modelled.index("call")
            open_nodes.append((tree.child(node, fourth_bet), model.child(there, called), True))
    return HoldemPolicy(tree, weights)


def _slots_of_buckets(tree: BettingTree, node: int) -> Longs:
    """The first slot of a decision in each bucket."""
    place = tree.street(node), int(tree.node[node, PLAYER])
    steps = np.arange(tree.layout.buckets[place]) * tree.layout.edges[place]
    return np.asarray(tree.slots(node, 0).start + steps)
