"""The tree of a search: rows that were met, in arrays of fixed size that are made once.

A row is found by its first slot, through an open-addressed table: so the tree may be a small part of one that
is far too large to be stored, and nothing is allocated while a search runs. When it is full it grows no more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from openfelt.base.jit import Floats, Longs, part

SPREAD = 0x9E3779B97F4A7C15 >> 1  # an odd number, so that neighbours are spread over the table
FULL = 0.7  # the share of places that may be taken


class Memory(NamedTuple):
    """For one searcher."""

    key: Longs  # [places] the first slot of a row, plus 1; 0 where a place is free
    counts: Floats  # [places * ways, 2] visits and summed payoffs of each action
    used: Longs  # [1] how many places are taken


def new_memory(rows: int, ways: int) -> Memory:
    """Room for so many rows of at most so many actions."""
    places = 1 << max(4, int(np.ceil(np.log2(rows / FULL))))
    return Memory(np.zeros(places, np.int64), np.zeros((places * ways, 2)), np.zeros(1, np.int64))


def forget(memory: Memory) -> None:
    """Make it empty."""
    memory.key[:] = 0
    memory.used[0] = 0


@part
def find(memory: Memory, slot: int) -> int:
    """The place of a row; where it is not there, -1 minus the place where it could be."""
    last = len(memory.key) - 1
    place = (slot * SPREAD >> 20) & last
    while memory.key[place] != 0:
        if memory.key[place] == slot + 1:
            return place
        place = (place + 1) & last
    return -1 - place


@part
def take(memory: Memory, slot: int, place: int) -> bool:
    """Put a row at a free place; False if there is no room for more."""
    if memory.used[0] >= int(len(memory.key) * FULL):
        return False
    memory.key[place] = slot + 1
    memory.used[0] += 1
    ways = len(memory.counts) // len(memory.key)
    for entry in range(place * ways, (place + 1) * ways):
        memory.counts[entry, 0] = memory.counts[entry, 1] = 0.0
    return True
