"""Leaves and groups summed by several threads: each takes a part, so the result is the same to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
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

FEWEST_ENTRIES = 2_000_000  # with members and meetings, from which the work outweighs waking the threads
PARTS = 4  # per thread; the threads that finish early take those that are left


def threads_help(form: SequenceForm, threads: int) -> bool:
    """Whether more threads than one help in a game of this size."""
    return threads > 1 and _is_large(form)


def evaluate(
    form: SequenceForm, policy: Floats, response: Floats, best: Floats, expected: Floats, threads: int
) -> None:
    """`evaluate_profile` by as many threads as help."""
    if _is_large(form):
        LeafSummer(form, threads).evaluate_profile(policy, response, best, expected)
    else:
        evaluate_profile(form, policy, response, best, expected)


class LeafSummer:
    """`sum_leaves`, `spread_reach` and `evaluate_profile` over threads."""

    def __init__(self, form: SequenceForm, threads: int) -> None:
        self._form = form
        self._pool = ThreadPoolExecutor(threads)
        parts = PARTS * threads if threads > 1 else 1
        self._parts = [_even_parts(form, player, parts) for player in range(form.num_players)]
        self._stages = [
            [_cut(form.first_member, int(first), int(last), parts) for first, last in pairwise(stages)]
            for stages in form.first_group
        ]

    def sum_leaves(self, player: int, reach: Floats, values: Floats) -> None:
        """As `traverse.sequence.sum_leaves`."""
        self._sum_leaves([player], reach, values)

    def spread_reach(self, player: int, policy: Floats, reach: Floats) -> None:
        """As `traverse.sequence.spread_reach`."""
        self._spread_reach([player], policy, reach)

    def evaluate_profile(self, policy: Floats, response: Floats, best: Floats, expected: Floats) -> None:
        """As `traverse.sequence.evaluate_profile`."""
        form, players = self._form, range(self._form.num_players)
        reach = np.empty(form.num_reaches)
        self._spread_reach(players, policy, reach)
        values = np.empty(form.num_slots + form.num_players)  # no slot belongs to two players
        self._sum_leaves(players, reach, values)
        del reach  # a gigabyte in the largest games
        by_best = np.empty_like(values)
        pass_up = partial(_pass_up, form, policy, response, values, by_best)
        best[:], expected[:] = zip(*self._share(pass_up, [(player,) for player in players]), strict=True)

    def _sum_leaves(self, players: Iterable[int], reach: Floats, values: Floats) -> None:
        form = self._form
        empty = [(form.num_slots + player, form.num_slots + player + 1) for player in players]
        parts = [part for player in players for part in self._parts[player]]
        self._share(sum_slots, [(form, *part, reach, values) for part in (*parts, *empty)])
        if len(form.meeting_slot):
            stages = [stage for player in players for stage in pairwise(form.first_group[player].tolist())]
            self._share(sum_meetings, [(form, *stage, reach, values) for stage in stages])

    def _spread_reach(self, players: Iterable[int], policy: Floats, reach: Floats) -> None:
        form = self._form
        self._share(spread_slots, [(form, player, policy, reach) for player in players])
        for stages in zip(*(self._stages[player] for player in players), strict=True):
            parts = [part for stage in stages for part in stage]
            self._share(sum_groups, [(form, *part, reach) for part in parts])

    def _share(self, work: Callable[..., Any], parts: Iterable[tuple[Any, ...]]) -> list[Any]:
        """The results of some work on each of its parts."""
        return [done.result() for done in [self._pool.submit(work, *part) for part in parts]]


def _pass_up(
    form: SequenceForm, policy: Floats, response: Floats, values: Floats, by_best: Floats, player: int
) -> tuple[float, float]:
    """What a best response and the policy are worth, from sums of leaves, which are copied to `by_best`."""
    first, last = form.first_slot[form.first_row[[player, player + 1]]]
    empty = form.num_slots + player
    by_best[first:last], by_best[empty] = values[first:last], values[empty]
    return best_response(form, player, by_best, response), follow_policy(form, player, policy, values)


def _is_large(form: SequenceForm) -> bool:
    return len(form.leaf_weight) + len(form.member_slot) + len(form.meeting_slot) >= FEWEST_ENTRIES


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
