"""Whole hands by policies, in kernels: a block of deals, each played in every seating of a match.

A deal depends on the seed and its number alone, and so do the numbers that actions are drawn with: the n-th
decision of a hand draws the n-th number, whoever decides. So comparisons under one seed share their luck, and
bots outside kernels (`table.py`) can be dealt the very same hands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from openfelt.cards.boards import Boards, boards
from openfelt.cards.deck import STREETS, Bytes
from openfelt.core.jit import Floats, Ints, Longs, episode_kernel, part
from openfelt.core.memory import scratch
from openfelt.core.random import Stream, go_to, starts, uniform
from openfelt.core.sampling import categorical
from openfelt.games.compile.betting_tree import (
    CHILD,
    FACING_SHIFT,
    KIND,
    PLACE,
    PLAYER,
    STREET_SHIFT,
    WAYS_BITS,
    BettingTree,
    Leaves,
)
from openfelt.policy.holdem import choose
from openfelt.solve.traverse.enumerated import ACTIONS, CHILD as TREE_CHILD, EpisodeTree, settle
from openfelt.solve.traverse.episode import payoff
from openfelt.solve.traverse.holdem import (
    BOARD,
    PERMUTATION,
    Deal,
    HoldemTree,
    clear,
    draw_cards,
    new_deal,
    place_hands,
    share_pot,
    show_hands,
    turn_board,
)

CARD_DRAWS, ACTION_DRAWS = 64, 64  # numbers set apart for a deal: for its cards, and for its decisions
# Columns of a style: hands folded before the flop; bets (with raises) and calls, before the flop and later.
FOLDS, BETS, CALLS, LATE_BETS, LATE_CALLS = range(5)
STYLE_COLUMNS = 5


class Luck(NamedTuple):
    """Where the numbers of a match stand in the generator's period."""

    cards: np.uint64
    actions: np.uint64


def luck(seed: int) -> Luck:
    """The luck of a seed."""
    return Luck(*starts(seed, 2))


class Deals(NamedTuple):
    """The cards of a block of hold'em hands, all the way to the river."""

    cards: Ints  # [deals, 2 * players + 5] seat 0's two, seat 1's two, ..., then the board
    board: Ints  # [deals, streets] the canonical board
    permutation: Ints  # [deals, streets] the suits' way to it
    value: Ints  # [deals, players] of the hands at a showdown


class Played(NamedTuple):
    """How the hands of a block went: each deal one or more times, in the seatings (number + time) % count."""

    leaf: Ints  # [deals, times] the node that the hand ended in
    won: Floats  # [deals, times, players] by seat
    style: Longs  # [participants, STYLE_COLUMNS]


def room(deals: int, times: int, players: int, participants: int) -> Played:
    """Where a block is written to."""
    return Played(
        np.zeros((deals, times), np.int32),
        np.zeros((deals, times, players)),
        np.zeros((participants, STYLE_COLUMNS), np.int64),
    )


def deal_block(players: int, luck: Luck, first: int, count: int) -> Deals:
    """The cards of `count` deals from that number on."""
    deals = Deals(
        np.empty((count, 2 * players + 5), np.int32),
        np.empty((count, len(STREETS)), np.int32),
        np.empty((count, len(STREETS)), np.int32),
        np.empty((count, players), np.int32),
    )
    _deal(boards(), deals, new_deal(players), scratch(1, np.uint64), luck.cards, first)
    return deals


def place_block(tree: HoldemTree, deals: Deals) -> Longs:
    """[deals, streets * players] what is added to a spot to get the slot of each player's hand."""
    players = deals.value.shape[1]
    shift = np.empty((len(deals.cards), len(STREETS) * players), np.int64)
    _place(tree, deals, new_deal(players), shift)
    return shift


def play_block(
    tree: BettingTree,
    weights: tuple[Bytes, ...],
    shifts: Longs,
    seatings: Longs,
    times: int,
    deals: Deals,
    luck: Luck,
    first: int,
) -> Played:
    """Let policies play; `shifts` is [participants, deals, ...]."""
    played = room(len(deals.cards), times, tree.players, len(weights))
    stream = scratch(1, np.uint64)
    _play(tree.node, tree.leaves, weights, shifts, seatings, deals.value, stream, luck.actions, first, played)
    return played


def who_sat(seatings: Longs, first: int, played: Played) -> Longs:
    """[deals, times, seats] the participant in each seat of each hand."""
    deals, times = played.leaf.shape
    place = first + np.arange(deals)[:, None] + np.arange(times)
    return np.asarray(seatings[place % len(seatings)])


def play_tree_block(
    tree: EpisodeTree,
    policies: tuple[Floats, ...],
    seatings: Longs,
    times: int,
    luck: Luck,
    first: int,
    count: int,
) -> Played:
    """The same in an enumerated game; chance is drawn on the way, by numbers of its own."""
    played = room(count, times, seatings.shape[1], len(policies))
    _play_tree(tree, policies, seatings, scratch(1, np.uint64), scratch(1, np.uint64), luck, first, played)
    return played


@episode_kernel
def _deal(canonical: Boards, deals: Deals, deal: Deal, stream: Stream, start: np.uint64, first: int) -> None:
    for number in range(len(deals.cards)):
        clear(deal)
        go_to(stream, start, (first + number) * CARD_DRAWS)
        draw_cards(deal, 2 * len(deal.value), stream)
        for street in range(4):
            if street > 0:
                turn_board(canonical, deal, stream)
            deals.board[number, street] = deal.at[BOARD]
            deals.permutation[number, street] = deal.at[PERMUTATION]
        show_hands(deal)
        for place in range(deals.cards.shape[1]):
            deals.cards[number, place] = deal.cards[place]
        for player in range(len(deal.value)):
            deals.value[number, player] = deal.value[player]


@episode_kernel
def _place(tree: HoldemTree, deals: Deals, deal: Deal, shift: Longs) -> None:
    players = len(deal.value)
    for number in range(len(deals.cards)):
        for place in range(2 * players):
            deal.cards[place] = deals.cards[number, place]
        for street in range(4):
            deal.at[BOARD] = deals.board[number, street]
            deal.at[PERMUTATION] = deals.permutation[number, street]
            place_hands(tree, deal, street, shift[number])


@episode_kernel
def _play(
    node: Ints,
    leaves: Leaves,
    weights: tuple[Bytes, ...],
    shifts: Longs,
    seatings: Longs,
    value: Ints,
    stream: Stream,
    start: np.uint64,
    first: int,
    played: Played,
) -> None:
    players = seatings.shape[1]
    for number in range(len(value)):
        for time in range(played.leaf.shape[1]):
            seating = (first + number + time) % len(seatings)
            here, decisions = 0, (first + number) * ACTION_DRAWS
            while node[here, PLAYER] >= 0:
                player, kind = node[here, PLAYER], node[here, KIND]
                street = kind >> STREET_SHIFT & 3
                bot = seatings[seating, player]
                go_to(stream, start, decisions)
                decisions += 1
                slot = node[here, PLACE] + shifts[bot, number, street * players + player]
                ways = kind & WAYS_BITS
                action = choose(weights[bot], slot, ways, uniform(stream))
                _count_action(played.style, bot, street, kind >> FACING_SHIFT & 1, action)
                here = node[here, CHILD] + action
            played.leaf[number, time] = here
    pay_block(node, leaves, value, played)


@episode_kernel
def pay_block(node: Ints, leaves: Leaves, value: Ints, played: Played) -> None:
    """Write down what each hand won, from where it ended and the values [deals, players] of the hands."""
    for number in range(len(value)):
        for time in range(played.leaf.shape[1]):
            ending = node[played.leaf[number, time], PLACE]
            for player in range(value.shape[1]):
                played.won[number, time, player] = share_pot(leaves, ending, value[number], player)


def count_action(style: Longs, bot: int, street: int, facing: int, action: int) -> None:
    """Count what was done: where there is a bet, 0 folds, 1 calls and 2 raises; else 0 checks and 1 bets."""
    if action > facing:
        style[bot, LATE_BETS if street else BETS] += 1
    elif facing and action == 1:
        style[bot, LATE_CALLS if street else CALLS] += 1
    elif facing and street == 0:
        style[bot, FOLDS] += 1


_count_action = part(count_action)


@episode_kernel
def _play_tree(
    tree: EpisodeTree,
    policies: tuple[Floats, ...],
    seatings: Longs,
    cards: Stream,
    actions: Stream,
    luck: Luck,
    first: int,
    played: Played,
) -> None:
    for number in range(len(played.leaf)):
        for time in range(played.leaf.shape[1]):
            seating = (first + number + time) % len(seatings)
            go_to(cards, luck.cards, (first + number) * CARD_DRAWS)
            go_to(actions, luck.actions, (first + number) * ACTION_DRAWS)
            here = settle(tree, 0, cards)
            while tree.node[here, PLAYER] >= 0:
                bot = seatings[seating, tree.node[here, PLAYER]]
                slot, count = tree.node[here, PLACE], tree.node[here, ACTIONS]
                action = categorical(policies[bot], slot, count, uniform(actions))
                here = settle(tree, tree.node[here, TREE_CHILD] + action, cards)
            played.leaf[number, time] = here
            for player in range(seatings.shape[1]):
                played.won[number, time, player] = payoff(tree, cards, here, player)
