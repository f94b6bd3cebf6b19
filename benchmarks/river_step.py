"""What CFR-BR gains on a GPU by learning from one river in three: boards, time by kernel, exploitability.

    python benchmarks/river_step.py --out benchmarks/results/river_step.json

It needs a GPU, and two minutes on an H200. Each run has the same time. Exploitability is estimated from the
same flops.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import openfelt as felt
from openfelt.cards.abstraction.abstraction import load_abstraction
from openfelt.core.cuda import gpu_name, numba_cuda
from openfelt.core.devices import CUDA

BUCKETS = "percentile:169/5000/5000/5000"
STEPS = 1, 3
FLOPS, BOARDS = 60, 96  # for the estimates, and for the time by kernel


def milliseconds(solver: felt.CFRBR) -> dict[str, float]:
    """Milliseconds a board by kernel, over some boards more."""
    cuda, deal, marks = numba_cuda(), solver._gpu.deal, []
    whole = deal.run

    def run(kernel: Any, blocks: int, *arguments: Any, **how: Any) -> None:
        begun, ended = cuda.event(), cuda.event()
        begun.record(deal.queue)
        whole(kernel, blocks, *arguments, **how)
        ended.record(deal.queue)
        marks.append((kernel.py_func.__name__, begun, ended))

    deal.run = run
    try:
        solver.run(BOARDS)
    finally:
        deal.run = whole
    found: dict[str, float] = {}
    for name, begun, ended in marks:
        found[name] = found.get(name, 0.0) + begun.elapsed_time(ended) / BOARDS
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--buckets", default=BUCKETS)
    parser.add_argument("--seconds", type=float, default=25, help="of training in each run")
    parser.add_argument("--threads", type=int, default=16, help="for the tables of the buckets")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/river_step.json"))
    arguments = parser.parse_args()
    load_abstraction(arguments.buckets).tables(threads=arguments.threads)
    facts: dict[str, Any] = {"buckets": arguments.buckets, "gpu": gpu_name(), "flops": FLOPS, "unit": "mbb/h"}
    facts["runs"] = []
    for step in STEPS:
        game, how = f"holdem(buckets='{arguments.buckets}')", {"delay": 2000, "gamma": 2.0, "seed": 1}
        solver = felt.CFRBR(game, device=CUDA, river_step=step, **how)
        solver.run(1)  # compiles the kernels
        compiled = solver.seconds
        solver.run(seconds=arguments.seconds)
        boards, seconds = solver.iterations, solver.seconds - compiled
        estimate = felt.exploitability(solver.policy, device=CUDA, flops=FLOPS).exploitability
        facts["runs"].append(
            {
                "river_step": step,
                "boards": boards,
                "seconds": seconds,
                "exploitability": estimate,
                "milliseconds_a_board": milliseconds(solver),
            }
        )
        arguments.out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
