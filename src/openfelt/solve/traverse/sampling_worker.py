"""What one thread of a sampling solver writes to, and which iterations it does, on CPU or GPU."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from openfelt.core.jit import Floats, Longs, part
from openfelt.core.memory import scratch
from openfelt.core.random import ITERATION_DRAWS, Stream, go_to
from openfelt.solve.traverse.episode import dispatched
from openfelt.solve.traverse.holdem import Deal, new_deal


class Span(NamedTuple):
    """Which iterations to do: number begun + stride, begun + 2 stride, ..., `length` of them."""

    begun: int
    length: int
    stride: int
    start: np.uint64  # the place in the period of the random numbers from which iterations are counted


class Trace(NamedTuple):
    """What an iteration records on its path, one row per decision; each solver names its columns."""

    whole: Longs  # [depth, columns] whole numbers
    real: Floats  # [depth, columns] real ones
    of_player: Floats  # [players, 2]
    met: Longs  # [edges] for solvers that visit an infoset several times in an iteration; otherwise [1]
    policy: Floats  # [1, edges] likewise


class Worker(NamedTuple):
    """What an iteration writes to, besides the tables."""

    deal: Deal  # in an enumerated game it is not used
    trace: Trace
    stream: Stream


class WorkerSize(NamedTuple):
    """The sizes of a worker's arrays."""

    players: int
    depth: int
    whole: int  # columns of whole numbers
    real: int  # columns of real ones
    edges: int = 1


def new_worker(size: WorkerSize) -> Worker:
    """For a thread of the CPU."""
    trace = Trace(
        whole=scratch(size.depth * size.whole, np.int64).reshape(size.depth, size.whole),
        real=scratch(size.depth * size.real).reshape(size.depth, size.real),
        of_player=scratch(size.players * 2).reshape(size.players, 2),
        met=scratch(size.edges, np.int64),
        policy=scratch(size.edges).reshape(1, size.edges),
    )
    trace.met[:] = -1
    return Worker(new_deal(size.players), trace, scratch(1, np.uint64))


@dispatched
def iterate(how: Any, tree: Any, tables: Any, own: Worker, number: int) -> None:
    """Do one iteration; each solver `implements` it for its own type of `how`."""
    raise NotImplementedError


@part
def iterate_next(how: Any, tree: Any, tables: Any, own: Worker, span: Span, count: int) -> None:
    """Do the iteration that is the `count`th of the span, from 1 on."""
    number = span.begun + count * span.stride
    go_to(own.stream, span.start, number * ITERATION_DRAWS)
    iterate(how, tree, tables, own, number)
