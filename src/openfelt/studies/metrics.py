"""What the papers measure of a learner while it learns."""

from __future__ import annotations

from functools import cache

import numpy as np

from openfelt.core.jit import Floats
from openfelt.games.compile.game_tree import GameTree
from openfelt.measure.dominated import DominatedActions, dominated_actions
from openfelt.measure.equilibrium_distance import EquilibriumSet
from openfelt.measure.exploitability import exploitability
from openfelt.solve.sampling.uct import UCT
from openfelt.solve.solver import Solver


def mean_squared_error(solver: Solver) -> float:
    """HS14's SQ-ERR: the mean over all probabilities, to the closest equilibrium."""
    return _equilibria(solver.tree.game).distance(solver.policy).mean


def squared_error(solver: Solver) -> float:
    """PJL11's squared error: the sum over all probabilities, to the closest equilibrium."""
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
    """Of the average policy; every `run` ends by measuring it."""
    return solver.measurements[-1].nash_conv


def greedy_nash_conv(solver: Solver) -> float:
    """Of the policy of highest values."""
    return exploitability(solver.greedy).nash_conv


def greedy_best_response(solver: Solver) -> float:
    """What a best response in the second seat wins against the greedy policy in the first."""
    return exploitability(solver.greedy).best_responses[1]


def rewards(solver: Solver) -> Floats:
    """What each player has won in the episodes in which he learned, summed.

    Each of these passes through one of the player's first rows, where the payoffs are summed up.
    """
    tree = solver.tree
    assert isinstance(solver, UCT)
    assert isinstance(tree, GameTree)
    won = np.zeros(tree.players)
    for row in np.flatnonzero(solver.form.parent_slot >= solver.form.num_slots):
        slots = tree.slots(int(row))
        won[tree.row_player(int(row))] += np.nansum((solver.visits * solver.values)[slots])
    return won


def cumulative_reward(solver: Solver) -> float:
    """Of all seats together."""
    return float(rewards(solver).sum())


def mean_reward(solver: Solver) -> float:
    """The same per episode."""
    return cumulative_reward(solver) / solver.iterations


def first_seat_reward(solver: Solver) -> float:
    """What player 0 has won per episode."""
    return float(rewards(solver)[0]) / solver.iterations
