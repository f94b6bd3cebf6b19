"""The betting of a street as arrays: the same few nodes after each of its roots.

The first node of a street is a *root* of it. The nodes from a root up to the next street are listed in an
order in which children follow their parent, those of one parent consecutively. The lists of all roots have
the same shape; only chips and edges differ. A node where the next street begins is an *exit*.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from openfelt.cards.deck import RIVER
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints, Longs
from openfelt.games.compile.betting_tree import (
    ACTIONS_MASK,
    CHILD,
    KIND,
    PLACE,
    PLAYER,
    STREET_SHIFT,
    BettingTree,
)
from openfelt.games.game import TERMINAL

FOLD, SHOWDOWN, EXIT = -1, -2, -3  # instead of a player, at nodes that are no decisions of the street


class Street(NamedTuple):
    """One street of a two-player betting tree."""

    player: Ints  # [nodes] who decides, or FOLD, SHOWDOWN, EXIT
    first_child: Ints  # [nodes]
    actions: Ints  # [nodes] 0 if it is no decision
    passive: Ints  # [nodes] which action is to check or call
    exit: Ints  # [nodes] the number of an exit, else -1
    decision: Ints  # [nodes] the number of a decision among those of its player, else -1
    next_root: Longs  # [roots, exits] the root of the next street
    edge: Longs  # [roots, nodes] first edge of a decision, counted from the first of its player and street
    won: Floats  # [roots, nodes, 2] chips that a player wins if the hand ends here (by the better hand)


def street_tables(tree: BettingTree) -> tuple[Street, ...]:
    """The streets of a tree, from preflop to the river."""
    if tree.players != 2:
        raise FeltError(f"{tree.game} has {tree.players} players, not two.")
    found, roots = [], [0]
    for street in range(RIVER + 1):
        lists = [_nodes_of(tree, root, street) for root in roots]
        shapes = [_shape(tree, nodes, street) for nodes in lists]
        assert all(shape == shapes[0] for shape in shapes)
        player, first_child, actions, exits = (np.array(each, np.int32) for each in shapes[0])
        passive = np.where((actions > 0) & (player[first_child] == FOLD), 1, 0).astype(np.int32)
        after = [[node for node, at in zip(nodes, exits, strict=True) if at >= 0] for nodes in lists]
        next_roots = [node for of_root in after for node in of_root]
        place = {node: number for number, node in enumerate(next_roots)}
        next_root = np.array([[place[node] for node in of_root] for of_root in after], np.int64)
        edge = np.zeros((len(roots), len(player)), np.int64)
        won = np.zeros((len(roots), len(player), 2))
        for root, nodes in enumerate(lists):
            for number, node in enumerate(nodes):
                who = int(player[number])
                if who >= 0:
                    edge[root, number] = tree.node[node, PLACE] - tree.layout.first_edge[street, who]
                elif who != EXIT:
                    won[root, number] = _won(tree, node)
        found.append(
            Street(
                player,
                first_child,
                actions,
                passive,
                exits,
                _numbered(player),
                next_root.reshape(len(roots), -1),
                edge,
                won,
            )
        )
        roots = next_roots
    return tuple(found)


def _nodes_of(tree: BettingTree, root: int, street: int) -> list[int]:
    nodes = [root]
    for node in nodes:  # grows in the loop
        if _owner(tree, node, street) >= 0:
            first = int(tree.node[node, CHILD])
            nodes += range(first, first + (int(tree.node[node, KIND]) & ACTIONS_MASK))
    return nodes


def _owner(tree: BettingTree, node: int, street: int) -> int:
    player = int(tree.node[node, PLAYER])
    if player == TERMINAL:
        both = int(tree.leaves.inside[tree.node[node, PLACE]]) == 3
        return SHOWDOWN if both else FOLD
    return player if int(tree.node[node, KIND]) >> STREET_SHIFT & 3 == street else EXIT


def _shape(tree: BettingTree, nodes: list[int], street: int) -> tuple[list[int], ...]:
    player = [_owner(tree, node, street) for node in nodes]
    place = {node: number for number, node in enumerate(nodes)}
    decides = [who >= 0 for who in player]
    first = [place[int(tree.node[n, CHILD])] if own else 0 for n, own in zip(nodes, decides, strict=True)]
    actions = [
        int(tree.node[n, KIND]) & ACTIONS_MASK if own else 0 for n, own in zip(nodes, decides, strict=True)
    ]
    before = np.cumsum([who == EXIT for who in player])
    exits = [int(count) - 1 if who == EXIT else -1 for who, count in zip(player, before, strict=True)]
    return player, first, actions, exits


def _numbered(player: Ints) -> Ints:
    numbers = np.full(len(player), -1, np.int32)
    for who in range(2):
        numbers[player == who] = np.arange((player == who).sum())
    return numbers


def _won(tree: BettingTree, node: int) -> list[float]:
    leaf = int(tree.node[node, PLACE])
    inside, paid = int(tree.leaves.inside[leaf]), tree.leaves.paid[leaf]
    return [float(paid[1 - seat]) if inside >> seat & 1 else -float(paid[seat]) for seat in range(2)]
