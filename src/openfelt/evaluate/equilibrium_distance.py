"""How far a policy is from the closest equilibrium: HS14's SQ-ERR and PJL11's squared error.

A two-player zero-sum game may have many equilibria; each player's form a polytope of realisation plans
(in Kuhn poker a segment for the first player, PJL11 2.2). Its corners are found by the linear program
with q(start) held at the game's value, in many directions; the closest equilibrium is then searched among
their mixtures. The distance is between probabilities at rows, not between plans.

A row that an equilibrium never lets its player reach puts no condition on him there as far as Nash is
concerned; we count what he does at such a row against the nearest distribution over actions that are not
dominated (in Kuhn poker: a first player who always bets his king should still call with it).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from openfelt.base.errors import FeltError
from openfelt.base.jit import Floats
from openfelt.compile.compiler import compile_game
from openfelt.compile.sequence_form import sequence_form
from openfelt.evaluate.dominated import dominated_actions
from openfelt.policy.policy import Policy, require_game
from openfelt.rules.game import AnyGame
from openfelt.solvers.sequence_lp import plan_program, require_zero_sum, sequences, solve_program

MOST_SLOTS = 2_000
DIRECTIONS = 60
UNREACHED = 1e-7


@dataclass(frozen=True, eq=False)
class EquilibriumDistance:
    """The squared error of a policy, and the equilibrium that it is measured against."""

    sum: float  # over all rows and actions, of the squared difference of probabilities (PJL11)
    mean: float  # the same divided by the number of probabilities (HS14's mean-squared error)
    closest: Policy


class EquilibriumSet:
    """The equilibria of a small two-player zero-sum game; find them once, measure many policies."""

    def __init__(self, game: AnyGame, *, seed: int = 0) -> None:
        self.tree = compile_game(game)
        require_zero_sum(self.tree)
        if self.tree.num_slots > MOST_SLOTS:
            raise FeltError(
                f"{self.tree.game} is too large: the distance to all its equilibria is not computed."
            )
        self.dominated = dominated_actions(game).slots
        self.form = sequence_form(self.tree)
        generator = np.random.default_rng(seed)
        self.value, first = self._corners(0, generator)
        _, second = self._corners(1, generator)
        self.corners = (first, second)  # for each player [corners, sequences of his]

    def _corners(self, player: int, generator: np.random.Generator) -> tuple[float, Floats]:
        program = plan_program(self.form, player)
        value = float(solve_program(program, self.tree.game).x[-1])
        count, size = program.num_plan, program.a_ub.shape[1]
        directions = np.concatenate(
            [np.eye(count), -np.eye(count), generator.normal(size=(DIRECTIONS, count))]
        )
        corners: list[Floats] = []
        for direction in directions:
            objective = np.concatenate([direction, np.zeros(size - count)])
            plan = solve_program(program, self.tree.game, objective, at_least=value - 1e-10).x[:count]
            if all(abs(plan - corner).max() > 1e-6 for corner in corners):
                corners.append(np.maximum(plan, 0.0))
        return value, np.array(corners)

    def distance(self, policy: Policy) -> EquilibriumDistance:
        """The squared error of `policy` to the closest equilibrium."""
        require_game(policy, self.tree)
        table = np.empty(self.tree.num_slots)
        total = 0.0
        for player in range(2):
            total += self._closest(player, policy.probabilities, table)
        return EquilibriumDistance(total, total / self.tree.num_slots, Policy(self.tree, table))

    def _closest(self, player: int, wanted: Floats, table: Floats) -> float:
        """Fill in the closest equilibrium of one player; returns the squared error."""
        corners = self.corners[player]
        count = len(corners)

        def error(mix: Floats) -> float:
            return self._behaviour(player, np.abs(mix) @ corners / np.abs(mix).sum(), wanted, table)

        starts = [
            *np.eye(count),
            *(np.eye(count)[:, None] + np.eye(count)).reshape(-1, count),
            np.ones(count),
        ]
        if count == 2:
            starts += [np.array([1.0 - share, share]) for share in np.linspace(0.0, 1.0, 101)]
        best = min(starts, key=error)
        if count > 1:
            found = scipy.optimize.minimize(
                error,
                best / best.sum(),
                bounds=[(0.0, 1.0)] * count,
                method="L-BFGS-B",
                options={"ftol": 1e-15, "gtol": 1e-10},
            )
            if found.fun < error(best):
                best = found.x
        return error(best)

    def _behaviour(
        self,
        player: int,
        plan: Floats,
        wanted: Floats,
        table: Floats,
    ) -> float:
        """Write the probabilities that a plan stands for into `table`; returns their squared error."""
        form, total = self.form, 0.0
        weight = np.zeros(form.num_slots + 2)
        weight[sequences(form, player)] = plan
        for row in range(form.first_row[player], form.first_row[player + 1]):
            here = slice(form.first_slot[row], form.first_slot[row + 1])
            reach = weight[form.parent_slot[row]]
            if reach > UNREACHED:
                table[here] = weight[here] / weight[here].sum()
            else:
                allowed = ~self.dominated[here]
                missing = 1.0 - wanted[here][allowed].sum()
                table[here] = np.where(allowed, wanted[here] + missing / allowed.sum(), 0.0)
            total += float(((table[here] - wanted[here]) ** 2).sum())
        return total


def closest_equilibrium(game: AnyGame, policy: Policy) -> EquilibriumDistance:
    """Squared error to the closest equilibrium; for many policies make an `EquilibriumSet` once."""
    return EquilibriumSet(game).distance(policy)
