"""Phantom tic-tac-toe and Dark Hex, compiled without their histories.

Take the referee's view: each turn ends with a mark on a cell or, in the abrupt variant, with a failed
attempt. Given the list of turns, a player's failed attempts are on cells that the opponent had marked by
then, and do not depend on the opponent's failed attempts. So the reach of the list is a product: for each
player the sum of the reach of all its sequences that fit the list, a *group* of the first stage.

A group depends on the player's own marks and, for each turn with failed attempts, on the set of the
opponent's marks. It *meets* the opponent's groups with which it makes a list at the end of the game. The
winner is the same in all of them: if the group's last mark wins, its player, else the opponent with its next
mark. A group of one sequence is left out: its meetings are leaves of the sequence.

Groups that share a sequence agree on the player's first mark or, in the abrupt variants, on a first attempt
that failed, because the opponent has one mark by then. Groups that agree on it are a stage of the sequence
form.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Longs, kernel
from openfelt.games.compile.factored_tree import FactoredTree, fingerprint, require_memory
from openfelt.games.compile.phantom_groups import Numbers, phantom_form
from openfelt.games.compile.phantom_tries import (
    FIRST_SLOT,
    HAS_FAILED,
    PARENT,
    ROW,
    ROWS,
    SLOTS,
    TRIED,
    Trie,
    grow_tries,
)
from openfelt.games.phantom_board import TAKEN, PhantomBoard

BYTES_OF_LIST = 12.0  # of the abrupt variants, where there are as many lists of turns as anything else


def compile_phantom(rules: PhantomBoard) -> FactoredTree:
    """The infosets and the sequence form of a phantom game."""
    wins = np.array([[rules.wins(p, marks) for marks in range(1 << rules.cells)] for p in range(2)])
    require_memory(rules.name, BYTES_OF_LIST * _count(rules, lists=True))
    tries = grow_tries(wins, rules.abrupt)
    slots = sum(int(trie.counts[SLOTS]) for trie in tries)
    numbers = [_numbers(trie, rules.cells, player, slots) for player, trie in enumerate(tries)]
    form = phantom_form(wins, rules.abrupt, tries, numbers)
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
