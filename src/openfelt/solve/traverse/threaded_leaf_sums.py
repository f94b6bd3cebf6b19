"""Leaves and groups summed by several threads: each takes a part, so the result is the same to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats
from openfelt.games.compile.sequence_form import SequenceForm
from openfelt.solve.traverse.sequence import (
    best_response,
    evaluate_profile,
    follow_policy,
    spread_slots,
    sum_groups,
    sum_meetings,
    sum_slots,
)

FEWEST_LEAVES = 2_000_000  # with members and meetings, from which the work outweighs waking the threads


def threads_help(form: SequenceForm, threads: int) -> bool:
    """Whether more threads than one help in a game of this size."""
    entries = len(form.leaf_weight) + len(form.member_slot) + len(form.meeting_slot)
    return threads > 1 and entries >= FEWEST_LEAVES


def evaluate(
    form: SequenceForm, policy: Floats, response: Floats, best: Floats, expected: Floats, threads: int
) -> None:
    """`evaluate_profile` by as many threads as help."""
    if threads_help(form, threads):
        LeafSummer(form, threads).evaluate_profile(policy, response, best, expected)
    else:
        evaluate_profile(form, policy, response, best, expected)


class LeafSummer:
    """`sum_leaves`, `spread_reach` and `evaluate_profile` over threads."""

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
        parts = [*self._parts[player], (empty, empty + 1)]
        self._share(sum_slots, [(self._form, *part, reach, values) for part in parts])
        if len(self._form.meeting_slot):
            stages = pairwise(self._form.first_group[player].tolist())
            self._share(sum_meetings, [(self._form, *stage, reach, values) for stage in stages])

    def spread_reach(self, player: int, policy: Floats, reach: Floats) -> None:
        """As `traverse.sequence.spread_reach`."""
        spread_slots(self._form, player, policy, reach)
        for parts in self._stages[player]:
            self._share(sum_groups, [(self._form, *part, reach) for part in parts])

    def evaluate_profile(self, policy: Floats, response: Floats, best: Floats, expected: Floats) -> None:
        """As `traverse.sequence.evaluate_profile`."""
        form, reach = self._form, np.empty(self._form.num_reaches)
        for player in range(form.num_players):
            self.spread_reach(player, policy, reach)
        values = [np.empty(form.num_slots + form.num_players) for _ in best]
        for player, own in enumerate(values):
            self.sum_leaves(player, reach, own)
        by_best = [(form, player, own.copy(), response) for player, own in enumerate(values)]
        best[:] = self._share(best_response, by_best)
        expected[:] = self._share(follow_policy, [(form, p, policy, own) for p, own in enumerate(values)])

    def _share(self, work: Callable[..., Any], parts: Iterable[tuple[Any, ...]]) -> list[Any]:
        """The results of some work on each of its parts."""
        return [done.result() for done in [self._pool.submit(work, *part) for part in parts]]


def _even_parts(form: SequenceForm, player: int, parts: int) -> list[tuple[int, int]]:
    """Ranges of the player's slots with about equal numbers of leaves."""
    first, last = form.first_slot[form.first_row[player]], form.first_slot[form.first_row[player + 1]]
    return _cut(form.first_leaf, int(first), int(last), parts)


def _cut(start: NDArray[np.int64], first: int, last: int, parts: int) -> list[tuple[int, int]]:
    """Ranges from `first` up to `last` with about equal numbers of entries, which begin at `start`."""
    entries = np.linspace(start[first], start[last], parts + 1).astype(start.dtype)
    cuts = np.clip(np.searchsorted(start[: last + 1], entries), first, last)
    cuts[0], cuts[-1] = first, last
    return [(int(start), int(end)) for start, end in pairwise(cuts)]
