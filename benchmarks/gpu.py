"""Sampling solvers on a GPU, compared with one CPU thread in the same run and with HS14's figures."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from timing import Result, on_all_cores, on_one_core, per_call

import openfelt as felt
from openfelt.core.cuda import choose_device
from openfelt.core.devices import CUDA

TWO, THREE = "holdem", "holdem(players=3)"  # HS14's 2p S and 3p
HS14_TWO, HS14_THREE = 7e9 / (30 * 3600), 12e9 / (48 * 3600)  # episodes per second, on one core of 2014
PAPERS = {"k": 0.5, "schedule": "max-average"}
TRAINING = 7_000_000_000
ON_GPU, ON_CPU = 2_000_000_000, 1_000_000


def run() -> Iterator[Result]:
    """All results."""
    choose_device(CUDA)  # raises without a GPU
    on_all_cores()
    felt.SmoothUCT(TWO, k=0.5)  # builds the card tables if they are missing
    on_one_core()
    yield _whole_training()
    yield _speed("Smooth UCT, 2p S", felt.SmoothUCT, TWO, {"k": 0.5}, HS14_TWO, 3e8)
    yield _speed("IS-UCT, 2p S", felt.UCT, TWO, {"k": 0.5}, HS14_TWO)
    yield _speed("outcome sampling, 2p S", felt.OutcomeMCCFR, TWO, {})
    yield _speed("external sampling, 2p S", felt.ExternalMCCFR, TWO, {}, share=0.02)
    three = PAPERS | {"threshold": 10_000}
    yield _speed("Smooth UCT, three players", felt.SmoothUCT, THREE, three, HS14_THREE, 1e8)
    yield _leduc("Smooth UCT, Leduc", felt.SmoothUCT, 500_000_000, c=18.0)
    yield _leduc("outcome sampling, Leduc", felt.OutcomeMCCFR, 500_000_000)
    yield _leduc("external sampling, Leduc", felt.ExternalMCCFR, 50_000_000)


def _whole_training() -> Result:
    """HS14's two-player training, from empty tables to saved policies."""
    begun = time.perf_counter()
    solver = felt.SmoothUCT(TWO, device=CUDA, **PAPERS)
    built = time.perf_counter() - begun
    solver.run(TRAINING)
    with tempfile.TemporaryDirectory() as folder:
        felt.save_policy(solver.policy, Path(folder) / "policy")
        felt.save_policy(solver.greedy, Path(folder) / "greedy")
    seconds = time.perf_counter() - begun
    note = (
        f"{seconds:.1f} seconds in all, {built:.1f} to load the card tables and build the kernel, "
        f"{solver.seconds:.1f} to train."
    )
    peers = {"HS14": 1 / (30 * 60), "the goal": 1.0}
    return Result(
        "HS14's 7 thousand million episodes", "trainings/minute", 60 / seconds, peers, {"the goal": 1.0}, note
    )


def _speed(
    what: str,
    kind: Any,
    game: str,
    settings: dict[str, Any],
    paper: float = 0.0,
    goal: float = 0.0,
    share: float = 1.0,
) -> Result:
    """Speed with the full number of iterations in flight, and from the first episode on."""
    first = int(share * ON_GPU)
    whole, speed = _speeds(kind(game, device=CUDA, **settings), first, first // 4)
    _, alone = _speeds(kind(game, **settings), int(share * ON_CPU), int(share * ON_CPU))
    peers = {"one CPU thread": alone}
    peers |= {"HS14": paper} if paper else {}
    peers |= {"the goal": goal} if goal else {}
    note = (
        f"{whole:,.0f} a second over the first {first:,}, in which the number of iterations in flight grows."
    )
    return Result(what, f"{kind.work}/s", speed, peers, {"the goal": 1.0} if goal else {}, note)


def _speeds(solver: Any, first: int, then: int) -> tuple[float, float]:
    solver.run(first)
    whole = solver.iterations / solver.seconds
    return whole, then / per_call(lambda: solver.run(then), least=3)


def _leduc(what: str, kind: Any, count: int, **settings: Any) -> Result:
    solver, alone = kind("leduc", device=CUDA, **settings), kind("leduc", **settings)
    solver.run(count)
    alone.run(ON_CPU)
    speed = ON_CPU / per_call(lambda: alone.run(ON_CPU), least=3)
    last = solver.measurements[-1]
    note = f"nash_conv {last.nash_conv:.4f} after {count:,} {solver.work} in {solver.seconds:.1f} seconds."
    return Result(what, f"{solver.work}/s", count / solver.seconds, {"one CPU thread": speed}, {}, note)
