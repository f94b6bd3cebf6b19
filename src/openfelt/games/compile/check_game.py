"""`check_game`: does a game keep the promises that solvers and measurements rely on?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from openfelt.core.errors import GameError
from openfelt.games.compile.compiler import compile_game, require_enumerable
from openfelt.games.compile.sequence_form import sequence_form
from openfelt.games.compile.state_graph import StateGraph, explore
from openfelt.games.game import TERMINAL, AnyGame, Game
from openfelt.games.registry import load_game


@dataclass(frozen=True)
class GameCheck:
    """What was found to hold; a game that breaks a promise raises GameError instead."""

    game: str
    players: int
    states: int
    nodes: int
    rows: int

    def __str__(self) -> str:
        return (
            f"{self.game}: {self.players} players, {self.nodes:,} nodes, {self.rows:,} rows, {self.states:,} "
            "states. Chance sums to one, payoffs to zero; nobody forgets; rows agree on their actions and "
            "have names of their own."
        )


def check_game(game: AnyGame) -> GameCheck:
    """Verify a game, or raise GameError with the first promise that it breaks."""
    rules = load_game(game)
    require_enumerable(rules)
    graph = explore(rules)  # refuses chances that do not sum to one
    _check_states(rules, graph)
    tree = compile_game(rules)  # refuses rows whose nodes disagree on their actions
    sequence_form(tree)  # refuses games in which a player forgets
    for player in range(tree.players):
        first, last = tree.rows.first_row[player : player + 2]
        names: set[str] = set()
        for row in range(first, last):
            name = tree.row_name(row)
            if name in names:
                raise GameError(f"{rules.name}: two rows of player {player} have the name '{name}'.")
            names.add(name)
    return GameCheck(rules.name, rules.players, len(graph.turn), tree.num_nodes, tree.num_rows)


def _check_states(rules: Game, graph: StateGraph) -> None:
    if (abs(graph.payoffs.sum(axis=1)) > 1e-9).any():
        raise GameError(f"{rules.name}: payoffs do not sum to zero.")
    for state in np.flatnonzero(graph.turn != TERMINAL):
        words = graph.action[graph.first_edge[state] : graph.first_edge[state + 1]]
        if len(set(words)) < len(words):
            raise GameError(f"{rules.name}: two actions of one state have the same word.")
