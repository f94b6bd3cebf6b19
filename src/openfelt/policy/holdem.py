"""A policy of hold'em, small enough to ship: one byte for each action of each row.

Probabilities are whole numbers of 255ths that sum to 255 in every row, rounded so that the largest remainders
get what is left (an error of less than 1/255 an action; even chances of two are 128 and 127). With the
policy goes the recipe of its abstraction, so that it can play without tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.abstraction.abstraction import Abstraction
from openfelt.cards.abstraction.spec import parse_spec
from openfelt.cards.boards import PAIR_AS, find_board
from openfelt.cards.deck import STREETS, Bytes
from openfelt.core.errors import FeltError, FileError
from openfelt.core.jit import Floats, Longs, kernel, part
from openfelt.games.compile.betting_tree import (
    FACING_SHIFT,
    KIND,
    PLACE,
    PLAYER,
    WAYS_BITS,
    BettingTree,
    betting_tree,
)
from openfelt.games.holdem import Holdem

WHOLE = 255
Ways = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class HoldemPolicy:
    """Probabilities per row of a betting tree, for all players (a profile)."""

    tree: BettingTree
    weights: Bytes  # [slots], in 255ths

    def __post_init__(self) -> None:
        if self.weights.shape != (self.tree.num_slots,) or self.weights.dtype != np.uint8:
            raise FeltError(f"A policy of {self.tree.game} has {self.tree.num_slots} bytes.")
        if not _sums_are_whole(*_rows(self.tree), self.weights):
            raise FeltError("A policy's probabilities must sum to 1 in every row.")

    def __repr__(self) -> str:
        return f"HoldemPolicy({self.tree.game}, {self.tree.num_rows:,} rows)"

    def at(self, node: int, bucket: int) -> dict[str, float]:
        """By words: the probability of each action."""
        table = self.weights[self.tree.slots(node, bucket)] / WHOLE
        return dict(zip(self.tree.actions(node), map(float, table), strict=True))

    def of_all_pairs(self, node: int, board: Sequence[int]) -> Floats:
        """[1326, actions] what it does at a node with each pair; where a card is on the board, anything."""
        tree, street = self.tree, self.tree.street(node)
        number, permutation = find_board(board)
        bucket = tree.abstraction.tables()[street][number][PAIR_AS[permutation]].astype(np.int64)
        slots = tree.slots(node, 0)
        first = slots.start + bucket * tree.layout.spots[street, tree.node[node, PLAYER]]
        return np.asarray(self.weights[first[:, None] + np.arange(slots.stop - slots.start)] / WHOLE)

    def sample(self, slots: slice, generator: np.random.Generator) -> int:
        """The place of an action, drawn with its probability."""
        place = generator.integers(WHOLE)
        return int(np.searchsorted(np.cumsum(self.weights[slots], dtype=np.int64), place, side="right"))

    @property
    def probabilities(self) -> Floats:
        """The table as numbers from 0 to 1, per slot."""
        return self.weights / WHOLE

    def greedy(self) -> HoldemPolicy:
        """The policy that always takes the likeliest action (the first of equal ones)."""
        return of_highest_values(self.tree, self.weights, self.weights > 0)


def quantised(tree: BettingTree, weights: NDArray[Any]) -> HoldemPolicy:
    """Weights per slot to a policy; a row without weight becomes uniform."""
    table = np.empty(tree.num_slots, np.uint8)
    if not _quantise(*_rows(tree), weights, table):
        raise FeltError(f"The numbers of {tree.game} have overflowed; nothing sound was learned.")
    return HoldemPolicy(tree, table)


def of_highest_values(tree: BettingTree, sums: NDArray[Any], visits: NDArray[Any]) -> HoldemPolicy:
    """Always the action of the highest mean, of those visited; a row without visits is uniform."""
    table = np.empty(tree.num_slots, np.uint8)
    _take_highest(*_rows(tree), sums, visits, table)
    return HoldemPolicy(tree, table)


def to_arrays(policy: HoldemPolicy) -> dict[str, NDArray[Any]]:
    """What is saved: the weights, and the abstraction's recipe."""
    recipe = {f"recipe.{street}": table for street, table in policy.tree.abstraction.recipe.items()}
    return {"weights": policy.weights, **recipe}


def tree_of(game: Holdem, arrays: dict[str, NDArray[Any]]) -> BettingTree:
    """The tree of a saved policy, with the abstraction that it was made with."""
    try:
        recipe = {street: np.array(arrays[f"recipe.{street}"]) for street in STREETS}
        return betting_tree(game, Abstraction(parse_spec(game.abstraction), recipe))
    except KeyError as error:
        raise FileError(f"A policy of {game.name} must have {error}, the recipe of its buckets.") from None
    except FeltError as error:
        raise FileError(f"A policy of {game.name} is damaged: {error}") from None


def rule_policy(tree: BettingTree, rule: str) -> HoldemPolicy:
    """One of the players that do not look at their cards: see RULES."""
    return HoldemPolicy(tree, _spread(tree, rule_spots(tree, rule)))


@lru_cache(maxsize=4)
def rule_spots(tree: BettingTree, rule: str) -> Bytes:
    """The same, [spots]: as if all hands were in one bucket."""
    if rule not in RULES:
        raise FeltError(f"There is no rule '{rule}' (known: {', '.join(RULES)}).")
    spots = np.zeros(tree.num_spots, np.uint8)
    decisions = tree.node[tree.node[:, PLAYER] >= 0]
    for kind in np.unique(decisions[:, KIND] & (2 << FACING_SHIFT) - 1):
        ways, facing = int(kind) & WAYS_BITS, int(kind) >> FACING_SHIFT & 1
        chosen = decisions[decisions[:, KIND] & (2 << FACING_SHIFT) - 1 == kind, PLACE]
        for place, weight in enumerate(rule_weights(rule, ways, facing)):
            spots[chosen + place] = weight
    return spots


@cache
def rule_weights(rule: str, ways: int, facing: int) -> tuple[int, ...]:
    """What a rule does, in 255ths, given the number of actions and the place of the one that calls."""
    shares = RULES[rule](ways, facing)
    weights = [int(WHOLE * share / sum(shares)) for share in shares]
    weights[shares.index(max(shares))] += WHOLE - sum(weights)
    return tuple(weights)


def _even(ways: int, facing: int) -> list[float]:
    return [1.0] * ways


def _raise(ways: int, facing: int) -> list[float]:
    return [float(place == ways - 1) for place in range(ways)]


def _call(ways: int, facing: int) -> list[float]:
    return [float(place == facing) for place in range(ways)]


def _fold(ways: int, facing: int) -> list[float]:
    return [float(place == 0) for place in range(ways)]


def _probe(ways: int, facing: int) -> list[float]:
    return [float(place >= facing) for place in range(ways)]


# From the number of actions, and the place of the one that checks or calls, to the weights of the actions.
RULES: dict[str, Callable[[int, int], list[float]]] = {
    "always-raise": _raise,
    "always-call": _call,
    "always-fold": _fold,
    "random": _even,
    "probe": _probe,  # HS14: raise or call with equal chance
}


@part
def choose(weights: Bytes, first: int, ways: int, place: float) -> int:
    """The action that a number from 0 to 1 draws from weights in 255ths."""
    chance, action = int(place * WHOLE), 0
    for slot in range(first, first + ways - 1):
        chance -= weights[slot]
        action += chance >= 0
    return action


def _spread(tree: BettingTree, single: Bytes) -> Bytes:
    """The same weights in every bucket."""
    layout = tree.layout
    table = np.empty(tree.num_slots, np.uint8)
    for place in np.ndindex(*layout.spots.shape):
        count, base = int(layout.spots[place]), int(layout.slot_base[place])
        own = single[layout.first_spot[place] : layout.first_spot[place] + count]
        buckets = int(layout.buckets[place])
        table[base : base + count * buckets].reshape(buckets, count)[...] = own
    return table


def _rows(tree: BettingTree) -> tuple[Longs, Longs, Ways]:
    """The rows in the order of their slots: nodes and buckets of each block, and the actions of each node."""
    return tree.layout.nodes.ravel(), tree.layout.buckets.ravel(), tree.node_ways


@kernel
def _sums_are_whole(nodes: Longs, buckets: Longs, node_ways: Ways, weights: Bytes) -> bool:
    slot, first_node = 0, 0
    for block in range(len(nodes)):
        for _ in range(buckets[block]):
            for node in range(first_node, first_node + nodes[block]):
                total = 0
                for place in range(slot, slot + node_ways[node]):
                    total += weights[place]
                if total != WHOLE:
                    return False
                slot += node_ways[node]
        first_node += nodes[block]
    return True


@kernel
def _quantise(nodes: Longs, buckets: Longs, node_ways: Ways, weights: Floats, table: Bytes) -> bool:
    """False if a weight is not finite."""
    slot, first_node = 0, 0
    rest = np.empty(8)
    for block in range(len(nodes)):
        for _ in range(buckets[block]):
            for node in range(first_node, first_node + nodes[block]):
                ways, total = int(node_ways[node]), 0.0
                for way in range(ways):
                    total += weights[slot + way]
                if not np.isfinite(total):
                    return False
                left = WHOLE
                for way in range(ways):
                    share = WHOLE * (weights[slot + way] / total if total > 0.0 else 1.0 / ways)
                    table[slot + way] = int(share)
                    rest[way] = share - int(share)
                    left -= int(share)
                while left > 0:
                    most = 0
                    for way in range(1, ways):
                        if rest[way] > rest[most]:
                            most = way
                    table[slot + most] += 1
                    rest[most] = -1.0
                    left -= 1
                slot += ways
        first_node += nodes[block]
    return True


@kernel
def _take_highest(
    nodes: Longs,
    buckets: Longs,
    node_ways: Ways,
    sums: NDArray[Any],
    visits: NDArray[Any],
    table: Bytes,
) -> None:
    slot, first_node = 0, 0
    for block in range(len(nodes)):
        for _ in range(buckets[block]):
            for node in range(first_node, first_node + nodes[block]):
                ways, best, most = int(node_ways[node]), -1, 0.0
                for way in range(ways):
                    table[slot + way] = 0
                    if visits[slot + way] > 0:
                        value = sums[slot + way] / visits[slot + way]
                        if best < 0 or value > most:
                            best, most = way, value
                if best < 0:
                    for way in range(ways):
                        table[slot + way] = WHOLE // ways
                    table[slot] += WHOLE % ways
                else:
                    table[slot + best] = WHOLE
                slot += ways
        first_node += nodes[block]
