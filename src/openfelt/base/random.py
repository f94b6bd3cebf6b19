"""The generator that kernels draw from: SplitMix64 (Steele, Lea & Flood 2014), one 64-bit word of state.

The state is an argument and lives in an array, so that it can be saved with the tables, and the same source
works on every kind of processor. Each stream starts at a place of its own in the period of 2^64, drawn by
numpy's SeedSequence; that two streams of 10^12 draws overlap has odds of one to ten million.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openfelt.base.jit import part

Stream = NDArray[np.uint64]  # [APART], the state of one stream: the first word; the others keep
APART = 8  # the streams of different threads in different cache lines

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11))


def streams(seed: int, count: int) -> NDArray[np.uint64]:
    """The states [count, APART] of independent streams; the first ones do not depend on the count."""
    states = np.zeros((count, APART), np.uint64)
    for state, child in zip(states, np.random.SeedSequence(seed).spawn(count), strict=True):
        state[0] = child.generate_state(1, np.uint64)[0]
    return states


@part
def uniform(stream: Stream) -> float:
    """Draw from [0, 1), a multiple of 2^-53."""
    stream[0] += GOLDEN
    bits = stream[0]
    bits = (bits ^ (bits >> SHIFTS[0])) * MIX_1
    bits = (bits ^ (bits >> SHIFTS[1])) * MIX_2
    bits ^= bits >> SHIFTS[2]
    return float(bits >> SHIFTS[3]) * 2.0**-53
