"""Learning on a GPU: all of a learner's tables lie there, and thousands of threads iterate at once.

Iterations that run at the same time do not see what the others learn. Where a table is young they would all
run after the same first impressions: a crowd of a hundred thousand episodes is worth no more than one then,
and weighs on the averages for good. So the crowd grows with what has been learned (`Crowd.patience`): the
first thousands of iterations are done by few threads, but pass in a moment, since the crowd grows as compound
interest does.

Small games also suffer later. Regret matching does from updates that come late: with d iterations in flight
its error after t of them is that of some t / (1 + d / d0), where d0 is about two for each row of the game.
And where UCB makes most of the choices, all iterations in flight make the same one in a row, so that the
choices of the players go together, which they should not. So a crowd is also limited by the size of the game
(`Crowd.per_row`). In large ones that is beyond what a GPU holds.

Threads of a warp run in step, each waiting for the longest way. Where there are few they are spread over the
warps, so that none waits for another.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from openfelt.cards.deck import BOARD_CARDS, STREETS
from openfelt.core.cuda import (
    WARP,
    bytes_of,
    free_memory,
    gpu_faults,
    gpu_name,
    launch,
    most_threads,
    new_queue,
    room_for_threads,
    to_gpu,
    zeros_on_gpu,
)
from openfelt.core.cuda_build import build_for_cuda, cuda
from openfelt.core.errors import FeltError
from openfelt.solve.traverse.episode import ANSWERS
from openfelt.solve.traverse.holdem import PLACES, Deal
from openfelt.solve.traverse.worker import Notes, Span, Worker, WorkerSize, iterate_next

Shapes: TypeAlias = dict[str, tuple[tuple[int, ...], type[np.generic]]]  # of tables, and their types

LONGEST = 8  # iterations that a thread does in one launch
ROOM = 1.05  # what is taken on the GPU, times this


class Crowd(NamedTuple):
    """How many iterations of a learner may be in flight at once, without harm to what is learned."""

    patience: int  # one for so many iterations that were done before
    per_row: float  # so many for each row of the game


class TooLittleMemory(FeltError):
    """A game does not fit on the GPU."""


class Gpu:
    """A learner's tables on a GPU."""

    def __init__(
        self, how: Any, tree: Any, tables_type: Any, shapes: Shapes, size: WorkerSize, what: str
    ) -> None:
        """Take over the game, and make tables, all zero."""
        notes = 8 * (size.depth * (size.whole + size.real) + 16 * size.players)
        needed = ROOM * (bytes_of((how, tree)) + size_of(shapes) + notes * room_for_threads())
        if needed > free_memory():
            raise TooLittleMemory(
                f"{what} needs {needed / 1e9:.1f} GB on the GPU; of {gpu_name()}'s memory "
                f"{free_memory() / 1e9:.1f} GB are free."
            )
        assert size.spots == 1, "notes for every row would not fit"
        with gpu_faults():
            self._set_up(how, tree, tables_type, shapes, size)

    def _set_up(self, how: Any, tree: Any, tables_type: Any, shapes: Shapes, size: WorkerSize) -> None:
        self._how, self._tree = to_gpu(how), to_gpu(tree)
        self._tables = tables_type(*(zeros_on_gpu(shape, kind) for shape, kind in shapes.values()))
        kinds: tuple[Any, ...] = (type(how), type(tree))
        self._kernel = _built(size, *kinds)
        self._behind = False  # whether the tables of the CPU lack what was learned since
        self._queue = new_queue()
        self._resident = 1
        self._launch(0, 0, 1, np.uint64(0))  # compiles the kernel
        self._resident = most_threads(self._kernel)

    def resume(self, how: Any, tables: Any) -> None:
        """Go on with other tables."""
        with gpu_faults():
            self._how = to_gpu(how)
            for there, here in zip(self._tables, tables, strict=True):
                there.copy_to_device(here)
        self._behind = False

    def fetch(self, tables: Any) -> None:
        """Bring the tables here up to what was learned."""
        if self._behind:
            with gpu_faults():
                for there, here in zip(self._tables, tables, strict=True):
                    there.copy_to_host(here)
            self._behind = False

    def learn(self, begun: int, iterations: int, start: np.uint64, patience: int, most: float) -> None:
        """Do the iterations after `begun`, at most so many at once."""
        most = int(min(most, self._resident))
        last = begun + iterations
        self._behind = self._behind or iterations > 0
        with gpu_faults():
            while begun < last:
                threads = max(1, min(begun // patience, most))
                share = min(threads * LONGEST, last - begun)
                self._launch(begun, share, min(threads, share), start)
                begun += share
            self._queue.synchronize()

    def _launch(self, begun: int, iterations: int, threads: int, start: np.uint64) -> None:
        apart = WARP
        while apart > 1 and threads * apart > self._resident:
            apart //= 2
        counts = (begun, iterations, threads, apart)
        launch(
            self._kernel, self._queue, threads * apart, self._how, self._tree, self._tables, *counts, start
        )


def size_of(shapes: Shapes) -> int:
    """The bytes that tables take."""
    return sum(math.prod(shape) * np.dtype(kind).itemsize for shape, kind in shapes.values())


@cache
def _built(size: WorkerSize, *kinds: Any) -> Any:
    answers = {question: answer for (question, kind), answer in ANSWERS.items() if kind in kinds}
    return build_for_cuda(_kernel(size), answers)


def _kernel(size: WorkerSize) -> Any:
    """What a thread of the GPU does; its notes are as large as they must be, known when it is built."""
    players, cards, places = size.players, 2 * size.players + BOARD_CARDS[-1], PLACES
    shifts = len(STREETS) * players
    whole, real, of_player = (size.depth, size.whole), (size.depth, size.real), (players, 2)

    def learn(
        how: Any,
        tree: Any,
        tables: Any,
        begun: int,
        iterations: int,
        threads: int,
        apart: int,
        start: np.uint64,
    ) -> None:
        thread = cuda.grid(1) // apart
        if thread >= threads or cuda.grid(1) % apart:
            return
        deal = Deal(
            cuda.local.array(cards, np.int32),
            cuda.local.array(places, np.int64),
            cuda.local.array(shifts, np.int64),
            cuda.local.array(players, np.int32),
        )
        notes = Notes(
            cuda.local.array(whole, np.int64),
            cuda.local.array(real, np.float64),
            cuda.local.array(of_player, np.float64),
            cuda.local.array(1, np.int64),
            cuda.local.array((1, 1), np.float64),
        )
        own = Worker(deal, notes, cuda.local.array(1, np.uint64))
        length = iterations // threads + (thread < iterations % threads)
        span = Span(begun + thread + 1 - threads, length, threads, start)
        for count in range(1, length + 1):
            iterate_next(how, tree, tables, own, span, count)

    return learn
