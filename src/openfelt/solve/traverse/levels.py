"""The infosets of a sequence form by level, and the infosets after each sequence: what a GPU needs beside it.

An infoset's *level* is the number of its player's own actions before it. Infosets of one player and level do
not depend on each other, so threads can take one each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Longs, kernel
from openfelt.games.compile.sequence_form import SequenceForm


class Levels(NamedTuple):
    """Rows by level and by parent."""

    rows: Longs  # [rows] by player, then by level
    cuts: tuple[Longs, ...]  # by player: [levels + 1] where its levels begin in `rows`
    first_child: Longs  # [slots + players + 1] the rows after a sequence are consecutive in `child`
    child: Longs  # [rows] the last row first: the order in which the CPU adds their values


def levels_of(form: SequenceForm) -> Levels:
    """The levels of a sequence form."""
    level, count = np.empty(len(form.parent_slot), np.int16), form.num_slots + form.num_players
    _find_levels(form.first_slot, form.parent_slot, np.zeros(count, np.int16), level)
    rows, cuts = [], []
    for player in range(form.num_players):
        first, last = form.first_row[player : player + 2]
        own = level[first:last]
        rows.append(first + np.argsort(own, kind="stable"))
        cuts.append(first + np.concatenate([[0], np.cumsum(np.bincount(own))]))
    first_child = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(form.parent_slot, minlength=count), out=first_child[1:])
    child = np.empty(len(level), np.int64)
    _place_children(form.parent_slot, first_child[:-1].copy(), child)
    return Levels(np.concatenate(rows), tuple(cuts), first_child, child)


@kernel
def _find_levels(
    first_slot: Longs, parent_slot: Longs, after: NDArray[np.int16], level: NDArray[np.int16]
) -> None:
    """`after` is the level of the rows after each sequence."""
    for row in range(len(level)):
        level[row] = after[parent_slot[row]]
        after[first_slot[row] : first_slot[row + 1]] = level[row] + 1


@kernel
def _place_children(parent_slot: Longs, free: Longs, child: Longs) -> None:
    for row in range(len(child) - 1, -1, -1):
        child[free[parent_slot[row]]] = row
        free[parent_slot[row]] += 1
