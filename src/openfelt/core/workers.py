"""Tasks distributed over worker processes; results are in the order of the tasks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.synchronize import Event
from typing import Any, TypeVar

from openfelt.core.errors import FeltError

Result = TypeVar("Result")


def in_processes(
    run: Callable[[Any], Result],
    tasks: Sequence[Any],
    processes: int,
    open_worker: Callable[[Any, Event], None],
    setup: Any,
) -> Iterator[Result]:
    """Run tasks in worker processes, each of which first calls `open_worker` with the setup and an event.

    The event is set when no more results are needed, so that workers can abandon a task.
    """
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    try:
        with ProcessPoolExecutor(
            processes, context, initializer=_begin, initargs=(open_worker, setup, stop)
        ) as pool:
            try:
                yield from pool.map(run, tasks)
            finally:
                stop.set()
    except BrokenProcessPool:
        raise FeltError(
            "A worker process was killed. Run the command again; with a folder it resumes."
        ) from None


def _begin(open_worker: Callable[[Any, Event], None], setup: Any, stop: Event) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process gets it too, and stops the workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    open_worker(setup, stop)


def _end_with_parent() -> None:
    """Exit when the parent process is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
