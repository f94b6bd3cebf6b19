"""The first step of compiling: every distinct state of a game, asked once.

Histories that lead to equal states share their future, so the states form an acyclic graph that is far
smaller than the tree of histories: goofspiel(7) has 47 million histories but only thousands of states.
All calls into the Python rules happen here; what comes after works on arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.base.errors import GameError
from openfelt.base.jit import Floats
from openfelt.rules.game import CHANCE, TERMINAL, Game

MOST_STATES = 20_000_000


@dataclass(frozen=True)
class StateGraph:
    """Arrays over the states (numbered as found from the start, which is state 0) and the edges between."""

    turn: NDArray[np.int8]  # [states] player, CHANCE or TERMINAL
    first_edge: NDArray[np.int64]  # [states + 1] edges of a state stand together, in the order of its actions
    target: NDArray[np.int32]  # [edges] the state that follows
    chance: Floats  # [edges] probability; 0 where a player moves
    action: NDArray[np.int32]  # [edges] label of the action
    seen: NDArray[np.int32]  # [edges, players] label of what each player sees; 0 for nothing
    payoff: NDArray[np.int32]  # [states] index into payoffs at a terminal state, else -1
    payoffs: Floats  # [different payoffs, players]
    labels: tuple[str, ...]  # the words behind the label numbers; labels[0] is ""
    num_histories: int  # nodes that the tree will have
    num_decisions: int  # nodes at which a player moves


class Edge(NamedTuple):
    target: int
    chance: float
    action: int
    seen: tuple[int, ...]


class _Words(dict[Any, int]):
    """Gives every new key the next number."""

    def __missing__(self, key: Any) -> int:
        self[key] = len(self)
        return self[key]


def explore(game: Game) -> StateGraph:
    """Ask the rules for everything, state by state from the start."""
    labels, payoffs, number = _Words({"": 0}), _Words(), _Words()
    turn: list[int] = []
    payoff: list[int] = []
    edges: list[list[Edge]] = []
    states = [game.start()]  # in the order of their numbers; grows while we go through it
    number[states[0]] = 0
    for state in states:
        mover = game.turn(state)
        turn.append(mover)
        over = mover == TERMINAL
        payoff.append(payoffs[tuple(float(value) for value in game.payoffs(state))] if over else -1)
        edges.append([] if over else _edges(game, state, mover, labels, number, states))
        if len(states) > MOST_STATES:
            raise GameError(f"{game.name} has over {MOST_STATES:,} different states, too many to compile.")
    histories, decisions = _count(game, turn, edges)

    flat = [edge for group in edges for edge in group]
    return StateGraph(
        turn=np.array(turn, np.int8),
        first_edge=np.cumsum([0] + [len(group) for group in edges], dtype=np.int64),
        target=np.array([edge.target for edge in flat], np.int32),
        chance=np.array([edge.chance for edge in flat], np.float64),
        action=np.array([edge.action for edge in flat], np.int32),
        seen=np.array([edge.seen for edge in flat], np.int32).reshape(len(flat), game.players),
        payoff=np.array(payoff, np.int32),
        payoffs=np.array(list(payoffs), np.float64).reshape(len(payoffs), game.players),
        labels=tuple(labels),
        num_histories=histories,
        num_decisions=decisions,
    )


def _edges(
    game: Game, state: Any, mover: int, labels: _Words, number: _Words, states: list[Any]
) -> list[Edge]:
    actions = game.actions(state)
    if not actions:
        raise GameError(f"{game.name}: nobody can move at {state}, yet the game is not over.")
    chance = game.chance(state) if mover == CHANCE else [0.0] * len(actions)
    edges = []
    for action, probability in zip(actions, chance, strict=True):
        after = game.play(state, action)
        if number[after] == len(states):
            states.append(after)
        seen = tuple(labels[game.sees(state, action, player)] for player in range(game.players))
        edges.append(Edge(number[after], float(probability), labels[action], seen))
    return edges


def _count(game: Game, turn: list[int], edges: list[list[Edge]]) -> tuple[int, int]:
    """Nodes and decision nodes of the tree, without building it: sums over the graph, last states first."""
    entering = [0] * len(turn)
    for group in edges:
        for edge in group:
            entering[edge.target] += 1
    order = [] if entering[0] else [0]  # topological; grows while we go through it
    for state in order:
        for edge in edges[state]:
            entering[edge.target] -= 1
            if entering[edge.target] == 0:
                order.append(edge.target)
    if len(order) < len(turn):
        raise GameError(f"{game.name}: a state can be reached from itself, so the game need not end.")
    histories, decisions = [1] * len(turn), [int(mover >= 0) for mover in turn]
    for state in reversed(order):
        for edge in edges[state]:
            histories[state] += histories[edge.target]
            decisions[state] += decisions[edge.target]
    return histories[0], decisions[0]
