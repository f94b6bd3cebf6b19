"""Speed of two checkouts of OpenFelt, in turn on one core: python compare.py BEFORE AFTER [ROUNDS].

Peers are the same for both, so the ratio of our own speeds is the change of every ratio to a peer. A round
times both checkouts, each in a process of its own and by CPU time; the 95% interval is that of Student's t
over the logarithms of the ratios of the rounds.
"""

from __future__ import annotations

import inspect
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

REPETITIONS = 5


def timed(work: Any, count: int) -> float:
    """The median number of units per second of CPU time."""
    work()
    found = []
    for _ in range(REPETITIONS):
        begun = time.process_time()
        work()
        found.append(count / (time.process_time() - begun))
    return statistics.median(found)


def speeds() -> dict[str, float]:
    """Units per second of what the benchmarks compare with peers."""
    import openfelt as felt
    from openfelt.cards.evaluator import hand_values
    from openfelt.cards.strength import hand_strength

    found = {}
    solver = felt.CFRPlus("leduc").run(100)
    found["CFR+ on Leduc, with measurements"] = timed(lambda: solver.run(2_000), 2_000)
    found["CFR+ on Leduc"] = timed(lambda: solver._advance(5_000), 5_000)
    for name, times in (("leduc", 3_000), ("goofspiel(5)", 500), ("bluff(1,1,6)", 60)):
        policy = felt.uniform_policy(name)

        def measure(name: str = name, policy: Any = policy, times: int = times) -> None:
            before = "game" in inspect.signature(felt.exploitability).parameters
            for _ in range(times):
                felt.exploitability(name, policy) if before else felt.exploitability(policy)

        found[f"exploitability of {name}"] = timed(measure, times)
    for what, kind, game, count, settings in (
        ("UCT on Leduc", felt.UCT, "leduc", 400_000, {"c": 18.0}),
        ("Smooth UCT on Leduc", felt.SmoothUCT, "leduc", 400_000, {"c": 18.0}),
        ("outcome sampling on Leduc", felt.OutcomeMCCFR, "leduc", 400_000, {}),
        ("external sampling on Leduc", felt.ExternalMCCFR, "leduc", 120_000, {}),
        ("Smooth UCT on bluff(1,1,6)", felt.SmoothUCT, "bluff(1,1,6)", 300_000, {}),
        ("Smooth UCT in hold'em", felt.SmoothUCT, "holdem", 150_000, {"k": 0.5}),
        ("outcome sampling in hold'em", felt.OutcomeMCCFR, "holdem", 80_000, {}),
        ("external sampling in hold'em", felt.ExternalMCCFR, "holdem", 6_000, {}),
    ):
        learner = kind(game, seed=1, **settings)
        found[what] = timed(lambda learner=learner, count=count: learner._advance(count), count)
    hands = np.array([np.random.default_rng(each).permutation(52)[:7] for each in range(20_000)])
    found["seven cards evaluated"] = timed(lambda: [hand_values(hands) for _ in range(20)], 400_000)
    found["E[HS2] on the flop"] = timed(lambda: hand_strength("AhKd", "Qh7s2c"), 1)
    return found


def main() -> None:
    before, after, *rest = sys.argv[1:]
    rounds = int(rest[0]) if rest else 10
    folders = {"before": before, "after": after}
    runs: dict[str, list[dict[str, float]]] = {"before": [], "after": []}
    for number in range(rounds):
        for which in ("before", "after") if number % 2 else ("after", "before"):
            cache = Path(f"compare-cache-{which}").absolute()
            environment = {
                **os.environ,
                "PYTHONPATH": str(Path(folders[which]).absolute() / "src"),
                "OPENFELT_CACHE": str(cache / "tables"),
                "NUMBA_CACHE_DIR": str(cache / "kernels"),
                "OMP_NUM_THREADS": "1",
            }
            command = ["taskset", "-c", "0", sys.executable, __file__, "--speeds"]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            runs[which].append(json.loads(done.stdout.splitlines()[-1]))
        report(runs)


def report(runs: dict[str, list[dict[str, float]]]) -> None:
    """Write the comparison of the rounds so far."""
    from scipy.stats import t

    rows = {}
    for what in runs["before"][0]:
        pairs = [(b[what], a[what]) for b, a in zip(runs["before"], runs["after"], strict=True)]
        logs = np.log([a / b for b, a in pairs])
        error = logs.std(ddof=1) / np.sqrt(len(logs)) if len(logs) > 1 else np.inf
        half = t.ppf(0.975, max(1, len(logs) - 1)) * error
        low, middle, high = (float(np.exp(logs.mean() + each)) for each in (-half, 0.0, half))
        rows[what] = {"after / before": middle, "interval_95": [low, high], "rounds": pairs}
    Path("compare.json").write_text(json.dumps(rows, indent=1))
    print(f"after {len(runs['before'])} rounds")
    for what, row in rows.items():
        low, high = row["interval_95"]
        print(f"  {what:34} {row['after / before']:.3f}  [{low:.3f}, {high:.3f}]", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--speeds"]:
        print(json.dumps(speeds()))
    else:
        main()
