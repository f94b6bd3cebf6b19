"""Sampling solvers on a GPU: all tables are in its memory, and thousands of threads iterate at once.

Iterations in flight at the same time do not see each other's updates. Early in a run they would all follow
the same first estimates: a hundred thousand such episodes teach no more than one, and stay in the averages.
So the number in flight grows with the number of iterations done (`InFlightLimits.patience`). It grows
exponentially, so the first thousands of iterations, which few threads do, take only a moment.

Small games also suffer later, for two reasons. Regret matching suffers from delayed updates: with d
iterations in flight its error after t of them is that of about t / (1 + d / d0), where d0 is about two per
infoset. And UCB is deterministic: all iterations in flight select the same action at an infoset, so that the
players' choices are correlated. So the size of the game limits the number in flight too
(`InFlightLimits.per_row`). In large games that limit is beyond what a GPU can run.

Threads of a warp run in step, each waiting for the longest path. Where there are few threads they are spread
over the warps, so that none waits for another.
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
    gpu_faults,
    launch,
    most_threads,
    new_queue,
    require_memory,
    room_for_threads,
    to_gpu,
    zeros_on_gpu,
)
from openfelt.core.cuda_build import Layer, build_for_cuda, cuda
from openfelt.solve.traverse.episode import implementations
from openfelt.solve.traverse.holdem import PLACES, Deal
from openfelt.solve.traverse.sampling_worker import Span, Trace, Worker, WorkerSize, iterate_next

Shapes: TypeAlias = dict[str, tuple[tuple[int, ...], type[np.generic]]]  # of tables, and their types

LONGEST = 8  # iterations that a thread does in one launch


class InFlightLimits(NamedTuple):
    """How many iterations of a solver may be in flight at once without harm to what is learned."""

    patience: int  # completed iterations for each one in flight
    per_row: float  # most iterations in flight for each infoset of the game


class Gpu:
    """A sampling solver's tables on a GPU."""

    def __init__(
        self, how: Any, tree: Any, tables_type: Any, shapes: Shapes, size: WorkerSize, what: str
    ) -> None:
        """Copy the game to the GPU, and allocate tables of zeros."""
        trace = 8 * (size.depth * (size.whole + size.real) + 16 * size.players)
        require_memory(what, bytes_of((how, tree)) + size_of(shapes) + trace * room_for_threads())
        assert size.edges == 1, "a trace for every infoset would not fit"
        with gpu_faults():
            self._set_up(how, tree, tables_type, shapes, size)

    def _set_up(self, how: Any, tree: Any, tables_type: Any, shapes: Shapes, size: WorkerSize) -> None:
        self._how, self._tree = to_gpu(how), to_gpu(tree)
        self._tables = tables_type(*(zeros_on_gpu(shape, kind) for shape, kind in shapes.values()))
        self._kernel = _built(size, _kinds(how), _kinds(tree))
        self._behind = False  # whether the tables of the CPU lack what was learned since
        self._queue = new_queue()
        self._resident = 1
        self._launch(0, 0, 1, np.uint64(0))  # compiles the kernel
        self._resident = most_threads(self._kernel)

    def resume(self, how: Any, tables: Any) -> None:
        """Continue with other tables."""
        with gpu_faults():
            self._how = to_gpu(how)
            for there, here in zip(self._tables, tables, strict=True):
                there.copy_to_device(here)
        self._behind = False

    def fetch(self, tables: Any) -> None:
        """Copy what was learned into tables on the CPU."""
        if self._behind:
            with gpu_faults():
                for there, here in zip(self._tables, tables, strict=True):
                    there.copy_to_host(here)
            self._behind = False

    def learn(self, begun: int, iterations: int, start: np.uint64, patience: int, most: float) -> None:
        """Do the iterations after `begun`, with at most `most` in flight."""
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


def _kinds(given: Any) -> tuple[type, ...]:
    """The type of settings or of a tree, and of the trees that it wraps."""
    return (type(given), *(_kinds(given.tree) if "tree" in given._fields else ()))


@cache
def _built(size: WorkerSize, how: tuple[type, ...], tree: tuple[type, ...]) -> Any:
    return build_for_cuda(_kernel(size), {**_chosen(how), **_chosen(tree)})


def _chosen(kinds: tuple[type, ...]) -> dict[Any, Any]:
    """The implementations for a type; a tree that wraps another one calls those of the other."""
    outer, *wrapped = kinds
    if not wrapped:
        return implementations(outer)
    inside = frozenset(_chosen(tuple(wrapped)).items())
    return {called: Layer(function, inside) for called, function in implementations(outer).items()}


def _kernel(size: WorkerSize) -> Any:
    """What a thread of the GPU does; the sizes of its arrays are constants of the kernel."""
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
        trace = Trace(
            cuda.local.array(whole, np.int64),
            cuda.local.array(real, np.float64),
            cuda.local.array(of_player, np.float64),
            cuda.local.array(1, np.int64),
            cuda.local.array((1, 1), np.float64),
        )
        own = Worker(deal, trace, cuda.local.array(1, np.uint64))
        length = iterations // threads + (thread < iterations % threads)
        span = Span(begun + thread + 1 - threads, length, threads, start)
        for count in range(1, length + 1):
            iterate_next(how, tree, tables, own, span, count)

    return learn
