"""Walking down a compiled game one sampled path at a time: what the Monte-Carlo learners stand on.

A learner goes down by `begin` and `follow`, and reads at a node all that it needs from one place in memory:
who moves, and his first slot or, at a leaf, the payoffs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.base.jit import Floats, Ints, kernel, part
from openfelt.base.random import Stream, uniform
from openfelt.compile.game_tree import GameTree
from openfelt.rules.game import CHANCE

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


def most_actions(tree: GameTree) -> int:
    """The most actions that a row has."""
    return int(np.diff(tree.rows.first_slot).max(initial=1))


def longest_path(tree: GameTree) -> int:
    """The most decisions of all players in one play."""
    return int(_longest_path(tree.nodes.player, tree.nodes.first_child, tree.nodes.num_children))


@kernel
def _longest_path(player: NDArray[np.int8], first_child: Ints, num_children: Ints) -> int:
    """Nodes are numbered parents first, so children are seen before them from the end."""
    below = np.zeros(len(player), np.int16)
    for node in range(len(player) - 1, -1, -1):
        most = 0
        for child in range(first_child[node], first_child[node] + num_children[node]):
            most = max(most, below[child])
        below[node] = most + (player[node] >= 0)
    return int(below[0])


@part
def begin(tree: EpisodeTree, stream: Stream) -> int:
    """The first node at which somebody other than chance moves."""
    return settle(tree, 0, stream)


@part
def follow(tree: EpisodeTree, node: int, action: int, stream: Stream) -> int:
    """The next node at which a player moves, or a leaf, after `action` at `node`."""
    return settle(tree, tree.node[node, CHILD] + action, stream)


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


@part
def draw(policy: Floats, first: int, last: int, stream: Stream) -> int:
    """One of the slots from `first` up to `last`, with its probability."""
    place, chosen = uniform(stream), first
    for slot in range(first, last - 1):
        place -= policy[slot]
        chosen += place >= 0.0
    return chosen
