"""How the work on a Ray cluster grows with its CPUs.

    python benchmarks/cluster_scaling.py --cpus 1 2 4 8 16 --out benchmarks/results/cluster_scaling.json

For each number of CPUs a cluster is started on this machine, which must have that many idle cores. Rates are
from the first result to the last, after the workers have compiled. With --gpu, a sampled exploitability on a
GPU through Ray is compared with that of the same command without Ray.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cluster import BLOCKS, DEALS, _learning, _rate

import openfelt as felt
from openfelt.arena.match import _open
from openfelt.arena.match_blocks import Setup
from openfelt.cards.public_cards import Deck
from openfelt.core.workers import Job

UNITS, SECONDS = 3, 4.0  # blocks of a match for each CPU, and seconds of training
FLOPS, SEED = 6, 1


def curves(cpus: int) -> dict[str, float]:
    """Rates on a cluster of so many CPUs: blocks of a match, and iterations of three solvers, a second."""
    job = Job(_open, (Setup("leduc", ("random", "probe"), block=DEALS, compiled=False), None))
    units = [
        tuple((DEALS * (BLOCKS * unit + block), DEALS) for block in range(BLOCKS))
        for unit in range(UNITS * cpus + 1)
    ]
    boards = partial(_on_boards, in_flight=16)
    solvers: dict[str, Callable[[], felt.Solver]] = {
        "external-mccfr": lambda: felt.ExternalMCCFR("leduc", threads="ray", learners=cpus),
        "cfr-br": lambda: boards(felt.CFRBR),
        "public-chance-cfr": lambda: boards(felt.PublicChanceCFR),
    }
    return {"match": _rate(job, units, "ray")} | {
        name: _learning(make(), SECONDS) for name, make in solvers.items()
    }


def _on_boards(kind: type[felt.Solver], in_flight: int) -> felt.Solver:
    return kind("holdem(buckets='ehs:5')", deck=Deck(5, 4), threads="ray", in_flight=in_flight)


def through_ray() -> dict[str, Any]:
    """A sampled exploitability on the GPU, with Ray and without."""
    found = {}
    for name, options in {"alone": {}, "ray": {"threads": "ray"}}.items():
        begun = time.perf_counter()
        value = felt.exploitability(
            felt.load_policy("default"), flops=FLOPS, seed=SEED, device="cuda", **options
        )
        found[name] = {"mbb_per_hand": value.exploitability, "seconds": time.perf_counter() - begun}
    return {"flops": FLOPS, **found, "equal": found["alone"]["mbb_per_hand"] == found["ray"]["mbb_per_hand"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cpus", type=int, nargs="*", default=[1, 2], metavar="N")
    parser.add_argument("--gpu", action="store_true", help="also a job on a GPU, through Ray and without it")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    os.environ |= {"RAY_worker_niceness": "0"}
    import ray

    facts: dict[str, Any] = {"processor": platform.machine(), "cores": os.cpu_count(), "rates": {}}
    for cpus in arguments.cpus:
        ray.init(address="local", num_cpus=cpus, include_dashboard=False, log_to_driver=False)
        facts["rates"][cpus] = curves(cpus)
        print(cpus, facts["rates"][cpus], flush=True)
        ray.shutdown()
        arguments.out.write_text(json.dumps(facts, indent=1) + "\n")
    if arguments.gpu:
        ray.init(address="local", include_dashboard=False, log_to_driver=False)
        facts["gpu"] = through_ray()
        print(facts["gpu"], flush=True)
        arguments.out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
