"""How threads that learn on copies of one table tell each other what they have added.

A thread writes what it has added since the start to a list of its own, and reads those of the others, so
nothing is ever lost and there are no locks. Every copy is the start, what its thread has added, and what it
has seen of the others so far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from openfelt.core.jit import Floats, kernel


class Exchange(NamedTuple):
    """One thread's side of it; all arrays hold the table row after row."""

    every: int  # how many episodes to play between two looks at the others; 0: there are no others
    thread: int
    start: Floats  # [size] the table when the threads began
    given: Floats  # [threads, size] what each has added since; written by that thread alone
    taken: Floats  # [size] what this thread has taken over from the others


def no_exchange() -> Exchange:
    """For a thread that works on the table itself."""
    return Exchange(0, 0, np.empty(0), np.empty((0, 0)), np.empty(0))


def exchanges(table: Floats, threads: int, every: int) -> list[Exchange]:
    """The sides of all threads, which begin with copies of `table`."""
    start, given = table.flatten(), np.zeros((threads, table.size))
    return [Exchange(every, thread, start, given, np.zeros(table.size)) for thread in range(threads)]


@kernel
def trade(table: Floats, exchange: Exchange) -> None:
    """Give what was added to this thread's copy of the table, and take over what the others have given."""
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
