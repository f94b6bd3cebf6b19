"""A compiled game, ready for sampling solvers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Ints, kernel
from openfelt.games.compile.betting_tree import ACTIONS_MASK, CHILD, KIND, PLAYER, BettingTree
from openfelt.games.compile.compiler import state_graph
from openfelt.games.compile.factored_tree import FactoredTree
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.tree import Tree, too_many_histories
from openfelt.solve.traverse.enumerated import episode_tree
from openfelt.solve.traverse.holdem import holdem_tree
from openfelt.solve.traverse.states import longest_path, state_tree


@dataclass(frozen=True)
class OpenTree:
    """The tree that kernels read, and the sizes that their scratch space must have."""

    tree: Any
    depth: int  # the most decisions of all players in one play
    most_actions: int  # of a decision


@singledispatch
def open_tree(tree: Tree) -> OpenTree:
    """A tree for sampling solvers. For hold'em this loads the bucket tables; missing ones are built."""
    raise too_many_histories(tree.game)


@open_tree.register
def _(tree: BettingTree) -> OpenTree:
    return OpenTree(holdem_tree(tree), most_decisions(tree), int(_actions(tree).max()))


@open_tree.register
def _(tree: GameTree) -> OpenTree:
    most = int(np.diff(tree.rows.first_slot).max(initial=1))
    return OpenTree(episode_tree(tree), most_decisions(tree), most)


@open_tree.register
def _(tree: FactoredTree) -> OpenTree:
    most = int(np.diff(tree.first_slot).max(initial=1))
    return OpenTree(state_tree(tree), most_decisions(tree), most)


@singledispatch
def most_decisions(tree: Tree) -> int:
    """The most decisions of all players in one play."""
    raise too_many_histories(tree.game)


@most_decisions.register
def _(tree: BettingTree) -> int:
    return _longest_path(tree.node[:, PLAYER], tree.node[:, CHILD], _actions(tree))


@most_decisions.register
def _(tree: GameTree) -> int:
    return max(1, _longest_path(tree.nodes.player, tree.nodes.first_child, tree.nodes.num_children))


@most_decisions.register
def _(tree: FactoredTree) -> int:
    return longest_path(state_graph(tree.game))


def _actions(tree: BettingTree) -> Ints:
    """[nodes] the number of actions."""
    return np.where(tree.node[:, PLAYER] >= 0, tree.node[:, KIND] & ACTIONS_MASK, 0)


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
