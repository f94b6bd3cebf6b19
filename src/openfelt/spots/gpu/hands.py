"""What a thread does for one hand at the decisions of a betting tree: reach down, averages, values up.

Nothing here depends on other hands, so threads need not wait for one another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from openfelt.spots.traversal import BEST_RESPONSE, UPDATE

U: Any = np.uint32
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


def strategy(rows: Any, size: Any, hand: Any, actions: Any, chances: Any, entries: Any) -> None:
    """Write the strategy of a decision's rows, and their entries.

    All loads come before the first store, here and below, so that none waits for another.
    """
    total = ZERO
    for action in range(MOST):
        if action < actions:
            entries[action] = rows[U(action) * size + hand]
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
            begin = start + np.int64(tree.place[U(place), ENTRY]) * at.other_size
            rows = table[begin : begin + np.int64(actions) * at.other_size]
            strategy(rows, U(at.other_size), hand, actions, chances, entries)
            here = reach[U(tree.place[U(place), SLOT] - at.slot) * width + hand]
            for action in range(MOST):
                if action < actions:
                    slot = U(tree.edge[U(edge + action), TO_SLOT] - at.slot)
                    reach[slot * width + hand] = here * chances[action]


def spread_own(
    tree: Tree, tables: Tables, at: Where, hand: Any, own: Any, width: Any, keep: Any, room: Any
) -> None:
    """Compute the player's own reach after each of its actions, and update the average strategies."""
    start, size, (chances, entries, before) = tables.first[0, at.board], U(at.size), room
    for place in range(at.first, at.last):
        if tree.place[U(place), KIND] == OWN:
            actions, edge = tree.place[U(place), ACTIONS], tree.place[U(place), EDGE]
            begin = start + np.int64(tree.place[U(place), ENTRY]) * at.size
            end = begin + np.int64(actions) * at.size
            average = tables.average[begin:end]
            for action in range(MOST):
                if action < actions:
                    before[action] = average[U(action) * size + hand]
            strategy(tables.regret[begin:end], size, hand, actions, chances, entries)
            here = own[U(tree.place[U(place), OWN_SLOT] - at.own_slot) * width + hand]
            is_learned = tables.locked[at.board, tree.place[U(place), DECISION]] == 0
            for action in range(MOST):
                if action < actions:
                    slot, cell = (
                        U(tree.edge[U(edge + action), TO_OWN_SLOT] - at.own_slot),
                        U(action) * size + hand,
                    )
                    own[slot * width + hand] = here * chances[action]
                    if is_learned:
                        average[cell] = before[action] * keep + chances[action] * (here + FLOOR)


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
                begin = start + np.int64(tree.place[U(place), ENTRY]) * at.size
                end = begin + np.int64(actions) * at.size
                mean = decide(
                    tree, tables, (begin, end), locked, edge, at, hand, value, width, discounts, room
                )
            value[U(place - at.first) * width + hand] = mean


def decide(
    tree: Tree, tables: Tables, span: Any, locked: Any, edge: Any, at: Where, hand: Any, value: Any,
    width: Any, discounts: Any, room: Any,
) -> Any:  # fmt: skip
    """The value of one of the player's decisions."""
    (begin, end), (chances, entries, worth) = span, room
    size, actions = U(at.size), (end - begin) // at.size
    if MODE == BEST_RESPONSE and not locked:
        best = value[U(tree.edge[U(edge), TO_PLACE] - at.first) * width + hand]
        for action in range(1, MOST):
            if action < actions:
                best = max(best, value[U(tree.edge[U(edge + action), TO_PLACE] - at.first) * width + hand])
        return best
    table = tables.regret if MODE == UPDATE and not locked else tables.average
    rows = table[begin:end]
    for action in range(MOST):
        if action < actions:
            worth[action] = value[U(tree.edge[U(edge + action), TO_PLACE] - at.first) * width + hand]
    strategy(rows, size, hand, actions, chances, entries)
    mean = ZERO
    for action in range(MOST):
        if action < actions:
            mean += chances[action] * worth[action]
    if MODE == UPDATE and not locked:
        for action in range(MOST):
            if action < actions:
                old = entries[action]
                factor = discounts[0] if old > ZERO else discounts[1]
                rows[U(action) * size + hand] = old * factor + (worth[action] - mean)
    return mean
