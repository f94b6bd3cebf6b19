"""Training by CPU time, which depends less on the load of the machine than time by the clock."""

from __future__ import annotations

import time

from openfelt.solve.solver import Solver


def train_for(solver: Solver, seconds: float) -> float:
    """Train for that many seconds of CPU time of this thread; returns those it took, always a little more.

    The solver must run on one thread of the CPU, with kernels that are compiled already.
    """
    begun = time.thread_time()
    while (left := begun + seconds - time.thread_time()) > 0:
        solver.run(seconds=left, measure=False)  # seconds by the clock, of which CPU time is a part
    return time.thread_time() - begun
