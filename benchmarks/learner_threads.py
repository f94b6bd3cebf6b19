"""What a second thread brings to the Monte-Carlo learners: the same work by one and by two threads."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from typing import Any

from timing import Result

import openfelt as felt

ROUNDS = 9


def run() -> Iterator[Result]:
    """One result after another."""
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_setaffinity"):  # `felt bench` has bound us to one
        os.sched_setaffinity(0, range(cores))
    for name, game, count in (
        ("SmoothUCT", "leduc", 2_000_000),
        ("OutcomeMCCFR", "leduc", 2_000_000),
        ("ExternalMCCFR", "leduc", 500_000),
        ("SmoothUCT", "goofspiel(6)", 500_000),
    ):
        yield compare(getattr(felt, name), game, count)


def compare(kind: Any, game: str, count: int) -> Result:
    """One and two threads in turn, so that both meet the same neighbours on the machine."""
    solvers = [kind(game, threads=threads).run(count) for threads in (1, 2)]
    speeds: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for solver, speed in zip(solvers, speeds, strict=True):
            begun = time.perf_counter()
            solver.run(count)
            speed.append(count / (time.perf_counter() - begun))
    one, two = map(statistics.median, speeds)
    what = f"{kind.name} on {game} with two threads"
    return Result(what, f"{kind.work}/s", two, {"one thread": one}, {"one thread": 1.6})
