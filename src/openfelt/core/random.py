"""The random number generator of kernels: SplitMix64 (Steele, Lea & Flood 2014), one 64-bit word of state.

Its states are those of a counter, so a stream can start at any place of the period of 2^64. Every iteration
of a solver has its own place, by its number: what it draws depends on the seed and that number, not on
earlier draws, on the thread or on the device. So a checkpoint stores no generator state.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import part

Stream = NDArray[np.uint64]  # [1] or more; the first word is the state

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11))
ITERATION_DRAWS = 1 << 20  # reserved for an iteration, so 2^44 of them fit


def starts(seed: int, count: int) -> NDArray[np.uint64]:
    """Starting places [count] in the period; the first ones do not depend on `count`."""
    children = np.random.SeedSequence(seed).spawn(count)
    return np.array([child.generate_state(1, np.uint64)[0] for child in children], np.uint64)


@part
def go_to(stream: Stream, start: np.uint64, draws: int) -> None:
    """Move to draw number `draws`, counted from the start."""
    stream[0] = np.uint64(start) + np.uint64(draws) * GOLDEN


@part
def uniform(stream: Stream) -> float:
    """Draw from [0, 1), a multiple of 2^-53."""
    stream[0] += GOLDEN
    bits = stream[0]
    bits = (bits ^ (bits >> SHIFTS[0])) * MIX_1
    bits = (bits ^ (bits >> SHIFTS[1])) * MIX_2
    bits ^= bits >> SHIFTS[2]
    return float(bits >> SHIFTS[3]) * 2.0**-53


class Numbers:
    """The same numbers outside kernels, from a given place in the period."""

    __slots__ = ("_state",)

    def __init__(self, start: int, draws: int = 0) -> None:
        self._state = int(start) + draws * _GOLDEN & _WORD

    def uniform(self) -> float:
        """Draw from [0, 1), as `uniform` would at that place."""
        return (self._next() >> 11) * 2.0**-53

    def _next(self) -> int:
        self._state = self._state + _GOLDEN & _WORD
        bits = self._state
        bits = (bits ^ bits >> 30) * _MIX_1 & _WORD
        bits = (bits ^ bits >> 27) * _MIX_2 & _WORD
        return bits ^ bits >> 31


class Dice(Numbers):
    """The random numbers of a bot for one decision, which has its own place in the period.

    The first number is that of the place. The next places belong to the next decisions, perhaps of opponents;
    so further numbers come from elsewhere, and reveal nothing of what opponents will draw.
    """

    __slots__ = ()

    def uniform(self) -> float:
        """Draw from [0, 1)."""
        bits = self._next()
        self._state = bits ^ _ELSEWHERE
        return (bits >> 11) * 2.0**-53

    def generator(self) -> np.random.Generator:
        """For a bot that needs many numbers, or other distributions; depends on the place alone."""
        return np.random.default_rng(self._state)


_WORD = (1 << 64) - 1
_GOLDEN, _MIX_1, _MIX_2 = int(GOLDEN), int(MIX_1), int(MIX_2)
_ELSEWHERE = 0x2545F4914F6CDD1D
