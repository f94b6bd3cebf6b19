"""How exploitable the bot of `make strong-bot` is while it trains, and what its last iterations alone give.

    python benchmarks/strong_bot.py --out benchmarks/results/strong_bot.json

It needs a GPU, and 25 minutes on an H200. Training pauses at three moments: the average policy so far is
measured on 60 flops. So are, at the end, averages over the later parts only. The best of all is measured
exactly.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import openfelt as felt
from openfelt.cards.abstraction.abstraction import load_abstraction
from openfelt.core.devices import CUDA
from openfelt.policy.files import policy_from_weights

BUCKETS = "ochs:169/9000/20000/30000"
PARTS = 0.3, 0.6, 1.0  # of the training time, after which is measured
FLOPS = 60


def estimate(policy: felt.Policy) -> float:
    """Exploitability on sampled flops, the same for all policies, in mbb/h."""
    return felt.exploitability(policy, device=CUDA, flops=FLOPS).exploitability


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--buckets", default=BUCKETS)
    parser.add_argument("--seconds", type=float, default=1_000, help="of training")
    parser.add_argument("--delay", type=int, default=2_000)
    parser.add_argument("--gamma", type=float, default=2.0)
    parser.add_argument("--river-step", type=int, default=1, help="learn from one river in this many")
    parser.add_argument("--threads", type=int, default=16, help="for the tables of the buckets")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/strong_bot.json"))
    arguments = parser.parse_args()
    load_abstraction(arguments.buckets).tables(threads=arguments.threads)
    game = f"holdem(buckets='{arguments.buckets}')"
    how = {name: getattr(arguments, name) for name in ("delay", "gamma", "river_step")}
    solver = felt.CFRBR(game, seed=1, device=CUDA, **how)
    solver.run(1)
    compiled = solver.seconds
    facts: dict[str, Any] = {"game": game, **how, "flops": FLOPS, "unit": "mbb/h", "points": [], "tails": []}
    sums, found = [], []
    for part in PARTS:
        solver.run(seconds=part * arguments.seconds - (solver.seconds - compiled))
        sums.append(solver.weights.astype(np.float32))
        policy = policy_from_weights(solver.tree, sums[-1])
        found.append((estimate(policy), policy))
        point = {"boards": solver.iterations, "seconds": solver.seconds - compiled}
        facts["points"].append({**point, "estimate": found[-1][0]})
        arguments.out.write_text(json.dumps(facts, indent=1) + "\n")
    del found[:-1]
    for before, point in zip(sums[:-1], facts["points"][:-1], strict=True):
        policy = policy_from_weights(solver.tree, sums[-1] - before)
        found.append((estimate(policy), policy))
        facts["tails"].append({"after_boards": point["boards"], "estimate": found[-1][0]})
    best, policy = min(found, key=lambda each: each[0])
    exact = felt.exploitability(policy, device=CUDA)
    facts |= {"best": best, "exact": exact.exploitability, "best_responses": exact.best_responses}
    arguments.out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
