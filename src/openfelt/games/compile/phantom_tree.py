"""Phantom tic-tac-toe and Dark Hex, compiled without their histories.

Take the referee's view: each turn ends with a mark on a cell or, in the abrupt variant, with a failed
attempt. Given the list of turns, a player's failed attempts are on cells that the opponent had marked by
then, and do not depend on the opponent's failed attempts. So the reach of the list is a product: for each
player the sum of the reach of all its sequences that fit the list, a *group* of the first stage.

A group depends on the player's own marks and, for each turn with failed attempts, on the set of the
opponent's marks. The *answer* to a group, of the second stage, is the sum of the opponent's groups that
meet it at the end of the game. The winner is the same in all of them: if the group's last mark wins, its
player, else the opponent with its next mark.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Ints, Longs, kernel
from openfelt.games.compile.factored_tree import FactoredTree, fingerprint, require_memory
from openfelt.games.compile.phantom_tries import (
    FIRST_SLOT,
    GROUPS,
    HAS_FAILED,
    MEETINGS,
    PARENT,
    PAYOFF,
    ROW,
    ROWS,
    SLOTS,
    TRIED,
    Answers,
    Trie,
    grow_tries,
    new_walk,
    visit,
)
from openfelt.games.compile.sequence_form import Groups, SequenceForm
from openfelt.games.phantom_board import TAKEN, PhantomBoard

BYTES_OF_LIST = 14.0  # of the abrupt variants, where there are as many lists of turns as anything else


def compile_phantom(rules: PhantomBoard) -> FactoredTree:
    """The infosets and the sequence form of a phantom game."""
    wins = np.array([[rules.wins(p, marks) for marks in range(1 << rules.cells)] for p in range(2)])
    require_memory(rules.name, BYTES_OF_LIST * _count(rules, lists=True))
    tries = grow_tries(wins, rules.abrupt)
    slots = sum(int(trie.counts[SLOTS]) for trie in tries)
    numbers = [_numbers(trie, rules.cells, player, slots) for player, trie in enumerate(tries)]
    meeting = [_meeting(trie) for trie in tries]
    _require_memory(rules.name, slots, tries, meeting)
    groups, answers = _groups(wins, rules.abrupt, tries, numbers, meeting)
    first_leaf, leaf_weight, leaf_others = _leaves(tries, numbers, meeting, answers)
    form = SequenceForm(
        first_row=np.cumsum([0] + [len(new.parent_slot) for new in numbers]),
        first_slot=np.concatenate([[0], *(new.last_slot for new in numbers)]),
        parent_slot=np.concatenate([new.parent_slot for new in numbers]),
        first_leaf=first_leaf,
        leaf_weight=leaf_weight,
        leaf_others=leaf_others,
        **groups._asdict(),
    )
    cells = [rules.cell_name(cell) for cell in range(rules.cells)]
    labels = ("", *cells, *(cell + TAKEN for cell in cells))
    row_label = np.concatenate([new.row_label for new in numbers])
    return FactoredTree(
        game=rules.name,
        unit=rules.unit,
        form=form,
        slot_label=np.concatenate([new.slot_label for new in numbers]),
        row_label=row_label,
        labels=labels,
        payoffs=(-1.0, 1.0),
        num_nodes=_count(rules, lists=False),
        fingerprint=fingerprint(form, row_label, labels),
    )


class Numbers(NamedTuple):
    """One player's part of the final infosets and slots."""

    slot: Ints  # [slots of the trie + 1] their numbers; last, that of the empty sequence
    parent_slot: Longs  # [rows]
    last_slot: Longs  # [rows] the end of a row's slots
    slot_label: NDArray[np.int16]  # [slots]
    row_label: NDArray[np.int16]  # [rows]


def _numbers(trie: Trie, cells: int, player: int, slots: int) -> Numbers:
    """Number the infosets by depth."""
    count, own = trie.counts[[ROWS, SLOTS]].tolist()
    depth = np.zeros(count, np.int8)
    _measure_depth(trie, depth)
    order = np.argsort(depth, kind="stable")
    first = 0 if player == 0 else slots - own
    new = Numbers(
        np.empty(own + 1, np.int32),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(own, np.int16),
        np.empty(count, np.int16),
    )
    new.slot[-1] = slots + player
    _renumber(trie, order, cells, first, new)
    return new


@kernel
def _measure_depth(trie: Trie, depth: NDArray[np.int8]) -> None:
    for row in range(1, len(depth)):
        depth[row] = depth[trie.slot[trie.row[row, PARENT], ROW]] + 1


@kernel
def _renumber(trie: Trie, order: Longs, cells: int, first: int, new: Numbers) -> None:
    """Labels: 0 is empty, then the cells, then the cells that were found to be taken."""
    free = first
    for place in range(len(order)):
        row = order[place]
        tried, parent = trie.row[row, TRIED], trie.row[row, PARENT]
        new.parent_slot[place] = new.slot[parent]
        new.row_label[place] = 0
        if parent >= 0:
            label = new.slot_label[new.slot[parent] - first]
            new.row_label[place] = label + (cells if trie.row[row, HAS_FAILED] else 0)
        at = trie.row[row, FIRST_SLOT]
        for cell in range(cells):
            if not tried >> cell & 1:
                new.slot[at] = free
                new.slot_label[free - first] = cell + 1
                at += 1
                free += 1
        new.last_slot[place] = free


def _meeting(trie: Trie) -> Longs:
    """The groups with which the game can end."""
    return np.flatnonzero(trie.group[: trie.counts[GROUPS], MEETINGS])


def _require_memory(game: str, slots: int, tries: list[Trie], meeting: list[Longs]) -> None:
    meetings, members = 0, 0
    for trie, groups in zip(tries, meeting, strict=True):
        meetings += int(trie.group[groups, MEETINGS].sum())
        members += int(_sizes(trie, groups).sum())
    groups_of_trie = sum(int(trie.counts[GROUPS]) for trie in tries)
    require_memory(game, 13.0 * members + 4.0 * meetings + 40.0 * slots + 40.0 * groups_of_trie)


def _sizes(trie: Trie, groups: Longs) -> Longs:
    return trie.first_member[groups + 1] - trie.first_member[groups]


def _groups(
    wins: NDArray[np.bool_], abrupt: bool, tries: list[Trie], numbers: list[Numbers], meeting: list[Longs]
) -> tuple[Groups, list[Ints]]:
    """The groups of the sequence form; by player, the number of the answer to each group that can meet."""
    sizes = []
    for player in range(2):
        sizes.append(_sizes(tries[player], meeting[player]))
        sizes.append(tries[1 - player].group[meeting[1 - player], MEETINGS].astype(np.int64))
    first_group = np.cumsum([0, *map(len, sizes)])
    first_member = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    member_slot = np.empty(first_member[-1], np.int32)
    base = int(numbers[1].slot[-1]) + 1
    number, end, answers = [], [], []
    for player, (trie, groups) in enumerate(zip(tries, meeting, strict=True)):
        own, answer = first_group[2 * player], first_group[3 - 2 * player]
        _copy_members(trie, groups, numbers[player].slot, member_slot[first_member[own] :])
        number.append(np.full(trie.counts[GROUPS], -1, np.int32))
        number[-1][groups] = base + own + np.arange(len(groups))
        end.append(np.zeros(trie.counts[GROUPS], np.int64))
        end[-1][groups] = first_member[answer : answer + len(groups)]
        answers.append((base + answer + np.arange(len(groups))).astype(np.int32))
    writing = Answers((number[0], number[1]), (end[0], end[1]), member_slot)
    visit(wins, abrupt, new_walk(), (tries[0], tries[1]), writing)
    stages = np.array([first_group[0:3], first_group[2:5]])
    return Groups(stages, first_member, member_slot, np.empty(0)), answers


@kernel
def _copy_members(trie: Trie, groups: Longs, slot: Ints, member_slot: Ints) -> None:
    at = 0
    for group in groups:
        for place in range(trie.first_member[group], trie.first_member[group + 1]):
            member_slot[at] = slot[trie.member[place]]
            at += 1


def _leaves(
    tries: list[Trie], numbers: list[Numbers], meeting: list[Longs], answers: list[Ints]
) -> tuple[Longs, NDArray[np.int8], Ints]:
    """The leaves of a sequence: the answers to its groups."""
    first_leaf = np.zeros(int(numbers[1].slot[-1]) + 2, np.int64)
    for trie, new, groups in zip(tries, numbers, meeting, strict=True):
        _count_leaves(trie, groups, new.slot, first_leaf)
    first_leaf = np.cumsum(first_leaf)
    weight = np.empty(first_leaf[-1], np.int8)
    others = np.empty((first_leaf[-1], 1), np.int32)
    free = first_leaf[:-1].copy()
    for trie, new, groups, answer in zip(tries, numbers, meeting, answers, strict=True):
        _list_leaves(trie, groups, new.slot, answer, free, weight, others)
    return first_leaf, weight, others


@kernel
def _count_leaves(trie: Trie, groups: Longs, slot: Ints, count: Longs) -> None:
    for group in groups:
        for place in range(trie.first_member[group], trie.first_member[group + 1]):
            count[slot[trie.member[place]] + 1] += 1


@kernel
def _list_leaves(
    trie: Trie, groups: Longs, slot: Ints, answer: Ints, free: Longs, weight: NDArray[np.int8], others: Ints
) -> None:
    for number, group in enumerate(groups):
        for place in range(trie.first_member[group], trie.first_member[group + 1]):
            own = slot[trie.member[place]]
            weight[free[own]] = trie.group[group, PAYOFF]
            others[free[own], 0] = answer[number]
            free[own] += 1


def _count(rules: PhantomBoard, lists: bool) -> int:
    """The number of histories or of `lists` of turns; both depend on the marks and the failures so far."""
    full = (1 << rules.cells) - 1

    @cache
    def count(own: int, other: int, failed: int, other_failed: int, mover: int) -> int:
        if own | other == full or rules.wins(1 - mover, other):
            return 1
        total = 1
        for cell in range(rules.cells):
            if not (own | other) >> cell & 1:
                total += count(other, own | 1 << cell, other_failed, failed, 1 - mover)
        left = other.bit_count() - failed
        if left and rules.abrupt:
            after = count(other, own, other_failed, failed + 1, 1 - mover)
            total += after if lists else left * after
        elif left and not lists:
            total += left * count(own, other, failed + 1, other_failed, mover)
        return total

    return count(0, 0, 0, 0, 0)
