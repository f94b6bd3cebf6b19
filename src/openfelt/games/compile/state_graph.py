"""The first step of compiling: the graph of all distinct states of a game.

Histories that lead to equal states share their future, so the states form an acyclic graph that is far
smaller than the tree of histories: goofspiel(7) has 47 million histories but 219 thousand states.
All calls of the Python rules happen here; later steps work on arrays.
"""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.disk_cache import FolderContents
from openfelt.core.errors import FileError, GameError
from openfelt.core.jit import Floats
from openfelt.games.game import CHANCE, TERMINAL, Game

MOST_EDGES = 10_000_000  # each takes about 300 bytes while the graph is explored
MOST_NODES = 2**31 - 1  # of the tree
PROBES, PROBE_DEPTH = 40, 1_000


@dataclass(frozen=True)
class StateGraph:
    """Arrays over the states, numbered breadth first from the start, and the edges between them."""

    turn: NDArray[np.int8]  # [states] player, CHANCE or TERMINAL
    first_edge: NDArray[np.int64]  # [states + 1] the edges of a state are consecutive, one per action
    target: NDArray[np.int32]  # [edges] the next state
    chance: Floats  # [edges] probability; 0 where a player moves
    action: NDArray[np.int32]  # [edges] label of the action
    seen: NDArray[np.int32]  # [edges, players] label of what each player observes; 0 for nothing
    public: NDArray[np.int32]  # [edges] label of what everybody observes; 0 for nothing
    payoff: NDArray[np.int32]  # [states] index into payoffs at a terminal state, else -1
    payoffs: Floats  # [different payoffs, players]
    stakes: Floats  # [states, 2] pot and betting potential where a player moves in poker, else nan
    passive: NDArray[np.int8]  # [states] position of the action that checks or calls, or -1
    labels: tuple[str, ...]  # the texts of label numbers; labels[0] is ""
    num_histories: int  # nodes that the tree will have
    num_decisions: int  # nodes at which a player moves


class Edge(NamedTuple):
    target: int
    chance: float
    action: int
    seen: tuple[int, ...]
    public: int


class Betting(NamedTuple):
    """The stakes at a state of a poker game, and the position of the action that checks or calls."""

    stakes: tuple[float, float]
    passive: int


NO_BETTING = Betting((math.nan, math.nan), -1)


class _Words(dict[Any, int]):
    """Assigns the next number to every new key."""

    def __missing__(self, key: Any) -> int:
        self[key] = len(self)
        return self[key]


def explore(game: Game, *, listed: bool = True) -> StateGraph:
    """Explore all states from the start; raises GameError for inconsistent rules.

    Unless the histories will be `listed`, there may be any number of them.
    """
    if listed:
        _require_feasible(game)
    labels, payoffs, number = _Words({"": 0}), _Words(), _Words()
    turn: list[int] = []
    payoff: list[int] = []
    betting: list[Betting] = []
    edges: list[list[Edge]] = []
    num_edges = 0
    states = [game.start()]  # in the order of their numbers; grows while we go through it
    number[_hashable(game, states[0])] = 0
    for state in states:
        mover = game.turn(state)
        if not TERMINAL <= mover < game.players:
            raise GameError(f"{game.name}: turn() returned {mover}; its players are 0 to {game.players - 1}.")
        turn.append(mover)
        over = mover == TERMINAL
        payoff.append(payoffs[_payoffs(game, state)] if over else -1)
        edges.append([] if over else _edges(game, state, mover, labels, number, states))
        betting.append(_betting(game, state) if mover >= 0 else NO_BETTING)
        num_edges += len(edges[-1])
        if num_edges > MOST_EDGES:
            raise GameError(f"{game.name} is too large to compile: over {MOST_EDGES:,} actions of states.")
    histories, decisions = _count(game, turn, edges)

    flat = [edge for group in edges for edge in group]
    return StateGraph(
        turn=np.array(turn, np.int8),
        first_edge=np.cumsum([0] + [len(group) for group in edges], dtype=np.int64),
        target=np.array([edge.target for edge in flat], np.int32),
        chance=np.array([edge.chance for edge in flat], np.float64),
        action=np.array([edge.action for edge in flat], np.int32),
        seen=np.array([edge.seen for edge in flat], np.int32).reshape(len(flat), game.players),
        public=np.array([edge.public for edge in flat], np.int32),
        payoff=np.array(payoff, np.int32),
        payoffs=np.array(list(payoffs), np.float64).reshape(len(payoffs), game.players),
        stakes=np.array([bet.stakes for bet in betting], np.float64),
        passive=np.array([bet.passive for bet in betting], np.int8),
        labels=tuple(labels),
        num_histories=histories,
        num_decisions=decisions,
    )


def graph_arrays(graph: StateGraph, game: str) -> FolderContents:
    """A graph as the arrays and facts of a folder."""
    found = {field.name: getattr(graph, field.name) for field in fields(graph)}
    arrays = {name: value for name, value in found.items() if isinstance(value, np.ndarray)}
    return arrays, {"game": game} | {name: value for name, value in found.items() if name not in arrays}


def graph_from(arrays: dict[str, NDArray[Any]], facts: dict[str, Any], game: str) -> StateGraph:
    """The graph from its arrays and facts; it must be that of `game`."""
    if facts.get("game") != game:
        raise FileError(f"The cached states are those of {facts.get('game')}, not of {game}.")
    try:
        found = {**facts, **arrays, "labels": tuple(facts["labels"])}
        return StateGraph(**{field.name: found[field.name] for field in fields(StateGraph)})
    except KeyError as error:
        raise FileError(f"The cached states of {game} are incomplete: {error} is missing.") from None


def _edges(
    game: Game, state: Any, mover: int, labels: _Words, number: _Words, states: list[Any]
) -> list[Edge]:
    actions = game.actions(state)
    if not actions:
        raise GameError(f"{game.name}: there are no actions at {state}, but the game is not over.")
    chance = game.chance(state) if mover == CHANCE else [0.0] * len(actions)
    if len(chance) != len(actions):
        raise GameError(
            f"{game.name}: chance has {len(actions)} outcomes but {len(chance)} probabilities at {state}."
        )
    if mover == CHANCE and not (min(chance) >= 0 and abs(sum(chance) - 1) <= 1e-9):
        raise GameError(f"{game.name}: the probabilities of chance do not sum to 1: {list(chance)}.")
    edges = []
    for action, probability in zip(actions, chance, strict=True):
        after = _hashable(game, game.play(state, action))
        if number[after] == len(states):
            states.append(after)
        seen = tuple(game.sees(state, action, player) for player in range(game.players))
        if not all(isinstance(word, str) for word in (action, *seen)):
            raise GameError(f"{game.name}: actions and observations must be strings, at {state}.")
        words = tuple(labels[word] for word in seen)
        public = game.public(state, action, seen)
        edges.append(Edge(number[after], float(probability), labels[action], words, labels[public]))
    return edges


def _betting(game: Game, state: Any) -> Betting:
    stakes, passive = game.stakes(state), game.passive(state)
    if passive is not None and passive not in game.actions(state):
        raise GameError(f"{game.name}: passive() returned '{passive}', which is not an action at {state}.")
    return Betting(
        NO_BETTING.stakes if stakes is None else stakes,
        NO_BETTING.passive if passive is None else list(game.actions(state)).index(passive),
    )


def _payoffs(game: Game, state: Any) -> tuple[float, ...]:
    payoffs = tuple(float(value) for value in game.payoffs(state))
    if len(payoffs) != game.players or not all(map(math.isfinite, payoffs)):
        raise GameError(
            f"{game.name}: payoffs must be one finite number per player ({game.players}), not {payoffs}."
        )
    return payoffs


def _hashable(game: Game, state: Any) -> Any:
    try:
        hash(state)
    except TypeError:
        raise GameError(f"{game.name}: a state must be hashable, such as a tuple, not {state!r}.") from None
    return state


def _require_feasible(game: Game) -> None:
    """Raise at once for a tree that is far too large, by Knuth's estimate of its size (1975).

    The product of the branching factors along a random play is an unbiased estimate of the number of nodes at
    its depth, and the sum over depths one of the size. A game is rejected if the mean is far above the limit,
    or if half of the estimates are ten times the limit: by Markov's inequality at most one in ten would be.
    """
    draw = random.Random(1)
    estimates = []
    for _ in range(PROBES):
        state, width, nodes = game.start(), 1.0, 1.0
        for _ in range(PROBE_DEPTH):
            actions = [] if game.turn(state) == TERMINAL else game.actions(state)
            if not actions:
                break
            width *= len(actions)
            nodes += width
            state = game.play(state, actions[draw.randrange(len(actions))])
        else:
            return  # the game may not end, which `_count` finds
        estimates.append(nodes)
    mean, error = statistics.fmean(estimates), statistics.stdev(estimates) / math.sqrt(PROBES)
    if mean - 5 * error > MOST_NODES or statistics.median(estimates) > 10 * MOST_NODES:
        raise GameError(
            f"{game.name} has about {mean:.0e} histories; at most {MOST_NODES:.2g} can be compiled."
        )


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
