"""How fast CFR-BR approaches the least exploitable policy of an abstraction, on a deck of nine cards.

`PYTHONPATH=tests python -m cfr_br_convergence --iterations 4096000` writes a JSON file. The abstraction has
perfect recall. The optimum of each seat is bounded from both sides by CFR+ in the enumerated game in which
that seat sees buckets only. With `--learners N` that many learners with different seeds run at the same time,
and their averages are mixed, as `felt train --learners` does; iterations are those of each.
"""

from __future__ import annotations

import argparse
import json
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

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


def learn(seed: int, weighting: str, iterations: int, found: Queue[Any]) -> None:
    """Put the weights of the average policy after FIRST iterations, twice as many, and so on."""
    solver = learner(trunk="hands", weighting=weighting, seed=seed)
    while solver.iterations < iterations:
        solver.run(max(FIRST, solver.iterations))
        found.put((solver.iterations, solver.weights.copy()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--iterations", type=int, default=512_000)
    parser.add_argument("--bounds", type=int, default=2_000, help="iterations of CFR+")
    parser.add_argument("--weighting", choices=(UNIFORM, LINEAR), default=UNIFORM, help="of the regrets")
    parser.add_argument("--learners", type=int, default=1)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    kind = arguments.weighting if arguments.learners == 1 else "mixed"
    out = arguments.out or Path(f"benchmarks/results/cfr_br_convergence_{kind}.json")
    context, points, seeds = get_context("spawn"), [], range(1, arguments.learners + 1)
    queues = [context.Queue() for _ in seeds]
    for seed, queue in zip(seeds, queues, strict=True):
        how = seed, arguments.weighting, arguments.iterations, queue
        context.Process(target=learn, args=how, daemon=True).start()
    bounds = [optimum(seat, arguments.bounds) for seat in range(2)]
    print("optimum", bounds, flush=True)
    iterations, mixture = 0, learner(trunk="hands")
    while iterations < arguments.iterations:
        found = [queue.get() for queue in queues]
        iterations = found[0][0]
        mixture.weights[...] = sum(weights for _, weights in found)
        player = player_of(mixture)
        won = [float(solve(Task(player, 1 - seat), NINE)) for seat in range(2)]
        points.append({"iterations": iterations, "best_responses": won})
        print(points[-1], flush=True)
        facts = {"unit": "chips a hand", "learners": arguments.learners, "optimum": bounds, "points": points}
        out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
