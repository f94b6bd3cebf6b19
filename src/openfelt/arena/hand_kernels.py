"""Kernels that play whole hands by policies: a block of deals, each in every seating of a match.

A deal depends on the seed and its number alone, and so do the random numbers that draw the actions: decision
n of a hand uses number n, whichever bot decides. So comparisons under one seed share their luck, and bots
that are called for each decision (`table.py`) are dealt the same hands.
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
    ACTIONS_MASK,
    CHILD,
    FACING_SHIFT,
    KIND,
    PLACE,
    PLAYER,
    STREET_SHIFT,
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

CARD_DRAWS, ACTION_DRAWS = 64, 64  # random numbers reserved for the cards and for the decisions of a deal
# Columns of a style: hands folded before the flop; bets (with raises) and calls, before the flop and later.
FOLDS, BETS, CALLS, LATE_BETS, LATE_CALLS = range(5)
STYLE_COLUMNS = 5


class RandomStreams(NamedTuple):
    """Where the random numbers of a match start in the generator's period."""

    cards: np.uint64
    actions: np.uint64


def random_streams(seed: int) -> RandomStreams:
    """The streams of a seed."""
    return RandomStreams(*starts(seed, 2))


class MatchPlan(NamedTuple):
    """How each deal of a match is played."""

    seatings: Longs  # [seatings, seats] the participant in each seat
    times: int  # how often a deal is played, at time t in seating (number of the deal + t) % seatings
    streams: RandomStreams

    def participants(self, first: int, deals: int) -> Longs:
        """[deals, times, seats] the participant in each seat of each hand, from deal number `first` on."""
        numbers = first + np.arange(deals)[:, None] + np.arange(self.times)
        return np.asarray(self.seatings[numbers % len(self.seatings)])


class Deals(NamedTuple):
    """The cards of a block of hold'em hands, all the way to the river."""

    cards: Ints  # [deals, 2 * players + 5] seat 0's two, seat 1's two, ..., then the board
    board: Ints  # [deals, streets] the canonical board
    permutation: Ints  # [deals, streets] of the suits, from the board to the canonical one
    value: Ints  # [deals, players] of the hands at showdown


class HandOutcomes(NamedTuple):
    """How the hands of a block ended."""

    leaf: Ints  # [deals, times] the last node of the hand
    won: Floats  # [deals, times, players] by seat
    style: Longs  # [participants, STYLE_COLUMNS]


def empty_outcomes(deals: int, times: int, players: int, participants: int) -> HandOutcomes:
    """Arrays for the outcomes of a block."""
    return HandOutcomes(
        np.zeros((deals, times), np.int32),
        np.zeros((deals, times, players)),
        np.zeros((participants, STYLE_COLUMNS), np.int64),
    )


def deal_block(players: int, streams: RandomStreams, first: int, count: int) -> Deals:
    """The cards of `count` deals from number `first` on."""
    deals = Deals(
        np.empty((count, 2 * players + 5), np.int32),
        np.empty((count, len(STREETS)), np.int32),
        np.empty((count, len(STREETS)), np.int32),
        np.empty((count, players), np.int32),
    )
    _deal(boards(), deals, new_deal(players), scratch(1, np.uint64), streams.cards, first)
    return deals


def slot_offsets(tree: HoldemTree, deals: Deals) -> Longs:
    """[deals, streets * players] offset from a node's first spot to the slot for the player's hand."""
    players = deals.value.shape[1]
    offsets = np.empty((len(deals.cards), len(STREETS) * players), np.int64)
    _find_offsets(tree, deals, new_deal(players), offsets)
    return offsets


def play_holdem_block(
    tree: BettingTree,
    tables: tuple[Bytes, ...],
    offsets: Longs,
    plan: MatchPlan,
    deals: Deals,
    first: int,
) -> HandOutcomes:
    """Play hold'em by policies; `tables` and `offsets` ([participants, deals, ...]) are by participant."""
    outcomes = empty_outcomes(len(deals.cards), plan.times, tree.players, len(tables))
    stream = scratch(1, np.uint64)
    _play_holdem(tree.node, tree.leaves, tables, offsets, plan, deals.value, stream, first, outcomes)
    return outcomes


def play_tree_block(
    tree: EpisodeTree, tables: tuple[Floats, ...], plan: MatchPlan, first: int, count: int
) -> HandOutcomes:
    """Play an enumerated game by policies; chance is sampled during play, from its own stream."""
    outcomes = empty_outcomes(count, plan.times, plan.seatings.shape[1], len(tables))
    _play_tree(tree, tables, plan, scratch(1, np.uint64), scratch(1, np.uint64), first, outcomes)
    return outcomes


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
def _find_offsets(tree: HoldemTree, deals: Deals, deal: Deal, offsets: Longs) -> None:
    players = len(deal.value)
    for number in range(len(deals.cards)):
        for place in range(2 * players):
            deal.cards[place] = deals.cards[number, place]
        for street in range(4):
            deal.at[BOARD] = deals.board[number, street]
            deal.at[PERMUTATION] = deals.permutation[number, street]
            place_hands(tree, deal, street, offsets[number])


@episode_kernel
def _play_holdem(
    node: Ints,
    leaves: Leaves,
    tables: tuple[Bytes, ...],
    offsets: Longs,
    plan: MatchPlan,
    value: Ints,
    stream: Stream,
    first: int,
    outcomes: HandOutcomes,
) -> None:
    seatings = plan.seatings
    players = seatings.shape[1]
    for number in range(len(value)):
        for time in range(outcomes.leaf.shape[1]):
            seating = (first + number + time) % len(seatings)
            here, decisions = 0, (first + number) * ACTION_DRAWS
            while node[here, PLAYER] >= 0:
                player, kind = node[here, PLAYER], node[here, KIND]
                street = kind >> STREET_SHIFT & 3
                bot = seatings[seating, player]
                go_to(stream, plan.streams.actions, decisions)
                decisions += 1
                slot = node[here, PLACE] + offsets[bot, number, street * players + player]
                num_actions = kind & ACTIONS_MASK
                action = choose(tables[bot], slot, num_actions, uniform(stream))
                _count_action(outcomes.style, bot, street, kind >> FACING_SHIFT & 1, action)
                here = node[here, CHILD] + action
            outcomes.leaf[number, time] = here
    pay_block(node, leaves, value, outcomes)


@episode_kernel
def pay_block(node: Ints, leaves: Leaves, value: Ints, outcomes: HandOutcomes) -> None:
    """Fill in `won` from the leaves and the showdown values [deals, players]."""
    for number in range(len(value)):
        for time in range(outcomes.leaf.shape[1]):
            ending = node[outcomes.leaf[number, time], PLACE]
            for player in range(value.shape[1]):
                outcomes.won[number, time, player] = share_pot(leaves, ending, value[number], player)


def count_action(style: Longs, bot: int, street: int, facing: int, action: int) -> None:
    """Count an action: facing a bet, 0 folds, 1 calls and 2 raises; otherwise 0 checks and 1 bets."""
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
    tables: tuple[Floats, ...],
    plan: MatchPlan,
    cards: Stream,
    actions: Stream,
    first: int,
    outcomes: HandOutcomes,
) -> None:
    seatings = plan.seatings
    for number in range(len(outcomes.leaf)):
        for time in range(outcomes.leaf.shape[1]):
            seating = (first + number + time) % len(seatings)
            go_to(cards, plan.streams.cards, (first + number) * CARD_DRAWS)
            go_to(actions, plan.streams.actions, (first + number) * ACTION_DRAWS)
            here = settle(tree, 0, cards)
            while tree.node[here, PLAYER] >= 0:
                bot = seatings[seating, tree.node[here, PLAYER]]
                slot, count = tree.node[here, PLACE], tree.node[here, ACTIONS]
                action = categorical(tables[bot], slot, count, uniform(actions))
                here = settle(tree, tree.node[here, TREE_CHILD] + action, cards)
            outcomes.leaf[number, time] = here
            for player in range(seatings.shape[1]):
                outcomes.won[number, time, player] = payoff(tree, cards, here, player)
