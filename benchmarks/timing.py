"""How the benchmarks measure: in the same way for OpenFelt and for peers."""

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
    """Our speed and those of peers, in the same unit; higher is better."""

    what: str
    unit: str
    ours: float
    peers: dict[str, float]
    goals: dict[str, float] = field(default_factory=dict)  # wanted ratios to the peers
    note: str = ""


def per_call(function: Callable[[], object], least: int = 5) -> float:
    """Seconds per call: the median over two seconds, and over at least that many calls."""
    taken: list[float] = []
    begun = time.perf_counter()
    while len(taken) < least or time.perf_counter() - begun < SECONDS:
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def in_turn(
    *functions: Callable[[], object], rounds: int = 15, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Seconds per call of each, the median; they alternate, so that all run under the same load."""
    taken: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for function, seconds in zip(functions, taken, strict=True):
            start = clock()
            function()
            seconds.append(clock() - start)
    return [statistics.median(seconds) for seconds in taken]


def on_all_cores() -> None:
    """Undo the binding of `felt bench` to one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))


def on_one_core() -> None:
    """Bind the process to one core again."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def peer(name: str) -> ModuleType | None:
    """Another library; None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
