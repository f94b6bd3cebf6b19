"""How fast CFR-BR approaches the least exploitable policy of an abstraction, on a deck of nine cards.

`PYTHONPATH=tests python -m cfr_br_convergence --iterations 512000` writes a JSON file. The abstraction has
perfect recall. The optimum of each seat is bounded from both sides by CFR+ in the enumerated game in which
that seat sees buckets only.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from test_cfr_br import NINE, Bucketed, learner, player_of
from test_exact import solve

import openfelt as felt
from openfelt.measure.holdem.flop_solver import Task
from openfelt.solve.vector.vector_solver import LINEAR, UNIFORM

FIRST = 1_000  # iterations; each measurement is after twice as many as the last


def optimum(seat: int, iterations: int) -> tuple[float, float]:
    """Bounds of what a best response wins from the least exploitable policy of a seat, in chips a hand."""
    found = felt.exploitability(felt.CFRPlus(Bucketed(seat=seat)).run(iterations).policy)
    return -found.best_responses[seat], found.best_responses[1 - seat]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--iterations", type=int, default=512_000)
    parser.add_argument("--bounds", type=int, default=2_000, help="iterations of CFR+")
    parser.add_argument("--weighting", choices=(UNIFORM, LINEAR), default=UNIFORM, help="of the regrets")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    out = arguments.out or Path(f"benchmarks/results/cfr_br_convergence_{arguments.weighting}.json")
    bounds = [optimum(seat, arguments.bounds) for seat in range(2)]
    print("optimum", bounds, flush=True)
    solver, points = learner(trunk="hands", weighting=arguments.weighting, seed=1, threads=2), []
    while solver.iterations < arguments.iterations:
        solver.run(max(FIRST, solver.iterations))
        player = player_of(solver)
        won = [float(solve(Task(player, 1 - seat), NINE)) for seat in range(2)]
        points.append({"iterations": solver.iterations, "best_responses": won})
        print(points[-1], flush=True)
        facts = {"unit": "chips a hand", "optimum": bounds, "points": points}
        out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
