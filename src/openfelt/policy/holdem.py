"""Policies of limit hold'em: one byte for each action of each infoset, small enough to ship.

Weights are whole numbers of 255ths that sum to 255 at every infoset, rounded by largest remainder (an error
below 1/255 per action; two equal probabilities are 128 and 127). The policy carries the recipe of its
abstraction, so it can be played without bucket tables.

A *compact* policy is in 15ths, that is in multiples of 17/255. Any such policy, a pure one too, is saved
packed and compressed (`packing.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.abstraction.abstraction import Abstraction
from openfelt.cards.abstraction.recipes import parts_of
from openfelt.cards.abstraction.spec import parse_spec
from openfelt.cards.boards import PERMUTED_PAIR, find_board
from openfelt.cards.deck import BOARD_CARDS, STREETS, Bytes, parse_cards
from openfelt.core.errors import FeltError, FileError, GameError
from openfelt.core.files import MALFORMED
from openfelt.core.jit import Floats, Longs, kernel, part
from openfelt.core.sampling import categorical
from openfelt.games.compile.betting_tree import PLAYER, BettingTree, betting_tree
from openfelt.games.holdem import Holdem
from openfelt.policy.packing import COARSE, PACKED, STEP, ActionCounts, pack, unpack
from openfelt.policy.policy import Policy

WHOLE = 255
RARE = 0.1  # of the mean weight over a street and seat: below it a compact policy is pure
CARDS = re.compile("([2-9TJQKA][cdhs])+")


@dataclass(frozen=True, eq=False)
class HoldemPolicy(Policy):
    """A policy of two- or three-player limit hold'em over the buckets of an abstraction.

    Parameters
    ----------
    tree : BettingTree
        The betting lines with the abstraction: `solver.tree`, or the tree of another policy.
    weights : array of uint8
        One for each slot of the tree, in 255ths; they sum to 255 at every infoset.

    Examples
    --------
    >>> felt.load_policy("default").at(1, "8h5d")
    {'fold': 0.6, 'call': 0.0, 'raise': 0.4}
    """

    tree: BettingTree
    weights: Bytes  # [slots], in 255ths

    def __post_init__(self) -> None:
        if self.weights.shape != (self.tree.num_slots,) or self.weights.dtype != np.uint8:
            raise FeltError(f"A policy of {self.game} has {self.tree.num_slots} bytes.")
        if not _sums_are_whole(*rows_of(self.tree), self.weights):
            raise FeltError("The probabilities of a policy must sum to 1 at every infoset.")

    def __repr__(self) -> str:
        return f"HoldemPolicy({self.game}, {self.tree.num_rows:,} infosets)"

    @property
    def rules(self) -> Holdem:
        """The rules of the game, without the abstraction."""
        return Holdem(self.tree.players, bets=self.tree.most_bets)

    @property
    def table(self) -> NDArray[Any]:
        return self.weights

    def with_table(self, table: NDArray[Any]) -> HoldemPolicy:
        return HoldemPolicy(self.tree, table)

    @property
    def probabilities(self) -> Floats:
        """[slots] the weights as numbers from 0 to 1."""
        return self.weights / WHOLE

    def at(self, player: int, infoset: str) -> dict[str, float]:
        """The probability of each action, given hole cards, actions and board cards in the order observed.

        For example "AhKh raise call Qh7h2s check": hole cards, betting before the flop, the flop, betting.
        """
        hole, board, line = parse_infoset(infoset)
        try:
            node = self.tree.find_node(line)
        except (ValueError, IndexError):
            raise GameError(f"{self.game} has no betting line '{' '.join(line)}'.") from None
        if int(self.tree.node[node, PLAYER]) != player:
            raise GameError(f"Player {player} is not to act after '{' '.join(line) or 'the blinds'}'.")
        street = self.tree.street(node)
        if BOARD_CARDS[street] != len(board):
            raise GameError(
                f"On the {STREETS[street]} the board has {BOARD_CARDS[street]} cards, not {len(board)}."
            )
        return self.at_bucket(node, self.tree.abstraction.bucket(hole, board))

    def at_bucket(self, node: int, bucket: int) -> dict[str, float]:
        """The probability of each action at a node of the betting tree, for hands of a bucket."""
        table = self.weights[self.tree.slots(node, bucket)] / WHOLE
        return dict(zip(self.tree.actions(node), map(float, table), strict=True))

    def of_all_pairs(self, node: int, board: Sequence[int]) -> Floats:
        """[1326, actions] probabilities by hole cards; arbitrary for cards that are on the board."""
        tree, street = self.tree, self.tree.street(node)
        number, permutation = find_board(board)
        bucket = tree.abstraction.tables()[street][number][PERMUTED_PAIR[permutation]].astype(np.int64)
        slots = tree.slots(node, 0)
        first = slots.start + bucket * tree.layout.edges[street, tree.node[node, PLAYER]]
        return np.asarray(self.weights[first[:, None] + np.arange(slots.stop - slots.start)] / WHOLE)

    def greedy(self) -> HoldemPolicy:
        return highest_values(self.tree, self.weights, self.weights > 0)

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        recipe = {f"recipe.{street}": table for street, table in self.tree.abstraction.recipe.items()}
        if self.is_compact:
            return {PACKED: pack(*rows_of(self.tree), self.weights), **recipe}
        return {"weights": self.weights, **recipe}

    @property
    def is_compact(self) -> bool:
        """Whether all probabilities are in 15ths."""
        return not (self.weights % STEP).any()

    def compact(self, weights: NDArray[Any] | None = None, rare: float = RARE) -> HoldemPolicy:
        """The policy rounded to 15ths by largest remainder; its file is packed and compressed.

        With the solver's weights [slots], which say how often each action was played, infosets that are
        reached rarely take their most probable action, which makes the file smaller.
        """
        rows, table = rows_of(self.tree), np.empty(self.tree.num_slots, np.uint8)
        sums = self.weights.astype(np.float64) if weights is None else weights
        below = np.zeros(len(rows[0])) if weights is None else rare * _mean_weights(*rows, sums)
        _quantise(*rows, sums, COARSE, below, table)
        return HoldemPolicy(self.tree, table * np.uint8(STEP))


def unpacked(tree: BettingTree, packed: Bytes) -> HoldemPolicy:
    """The compact policy of a file."""
    return HoldemPolicy(tree, unpack(*rows_of(tree), packed, tree.num_slots))


def require_holdem_policy(policy: Policy) -> HoldemPolicy:
    """Raise if a policy is not a table of hold'em."""
    if not isinstance(policy, HoldemPolicy):
        network = isinstance(policy.tree, BettingTree)
        wrong = "has no table: it is a network" if network else f"plays {policy.game}, not hold'em"
        raise FeltError(f"The policy {wrong}.")
    return policy


def parse_infoset(infoset: str) -> tuple[tuple[int, ...], tuple[int, ...], list[str]]:
    """Hole cards, board and actions of an infoset such as "AhKh raise call Qh7h2s check"."""
    words = infoset.split()
    cards = [card for word in words if CARDS.fullmatch(word) for card in parse_cards(word)]
    if len(cards) < 2 or len(set(cards)) < len(cards):
        raise GameError(f"An infoset of hold'em starts with two different hole cards, unlike '{infoset}'.")
    return tuple(cards[:2]), tuple(cards[2:]), [word for word in words if not CARDS.fullmatch(word)]


def quantised(tree: BettingTree, weights: NDArray[Any]) -> HoldemPolicy:
    """The policy in proportion to weights per slot; uniform at infosets without weight."""
    table = np.empty(tree.num_slots, np.uint8)
    rows = rows_of(tree)
    if not _quantise(*rows, weights, WHOLE, np.zeros(len(rows[0])), table):
        raise FeltError(f"The weights of a policy of {tree.game} are not finite: the run has overflowed.")
    return HoldemPolicy(tree, table)


def highest_values(tree: BettingTree, sums: NDArray[Any], visits: NDArray[Any]) -> HoldemPolicy:
    """The policy of the highest mean value among visited actions; uniform at infosets without visits."""
    table = np.empty(tree.num_slots, np.uint8)
    _take_highest(*rows_of(tree), sums, visits, table)
    return HoldemPolicy(tree, table)


def tree_of(game: Holdem, arrays: dict[str, NDArray[Any]]) -> BettingTree:
    """The tree of a saved policy, with its own abstraction."""
    try:
        spec = parse_spec(game.abstraction)
        recipe = {part: np.array(arrays[f"recipe.{part}"]) for part in parts_of(spec)}
        return betting_tree(game, Abstraction(spec, recipe))
    except KeyError as error:
        raise FileError(f"A policy of {game.name} must have {error}, the recipe of its buckets.") from None
    except FeltError as error:
        raise FileError(f"A policy of {game.name} is damaged: {error}") from None
    except MALFORMED:
        raise FileError(f"A policy of {game.name} is damaged: the recipe of its buckets.") from None


@part
def choose(weights: Bytes, first: int, actions: int, uniform: float) -> int:
    """The action that a uniform number from 0 to 1 draws from weights in 255ths."""
    return categorical(weights, first, actions, int(uniform * WHOLE))


def in_every_bucket(tree: BettingTree, single: Bytes) -> Bytes:
    """[slots] the same weights [edges] in every bucket."""
    layout = tree.layout
    table = np.empty(tree.num_slots, np.uint8)
    for block in np.ndindex(*layout.edges.shape):  # (street, player)
        count, base = int(layout.edges[block]), int(layout.slot_base[block])
        own = single[layout.first_edge[block] : layout.first_edge[block] + count]
        buckets = int(layout.buckets[block])
        table[base : base + count * buckets].reshape(buckets, count)[...] = own
    return table


def rows_of(tree: BettingTree) -> tuple[Longs, Longs, ActionCounts]:
    """Infosets in the order of slots: nodes and buckets of each block, and the actions of each node."""
    return tree.layout.nodes.ravel(), tree.layout.buckets.ravel(), tree.node_actions


@kernel
def _sums_are_whole(nodes: Longs, buckets: Longs, node_actions: ActionCounts, weights: Bytes) -> bool:
    slot, first_node = 0, 0
    for block in range(len(nodes)):
        for _ in range(buckets[block]):
            for node in range(first_node, first_node + nodes[block]):
                total = 0
                for place in range(slot, slot + node_actions[node]):
                    total += weights[place]
                if total != WHOLE:
                    return False
                slot += node_actions[node]
        first_node += nodes[block]
    return True


@kernel
def _mean_weights(nodes: Longs, buckets: Longs, node_actions: ActionCounts, weights: Floats) -> Floats:
    """The mean weight of the infosets of each block."""
    means = np.zeros(len(nodes))
    slot, first_node = 0, 0
    for block in range(len(nodes)):
        begin = slot
        for node in range(first_node, first_node + nodes[block]):
            slot += buckets[block] * node_actions[node]
        means[block] = weights[begin:slot].sum() / max(1, nodes[block] * buckets[block])
        first_node += nodes[block]
    return means


@kernel
def _quantise(
    nodes: Longs,
    buckets: Longs,
    node_actions: ActionCounts,
    weights: Floats,
    whole: int,
    rare: Floats,
    table: Bytes,
) -> bool:
    """Round to parts of the whole, or to one action where the weight is below `rare` [blocks], but not 0.

    False if a weight is not finite.
    """
    slot, first_node = 0, 0
    rest = np.empty(8)
    for block in range(len(nodes)):
        for _ in range(buckets[block]):
            for node in range(first_node, first_node + nodes[block]):
                actions, total = int(node_actions[node]), 0.0
                for action in range(actions):
                    total += weights[slot + action]
                if not np.isfinite(total):
                    return False
                if 0.0 < total < rare[block]:
                    table[slot : slot + actions] = 0
                    table[slot + np.argmax(weights[slot : slot + actions])] = whole
                    slot += actions
                    continue
                left = whole
                for action in range(actions):
                    share = whole * (weights[slot + action] / total if total > 0.0 else 1.0 / actions)
                    table[slot + action] = int(share)
                    rest[action] = share - int(share)
                    left -= int(share)
                while left > 0:
                    most = 0
                    for action in range(1, actions):
                        if rest[action] > rest[most]:
                            most = action
                    table[slot + most] += 1
                    rest[most] = -1.0
                    left -= 1
                slot += actions
        first_node += nodes[block]
    return True


@kernel
def _take_highest(
    nodes: Longs,
    buckets: Longs,
    node_actions: ActionCounts,
    sums: NDArray[Any],
    visits: NDArray[Any],
    table: Bytes,
) -> None:
    slot, first_node = 0, 0
    for block in range(len(nodes)):
        for _ in range(buckets[block]):
            for node in range(first_node, first_node + nodes[block]):
                actions, best, most = int(node_actions[node]), -1, 0.0
                for action in range(actions):
                    table[slot + action] = 0
                    if visits[slot + action] > 0:
                        value = sums[slot + action] / visits[slot + action]
                        if best < 0 or value > most:
                            best, most = action, value
                if best < 0:
                    for action in range(actions):
                        table[slot + action] = WHOLE // actions
                    table[slot] += WHOLE % actions
                else:
                    table[slot + best] = WHOLE
                slot += actions
        first_node += nodes[block]
