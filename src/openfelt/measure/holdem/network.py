"""Network policies as the exact engine reads them: a network is queried for all hands on a board.

All betting lines of a street are queried together. The input does not depend on the names of suits
(`games/features/`), so isomorphic boards, and isomorphic hands on a board, are queried once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import BOARD_CARDS, PAIR_CARDS, PAIRS, RIVER
from openfelt.cards.public_cards import Deck
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import (
    ACTIONS_MASK,
    FACING_SHIFT,
    KIND,
    PLACE,
    PLAYER,
    STREET_SHIFT,
    Layout,
)
from openfelt.measure.holdem.player import Player, Single, one_bucket
from openfelt.policy.network import NetworkPolicy
from openfelt.solve.vector.betting_lines import BettingLines, betting_lines

FULL = Deck()
PROBE = (0, 17, 34)  # a flop, by which networks are told apart


@dataclass(frozen=True, eq=False)
class NetworkPlayer(Single):
    """A network policy; on a board it is a `Player` whose buckets are the hands there, up to suits."""

    policy: NetworkPolicy

    def __post_init__(self) -> None:
        if self.policy.rules.players != 2:
            raise FeltError(f"Exact values are for two players; {self.policy.game} has more.")

    @property
    def name(self) -> str:
        """What it is called in results."""
        return self.policy.name

    @cached_property
    def betting(self) -> BettingLines:
        """The betting lines."""
        return betting_lines(self.policy.rules.bets)

    @property
    def identity(self) -> tuple[NDArray[Any], ...]:
        """Its probabilities before the flop and on one flop."""
        on_flop = (self.on_board(seat, PROBE) for seat in range(2))
        return (self.before_flop(0), *(player.probabilities for player, _ in on_flop))

    @cached_property
    def _before_flop(self) -> tuple[tuple[Player, NDArray[Any]], ...]:
        return self.on_board(0, ()), self.on_board(1, ())

    def before_flop(self, node: int) -> Floats:
        """[1326, actions] the action probabilities at a decision before the flop."""
        player, buckets = self._before_flop[int(self.betting.node[node, PLAYER])]
        return player.at(node, buckets)

    def on_board(self, seat: int, board: Sequence[int], deck: Deck = FULL) -> tuple[Player, NDArray[Any]]:
        """The network in a seat on a board, as a table, and the buckets [1326] of hole cards there."""
        place = BOARD_CARDS.index(len(board)), seat
        nodes, line, number = self._edges[place]
        pairs = np.flatnonzero((deck.pairs > 0) & ~np.isin(PAIR_CARDS, board).any(axis=1))
        cards = self.policy.layout.card_table(board)[pairs]
        bits = np.packbits(cards > 0, axis=1)
        _, first, kind = np.unique(bits, axis=0, return_index=True, return_inverse=True)
        shares = self.policy.on_board(board, pairs[first], nodes)
        buckets = np.zeros(PAIRS, np.int32)
        buckets[pairs] = kind.ravel()
        counts = self._layout.buckets.copy()
        counts[place] = len(first)
        table = np.ascontiguousarray(shares[line, :, number].T)
        return Player(
            self.name, self.betting, self._layout._replace(buckets=counts), table.ravel(), ()
        ), buckets

    @cached_property
    def _layout(self) -> Layout:
        """That of a table for one place."""
        layout = one_bucket(self.betting)
        return layout._replace(slot_base=np.zeros_like(layout.slot_base))

    @cached_property
    def _edges(self) -> dict[tuple[int, int], tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
        """By street and seat: its decisions, and for each edge the place of its decision and its action."""
        node, found = self.betting.node, {}
        street = node[:, KIND] >> STREET_SHIFT & 3
        for place in np.ndindex(RIVER + 1, 2):
            nodes = np.flatnonzero((node[:, PLAYER] == place[1]) & (street == place[0]))
            nodes = nodes[np.argsort(node[nodes, PLACE])]
            numbers = [_numbers(int(kind)) for kind in node[nodes, KIND]]
            line = np.repeat(np.arange(len(nodes)), [len(own) for own in numbers])
            found[place] = nodes, line, np.concatenate(numbers)
        return found


def _numbers(kind: int) -> NDArray[np.int64]:
    """The numbers of the actions of a decision among fold, call and raise."""
    first = 1 - (kind >> FACING_SHIFT & 1)
    return np.arange(first, first + (kind & ACTIONS_MASK))
