"""Draws from a discrete distribution, in kernels and in Python.

`point` is a uniform random number from [0, 1), unless a function says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, Ints, kernel, part


@part
def categorical(weights: NDArray[Any], first: int, count: int, point: float) -> int:
    """Which of `count` weights, from weights[first] on, covers `point`, a number from 0 to their sum.

    The last one takes what is left, so rounding cannot lead past the end.
    """
    chosen = 0
    for place in range(first, first + count - 1):
        point -= weights[place]
        chosen += point >= 0
    return chosen


@part
def search_sums(sums: Floats, point: float) -> int:
    """The first of the running sums that exceeds `point`; for distributions too long to be scanned."""
    low, high = 0, len(sums) - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > point:
            high = middle
        else:
            low = middle + 1
    return low


@part
def draw_alias(share: Floats, other: Ints, first: int, count: int, point: float) -> int:
    """Walker's alias method: which of `count` columns, or its other owner; the table begins at `first`."""
    column = point * count
    chosen = int(column)
    if column - chosen >= share[first + chosen]:
        chosen = int(other[first + chosen])
    return chosen


def alias_table(probabilities: Sequence[float] | Floats) -> tuple[Floats, Ints]:
    """The table for `draw_alias`: the part of each column that is its own, and the owner of the rest."""
    table = np.asarray(probabilities, np.float64)
    share, other = np.empty(len(table)), np.empty(len(table), np.int32)
    fill_alias_table(table, 1.0, share, other, np.empty(len(table), np.int32))
    return share, other


@kernel
def fill_alias_table(weights: Floats, total: float, share: Floats, other: Ints, waiting: Ints) -> None:
    """Vose 1991: cut weights that sum to `total` into columns of equal height with at most two owners each.

    `waiting` is scratch, as long as the weights.
    """
    count, small, large = len(weights), 0, len(weights)
    for place in range(count):  # columns that are too low wait at the front, the others at the end
        share[place], other[place] = weights[place] / total * count, place
        if share[place] < 1.0:
            waiting[small] = place
            small += 1
        else:
            large -= 1
            waiting[large] = place
    while small > 0 and large < count:
        low, high = waiting[small - 1], waiting[large]
        other[low] = high
        share[high] -= 1.0 - share[low]
        small -= 1
        if share[high] < 1.0:
            waiting[small] = high
            small += 1
            large += 1
    for at in range(small):
        _close_column(weights, share, other, waiting[at])
    for at in range(large, count):
        _close_column(weights, share, other, waiting[at])


@kernel
def _close_column(weights: Floats, share: Floats, other: Ints, place: int) -> None:
    """What rounding leaves over belongs to the column itself, if it has any weight."""
    if weights[place] > 0.0:
        share[place] = 1.0
        return
    for better in range(len(weights)):
        if weights[better] > 0.0:
            share[place], other[place] = 0.0, better
