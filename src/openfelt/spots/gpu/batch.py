"""Many spots with the same betting trees on one GPU, for reports.

A set of spots is solved together; it has about as many betting trees on river boards as a GPU needs to be
busy: a thousand rivers or a few dozen turns, but one flop. Kernels are compiled once.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from openfelt.core.cuda import free_memory
from openfelt.spots.engine import Engine
from openfelt.spots.gpu.engine import GpuEngine, memory_needed
from openfelt.spots.locks import Lock
from openfelt.spots.solver import CHECK_EVERY, Budget, SpotSolver
from openfelt.spots.spot import Spot
from openfelt.spots.traversal import BEST_RESPONSE, EXPECTED

MANY_TREES = 20_000  # betting trees on river boards in a set
MOST_SPOTS = 1024  # of a set
MOST_MEMORY = 0.8  # share of the free memory for a set


class Solved(NamedTuple):
    """What is known about a spot of a set."""

    spot: Spot
    engine: Engine  # with the tables of the first street only
    values: tuple[float, float]
    exploitability: float
    iterations: int
    seconds: float  # the spot's share of those of its set


def solve_spots(
    spots: Iterable[Spot], until: float, budget: Budget, *, locks: Sequence[Lock] = ()
) -> Iterator[Solved]:
    """Solve spots that differ in their boards only, in order."""
    solvers = (SpotSolver(spot, locks=tuple(locks)) for spot in _share_trees(spots))
    sets = _sets(solvers, MOST_MEMORY * free_memory())
    with ThreadPoolExecutor(1) as pool:  # prepares the next set in the meantime
        waiting = pool.submit(next, sets, None)
        while (chosen := waiting.result()) is not None:
            waiting = pool.submit(next, sets, None)
            yield from solve_set(chosen, until, budget)


def solve_set(solvers: Sequence[SpotSolver], until: float, budget: Budget) -> list[Solved]:
    """Solve spots together; each stops when it has reached the target."""
    start = time.perf_counter()
    gpu = GpuEngine([solver.engine for solver in solvers])
    solved: dict[int, Solved] = {}
    iterations, left = 0, list(range(len(solvers)))
    while left:
        count = min(CHECK_EVERY, budget.iterations - iterations)
        gpu.iterate(iterations, count)
        iterations += count
        gains = _gains(gpu, solvers)
        seconds = time.perf_counter() - start
        over = iterations >= budget.iterations or seconds >= budget.seconds
        done = [each for each in left if over or gains[each] <= until]
        if done:
            values, share = _in_chips(gpu, solvers, EXPECTED), seconds / len(solvers)
            for each in done:
                spot, engine = solvers[each].spot, solvers[each].engine
                solved[each] = Solved(spot, engine, values[each], gains[each], iterations, share)
            left = [each for each in left if each not in solved]
            gpu.activate(left)
    gpu.fetch(streets=1)
    return [solved[each] for each in range(len(solvers))]


def _gains(gpu: GpuEngine, solvers: Sequence[SpotSolver]) -> list[float]:
    """The exploitability of each spot, in percent of the pot."""
    best = _in_chips(gpu, solvers, BEST_RESPONSE)
    if any(solver.spot.rake for solver in solvers):
        values = [sum(pair) for pair in _in_chips(gpu, solvers, EXPECTED)]
    else:
        values = [float(solver.spot.pot) for solver in solvers]
    return [
        50.0 * (sum(pair) - value) / solver.spot.pot
        for solver, pair, value in zip(solvers, best, values, strict=True)
    ]


def _in_chips(gpu: GpuEngine, solvers: Sequence[SpotSolver], mode: int) -> list[tuple[float, float]]:
    oop, ip = (gpu.run(player, mode).values(player) for player in (0, 1))
    return [
        (solver.in_chips(0, first), solver.in_chips(1, second))
        for solver, first, second in zip(solvers, oop, ip, strict=True)
    ]


def _share_trees(spots: Iterable[Spot]) -> Iterator[Spot]:
    """The same spots; those of a street have one set of betting trees."""
    first: dict[int, Spot] = {}
    for spot in spots:
        example = first.setdefault(spot.street, spot)
        spot.__dict__["streets"] = example.streets
        yield spot


def _sets(solvers: Iterable[SpotSolver], room: float) -> Iterator[list[SpotSolver]]:
    """Divide spots into sets that are solved together, each within `room` bytes."""
    chosen: list[SpotSolver] = []
    trees, memory = 0, 0.0
    for solver in solvers:
        spot, engine = solver.spot, solver.engine
        more = len(engine.runouts[-1].card) * len(spot.streets[-1].roots)
        needed = memory_needed(spot.streets, engine.runouts)
        full = trees + more > MANY_TREES or memory + needed > room or len(chosen) == MOST_SPOTS
        if chosen and (full or spot.street != chosen[0].spot.street):
            yield chosen
            chosen, trees, memory = [], 0, 0.0
        chosen.append(solver)
        trees, memory = trees + more, memory + needed
    if chosen:
        yield chosen
