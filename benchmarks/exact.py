"""Exact best responses in two-player hold'em: some flops, extrapolated to the whole game.

The policy is that of the bot `default`: dense, with hundreds of buckets on each street after the first. A
river takes the same time on every board, so the time of some flops is extrapolated by the number of rivers.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator, Sequence

import numpy as np
from timing import Result, on_one_core

from openfelt.bots.measurable import load_player
from openfelt.cards.public_cards import Deck, Flop, plan_flop
from openfelt.core.cuda import why_no_gpu
from openfelt.core.jit import Floats
from openfelt.measure.holdem.exploitability import PRECISION
from openfelt.measure.holdem.flop_solver import FlopSolver, Task

SEATS = 2
ON_CPU, ON_GPU = 3, 100  # flops
HOUR = 3600.0
# Days of one core or GPU: a prototype without suit symmetry after the flop (67 hours of one core, 21
# minutes of one H200), and Johanson, Waugh, Bowling & Zinkevich 2011 (76 days of one core).
PROTOTYPE, PROTOTYPE_GPU, IN_2011 = 67 / 24, 21 / 60 / 24, 76.0


def run() -> Iterator[Result]:
    """All results."""
    player, deck = load_player("default"), Deck()
    rivers = sum(plan_flop(deck, flop).rivers for flop in deck.flops)
    flops, on_gpu = _drawn(deck, ON_CPU), list[Floats]()
    yield from _on_the_gpu(Task(player, 0), deck, rivers, flops, on_gpu)
    on_one_core()
    for precision in (PRECISION, "double"):
        solver = FlopSolver(Task(player, 0), deck, precision)
        solver.solve(min(deck.flops, key=lambda flop: plan_flop(deck, flop).rivers))  # compiles
        begun = time.perf_counter()
        found = [solver.solve(flop).values for flop in flops]
        days = _whole_game(time.perf_counter() - begun, deck, flops, rivers)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        yield Result(
            f"a best response to a dense policy, one CPU core, {precision} precision",
            "games/day",
            1 / days,
            {"a prototype": 1 / PROTOTYPE, "Johanson et al. 2011": 1 / IN_2011},
            {"a prototype": 1.5} if precision == PRECISION else {},
            f"{24 * days:.1f} core-hours for the whole game, extrapolated from {ON_CPU} flops; "
            f"at most {memory:.1f} GB of memory{_compared(found, on_gpu)}",
        )


def _on_the_gpu(
    task: Task, deck: Deck, rivers: int, to_compare: Sequence[Flop], values: list[Floats]
) -> Iterator[Result]:
    if why_no_gpu():
        return
    from openfelt.measure.holdem.gpu.engine import GpuSolver

    flops, solver = _drawn(deck, ON_GPU), GpuSolver(task, deck)
    values += [found.values for found in solver.solve_all(to_compare)]  # compiles
    begun = time.perf_counter()
    list(solver.solve_all(flops))
    days = _whole_game(time.perf_counter() - begun, deck, flops, rivers)
    yield Result(
        "a best response to a dense policy, one GPU",
        "games/day",
        1 / days,
        {"a prototype": 1 / PROTOTYPE_GPU},
        {"a prototype": 7.0},  # three minutes
        f"{24 * HOUR * days:.0f} seconds for the whole game, extrapolated from {ON_GPU} flops",
    )


def _compared(found: Sequence[Floats], on_gpu: Sequence[Floats]) -> str:
    if not on_gpu:
        return ""
    differ = max(abs(one - two).max() / abs(one).max() for one, two in zip(found, on_gpu, strict=True))
    return f"; values differ from the GPU's by {differ:.0e} of the largest, at most"


def _drawn(deck: Deck, count: int) -> list[Flop]:
    drawn = np.random.default_rng(0).choice(len(deck.flops), count, replace=False)
    return [deck.flops[place] for place in drawn]


def _whole_game(seconds: float, deck: Deck, flops: Sequence[Flop], rivers: int) -> float:
    """Days for all rivers and both seats."""
    done = sum(plan_flop(deck, flop).rivers for flop in flops)
    return SEATS * seconds * rivers / done / (24 * HOUR)
