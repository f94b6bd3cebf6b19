"""A compiled game made ready for learners that sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.base.jit import Ints, kernel
from openfelt.cards.deck import Bytes
from openfelt.compile.betting_tree import CHILD, KIND, PLAYER, WAYS_BITS, BettingTree
from openfelt.compile.compiler import Tree
from openfelt.traverse.betting import holdem_tree, new_deal, new_decks
from openfelt.traverse.enumerated import NoDeal, episode_tree


@dataclass(frozen=True)
class OpenTree:
    """What kernels get, and how large the scratch must be that they write to."""

    tree: Any
    decks: Bytes  # [threads, ...] what a deal leaves to the next one; nothing in an enumerated game
    new_deal: Callable[[Bytes], Any]  # for the thread that has this deck
    depth: int  # the most decisions of all players in one play
    most_actions: int  # of a decision


def open_tree(tree: Tree, threads: int) -> OpenTree:
    """Of hold'em this loads the buckets of all hands, and on first need makes them."""
    if isinstance(tree, BettingTree):
        ways = np.where(tree.node[:, PLAYER] >= 0, tree.node[:, KIND] & WAYS_BITS, 0)
        depth = _longest_path(tree.node[:, PLAYER], tree.node[:, CHILD], ways)
        decks = new_decks(threads)
        return OpenTree(
            holdem_tree(tree), decks, lambda deck: new_deal(tree.players, deck), depth, int(ways.max())
        )
    nodes = tree.nodes
    depth = _longest_path(nodes.player, nodes.first_child, nodes.num_children)
    most = int(np.diff(tree.rows.first_slot).max(initial=1))
    nothing = np.empty((threads, 0), np.uint8)
    return OpenTree(episode_tree(tree), nothing, lambda _: NoDeal(), max(1, depth), most)


@kernel
def _longest_path(player: NDArray[Any], first_child: Ints, num_children: Ints) -> int:
    """Children are numbered after their parents, so from the end they are seen before them."""
    below = np.zeros(len(player), np.int16)
    for node in range(len(player) - 1, -1, -1):
        most = 0
        for child in range(first_child[node], first_child[node] + num_children[node]):
            most = max(most, below[child])
        below[node] = most + (player[node] >= 0)
    return int(below[0])
