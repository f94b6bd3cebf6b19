"""A policy of two-player limit hold'em, for all hands of a board at once, and ranges that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from openfelt.cards.abstraction.board_buckets import BoardBuckets
from openfelt.cards.boards import PERMUTED_PAIR, find_board
from openfelt.cards.deck import BOARD_CARDS, PAIRS
from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.betting_tree import PLAYER, BettingTree
from openfelt.policy.holdem import WHOLE, HoldemPolicy
from openfelt.solve.traverse.conditional_deals import pairs_without

KEPT_BOARDS = 64


class Strategy(Protocol):
    """What is played with each hand at the decisions of a betting tree."""

    def at(self, node: int, board: Sequence[int]) -> Floats:
        """[actions, 1326] probabilities; arbitrary for hands that share a card with the board."""


class Blueprint:
    """The strategies of a policy; buckets are computed board by board unless there are tables."""

    def __init__(self, policy: HoldemPolicy) -> None:
        self.policy, self.tree = policy, policy.tree
        self._buckets = BoardBuckets(policy.tree.abstraction)
        self._kept: dict[tuple[int, ...], Longs] = {}  # by board, the oldest first
        self.has_tables = False

    def at(self, node: int, board: Sequence[int]) -> Floats:
        """[actions, 1326] probabilities of the policy's actions."""
        slots, place = self.tree.slots(node, 0), (self.tree.street(node), int(self.tree.node[node, PLAYER]))
        return np.asarray(self.of_slots(np.arange(slots.start, slots.stop), place, self.buckets(board)))

    def of_slots(self, slots: Longs, place: tuple[int, int], buckets: Longs) -> Floats:
        """[slots, hands] probabilities, given slots of the first bucket, street and player, and buckets."""
        first = buckets * int(self.tree.layout.edges[place])
        return np.asarray(self.policy.weights[slots[:, None] + first] / WHOLE)

    def buckets(self, board: Sequence[int]) -> Longs:
        """[1326] the buckets of all hands on a board."""
        key = tuple(board)
        if key not in self._kept:
            if len(self._kept) >= KEPT_BOARDS:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._compute(key)
        return self._kept[key]

    def _compute(self, board: tuple[int, ...]) -> Longs:
        if not self.has_tables:
            return self._buckets.of(board)
        number, permutation = find_board(board)
        table = self.tree.abstraction.tables()[BOARD_CARDS.index(len(board))]
        return np.asarray(table[number][PERMUTED_PAIR[permutation]], np.int64)


def ranges_after(
    tree: BettingTree, line: Sequence[str], board: Sequence[int], strategies: Sequence[Sequence[Strategy]]
) -> Floats:
    """Both players' ranges [2, 1326] after a betting line: the highest weight of each is 1.

    `strategies` are by player and street. An action that a player takes with no hand is ignored.
    """
    ranges, node = np.ones((2, PAIRS)), 0
    for word in line:
        street, player = tree.street(node), int(tree.node[node, PLAYER])
        action = tree.actions(node).index(word)
        now = board[: BOARD_CARDS[street]]
        likely = ranges[player] * strategies[player][street].at(node, now)[action] * pairs_without(now)
        if likely.any():
            ranges[player] = likely / likely.max()
        node = tree.child(node, action)
    ranges *= pairs_without(board)
    for player in (0, 1):
        most = ranges[player].max()
        ranges[player] = ranges[player] / most if most > 0 else pairs_without(board)
    return ranges
