"""Hold'em as arrays: the public betting sequences only, 16 bytes a node; the cards are dealt apart.

A player's row is a node and the bucket of his hand on its street. A *spot* is one action of one node,
whatever the cards; spots stand street by street, in a street player by player, and there as a walk in depth
meets them. A table's slots are laid out the same way, bucket by bucket:

    slot = slot_base[street, player] + bucket * spots[street, player] + (spot - first_spot[street, player])

so that all that one player meets on one street of a hand lies close together, in a few lines of the cache.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.abstraction.abstraction import Abstraction, load_abstraction
from openfelt.cards.deck import PREFLOP, STREETS
from openfelt.core.jit import Floats, Ints, Longs, kernel
from openfelt.games.compile.tree import Tree
from openfelt.games.game import TERMINAL
from openfelt.games.holdem import (
    Betting,
    Holdem,
    bet,
    betting_actions,
    first_betting,
    is_over,
    players_in,
    stakes,
)

PLAYER, KIND, CHILD, PLACE = range(4)  # columns of BettingTree.node
# What the kind of a decision packs: the number of actions, whether there is a bet to call, street, stakes.
WAYS_BITS, FACING_SHIFT, STREET_SHIFT, STAKES_SHIFT = 3, 2, 3, 8
FACING_ACTIONS, FREE_ACTIONS = ("fold", "call", "raise"), ("check", "bet")
OPTION_ACTIONS = ("check", "raise")  # of the big blind, when all have called


class Leaves(NamedTuple):
    """How a hand can end: who is in, and what each has paid."""

    inside: Ints  # [endings] a bit for each player
    paid: Floats  # [endings, players]


class Layout(NamedTuple):
    """Where the slots of a player on a street stand, [streets, players] each."""

    spots: Longs
    first_spot: Longs
    slot_base: Longs
    nodes: Longs  # decisions
    buckets: Longs


@dataclass(frozen=True, eq=False)
class BettingTree(Tree):
    """Compiled hold'em, with the abstraction in which it is learned."""

    game: str  # its name
    players: int
    most_bets: int  # a street
    abstraction: Abstraction
    node: Ints  # [nodes, 4] player or TERMINAL; kind; first child; first spot, or a leaf's place in `leaves`
    leaves: Leaves
    stakes: Floats  # [stakes, 2] pot when the street began, and what could still be bet
    layout: Layout
    num_rows: int
    num_slots: int
    unit: ClassVar[str] = "chips"
    is_enumerated: ClassVar[bool] = False
    two_player_zero_sum: ClassVar[bool] = False  # not in the abstraction, whose recall is imperfect

    @property
    def num_nodes(self) -> int:
        return len(self.node)

    @property
    def num_spots(self) -> int:
        return int(self.layout.spots.sum())

    @property
    def payoff_range(self) -> tuple[float, float]:
        """The least and the most that a player can win."""
        most = float(self.leaves.paid.max())
        return -most, most * (self.players - 1)

    def pots(self) -> tuple[Floats, Floats]:
        """By stakes, which a node's kind names: the pot when the street began, what could still be bet."""
        return self.stakes[:, 0], self.stakes[:, 1]

    def passive_actions(self) -> NDArray[np.int8]:
        """Nothing that a node's kind does not tell."""
        return np.zeros(1, np.int8)

    def player_slots(self, player: int) -> Iterator[slice]:
        for street in range(len(STREETS)):
            first = int(self.layout.slot_base[street, player])
            count = self.layout.spots[street, player] * self.layout.buckets[street, player]
            yield slice(first, first + int(count))

    @cached_property
    def fingerprint(self) -> str:
        """Equal for two trees just if betting and buckets are the same."""
        digest = hashlib.sha256(self.abstraction.fingerprint.encode())
        for array in (self.node, *self.leaves, *self.layout):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:32]

    @cached_property
    def node_ways(self) -> NDArray[np.int8]:
        """How many actions each decision has, in the order of spots."""
        ways = np.zeros(self.num_spots, np.int8)
        decision = self.node[:, PLAYER] >= 0
        ways[self.node[decision, PLACE]] = self.node[decision, KIND] & WAYS_BITS
        return ways[ways > 0]

    def street(self, node: int) -> int:
        """The street of a decision."""
        return int(self.node[node, KIND]) >> STREET_SHIFT & 3

    def actions(self, node: int) -> tuple[str, ...]:
        """The words for what can be done at a decision."""
        return betting_words(int(self.node[node, KIND]))

    def child(self, node: int, action: int) -> int:
        """Where an action leads."""
        return int(self.node[node, CHILD]) + action

    def find_node(self, actions: Sequence[str]) -> int:
        """The node after these actions from the start."""
        node = 0
        for word in actions:
            node = self.child(node, self.actions(node).index(word))
        return node

    def slots(self, node: int, bucket: int) -> slice:
        """Where a row's actions stand in a table."""
        player, kind, _, spot = (int(number) for number in self.node[node])
        place = kind >> STREET_SHIFT & 3, player
        inside = spot - int(self.layout.first_spot[place])
        first = int(self.layout.slot_base[place]) + bucket * int(self.layout.spots[place]) + inside
        return slice(first, first + (kind & WAYS_BITS))

    def decisions(self) -> list[int]:
        """Decision nodes by street."""
        kinds = self.node[self.node[:, PLAYER] >= 0, KIND]
        counts = np.bincount(kinds >> STREET_SHIFT & 3, minlength=len(STREETS))
        return [int(count) for count in counts]


def betting_words(kind: int) -> tuple[str, ...]:
    """The words for what can be done at a decision of that kind."""
    facing, preflop = kind >> FACING_SHIFT & 1, kind >> STREET_SHIFT & 3 == PREFLOP
    words = FACING_ACTIONS if facing else OPTION_ACTIONS if preflop else FREE_ACTIONS
    return words[: kind & WAYS_BITS]


@lru_cache(maxsize=4)
def compile_holdem(game: Holdem) -> BettingTree:
    """The tree of hold'em, remembered."""
    return betting_tree(game, load_abstraction(game.abstraction))


def betting_tree(game: Holdem, abstraction: Abstraction) -> BettingTree:
    """The tree with an abstraction that is at hand: lay out its tables."""
    node, leaves, all_stakes = betting_nodes(game.players, game.bets)
    players = game.players
    spots, decisions = np.zeros((2, len(STREETS), players), np.int64)
    _count_spots(node, spots, decisions)
    buckets = np.repeat(np.array(abstraction.counts, np.int64)[:, None], players, axis=1)
    first_spot = (np.cumsum(spots) - spots.ravel()).reshape(spots.shape)
    slots = spots * buckets
    slot_base = (np.cumsum(slots) - slots.ravel()).reshape(spots.shape)
    return BettingTree(
        game.name,
        players,
        game.bets,
        abstraction,
        node,
        leaves,
        all_stakes,
        Layout(spots, first_spot, slot_base, decisions, buckets),
        num_rows=int((decisions * buckets).sum()),
        num_slots=int(slots.sum()),
    )


@lru_cache(maxsize=2)
def betting_states(players: int, most_bets: int) -> tuple[list[Betting], list[list[int]]]:
    """All states of the betting, the first one first, and for each the numbers of those that follow it."""
    number: dict[Betting, int] = {first_betting(players, most_bets): 0}
    states = list(number)  # grows while we go through it
    after: list[list[int]] = []
    for state in states:
        following = [] if is_over(state) else [bet(state, word) for word in betting_actions(state)]
        for next_state in following:
            if next_state not in number:
                number[next_state] = len(states)
                states.append(next_state)
        after.append([number[next_state] for next_state in following])
    return states, after


@lru_cache(maxsize=2)
def betting_nodes(players: int, most_bets: int) -> tuple[Ints, Leaves, Floats]:
    """The nodes of the tree, from the rules: the few different states first, then the many histories."""
    states, after = betting_states(players, most_bets)
    endings: dict[tuple[int, tuple[int, ...]], int] = {}
    known_stakes: dict[tuple[float, float], int] = {}
    facts = np.empty((len(states), 3), np.int32)  # player, kind, place of a leaf
    for here, state in enumerate(states):
        if is_over(state):
            ending = sum(1 << seat for seat in players_in(state)), state.paid
            facts[here] = TERMINAL, 0, endings.setdefault(ending, len(endings))
        else:
            words = betting_actions(state)
            kind = len(words) | ("call" in words) << FACING_SHIFT | state.street << STREET_SHIFT
            kind |= known_stakes.setdefault(stakes(state), len(known_stakes)) << STAKES_SHIFT
            facts[here] = state.turn, kind, -1
    size = [1] * len(states)
    for here in _last_first(after):
        size[here] += sum(size[below] for below in after[here])
    target = np.array([ways + [-1] * (3 - len(ways)) for ways in after], np.int32)
    node = np.empty((size[0], 4), np.int32)
    _unfold(facts, target, node, np.empty(1024, np.int32), np.empty(1024, np.int32))
    _number_spots(node, np.zeros((len(STREETS), players), np.int64))
    leaves = Leaves(
        np.array([inside for inside, _ in endings], np.int32), np.array([paid for _, paid in endings], float)
    )
    return node, leaves, np.array(list(known_stakes), np.float64)


def _last_first(after: list[list[int]]) -> list[int]:
    """The states, each after all that follow it."""
    entering = np.zeros(len(after), np.int64)
    for ways in after:
        for state in ways:
            entering[state] += 1
    order = [0]
    for state in order:
        for below in after[state]:
            entering[below] -= 1
            if entering[below] == 0:
                order.append(below)
    return order[::-1]


@kernel
def _unfold(facts: Ints, target: Ints, node: Ints, open_nodes: Ints, open_states: Ints) -> None:
    """From states to histories in depth; the children of a node stand next to each other."""
    free, open_count = 1, 1
    open_nodes[0] = open_states[0] = 0
    while open_count:
        open_count -= 1
        here, state = open_nodes[open_count], open_states[open_count]
        node[here, PLAYER], node[here, KIND] = facts[state, 0], facts[state, 1]
        node[here, CHILD], node[here, PLACE] = free, facts[state, 2]
        ways = facts[state, 1] & WAYS_BITS
        for way in range(ways - 1, -1, -1):
            open_nodes[open_count], open_states[open_count] = free + way, target[state, way]
            open_count += 1
        free += ways


@kernel
def _count_spots(node: Ints, spots: Longs, decisions: Longs) -> None:
    for here in range(len(node)):
        if node[here, PLAYER] >= 0:
            street, player = node[here, KIND] >> STREET_SHIFT & 3, node[here, PLAYER]
            spots[street, player] += node[here, KIND] & WAYS_BITS
            decisions[street, player] += 1


@kernel
def _number_spots(node: Ints, spots: Longs) -> None:
    """Give each decision the number of its first spot."""
    _count_spots(node, spots, np.zeros_like(spots))
    following = np.zeros_like(spots)
    total = 0
    for street in range(spots.shape[0]):
        for player in range(spots.shape[1]):
            following[street, player] = total
            total += spots[street, player]
    for here in range(len(node)):
        if node[here, PLAYER] >= 0:
            street, player = node[here, KIND] >> STREET_SHIFT & 3, node[here, PLAYER]
            node[here, PLACE] = following[street, player]
            following[street, player] += node[here, KIND] & WAYS_BITS
