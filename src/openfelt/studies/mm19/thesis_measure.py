"""Exploitability as MM19 computes it (section 3.2), which is not the value of a best response.

The learned player is the first one and follows its greedy policy; the responding player is the second.

1. The value of a terminal history is the average of the payoffs of all histories that the responding player
   cannot distinguish from it (equation 3.2), whether or not the greedy policy reaches them.
2. Values are propagated to the root: at chance nodes their average, at nodes of the learned player the value
   of its action, at nodes of the responding player the highest one, *history by history*.

A best response chooses one action for all histories of an infoset. Here the learned player's card decides
which histories are reached, so the responding player reacts to a card that it cannot see. The thesis deals
six cards and averages with equal weights; here chance deals ranks, and averages are weighted by the number of
cards, which is the same.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, Ints, kernel
from openfelt.games.compile.compiler import compile_game
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
    chance: Floats  # the probabilities of chance's actions, from the row of a chance node on
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
            for action in range(count):
                value[node] += tree.chance[tree.row[node] + action] * value[first + action]
    return float(value[0])


@cache
def _thesis_tree(game: str) -> ThesisTree:
    nodes, rules = compile_game(game).nodes, load_game(game)
    values, weights = np.zeros(len(nodes.player)), np.zeros(len(nodes.player))
    groups = dict[tuple[str, ...], list[int]]()  # terminal histories, by what the responding player has seen
    waiting: list[tuple[int, Any, tuple[str, ...], float]] = [(0, rules.start(), (), 1.0)]
    while waiting:
        node, state, seen, weight = waiting.pop()
        turn = rules.turn(state)
        if turn == TERMINAL:
            values[node], weights[node] = rules.payoffs(state)[RESPONDING], weight
            groups.setdefault(seen, []).append(node)
            continue
        actions = rules.actions(state)
        shares = rules.chance(state) if turn == CHANCE else [1.0] * len(actions)
        for number, (action, share) in enumerate(zip(actions, shares, strict=True)):
            now = (*seen, rules.sees(state, action, RESPONDING))
            child = int(nodes.first_child[node]) + number
            waiting.append((child, rules.play(state, action), now, weight * share))
    for alike in groups.values():
        values[alike] = np.average(values[alike], weights=weights[alike])
    return ThesisTree(nodes.player, nodes.first_child, nodes.num_children, nodes.row, nodes.chance, values)
