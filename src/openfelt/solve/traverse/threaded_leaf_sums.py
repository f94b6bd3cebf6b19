"""Leaves and groups summed by several threads: each takes a part, so the result is the same to the bit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats
from openfelt.games.compile.sequence_form import SequenceForm
from openfelt.solve.traverse.sequence import spread_slots, sum_groups, sum_slots

FEWEST_LEAVES = 2_000_000  # with members of groups, from which the work outweighs waking the threads


def threads_help(form: SequenceForm, threads: int) -> bool:
    """Whether more threads than one help in a game of this size."""
    return threads > 1 and len(form.leaf_weight) + len(form.member_slot) >= FEWEST_LEAVES


class LeafSummer:
    """`sum_leaves` and `spread_reach` over threads."""

    def __init__(self, form: SequenceForm, threads: int) -> None:
        self._form = form
        self._pool = ThreadPoolExecutor(threads)
        self._parts = [_even_parts(form, player, threads) for player in range(form.num_players)]
        self._stages = [
            [_cut(form.first_member, int(first), int(last), threads) for first, last in pairwise(stages)]
            for stages in form.first_group
        ]

    def sum_leaves(self, player: int, reach: Floats, values: Floats) -> None:
        """As `traverse.sequence.sum_leaves`."""
        empty = self._form.num_slots + player
        work = [
            self._pool.submit(sum_slots, self._form, first, last, reach, values)
            for first, last in [*self._parts[player], (empty, empty + 1)]
        ]
        for part in work:
            part.result()

    def spread_reach(self, player: int, policy: Floats, reach: Floats) -> None:
        """As `traverse.sequence.spread_reach`."""
        spread_slots(self._form, player, policy, reach)
        for parts in self._stages[player]:
            work = [self._pool.submit(sum_groups, self._form, first, last, reach) for first, last in parts]
            for part in work:
                part.result()


def _even_parts(form: SequenceForm, player: int, parts: int) -> list[tuple[int, int]]:
    """Ranges of the player's slots with about equal numbers of leaves."""
    first, last = form.first_slot[form.first_row[player]], form.first_slot[form.first_row[player + 1]]
    return _cut(form.first_leaf, int(first), int(last), parts)


def _cut(start: NDArray[np.int64], first: int, last: int, parts: int) -> list[tuple[int, int]]:
    """Ranges from `first` up to `last` with about equal numbers of entries, which begin at `start`."""
    entries = np.linspace(start[first], start[last], parts + 1)
    cuts = np.clip(np.searchsorted(start[: last + 1], entries), first, last)
    cuts[0], cuts[-1] = first, last
    return [(int(start), int(end)) for start, end in pairwise(cuts)]
