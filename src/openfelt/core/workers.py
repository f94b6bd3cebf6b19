"""Work shared out over processes, its results given back in the order of the tasks."""

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
    play: Callable[[Any], Result],
    tasks: Sequence[Any],
    processes: int,
    open_worker: Callable[[Any, Event], None],
    setup: Any,
) -> Iterator[Result]:
    """Play tasks in processes of their own, each of which first opens the setup.

    Whoever stops asking sets the event that workers are opened with: what nobody waits for is broken off.
    """
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    try:
        with ProcessPoolExecutor(
            processes, context, initializer=_begin, initargs=(open_worker, setup, stop)
        ) as pool:
            try:
                yield from pool.map(play, tasks)
            finally:
                stop.set()
    except BrokenProcessPool:
        raise FeltError("A process that played hands was ended; what was kept before is not lost.") from None


def _begin(open_worker: Callable[[Any, Event], None], setup: Any, stop: Event) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who gave the work is told, and stops it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    open_worker(setup, stop)


def _end_with_parent() -> None:
    """When the process that gave the work is killed, nobody waits for this one any more."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
