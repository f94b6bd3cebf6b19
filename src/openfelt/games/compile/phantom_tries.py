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
EDGE, LONGER, SIBLING, MEETINGS, PAYOFF = range(5)  # columns of `group`


class Trie(NamedTuple):
    """One player's infosets (rows) and groups of sequences, with room for more. Slots count from 0."""

    counts: Longs  # [4] rows, slots, groups and members so far
    row: Ints  # [rows, 4] cells tried, as bits; first slot; slot before it or -1; whether that attempt failed
    slot: Ints  # [slots, 3] its row; the rows after a mark and after a failed attempt, or -1
    group: Ints  # [groups, 5] see below
    first_member: Longs  # [groups + 1]
    member: Ints  # [members] slots; -1: the empty sequence

    # The columns of `group`: the last turn (a cell or FAILED, and the opponent's marks if they matter);
    # the first group with one turn more; the next group with the same turns before its last; how many
    # groups of the opponent it meets at the end of the game; the player's payoff there.


class Walk(NamedTuple):
    """A list of turns, and how far its continuations have been visited."""

    depth: Longs  # [1]
    next: Ints  # [turns] the next continuation: a cell, or a failed attempt after them
    turn: Ints  # [turns] the player to move
    marks: Ints  # [turns, 2] the cells of each player, as bits
    failures: Ints  # [turns, 2] each player's turns that ended with a failed attempt
    group: Ints  # [turns, 2] each player's group


class Answers(NamedTuple):
    """Where `visit` writes the groups that meet; nowhere while it counts them."""

    number: tuple[Ints, Ints]  # [groups] of each player: the group's number in the sequence form
    end: tuple[Longs, Longs]  # [groups] of each player: the place of the next member of its answer
    member_slot: Ints


def grow_tries(wins: NDArray[np.bool_], abrupt: bool) -> list[Trie]:
    """Both players' tries; wins[player, cells] says which cells, as bits, win."""
    tries = [_new_trie(), _new_trie()]
    ints, longs = np.empty(0, np.int32), np.empty(0, np.int64)
    counting, walk = Answers((ints, ints), (longs, longs), ints), new_walk()
    while (full := visit(wins, abrupt, walk, (tries[0], tries[1]), counting)) >= 0:
        tries[full] = _with_more_room(tries[full])
    return tries


def new_walk() -> Walk:
    """The empty list of turns."""
    return Walk(
        np.zeros(1, np.int64),
        *np.zeros((2, MOST_TURNS), np.int32),
        *np.zeros((3, MOST_TURNS, 2), np.int32),
    )


def _new_trie() -> Trie:
    """A trie with one group, that of the empty sequence."""
    shapes = [(1024, 4), (1024, 3), (1024, 5)]
    row, slot, group = (np.empty(shape, np.int32) for shape in shapes)
    first_member, member = np.empty(1024, np.int64), np.empty(1024, np.int32)
    group[0] = 0, -1, -1, 0, 0
    first_member[:2], member[0] = (0, 1), -1
    return Trie(np.array([0, 0, 1, 1]), row, slot, group, first_member, member)


def _with_more_room(trie: Trie) -> Trie:
    """A copy with arrays of twice the length; they take no memory before they are filled."""
    rows, slots, groups, members = trie.counts.tolist()
    return Trie(
        trie.counts,
        _doubled(trie.row, rows),
        _doubled(trie.slot, slots),
        _doubled(trie.group, groups),
        _doubled(trie.first_member, groups + 1),
        _doubled(trie.member, members),
    )


def _doubled(array: NDArray[Any], used: int) -> NDArray[Any]:
    longer = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    longer[:used] = array[:used]
    return longer


@kernel
def visit(
    wins: NDArray[np.bool_], abrupt: bool, walk: Walk, tries: tuple[Trie, Trie], answers: Answers
) -> int:
    """Visit all lists of turns from `walk` on. Counts or, if there is room for answers, lists what meets.

    Returns the player whose trie has no more room, or -1 at the end.
    """
    cells = 0
    while 1 << cells < wins.shape[1]:
        cells += 1
    depth = walk.depth[0]
    while depth >= 0:
        cell, mover = walk.next[depth], walk.turn[depth]
        if cell > cells or (cell == cells and not abrupt):
            depth -= 1
            continue
        own, opposing = walk.marks[depth, mover], walk.marks[depth, 1 - mover]
        if cell < cells:
            impossible = (own | opposing) >> cell & 1
            edge = cell if abrupt else cell | opposing << 4
        else:
            impossible = _count_bits(opposing) <= walk.failures[depth, mover]
            edge = FAILED | opposing << 4
        if not impossible:
            group = _find_group(tries[mover], walk.group[depth, mover], edge)
            if group < 0:
                if not _has_room(tries[mover], walk.group[depth, mover], opposing):
                    walk.depth[0] = depth
                    return int(mover)
                group = _new_group(tries[mover], walk.group[depth, mover], edge, abrupt, opposing, cells)
        walk.next[depth] += 1
        if impossible:
            continue
        marks = own | 1 << cell if cell < cells else own
        if cell < cells and wins[mover, marks]:
            _meet(tries, answers, mover, group, walk.group[depth, 1 - mover])
        elif marks | opposing != (1 << cells) - 1:
            depth += 1
            walk.next[depth], walk.turn[depth] = 0, 1 - mover
            walk.marks[depth, mover], walk.marks[depth, 1 - mover] = marks, opposing
            for player in range(2):
                walk.failures[depth, player] = walk.failures[depth - 1, player]
                walk.group[depth, player] = walk.group[depth - 1, player]
            walk.failures[depth, mover] += cell == cells
            walk.group[depth, mover] = group
    walk.depth[0] = -1
    return -1


@kernel
def _meet(tries: tuple[Trie, Trie], answers: Answers, winner: int, group: int, other: int) -> None:
    loser = 1 - winner
    if not len(answers.member_slot):
        tries[winner].group[group, MEETINGS] += 1
        tries[winner].group[group, PAYOFF] = 1
        tries[loser].group[other, MEETINGS] += 1
        tries[loser].group[other, PAYOFF] = -1
        return
    answers.member_slot[answers.end[winner][group]] = answers.number[loser][other]
    answers.end[winner][group] += 1
    answers.member_slot[answers.end[loser][other]] = answers.number[winner][group]
    answers.end[loser][other] += 1


@kernel
def _find_group(trie: Trie, before: int, edge: int) -> int:
    group = trie.group[before, LONGER]
    while group >= 0 and trie.group[group, EDGE] != edge:
        group = trie.group[group, SIBLING]
    return int(group)


@kernel
def _has_room(trie: Trie, before: int, opposing: int) -> bool:
    """Whether all rows and members of one more group fit; one turn may fail on all cells, in any order."""
    orders, marks = 1, _count_bits(opposing)
    for count in range(1, marks + 1):
        orders = orders * count + 1
    rows = (trie.first_member[before + 1] - trie.first_member[before]) * orders
    cells = 9
    return bool(
        trie.counts[ROWS] + rows < len(trie.row)
        and trie.counts[SLOTS] + rows * cells < len(trie.slot)
        and trie.counts[GROUPS] + 2 < len(trie.first_member)
        and trie.counts[GROUPS] + 2 < len(trie.group)
        and trie.counts[MEMBERS] + rows * cells < len(trie.member)
    )


@kernel
def _new_group(trie: Trie, before: int, edge: int, abrupt: bool, opposing: int, cells: int) -> int:
    """The sequences that end with one more turn, after those of the group `before`."""
    group, cell = trie.counts[GROUPS], edge & 15
    trie.group[group, EDGE], trie.group[group, LONGER] = edge, -1
    trie.group[group, SIBLING] = trie.group[before, LONGER]
    trie.group[group, MEETINGS], trie.group[group, PAYOFF] = 0, 0
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
