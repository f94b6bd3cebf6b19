"""Exact measurements in enumerated games: passes over the sequence form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.core.workers import own_threads
from openfelt.games.compile.sequence_form import sequence_form
from openfelt.measure.results import BestResponse, Exploitability, Value
from openfelt.policy.policy import join_seats, require_game
from openfelt.policy.tabular import TabularPolicy
from openfelt.solve.traverse.threaded_leaf_sums import evaluate

if TYPE_CHECKING:
    from openfelt.measure.exploitability import Effort, Measurable


class EnumeratedEvaluator:
    """Measures a policy of an enumerated game."""

    def __init__(self, policy: TabularPolicy) -> None:
        self.policy, self.tree = policy, policy.tree
        self.unit = f"{self.tree.unit} per game"
        self.seats = tuple(f"player {player}" for player in range(self.tree.players))

    def exploitability(self, effort: Effort) -> Exploitability:
        """The gains of best responses."""
        if effort.flops or effort.leaks or effort.folder:
            raise FeltError(f"flops, leaks, plot and resume are for hold'em, not for {self.tree.game}.")
        _, best, expected = self._evaluate(self.policy, effort)
        best_responses, values = tuple(best.tolist()), tuple(expected.tolist())
        return Exploitability(self.tree.game, self.tree.game, self.unit, self.seats, best_responses, values)

    def best_response(self, player: int, effort: Effort) -> BestResponse:
        """The best response of one player, and its value."""
        if not 0 <= player < self.tree.players:
            raise FeltError(f"{self.tree.game} has players 0 to {self.tree.players - 1}, not {player}.")
        table, best, _ = self._evaluate(self.policy, effort)
        seats = [self.policy] * self.tree.players
        seats[player] = TabularPolicy(self.tree, table)
        profile = self.policy.with_table(join_seats(seats).table)
        return BestResponse(player, float(best[player]), self.unit, profile)

    def against(self, opponent: Measurable, effort: Effort) -> Value:
        """The expected value of the policy in each seat, with the opponent in all other seats."""
        if not isinstance(opponent, TabularPolicy):
            raise FeltError(f"The opponent does not play {self.tree.game}.")
        require_game(opponent, self.tree)
        won = []
        for own in range(self.tree.players):
            seats = [self.policy if player == own else opponent for player in range(self.tree.players)]
            _, _, expected = self._evaluate(self.policy.with_table(join_seats(seats).table), effort)
            won.append(float(expected[own]))
        return Value("policy", "opponent", self.tree.game, self.unit, self.seats, tuple(won))

    def _evaluate(self, policy: TabularPolicy, effort: Effort) -> tuple[Floats, Floats, Floats]:
        """[slots] pure best responses; by player, their values and the values of the policy."""
        response = np.empty(self.tree.num_slots)
        best, expected = np.empty(self.tree.players), np.empty(self.tree.players)
        form, threads = sequence_form(self.tree), own_threads(effort.threads)
        evaluate(form, policy.probabilities, response, best, expected, threads)
        return response, best, expected
