"""Games without a list of histories: compiling, exploitability and an iteration of PCFR+, on two threads.

Speeds are those of CPU time, of both threads together, so that other work on the machine disturbs them less.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

from timing import Result, on_all_cores, on_one_core

from openfelt.games.registry import load_game

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
        begun = time.process_time(), time.perf_counter()
        work()
        taken.append((time.process_time() - begun[0], time.perf_counter() - begun[1]))
    return [statistics.median(each) for each in zip(*taken)]
compile_infosets("kuhn")
compiling = seconds(lambda: compile_infosets(sys.argv[1]), 1)
tree, threads = compile_infosets(sys.argv[1]), int(sys.argv[2])
uniform = felt.uniform_policy(tree)
felt.exploitability(uniform, device="cpu", threads=threads)  # kernels are compiled or loaded
measuring = seconds(lambda: felt.exploitability(uniform, device="cpu", threads=threads), 5)
solver = felt.PCFRPlus(tree, device="cpu", threads=threads)
solver._advance(1)
iterating = seconds(lambda: solver._advance(1), 3)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps([tree.num_nodes, tree.num_rows, compiling, measuring, iterating, peak]))
"""


def run(games: Sequence[str] = GAMES) -> Iterator[Result]:
    """One result per game."""
    for game in games:
        load_game(game)  # raises for an unknown one
    on_all_cores()
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "OPENFELT_CACHE": cache}
        for game in games:
            command = [sys.executable, "-c", SCRIPT, game, str(THREADS)]
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
            nodes, rows, compiling, measuring, iterating, peak = json.loads(done.stdout)
            parts = {"compiling": compiling, "exploitability": measuring, "an iteration": iterating}
            times = ", ".join(f"{what} {cpu:.3g} ({wall:.3g})" for what, (cpu, wall) in parts.items())
            note = (
                f"{nodes:,} histories, {rows:,} infosets; seconds of CPU time (of the clock): {times}; "
                f"peak memory {peak:.1f} GB; "
                f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
            )
            yield Result(f"exploitability of {game}", "infosets/s", rows / measuring[0], {}, note=note)
    on_one_core()
