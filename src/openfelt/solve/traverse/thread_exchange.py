"""How threads that learn on copies of one table exchange their updates.

Each thread publishes the sum of its own updates since the start in an array that it alone writes, and reads
those of the other threads. No update is lost, and there are no locks. A copy is always the starting table,
plus its own updates, plus those of other threads that it has read so far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from openfelt.core.jit import Floats, kernel


class Exchange(NamedTuple):
    """One thread's side of the exchange; all arrays hold the table row after row."""

    every: int  # episodes between two exchanges; 0: there are no other threads
    thread: int
    start: Floats  # [size] the table when the threads began
    given: Floats  # [threads, size] the updates of each since then; written by that thread alone
    taken: Floats  # [size] the updates of other threads that this copy contains


def no_exchange() -> Exchange:
    """For a thread that works on the table itself."""
    return Exchange(0, 0, np.empty(0), np.empty((0, 0)), np.empty(0))


def exchanges(table: Floats, threads: int, every: int) -> list[Exchange]:
    """The sides of all threads, which start with copies of `table`."""
    start, given = table.flatten(), np.zeros((threads, table.size))
    return [Exchange(every, thread, start, given, np.zeros(table.size)) for thread in range(threads)]


@kernel
def trade(table: Floats, exchange: Exchange) -> None:
    """Publish the updates of this thread's copy of the table, and add those that other threads published."""
    own = table.reshape(table.size)
    start, given, taken, thread = exchange.start, exchange.given, exchange.taken, exchange.thread
    for place in range(len(own)):
        own[place] -= taken[place]
        given[thread, place] = own[place] - start[place]
        taken[place] = 0.0
    for other in range(len(given)):
        if other != thread:
            for place in range(len(own)):
                taken[place] += given[other, place]
    for place in range(len(own)):
        own[place] += taken[place]
