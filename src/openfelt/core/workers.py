"""Units of work on threads, on processes or on a Ray cluster; results are the same to the bit on all of them.

A unit is a pure function of its number and of a setup, so it can be done anywhere, and again after a kill.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from typing import Any, Generic, TypeAlias, TypeVar, cast

from openfelt.core.errors import FeltError

Result = TypeVar("Result")

# How many workers this machine uses; or "ray", the address of a Ray cluster, or a file with that address.
Workers: TypeAlias = int | str


@dataclass(frozen=True, eq=False)
class Job(Generic[Result]):
    """A function of units, and how a worker in another process obtains it.

    A worker opens a job once, so a program that does units again and again keeps the Job.
    """

    open: Callable[[Any], Callable[..., Result]]  # a function of a module; gets the setup
    setup: Any
    here: Callable[..., Result] | None = None  # the function in this process, if there is one already
    in_threads: bool = False  # threads of one process suffice: its kernels release the lock
    stop: Callable[[], object] = lambda: None  # called if threads shall abandon their units
    gpu: bool = False  # on a cluster each unit takes a GPU, not a CPU
    files: Sequence[str] = ()  # files and folders, relative to the current folder, that units read

    def run_here(self) -> Callable[..., Result]:
        """The function in this process."""
        return self.here or self.open(self.setup)


def is_cluster(workers: Workers) -> bool:
    """Whether units go to a cluster."""
    return isinstance(workers, str) and not workers.isdecimal()


def own_threads(workers: Workers) -> int:
    """How many threads of this process do what is not distributed; one, if the result depends on them."""
    return 1 if is_cluster(workers) else cast(int, workers)


def worker_count(workers: Workers) -> int:
    """How many units are done at a time."""
    if not isinstance(workers, str):
        return workers
    from openfelt.core.cluster import count_cpus

    return count_cpus(workers)


def as_done(
    job: Job[Result], units: Sequence[Any], workers: Workers, *shared: Any
) -> Iterator[tuple[int, Result]]:
    """Do units; yields the place of each in `units` and its result, in the order in which they are done.

    `shared` are further arguments of the function, the same for all units of this call. Closing the iterator
    ends the units that are under way.
    """
    if isinstance(workers, str):
        from openfelt.core.cluster import on_ray

        yield from on_ray(job, units, workers, shared)
    elif workers == 1 or len(units) < 2:
        run = job.run_here() if units else None
        for place, unit in enumerate(units):
            assert run is not None
            yield place, run(unit, *shared)
    else:
        with _pool(job, workers) as (pool, run):
            places = {pool.submit(run, unit, *shared): place for place, unit in enumerate(units)}
            for future in as_completed(places):
                yield places.pop(future), future.result()


def in_order(
    job: Job[Result], units: Sequence[Any], workers: Workers, *shared: Any
) -> Iterator[tuple[int, Result]]:
    """As `as_done`, but in the order of the units."""
    early: dict[int, Result] = {}
    following = 0
    for place, result in as_done(job, units, workers, *shared):
        early[place] = result
        while following in early:
            yield following, early.pop(following)
            following += 1


def is_wanted() -> bool:
    """Whether the unit that this process works on is still needed; a long one may ask and return early."""
    return not (_STOP and _STOP[0].is_set())


@contextmanager
def _pool(job: Job[Result], count: int) -> Iterator[tuple[Executor, Callable[..., Result]]]:
    """A pool, and the function that its workers call."""
    if job.in_threads:
        threads = ThreadPoolExecutor(count)
        try:
            yield threads, job.run_here()
        except BaseException:
            job.stop()
            raise
        finally:
            threads.shutdown(cancel_futures=True)
        return
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    processes = ProcessPoolExecutor(count, context, initializer=_begin, initargs=(job.open, job.setup, stop))
    try:
        yield processes, _run
    except BrokenProcessPool:
        raise FeltError(
            "A worker process was killed. Run the command again; with a folder it resumes."
        ) from None
    finally:
        stop.set()
        processes.shutdown(cancel_futures=True)


# Of a worker process: the opened job, and the event that is set when no more results are needed.
_OPENED: list[Callable[..., Any]] = []
_STOP: list[Event] = []


def _begin(open_job: Callable[[Any], Callable[..., Any]], setup: Any, stop: Event) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process gets it too, and stops the workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _STOP.append(stop)
    _OPENED.append(open_job(setup))


def _run(unit: Any, *shared: Any) -> Any:
    return _OPENED[0](unit, *shared)


def _end_with_parent() -> None:
    """Exit when the parent process is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
