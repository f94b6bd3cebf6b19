"""Passes over the sequence form: reach downwards, leaves summed up, values upwards.

What is done at one infoset is a function of its own (`..._row`), which the passes of a GPU call too
(`sequence_gpu.py`).

A *table* has one number per slot; arrays called `reach` and `values` have `num_players` more entries, for
the empty sequences, and `reach` has one more for each group. A player's value of the game is
`values[num_slots + player]` after an upward pass.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, kernel, part
from openfelt.core.prefetch import fetch
from openfelt.core.rounding import product
from openfelt.games.compile.sequence_form import SequenceForm

AHEAD = 64  # in a large list, the reach to which an entry refers is prefetched this many entries ahead
LARGE_LIST = 1_000_000  # entries from which that pays, because these reaches do not fit the cache


class Rows(Protocol):
    """Infosets of a sequence form, on either device."""

    @property
    def first_slot(self) -> NDArray[Any]:
        """[rows + 1]"""

    @property
    def parent_slot(self) -> NDArray[Any]:
        """[rows]"""


@kernel
def spread_reach(form: SequenceForm, player: int, policy: Floats, reach: Floats) -> None:
    """reach[slot]: the probability that `player` takes all of its actions of the sequence; sums of groups."""
    spread_slots(form, player, policy, reach)
    for stage in range(form.first_group.shape[1] - 1):
        sum_groups(form, form.first_group[player, stage], form.first_group[player, stage + 1], reach)


@kernel
def spread_slots(form: SequenceForm, player: int, policy: Floats, reach: Floats) -> None:
    """`spread_reach` without the groups."""
    reach[form.first_slot[-1] + player] = 1.0
    for row in range(form.first_row[player], form.first_row[player + 1]):
        spread_row(form, row, policy, reach)


@part
def spread_row(form: Rows, row: int, policy: Floats, reach: Floats) -> None:
    """`spread_reach` at one infoset."""
    above = reach[form.parent_slot[row]]
    for slot in range(form.first_slot[row], form.first_slot[row + 1]):
        reach[slot] = above * policy[slot]


@kernel
def sum_groups(form: SequenceForm, first: int, last: int, reach: Floats) -> None:
    """The reach of the groups from `first` up to `last`, all of one stage, so that threads can share them."""
    base = form.first_slot[-1] + len(form.first_row) - 1
    weighted = len(form.member_weight) > 0
    for group in range(first, last):
        total = 0.0
        for member in range(form.first_member[group], form.first_member[group + 1]):
            share = reach[form.member_slot[member]]
            total += form.member_weight[member] * share if weighted else share
        reach[base + group] = total


@kernel
def sum_leaves(form: SequenceForm, player: int, reach: Floats, values: Floats) -> None:
    """values[slot]: payoff of the leaves just after the sequence, times the reach of chance and opponents."""
    first, last = form.first_slot[form.first_row[player]], form.first_slot[form.first_row[player + 1]]
    sum_slots(form, first, last, reach, values)
    empty = form.first_slot[-1] + player
    sum_slots(form, empty, empty + 1, reach, values)
    if len(form.meeting_slot):
        sum_meetings(form, form.first_group[player, 0], form.first_group[player, -1], reach, values)


@kernel
def sum_meetings(form: SequenceForm, first: int, last: int, reach: Floats, values: Floats) -> None:
    """Add what the groups from `first` up to `last` meet to the values of their members."""
    prefetched = _end_of_prefetching(len(form.meeting_slot), form.first_meeting[last])
    for group in range(first, last):
        total = 0.0
        for meeting in range(form.first_meeting[group], form.first_meeting[group + 1]):
            if meeting < prefetched:
                fetch(reach, (form.meeting_slot[meeting + AHEAD],))
            total += reach[form.meeting_slot[meeting]]
        total *= form.group_payoff[group]
        for member in range(form.first_member[group], form.first_member[group + 1]):
            values[form.member_slot[member]] += total


@kernel
def sum_slots(form: SequenceForm, first: int, last: int, reach: Floats, values: Floats) -> None:
    """`sum_leaves` for the slots from `first` up to `last`, so that threads can share the work."""
    others = form.leaf_others.shape[1]
    leaf = form.first_leaf[first]
    prefetched = _end_of_prefetching(len(form.leaf_weight), form.first_leaf[last])
    for slot in range(first, last):
        end = form.first_leaf[slot + 1]
        total = 0.0
        if others == 1:  # the common case, without the inner loop: twice as fast
            while leaf < end:
                if leaf < prefetched:
                    fetch(reach, (form.leaf_others[leaf + AHEAD, 0],))
                total += form.leaf_weight[leaf] * reach[form.leaf_others[leaf, 0]]
                leaf += 1
        else:
            while leaf < end:
                weight = form.leaf_weight[leaf]
                for other in range(others):
                    weight *= reach[form.leaf_others[leaf, other]]
                total += weight
                leaf += 1
        values[slot] = total


@part
def _end_of_prefetching(size: int, last: int) -> int:
    """The entry up to which the one `AHEAD` of it is prefetched, in a part of a list that ends at `last`."""
    return last - AHEAD if size >= LARGE_LIST else 0


@kernel
def follow_policy(form: SequenceForm, player: int, policy: Floats, values: Floats) -> float:
    """Pass values upwards where `player` follows its policy; returns its value of the game."""
    for row in range(form.first_row[player + 1] - 1, form.first_row[player] - 1, -1):
        values[form.parent_slot[row]] += follow_row(form, row, policy, values)
    return float(values[form.first_slot[-1] + player])


@part
def follow_row(form: Rows, row: int, policy: Floats, values: Floats) -> float:
    """The value of an infoset where its player follows a policy."""
    value = 0.0
    for slot in range(form.first_slot[row], form.first_slot[row + 1]):
        value += product(policy[slot], values[slot])
    return value


@kernel
def best_response(form: SequenceForm, player: int, values: Floats, response: Floats) -> float:
    """Pass values upwards where `player` takes the best action; returns its value of the game.

    `response` becomes the pure policy that reaches it (the first of equal actions).
    """
    for row in range(form.first_row[player + 1] - 1, form.first_row[player] - 1, -1):
        values[form.parent_slot[row]] += respond_row(form, row, values, response)
    return float(values[form.first_slot[-1] + player])


@part
def respond_row(form: Rows, row: int, values: Floats, response: Floats) -> float:
    """The value of an infoset where its player takes the best action."""
    best = form.first_slot[row]
    response[best] = 0.0
    for slot in range(form.first_slot[row] + 1, form.first_slot[row + 1]):
        response[slot] = 0.0
        if values[slot] > values[best]:
            best = slot
    response[best] = 1.0
    return values[best]  # type: ignore[no-any-return]


@kernel
def evaluate_profile(
    form: SequenceForm, policy: Floats, response: Floats, best: Floats, expected: Floats
) -> None:
    """For each player the value of a best response to its opponents, and of its own policy.

    Fills best[player], expected[player] and the table `response` of pure best responses.
    """
    size = form.first_slot[-1] + len(form.first_row) - 1
    reach, values = np.empty(size + len(form.first_member) - 1), np.empty(size)
    for player in range(len(best)):
        spread_reach(form, player, policy, reach)
    for player in range(len(best)):
        sum_leaves(form, player, reach, values)
        best[player] = best_response(form, player, values.copy(), response)
        expected[player] = follow_policy(form, player, policy, values)
