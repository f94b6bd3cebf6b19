"""Hold'em as arrays: only the public betting lines, 16 bytes a node; the cards are dealt separately.

An infoset is a node and the bucket of the player's hand on its street. An *edge* is one action at one node,
whatever the cards. Edges are numbered by street, then by player, then in depth-first order. The slots of a
table are laid out in the same order, bucket by bucket:

    slot = slot_base[street, player] + bucket * edges[street, player] + (edge - first_edge[street, player])

so the slots that one player needs on one street of a hand are close together, on a few cache lines.
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
from openfelt.cards.abstraction.recipes import Recipe
from openfelt.cards.abstraction.spec import EHS2, HOLE_KINDS, Spec
from openfelt.cards.deck import FLOP, PREFLOP, STREETS
from openfelt.core.jit import Floats, Ints, Longs, for_rounds, kernel
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
# Bit fields of a decision's kind: number of actions, whether there is a bet to call, street, index of stakes.
ACTIONS_MASK, FACING_SHIFT, STREET_SHIFT, STAKES_SHIFT = 3, 2, 3, 8
FACING_ACTIONS, FREE_ACTIONS = ("fold", "call", "raise"), ("check", "bet")
OPTION_ACTIONS = ("check", "raise")  # of the big blind, when all have called


class Leaves(NamedTuple):
    """How a hand can end: who has not folded, and what each player has paid."""

    inside: Ints  # [leaves] a bit for each player
    paid: Floats  # [leaves, players] chips


class Layout(NamedTuple):
    """Where the slots of each player on each street are; all arrays are [streets, players]."""

    edges: Longs  # number of edges: actions of all its nodes
    first_edge: Longs  # number of the first of them
    slot_base: Longs  # slot of the first edge for bucket 0
    nodes: Longs  # number of decision nodes
    buckets: Longs  # number of buckets


@dataclass(frozen=True, eq=False)
class BettingTree(Tree):
    """Compiled hold'em: the betting lines, and the abstraction that defines the infosets."""

    game: str  # its name
    players: int
    most_bets: int  # per street
    abstraction: Abstraction
    node: Ints  # [nodes, 4] player or TERMINAL; kind; first child; first edge, or index of a leaf
    leaves: Leaves
    stakes: Floats  # [stakes, 2] pot at the start of the street, and the most that can be added from then on
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
    def num_edges(self) -> int:
        return int(self.layout.edges.sum())

    @property
    def payoff_range(self) -> tuple[float, float]:
        """The lowest and the highest payoff of any player."""
        most = float(self.leaves.paid.max())
        return -most, most * (self.players - 1)

    def pots(self) -> tuple[Floats, Floats]:
        """[stakes] the pot at the start of the street, and what can be added; a node's kind has the index."""
        return self.stakes[:, 0], self.stakes[:, 1]

    def passive_actions(self) -> NDArray[np.int8]:
        """Unused: the kind of a node says whether there is a bet to call."""
        return np.zeros(1, np.int8)

    def player_slots(self, player: int) -> Iterator[slice]:
        for street in range(len(STREETS)):
            first = int(self.layout.slot_base[street, player])
            count = self.layout.edges[street, player] * self.layout.buckets[street, player]
            yield slice(first, first + int(count))

    @cached_property
    def fingerprint(self) -> str:
        """Equal for two trees if and only if their betting and buckets are equal."""
        digest = hashlib.sha256(self.abstraction.fingerprint.encode())
        for array in (self.node, *self.leaves, *self.layout):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:32]

    @cached_property
    def node_actions(self) -> NDArray[np.int8]:
        """[decisions] number of actions, in the order of edges."""
        actions = np.zeros(self.num_edges, np.int8)
        decision = self.node[:, PLAYER] >= 0
        actions[self.node[decision, PLACE]] = self.node[decision, KIND] & ACTIONS_MASK
        return actions[actions > 0]

    def street(self, node: int) -> int:
        """The street of a decision."""
        return int(self.node[node, KIND]) >> STREET_SHIFT & 3

    def actions(self, node: int) -> tuple[str, ...]:
        """The names of the actions at a decision."""
        return betting_words(int(self.node[node, KIND]))

    def child(self, node: int, action: int) -> int:
        """The node after an action."""
        return int(self.node[node, CHILD]) + action

    def find_node(self, actions: Sequence[str]) -> int:
        """The node after these actions from the start."""
        node = 0
        for word in actions:
            node = self.child(node, self.actions(node).index(word))
        return node

    def slots(self, node: int, bucket: int) -> slice:
        """The slots of an infoset's actions."""
        player, kind, _, edge = (int(number) for number in self.node[node])
        place = kind >> STREET_SHIFT & 3, player
        inside = edge - int(self.layout.first_edge[place])
        first = int(self.layout.slot_base[place]) + bucket * int(self.layout.edges[place]) + inside
        return slice(first, first + (kind & ACTIONS_MASK))

    def decisions(self) -> list[int]:
        """Number of decision nodes by street."""
        kinds = self.node[self.node[:, PLAYER] >= 0, KIND]
        counts = np.bincount(kinds >> STREET_SHIFT & 3, minlength=len(STREETS))
        return [int(count) for count in counts]


def betting_words(kind: int) -> tuple[str, ...]:
    """The names of the actions at a decision of that kind."""
    facing, preflop = kind >> FACING_SHIFT & 1, kind >> STREET_SHIFT & 3 == PREFLOP
    words = FACING_ACTIONS if facing else OPTION_ACTIONS if preflop else FREE_ACTIONS
    return words[: kind & ACTIONS_MASK]


@lru_cache(maxsize=4)
def compile_holdem(game: Holdem) -> BettingTree:
    """The betting tree of hold'em with the abstraction of its name, cached."""
    return betting_tree(game, load_abstraction(game.abstraction))


@lru_cache(maxsize=2)
def betting_only(game: Holdem) -> BettingTree:
    """The betting lines, for policies without buckets: all hands are in one."""
    spec = Spec(EHS2, (1,) * len(STREETS))
    recipe: Recipe = {street: np.zeros(0, np.int64) for street in STREETS[FLOP:]}
    recipe[STREETS[PREFLOP]] = np.zeros(HOLE_KINDS, np.uint16)
    return betting_tree(game.unabstracted, Abstraction(spec, recipe))


def betting_tree(game: Holdem, abstraction: Abstraction) -> BettingTree:
    """The betting tree of hold'em with the given abstraction."""
    node, leaves, all_stakes = betting_nodes(game.players, game.bets)
    players = game.players
    edges, decisions = _count_edges(players, game.bets)
    buckets = np.repeat(np.array(abstraction.counts, np.int64)[:, None], players, axis=1)
    first_edge = _sums_before(edges)
    slots = edges * buckets
    slot_base = _sums_before(slots)
    return BettingTree(
        game.name,
        players,
        game.bets,
        abstraction,
        node,
        leaves,
        all_stakes,
        Layout(edges, first_edge, slot_base, decisions, buckets),
        num_rows=int((decisions * buckets).sum()),
        num_slots=int(slots.sum()),
    )


@lru_cache(maxsize=2)
def betting_states(players: int, most_bets: int) -> tuple[list[Betting], list[list[int]]]:
    """All states of the betting, the first one first, and the numbers of the states that follow each."""
    number: dict[Betting, int] = {first_betting(players, most_bets): 0}
    states = list(number)  # grows in the loop
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
    """Nodes, leaves and stakes of the tree, from the rules: first the few states, then the many histories."""
    states, after = betting_states(players, most_bets)
    leaf_index: dict[tuple[int, tuple[int, ...]], int] = {}
    stakes_index: dict[tuple[float, float], int] = {}
    facts = np.empty((len(states), 3), np.int32)  # player, kind, index of a leaf
    for here, state in enumerate(states):
        if is_over(state):
            leaf = sum(1 << seat for seat in players_in(state)), state.paid
            facts[here] = TERMINAL, 0, leaf_index.setdefault(leaf, len(leaf_index))
        else:
            words = betting_actions(state)
            kind = len(words) | ("call" in words) << FACING_SHIFT | state.street << STREET_SHIFT
            kind |= stakes_index.setdefault(stakes(state), len(stakes_index)) << STAKES_SHIFT
            facts[here] = state.turn, kind, -1
    size = [1] * len(states)
    for here in reverse_topological(after):
        size[here] += sum(size[below] for below in after[here])
    target = np.array([following + [-1] * (3 - len(following)) for following in after], np.int32)
    node = np.empty((size[0], 4), np.int32)
    unfold, number_edges = for_rounds(_unfold, len(node)), for_rounds(_number_edges, len(node))
    unfold(facts, target, node, np.empty(1024, np.int32), np.empty(1024, np.int32))
    number_edges(node, _sums_before(_count_edges(players, most_bets)[0]))
    leaves = Leaves(
        np.array([inside for inside, _ in leaf_index], np.int32),
        np.array([paid for _, paid in leaf_index], float),
    )
    return node, leaves, np.array(list(stakes_index), np.float64)


@lru_cache(maxsize=2)
def _count_edges(players: int, most_bets: int) -> tuple[Longs, Longs]:
    """Edges and decisions [streets, players], by the number of betting lines that lead to each state."""
    states, after = betting_states(players, most_bets)
    lines = [1] + [0] * (len(states) - 1)
    edges, decisions = np.zeros((2, len(STREETS), players), np.int64)
    for here in reversed(reverse_topological(after)):
        for below in after[here]:
            lines[below] += lines[here]
        if after[here]:
            place = states[here].street, states[here].turn
            edges[place] += lines[here] * len(after[here])
            decisions[place] += lines[here]
    return edges, decisions


def _sums_before(counts: Longs) -> Longs:
    """For each entry of a table the sum of those before it."""
    return np.asarray((np.cumsum(counts) - counts.ravel()).reshape(counts.shape))


def reverse_topological(after: list[list[int]]) -> list[int]:
    """The states, each after all states that follow it."""
    entering = np.zeros(len(after), np.int64)
    for following in after:
        for state in following:
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
    """From states to histories, depth first; the children of a node are consecutive."""
    free, open_count = 1, 1
    open_nodes[0] = open_states[0] = 0
    while open_count:
        open_count -= 1
        here, state = open_nodes[open_count], open_states[open_count]
        node[here, PLAYER], node[here, KIND] = facts[state, 0], facts[state, 1]
        node[here, CHILD], node[here, PLACE] = free, facts[state, 2]
        actions = facts[state, 1] & ACTIONS_MASK
        for action in range(actions - 1, -1, -1):
            open_nodes[open_count], open_states[open_count] = free + action, target[state, action]
            open_count += 1
        free += actions


@kernel
def _number_edges(node: Ints, following: Longs) -> None:
    """Give each decision the number of its first edge; `following` [streets, players] are the next ones."""
    for here in range(len(node)):
        if node[here, PLAYER] >= 0:
            street, player = node[here, KIND] >> STREET_SHIFT & 3, node[here, PLAYER]
            node[here, PLACE] = following[street, player]
            following[street, player] += node[here, KIND] & ACTIONS_MASK
