"""The exact equilibrium of a two-player zero-sum game: the sequence-form linear program, by HiGHS.

Koller, Megiddo & von Stengel 1996. Player 0 chooses a realisation plan x; for each infoset (row) of player 1
a variable q is an upper bound of player 0's payoff there against a best response of player 1:

    maximise q(start)   subject to   Ex = e, x >= 0,   F'q - A'x <= 0

where A holds the leaves' weights. Player 1's plan is the dual of the inequalities.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy  # its packages take long to import and load themselves when they are first used
from numpy.typing import NDArray

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.infoset_tree import InfosetTree
from openfelt.games.compile.sequence_form import SequenceForm
from openfelt.policy.tabular import normalised
from openfelt.solve.restriction import EACH, Restriction, binding
from openfelt.solve.solver import Solver
from openfelt.solve.traverse.sequence import evaluate_profile

SIMPLEX = 20_000  # sequences up to which the simplex method is faster
UNREACHED = 1e-12  # an infoset with less weight counts as not reached


@dataclass(frozen=True)
class PlanProgram:
    """The constraints of `player`'s program; variables are [x per own sequence, q per row, q(start)].

    A player's sequences are numbered from 0 as in `sequences`, the empty one last.
    """

    a_ub: scipy.sparse.csr_array  # [sequences of the opponent, variables], <= 0
    a_eq: scipy.sparse.csr_array  # [own rows + 1, variables], = b_eq
    b_eq: Floats
    num_plan: int  # number of variables of the plan
    scale: float  # payoffs are divided by it; q * scale is in the game's unit

    @property
    def bounds(self) -> Floats:
        """X is non-negative; q is free."""
        count = self.a_ub.shape[1]
        low = np.where(np.arange(count) < self.num_plan, 0.0, -np.inf)
        return np.column_stack([low, np.full(count, np.inf)])


def plan_program(form: SequenceForm, player: int) -> PlanProgram:
    """The linear program whose optimum is the maximin value of `player`."""
    if form.num_groups:
        raise FeltError("This game has too many histories for a linear program; use pcfr+.")
    other = 1 - player
    mine, theirs = sequences(form, player), sequences(form, other)
    own_place, other_place = _places(form, mine), _places(form, theirs)
    rows, other_rows = _rows(form, player), _rows(form, other)
    num_plan, num_q = len(mine), len(other_rows) + 1

    # E: the weights of a row's actions sum to the weight of its parent; the empty sequence has weight 1.
    e = _flow(form, rows, own_place, num_plan)
    # F, transposed and with the leaves: one constraint per sequence of the opponent.
    f = _flow(form, other_rows, other_place, len(theirs))
    count = form.first_leaf[mine + 1] - form.first_leaf[mine]
    leaves = np.repeat(form.first_leaf[mine] - (np.cumsum(count) - count), count) + np.arange(count.sum())
    scale = float(abs(form.leaf_weight).max(initial=0.0)) or 1.0
    entries = (other_place[form.leaf_others[leaves, 0]], np.repeat(np.arange(num_plan), count))
    a = scipy.sparse.csr_array((form.leaf_weight[leaves] / scale, entries), shape=(len(theirs), num_plan))
    a_ub = scipy.sparse.hstack([-a, f.T], format="csr")
    padding = scipy.sparse.csr_array((e.shape[0], num_q))
    a_eq = scipy.sparse.hstack([e, padding], format="csr")
    return PlanProgram(a_ub, a_eq, np.append(np.zeros(len(rows)), 1.0), num_plan, scale)


def sequences(form: SequenceForm, player: int) -> NDArray[np.int64]:
    """The slots of a player's sequences, the empty one last."""
    rows = _rows(form, player)
    own = np.arange(form.first_slot[rows.start], form.first_slot[rows.stop])
    return np.append(own, form.num_slots + player)


def _rows(form: SequenceForm, player: int) -> range:
    return range(int(form.first_row[player]), int(form.first_row[player + 1]))


def _places(form: SequenceForm, slots: NDArray[np.int64]) -> NDArray[np.int64]:
    places = np.full(form.num_slots + form.num_players, -1)
    places[slots] = np.arange(len(slots))
    return places


def _flow(form: SequenceForm, rows: range, place: NDArray[np.int64], count: int) -> scipy.sparse.csr_array:
    """[rows + 1, sequences]: +1 at a row's actions, -1 at its parent; last, +1 at the empty sequence."""
    slots = np.arange(form.first_slot[rows.start], form.first_slot[rows.stop])
    number = np.arange(len(rows))
    row_of = np.repeat(number, np.diff(form.first_slot[rows.start : rows.stop + 1]))
    parents = place[form.parent_slot[rows.start : rows.stop]]
    where = (
        np.concatenate([row_of, number, [len(rows)]]),
        np.concatenate([place[slots], parents, [count - 1]]),
    )
    ones = np.concatenate([np.ones(len(slots)), -np.ones(len(rows)), [1.0]])
    return scipy.sparse.csr_array((ones, where), shape=(len(rows) + 1, count))


def bind(program: PlanProgram, form: SequenceForm, restriction: Restriction) -> PlanProgram:
    """Restricted at each decision: x(action) is at least the fixed policy's share of its parent's weight."""
    bound = binding(form, restriction)
    rows = _rows(form, restriction.seat)
    place = _places(form, sequences(form, restriction.seat))
    slots = np.arange(bound.first, bound.last)
    counts = np.diff(form.first_slot[rows.start : rows.stop + 1])
    parents = place[np.repeat(form.parent_slot[rows.start : rows.stop], counts)]
    number = np.arange(len(slots))
    entries = np.concatenate([-np.ones(len(slots)), bound.share * bound.fixed])
    where = np.concatenate([number, number]), np.concatenate([place[slots], parents])
    more = scipy.sparse.csr_array((entries, where), shape=(len(slots), program.a_ub.shape[1]))
    return replace(program, a_ub=scipy.sparse.vstack([program.a_ub, more], format="csr"))


class SequenceLP(Solver):
    """The exact equilibrium of a two-player zero-sum game, by linear programming.

    Parameters
    ----------
    game : Game, str or Path
        An enumerated two-player zero-sum game.
    **options
        `restriction`, as in `Solver`. `run` needs no budget.

    Examples
    --------
    >>> policy = felt.SequenceLP("kuhn").run().policy
    >>> round(felt.expected_values(policy)[0] * 18, 6)
    -1.0
    """

    name: ClassVar[str] = "lp"
    summary: ClassVar[str] = "exact equilibrium: sequence-form linear program (HiGHS)"
    iterative: ClassVar[bool] = False
    binds_each: ClassVar[bool] = True
    tree: InfosetTree

    def _start(self) -> None:
        require_zero_sum(self.tree)
        if not self.tree.num_rows:
            raise FeltError(f"{self.tree.game} has no decisions.")
        self._plan = np.zeros(self.tree.num_slots)
        self._table = normalised(self.tree, self._plan)

    def _advance(self, iterations: int) -> None:
        bound = self.restriction if self.restriction and self.restriction.toss == EACH else None
        own = bound.seat if bound else 0
        program = plan_program(self.form, own)
        others = program.a_ub.shape[0]
        if bound:
            program = bind(program, self.form, bound)
        solution = solve_program(program, self.tree.game)
        plans = {own: solution.x[: program.num_plan], 1 - own: -solution.ineqlin.marginals[:others]}
        for player, plan in plans.items():
            self._plan[sequences(self.form, player)[:-1]] = np.maximum(plan[:-1], 0.0)
        self._complete()

    def _complete(self) -> None:
        """Take the best response at infosets that the plan does not reach.

        The program leaves them open. They do not matter to the equilibrium, but a bot that gets there should
        not play at random.
        """
        table, answer = normalised(self.tree, self._plan), np.empty(self.tree.num_slots)
        evaluate_profile(self.form, table, answer, np.empty(2), np.empty(2))
        counts = np.diff(self.form.first_slot)
        reached = np.repeat(np.add.reduceat(self._plan, self.form.first_slot[:-1]) > UNREACHED, counts)
        self._table = np.where(reached, table, answer)

    @property
    def weights(self) -> Floats:
        return self._table

    def tables(self) -> dict[str, NDArray[Any]]:
        return {"table": self._table}


def solve_program(
    program: PlanProgram,
    game: str,
    objective: Floats | None = None,
    at_least: float = -np.inf,
) -> Any:
    """Solve a plan program by HiGHS; by default it maximises the last variable, q(start).

    With an `objective` to minimise, `at_least` is the lower bound of q(start).
    """
    count = program.a_ub.shape[1]
    bounds = program.bounds
    bounds[-1, 0] = at_least
    if objective is None:
        objective = np.zeros(count)
        objective[-1] = -1.0
    solution = scipy.optimize.linprog(
        objective,
        A_ub=program.a_ub,
        b_ub=np.zeros(program.a_ub.shape[0]),
        A_eq=program.a_eq,
        b_eq=program.b_eq,
        bounds=bounds,
        method="highs-ds" if count < SIMPLEX else "highs-ipm",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solution.status != 0:
        raise FeltError(f"The linear program of {game} could not be solved: {solution.message}.")
    return solution


def require_zero_sum(tree: InfosetTree) -> None:
    """Raise FeltError if a game is not a two-player zero-sum game."""
    if not tree.two_player_zero_sum:
        raise FeltError(f"Linear programs solve two-player zero-sum games; {tree.game} is not one.")
