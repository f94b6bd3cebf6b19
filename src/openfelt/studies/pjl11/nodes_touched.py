"""Counts the nodes that a sampling solver visits: a measure of its work that does not depend on the machine.

A node is a decision or a terminal history; chance is not counted, nor children that are not visited.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from openfelt.core.jit import Ints, Longs
from openfelt.core.random import Stream
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE
from openfelt.solve.sampling.sampling_solver import SamplingSolver
from openfelt.solve.traverse import episode
from openfelt.solve.traverse.episode import implements
from openfelt.solve.traverse.holdem import Deal
from openfelt.solve.traverse.restricted import RestrictedTree


class CountingTree(NamedTuple):
    """Any kind of tree; counts every node that is entered."""

    node: Ints  # that of `tree`
    tree: Any
    touched: Longs  # [1]


def count_nodes(solver: SamplingSolver) -> Longs:
    """Let a new solver of a restricted game on the CPU count its nodes; returns the count, [1]."""
    tree, count = solver.episode_tree, np.zeros(1, np.int64)
    assert isinstance(tree, RestrictedTree)
    solver.episode_tree = tree._replace(tree=CountingTree(tree.tree.node, tree.tree, count))
    return count


def full_traversal(tree: GameTree) -> int:
    """The nodes of one traversal of all histories."""
    return int((tree.nodes.player != CHANCE).sum())


@implements(episode.begin, CountingTree)
def _begin(tree: CountingTree, deal: Deal, stream: Stream) -> int:
    tree.touched[0] += 1
    return episode.begin(tree.tree, deal, stream)


@implements(episode.follow, CountingTree)
def _follow(tree: CountingTree, deal: Deal, node: int, action: int, stream: Stream) -> int:
    tree.touched[0] += 1
    return episode.follow(tree.tree, deal, node, action, stream)


@implements(episode.num_actions, CountingTree)
def _num_actions(tree: CountingTree, node: int) -> int:
    return episode.num_actions(tree.tree, node)


@implements(episode.first_slot, CountingTree)
def _first_slot(tree: CountingTree, deal: Deal, node: int) -> int:
    return episode.first_slot(tree.tree, deal, node)


@implements(episode.payoff, CountingTree)
def _payoff(tree: CountingTree, deal: Deal, leaf: int, player: int) -> float:
    return episode.payoff(tree.tree, deal, leaf, player)


@implements(episode.num_players, CountingTree)
def _num_players(tree: CountingTree) -> int:
    return episode.num_players(tree.tree)


@implements(episode.save_past, CountingTree)
def _save_past(tree: CountingTree, deal: Deal, whole: Longs, depth: int, column: int) -> None:
    episode.save_past(tree.tree, deal, whole, depth, column)


@implements(episode.restore_past, CountingTree)
def _restore_past(tree: CountingTree, deal: Deal, whole: Longs, depth: int, column: int) -> None:
    episode.restore_past(tree.tree, deal, whole, depth, column)
