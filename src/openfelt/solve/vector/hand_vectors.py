"""One street after one root, for all hands of a board at once: reach down, values up.

`share[node, hand]` is the probability of the action that leads to a node, for the player who takes it. A
player's reach is the product of its own shares; the values of a player are sums over the opponent's hands,
weighted with the opponent's reach, as counterfactual values are.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import CARDS, PAIR_CARDS
from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.solve.vector.streets import EXIT, SHOWDOWN, Street

Choices: TypeAlias = NDArray[np.int8]


class Hands(NamedTuple):
    """Hands that are possible on a board; on the river in the order of their values."""

    pair: Ints  # [hands]
    end: Ints  # [hands] on the river: the place after the last hand of equal value


class StreetWork(NamedTuple):
    """The arrays that one thread writes to, for a street of so many nodes."""

    share: Floats  # [nodes, hands]
    reach: Floats  # [2, nodes, hands]
    value: Floats  # [nodes, hands]
    of_card: Floats  # [52]


def new_street_work(nodes: int, hands: int) -> StreetWork:
    """Empty arrays."""
    return StreetWork(
        np.zeros((nodes, hands)), np.zeros((2, nodes, hands)), np.zeros((nodes, hands)), np.zeros(CARDS)
    )


@kernel
def share_by_policy(
    street: Street, root: int, player: int, row: Longs, policy: Floats, work: StreetWork
) -> None:
    """The player's shares by its policy [rows, edges]."""
    for node in range(len(street.player)):
        if street.player[node] == player:
            edge = street.edge[root, node]
            for action in range(street.actions[node]):
                share = work.share[street.first_child[node] + action]
                for hand in range(len(row)):
                    share[hand] = policy[row[hand], edge + action]


@kernel
def match_regrets(street: Street, player: int, row: Longs, regrets: Floats, policy: Floats) -> None:
    """The policy [len(row), edges] in proportion to the positive regrets of these rows."""
    for root in range(len(street.edge)):
        for node in range(len(street.player)):
            if street.player[node] == player:
                first, last = street.edge[root, node], street.edge[root, node] + street.actions[node]
                for place in range(len(row)):
                    total = 0.0
                    for edge in range(first, last):
                        total += max(regrets[row[place], edge], 0.0)
                    for edge in range(first, last):
                        if total > 0.0:
                            policy[place, edge] = max(regrets[row[place], edge], 0.0) / total
                        else:
                            policy[place, edge] = 1.0 / (last - first)


@kernel
def share_by_choice(street: Street, player: int, choice: Choices, hands: int, work: StreetWork) -> None:
    """The player's shares by the action that it chose [decisions, hands]."""
    for node in range(len(street.player)):
        if street.player[node] == player:
            for action in range(street.actions[node]):
                share = work.share[street.first_child[node] + action]
                for hand in range(hands):
                    share[hand] = 1.0 if choice[street.decision[node], hand] == action else 0.0


@kernel
def go_down(street: Street, player: int, hands: int, work: StreetWork) -> None:
    """The player's reach of all nodes, from that of the root."""
    reach = work.reach[player]
    for node in range(len(street.player)):
        own = street.player[node] == player
        for child in range(street.first_child[node], street.first_child[node] + street.actions[node]):
            if own:
                for hand in range(hands):
                    reach[child, hand] = reach[node, hand] * work.share[child, hand]
            else:
                for hand in range(hands):
                    reach[child, hand] = reach[node, hand]


@kernel
def end(street: Street, root: int, player: int, hands: Hands, work: StreetWork) -> None:
    """The player's values where the hand ends; the values of exits are there already."""
    for node in range(len(street.player)):
        if street.player[node] < 0 and street.player[node] != EXIT:
            won, reach = street.won[root, node, player], work.reach[1 - player, node]
            if street.player[node] == SHOWDOWN:
                _show_down(won, reach, hands, work.of_card, work.value[node])
            else:
                _meet(won, reach, hands, work.of_card, work.value[node])


@kernel
def _meet(won: float, reach: Floats, hands: Hands, of_card: Floats, value: Floats) -> None:
    """The chips times the reach of the hands that share no card with each hand."""
    of_card[:] = 0.0
    total = 0.0
    for hand in range(len(hands.pair)):
        total += reach[hand]
        of_card[PAIR_CARDS[hands.pair[hand], 0]] += reach[hand]
        of_card[PAIR_CARDS[hands.pair[hand], 1]] += reach[hand]
    for hand in range(len(hands.pair)):
        pair = hands.pair[hand]
        value[hand] = won * (
            total - of_card[PAIR_CARDS[pair, 0]] - of_card[PAIR_CARDS[pair, 1]] + reach[hand]
        )


@kernel
def _show_down(pot: float, reach: Floats, hands: Hands, of_card: Floats, value: Floats) -> None:
    """The chips times the reach of the hands that each hand beats, less that of those that beat it."""
    _meet(-1.0, reach, hands, of_card, value)
    of_card[:] = 0.0
    below, start = 0.0, 0
    while start < len(hands.pair):
        last = hands.end[start]
        for hand in range(start, last):
            pair = hands.pair[hand]
            value[hand] += below - of_card[PAIR_CARDS[pair, 0]] - of_card[PAIR_CARDS[pair, 1]]
        for hand in range(start, last):
            below += reach[hand]
            of_card[PAIR_CARDS[hands.pair[hand], 0]] += reach[hand]
            of_card[PAIR_CARDS[hands.pair[hand], 1]] += reach[hand]
        for hand in range(start, last):
            pair = hands.pair[hand]
            # The lower hands and those that are not higher, less all: the higher ones count as lost.
            not_higher = below - of_card[PAIR_CARDS[pair, 0]] - of_card[PAIR_CARDS[pair, 1]] + reach[hand]
            value[hand] = pot * (value[hand] + not_higher)
        start = last


@kernel
def respond_best(street: Street, player: int, hands: int, choice: Choices, work: StreetWork) -> None:
    """The player's values up to the root if it plays a best response from here on; writes its choices.

    Of equally good actions it checks or calls.
    """
    for node in range(len(street.player) - 1, -1, -1):
        if street.player[node] < 0:
            continue
        value, first = work.value[node], street.first_child[node]
        if street.player[node] != player:
            _sum(street, node, hands, work)
            continue
        passive = street.passive[node]
        for hand in range(hands):
            value[hand] = work.value[first + passive, hand]
            choice[street.decision[node], hand] = passive
        for action in range(street.actions[node]):
            for hand in range(hands):
                if work.value[first + action, hand] > value[hand]:
                    value[hand] = work.value[first + action, hand]
                    choice[street.decision[node], hand] = action


@kernel
def learn(
    street: Street,
    root: int,
    player: int,
    row: Longs,
    weights: tuple[float, float],
    regrets: Floats,
    average: Floats,
    work: StreetWork,
) -> None:
    """The player's values up to the root by its shares; adds to its regrets and, if it has one, average.

    `weights` are those of the regrets and of the average.
    """
    hands = len(row)
    for node in range(len(street.player) - 1, -1, -1):
        if street.player[node] < 0:
            continue
        if street.player[node] != player:
            _sum(street, node, hands, work)
            continue
        value, first, edge = work.value[node], street.first_child[node], street.edge[root, node]
        for hand in range(hands):
            total = 0.0
            for action in range(street.actions[node]):
                total += work.share[first + action, hand] * work.value[first + action, hand]
            value[hand] = total
            for action in range(street.actions[node]):
                regrets[row[hand], edge + action] += weights[0] * (work.value[first + action, hand] - total)
    if len(average):
        add_average(street, root, player, row, weights[1], average, work)


@kernel
def add_average(
    street: Street, root: int, player: int, row: Longs, weight: float, average: Floats, work: StreetWork
) -> None:
    """Add a player's shares to its average, weighted with its reach."""
    for node in range(len(street.player)):
        if street.player[node] == player:
            first, edge = street.first_child[node], street.edge[root, node]
            for hand in range(len(row)):
                played = weight * work.reach[player, node, hand]
                for action in range(street.actions[node]):
                    average[row[hand], edge + action] += played * work.share[first + action, hand]


@kernel
def _sum(street: Street, node: int, hands: int, work: StreetWork) -> None:
    """The value of a decision of the opponent, whose reach is in the values."""
    first, value = street.first_child[node], work.value[node]
    for hand in range(hands):
        value[hand] = work.value[first, hand]
    for action in range(1, street.actions[node]):
        for hand in range(hands):
            value[hand] += work.value[first + action, hand]
