"""Start-up times; each figure is that of a whole process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from timing import Result, peer, per_call

TRAIN = ["-m", "openfelt", "train", "kuhn", "--iterations", "10", "--json"]


def run() -> Iterator[Result]:
    """The import, then the first command on a machine, and the same again."""
    others = {"numba": "import numba"} | ({"open_spiel": "import pyspiel"} if peer("pyspiel") else {})
    bare = per_call(lambda: python("-c", "pass"))
    ours = per_call(lambda: python("-c", "import openfelt"))
    peers = {name: 1 / per_call(lambda line=line: python("-c", line)) for name, line in others.items()}
    note = f"{ours:.3f} s per process, of which Python itself takes {bare:.3f} s"
    yield Result("import openfelt", "per second", 1 / ours, peers, note=note)

    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "OPENFELT_CACHE": folder}
        begun = time.perf_counter()
        python(*TRAIN, folder=folder, environment=environment)
        first = time.perf_counter() - begun
        second = per_call(lambda: python(*TRAIN, folder=folder, environment=environment))
    note = f"{first:.1f} s the first time, when kernels are compiled; {second:.1f} s from then on"
    yield Result("felt train kuhn", "per second", 1 / second, {"the first time": 1 / first}, note=note)


def python(*words: str, folder: str | None = None, environment: dict[str, str] | None = None) -> None:
    subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, check=True)
