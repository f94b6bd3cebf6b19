"""How counter-strategies are measured: exactly in enumerated games, by exact or sampled values in hold'em."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, singledispatch

import numpy as np

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.sequence_form import sequence_form
from openfelt.games.compile.tree import Tree, too_many_histories
from openfelt.games.game import Game
from openfelt.measure.exploitability import (
    Effort,
    evaluator,
    expected_values,
    exploitability,
    values_against,
)
from openfelt.measure.results import Value
from openfelt.policy.policy import Policy
from openfelt.policy.tabular import TabularPolicy, normalised
from openfelt.solve.cfr import PCFRPlus
from openfelt.solve.registry import solver_type
from openfelt.solve.sequence_lp import plan_program, require_zero_sum, sequences, solve_program
from openfelt.solve.traverse.sequence import spread_reach

LP = "lp"
MOST_SLOTS, MOST_LEAVES = 100_000, 3_000_000  # of games that are solved by linear programs
ITERATIONS, NEAR = 1_000, 1e-4  # of the solver of larger games, and the exploitability at which it stops
SLACK = 1e-9  # so that rounding does not make a program infeasible

ValueFunction = Callable[[Policy, Policy], Value]  # of a policy and its opponent


class Evaluation(ABC):
    """Measures responses to one fixed policy."""

    unit: str

    def __init__(self, tree: Tree, fixed: Policy) -> None:
        self.tree, self.fixed = tree, fixed

    @abstractmethod
    def value(self, policy: Policy) -> Value:
        """What a response wins from the fixed policy."""

    def exploitability(self, policy: Policy) -> float:
        """Exact exploitability of a response."""
        return exploitability(policy).exploitability

    @cached_property
    def most(self) -> tuple[float, ...]:
        """What a best response wins from the fixed policy, by seat."""
        return exploitability(self.fixed).best_responses

    # Enumerated games only

    is_exact: bool = False  # whether linear programs can solve the game

    @property
    def equilibrium(self) -> Policy:
        """An equilibrium of the game, or close to one."""
        raise FeltError(f"No equilibrium of {self.tree.game} is known.")

    @property
    def usual(self) -> tuple[float, ...]:
        """What the equilibrium wins from the fixed policy, by seat."""
        return values_against(self.equilibrium, self.fixed)

    @property
    def values(self) -> tuple[float, ...]:
        """The value of the game for each player."""
        return expected_values(self.equilibrium)

    def safe_policy(self, epsilon: float) -> Policy:
        """The policy that wins most and gives up at most `epsilon` of the game's value."""
        raise FeltError(f"A safe response solves linear programs, which {self.tree.game} is too large for.")


@singledispatch
def evaluation(tree: Tree, game: Game, fixed: Policy, value: ValueFunction | None) -> Evaluation:
    """How responses to a fixed policy of a game are measured; `value` is for hold'em."""
    raise too_many_histories(tree.game)


@evaluation.register(GameTree)
class EnumeratedEvaluation(Evaluation):
    """All values are exact, and compared with an equilibrium."""

    tree: GameTree

    def __init__(self, tree: GameTree, game: Game, fixed: Policy, value: ValueFunction | None) -> None:
        super().__init__(tree, fixed)
        require_zero_sum(tree)
        self.unit, self.form = tree.unit, sequence_form(tree)
        self.is_exact = tree.num_slots <= MOST_SLOTS and len(self.form.leaf_weight) <= MOST_LEAVES
        if self.is_exact:
            self._equilibrium = solver_type(LP)(game).run().policy
        else:
            self._equilibrium = PCFRPlus(game).run(ITERATIONS, until=NEAR).policy
        self._usual = values_against(self._equilibrium, fixed)

    @property
    def equilibrium(self) -> Policy:
        return self._equilibrium

    @property
    def usual(self) -> tuple[float, ...]:
        return self._usual

    @cached_property
    def values(self) -> tuple[float, ...]:
        return expected_values(self._equilibrium)

    def value(self, policy: Policy) -> Value:
        return evaluator(policy).against(self.fixed, Effort())

    def safe_policy(self, epsilon: float) -> Policy:
        if not epsilon >= 0:
            raise FeltError(f"A safe response may give up 0 or more of the value, not {epsilon}.")
        plan = np.zeros(self.tree.num_slots)
        for free in range(2):
            program = plan_program(self.form, free)
            own = sequences(self.form, free)
            objective = np.zeros(program.a_ub.shape[1])
            objective[: program.num_plan] = -self._gains(free)[own] / program.scale
            least = (self.values[free] - epsilon) / program.scale
            solution = solve_program(program, self.tree.game, objective, at_least=least - SLACK)
            plan[own[:-1]] = np.maximum(solution.x[: program.num_plan - 1], 0.0)
        return TabularPolicy(self.tree, normalised(self.tree, plan))

    def _gains(self, player: int) -> Floats:
        """[slots + players] payoff of each of a player's sequences at its leaves against the fixed policy."""
        reach = np.zeros(self.form.num_slots + 2)
        spread_reach(self.form, 1 - player, self.fixed.probabilities, reach)
        leaves = np.repeat(np.arange(len(reach)), np.diff(self.form.first_leaf))
        gains = np.zeros(len(reach))
        np.add.at(gains, leaves, self.form.leaf_weight * reach[self.form.leaf_others[:, 0]])
        return gains


@evaluation.register(BettingTree)
class HoldemEvaluation(Evaluation):
    """Values are exact unless a function that measures them is given; no equilibrium is known."""

    unit = "mbb/h"

    def __init__(self, tree: BettingTree, game: Game, fixed: Policy, value: ValueFunction | None) -> None:
        super().__init__(tree, fixed)
        self._value = value or _exact_value

    def value(self, policy: Policy) -> Value:
        return self._value(policy, self.fixed)


def _exact_value(policy: Policy, opponent: Policy) -> Value:
    return evaluator(policy).against(opponent, Effort())
