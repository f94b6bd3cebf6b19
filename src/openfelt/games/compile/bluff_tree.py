"""Bluff (Liar's dice), compiled without its histories.

All bids are public, so a list of bids and a player's roll make an infoset. At the end, a roll matters only by
how many of its dice count for the last bid. So for each list of bids there are *groups* of a player's rolls
with equal numbers of such dice, weighted by their probabilities, and in a second stage, for each such number
of the opponent, the sum of these groups weighted by the opponent's payoffs.

Bids rise, so a list of bids is a set; bit b of its number says whether it contains bid b + 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.games.bluff import LIAR, Bluff
from openfelt.games.compile.factored_tree import FactoredTree, fingerprint, require_memory
from openfelt.games.compile.sequence_form import SequenceForm, no_meetings


class Dice(NamedTuple):
    """One player's rolls."""

    chance: Floats  # [rolls]
    showing: Ints  # [faces, rolls] dice that count for a face
    most: int  # number of dice


def compile_bluff(rules: Bluff) -> FactoredTree:
    """The infosets and the sequence form of Bluff."""
    bids, faces = rules.num_bids, rules.faces
    dice = (_dice(rules, 0), _dice(rules, 1))
    rolls = np.array([len(each.chance) for each in dice])
    lists = np.arange(1 << bids)
    count, highest = _count_and_highest(bids)
    actions = bids - highest + (lists > 0)
    mover = count % 2
    order = np.lexsort((count, mover))  # by player, then by depth
    slots = (actions * rolls[mover])[order]
    num_slots, rows = int(slots.sum()), [int(rolls[player] * (mover == player).sum()) for player in range(2)]
    require_memory(rules.name, 60.0 * num_slots)
    first = np.empty(len(lists), np.int64)
    first[order] = np.cumsum(slots) - slots
    table = Lists(bids, faces, mover, highest, actions, first)
    named = Names(
        np.empty(sum(rows) + 1, np.int64),
        np.empty(sum(rows), np.int64),
        np.empty(sum(rows), np.int16),
        np.empty(num_slots, np.int16),
    )
    _list_rows(table, order, rolls, num_slots, named)
    ends = len(lists) - 1  # the lists that can be called
    sizes = [ends * (each.most + 1) for each in dice]
    first_group = np.cumsum([0, sizes[0], sizes[1], sizes[1], sizes[0]])
    members = ends * int(rolls.sum() + 2 * (dice[0].most + 1) * (dice[1].most + 1))
    form = SequenceForm(
        first_row=np.array([0, rows[0], sum(rows)]),
        first_slot=named.first_slot,
        parent_slot=named.parent_slot,
        first_leaf=np.append(np.arange(num_slots + 1), [num_slots, num_slots]),
        leaf_weight=np.empty(num_slots),
        leaf_others=np.empty((num_slots, 1), np.int32),
        first_group=np.array([first_group[0:3], first_group[2:5]]),
        first_member=np.zeros(first_group[-1] + 1, np.int64),
        member_slot=np.empty(members, np.int32),
        member_weight=np.empty(members),
        **no_meetings(),
    )
    _list_ends(table, dice, form)
    labels = _labels(rules)
    return FactoredTree(
        game=rules.name,
        unit=rules.unit,
        form=form,
        slot_label=named.slot_label,
        row_label=named.row_label,
        labels=labels,
        payoffs=(-1.0, 1.0),
        num_nodes=rules.num_histories,
        fingerprint=fingerprint(form, named.row_label, labels),
    )


class Lists(NamedTuple):
    """The lists of bids, by number."""

    bids: int
    faces: int
    mover: Longs  # [lists]
    highest: Longs  # [lists] the highest bid, counted from 1; 0 of the empty list
    actions: Longs  # [lists] number of actions after it: the higher bids and, unless it is empty, the call
    first: Longs  # [lists] the first slot of the mover's first roll


class Names(NamedTuple):
    """The infosets and what they are called."""

    first_slot: Longs  # [rows + 1]
    parent_slot: Longs  # [rows]
    row_label: NDArray[np.int16]  # [rows]
    slot_label: NDArray[np.int16]  # [slots]


def _dice(rules: Bluff, player: int) -> Dice:
    rolls = rules.rolls(player)
    showing = [[rules.showing(roll, face + 1) for roll in rolls] for face in range(rules.faces)]
    most = (rules.dice1, rules.dice2)[player]
    return Dice(np.array(rules.roll_chances(player)), np.array(showing, np.int32), most)


def _count_and_highest(bids: int) -> tuple[Longs, Longs]:
    """[lists] the number of bids and the highest."""
    count, highest = np.zeros((2, 1 << bids), np.int64)
    for bid in range(bids):
        half = 1 << bid
        count[half : 2 * half] = count[:half] + 1
        highest[half : 2 * half] = bid + 1
    return count, highest


def _labels(rules: Bluff) -> tuple[str, ...]:
    """The bids and the call, from 0; two bids in a row; the rolls of each player, alone and before a bid."""
    bids = [rules.bid(number) for number in range(1, rules.num_bids + 1)]
    pairs = [f"{own} {other}" for own in bids for other in bids]
    first = [f"{roll} {bid}" for roll in rules.rolls(1) for bid in bids]
    return (*bids, LIAR, *pairs, *rules.rolls(0), *first)


@kernel
def _list_rows(lists: Lists, order: Longs, rolls: Longs, num_slots: int, named: Names) -> None:
    bids, row, slot = lists.bids, 0, 0
    alone = bids + 1 + bids * bids  # the label of player 0's first roll
    named.first_slot[0] = 0
    for number in order:
        other = lists.highest[number]  # the opponent's last bid, and the player's own before it
        before = _without(number, other)
        own = lists.highest[before]
        for roll in range(rolls[lists.mover[number]]):
            if number == 0:
                named.parent_slot[row], named.row_label[row] = num_slots, alone + roll
            elif before == 0:
                named.parent_slot[row] = num_slots + 1
                named.row_label[row] = alone + rolls[0] + roll * bids + other - 1
            else:
                named.parent_slot[row] = _bid_slot(lists, _without(before, own), roll, own)
                named.row_label[row] = bids + 1 + (own - 1) * bids + other - 1
            for place in range(lists.actions[number]):
                named.slot_label[slot] = other + place
                slot += 1
            row += 1
            named.first_slot[row] = slot


@kernel
def _without(number: int, bid: int) -> int:
    return number & ~(1 << (bid - 1)) if bid else number


@kernel
def _bid_slot(lists: Lists, number: int, roll: int, bid: int) -> int:
    """The slot of a bid after a list of bids."""
    return int(lists.first[number] + roll * lists.actions[number] + bid - lists.highest[number] - 1)


@kernel
def _end_slot(lists: Lists, number: int, roll: int, player: int) -> int:
    """The last slot of a player when a list is called: the call or the highest bid."""
    if player == lists.mover[number]:
        return int(lists.first[number] + (roll + 1) * lists.actions[number] - 1)
    bid = lists.highest[number]
    return _bid_slot(lists, _without(number, bid), roll, bid)


@kernel
def _list_ends(lists: Lists, dice: tuple[Dice, Dice], form: SequenceForm) -> None:
    """The groups of both players at the end of each list of bids, and the leaves that name them."""
    base, at = len(form.leaf_weight) + 2, 0
    for player in range(2):
        own, other = dice[player], dice[1 - player]
        group = form.first_group[player, 0]
        for number in range(1, len(lists.highest)):
            face = (lists.highest[number] - 1) % lists.faces
            for count in range(own.most + 1):
                for roll in range(len(own.chance)):
                    if own.showing[face, roll] == count:
                        form.member_slot[at] = _end_slot(lists, number, roll, player)
                        form.member_weight[at] = own.chance[roll]
                        at += 1
                group += 1
                form.first_member[group] = at
        for number in range(1, len(lists.highest)):
            face = (lists.highest[number] - 1) % lists.faces
            quantity = (lists.highest[number] - 1) // lists.faces + 1
            sign = 1.0 if lists.mover[number] == player else -1.0  # of the other's payoff if the bid holds
            for roll in range(len(other.chance)):
                slot = _end_slot(lists, number, roll, 1 - player)
                form.leaf_weight[slot] = other.chance[roll]
                form.leaf_others[slot, 0] = base + group + other.showing[face, roll]
            for others in range(other.most + 1):
                for count in range(own.most + 1):
                    first = form.first_group[player, 0] + (number - 1) * (own.most + 1)
                    form.member_slot[at] = base + first + count
                    form.member_weight[at] = sign if count + others >= quantity else -sign
                    at += 1
                group += 1
                form.first_member[group] = at
