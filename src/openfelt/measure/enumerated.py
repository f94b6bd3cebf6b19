"""Exact measurements in enumerated games: passes over the sequence form."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from openfelt.core.cuda import TooLittleMemory, choose_device, to_gpu
from openfelt.core.devices import AUTO, CUDA
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.core.workers import own_threads
from openfelt.games.compile.infoset_tree import InfosetTree
from openfelt.games.compile.sequence_form import sequence_form
from openfelt.measure.results import BestResponse, Exploitability, Value
from openfelt.policy.policy import join_seats, require_game
from openfelt.policy.tabular import TabularPolicy
from openfelt.solve.traverse.sequence_gpu import GpuForm, work_of
from openfelt.solve.traverse.threaded_leaf_sums import evaluate

if TYPE_CHECKING:
    from openfelt.measure.exploitability import Effort, Measurable

GPU_MEASURES_FROM = 100_000_000  # numbers in a pass; below, compiling the kernels takes longer than the CPU


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
        best, expected, _ = self._evaluate(self.policy, effort)
        best_responses, values = tuple(best.tolist()), tuple(expected.tolist())
        return Exploitability(self.tree.game, self.tree.game, self.unit, self.seats, best_responses, values)

    def best_response(self, player: int, effort: Effort) -> BestResponse:
        """The best response of one player, and its value."""
        if not 0 <= player < self.tree.players:
            raise FeltError(f"{self.tree.game} has players 0 to {self.tree.players - 1}, not {player}.")
        best, _, response = self._evaluate(self.policy, effort)
        seats = [self.policy] * self.tree.players
        seats[player] = TabularPolicy(self.tree, response())
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
            profile = self.policy.with_table(join_seats(seats).table)
            _, expected, _ = self._evaluate(profile, effort)
            won.append(float(expected[own]))
        return Value("policy", "opponent", self.tree.game, self.unit, self.seats, tuple(won))

    def _evaluate(self, policy: TabularPolicy, effort: Effort) -> tuple[Floats, Floats, Callable[[], Floats]]:
        """By player, values of pure best responses and of the policy; and the responses [slots]."""
        if on_gpu := self._form_on_gpu(effort.device):
            best, expected, there = on_gpu.evaluate(to_gpu(policy.probabilities))
            return best, expected, there.copy_to_host
        response = np.empty(self.tree.num_slots)
        best, expected = np.empty(self.tree.players), np.empty(self.tree.players)
        form, threads = sequence_form(self.tree), own_threads(effort.threads)
        evaluate(form, policy.probabilities, response, best, expected, threads)
        return best, expected, lambda: response

    def _form_on_gpu(self, device: str) -> GpuForm | None:
        """The sequence form in GPU memory; None if the CPU is to measure."""
        if device == AUTO and work_of(sequence_form(self.tree)) < GPU_MEASURES_FROM:
            return None  # and a GPU is not even looked for
        try:
            return self._fitting_form() if choose_device(device) == CUDA else None
        except TooLittleMemory:
            if device != AUTO:
                raise
            return None

    def _fitting_form(self) -> GpuForm:
        try:
            return _form_on_gpu(self.tree)
        except TooLittleMemory:
            _form_on_gpu.cache_clear()  # the game that was measured before
        return _form_on_gpu(self.tree)


@lru_cache(maxsize=1)
def _form_on_gpu(tree: InfosetTree) -> GpuForm:
    return GpuForm(sequence_form(tree), f"A measurement of {tree.game}", tables=1)
