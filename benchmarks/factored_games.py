"""Games without a list of histories: compiling, exploitability and an iteration of PCFR+, on two threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from timing import Result, on_all_cores, on_one_core

ABRUPT = ["phantom_ttt(abrupt=True)", "dark_hex(3,abrupt=True)"]
GAMES = ["phantom_ttt", "dark_hex(3)", "bluff(2,2,5)", *ABRUPT]
THREADS = 2
SCRIPT = """
import json, resource, statistics, sys, time
import openfelt as felt
from openfelt.games.compile.compiler import compile_infosets
def seconds(work, times):
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)
compile_infosets("kuhn")
compiling = seconds(lambda: compile_infosets(sys.argv[1]), 1)
tree, threads = compile_infosets(sys.argv[1]), int(sys.argv[2])
uniform = felt.uniform_policy(tree)
felt.exploitability(uniform, threads=threads)  # kernels are compiled or loaded
measuring = seconds(lambda: felt.exploitability(uniform, threads=threads), 3)
solver = felt.PCFRPlus(tree, threads=threads)
solver._advance(1)
iterating = seconds(lambda: solver._advance(1), 3)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps([tree.num_nodes, tree.num_rows, compiling, measuring, iterating, peak]))
"""


def run() -> Iterator[Result]:
    """One result per game."""
    on_all_cores()
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "OPENFELT_CACHE": cache}
        for game in GAMES:
            command = [sys.executable, "-c", SCRIPT, game, str(THREADS)]
            out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            nodes, rows, compiling, measuring, iterating, peak = json.loads(out)
            note = (
                f"{nodes:,} histories, {rows:,} infosets: compiled in {compiling:.0f} s, exploitability in "
                f"{measuring:.2f} s, an iteration in {iterating:.2f} s; peak memory {peak:.1f} GB; "
                f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
            )
            yield Result(f"exploitability of {game}", "infosets/s", rows / measuring, {}, note=note)
    on_one_core()
