"""The sequence form: what full-width methods need of a tree, and nothing else.

A player's *sequence* is the list of its own actions up to a point. Under perfect recall one sequence leads to
each infoset (a *row*), and a leaf is reached with the product of one realisation weight per player; chance's
probability is part of the leaf's weight. So expected values, best responses and counterfactual values need no
walk over histories: they are sums over leaves, grouped by a player's last action, followed by a pass over the
player's infosets (von Stengel 1996).

Sequences are numbered by the table slot of their last action; the empty sequence of player p is slot
`num_slots + p`.

A game of 1e10 histories has too many leaves to list, but its payoff matrix may factorise. A *group* is a
pseudo-sequence of one player: its reach is a weighted sum of the reach of its members, which are sequences of
that player or groups of an earlier stage. Group g is number `num_slots + players + g`, and leaves may name it
like a sequence. Ordinary games have no groups.

With two players, a group may also *meet* sequences and groups of the opponent. Each of its members, which are
sequences, then has a leaf for each of these meetings, with the group's payoff. The leaves are not listed,
which saves most of the memory. Where groups meet, those of different stages have no member in common, so that
threads can take a stage each.
"""

from __future__ import annotations

from functools import lru_cache, singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import GameError
from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.games.compile.game_tree import GameTree, TreeArrays
from openfelt.games.compile.tree import Tree
from openfelt.games.game import TERMINAL


class SequenceForm(NamedTuple):
    """Infosets (rows) and leaves; the first two arrays are those of the tree."""

    first_row: NDArray[np.int64]  # [players + 1] the rows of player p are first_row[p] up to first_row[p + 1]
    first_slot: NDArray[np.int64]  # [rows + 1] the slots of a row's actions
    parent_slot: NDArray[np.int64]  # [rows] the sequence that leads to a row
    first_leaf: NDArray[np.int64]  # [slots + players + 1] the leaves of a sequence are consecutive
    leaf_weight: NDArray[Any]  # [leaves of all players] chance's probability times the owner's payoff
    leaf_others: NDArray[np.int32]  # [leaves of all players, players - 1] the opponents' sequences or groups
    first_group: NDArray[np.int64]  # [players, stages + 1] the groups of a player's stage are consecutive
    first_member: NDArray[Any]  # [groups + 1] the members of a group are consecutive
    member_slot: NDArray[np.int32]  # [members of all groups] a sequence, or a group of an earlier stage
    member_weight: Floats  # [members of all groups]; empty if all weights are 1
    first_meeting: NDArray[Any]  # [groups + 1] the meetings of a group are consecutive; [1] if none meet
    meeting_slot: NDArray[np.int32]  # [meetings of all groups] a sequence or group of the opponent
    group_payoff: NDArray[np.int8]  # [groups] of its player, at all of its meetings

    @property
    def num_players(self) -> int:
        return len(self.first_row) - 1

    @property
    def num_slots(self) -> int:
        return int(self.first_slot[-1])

    @property
    def num_groups(self) -> int:
        return len(self.first_member) - 1

    @property
    def num_reaches(self) -> int:
        """The length of an array of reach: slots, empty sequences and groups."""
        return self.num_slots + self.num_players + self.num_groups


@singledispatch
def sequence_form(tree: Tree) -> SequenceForm:
    """The sequence form of a tree; raises GameError without perfect recall."""
    raise GameError(f"{tree.game} has too many infosets for a sequence form.")


@sequence_form.register
@lru_cache(maxsize=4)
def _(tree: GameTree) -> SequenceForm:
    rows, players = tree.rows, tree.players
    parent_slot = np.full(tree.num_rows, -1, np.int64)
    count = np.zeros(tree.num_slots + players + 1, np.int64)
    last = np.empty((tree.num_nodes, players), np.int32)
    last[0] = tree.num_slots + np.arange(players)
    reach = np.ones(tree.num_nodes)
    forgets = _follow(tree.nodes, rows.first_slot, last, reach, parent_slot, count)
    if forgets >= 0:
        raise GameError(
            f"{tree.game}: player {tree.row_player(forgets)} forgets its own actions before "
            f"'{tree.row_name(forgets)}'; only games of perfect recall can be solved."
        )
    first_leaf = np.concatenate([[0], np.cumsum(count[:-1])])
    weight = np.empty(first_leaf[-1])
    others = np.empty((first_leaf[-1], players - 1), np.int32)
    _place(tree.nodes, last, reach, first_leaf.copy(), weight, others)
    return SequenceForm(
        rows.first_row, rows.first_slot, parent_slot, first_leaf, weight, others, **no_groups(players)
    )


def no_groups(players: int) -> dict[str, NDArray[Any]]:
    """The groups of a form whose leaves name sequences only."""
    return {
        "first_group": np.zeros((players, 1), np.int64),
        "first_member": np.zeros(1, np.int64),
        "member_slot": np.empty(0, np.int32),
        "member_weight": np.empty(0),
        **no_meetings(),
    }


def no_meetings() -> dict[str, NDArray[Any]]:
    """The meetings of a form whose groups do not meet."""
    return {
        "first_meeting": np.zeros(1, np.int32),
        "meeting_slot": np.empty(0, np.int32),
        "group_payoff": np.empty(0, np.int8),
    }


def without_meetings(form: SequenceForm) -> SequenceForm:
    """The same game for passes that know only leaves; values are the same to the bit.

    The sum of what a group meets becomes a group of a last stage, and each of its members has a leaf there.
    """
    if not len(form.meeting_slot):
        return form
    base, middle, end = form.num_slots + 2, int(form.first_group[1, 0]), form.num_groups
    later = end - middle  # answers to the groups of player 1 come before them, those of player 0 after them
    answers = np.concatenate([base + end + np.arange(later, later + middle), base + np.arange(middle, end)])

    def renumbered(slots: NDArray[np.int32]) -> NDArray[np.int32]:
        return slots + np.int32(later) * (slots >= base + middle)

    lists = (form.first_member, form.member_slot), (form.first_meeting, renumbered(form.meeting_slot))
    first, second = (0, middle), (middle, end)
    order = (lists[0], first), (lists[1], second), (lists[0], second), (lists[1], first)
    sizes = [np.diff(starts[a : b + 1]) for (starts, _), (a, b) in order]
    stages = form.first_group + np.array([[0], [later]])
    first_leaf = form.first_leaf.copy()
    first_leaf[1:] += np.cumsum(np.bincount(form.member_slot, minlength=base))
    weight = np.empty(first_leaf[-1], form.leaf_weight.dtype)
    others = np.empty((first_leaf[-1], 1), np.int32)
    plain = form._replace(leaf_others=renumbered(form.leaf_others))
    _list_answers(plain, answers, first_leaf[:-1].copy(), weight, others)
    return form._replace(
        first_leaf=first_leaf,
        leaf_weight=weight,
        leaf_others=others,
        first_group=np.column_stack([stages, [end, 2 * end]]),
        first_member=np.concatenate([[0], np.cumsum(np.concatenate(sizes), dtype=np.int64)]),
        member_slot=np.concatenate([slots[starts[a] : starts[b]] for (starts, slots), (a, b) in order]),
        **no_meetings(),
    )


@kernel
def _list_answers(
    form: SequenceForm, answers: Longs, free: Longs, weight: NDArray[Any], others: Ints
) -> None:
    """Each sequence's own leaves, then one for each of its groups; `free`: the next place of each list."""
    for slot in range(len(free)):
        for leaf in range(form.first_leaf[slot], form.first_leaf[slot + 1]):
            weight[free[slot]], others[free[slot], 0] = form.leaf_weight[leaf], form.leaf_others[leaf, 0]
            free[slot] += 1
    for group in range(len(answers)):
        for member in range(form.first_member[group], form.first_member[group + 1]):
            slot = form.member_slot[member]
            weight[free[slot]], others[free[slot], 0] = form.group_payoff[group], answers[group]
            free[slot] += 1


@kernel
def _follow(
    nodes: TreeArrays,
    first_slot: NDArray[np.int64],
    last: Ints,  # [nodes, players]
    reach: Floats,  # [nodes]
    parent_slot: NDArray[np.int64],
    count: NDArray[np.int64],  # [slots + players + 1]
) -> int:
    """Each player's last action and chance's reach at every node; the number of leaves of each sequence.

    Returns a row that two different sequences lead to, or -1. Leaves where a player's payoff is 0 are not
    counted for that player.
    """
    num_players = last.shape[1]
    for node in range(len(nodes.player)):
        player = nodes.player[node]
        if player == TERMINAL:
            for p in range(num_players):
                if nodes.payoffs[nodes.row[node], p] != 0.0:
                    count[last[node, p]] += 1
            continue
        row = nodes.row[node]
        if player >= 0:
            if parent_slot[row] < 0:
                parent_slot[row] = last[node, player]
            elif parent_slot[row] != last[node, player]:
                return int(row)
        for place in range(nodes.num_children[node]):
            child = nodes.first_child[node] + place
            for p in range(num_players):
                last[child, p] = last[node, p]
            if player >= 0:
                last[child, player] = first_slot[row] + place
                reach[child] = reach[node]
            else:
                reach[child] = reach[node] * nodes.chance[row + place]
    return -1


@kernel
def _place(
    nodes: TreeArrays, last: Ints, reach: Floats, free: NDArray[np.int64], weight: Floats, others: Ints
) -> None:
    """Put each leaf into the list of each player's sequence; `free` is the next free index of each list."""
    num_players = last.shape[1]
    for node in range(len(nodes.player)):
        if nodes.player[node] != TERMINAL:
            continue
        for p in range(num_players):
            payoff = nodes.payoffs[nodes.row[node], p]
            if payoff == 0.0:
                continue
            at = free[last[node, p]]
            free[last[node, p]] += 1
            weight[at] = reach[node] * payoff
            column = 0
            for q in range(num_players):
                if q != p:
                    others[at, column] = last[node, q]
                    column += 1
