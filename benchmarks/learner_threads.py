"""The gain of a second thread for sampling solvers: in speed, and in time to an equally good policy."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial

from timing import Result, in_turn, on_all_cores

import openfelt as felt
from openfelt.solve.sampling.sampling_solver import MOST_ALONE
from openfelt.solve.solver import Solver

ROUNDS = 9
SPEEDS: list[tuple[type[Solver], str, int]] = [
    (felt.SmoothUCT, "leduc", 4_000_000),
    (felt.OutcomeMCCFR, "leduc", 4_000_000),
    (felt.ExternalMCCFR, "leduc", 1_000_000),
    (felt.SmoothUCT, "bluff(1,1,6)", 500_000),
    (felt.SmoothUCT, "goofspiel(6)", 500_000),
    (felt.SmoothUCT, "holdem", 4_000_000),
]
GOALS = {"leduc": 1.6, "holdem": 1.7}
TARGETS: list[tuple[type[Solver], float]] = [
    (felt.SmoothUCT, 0.05),
    (felt.OutcomeMCCFR, 0.05),
    (felt.ExternalMCCFR, 0.015),
]


def run() -> Iterator[Result]:
    """All results; one thread is the peer."""
    on_all_cores()
    for kind, game, count in SPEEDS:
        before = max(count, MOST_ALONE)  # the second thread has joined by then
        first, second = (kind(game, threads=threads).run(before, measure=False) for threads in (1, 2))
        one, two = in_turn(*(partial(each.run, count, measure=False) for each in (first, second)))
        what = f"{kind.name} on {game}, two threads"
        goals = {"one thread": GOALS[game]} if game in GOALS else {}
        yield Result(what, f"{kind.work}/s", count / two, {"one thread": count / one}, goals)
    for kind, target in TARGETS:
        taken: list[list[float]] = [[], []]
        for seed in range(ROUNDS):
            for threads, seconds in zip((1, 2), taken, strict=True):
                solver = kind("leduc", seed=seed, threads=threads)
                seconds.append(solver.run(until=target).seconds)
        one, two = (1 / statistics.median(seconds) for seconds in taken)
        what = f"{kind.name} on leduc to exploitability {target}, two threads"
        yield Result(what, "runs/s", two, {"one thread": one})
