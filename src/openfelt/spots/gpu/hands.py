"""What a thread does for one hand at the decisions of a betting tree: reach down, averages, values up.

Nothing here depends on other hands, so threads need not wait for one another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from openfelt.spots.traversal import BEST_RESPONSE, UPDATE

U: Any = np.uint32
L: Any = np.uint64
KIND, ACTIONS, EDGE, ENTRY, DECISION, SLOT, OWN_SLOT = range(7)  # columns of `Tree.place`
OWN, OTHER = 0, 1  # kinds of decisions; ends of lines are FOLD and ON
PLACES, SLOTS, OWN_SLOTS, LANES_FROM = range(4)  # columns of `Tree.root`
TO_PLACE, TO_SLOT, TO_OWN_SLOT = range(3)  # columns of `Tree.edge`

# These are set when a kernel is built.
MODE = UPDATE  # what the pass does at the player's decisions
MOST = 3  # actions of a decision

ZERO, ONE, TINY, FLOOR = np.float32(0), np.float32(1), np.float32(1e-30), np.float32(1e-6)


class Tree(NamedTuple):
    """The betting trees of a street, from the point of view of one player."""

    root: Any  # [roots + 1, 4] first place, slots and lane of each tree
    came: Any  # [roots, 2] slots of the previous street that lead to it, the opponent's and the own
    order: Any  # [roots] roots, the largest trees first
    place: Any  # [places, 7]
    edge: Any  # [edges, 3]
    lane: Any  # [lanes, 3] slot, fold and showdown; -1 if there is none
    pay: Any  # [lanes, 4] win - tie, tie - lose, lose, fold
    next: Any  # [next roots, 2] the place that goes on to a root of the next street, and the root's row there


class Tables(NamedTuple):
    """What is learned on a street."""

    first: Any  # [2, boards] where a board's rows begin: the player's and the opponent's
    regret: Any
    average: Any
    locked: Any  # [boards, decisions]


class Where(NamedTuple):
    """A tree on a board."""

    first: Any  # place
    last: Any
    slot: Any  # the first one
    own_slot: Any
    board: Any
    size: Any  # hands of the player
    other_size: Any


def cell_of(first: Any, entry: Any, size: Any, hand: Any) -> Any:
    """Where a hand's number is in the first row of a decision."""
    return L(first) + L(entry) * L(size) + L(hand)


def strategy(table: Any, cell: Any, size: Any, actions: Any, chances: Any, entries: Any) -> None:
    """Write the strategy of a decision's rows for a hand, and the entries.

    All loads come before the first store, here and below, so that none waits for another.
    """
    total = ZERO
    for action in range(MOST):
        if action < actions:
            entries[action] = table[cell + L(action) * size]
    for action in range(MOST):
        if action < actions:
            chances[action] = max(entries[action], ZERO)
            total += chances[action]
    factor = ONE / total if total > TINY else ZERO
    even = ZERO if total > TINY else ONE / np.float32(actions)
    for action in range(MOST):
        if action < actions:
            chances[action] = chances[action] * factor + even


def spread_other(tree: Tree, tables: Tables, at: Where, hand: Any, reach: Any, width: Any, room: Any) -> None:
    """Compute the opponent's reach after each of its actions; `reach` begins at the tree's first slot."""
    table, (chances, entries, _) = tables.regret if MODE == UPDATE else tables.average, room
    start = tables.first[1, at.board]
    for place in range(at.first, at.last):
        if tree.place[U(place), KIND] == OTHER:
            actions, edge = tree.place[U(place), ACTIONS], tree.place[U(place), EDGE]
            cell = cell_of(start, tree.place[U(place), ENTRY], at.other_size, hand)
            strategy(table, cell, L(at.other_size), actions, chances, entries)
            here = reach[U(tree.place[U(place), SLOT] - at.slot) * width + hand]
            for action in range(MOST):
                if action < actions:
                    slot = U(tree.edge[U(edge + action), TO_SLOT] - at.slot)
                    reach[slot * width + hand] = here * chances[action]


def spread_own(
    tree: Tree, tables: Tables, at: Where, hand: Any, own: Any, width: Any, keep: Any, room: Any
) -> None:
    """Compute the player's own reach after each of its actions, and update the average strategies."""
    start, size, (chances, entries, before) = tables.first[0, at.board], L(at.size), room
    for place in range(at.first, at.last):
        if tree.place[U(place), KIND] == OWN:
            actions, edge = tree.place[U(place), ACTIONS], tree.place[U(place), EDGE]
            cell = cell_of(start, tree.place[U(place), ENTRY], at.size, hand)
            for action in range(MOST):
                if action < actions:
                    before[action] = tables.average[cell + L(action) * size]
            strategy(tables.regret, cell, size, actions, chances, entries)
            here = own[U(tree.place[U(place), OWN_SLOT] - at.own_slot) * width + hand]
            is_learned = tables.locked[at.board, tree.place[U(place), DECISION]] == 0
            for action in range(MOST):
                if action < actions:
                    slot = U(tree.edge[U(edge + action), TO_OWN_SLOT] - at.own_slot)
                    own[slot * width + hand] = here * chances[action]
                    if is_learned:
                        sums = before[action] * keep + chances[action] * (here + FLOOR)
                        tables.average[cell + L(action) * size] = sums


def collect(
    tree: Tree, tables: Tables, at: Where, hand: Any, value: Any, width: Any, discounts: Any, room: Any
) -> None:
    """Compute the values of decisions from those of ends of lines, the last first; update the regrets.

    `value` begins at the tree's first place.
    """
    start = tables.first[0, at.board]
    for back in range(at.last - at.first):
        place = at.last - 1 - back
        kind = tree.place[U(place), KIND]
        if kind <= OTHER:
            actions, edge = tree.place[U(place), ACTIONS], tree.place[U(place), EDGE]
            mean = ZERO
            if kind == OTHER:
                for action in range(MOST):
                    if action < actions:
                        mean += value[U(tree.edge[U(edge + action), TO_PLACE] - at.first) * width + hand]
            else:
                locked = tables.locked[at.board, tree.place[U(place), DECISION]] != 0
                cell = cell_of(start, tree.place[U(place), ENTRY], at.size, hand)
                mean = decide(
                    tree, tables, cell, actions, locked, edge, at, hand, value, width, discounts, room
                )
            value[U(place - at.first) * width + hand] = mean


def decide(
    tree: Tree, tables: Tables, cell: Any, actions: Any, locked: Any, edge: Any, at: Where, hand: Any,
    value: Any, width: Any, discounts: Any, room: Any,
) -> Any:  # fmt: skip
    """The value of one of the player's decisions."""
    size, (chances, entries, worth) = L(at.size), room
    if MODE == BEST_RESPONSE and not locked:
        best = value[U(tree.edge[U(edge), TO_PLACE] - at.first) * width + hand]
        for action in range(1, MOST):
            if action < actions:
                best = max(best, value[U(tree.edge[U(edge + action), TO_PLACE] - at.first) * width + hand])
        return best
    table = tables.regret if MODE == UPDATE and not locked else tables.average
    for action in range(MOST):
        if action < actions:
            worth[action] = value[U(tree.edge[U(edge + action), TO_PLACE] - at.first) * width + hand]
    strategy(table, cell, size, actions, chances, entries)
    mean = ZERO
    for action in range(MOST):
        if action < actions:
            mean += chances[action] * worth[action]
    if MODE == UPDATE and not locked:
        for action in range(MOST):
            if action < actions:
                old = entries[action]
                factor = discounts[0] if old > ZERO else discounts[1]
                table[cell + L(action) * size] = old * factor + (worth[action] - mean)
    return mean
