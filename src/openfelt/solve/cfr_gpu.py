"""The CFR family on a GPU: the update of the CPU, level by level, on tables in GPU memory.

An iteration is a dozen or more kernels, recorded as one CUDA graph. What differs between iterations, the
weights of the update rule, is computed on the CPU for many of them at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from openfelt.core.cuda import Repeated, gpu_faults, to_gpu, zeros_on_gpu
from openfelt.core.jit import Floats
from openfelt.games.compile.sequence_form import SequenceForm
from openfelt.solve.cfr_kernels import CFRTables, UpdateRule, schedule_weights
from openfelt.solve.restriction import Binding
from openfelt.solve.traverse.level_kernels import count_step, match_rows, normalise_rows, update_levels
from openfelt.solve.traverse.sequence_gpu import GpuForm

SCHEDULE = 1024  # iterations whose weights are copied at a time


class GpuCFR:
    """The tables of a solver on a GPU; `tables` are those of the CPU."""

    def __init__(
        self, form: SequenceForm, rule: UpdateRule, bound: Binding, tables: CFRTables, what: str
    ) -> None:
        self._form, self._rule, self._here = GpuForm(form, what, len(tables) + 1), rule, tables
        self._behind = False  # whether the tables of the CPU are older than those of the GPU
        with gpu_faults():
            self._bound = to_gpu(bound)
            made = CFRTables(*(zeros_on_gpu(table.shape, np.float64) for table in tables))
            self._tables: Any = made._replace(reach=self._form.new_reach())
            self._row_value = zeros_on_gpu((self._form.num_rows,), np.float64)
            self._profile = zeros_on_gpu(tables.policy.shape, np.float64)
            self._schedule = zeros_on_gpu((SCHEDULE, 3), np.float64)
            self._step = zeros_on_gpu((1,), np.int64)
            self._iteration = Repeated(self._form.queue)

    def resume(self) -> None:
        """Continue with the tables of the CPU."""
        with gpu_faults():
            for there, here in zip(self._tables[:3], self._here[:3], strict=True):
                there.copy_to_device(here)
            self._form.at_rows(match_rows, self._rule, self._bound, self._tables)
            for player in self._form.players:
                self._form.spread(player, self._tables.policy, self._tables.reach)
            self._form.queue.synchronize()
        self._behind = True  # as to the policy

    def fetch(self) -> CFRTables:
        """The tables of the CPU, with what was learned."""
        if self._behind:
            with gpu_faults():
                for there, here in zip(self._tables[:4], self._here[:4], strict=True):
                    there.copy_to_host(here)
            self._behind = False
        return self._here

    def iterate(self, done: int, iterations: int) -> None:
        """Do the iterations after the first `done` ones."""
        self._behind = True
        schedule = np.empty((SCHEDULE, 3))
        with gpu_faults():
            for begun in range(done, done + iterations, SCHEDULE):
                schedule_weights(self._rule, begun, schedule)
                self._schedule.copy_to_device(schedule, stream=self._form.queue)
                self._step.copy_to_device(np.zeros(1, np.int64), stream=self._form.queue)
                for _ in range(min(SCHEDULE, done + iterations - begun)):
                    self._iteration(self._queue_iteration)
                self._form.queue.synchronize()

    def evaluate(self) -> tuple[Floats, Floats]:
        """Values of best responses to the average policy, and of the average policy itself, by player."""
        with gpu_faults():
            self._form.at_rows(normalise_rows, self._tables.average, self._profile)
        best, expected, _ = self._form.evaluate(self._profile)
        return best, expected

    def _queue_iteration(self) -> None:
        form, tables = self._form, self._tables
        learned = self._rule, self._bound, tables, self._row_value, self._schedule, self._step
        for player in form.players:
            form.sum_leaves(player, tables.reach, tables.values)
            form.pass_up(update_levels, player, *learned)
            form.spread(player, tables.policy, tables.reach)
        form.launch(count_step, (1, 1), self._step)
