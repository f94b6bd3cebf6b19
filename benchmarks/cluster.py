"""Two Ray workers beside two processes, and beside one thread, on this machine.

Times are from the first result to the last, so neither pool's start counts.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

from timing import Result, on_all_cores, on_one_core

import openfelt as felt
from openfelt.arena.match import _open
from openfelt.arena.match_blocks import Setup
from openfelt.cards.public_cards import Deck
from openfelt.core.workers import Job, Workers, as_done

GOAL = 0.9
ROUNDS, UNITS = 3, 12
DEALS, BLOCKS = 500, 20  # of a unit: about a second
LEARNING_SECONDS = 10.0


def run() -> Iterator[Result]:
    """Overhead on blocks of a second, and what a second worker adds to training."""
    on_all_cores()
    os.environ |= {"RAY_worker_niceness": "0"}  # else Ray gives its workers a lower priority than processes
    import ray

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    job = Job(_open, (Setup("leduc", ("random", "probe"), block=DEALS, compiled=False), None))
    units = [
        tuple((DEALS * (BLOCKS * unit + block), DEALS) for block in range(BLOCKS)) for unit in range(UNITS)
    ]
    rates: dict[Workers, list[float]] = {"ray": [], 2: [], 1: []}
    for _ in range(ROUNDS):
        for workers, found in rates.items():
            found.append(_rate(job, units, workers))
    ours, processes, one = (statistics.median(found) for found in rates.values())
    yield Result(
        "blocks of a match, two Ray workers",
        "blocks/s",
        ours,
        {"two processes": processes, "one process": one},
        goals={"two processes": GOAL},
        note=f"a block takes {1 / one:.2f} s alone; median of {ROUNDS} rounds that alternate",
    )
    for what, make in _solvers():
        one, two = (_learning(make(workers)) for workers in (1, "ray"))
        yield Result(f"{what}, two Ray workers", "iterations/s", two, {"one thread": one})
    ray.shutdown()
    on_one_core()


def _rate(job: Job[object], units: list[object], workers: Workers) -> float:
    """Units a second, from the first result to the last."""
    times = [time.perf_counter() for _ in as_done(job, units, workers)]
    return (len(times) - 1) / (times[-1] - times[0])


def _solvers() -> Iterator[tuple[str, Callable[[Workers], felt.Solver]]]:
    def external(workers: Workers) -> felt.Solver:
        return felt.ExternalMCCFR("leduc", threads=workers, learners=2)

    def in_batches(kind: type[felt.Solver], workers: Workers) -> felt.Solver:
        return kind("holdem(buckets='ehs:5')", deck=Deck(5, 4), threads=workers, in_flight=16)

    yield "external-mccfr on leduc, two learners", external
    for kind in (felt.CFRBR, felt.PublicChanceCFR):
        yield f"{kind.name}, 16 boards of a 20-card deck at a time", partial(in_batches, kind)


def _learning(solver: felt.Solver, seconds: float = LEARNING_SECONDS) -> float:
    """Iterations a second, after the workers have compiled."""
    solver.run(solver.batch)
    begun, before = solver.iterations, solver.seconds
    solver.run(seconds=seconds)
    return (solver.iterations - begun) / (solver.seconds - before)
