"""`sparbot-like`: a stand-in for Sparbot, against which HS14 and PJL11 played. It is not Sparbot.

Of the original it is published (Billings, Burch, Davidson, Holte, Schaeffer, Schauenberg & Szafron 2003,
"Approximating game-theoretic optimal strategies for full-scale poker") that it plays equilibria of models of
two-player limit hold'em that linear programs could solve then: hands in six or seven buckets a street, by
strength, with one for weak hands of high potential; at most three bets a street; separate models before and
after the flop. The program itself was sold with Poker Academy Pro and is closed.

Ours takes over the coarseness, not the method: external sampling learns an approximate equilibrium of one
model of all four streets, with three bets a street, all 169 kinds of hole cards before the flop and seven
buckets a street after it. These are found by k-means over how a hand's strength on the river is distributed,
so what a hand may become counts; but seven of them mostly follow the mean, and none is for draws alone.
(`policy/pretrained/sparbot-like/README.md` has the command.)

The real game has a fourth bet, which that model does not know. The bot never makes it. Where its opponent
does, it calls (one bet into a pot of seven or more), and plays on as if the opponent had called the third.
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
    """Plays the equilibrium of a coarse model with three bets a street."""

    def __init__(self, game: Game) -> None:
        super().__init__(_policy(), game)


@cache
def _policy() -> HoldemPolicy:
    return with_fourth_bets(shipped_policy(NAME))


def with_fourth_bets(policy: HoldemPolicy) -> HoldemPolicy:
    """A two-player policy of three bets a street as one of the real game, as it is told above."""
    model = policy.tree
    tree = betting_tree(Holdem(model.players, model.abstraction.name), model.abstraction)
    weights = np.zeros(tree.num_slots, np.uint8)
    open_nodes = [(0, 0, False)]  # of the tree, of the model, whether a fourth bet is to be answered
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
        known, known_slots = model.actions(there), _slots_of_buckets(model, there)
        for action in range(len(known)):
            weights[slots + action] = policy.weights[known_slots + action]
            open_nodes.append((tree.child(node, action), model.child(there, action), False))
        if len(words) > len(known):
            fourth_bet, called = len(known), known.index("call")
            open_nodes.append((tree.child(node, fourth_bet), model.child(there, called), True))
    return HoldemPolicy(tree, weights)


def _slots_of_buckets(tree: BettingTree, node: int) -> Longs:
    """The first slot of a decision in each bucket."""
    place = tree.street(node), int(tree.node[node, PLAYER])
    steps = np.arange(tree.layout.buckets[place]) * tree.layout.edges[place]
    return np.asarray(tree.slots(node, 0).start + steps)
