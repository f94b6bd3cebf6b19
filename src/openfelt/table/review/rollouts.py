"""Rollouts of hold'em: from a decision of the person, many hands are played to the end with each action.

The bots' cards are drawn from their ranges (`ranges.py`), the rest of the board from the remaining cards. The
random numbers of a hand depend on its number only, so all actions are tried with the same cards and the same
random numbers: the differences between actions have less variance than the values.

Bots that play by a policy or a rule play in kernels. Other bots are called for each decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from openfelt.arena.hand_kernels import Deals, RandomStreams, random_streams, slot_offsets
from openfelt.bots.bot import Bot, Clock
from openfelt.bots.policy_bot import HoldemBot
from openfelt.bots.view import HoldemView
from openfelt.cards.boards import IDENTITY, Boards, boards, step
from openfelt.cards.deck import BOARD_CARDS, PAIR, STREETS, Bytes
from openfelt.core.jit import Floats, Ints, Longs, episode_kernel
from openfelt.core.memory import scratch
from openfelt.core.random import ITERATION_DRAWS, Dice, Stream, go_to, uniform
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
from openfelt.games.game import TERMINAL
from openfelt.games.holdem import Betting, HoldemState, bet, betting_actions, is_over, players_in
from openfelt.policy.holdem import choose
from openfelt.policy.rules import rule_table, rule_weights
from openfelt.solve.traverse.conditional_deals import draw_hands
from openfelt.solve.traverse.holdem import (
    DRAWN,
    OUT,
    Deal,
    draw_cards,
    holdem_tree,
    new_deal,
    share_pot,
    show_hands,
)
from openfelt.table.review.board_sample import BoardSample, sample_buckets
from openfelt.table.review.bot_policies import kernel_policy
from openfelt.table.review.ranges import DecisionPoint


def draw_deals(
    at: DecisionPoint, count: int, streams: RandomStreams, sample: BoardSample | None = None
) -> tuple[Deals, Ints]:
    """Hands of the bots from their ranges with boards, and the number of each board in the sample."""
    players = at.game.players
    deals = Deals(
        np.empty((count, 2 * players + 5), np.int32),
        np.zeros((count, len(STREETS)), np.int32),
        np.zeros((count, len(STREETS)), np.int32),
        np.empty((count, players), np.int32),
    )
    summed = np.cumsum(at.ranges, axis=1)
    summed /= summed[:, -1:]
    known, stream, picked = np.array(at.board, np.int32), scratch(1, np.uint64), np.zeros(count, np.int32)
    if sample is None:
        _draw(boards(), summed, known, deals, new_deal(players), stream, streams.cards)
    else:
        _draw_from(sample.boards, summed, known, deals, picked, new_deal(players), stream, streams.cards)
    return deals, picked


def kernel_rollouts(
    at: DecisionPoint, seats: Sequence[Bot], count: int, seed: int = 0, sample: BoardSample | None = None
) -> Floats:
    """[hands, actions] winnings of the person; `seats` continue in kernels, one of them for the person.

    Buckets are those of a sample of boards, or of the tables of all boards.
    """
    chance = random_streams(seed)
    deals, picked = draw_deals(at, count, chance, sample)
    policies = [kernel_policy(bot) for bot in seats]
    tree = next((policy.tree for policy in policies if policy), None)
    if tree is not None:
        node, leaves, first = tree.node, tree.leaves, tree.find_node(at.line)
    else:
        betting = HoldemView(at.game, at.seat, (), (), (), at.line).betting
        (node, leaves), first = betting_graph(betting), 0
    weights, shifts = [], []
    for bot, policy in zip(seats, policies, strict=True):
        if policy:
            weights.append(policy.weights)
            if sample is None:
                shifts.append(slot_offsets(holdem_tree(policy.tree), deals))
            else:
                shifts.append(_sample_offsets(policy.tree, sample, deals, picked))
        else:
            assert bot.rule is not None  # kernels play by a policy or by a rule, which has no buckets
            weights.append(_graph_weights(node, bot.rule) if tree is None else rule_table(tree, bot.rule))
            shifts.append(np.zeros((count, len(STREETS) * len(seats)), np.int64))
    won = np.empty((count, len(at.actions)))
    stream, start = scratch(1, np.uint64), chance.actions
    _play_out(node, leaves, tuple(weights), np.stack(shifts), deals.value, first, at.seat, stream, start, won)
    return won


def _sample_offsets(tree: BettingTree, sample: BoardSample, deals: Deals, picked: Ints) -> Longs:
    """[deals, streets * players] as `slot_offsets`, with the buckets of a sample of boards."""
    buckets, players, layout = sample_buckets(sample, tree.abstraction), tree.players, tree.layout
    offsets = np.zeros((len(picked), len(STREETS) * players), np.int64)
    for player in range(players):
        pair = PAIR[deals.cards[:, 2 * player], deals.cards[:, 2 * player + 1]]
        for street in range(sample.street, len(STREETS)):
            bucket, block = buckets.tables[street][buckets.place[picked, street], pair], (street, player)
            first = int(layout.slot_base[block]) - int(layout.first_edge[block])
            offsets[:, street * players + player] = first + bucket * int(layout.edges[block])
    return offsets


def bot_rollouts(
    at: DecisionPoint, seats: Sequence[Bot], count: int, seed: int = 0, sample: BoardSample | None = None
) -> Floats:
    """The same with any bots, which are called for each decision."""
    chance = random_streams(seed)
    deals, _ = draw_deals(at, count, chance, sample)
    begun = HoldemView(at.game, at.seat, (), (), (), at.line).betting
    won = np.empty((count, len(at.actions)))
    for bot in {id(bot): bot for bot in seats if isinstance(bot, HoldemBot)}.values():
        bot.use_buckets(None if sample is None else sample_buckets(sample, bot.policy.tree.abstraction).find)
    for number, cards in enumerate(deals.cards.tolist()):
        for place, word in enumerate(at.actions):
            dice = int(chance.actions), number * ITERATION_DRAWS
            end = _play_with_bots(at, seats, cards, bet(begun, word), word, dice)
            won[number, place] = at.game.payoffs(HoldemState(tuple(cards), end))[at.seat]
    return won


def _play_with_bots(
    at: DecisionPoint,
    seats: Sequence[Bot],
    cards: list[int],
    betting: Betting,
    word: str,
    dice: tuple[int, int],
) -> Betting:
    """Play a hand to its end; `dice` are the start of the random numbers, and how many are used up."""
    players, line, (start, draws) = at.game.players, (*at.line, word), dice
    while not is_over(betting):
        mover = betting.turn
        hole = tuple(cards[2 * mover : 2 * mover + 2])
        board = tuple(cards[2 * players : 2 * players + BOARD_CARDS[betting.street]])
        view = HoldemView(at.game, mover, betting_actions(betting), hole, board, line)
        word = seats[mover].act(view, Dice(start, draws), Clock())
        betting, line, draws = bet(betting, word), (*line, word), draws + 1
    return betting


@lru_cache(maxsize=16)
def betting_graph(start: Betting) -> tuple[Ints, Leaves]:
    """The betting from a state on as a graph of states, for rules: much smaller than the betting tree.

    There is a node for each action into a state, so that the children of a state are consecutive, as in a
    BettingTree. The place of an action is the number of its child.
    """
    states, children = [start], dict[Betting, int]()  # by node; the first child of each state
    for state in states:  # grows in the loop
        if state not in children and not is_over(state):
            children[state] = len(states)
            states += [bet(state, word) for word in betting_actions(state)]
    node = np.zeros((len(states), 4), np.int32)
    endings: dict[tuple[int, tuple[int, ...]], int] = {}
    for here, state in enumerate(states):
        if is_over(state):
            ending = sum(1 << seat for seat in players_in(state)), state.paid
            node[here] = TERMINAL, 0, 0, endings.setdefault(ending, len(endings))
        else:
            words = betting_actions(state)
            kind = len(words) | ("call" in words) << FACING_SHIFT | state.street << STREET_SHIFT
            node[here] = state.turn, kind, children[state], children[state]
    inside, paid = zip(*endings, strict=True)
    return node, Leaves(np.array(inside, np.int32), np.array(paid, float))


def _graph_weights(node: Ints, rule: str) -> Bytes:
    """The weights of a rule at each place of a betting graph."""
    weights = np.zeros(len(node), np.uint8)
    for player, kind, _, place in node.tolist():
        if player >= 0:
            num_actions = kind & ACTIONS_MASK
            weights[place : place + num_actions] = rule_weights(rule, num_actions, kind >> FACING_SHIFT & 1)
    return weights


@episode_kernel
def _draw(
    canonical: Boards,
    summed: Floats,
    known: Ints,
    deals: Deals,
    deal: Deal,
    stream: Stream,
    start: np.uint64,
) -> None:
    players = len(deal.value)
    for number in range(len(deals.cards)):
        go_to(stream, start, number * ITERATION_DRAWS)
        draw_hands(summed, known, deal, stream)
        draw_cards(deal, 5 - len(known), stream)
        show_hands(deal)
        for place in range(2 * players + 5):
            deals.cards[number, place] = deal.cards[place]
        for player in range(players):
            deals.value[number, player] = deal.value[player]
        board, permutation = 0, IDENTITY
        deals.board[number, 0], deals.permutation[number, 0] = board, permutation
        cards = deal.cards[2 * players :]
        board, permutation = step(canonical.to_1, board, permutation, cards[0])
        board, permutation = step(canonical.to_2, board, permutation, cards[1])
        board, permutation = step(canonical.to_3, board, permutation, cards[2])
        deals.board[number, 1], deals.permutation[number, 1] = board, permutation
        board, permutation = step(canonical.to_4, board, permutation, cards[3])
        deals.board[number, 2], deals.permutation[number, 2] = board, permutation
        board, permutation = step(canonical.to_5, board, permutation, cards[4])
        deals.board[number, 3], deals.permutation[number, 3] = board, permutation


@episode_kernel
def _draw_from(
    sample: Ints,
    summed: Floats,
    known: Ints,
    deals: Deals,
    picked: Ints,
    deal: Deal,
    stream: Stream,
    start: np.uint64,
) -> None:
    """Hands and a board of the sample together, until they share no card."""
    players, size = len(deal.value), len(known)
    for number in range(len(deals.cards)):
        go_to(stream, start, number * ITERATION_DRAWS)
        while True:
            draw_hands(summed, known, deal, stream)
            board = int(uniform(stream) * len(sample))
            apart = True
            for place in range(size, 5):
                apart &= not deal.at[OUT] >> sample[board, place] & 1
            if apart:
                break
        for place in range(size, 5):
            deal.cards[2 * players + place] = sample[board, place]
            deal.at[OUT] |= 1 << sample[board, place]
        deal.at[DRAWN] = 2 * players + 5
        show_hands(deal)
        picked[number] = board
        for place in range(2 * players + 5):
            deals.cards[number, place] = deal.cards[place]
        for player in range(players):
            deals.value[number, player] = deal.value[player]


@episode_kernel
def _play_out(
    node: Ints,
    leaves: Leaves,
    weights: tuple[Bytes, ...],
    shifts: Longs,
    value: Ints,
    first: int,
    seat: int,
    stream: Stream,
    start: np.uint64,
    won: Floats,
) -> None:
    players = value.shape[1]
    for number in range(len(value)):
        for first_action in range(won.shape[1]):
            go_to(stream, start, number * ITERATION_DRAWS)
            here = node[first, CHILD] + first_action
            while node[here, PLAYER] >= 0:
                player, kind = node[here, PLAYER], node[here, KIND]
                street = kind >> STREET_SHIFT & 3
                slot = node[here, PLACE] + shifts[player, number, street * players + player]
                action = choose(weights[player], slot, kind & ACTIONS_MASK, uniform(stream))
                here = node[here, CHILD] + action
            won[number, first_action] = share_pot(leaves, node[here, PLACE], value[number], seat)
