"""Metrics that the papers measure of a solver while it trains."""

from __future__ import annotations

from functools import cache

import numpy as np

from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.measure.dominated import DominatedActions, dominated_actions
from openfelt.measure.equilibrium_distance import EquilibriumSet
from openfelt.measure.exploitability import exploitability
from openfelt.solve.sampling.uct import UCT
from openfelt.solve.solver import Solver


def mean_squared_error(solver: Solver) -> float:
    """HS14's SQ-ERR: mean squared difference of all probabilities to the closest equilibrium."""
    return _equilibria(solver.tree.game).distance(solver.policy).mean


def squared_error(solver: Solver) -> float:
    """PJL11's SQRE: summed squared difference of all probabilities to the closest equilibrium."""
    return _equilibria(solver.tree.game).distance(solver.policy).sum


@cache
def _equilibria(game: str) -> EquilibriumSet:
    return EquilibriumSet(game)


@cache
def _dominated(game: str) -> DominatedActions:
    return dominated_actions(game)


def dominated_error(solver: Solver) -> float:
    """DOM-ERR: summed probability of dominated actions."""
    return _dominated(solver.tree.game).error(solver.policy)


def nash_conv(solver: Solver) -> float:
    """nash_conv of the average policy, which every `run` measures at its end."""
    return solver.measurements[-1].nash_conv


def greedy_nash_conv(solver: Solver) -> float:
    """nash_conv of the greedy policy."""
    return exploitability(solver.greedy).nash_conv


def greedy_best_response(solver: Solver) -> float:
    """Value of a best response in the second seat against the greedy policy in the first."""
    return exploitability(solver.greedy).best_responses[1]


def rewards(solver: UCT) -> Floats:
    """Summed payoffs of each player in the episodes in which it was the learning player.

    Each of these episodes passes through one of the player's first infosets, where payoffs are summed.
    """
    tree = compile_game(solver.tree)
    won = np.zeros(tree.players)
    for infoset in np.flatnonzero(solver.form.parent_slot >= solver.form.num_slots):
        slots = tree.slots(int(infoset))
        won[tree.row_player(int(infoset))] += np.nansum((solver.visits * solver.values)[slots])
    return won


def cumulative_reward(solver: UCT) -> float:
    """Summed payoffs of both players."""
    return float(rewards(solver).sum())


def mean_reward(solver: UCT) -> float:
    """Payoffs of both players per episode."""
    return cumulative_reward(solver) / solver.iterations


def first_seat_reward(solver: UCT) -> float:
    """Payoff of the first player per episode."""
    return float(rewards(solver)[0]) / solver.iterations
