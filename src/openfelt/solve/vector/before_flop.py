"""The betting of Flop Hold'em before the flop, by classes of hole cards.

Reach and values are [169]. A value is that of one hand of the class, summed over the opponent's hands with
their reach; `meets` counts the opponent's hands of each class that share no card with it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from openfelt.cards.boards import hole_class
from openfelt.cards.deck import PAIR_CARDS
from openfelt.cards.public_cards import Deck
from openfelt.core.jit import Floats
from openfelt.games.compile.flop_tree import CLASSES, FlopTree
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.holdem import players_in


class BeforeFlop:
    """Both passes over the betting before the flop."""

    def __init__(self, tree: FlopTree) -> None:
        self.tree, self.nodes = tree, tree.nodes
        self.meets, self.size = class_sizes(tree.deck)
        self._folds = [number for number, node in enumerate(tree.nodes) if node.player == TERMINAL]

    def reach(self, seat: int, policy: Floats) -> Floats:
        """[nodes, 169] the player's reach of each node by its policy [169, edges]."""
        reach = np.ones((len(self.nodes), CLASSES))
        for number, node in enumerate(self.nodes):
            for action, child in enumerate(node.children):
                own = policy[:, node.place + action] if node.player == seat else 1.0
                reach[child] = reach[number] * own
        return reach

    def at_roots(self, reach: Floats) -> Floats:
        """[169, roots] the reach of the roots of the flop."""
        return np.ascontiguousarray(reach[self.tree.roots].T)

    def by_class(self, total: Floats) -> Floats:
        """[169, roots] values at the roots, from sums over the hands of a class and all flops."""
        chance = self.tree.deck.chances[1]
        return np.asarray(total * chance / np.maximum(self.size, 1.0)[:, None])

    def values(
        self, seat: int, theirs: Floats, at_flop: Floats, ours: Callable[[int, Floats], Floats]
    ) -> Floats:
        """[169] the values of a seat at the start, in chips.

        `theirs` [nodes, 169] is the opponent's reach, `at_flop` [169, roots] the values at the roots, and
        `ours(node, values)` the value of a decision from [169, actions] of its actions.
        """
        found = np.empty((len(self.nodes), CLASSES))
        met = np.einsum("nd,cd->nc", theirs[self._folds], self.meets)
        for number in reversed(range(len(self.nodes))):
            node = self.nodes[number]
            if node.player == TERMINAL:
                stays = seat in players_in(node.betting)
                won = node.betting.paid[1 - seat] if stays else -node.betting.paid[seat]
                found[number] = won * met[self._folds.index(number)]
            elif node.player == CHANCE:
                found[number] = at_flop[:, node.place]
            elif node.player == seat:
                found[number] = ours(number, found[list(node.children)].T)
            else:
                found[number] = found[list(node.children)].sum(axis=0)
        return np.asarray(found[0] * self.tree.deck.chances[0])

    def mean(self, values: Floats) -> float:
        """The mean over all hands."""
        return float((values * self.size).sum() / self.size.sum())


@lru_cache(maxsize=4)
def class_sizes(deck: Deck) -> tuple[Floats, Floats]:
    """[169, 169] how many hands of each class share no card with a hand of a class; [169] their numbers."""
    live = np.flatnonzero(deck.pairs)
    kind, cards = hole_class()[live], PAIR_CARDS[live]
    apart = (cards[:, None, :, None] != cards[None, :, None, :]).all(axis=(2, 3))
    size = np.bincount(kind, minlength=CLASSES).astype(float)
    by_hand = np.zeros((len(live), CLASSES))
    for column, which in enumerate(kind):
        by_hand[:, which] += apart[:, column]
    meets = np.zeros((CLASSES, CLASSES))
    np.add.at(meets, kind, by_hand)
    return meets / np.maximum(size, 1.0)[:, None], size
