"""Passes over the sequence form on a GPU, level by level (`levels.py`).

Sums are in the order of the CPU and products are rounded as there, so results are the same to the bit.
"""

from __future__ import annotations

from functools import cache, cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.cuda import (
    BLOCK,
    bytes_of,
    gpu_faults,
    is_simulated,
    new_queue,
    require_memory,
    to_gpu,
    zeros_on_gpu,
)
from openfelt.core.cuda_build import build_for_cuda
from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.sequence_form import SequenceForm, without_meetings
from openfelt.solve.traverse.level_kernels import (
    PIECE,
    TEAM,
    Evaluation,
    GpuRows,
    Lists,
    evaluate_game,
    evaluate_levels,
    spread_levels,
    sum_lists,
    sum_long_lists,
)
from openfelt.solve.traverse.levels import levels_of

FEW_ROWS = 1024  # of a level that shares a launch of one block with its neighbours, at most
ONE_BLOCK = 512  # threads of such a block
LONG = 256  # entries of a list, on average, from which a block takes one list
SIMULATED = 2  # blocks, and threads of a block, in the simulator
NUMBER = 8  # bytes


class Span(NamedTuple):
    """Levels of one launch, and its shape."""

    first: int
    last: int
    blocks: int
    threads: int


class ListRange(NamedTuple):
    """Lists that are summed up together."""

    first: int
    last: int
    are_long: bool  # a block takes one of them


class GpuForm:
    """A sequence form in GPU memory, and the passes over it, which are queued.

    Parameters
    ----------
    form
        The sequence form.
    what
        What needs it, for the error if it does not fit.
    tables
        Tables with one number per slot that the caller will allocate.
    """

    def __init__(self, form: SequenceForm, what: str, tables: int) -> None:
        self.form = form = without_meetings(form)
        self.num_slots, self.num_rows = form.num_slots, len(form.parent_slot)
        self.size = form.num_slots + form.num_players  # of a table with empty sequences
        self.players = range(form.num_players)
        levels = levels_of(form)
        rows = GpuRows(form.first_slot, form.parent_slot, levels.rows, levels.first_child, levels.child)
        rows = GpuRows(*map(_narrow, rows))
        leaves = Lists(_narrow(form.first_leaf), form.leaf_weight, form.leaf_others)
        groups = Lists(_narrow(form.first_member), form.member_weight, form.member_slot[:, None])
        numbers = (4 + tables) * form.num_reaches + 3 * self.num_rows  # with those of an evaluation
        require_memory(what, bytes_of((rows, leaves, groups)) + NUMBER * numbers)
        self._spans = [_spans(cuts) for cuts in levels.cuts]
        with gpu_faults():
            self.queue = new_queue()
            self.rows, self._leaves, self._groups = to_gpu(rows), to_gpu(leaves), to_gpu(groups)
            self._cuts = [to_gpu(cuts) for cuts in levels.cuts]
            own = form.first_slot[form.first_row].tolist()
            self._own = [_range(form.first_leaf, first, last) for first, last in pairwise(own)]
            empty = range(self.num_slots, self.size)
            self._empty = [_range(form.first_leaf, first, first + 1) for first in empty]
            self._stages = [
                [_range(form.first_member, first, last) for first, last in pairwise(cuts) if first < last]
                for cuts in form.first_group.tolist()
            ]

    def new_reach(self) -> Any:
        """A table of reach; that of empty sequences is 1."""
        return to_gpu(np.ones(self.form.num_reaches))

    def sum_leaves(self, player: int, reach: Any, values: Any) -> None:
        """As `sequence.sum_leaves`, without the empty sequence."""
        self._sum(self._leaves, self._own[player], reach, values)

    def spread(self, player: int, policy: Any, reach: Any) -> None:
        """As `sequence.spread_reach`."""
        for span in self._spans[player]:
            self._at_levels(spread_levels, player, span, policy, reach)
        for stage in self._stages[player]:
            self._sum(self._groups, stage, reach, reach[self.size :])

    def pass_up(self, source: Any, player: int, *more: Any) -> None:
        """Launch a kernel for all levels of a player, the last one first."""
        for span in reversed(self._spans[player]):
            self._at_levels(source, player, span, *more)

    def at_rows(self, source: Any, *more: Any) -> None:
        """Launch a kernel for the infosets of all players."""
        self.launch(source, _shape(self.num_rows), self.rows, *more)

    def evaluate(self, policy: Any) -> tuple[Floats, Floats, Any]:
        """As `sequence.evaluate_profile`: values by player; the best responses [slots] stay on the GPU."""
        with gpu_faults():
            reach, found = self._room
            for player in self.players:
                self.spread(player, policy, reach)
            for player in self.players:
                self.sum_leaves(player, reach, found.expected)
                self._sum(self._leaves, self._empty[player], reach, found.expected)
                self.pass_up(evaluate_levels, player, policy, found)
                self.launch(evaluate_game, (1, 1), self.rows, self.num_slots + player, found)
            self.queue.synchronize()
            best, expected = (
                table[self.num_slots :].copy_to_host() for table in (found.best, found.expected)
            )
        return best, expected, found.response

    def launch(self, source: Any, shape: tuple[int, int], *arguments: Any) -> None:
        """Queue a kernel."""
        _kernel(source)[*shape, self.queue](*arguments)

    @cached_property
    def _room(self) -> tuple[Any, Evaluation]:
        """For an evaluation: reach and values."""
        rows = (self.num_rows,)
        shapes = (self.num_slots,), (self.size,), rows, (self.size,), rows
        return self.new_reach(), Evaluation(*(zeros_on_gpu(shape, np.float64) for shape in shapes))

    def _sum(self, lists: Lists, some: ListRange, reach: Any, found: Any) -> None:
        count, threads = some.last - some.first, SIMULATED if is_simulated() else BLOCK
        if some.are_long:
            self.launch(sum_long_lists, (count, _team()), lists, some.first, reach, found)
        elif count:
            blocks = -(-count // threads)
            self.launch(sum_lists, (blocks, threads), lists, some.first, some.last, reach, found)

    def _at_levels(self, source: Any, player: int, span: Span, *more: Any) -> None:
        shape = span.blocks, span.threads
        self.launch(source, shape, self.rows, self._cuts[player], span.first, span.last, *more)


def work_of(form: SequenceForm) -> int:
    """The numbers that a pass over all players reads."""
    return len(form.leaf_weight) + len(form.member_slot) + len(form.meeting_slot) + form.num_slots


def _narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """In 32 bits if they fit: a GPU waits for its memory most of the time."""
    return numbers.astype(np.int32) if numbers.max(initial=0) < 2**31 else numbers


def _spans(cuts: Longs) -> list[Span]:
    """Levels in order; consecutive small ones together."""
    spans: list[Span] = []
    for level, rows in enumerate(np.diff(cuts).tolist()):
        is_small = rows <= FEW_ROWS
        if is_small and spans and spans[-1].threads == _one_block()[1]:
            spans[-1] = spans[-1]._replace(last=level + 1)
        else:
            spans.append(Span(level, level + 1, *(_one_block() if is_small else _shape(rows))))
    return spans


def _one_block() -> tuple[int, int]:
    return 1, SIMULATED if is_simulated() else ONE_BLOCK


def _team() -> int:
    return SIMULATED if is_simulated() else TEAM


def _shape(threads: int) -> tuple[int, int]:
    """Blocks, and threads of each."""
    return (SIMULATED, 1) if is_simulated() else (max(1, -(-threads // BLOCK)), BLOCK)


def _range(entries: Longs, first: int, last: int) -> ListRange:
    """The lists from `first` up to `last`; `entries` says where each begins."""
    return ListRange(first, last, bool(entries[last] - entries[first] > LONG * (last - first)))


@cache
def _kernel(source: Any) -> Any:
    return build_for_cuda(source, {}, constants={"PIECE": PIECE, "TEAM": _team()})
