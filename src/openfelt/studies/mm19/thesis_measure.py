"""Exploitability as MM19 computes it (section 3.2), which is not the value of a best response.

The learned player is the first one and follows its greedy policy; the responding player is the second.

1. The value of a terminal history is the plain average of the payoffs of all histories that the responding
   player cannot distinguish from it (equation 3.2), whether or not the greedy policy reaches them.
2. Values are propagated to the root: at chance nodes their plain average, at nodes of the learned player the
   value of its action, at nodes of the responding player the highest one, *history by history*.

A best response chooses one action for all histories of an infoset. Here the learned player's card decides
which histories are reached, so the responding player reacts to a card that it cannot see. Chance deals ranks,
as in the thesis, and equal averages ignore that a rank of which a card is out is less likely.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, Ints, kernel
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import TreeArrays
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.registry import load_game
from openfelt.policy.tabular import TabularPolicy

LEARNED, RESPONDING = 0, 1


class ThesisTree(NamedTuple):
    """The histories of a game, parents before children, with the values of the terminal ones."""

    player: NDArray[np.int8]
    first_child: Ints
    num_children: Ints
    row: Ints
    leaf_value: Floats  # averaged by equation 3.2; 0 elsewhere


def thesis_exploitability(policy: TabularPolicy) -> float:
    """The value that is propagated to the root against the greedy policy of the first player."""
    tree = _thesis_tree(policy.tree.game)
    best = np.array([np.argmax(policy.row(row)) for row in range(policy.tree.num_rows)], np.int32)
    return float(_propagate(tree, best))


@kernel
def _propagate(tree: ThesisTree, best: Ints) -> float:
    value = tree.leaf_value.copy()
    for node in range(len(value) - 1, -1, -1):
        first, count = tree.first_child[node], tree.num_children[node]
        player = tree.player[node]
        if player == LEARNED:
            value[node] = value[first + best[tree.row[node]]]
        elif player == RESPONDING:
            value[node] = value[first : first + count].max()
        elif player == CHANCE:
            value[node] = value[first : first + count].mean()
    return float(value[0])


@cache
def _thesis_tree(game: str) -> ThesisTree:
    nodes = compile_game(game).nodes
    values, groups = np.zeros(len(nodes.player)), dict[tuple[str, ...], list[int]]()
    _collect(load_game(game), nodes, 0, load_game(game).start(), (), values, groups)
    for alike in groups.values():
        values[alike] = values[alike].mean()
    return ThesisTree(nodes.player, nodes.first_child, nodes.num_children, nodes.row, values)


def _collect(
    game: Any,
    nodes: TreeArrays,
    node: int,
    state: Any,
    seen: tuple[str, ...],
    values: Floats,
    groups: dict[tuple[str, ...], list[int]],
) -> None:
    """Payoffs of terminal histories, and the histories that look the same to the responding player."""
    if game.turn(state) == TERMINAL:
        values[node] = game.payoffs(state)[RESPONDING]
        groups.setdefault(seen, []).append(node)
        return
    for number, action in enumerate(game.actions(state)):
        child = int(nodes.first_child[node]) + number
        now = (*seen, game.sees(state, action, RESPONDING))
        _collect(game, nodes, child, game.play(state, action), now, values, groups)
