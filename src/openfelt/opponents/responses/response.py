"""What a counter-strategy wins from the player it is made for, and what it risks against anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.sequence_form import sequence_form
from openfelt.games.game import AnyGame
from openfelt.games.registry import load_game
from openfelt.measure.exploitability import expected_values, exploitability, values_against
from openfelt.opponents.responses.fixed import require_two_players
from openfelt.policy.holdem import HoldemPolicy
from openfelt.policy.policy import Policy, join_seats, require_game
from openfelt.policy.tabular import TabularPolicy, normalised, require_tabular
from openfelt.solve.cfr import CFRPlus, PCFRPlus
from openfelt.solve.registry import solver_type
from openfelt.solve.restriction import EACH, ONCE, Restriction
from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.solve.sequence_lp import plan_program, require_zero_sum, sequences, solve_program
from openfelt.solve.solver import Progress, Solver
from openfelt.solve.traverse.sequence import spread_reach

LP = "lp"
MOST_SLOTS, MOST_LEAVES = 100_000, 3_000_000  # of games that are solved by linear programs
# The papers' names: the solver, and when the coin is tossed. Any other solver goes by its own name.
METHODS = {
    "rnr": (CFRPlus.name, ONCE),
    "mcrnr": (OutcomeMCCFR.name, ONCE),
    "dbr": (CFRPlus.name, EACH),
    "mcdbr": (OutcomeMCCFR.name, EACH),
}
ITERATIONS, NEAR = 1_000, 1e-4  # of the solver of larger ones, and the exploitability that is enough


@dataclass(frozen=True, eq=False)
class Response:
    """A counter-strategy for both seats, with what it is worth; all means over the two seats, in `unit`."""

    game: str
    unit: str
    how: str  # in words
    policy: TabularPolicy
    won: tuple[float, ...]  # by seat, from the player it is made for
    usual: tuple[float, ...]  # what an equilibrium wins from him
    exploitability: float  # nash_conv / 2, as everywhere

    @property
    def exploitation(self) -> float:
        """What it wins more than an equilibrium, in the mean of the seats."""
        return float(np.mean(self.won) - np.mean(self.usual))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = ("game", "how", "won", "usual", "exploitation", "exploitability", "unit")
        return {name: getattr(self, name) for name in names}


class Responses:
    """Counter-strategies to one fixed policy of a two-player zero-sum game."""

    def __init__(self, game: AnyGame, fixed: Policy) -> None:
        self.game = load_game(game)
        require_two_players(self.game)
        tree = compile_game(self.game)
        require_zero_sum(tree)
        self.fixed = require_tabular(fixed)
        require_game(self.fixed, tree)
        self.tree, self.form = tree, sequence_form(tree)
        self.equilibrium = self._solved()
        self.usual = values_against(self.equilibrium, self.fixed)

    @property
    def is_exact(self) -> bool:
        """Whether the game is small enough for linear programs, of seconds or a minute."""
        return self.tree.num_slots <= MOST_SLOTS and len(self.form.leaf_weight) <= MOST_LEAVES

    def _solved(self) -> Policy:
        if self.is_exact:
            return solver_type(LP)(self.game).run().policy
        return PCFRPlus(self.game).run(ITERATIONS, until=NEAR).policy

    @cached_property
    def values(self) -> tuple[float, ...]:
        """What the game is worth to each player."""
        return expected_values(self.equilibrium)

    @cached_property
    def most(self) -> tuple[float, ...]:
        """What a best response wins from the fixed policy, by seat."""
        return exploitability(self.fixed).best_responses

    def measured(self, policy: Policy, how: str) -> Response:
        """What a policy for both seats is worth."""
        policy = require_tabular(policy)
        won, risk = values_against(policy, self.fixed), exploitability(policy).exploitability
        return Response(self.tree.game, self.tree.unit, how, policy, won, self.usual, risk)

    def restricted(
        self,
        p: float | Floats,
        *,
        toss: str = ONCE,
        solver: str = LP,
        iterations: int | None = None,
        seconds: float | None = None,
        until: float | None = None,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Response:
        """The restricted Nash response (PJL11), or with `toss` EACH the data-biased one: one run a seat.

        The budget is that of each run.
        """
        profile = []
        for free in range(2):
            made = restricted_solver(self.game, self.fixed, p, free, toss, solver, **settings)
            made.run(iterations, seconds=seconds, until=until, progress=progress)
            profile.append(made.policy)
        shown = f"{p:g}" if isinstance(p, float | int) else "by observations"
        return self.measured(join_seats(profile), f"{solver}, p {shown}")

    def safe(self, epsilon: float) -> Response:
        """The most that can be won from the fixed policy while giving up at most `epsilon` of the value.

        In each seat, by a linear program: maximise the payoff against it, where the worst case stays at the
        value of the game less epsilon.
        """
        if not epsilon >= 0:
            raise FeltError(f"What may be given up must be 0 or more, not {epsilon}.")
        plan = np.zeros(self.tree.num_slots)
        for free in range(2):
            program = plan_program(self.form, free)
            own = sequences(self.form, free)
            objective = np.zeros(program.a_ub.shape[1])
            objective[: program.num_plan] = -self._gains(free)[own] / program.scale
            least = (self.values[free] - epsilon) / program.scale
            solution = solve_program(program, self.tree.game, objective, at_least=least - SLACK)
            plan[own[:-1]] = np.maximum(solution.x[: program.num_plan - 1], 0.0)
        return self.measured(
            TabularPolicy(self.tree, normalised(self.tree, plan)), f"safe within {epsilon:g}"
        )

    def _gains(self, player: int) -> Floats:
        """[slots + players] what each of a player's sequences gets at its leaves against the fixed policy."""
        reach = np.zeros(self.form.num_slots + 2)
        spread_reach(self.form, 1 - player, self.fixed.probabilities, reach)
        leaves = np.repeat(np.arange(len(reach)), np.diff(self.form.first_leaf))
        gains = np.zeros(len(reach))
        np.add.at(gains, leaves, self.form.leaf_weight * reach[self.form.leaf_others[:, 0]])
        return gains


SLACK = 1e-9  # so that rounding does not make the program infeasible


def restricted_solver(
    game: AnyGame, fixed: Policy, p: float | Floats, free: int, toss: str, solver: str, **settings: Any
) -> Solver:
    """Learns what to do in the seat `free`, against one who is bound with probability p."""
    return solver_type(solver)(game, restriction=Restriction(1 - free, fixed, p, toss), **settings)


def joined(seats: Sequence[HoldemPolicy]) -> HoldemPolicy:
    """In hold'em: the policy that plays each seat as the one of that seat."""
    tree = seats[0].tree
    weights = np.empty_like(seats[0].weights)
    for place in np.ndindex(*tree.layout.edges.shape):
        first = int(tree.layout.slot_base[place])
        own = slice(first, first + int(tree.layout.edges[place] * tree.layout.buckets[place]))
        require_game(seats[place[1]], tree)
        weights[own] = seats[place[1]].weights[own]
    return HoldemPolicy(tree, weights)


def frontier(game: AnyGame, fixed: Policy, ps: Sequence[float], **how: Any) -> list[Response]:
    """The responses for several p, as in PJL11's Figure 6."""
    responses = Responses(game, fixed)
    return [responses.restricted(p, **how) for p in ps]
