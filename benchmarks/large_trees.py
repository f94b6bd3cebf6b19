"""The largest games: time and memory of compiling and of one exploitability, each in a new process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from timing import Result

GAMES = ["one_card(500)", "goofspiel(6)", "princess_monster(3,3,13)", "goofspiel(7)"]
SCRIPT = """
import json, resource, sys, time
import openfelt as felt
from openfelt.games.compile.sequence_form import sequence_form
felt.exploitability(felt.uniform_policy("kuhn"))  # kernels are compiled or loaded
begun = time.perf_counter()
tree = felt.compile_game(sys.argv[1])
compiled = time.perf_counter()
sequence_form(tree)
formed = time.perf_counter()
felt.exploitability(felt.uniform_policy(tree))
done = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps([tree.num_nodes, tree.num_rows, compiled - begun, formed - compiled, done - formed, peak]))
"""


def run() -> Iterator[Result]:
    """Two results per game: first compiled, then loaded from the cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "OPENFELT_CACHE": cache}
        for game in GAMES:
            for how in ("compiled", "again, from the disk cache if over a million nodes"):
                command = [sys.executable, "-c", SCRIPT, game]
                out = subprocess.run(
                    command, env=environment, capture_output=True, text=True, check=True
                ).stdout
                nodes, rows, tree, form, measured, peak = json.loads(out)
                note = (
                    f"{nodes:,} nodes, {rows:,} rows: tree {tree:.1f} s, sequence form {form:.1f} s, "
                    f"exploitability {measured:.2f} s; peak memory {peak:.1f} GB"
                )
                yield Result(f"{game}, {how}", "nodes/s", nodes / tree, {}, note=note)
