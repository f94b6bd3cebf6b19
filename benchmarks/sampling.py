"""Sampling solvers on Leduc compared with OpenSpiel's MCCFR (C++), on one core in one run."""

from __future__ import annotations

from collections.abc import Iterator

from timing import Result, in_turn, peer, per_call

import openfelt as felt
from openfelt.solve.solver import Solver

EPISODES = 400_000  # per call of ours
THEIRS = 5_000  # iterations per call of the peer
NOTE = "An iteration of OpenSpiel plays one episode per player; ours updates all players from one episode."


def run() -> Iterator[Result]:
    """All results; the peer is measured again for each."""
    smooth = felt.SmoothUCT("leduc", c=18, gamma=0.1, eta0=0.9, d=0.002)
    yield beside("Smooth UCT on Leduc", "episodes/s", smooth, EPISODES, "OutcomeSamplingMCCFRSolver", 40.0)
    plain = felt.UCT("leduc", c=18)
    yield beside("UCT on Leduc", "episodes/s", plain, EPISODES, "OutcomeSamplingMCCFRSolver", 40.0)
    outcome = felt.OutcomeMCCFR("leduc")
    yield beside(
        "outcome sampling on Leduc",
        "iterations/s",
        outcome,
        EPISODES,
        "OutcomeSamplingMCCFRSolver",
        20.0,
        NOTE,
    )
    reduced = felt.OutcomeMCCFR("leduc", baseline=0.5)
    yield beside(
        "outcome sampling with baselines",
        "iterations/s",
        reduced,
        EPISODES,
        "OutcomeSamplingMCCFRSolver",
        0.0,
    )
    external = felt.ExternalMCCFR("leduc")
    yield beside(
        "external sampling on Leduc",
        "iterations/s",
        external,
        EPISODES // 4,
        "ExternalSamplingMCCFRSolver",
        20.0,
        "An iteration traverses the game once for each player, in both programs.",
    )
    chance = felt.ChanceCFR("leduc")
    yield Result("chance sampling on Leduc", "iterations/s", _speed(chance, EPISODES // 20), {})
    for game in ("bluff(1,1,6)", "goofspiel(6)"):
        solver = felt.SmoothUCT(game)
        yield Result(f"Smooth UCT on {game}", "episodes/s", _speed(solver, EPISODES // 4), {})


def beside(
    what: str, unit: str, solver: Solver, count: int, theirs: str, goal: float, note: str = ""
) -> Result:
    """The speed of a solver compared with one of OpenSpiel."""
    solver.run(count)  # compiles, and fills the tables
    goals = {"open_spiel": goal} if goal else {}
    if (pyspiel := peer("pyspiel")) is None:
        return Result(what, unit, _speed(solver, count), {}, goals, note)
    other = getattr(pyspiel, theirs)(pyspiel.load_game("leduc_poker"), seed=1)

    def iterate() -> None:
        for _ in range(THEIRS):
            other.run_iteration()

    iterate()
    ours, peers = in_turn(lambda: solver.run(count), iterate)
    return Result(what, unit, count / ours, {"open_spiel": THEIRS / peers}, goals, note)


def _speed(solver: Solver, count: int) -> float:
    solver.run(count)
    return count / per_call(lambda: solver.run(count))
