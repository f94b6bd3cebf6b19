"""Iterated removal of dominated actions: HS14's DOM-ERR, PJL11's 'cumulative dominated error'.

An action is dominated if, for every continuation of its player, there is a (mixed) strategy from the same
infoset that avoids the action, is never worse and is sometimes better, against all remaining strategies of
the opponent. Dominated actions of both players are removed until there are none: betting a queen in Kuhn
poker is dominated only because a jack never calls and a king never folds. In Kuhn poker this finds the seven
actions that PJL11 2.2 names.

Whether such a strategy exists is a linear program on the sequence form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import scipy.optimize
import scipy.sparse
from numpy.typing import NDArray

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.sequence_form import SequenceForm, sequence_form
from openfelt.games.game import AnyGame
from openfelt.policy.policy import Policy, require_game
from openfelt.solve.realisation_plans import realisation_plan
from openfelt.solve.sequence_lp import plan_program, require_zero_sum, sequences

MOST_CONTINUATIONS = 500
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class DominatedActions:
    """The dominated actions of a game; see `dominated_actions`."""

    tree: GameTree
    slots: NDArray[np.bool_]  # [slots] True where the action is dominated

    def error(self, policy: Policy) -> float:
        """The sum of a policy's probabilities of dominated actions."""
        require_game(policy, self.tree)
        return float(policy.probabilities[self.slots].sum())

    def names(self) -> list[tuple[int, str, str]]:
        """The player, infoset and action of each."""
        names = []
        for slot in np.flatnonzero(self.slots):
            row = int(np.searchsorted(self.tree.rows.first_slot, slot, side="right")) - 1
            action = self.tree.labels[self.tree.rows.slot_label[slot]]
            names.append((self.tree.row_player(row), self.tree.row_name(row), action))
        return names


def dominated_actions(game: AnyGame) -> DominatedActions:
    """Find the dominated actions of a small two-player zero-sum game.

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game about the size of Kuhn poker.

    Returns
    -------
    DominatedActions
        `names()` lists player, infoset and action; `error(policy)` is the sum of their probabilities.

    Examples
    --------
    >>> dominated = felt.dominated_actions("kuhn")
    >>> len(dominated.names()), dominated.error(felt.uniform_policy("kuhn"))
    (7, 3.5)
    """
    tree = compile_game(game)
    require_zero_sum(tree)
    form = sequence_form(tree)
    removed = np.zeros(tree.num_slots, np.bool_)
    searches = [_Search(tree, form, player) for player in range(2)]
    while True:
        found = [slot for search in searches for slot in search.dominated(removed)]
        if not found:
            return DominatedActions(tree, removed)
        removed[found] = True


class _Search:
    """Finds the dominated actions of one player."""

    def __init__(self, tree: GameTree, form: SequenceForm, player: int) -> None:
        self.tree, self.form = tree, form
        self.rows = range(int(form.first_row[player]), int(form.first_row[player + 1]))
        self.mine, self.theirs = sequences(form, player), sequences(form, 1 - player)
        program = plan_program(form, player)
        self.gain = -program.a_ub[:, : program.num_plan]  # [theirs, mine] payoffs of this player
        self.bound = program.a_ub[:, program.num_plan :]  # F'
        self.place = {int(slot): place for place, slot in enumerate(self.mine)}
        self.rows_after: dict[int, list[int]] = {}
        for row in self.rows:
            self.rows_after.setdefault(int(form.parent_slot[row]), []).append(row)

    def dominated(self, removed: NDArray[np.bool_]) -> list[int]:
        answers = self._even_answers(removed)
        found = []
        for row in self.rows:
            left = self._left(row, removed)
            if len(left) > 1:
                found += [slot for slot in left if self._is_dominated(slot, left, removed, answers)]
        return found

    def _left(self, row: int, removed: NDArray[np.bool_]) -> list[int]:
        return [
            slot
            for slot in range(self.form.first_slot[row], self.form.first_slot[row + 1])
            if not removed[slot]
        ]

    def _even_answers(self, removed: NDArray[np.bool_]) -> Floats:
        """A plan of the opponent that plays all of its remaining actions."""
        table = (~removed).astype(float)
        counts = np.diff(self.form.first_slot)
        table /= np.repeat(np.add.reduceat(table, self.form.first_slot[:-1]), counts)
        plan = realisation_plan(self.form, table)
        return np.append(plan[self.theirs[:-1]], 1.0)

    def _is_dominated(self, slot: int, left: list[int], removed: NDArray[np.bool_], answers: Floats) -> bool:
        instead = [other for other in left if other != slot]
        continuations = list(self._continuations([slot], removed))
        return all(self._is_beaten(played, instead, removed, answers) for played in continuations)

    def _continuations(self, start: list[int], removed: NDArray[np.bool_]) -> Iterator[list[int]]:
        """All pure continuations of a sequence, as lists of the sequences played."""
        rows = [row for slot in start for row in self.rows_after.get(slot, [])]
        if not rows:
            yield start
            return
        choices = [self._left(row, removed) for row in rows]
        if np.prod([float(len(choice)) for choice in choices]) > MOST_CONTINUATIONS:
            raise FeltError(f"{self.tree.game} is too large to search for dominated actions.")
        for chosen in product(*choices):
            for rest in self._continuations(list(chosen), removed):
                yield start + rest

    def _is_beaten(
        self, played: list[int], instead: list[int], removed: NDArray[np.bool_], answers: Floats
    ) -> bool:
        """Whether a strategy over `instead` is never worse than `played`, and sometimes better."""
        below, flow_rows = self._below(instead, removed)
        columns = [self.place[slot] for slot in below]
        own, num_q = self.gain[:, columns], self.bound.shape[1]
        base = self.gain[:, [self.place[slot] for slot in played]].sum(axis=1)
        allowed = np.array([slot >= self.tree.num_slots or not removed[slot] for slot in self.theirs])
        # Never worse: F'q <= own z - base for all remaining actions of the opponent, and q(start) >= 0.
        a_ub = scipy.sparse.hstack([-own, self.bound], format="csr")[allowed]
        a_eq, b_eq = self._flow(below, instead, flow_rows, num_q)
        objective = np.concatenate([-(own.T @ answers), np.zeros(num_q)])
        low = np.concatenate([np.zeros(len(below)), np.full(num_q, -np.inf)])
        low[-1] = -TOLERANCE
        solution = scipy.optimize.linprog(
            objective,
            A_ub=a_ub,
            b_ub=-base[allowed],
            A_eq=a_eq,
            b_eq=b_eq,
            bounds=np.column_stack([low, np.full(len(low), np.inf)]),
            method="highs-ds",
        )
        better = -solution.fun - float(base @ answers) if solution.status == 0 else -1.0
        return bool(better > 1e3 * TOLERANCE)

    def _below(self, start: list[int], removed: NDArray[np.bool_]) -> tuple[list[int], list[int]]:
        """All sequences that begin with one of `start`, and the rows on them."""
        slots, rows = list(start), []
        for slot in slots:
            for row in self.rows_after.get(slot, []):
                rows.append(row)
                slots += self._left(row, removed)
        return slots, rows

    def _flow(
        self, below: list[int], start: list[int], rows: list[int], num_q: int
    ) -> tuple[scipy.sparse.csr_array, Floats]:
        matrix = np.zeros((len(rows) + 1, len(below) + num_q))
        matrix[-1, : len(start)] = 1.0
        for number, row in enumerate(rows):
            for column, slot in enumerate(below):
                matrix[number, column] = self.form.first_slot[row] <= slot < self.form.first_slot[row + 1]
                matrix[number, column] -= slot == self.form.parent_slot[row]
        return scipy.sparse.csr_array(matrix), np.append(np.zeros(len(rows)), 1.0)
