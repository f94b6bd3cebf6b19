"""One iteration of CFR-BR on the CPU, for one seat: a flop and a turn, all hands and all rivers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.boards import PERMUTED_PAIR, Boards, step
from openfelt.cards.deck import CARDS, PAIR_CARDS, PAIRS, Bytes
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.solve.vector.hand_vectors import (
    Choices,
    Hands,
    StreetWork,
    add_average,
    end,
    go_down,
    learn,
    match_regrets,
    respond_best,
    share_by_choice,
    share_by_policy,
)
from openfelt.solve.vector.streets import EXIT, Street


class Rows(NamedTuple):
    """What a player has learned on one street, [rows, edges]; a row is a bucket, or a hand up to suits."""

    regrets: Floats
    average: Floats  # empty for the opponent
    policy: Floats


class Betting(NamedTuple):
    """The streets of the game, and which cards are in the deck."""

    preflop: Street
    flop: Street
    turn: Street
    river: Street
    live: Bytes  # [52]
    boards: Boards


class Learner(NamedTuple):
    """Us in one seat: rows by street, and the bucket of each hand on each canonical board."""

    seat: int
    rows: tuple[Rows, Rows, Rows, Rows]
    buckets: Any  # by street [boards, 1326]


class Trunk(NamedTuple):
    """The opponent before the turn. Its policies are those of the hands of the current board."""

    preflop: Rows
    flop: Rows
    preflop_row: Longs  # [1326]
    flop_row: Longs  # [canonical flops, 1326]


class Work(NamedTuple):
    """The arrays that one thread writes to."""

    street: StreetWork
    reach: tuple[Floats, Floats, Floats]  # of flop, turn and river [2, roots, hands]
    value: tuple[Floats, Floats, Floats]
    turn_choice: Choices  # [roots, decisions, hands]
    river_choice: Choices  # [rivers, roots, decisions, hands]


@kernel
def match_all(betting: Betting, learner: Learner) -> None:
    """The current policy of all buckets."""
    seat = learner.seat
    for street, rows in (
        (betting.preflop, learner.rows[0]),
        (betting.flop, learner.rows[1]),
        (betting.turn, learner.rows[2]),
        (betting.river, learner.rows[3]),
    ):
        match_regrets(street, seat, np.arange(len(rows.regrets)), rows.regrets, rows.policy)


@kernel
def average_preflop(street: Street, player: int, rows: Rows, weight: float) -> None:
    """Add a player's policy before the flop to its average: of all rows, whatever cards are dealt."""
    reach = np.empty(len(street.player))
    for row in range(len(rows.policy)):
        reach[0] = weight
        for node in range(len(street.player)):
            first, edge = street.first_child[node], street.edge[0, node]
            for action in range(street.actions[node]):
                reach[first + action] = reach[node]
                if street.player[node] == player:
                    reach[first + action] *= rows.policy[row, edge + action]
                    rows.average[row, edge + action] += reach[first + action]


@kernel
def possible_pairs(live: Bytes, cards: Ints) -> Ints:
    """The hole cards that are possible on a board."""
    free = live.copy()
    for card in cards:
        free[card] = 0
    found = np.empty(PAIRS, np.int32)
    count = 0
    for pair in range(PAIRS):
        if free[PAIR_CARDS[pair, 0]] and free[PAIR_CARDS[pair, 1]]:
            found[count] = pair
            count += 1
    return found[:count]


@kernel
def sorted_hands(board: Ints, pairs: Ints) -> tuple[Hands, Longs]:
    """The hands that are possible on a river, in the order of their values; and their places in `pairs`."""
    word, river = np.uint64(0), board[4]
    for card in board:
        word |= CARD_BIT[card]
    keys = np.empty(len(pairs), np.int64)
    count = 0
    for place in range(len(pairs)):
        low, high = PAIR_CARDS[pairs[place], 0], PAIR_CARDS[pairs[place], 1]
        if low != river and high != river:
            keys[count] = np.int64(evaluate(word | CARD_BIT[low] | CARD_BIT[high])) << 11 | place
            count += 1
    keys = np.sort(keys[:count])
    last = np.empty(count, np.int32)
    following = count
    for place in range(count - 1, -1, -1):
        if place < count - 1 and keys[place] >> 11 != keys[place + 1] >> 11:
            following = place + 1
        last[place] = following
    places = keys & 2047
    return Hands(pairs[places], last), places


@kernel
def _both_by_policy(street: Street, root: int, seat: int, rows: Any, tables: Any, work: StreetWork) -> None:
    """Both players' shares and reach by their policies; ours first in `rows` and `tables`."""
    count = len(rows[0])
    share_by_policy(street, root, seat, rows[0], tables[0].policy, work)
    share_by_policy(street, root, 1 - seat, rows[1], tables[1].policy, work)
    go_down(street, seat, count, work)
    go_down(street, 1 - seat, count, work)


@kernel
def _both_learn(
    street: Street,
    root: int,
    seat: int,
    hands: Hands,
    rows: Any,
    tables: Any,
    weights: Any,
    values: Any,
    work: StreetWork,
) -> None:
    """Both players' values up to a root, from those of the next street; `values` are (next, this)."""
    count = len(hands.pair)
    for side in range(2):
        player = seat if side == 0 else 1 - seat
        _enter(street, root, count, values[0][player], work)
        end(street, root, player, hands, work)
        learn(street, root, player, rows[side], weights, tables[side].regrets, tables[side].average, work)
        values[1][player, root, :count] = work.value[0, :count]


@kernel
def _leave(street: Street, root: int, player: int, count: int, work: StreetWork, reach: Floats) -> None:
    """A player's reach of the exits is that of the roots of the next street."""
    for node in range(len(street.player)):
        if street.player[node] == EXIT:
            reach[player, street.next_root[root, street.exit[node]], :count] = work.reach[
                player, node, :count
            ]


@kernel
def _enter(street: Street, root: int, count: int, values: Floats, work: StreetWork) -> None:
    """The values of the exits are those of the roots of the next street."""
    for node in range(len(street.player)):
        if street.player[node] == EXIT:
            work.value[node, :count] = values[street.next_root[root, street.exit[node]], :count]


@kernel
def _rivers(
    betting: Betting,
    cards: Ints,
    sampled: Floats,
    turn: Any,
    pairs: Ints,
    us: Learner,
    weights: Any,
    best: bool,
    work: Work,
) -> None:
    """The values of the rivers: of the opponent's best response if `best`, else ours against it.

    The opponent responds on all of them, and we learn from those that are `sampled`.
    """
    seat, other, street, river = us.seat, 1 - us.seat, work.street, betting.river
    player = other if best else seat
    left, none = betting.live.sum() - 8, np.zeros((0, 0))
    board = np.empty(5, np.int32)
    board[:4] = cards
    work.value[2][player] = 0.0
    number = -1
    for card in range(CARDS):
        if not betting.live[card] or (cards == card).any():
            continue
        number += 1
        chance = (1.0 if best else sampled[card]) / left
        if chance == 0.0:
            continue
        board[4] = card
        hands, places = sorted_hands(board, pairs)
        count = len(places)
        last, seen_as = step(betting.boards.to_5, turn[0], turn[1], card)
        row = us.buckets[3][last][PERMUTED_PAIR[seen_as][hands.pair]].astype(np.int64)
        for root in range(len(river.edge)):
            choice = work.river_choice[number, root]
            for hand in range(count):
                street.reach[seat, 0, hand] = work.reach[2][seat, root, places[hand]]
                street.reach[other, 0, hand] = work.reach[2][other, root, places[hand]]
            share_by_policy(river, root, seat, row, us.rows[3].policy, street)
            go_down(river, seat, count, street)
            if best:
                add_average(river, root, seat, row, weights[1] * chance, us.rows[3].average, street)
                end(river, root, other, hands, street)
                respond_best(river, other, count, choice, street)
            else:
                share_by_choice(river, other, choice, count, street)
                go_down(river, other, count, street)
                end(river, root, seat, hands, street)
                learn(river, root, seat, row, (weights[0] * chance, 0.0), us.rows[3].regrets, none, street)
            for hand in range(count):
                work.value[2][player, root, places[hand]] += street.value[0, hand] * chance


@kernel
def iterate(
    betting: Betting,
    cards: Ints,
    sampled: Floats,
    us: Learner,
    trunk: Trunk,
    weights: tuple[float, float],
    work: Work,
) -> float:
    """One iteration on a flop and a turn; returns the opponent's value, in chips.

    `sampled` [52] are the weights of the rivers from which we learn.
    """
    seat, other, street = us.seat, 1 - us.seat, work.street
    pairs = possible_pairs(betting.live, cards)
    count = len(pairs)
    hands = Hands(pairs, pairs)  # in no order: nothing is shown down before the river
    board, seen_as = step(betting.boards.to_1, 0, 0, cards[0])
    board, seen_as = step(betting.boards.to_2, board, seen_as, cards[1])
    board, seen_as = step(betting.boards.to_3, board, seen_as, cards[2])
    after, turn_seen_as = step(betting.boards.to_4, board, seen_as, cards[3])
    preflop_row = us.buckets[0][0][pairs].astype(np.int64)
    flop_row = us.buckets[1][board][PERMUTED_PAIR[seen_as][pairs]].astype(np.int64)
    turn_row = us.buckets[2][after][PERMUTED_PAIR[turn_seen_as][pairs]].astype(np.int64)
    theirs, order = trunk.preflop_row[pairs], np.arange(count)
    their_flop = trunk.flop_row[board][PERMUTED_PAIR[seen_as][pairs]]
    match_regrets(betting.preflop, other, theirs, trunk.preflop.regrets, trunk.preflop.policy)
    match_regrets(betting.flop, other, their_flop, trunk.flop.regrets, trunk.flop.policy)

    # Down: both players' reach of the turn.
    street.reach[:, 0, :count] = 1.0
    _both_by_policy(betting.preflop, 0, seat, (preflop_row, order), (us.rows[0], trunk.preflop), street)
    _leave(betting.preflop, 0, seat, count, street, work.reach[0])
    _leave(betting.preflop, 0, other, count, street, work.reach[0])
    for root in range(len(betting.flop.edge)):
        street.reach[:, 0, :count] = work.reach[0][:, root, :count]
        _both_by_policy(betting.flop, root, seat, (flop_row, order), (us.rows[1], trunk.flop), street)
        _leave(betting.flop, root, seat, count, street, work.reach[1])
        _leave(betting.flop, root, other, count, street, work.reach[1])

    # The opponent's best response from the turn on.
    for root in range(len(betting.turn.edge)):
        street.reach[seat, 0, :count] = work.reach[1][seat, root, :count]
        share_by_policy(betting.turn, root, seat, turn_row, us.rows[2].policy, street)
        go_down(betting.turn, seat, count, street)
        _leave(betting.turn, root, seat, count, street, work.reach[2])
    _rivers(betting, cards, sampled, (after, turn_seen_as), pairs, us, weights, True, work)
    for root in range(len(betting.turn.edge)):
        street.reach[seat, 0, :count] = work.reach[1][seat, root, :count]
        share_by_policy(betting.turn, root, seat, turn_row, us.rows[2].policy, street)
        go_down(betting.turn, seat, count, street)
        _enter(betting.turn, root, count, work.value[2][other], street)
        end(betting.turn, root, other, hands, street)
        respond_best(betting.turn, other, count, work.turn_choice[root], street)
        work.value[1][other, root, :count] = street.value[0, :count]
        street.reach[other, 0, :count] = work.reach[1][other, root, :count]
        share_by_choice(betting.turn, other, work.turn_choice[root], count, street)
        go_down(betting.turn, other, count, street)
        _leave(betting.turn, root, other, count, street, work.reach[2])

    # Up: our values against it, and what both learn.
    _rivers(betting, cards, sampled, (after, turn_seen_as), pairs, us, weights, False, work)
    for root in range(len(betting.turn.edge)):
        street.reach[:, 0, :count] = work.reach[1][:, root, :count]
        share_by_policy(betting.turn, root, seat, turn_row, us.rows[2].policy, street)
        share_by_choice(betting.turn, other, work.turn_choice[root], count, street)
        go_down(betting.turn, seat, count, street)
        go_down(betting.turn, other, count, street)
        _enter(betting.turn, root, count, work.value[2][seat], street)
        end(betting.turn, root, seat, hands, street)
        learn(betting.turn, root, seat, turn_row, weights, us.rows[2].regrets, us.rows[2].average, street)
        work.value[1][seat, root, :count] = street.value[0, :count]
    for root in range(len(betting.flop.edge)):
        street.reach[:, 0, :count] = work.reach[0][:, root, :count]
        _both_by_policy(betting.flop, root, seat, (flop_row, order), (us.rows[1], trunk.flop), street)
        _both_learn(
            betting.flop,
            root,
            seat,
            hands,
            (flop_row, their_flop),
            (us.rows[1], trunk.flop),
            weights,
            (work.value[1], work.value[0]),
            street,
        )
    street.reach[:, 0, :count] = 1.0
    _both_by_policy(betting.preflop, 0, seat, (preflop_row, order), (us.rows[0], trunk.preflop), street)
    _both_learn(
        betting.preflop,
        0,
        seat,
        hands,
        (preflop_row, theirs),
        (us.rows[0], trunk.preflop),
        (weights[0], 0.0),
        (work.value[0], np.zeros((2, 1, count))),
        street,
    )
    average_preflop(betting.preflop, seat, us.rows[0], weights[1])
    return float(street.value[0, :count].sum())


@kernel
def iterate_both(
    betting: Betting, cards: Ints, one: Learner, two: Learner, weights: tuple[float, float], work: Work
) -> None:
    """One iteration in which two learners, in seats 0 and 1, meet on a flop and a turn."""
    street = work.street
    pairs = possible_pairs(betting.live, cards)
    count = len(pairs)
    hands = Hands(pairs, pairs)
    board, seen_as = step(betting.boards.to_1, 0, 0, cards[0])
    board, seen_as = step(betting.boards.to_2, board, seen_as, cards[1])
    board, seen_as = step(betting.boards.to_3, board, seen_as, cards[2])
    after, turn_seen_as = step(betting.boards.to_4, board, seen_as, cards[3])
    preflop = one.buckets[0][0][pairs].astype(np.int64)
    flop = one.buckets[1][board][PERMUTED_PAIR[seen_as][pairs]].astype(np.int64)
    turn = one.buckets[2][after][PERMUTED_PAIR[turn_seen_as][pairs]].astype(np.int64)

    street.reach[:, 0, :count] = 1.0
    _both_by_policy(betting.preflop, 0, 0, (preflop, preflop), (one.rows[0], two.rows[0]), street)
    for player in range(2):
        _leave(betting.preflop, 0, player, count, street, work.reach[0])
    for root in range(len(betting.flop.edge)):
        street.reach[:, 0, :count] = work.reach[0][:, root, :count]
        _both_by_policy(betting.flop, root, 0, (flop, flop), (one.rows[1], two.rows[1]), street)
        for player in range(2):
            _leave(betting.flop, root, player, count, street, work.reach[1])
    for root in range(len(betting.turn.edge)):
        street.reach[:, 0, :count] = work.reach[1][:, root, :count]
        _both_by_policy(betting.turn, root, 0, (turn, turn), (one.rows[2], two.rows[2]), street)
        for player in range(2):
            _leave(betting.turn, root, player, count, street, work.reach[2])

    _both_rivers(betting, cards, (after, turn_seen_as), pairs, one, two, weights, work)
    for root in range(len(betting.turn.edge)):
        street.reach[:, 0, :count] = work.reach[1][:, root, :count]
        _both_by_policy(betting.turn, root, 0, (turn, turn), (one.rows[2], two.rows[2]), street)
        tables, values = (one.rows[2], two.rows[2]), (work.value[2], work.value[1])
        _both_learn(betting.turn, root, 0, hands, (turn, turn), tables, weights, values, street)
    for root in range(len(betting.flop.edge)):
        street.reach[:, 0, :count] = work.reach[0][:, root, :count]
        _both_by_policy(betting.flop, root, 0, (flop, flop), (one.rows[1], two.rows[1]), street)
        tables, values = (one.rows[1], two.rows[1]), (work.value[1], work.value[0])
        _both_learn(betting.flop, root, 0, hands, (flop, flop), tables, weights, values, street)
    street.reach[:, 0, :count] = 1.0
    _both_by_policy(betting.preflop, 0, 0, (preflop, preflop), (one.rows[0], two.rows[0]), street)
    tables, values = (one.rows[0], two.rows[0]), (work.value[0], np.zeros((2, 1, count)))
    _both_learn(betting.preflop, 0, 0, hands, (preflop, preflop), tables, (weights[0], 0.0), values, street)
    average_preflop(betting.preflop, 0, one.rows[0], weights[1])
    average_preflop(betting.preflop, 1, two.rows[0], weights[1])


@kernel
def _both_rivers(
    betting: Betting,
    cards: Ints,
    turn: Any,
    pairs: Ints,
    one: Learner,
    two: Learner,
    weights: tuple[float, float],
    work: Work,
) -> None:
    """The values of all rivers for both learners, and what they learn there."""
    street, river = work.street, betting.river
    left = betting.live.sum() - 8
    chances = weights[0] / left, weights[1] / left
    board = np.empty(5, np.int32)
    board[:4] = cards
    work.value[2][:] = 0.0
    found = np.zeros((2, len(river.edge), len(pairs)))
    for card in range(CARDS):
        if not betting.live[card] or (cards == card).any():
            continue
        board[4] = card
        hands, places = sorted_hands(board, pairs)
        count = len(places)
        last, seen_as = step(betting.boards.to_5, turn[0], turn[1], card)
        row = one.buckets[3][last][PERMUTED_PAIR[seen_as][hands.pair]].astype(np.int64)
        for root in range(len(river.edge)):
            for hand in range(count):
                street.reach[0, 0, hand] = work.reach[2][0, root, places[hand]]
                street.reach[1, 0, hand] = work.reach[2][1, root, places[hand]]
            tables = (one.rows[3], two.rows[3])
            _both_by_policy(river, root, 0, (row, row), tables, street)
            _both_learn(river, root, 0, hands, (row, row), tables, chances, (work.value[2], found), street)
            for player in range(2):
                for hand in range(count):
                    work.value[2][player, root, places[hand]] += found[player, root, hand] / left
