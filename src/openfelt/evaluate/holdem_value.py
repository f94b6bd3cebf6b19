"""What a hold'em policy wins against another, over many deals, with an interval.

Every deal is played once for each seat of the policy, with the same cards (and the same numbers to draw
actions with), so that the luck of the cards mostly cancels out. A deal's cards depend on the seed and its
number alone: comparisons of several policies under one seed share them too, and threads make no difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.stats

from openfelt.base.errors import FeltError
from openfelt.base.jit import Floats, Longs, episode_kernel, part
from openfelt.base.memory import scratch
from openfelt.base.random import Stream, go_to, starts, uniform
from openfelt.cards.deck import STREETS, Bytes
from openfelt.compile.betting_tree import CHILD, KIND, PLACE, PLAYER, STREET_SHIFT, WAYS_BITS
from openfelt.policy.holdem_policy import WHOLE, HoldemPolicy
from openfelt.rules.holdem import BIG_BLIND
from openfelt.traverse.betting import (
    DRAWS,
    STREET,
    Deal,
    HoldemTree,
    clear,
    draw_cards,
    holdem_tree,
    new_deal,
    place_hands,
    turn_board,
)
from openfelt.traverse.episode import payoff

CHUNK = 20_000  # deals at a time
CARD_DRAWS, ACTION_DRAWS = 64, 64  # numbers set apart for a deal; a hand has at most 42 decisions


@dataclass(frozen=True)
class HoldemValue:
    """Winnings of a policy, a hand."""

    deals: int
    hands: int  # each deal is played once in each seat
    chips: float  # the mean over all seats
    error: float  # the standard error of it
    seats: tuple[float, ...]  # chips a hand by seat

    @property
    def mbb(self) -> float:
        """Thousandths of a big blind a hand."""
        return 1000 * self.chips / BIG_BLIND

    def interval(self, confidence: float = 0.95) -> float:
        """Half the width of the interval, in mbb/h."""
        return float(scipy.stats.norm.ppf(0.5 + confidence / 2)) * 1000 * self.error / BIG_BLIND

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        low, high = self.mbb - self.interval(), self.mbb + self.interval()
        by_seat = [1000 * chips / BIG_BLIND for chips in self.seats]
        return {
            "mbb_per_hand": self.mbb,
            "interval_95": [low, high],
            "by_seat": by_seat,
            "deals": self.deals,
            "hands": self.hands,
        }

    def __str__(self) -> str:
        seats = ", ".join(f"{1000 * chips / BIG_BLIND:+.1f}" for chips in self.seats)
        return (
            f"{self.mbb:+.1f} mbb/h, 95% interval ± {self.interval():.1f} "
            f"({self.hands:,} hands: {self.deals:,} deals, each in every seat; by seat {seats})"
        )


def holdem_value(
    policy: HoldemPolicy,
    opponent: HoldemPolicy,
    *,
    deals: int = 1_000_000,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[int], object] = lambda _: None,
) -> HoldemValue:
    """What `policy` wins a hand in one seat, with `opponent` in all others."""
    players = policy.tree.players
    if opponent.tree.players != players:
        raise FeltError(f"The policies are for {players} and for {opponent.tree.players} players.")
    if deals < 2 or deals != int(deals):
        raise FeltError(f"An interval needs a whole number of 2 deals or more, not {deals}.")
    deals = int(deals)
    own = Side(holdem_tree(policy.tree), policy.weights)
    other = own if opponent is policy else Side(holdem_tree(opponent.tree), opponent.weights)
    card_start, action_start = starts(seed, 2)

    def some(first: int) -> Floats:
        count = min(CHUNK, deals - first)
        shifts = np.zeros((2, len(STREETS) * players), np.int64)
        table = Table(new_deal(players), *shifts)
        found = np.zeros(players + 2)
        stream = scratch(1, np.uint64)
        _play(own, other, table, card_start, action_start, stream, first, count, found)
        progress(count)
        return found

    with ThreadPoolExecutor(threads) as pool:
        found = np.sum(list(pool.map(some, range(0, deals, CHUNK))), axis=0)
    mean = found[players] / deals
    spread = max(0.0, found[players + 1] / deals - mean * mean) * deals / (deals - 1)
    seats = tuple((found[:players] / deals).tolist())
    return HoldemValue(deals, deals * players, mean, math.sqrt(spread / deals), seats)


class Side(NamedTuple):
    """One policy."""

    tree: HoldemTree
    weights: Bytes  # [slots]


class Table(NamedTuple):
    """The cards, and where each policy finds its slots."""

    deal: Deal
    own_shift: Longs  # [streets * players]
    other_shift: Longs


@episode_kernel
def _play(
    own: Side,
    other: Side,
    table: Table,
    card_start: np.uint64,
    action_start: np.uint64,
    stream: Stream,
    first: int,
    count: int,
    found: Floats,  # [players + 2] sums of what was won by seat, of a deal's mean, and of its square
) -> None:
    deal = table.deal
    players = len(deal.value)
    for number in range(first, first + count):
        clear(deal)
        go_to(stream, card_start, number * CARD_DRAWS)
        draw_cards(deal, 2 * players, stream)
        _place(own, other, table, 0)
        total = 0.0
        for seat in range(players):
            leaf = _play_hand(own, other, table, seat, card_start, action_start, stream, number)
            won = payoff(own.tree, deal, leaf, seat)
            found[seat] += won
            total += won
        mean = total / players
        found[players] += mean
        found[players + 1] += mean * mean


@part
def _play_hand(
    own: Side,
    other: Side,
    table: Table,
    own_seat: int,
    card_start: np.uint64,
    action_start: np.uint64,
    stream: Stream,
    number: int,
) -> int:
    """From the start to a leaf; draws the board as far as no hand of this deal has needed it before."""
    deal, node, decisions = table.deal, 0, 0
    players = len(deal.value)
    player = own.tree.node[node, PLAYER]
    while player >= 0:
        street = own.tree.node[node, KIND] >> STREET_SHIFT & 3
        while deal.at[STREET] < street:
            go_to(stream, card_start, number * CARD_DRAWS + deal.at[DRAWS])
            turn_board(own.tree, deal, stream)
            _place(own, other, table, deal.at[STREET])
        go_to(stream, action_start, number * ACTION_DRAWS + decisions)
        decisions += 1
        chance = int(uniform(stream) * WHOLE)
        ways, spot, place = (
            own.tree.node[node, KIND] & WAYS_BITS,
            own.tree.node[node, PLACE],
            street * players + player,
        )
        if player == own_seat:
            action = _choose(own.weights, spot + table.own_shift[place], ways, chance)
        else:
            action = _choose(other.weights, spot + table.other_shift[place], ways, chance)
        node = own.tree.node[node, CHILD] + action
        player = own.tree.node[node, PLAYER]
    return node


@part
def _place(own: Side, other: Side, table: Table, street: int) -> None:
    place_hands(own.tree, table.deal, street, table.own_shift)
    place_hands(other.tree, table.deal, street, table.other_shift)


@part
def _choose(weights: Bytes, first: int, ways: int, chance: int) -> int:
    action = 0
    for place in range(first, first + ways - 1):
        chance -= weights[place]
        action += chance >= 0
    return action
