"""Postflop spots, solved to the exploitability that postflop-solver reached.

postflop-solver (b-inary, master of 2023, rustc 1.95, one thread) is not run here: its seconds, values and
exploitabilities were measured once, on another machine, and are stated below.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from timing import Result, on_one_core

from openfelt.spots.solver import SpotSolver
from openfelt.spots.spot import Spot

PEER = "postflop-solver"
OOP = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
IP = "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"


class Case(NamedTuple):
    """A spot, and what postflop-solver needs for it."""

    name: str
    board: str
    ranges: tuple[str, str]
    bets: str
    value: float  # of OOP, in chips
    exploitability: float  # percent of the pot
    iterations: int
    seconds: float


CASES = (
    Case("river", "Td9d6hQc2s", (OOP, IP), "60%,a", 92.757, 0.093, 120, 0.01),
    Case("turn", "Td9d6hQc", (OOP, IP), "60%,a", 92.679, 0.180, 140, 3.5),
    Case("turn, full ranges", "Td9d6hQc", ("random", "random"), "60%,a", 91.562, 0.199, 130, 13.6),
    Case("flop", "Td9d6h", (OOP, IP), "60%", 107.235, 0.486, 100, 217.0),
)


def run() -> Iterator[Result]:
    """All results."""
    on_one_core()
    for case in CASES:
        oop, ip = case.ranges
        spot = Spot(oop=oop, ip=ip, board=case.board, pot=200, stack=900, bets=case.bets, raises="2.5x")
        SpotSolver(replace(spot, oop="AA", ip="KK")).run(1)  # compiles
        solver = SpotSolver(spot)
        measured = solver.run(until=case.exploitability)
        value = solver.values()[0]
        apart = (case.exploitability + measured.exploitability) / 100 * spot.pot
        agrees = "agrees" if abs(value - case.value) <= apart else "DISAGREES"
        del solver
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        yield Result(
            f"{case.name}, to {case.exploitability}% of the pot",
            "spots/s",
            1 / measured.seconds,
            {PEER: 1 / case.seconds},
            {PEER: 1.0},
            f"{measured.seconds:.3g} s, {measured.iterations} iterations, exploitability "
            f"{measured.exploitability:.3f}% ({PEER}: {case.seconds:g} s, {case.iterations} iterations, on "
            f"another machine); OOP gets {value:.3f} chips, which {agrees} with {case.value:.3f} within both "
            f"exploitabilities; at most {memory:.0f} MB of memory so far",
        )
