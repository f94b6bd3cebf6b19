"""The infosets of both players of a phantom game, and the groups of their sequences: see `phantom_tree.py`.

Both are tries, which grow while `visit` goes through all lists of turns, depth first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Ints, Longs, kernel

FAILED = 15  # in place of a cell: the turn ended with a failed attempt
MOST_TURNS = 19  # no list is longer: each player tries a cell at most once
ROWS, SLOTS, GROUPS, MEMBERS = range(4)
TRIED, FIRST_SLOT, PARENT, HAS_FAILED = range(4)  # columns of `row`
ROW, AFTER_MARK, AFTER_FAILURE = range(3)  # columns of `slot`
EDGE, LONGER, SIBLING, MEETINGS = range(4)  # columns of `group`
MOST_CELLS = 9
ROOM = 1 << 20  # rows, slots, groups or members: more than one new group can take


class Trie(NamedTuple):
    """One player's infosets (rows) and groups of sequences, with room for more. Slots count from 0."""

    counts: Longs  # [4] rows, slots, groups and members so far
    row: Ints  # [rows, 4] cells tried, as bits; first slot; slot before it or -1; whether that attempt failed
    slot: Ints  # [slots, 3] its row; the rows after a mark and after a failed attempt, or -1
    group: Ints  # [groups, 4] see below
    first_member: Ints  # [groups + 1]
    member: Ints  # [members] slots; -1: the empty sequence

    # The columns of `group`: the last turn (a cell or FAILED, and the opponent's marks if they matter);
    # the first group with one turn more; the next group with the same turns before its last; how many
    # groups of the opponent it meets at the end of the game, negative if the player has lost there.


class Walk(NamedTuple):
    """A list of turns, and how far its continuations have been visited."""

    depth: Longs  # [1]
    left: Ints  # [turns] continuations to visit, as bits: cells, then a failed attempt; -1: all
    turn: Ints  # [turns] the player to move
    marks: Ints  # [turns, 2] the cells of each player, as bits
    failures: Ints  # [turns, 2] each player's turns that ended with a failed attempt
    group: Ints  # [turns, 2] each player's group
    longer: Ints  # [turns, cells + 1] the mover's groups with one turn more, as far as there are any; or -1


class Meetings(NamedTuple):
    """Where `visit` lists what meets, by number in the sequence form; nowhere while it counts.

    By then the column MEETINGS has these numbers: that of the sequence for a group that has only one.
    """

    sequences: int  # numbers from here on are those of groups
    end_of_leaves: Ints  # [sequences] the place of the next leaf of each
    leaf_weight: NDArray[np.int8]  # [leaves]
    leaf_others: Ints  # [leaves]
    end: Ints  # [groups of the form] the place of the next meeting of each
    slot: Ints  # [meetings]


def grow_tries(wins: NDArray[np.bool_], abrupt: bool) -> list[Trie]:
    """Both players' tries; wins[player, cells] says which cells, as bits, win."""
    tries = [_new_trie(), _new_trie()]
    nowhere, walk = np.empty(0, np.int32), new_walk()
    counting = Meetings(0, nowhere, np.empty(0, np.int8), nowhere, nowhere, nowhere)
    while (full := visit(wins, abrupt, walk, (tries[0], tries[1]), counting)) >= 0:
        tries[full] = _with_more_room(tries[full])
    return tries


def new_walk() -> Walk:
    """The empty list of turns."""
    left, turn = np.zeros((2, MOST_TURNS), np.int32)
    left[0] = -1
    marks, failures, group = np.zeros((3, MOST_TURNS, 2), np.int32)
    longer = np.zeros((MOST_TURNS, MOST_CELLS + 1), np.int32)
    return Walk(np.zeros(1, np.int64), left, turn, marks, failures, group, longer)


def _new_trie() -> Trie:
    """A trie with one group, that of the empty sequence."""
    row, slot, group = (np.empty((ROOM, columns), np.int32) for columns in (4, 3, 4))
    first_member, member = np.empty((2, ROOM), np.int32)
    group[0] = 0, -1, -1, 0
    first_member[:2], member[0] = (0, 1), -1
    return Trie(np.array([0, 0, 1, 1]), row, slot, group, first_member, member)


def _with_more_room(trie: Trie) -> Trie:
    """A copy with longer arrays where little room is left; they take no memory before they are filled."""
    rows, slots, groups, members = trie.counts.tolist()
    used = rows, slots, groups, groups + 1, members
    return Trie(trie.counts, *map(_longer, trie[1:], used))


def _longer(array: NDArray[Any], used: int) -> NDArray[Any]:
    if len(array) - used >= ROOM:
        return array
    longer = np.empty((len(array) + len(array) // 4 + ROOM, *array.shape[1:]), array.dtype)
    longer[:used] = array[:used]
    return longer


@kernel
def visit(
    wins: NDArray[np.bool_], abrupt: bool, walk: Walk, tries: tuple[Trie, Trie], meetings: Meetings
) -> int:
    """Visit all lists of turns from `walk` on. Counts or, if there is room for them, lists what meets.

    Returns the player whose trie has no more room, or -1 at the end.
    """
    cells = 0
    while 1 << cells < wins.shape[1]:
        cells += 1
    depth = walk.depth[0]
    full = (1 << cells) - 1
    if walk.left[0] < 0:  # it begins
        walk.left[0] = full
        _find_longer(tries[0], 0, abrupt, 0, cells, walk.longer[0])
    while depth >= 0:
        left, mover = walk.left[depth], walk.turn[depth]
        if not left:
            depth -= 1
            continue
        cell = cell_at(~left, 0)
        own, opposing = walk.marks[depth, mover], walk.marks[depth, 1 - mover]
        group = walk.longer[depth, cell]
        if group < 0:
            if not _has_room(tries[mover]):
                walk.depth[0] = depth
                return int(mover)
            edge = cell | opposing << 4
            if abrupt:
                edge = cell if cell < cells else FAILED | opposing << 4
            group = _new_group(tries[mover], walk.group[depth, mover], edge, abrupt, opposing, cells)
            walk.longer[depth, cell] = group
        walk.left[depth] = left & (left - 1)
        marks = own | 1 << cell if cell < cells else own
        if cell < cells and wins[mover, marks]:
            _meet(tries, meetings, mover, group, walk.group[depth, 1 - mover])
        elif marks | opposing != full:
            depth += 1
            walk.turn[depth] = 1 - mover
            walk.marks[depth, mover], walk.marks[depth, 1 - mover] = marks, opposing
            for player in range(2):
                walk.failures[depth, player] = walk.failures[depth - 1, player]
                walk.group[depth, player] = walk.group[depth - 1, player]
            walk.failures[depth, mover] += cell == cells
            walk.group[depth, mover] = group
            walk.left[depth] = full & ~(marks | opposing)
            if abrupt and _count_bits(marks) > walk.failures[depth, 1 - mover]:
                walk.left[depth] |= 1 << cells
            before = walk.group[depth, 1 - mover]
            _find_longer(tries[1 - mover], before, abrupt, marks, cells, walk.longer[depth])
    walk.depth[0] = -1
    return -1


@kernel
def _meet(tries: tuple[Trie, Trie], meetings: Meetings, winner: int, group: int, other: int) -> None:
    of_winner, of_loser = tries[winner].group, tries[1 - winner].group
    if not len(meetings.end_of_leaves):
        of_winner[group, MEETINGS] += 1
        of_loser[other, MEETINGS] -= 1
        return
    first, second = of_winner[group, MEETINGS], of_loser[other, MEETINGS]  # by now numbers
    _add_meeting(meetings, first, second, 1)
    _add_meeting(meetings, second, first, -1)


@kernel
def _add_meeting(meetings: Meetings, own: int, other: int, payoff: int) -> None:
    if own < meetings.sequences:
        at = meetings.end_of_leaves[own]
        meetings.end_of_leaves[own] += 1
        meetings.leaf_weight[at], meetings.leaf_others[at] = payoff, other
    else:
        at = meetings.end[own - meetings.sequences]
        meetings.end[own - meetings.sequences] += 1
        meetings.slot[at] = other


@kernel
def _find_longer(trie: Trie, before: int, abrupt: bool, opposing: int, cells: int, longer: Ints) -> None:
    """The groups with one more turn than the group `before`, by its cell; failed attempts are last."""
    longer[:] = -1
    group = trie.group[before, LONGER]
    while group >= 0:
        edge = trie.group[group, EDGE]
        cell = edge & 15
        if edge >> 4 == opposing or (abrupt and cell != FAILED):
            longer[cells if cell == FAILED else cell] = group
        group = trie.group[group, SIBLING]


@kernel
def _has_room(trie: Trie) -> bool:
    """Whether one more group with all of its rows and members fits: well below ROOM of each."""
    rows, slots, groups, members = trie.counts
    return bool(
        rows + ROOM // 2 < len(trie.row)
        and slots + ROOM // 2 < len(trie.slot)
        and groups + 2 < len(trie.group)
        and groups + 2 < len(trie.first_member)
        and members + ROOM // 2 < len(trie.member)
    )


@kernel
def _new_group(trie: Trie, before: int, edge: int, abrupt: bool, opposing: int, cells: int) -> int:
    """The sequences that end with one more turn, after those of the group `before`."""
    group, cell = trie.counts[GROUPS], edge & 15
    trie.group[group, EDGE], trie.group[group, LONGER] = edge, -1
    trie.group[group, SIBLING] = trie.group[before, LONGER]
    trie.group[group, MEETINGS] = 0
    trie.group[before, LONGER] = group
    has_failed = before > 0 and trie.group[before, EDGE] & 15 == FAILED
    for place in range(trie.first_member[before], trie.first_member[before + 1]):
        row = _row_after(trie, trie.member[place], has_failed, cells)
        if abrupt:
            if cell == FAILED:
                for taken in range(cells):
                    if opposing >> taken & 1 and not trie.row[row, TRIED] >> taken & 1:
                        _add_member(trie, row, taken)
            else:
                _add_member(trie, row, cell)
        else:
            _add_attempts(trie, row, cell, opposing, cells)
    trie.counts[GROUPS] += 1
    trie.first_member[group + 1] = trie.counts[MEMBERS]
    return int(group)


@kernel
def _add_attempts(trie: Trie, row: int, cell: int, opposing: int, cells: int) -> None:
    """A mark on the cell, after failed attempts on any of the opponent's marks in any order."""
    stack = np.empty(512, np.int32)
    stack[0] = row
    count = 1
    while count:
        count -= 1
        row = stack[count]
        _add_member(trie, row, cell)
        for taken in range(cells):
            if opposing >> taken & 1 and not trie.row[row, TRIED] >> taken & 1:
                stack[count] = _row_after(trie, _slot_of(trie, row, taken), True, cells)
                count += 1


@kernel
def _row_after(trie: Trie, slot: int, has_failed: bool, cells: int) -> int:
    """The infoset after a slot's attempt, a new one if there is none; the first one after the slot -1."""
    column = AFTER_FAILURE if has_failed else AFTER_MARK
    if slot >= 0 and trie.slot[slot, column] >= 0:
        return int(trie.slot[slot, column])
    row, tried = trie.counts[ROWS], 0
    if slot >= 0:
        before = trie.slot[slot, ROW]
        tried, place = trie.row[before, TRIED], slot - trie.row[before, FIRST_SLOT]
        trie.slot[slot, column] = row
        tried |= 1 << cell_at(tried, place)
    elif row > 0:
        return 0
    trie.row[row, TRIED], trie.row[row, FIRST_SLOT] = tried, trie.counts[SLOTS]
    trie.row[row, PARENT], trie.row[row, HAS_FAILED] = slot, has_failed
    trie.counts[ROWS] += 1
    for _ in range(cells - _count_bits(tried)):
        new = trie.counts[SLOTS]
        trie.slot[new, ROW], trie.slot[new, AFTER_MARK], trie.slot[new, AFTER_FAILURE] = row, -1, -1
        trie.counts[SLOTS] += 1
    return int(row)


@kernel
def _add_member(trie: Trie, row: int, cell: int) -> None:
    trie.member[trie.counts[MEMBERS]] = _slot_of(trie, row, cell)
    trie.counts[MEMBERS] += 1


@kernel
def _slot_of(trie: Trie, row: int, cell: int) -> int:
    """The slot of an attempt; the slots of a row are the cells that it has not tried, in order."""
    below = ~trie.row[row, TRIED] & ((1 << cell) - 1)
    return int(trie.row[row, FIRST_SLOT] + _count_bits(below))


@kernel
def cell_at(tried: int, place: int) -> int:
    """The cell of a row's slot, by its place among the slots."""
    cell = 0
    while tried >> cell & 1 or place > 0:
        place -= not tried >> cell & 1
        cell += 1
    return cell


@kernel
def _count_bits(bits: int) -> int:
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count
