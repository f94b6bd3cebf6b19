"""Episodes of a game that is compiled without its histories: they go through its states.

A state does not say what the players have observed on the way to it. So `deal.cards[p]` holds the list of
observations of player p, a number of `ObservationLists`, from which follows its infoset.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, Ints, Longs, kernel, part
from openfelt.core.random import Stream, uniform
from openfelt.core.sampling import alias_table, draw_alias
from openfelt.games.compile.compiler import state_graph
from openfelt.games.compile.factored_tree import FactoredTree
from openfelt.games.compile.observation_lists import (
    Continuations,
    continuations,
    longer_list,
    observation_lists,
)
from openfelt.games.compile.state_graph import StateGraph
from openfelt.games.game import CHANCE
from openfelt.solve.traverse import episode
from openfelt.solve.traverse.episode import PLACE, PLAYER, implements
from openfelt.solve.traverse.holdem import Deal

ACTIONS, PAYOFFS = 1, 2  # columns of StateTree.node, besides PLAYER and PLACE


class StateTree(NamedTuple):
    """The states of a game, and the lists of observations."""

    node: Ints  # [states, 4] the player to move, number of actions, place in `payoffs` at a leaf; first edge
    target: Ints  # [edges] the next state
    seen: Ints  # [edges, players] what each player observes; 0 for nothing
    share: Floats  # [edges] of chance's alias tables: the share of a column that is its own
    other: Ints  # [edges] and the owner of the rest
    payoffs: Floats  # [different payoffs, players]
    lists: Continuations
    first_slot: Longs  # [lists] of the infoset to which a list leads; -1 if there is none


@lru_cache(maxsize=1)
def state_tree(tree: FactoredTree) -> StateTree:
    """The states of a compiled game, for episodes."""
    graph, lists = state_graph(tree.game), observation_lists(tree)
    node = np.empty((len(graph.turn), 4), np.int32)
    node[:, PLAYER], node[:, ACTIONS] = graph.turn, np.diff(graph.first_edge)
    node[:, PAYOFFS], node[:, PLACE] = graph.payoff, graph.first_edge[:-1]
    share, other = np.ones(len(graph.target)), np.zeros(len(graph.target), np.int32)
    for state in np.flatnonzero(graph.turn == CHANCE):
        edges = slice(*graph.first_edge[state : state + 2])
        share[edges], other[edges] = alias_table(graph.chance[edges])
    first_slot = np.full(len(lists.before), -1, np.int64)
    first_slot[lists.of_row] = tree.first_slot[:-1]
    return StateTree(
        node,
        graph.target,
        graph.seen,
        share,
        other,
        graph.payoffs,
        continuations(lists),
        first_slot,
    )


def longest_path(graph: StateGraph) -> int:
    """The most decisions of all players in one play."""
    below = np.full(len(graph.turn), -1, np.int16)
    _measure_paths(graph.turn, graph.first_edge, graph.target, below)
    return int(below[0])


@kernel
def _measure_paths(turn: NDArray[np.int8], first_edge: Longs, target: Ints, below: NDArray[np.int16]) -> None:
    """The most decisions from each state on, by depth first search."""
    stack = np.empty(len(turn), np.int32)
    stack[0], size = 0, 1
    while size:
        state = stack[size - 1]
        most, waiting = 0, 0
        for edge in range(first_edge[state], first_edge[state + 1]):
            after = target[edge]
            if below[after] < 0:
                stack[size] = after
                size, waiting = size + 1, waiting + 1
                break
            most = max(most, below[after])
        if not waiting:
            below[state] = most + (turn[state] >= 0)
            size -= 1


@implements(episode.begin, StateTree)
def _begin(tree: StateTree, deal: Deal, stream: Stream) -> int:
    for player in range(tree.payoffs.shape[1]):
        deal.cards[player] = player
    return _settle(tree, deal, 0, stream)


@implements(episode.follow, StateTree)
def _follow(tree: StateTree, deal: Deal, node: int, action: int, stream: Stream) -> int:
    return _settle(tree, deal, _step(tree, deal, node, action), stream)


@part
def _step(tree: StateTree, deal: Deal, node: int, action: int) -> int:
    edge = tree.node[node, PLACE] + action
    for player in range(tree.payoffs.shape[1]):
        word = tree.seen[edge, player]
        if word:
            deal.cards[player] = longer_list(tree.lists, deal.cards[player], word)
    return int(tree.target[edge])


@part
def _settle(tree: StateTree, deal: Deal, node: int, stream: Stream) -> int:
    """The next state in which a player moves, or a leaf."""
    while tree.node[node, PLAYER] == CHANCE:
        first, count = tree.node[node, PLACE], tree.node[node, ACTIONS]
        node = _step(tree, deal, node, draw_alias(tree.share, tree.other, first, count, uniform(stream)))
    return node


@implements(episode.num_actions, StateTree)
def _num_actions(tree: StateTree, node: int) -> int:
    return int(tree.node[node, ACTIONS])


@implements(episode.first_slot, StateTree)
def _first_slot(tree: StateTree, deal: Deal, node: int) -> int:
    return int(tree.first_slot[deal.cards[tree.node[node, PLAYER]]])


@implements(episode.payoff, StateTree)
def _payoff(tree: StateTree, deal: Deal, leaf: int, player: int) -> float:
    return float(tree.payoffs[tree.node[leaf, PAYOFFS], player])


@implements(episode.num_players, StateTree)
def _num_players(tree: StateTree) -> int:
    return int(tree.payoffs.shape[1])


@implements(episode.exploration, StateTree)
def _exploration(tree: StateTree, node: int, c: Floats) -> float:
    return float(c[0])


@implements(episode.passive, StateTree)
def _passive(tree: StateTree, node: int, passive: NDArray[np.int8]) -> int:
    return int(passive[0])  # never asked for: there is no action that checks or calls


@implements(episode.save_past, StateTree)
def _save_past(tree: StateTree, deal: Deal, whole: Longs, depth: int, column: int) -> None:
    for player in range(tree.payoffs.shape[1]):
        whole[depth, column + player] = deal.cards[player]


@implements(episode.restore_past, StateTree)
def _restore_past(tree: StateTree, deal: Deal, whole: Longs, depth: int, column: int) -> None:
    for player in range(tree.payoffs.shape[1]):
        deal.cards[player] = whole[depth, column + player]
