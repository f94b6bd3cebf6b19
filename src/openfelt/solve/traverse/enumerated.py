"""Episodes of an enumerated game: chance is drawn at its nodes, by Walker's alias method.

All that is needed at a node stands in one place in memory: who moves, and his first slot or, at a leaf, the
payoffs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, Ints, kernel, part
from openfelt.core.random import Stream, uniform
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE
from openfelt.solve.traverse import episode
from openfelt.solve.traverse.episode import implements

PLAYER, WAYS, CHILD, PLACE = range(4)  # columns of EpisodeTree.node


class EpisodeTree(NamedTuple):
    """The tree of an enumerated game, with chance ready to be drawn from."""

    # [nodes, 4] who moves, how many ways there are, the first child; and the first slot of a decision's row,
    # where chance's alias table begins, or a leaf's place in payoffs
    node: Ints
    share: Floats  # [chances] Walker's alias method: the share of a column that is its own
    other: Ints  # [chances] and which place has the rest
    payoffs: Floats  # [different payoffs, players]


def episode_tree(tree: GameTree) -> EpisodeTree:
    """Put what a node needs side by side, and make the alias tables of chance."""
    nodes = tree.nodes
    share, other = np.ones(len(nodes.chance)), np.zeros(len(nodes.chance), np.int32)
    chance = np.flatnonzero(nodes.player == CHANCE)
    starts, first = np.unique(nodes.row[chance], return_index=True)
    for start, count in zip(starts, nodes.num_children[chance[first]], strict=True):
        span = slice(start, start + count)
        share[span], other[span] = alias(nodes.chance[span])
    node = np.empty((tree.num_nodes, 4), np.int32)
    node[:, PLAYER], node[:, WAYS] = nodes.player, nodes.num_children
    node[:, CHILD], node[:, PLACE] = nodes.first_child, nodes.row
    _rows_to_slots(node, tree.rows.first_slot)
    return EpisodeTree(node, share, other, nodes.payoffs)


@kernel
def _rows_to_slots(node: Ints, first_slot: NDArray[np.int64]) -> None:
    for number in range(len(node)):
        if node[number, PLAYER] >= 0:
            node[number, PLACE] = first_slot[node[number, PLACE]]


def alias(chance: Sequence[float] | Floats) -> tuple[Floats, Ints]:
    """Vose 1991: cut the probabilities into columns of equal height with at most two owners each."""
    count = len(chance)
    share, other = np.asarray(chance) * count, np.arange(count, dtype=np.int32)
    small = [place for place in range(count) if share[place] < 1.0]
    large = [place for place in range(count) if share[place] >= 1.0]
    while small and large:
        low, high = small.pop(), large[-1]
        other[low] = high
        share[high] -= 1.0 - share[low]
        if share[high] < 1.0:
            small.append(large.pop())
    share[small + large] = 1.0
    return share, other


@implements(episode.begin, EpisodeTree)
def _begin(tree: EpisodeTree, deal: Any, stream: Stream) -> int:
    return settle(tree, 0, stream)


@implements(episode.follow, EpisodeTree)
def _follow(tree: EpisodeTree, deal: Any, node: int, action: int, stream: Stream) -> int:
    return settle(tree, tree.node[node, CHILD] + action, stream)


@implements(episode.num_actions, EpisodeTree)
def _num_actions(tree: EpisodeTree, node: int) -> int:
    return int(tree.node[node, WAYS])


@implements(episode.first_slot, EpisodeTree)
def _first_slot(tree: EpisodeTree, deal: Any, node: int) -> int:
    return int(tree.node[node, PLACE])


@implements(episode.payoff, EpisodeTree)
def _payoff(tree: EpisodeTree, deal: Any, leaf: int, player: int) -> float:
    return float(tree.payoffs[tree.node[leaf, PLACE], player])


@implements(episode.num_players, EpisodeTree)
def _num_players(tree: EpisodeTree) -> int:
    return int(tree.payoffs.shape[1])


@implements(episode.exploration, EpisodeTree)
def _exploration(tree: EpisodeTree, node: int, c: Floats) -> float:
    return float(c[tree.node[node, PLACE] if len(c) > 1 else 0])


@implements(episode.passive, EpisodeTree)
def _passive(tree: EpisodeTree, node: int, passive: NDArray[np.int8]) -> int:
    return int(passive[tree.node[node, PLACE]])


@part
def settle(tree: EpisodeTree, node: int, stream: Stream) -> int:
    """Let chance move while it is its turn."""
    while tree.node[node, PLAYER] == CHANCE:
        column = uniform(stream) * tree.node[node, WAYS]
        way = int(column)
        entry = tree.node[node, PLACE] + way
        if column - way >= tree.share[entry]:
            way = tree.other[entry]
        node = tree.node[node, CHILD] + way
    return node
