"""Postflop spots on a GPU: seconds to a target, iterations per second, and reports of many boards.

Peers are not run here. postflop-solver: see `spots.py`. TexasSolver 0.1.0 states 172 seconds on six threads
for a flop with ten times the pot behind, to 0.28% of the pot (README of bupticybee/TexasSolver; the spot is
its benchmark/benchmark_texassolver.txt, and benchmark_outputs/texassolver_log.txt has 161 iterations). The
fastest iterations on a flop that anybody has published are a thousand in 0.8 seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from spots import CASES, IP, OOP, PEER
from timing import Result, on_all_cores

from openfelt.core.cuda import choose_device
from openfelt.core.devices import CUDA
from openfelt.spots.gpu.batch import solve_spots
from openfelt.spots.gpu.engine import GpuEngine
from openfelt.spots.solver import Budget, SpotSolver, memory_needed
from openfelt.spots.spot import Spot

ITERATIONS, FEW_ITERATIONS, PATIENCE = 1000, 20, 10.0  # of a speed; if it would take this many seconds, fewer
PUBLISHED = 1000 / 0.8  # iterations per second
REPORT_TARGET = 0.3  # percent of the pot
TEXAS_OOP = (
    "AA,KK,QQ,JJ,TT,99:0.75,88:0.75,77:0.5,66:0.25,55:0.25,AK,AQs,AQo:0.75,AJs,AJo:0.5,ATs:0.75,A6s:0.25,"
    "A5s:0.75,A4s:0.75,A3s:0.5,A2s:0.5,KQs,KQo:0.5,KJs,KTs:0.75,K5s:0.25,K4s:0.25,QJs:0.75,QTs:0.75,Q9s:0.5,"
    "JTs:0.75,J9s:0.75,J8s:0.75,T9s:0.75,T8s:0.75,T7s:0.75,98s:0.75,97s:0.75,96s:0.5,87s:0.75,86s:0.5,85s:0.5,"
    "76s:0.75,75s:0.5,65s:0.75,64s:0.5,54s:0.75,53s:0.5,43s:0.5"
)
TEXAS_IP = (
    "QQ:0.5,JJ:0.75,TT,99,88,77,66,55,44,33,22,AKo:0.25,AQs,AQo:0.75,AJs,AJo:0.75,ATs,ATo:0.75,A9s,A8s,A7s,A6s,"
    "A5s,A4s,A3s,A2s,KQ,KJ,KTs,KTo:0.5,K9s,K8s,K7s,K6s,K5s,K4s:0.5,K3s:0.5,K2s:0.5,QJ,QTs,Q9s,Q8s,Q7s,JTs,"
    "JTo:0.5,J9s,J8s,T9s,T8s,T7s,98s,97s,96s,87s,86s,76s,75s,65s,64s,54s,53s,43s"
)
# Its chips times ten, since ours are whole numbers. IP has no all-in as a bet or raise on the turn.
TEXAS = Spot(
    oop=TEXAS_OOP,
    ip=TEXAS_IP,
    board="QsJh2h",
    pot=100,
    stack=950,
    bets={"": "100%,a", "ip turn": "100%"},
    raises={"": "50%,a", "ip turn": "50%"},
)
TEXAS_TARGET, TEXAS_SECONDS, TEXAS_GOAL = 0.276, 172.0, 172.0 / 5


def run() -> Iterator[Result]:
    """All results."""
    choose_device(CUDA)  # raises without a GPU
    on_all_cores()
    flop = next(case for case in CASES if case.name == "flop")
    for case in (flop, *(case for case in CASES if case is not flop)):
        oop, ip = case.ranges
        spot = Spot(oop=oop, ip=ip, board=case.board, pot=200, stack=900, bets=case.bets, raises="2.5x")
        yield from _measure(case.name, spot, case.exploitability, (PEER, case.seconds, 1.0))
    texas = "TexasSolver", TEXAS_SECONDS, TEXAS_GOAL
    yield from _measure("TexasSolver's flop", TEXAS, TEXAS_TARGET, texas)
    deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    turns = ["Td9d6h" + card for card in deck if card not in "Td9d6h"]
    yield _report("turns", turns, "60%,a")
    some = [turn for turn in turns if turn[6] in "2A"]
    yield _report("rivers", [turn + card for turn in some for card in deck if card not in turn], "60%,a")
    yield _report("flops", ["Td9d6h", "AsKd2c", "8c7c6c", "QhQd4s"], "60%")


def _measure(name: str, spot: Spot, target: float, peer: tuple[str, float, float]) -> Iterator[Result]:
    """A spot to its target, with measurements; then iterations alone."""
    SpotSolver(spot, device=CUDA).run(1)  # compiles
    fresh = Spot(**{each: getattr(spot, each) for each in spot.__dataclass_fields__})
    start = time.perf_counter()
    solver = SpotSolver(fresh, device=CUDA)
    built = time.perf_counter() - start
    measured = solver.run(until=target)
    value = solver.values()[0]
    start = time.perf_counter()
    solver.fetch()
    fetched = time.perf_counter() - start
    who, seconds, goal = peer
    yield Result(
        f"{name}, to {target}% of the pot",
        "spots/s",
        1 / measured.seconds,
        {who: 1 / seconds},
        {who: goal},
        f"{measured.seconds:.3g} s, {measured.iterations} iterations, exploitability "
        f"{measured.exploitability:.3f}%; building the spot took {built:.2f} s, copying the tables back "
        f"{fetched:.2f} s; OOP gets {value:.3f} of {spot.pot} chips; "
        f"{memory_needed(spot, device=CUDA) / 1e6:.0f} MB on the GPU ({who}: {seconds:g} s, on another "
        "machine)",
    )
    gpu = GpuEngine([solver.engine])
    each = _seconds(gpu, FEW_ITERATIONS)[0] / FEW_ITERATIONS
    count = ITERATIONS if each * ITERATIONS < PATIENCE else max(FEW_ITERATIONS, int(PATIENCE / each))
    taken, queueing = _seconds(gpu, count)
    yield Result(
        f"{name}, iterations without measurements",
        "iterations/s",
        count / taken,
        {"best published": PUBLISHED},
        {},
        f"{count} iterations in {taken:.3g} s, of which queueing took {queueing:.3g} s",
    )


def _seconds(gpu: GpuEngine, count: int) -> tuple[float, float]:
    """Seconds of iterations, and of queueing them."""
    gpu.wait()
    start = time.perf_counter()
    gpu.iterate(20, count)  # after the average was last reset
    queueing = time.perf_counter() - start
    gpu.wait()
    return time.perf_counter() - start, queueing


def _report(name: str, boards: Sequence[str], bets: str) -> Result:
    """Many boards, from ranges to values."""
    spots = (Spot(oop=OOP, ip=IP, board=board, pot=200, stack=900, bets=bets) for board in boards)
    start = time.perf_counter()
    solved = list(solve_spots(spots, REPORT_TARGET, Budget(ITERATIONS, float("inf"))))
    seconds = time.perf_counter() - start
    worst = max(each.exploitability for each in solved)
    return Result(
        f"a report of {len(boards)} {name}, to {REPORT_TARGET}% of the pot",
        "spots/s",
        len(boards) / seconds,
        {},
        {},
        f"{seconds:.3g} s, of which solving took {sum(each.seconds for each in solved):.3g} s; "
        f"exploitability at most {worst:.3f}%",
    )
