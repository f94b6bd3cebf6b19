"""How the benchmarks measure: the same way for us and for the peers."""

from __future__ import annotations

import importlib
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType

SECONDS = 2.0  # for one figure


@dataclass
class Result:
    """A speed of ours beside those of peers, in the same unit; higher is better."""

    what: str
    unit: str
    ours: float
    peers: dict[str, float]
    goals: dict[str, float] = field(default_factory=dict)  # how many times as fast we want to be
    note: str = ""


def per_call(function: Callable[[], object], least: int = 5) -> float:
    """Seconds a call: the median, over two seconds and at least so many calls."""
    taken: list[float] = []
    begun = time.perf_counter()
    while len(taken) < least or time.perf_counter() - begun < SECONDS:
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def in_turn(*functions: Callable[[], object], rounds: int = 15) -> list[float]:
    """Seconds a call of each, the median; they take turns, so that all meet the same neighbours."""
    taken: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for function, seconds in zip(functions, taken, strict=True):
            start = time.perf_counter()
            function()
            seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds) for seconds in taken]


def on_all_cores() -> None:
    """Undo that `felt bench` binds us to one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))


def on_one_core() -> None:
    """Bind us to one core again."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def peer(name: str) -> ModuleType | None:
    """Another library, where it is installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
