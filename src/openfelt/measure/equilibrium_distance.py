"""The distance of a policy to the closest equilibrium: HS14's SQ-ERR and PJL11's squared error.

A two-player zero-sum game may have many equilibria; those of each player form a polytope of realisation plans
(in Kuhn poker a segment for the first player, PJL11 2.2). Its vertices are found by the linear program with
q(start) fixed at the game's value, in many directions; the closest equilibrium is then sought among their
mixtures. The distance is between probabilities at infosets, not between plans. Infosets that a player's own
plan does not reach are unconstrained in a Nash equilibrium and do not count.

With one or two vertices per player (as in Kuhn poker) the search is along a segment and finds the closest.
With more, the error is not convex in the mixture and the search may miss the closest equilibrium: the
result is then an upper bound, and `exact` is False.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.optimize

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.sequence_form import sequence_form
from openfelt.games.game import AnyGame
from openfelt.policy.policy import Policy, require_game
from openfelt.policy.tabular import TabularPolicy, require_tabular
from openfelt.solve.sequence_lp import plan_program, require_zero_sum, sequences, solve_program

MOST_SLOTS = 2_000
DIRECTIONS = 60
UNREACHED = 1e-7
SEARCHES = 6  # from the best of many starting points
CORNER = 1e-5  # a mixture closer than this to a vertex is the vertex, so that rounding reaches no infosets
GRID, ZOOMS = 201, 5  # points of a grid between two vertices, and the number of refinements, to 1e-10


@dataclass(frozen=True, eq=False)
class EquilibriumDistance:
    """The squared error of a policy, and the equilibrium closest to it."""

    sum: float  # of squared differences of probabilities, over all infosets and actions (PJL11)
    mean: float  # the same divided by the number of probabilities (HS14's mean-squared error)
    closest: TabularPolicy
    exact: bool  # False: there may be a closer equilibrium


class EquilibriumSet:
    """The equilibria of a small two-player zero-sum game, to measure many policies.

    Parameters
    ----------
    game : Game, str, Path or GameTree
        A game with at most 2,000 actions at all infosets together.
    seed : int
        Of the random directions in which the vertices of the polytope are sought.

    Examples
    --------
    >>> equilibria = felt.EquilibriumSet("kuhn")
    >>> equilibria.distance(felt.SequenceLP("kuhn").run().policy).sum < 1e-9
    True
    """

    def __init__(self, game: AnyGame | GameTree, *, seed: int = 0) -> None:
        self.tree = compile_game(game)
        require_zero_sum(self.tree)
        if not self.tree.num_rows:
            raise FeltError(f"{self.tree.game} has no decisions.")
        if self.tree.num_slots > MOST_SLOTS:
            raise FeltError(
                f"{self.tree.game} has {self.tree.num_slots:,} actions in total; the distance "
                f"to its equilibria is computed for at most {MOST_SLOTS:,}."
            )
        self._form = sequence_form(self.tree)
        generator = np.random.default_rng(seed)
        self.corners = tuple(self._corners(player, generator) for player in range(2))

    def _corners(self, player: int, generator: np.random.Generator) -> Floats:
        """[vertices, sequences] the extreme equilibrium plans of a player."""
        program = plan_program(self._form, player)
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
        return np.array(corners)

    def distance(self, policy: Policy) -> EquilibriumDistance:
        """The squared error of `policy` to the closest equilibrium."""
        require_game(policy, self.tree)
        table = np.concatenate([self._closest(player, policy.probabilities) for player in range(2)])
        total = float(((table - policy.probabilities) ** 2).sum())
        exact = max(map(len, self.corners)) <= 2
        return EquilibriumDistance(total, total / len(table), TabularPolicy(self.tree, table), exact)

    def _closest(self, player: int, policy: Floats) -> Floats:
        """[own slots] the player's strategy in the closest equilibrium."""
        corners = self.corners[player]
        count = len(corners)
        wanted = policy[sequences(self._form, player)[:-1]]

        def behaviour(mixes: Floats) -> Floats:
            """[..., slots] for mixes [..., corners] of any sum."""
            shares = np.abs(mixes) / np.abs(mixes).sum(axis=-1, keepdims=True)
            return self._behaviour(player, shares @ corners, wanted)

        def error(mixes: Floats) -> Floats:
            errors: Floats = ((behaviour(mixes) - wanted) ** 2).sum(axis=-1)
            return errors

        if count == 2:
            return behaviour(_zoom(error))
        generator = np.random.default_rng(0)
        starts = np.concatenate([np.eye(count), generator.dirichlet(np.ones(count), 50 if count > 1 else 0)])
        found = list(starts[np.argsort(error(starts), kind="stable")][:SEARCHES])
        if count > 1:
            limits = [(0.0, 1.0)] * count
            options = {"ftol": 1e-15, "gtol": 1e-10}
            found += [
                scipy.optimize.minimize(error, start, bounds=limits, method="L-BFGS-B", options=options).x
                for start in found
            ]
        return behaviour(min(found, key=error))

    def _behaviour(self, player: int, plans: Floats, wanted: Floats) -> Floats:
        """The probabilities of plans [..., sequences]; as in `wanted` at infosets that they do not reach."""
        form = self._form
        rows = slice(int(form.first_row[player]), int(form.first_row[player + 1]))
        slots, own = sequences(form, player), plans[..., :-1]
        starts = form.first_slot[rows] - slots[0]
        weight = np.zeros((*plans.shape[:-1], form.num_slots + form.num_players))
        weight[..., slots] = plans
        counts = np.diff(form.first_slot[rows.start : rows.stop + 1])
        reached = np.repeat(weight[..., form.parent_slot[rows]] > UNREACHED, counts, axis=-1)
        sums = np.repeat(np.add.reduceat(own, starts, axis=-1), counts, axis=-1) if len(starts) else own
        behaviour: Floats = np.divide(own, sums, out=np.broadcast_to(wanted, own.shape).copy(), where=reached)
        return behaviour


def _zoom(error: Callable[[Floats], Floats]) -> Floats:
    """The best mixture of two vertices: the best point of a grid, then of finer grids around it."""
    low, high = 0.0, 1.0
    for _ in range(ZOOMS):
        shares = np.linspace(low, high, GRID)
        shares[shares < CORNER], shares[shares > 1.0 - CORNER] = 0.0, 1.0
        best = int(np.argmin(error(np.stack([1.0 - shares, shares], axis=-1))))
        low, high = shares[max(best - 1, 0)], shares[min(best + 1, GRID - 1)]
    return np.array([1.0 - shares[best], shares[best]])


def closest_equilibrium(policy: Policy) -> EquilibriumDistance:
    """The squared error of a policy to the closest equilibrium of a small two-player zero-sum game.

    For many policies of one game, create an `EquilibriumSet` once.

    Parameters
    ----------
    policy : Policy
        The profile.

    Returns
    -------
    EquilibriumDistance
        `sum` and `mean` of the squared errors, the `closest` equilibrium, and whether that is `exact`.

    Examples
    --------
    >>> felt.closest_equilibrium(felt.uniform_policy("kuhn")).sum
    3.7222...
    """
    return EquilibriumSet(compile_game(require_tabular(policy).tree)).distance(policy)
