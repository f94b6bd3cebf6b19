"""`check_game`: verify the properties of a game that solvers and measurements rely on."""

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
    """The size of a game that passed all checks."""

    game: str
    players: int
    states: int
    histories: int
    infosets: int
    is_zero_sum: bool

    def __str__(self) -> str:
        return (
            f"{self.game}: {self.players} players, {self.infosets:,} infosets, {self.histories:,} histories, "
            f"{self.states:,} states. Chance probabilities sum to 1{', payoffs to 0' * self.is_zero_sum}; "
            "recall is perfect; all histories of an infoset have the same actions; infosets have "
            "distinct names."
        )


def check_game(game: AnyGame) -> GameCheck:
    """Verify the rules of a game.

    The checks: chance probabilities sum to 1 and payoffs to 0 (unless the game's `is_zero_sum` is False), the
    game ends, actions at a state have distinct names, all histories of an infoset have the same actions,
    recall is perfect, and infosets have distinct names.

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game.

    Returns
    -------
    GameCheck
        The number of players, infosets, histories and states.

    Raises
    ------
    GameError
        With the first check that fails.

    Examples
    --------
    >>> check = felt.check_game("kuhn")
    >>> check.infosets, check.histories
    (12, 58)
    """
    rules = load_game(game)
    require_enumerable(rules)
    graph = explore(rules)  # raises if chance probabilities do not sum to 1, or the game may not end
    _check_states(rules, graph)
    tree = compile_game(rules)  # raises if histories of an infoset differ in their actions
    sequence_form(tree)  # raises without perfect recall
    for player in range(tree.players):
        first, last = tree.rows.first_row[player : player + 2]
        names: set[str] = set()
        for row in range(first, last):
            name = tree.row_name(row)
            if name in names:
                raise GameError(f"{rules.name}: two infosets of player {player} have the name '{name}'.")
            names.add(name)
    return GameCheck(
        rules.name, rules.players, len(graph.turn), tree.num_nodes, tree.num_rows, rules.is_zero_sum
    )


def _check_states(rules: Game, graph: StateGraph) -> None:
    if rules.is_zero_sum and (abs(graph.payoffs.sum(axis=1)) > 1e-9).any():
        raise GameError(f"{rules.name}: payoffs do not sum to zero.")
    for state in np.flatnonzero(graph.turn != TERMINAL):
        words = graph.action[graph.first_edge[state] : graph.first_edge[state + 1]]
        if len(set(words)) < len(words):
            raise GameError(f"{rules.name}: two actions of one state have the same name.")
