"""The sequence form of a phantom game from its tries: see `phantom_tree.py`.

There may be a billion meetings, so arrays are used again or freed as soon as possible.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Ints, Longs, kernel
from openfelt.games.compile.phantom_tries import (
    EDGE,
    FAILED,
    GROUPS,
    LONGER,
    MEETINGS,
    MOST_CELLS,
    MOST_TURNS,
    SIBLING,
    Meetings,
    Trie,
    cell_at,
    new_walk,
    visit,
)
from openfelt.games.compile.sequence_form import SequenceForm

STAGES = 2 * MOST_CELLS  # a first mark on any of the cells, or a first attempt there that failed


class Numbers(NamedTuple):
    """One player's part of the final infosets and slots."""

    slot: Ints  # [slots of the trie + 1] their numbers; last, that of the empty sequence
    parent_slot: Longs  # [rows]
    last_slot: Longs  # [rows] the end of a row's slots
    slot_label: NDArray[np.int16]  # [slots]
    row_label: NDArray[np.int16]  # [rows]


class Sizes(NamedTuple):
    """How much there is of groups with two sequences or more that can meet."""

    groups: int
    members: int
    meetings: int


class Lists(NamedTuple):
    """The groups of both players in the sequence form."""

    first_member: Ints  # [groups + 1]
    member_slot: Ints
    first_meeting: Ints  # [groups + 1]; until they are listed, the meetings of group g begin at place g + 1
    payoff: NDArray[np.int8]  # [groups]


def phantom_form(
    wins: NDArray[np.bool_], abrupt: bool, tries: list[Trie], numbers: list[Numbers]
) -> SequenceForm:
    """The sequence form; takes the tries apart."""
    sequences = int(numbers[1].slot[-1]) + 1
    first_leaf = np.zeros(sequences + 1, np.int64)
    sizes = []
    for player, new in enumerate(numbers):
        sizes.append(Sizes(*_count(tries[player], new.slot, first_leaf)))
    np.cumsum(first_leaf, out=first_leaf)
    lists = _new_lists(*(sum(size) for size in zip(*sizes, strict=True)))
    first_group = np.zeros((2, STAGES + 1), np.int64)
    before = Sizes(0, 0, 0)
    for player, new in enumerate(numbers):
        first_group[player] = before.groups
        _place(tries[player], new.slot, sequences, before, first_group[player], lists)
        tries[player] = _groups_only(tries[player])  # frees the rest
        before = sizes[0]
    leaf_weight, leaf_others = np.empty(first_leaf[-1], np.int8), np.empty((first_leaf[-1], 1), np.int32)
    meeting_slot = np.empty(sum(size.meetings for size in sizes), np.int32)
    end_of_leaves, end = first_leaf[:-1].astype(np.int32), lists.first_meeting[1:]
    listing = Meetings(sequences, end_of_leaves, leaf_weight, leaf_others[:, 0], end, meeting_slot)
    visit(wins, abrupt, new_walk(), (tries[0], tries[1]), listing)
    return SequenceForm(
        first_row=np.cumsum([0] + [len(new.parent_slot) for new in numbers]),
        first_slot=np.concatenate([[0], *(new.last_slot for new in numbers)]),
        parent_slot=np.concatenate([new.parent_slot for new in numbers]),
        first_leaf=first_leaf,
        leaf_weight=leaf_weight,
        leaf_others=leaf_others,
        first_group=first_group,
        first_member=lists.first_member,
        member_slot=lists.member_slot,
        member_weight=np.empty(0),
        first_meeting=lists.first_meeting,
        meeting_slot=meeting_slot,
        group_payoff=lists.payoff,
    )


@kernel
def _count(trie: Trie, slot: Ints, leaves: Longs) -> tuple[int, int, int]:
    """The `Sizes`; leaves[s + 1] becomes the number of leaves of sequence s."""
    groups, members, meetings = 0, 0, 0
    for group in range(trie.counts[GROUPS]):
        met = abs(trie.group[group, MEETINGS])
        first, last = trie.first_member[group], trie.first_member[group + 1]
        if met and last - first == 1:
            leaves[slot[trie.member[first]] + 1] += met
        elif met:
            groups += 1
            members += last - first
            meetings += met
    return groups, members, meetings


def _groups_only(trie: Trie) -> Trie:
    """What `visit` needs when it lists what meets."""
    nothing = np.empty(0, np.int32)
    return Trie(trie.counts, nothing[:, None], nothing[:, None], trie.group, nothing, nothing)


def _new_lists(groups: int, members: int, meetings: int) -> Lists:
    return Lists(
        np.zeros(groups + 1, np.int32),
        np.empty(members, np.int32),
        np.zeros(groups + 1, np.int32),
        np.empty(groups, np.int8),
    )


@kernel
def _place(trie: Trie, slot: Ints, sequences: int, before: Sizes, first_group: Longs, lists: Lists) -> None:
    """Number a player's groups by stage, those with the same first turns together, and copy their members.

    `first_group` is the player's; `before`: what the other player has taken. The numbers replace the
    column MEETINGS.
    """
    number, meeting = before.groups, before.meetings
    path = np.empty(MOST_TURNS + 1, np.int32)
    trie.group[0, MEETINGS] = slot[-1]
    for stage in range(STAGES):
        first = trie.group[0, LONGER]
        while first >= 0:
            path[0], depth = first, 0 if _stage_of(trie.group[first, EDGE]) == stage else -1
            while depth >= 0:
                group = path[depth]
                met = trie.group[group, MEETINGS]
                start, members = trie.first_member[group], trie.first_member[group + 1]
                if met and members - start == 1:
                    trie.group[group, MEETINGS] = slot[trie.member[start]]
                elif met:
                    trie.group[group, MEETINGS] = sequences + number
                    lists.payoff[number] = 1 if met > 0 else -1
                    at = lists.first_member[number]
                    for place in range(start, members):
                        lists.member_slot[at + place - start] = slot[trie.member[place]]
                    lists.first_member[number + 1] = at + members - start
                    lists.first_meeting[number + 1] = meeting
                    meeting += abs(met)
                    number += 1
                depth = _next_group(trie, path, depth)
            first = trie.group[first, SIBLING]
        first_group[stage + 1] = number


@kernel
def _stage_of(edge: int) -> int:
    """The stage of the groups whose first turn this is."""
    if edge & 15 != FAILED:
        return edge & 15
    return MOST_CELLS + cell_at(~(edge >> 4), 0)


@kernel
def _next_group(trie: Trie, path: Ints, depth: int) -> int:
    """Go on to the next group, depth first; returns its depth, -1 after the last that begins like path[0]."""
    longer = trie.group[path[depth], LONGER]
    if longer >= 0:
        path[depth + 1] = longer
        return depth + 1
    while depth > 0:
        path[depth] = trie.group[path[depth], SIBLING]
        if path[depth] >= 0:
            return depth
        depth -= 1
    return -1
