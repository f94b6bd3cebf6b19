"""Episodes of an enumerated game: chance is drawn at its nodes, by Walker's alias method.

All that an episode reads of a node is contiguous in memory: the player to move, and its first slot or, at a
leaf, the payoffs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, Ints, Longs, kernel, part
from openfelt.core.random import Stream, uniform
from openfelt.core.sampling import alias_table, draw_alias
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE
from openfelt.solve.traverse import episode
from openfelt.solve.traverse.episode import implements

PLAYER, ACTIONS, CHILD, PLACE = range(4)  # columns of EpisodeTree.node


class EpisodeTree(NamedTuple):
    """The tree of an enumerated game, with alias tables for chance."""

    # [nodes, 4] the player to move, the number of actions, the first child; and the first slot of a
    # decision's row, where chance's alias table begins, or a leaf's place in payoffs
    node: Ints
    share: Floats  # [chances] of the alias tables: the share of a column that is its own
    other: Ints  # [chances] and the owner of the rest
    payoffs: Floats  # [different payoffs, players]


def episode_tree(tree: GameTree) -> EpisodeTree:
    """Lay out the nodes, and make the alias tables of chance."""
    nodes = tree.nodes
    share, other = np.ones(len(nodes.chance)), np.zeros(len(nodes.chance), np.int32)
    chance = np.flatnonzero(nodes.player == CHANCE)
    starts, first = np.unique(nodes.row[chance], return_index=True)
    for start, count in zip(starts, nodes.num_children[chance[first]], strict=True):
        span = slice(start, start + count)
        share[span], other[span] = alias_table(nodes.chance[span])
    node = np.empty((tree.num_nodes, 4), np.int32)
    node[:, PLAYER], node[:, ACTIONS] = nodes.player, nodes.num_children
    node[:, CHILD], node[:, PLACE] = nodes.first_child, nodes.row
    _rows_to_slots(node, tree.rows.first_slot)
    return EpisodeTree(node, share, other, nodes.payoffs)


@kernel
def _rows_to_slots(node: Ints, first_slot: NDArray[np.int64]) -> None:
    for number in range(len(node)):
        if node[number, PLAYER] >= 0:
            node[number, PLACE] = first_slot[node[number, PLACE]]


@implements(episode.begin, EpisodeTree)
def _begin(tree: EpisodeTree, deal: Any, stream: Stream) -> int:
    return settle(tree, 0, stream)


@implements(episode.follow, EpisodeTree)
def _follow(tree: EpisodeTree, deal: Any, node: int, action: int, stream: Stream) -> int:
    return settle(tree, tree.node[node, CHILD] + action, stream)


@implements(episode.num_actions, EpisodeTree)
def _num_actions(tree: EpisodeTree, node: int) -> int:
    return int(tree.node[node, ACTIONS])


@implements(episode.first_slot, EpisodeTree)
def _first_slot(tree: EpisodeTree, deal: Any, node: int) -> int:
    return int(tree.node[node, PLACE])


@implements(episode.payoff, EpisodeTree)
def _payoff(tree: EpisodeTree, deal: Any, leaf: int, player: int) -> float:
    return float(tree.payoffs[tree.node[leaf, PLACE], player])


@implements(episode.save_past, EpisodeTree)
@implements(episode.restore_past, EpisodeTree)
def _nothing_to_save(tree: EpisodeTree, deal: Any, whole: Longs, depth: int, column: int) -> None:
    """A node tells its history."""


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
    """The next node that is not chance's."""
    while tree.node[node, PLAYER] == CHANCE:
        facts = tree.node[node]
        chosen = draw_alias(tree.share, tree.other, facts[PLACE], facts[ACTIONS], uniform(stream))
        node = facts[CHILD] + chosen
    return node
