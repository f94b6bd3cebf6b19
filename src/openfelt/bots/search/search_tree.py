"""The search tree: visited infosets in one array of fixed size, allocated once.

Infosets are found by their first slot in an open-addressed hash table, so the tree can be a small part of a
game that is too large to store, and a search allocates nothing. When the table is full, no infosets are
added. With up to three actions, an infoset fits in one cache line.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from openfelt.core.jit import Floats, Longs, part
from openfelt.core.memory import CACHE_LINE

SPREAD = 0x9E3779B97F4A7C15 >> 1  # an odd number that spreads neighbours over the table
FULL = 0.7  # largest load
LINE = 4  # entries of 16 bytes in 64
SLOT, AGE = 0, 1  # columns of a place's first entry
USED, NOW = 0, 1  # places of Memory.state


class Memory(NamedTuple):
    """The table of one searcher."""

    # [places * entries, 2] for each place first the infoset's slot and its age, then visits and summed
    # payoffs of each action
    counts: Floats
    # [2] number of used places, and the current age; entries of earlier ages are invalid
    state: Longs
    places: int  # a power of two
    entries: int  # of a place


def new_memory(rows: int, num_actions: int) -> Memory:
    """A table for `rows` infosets of at most `num_actions` actions."""
    places = 1 << max(4, int(np.ceil(np.log2(rows / FULL))))
    entries = -(-(1 + num_actions) // LINE) * LINE
    # Written now, so that no search waits for the system to map the memory.
    whole = np.full(places * entries * 2 + CACHE_LINE // 8, 0.0)
    first = -whole.ctypes.data % CACHE_LINE // 8
    counts = whole[first : first + places * entries * 2].reshape(-1, 2)
    return Memory(counts, np.array([0, 1]), places, entries)


def forget(memory: Memory) -> None:
    """Clear the table."""
    memory.state[USED] = 0
    memory.state[NOW] += 1


@part
def find(memory: Memory, slot: int) -> int:
    """The entry before an infoset's first action; if it is missing, -1 minus the entry where it would be."""
    place = (slot * SPREAD >> 20) & (memory.places - 1)
    at, now = place * memory.entries, memory.state[NOW]
    while memory.counts[at, AGE] == now:
        if memory.counts[at, SLOT] == slot:
            return at
        place = (place + 1) & (memory.places - 1)
        at = place * memory.entries
    return -1 - at


@part
def take(memory: Memory, slot: int, at: int) -> bool:
    """Put an infoset at a free place; False if the table is full."""
    if memory.state[USED] >= int(memory.places * FULL):
        return False
    memory.state[USED] += 1
    memory.counts[at, SLOT], memory.counts[at, AGE] = slot, memory.state[NOW]
    for entry in range(at + 1, at + memory.entries):
        memory.counts[entry, 0] = memory.counts[entry, 1] = 0.0
    return True
