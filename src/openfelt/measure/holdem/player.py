"""A player as the exact engine reads it: its strategy by bucket, and the bucket of every hand on every board.

A mixture consists of several players, its *parts*: before each hand one of them is drawn to play it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import PERMUTED_PAIR, board_set, find_board
from openfelt.cards.deck import BOARD_CARDS, PAIRS, PREFLOP, STREETS
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import ACTIONS_MASK, FACING_SHIFT, KIND, PLACE, PLAYER, Layout
from openfelt.games.holdem import MOST_BETS
from openfelt.measure.holdem.flop import FixedStrategy, StreetStrategy
from openfelt.policy.holdem import HoldemPolicy
from openfelt.policy.rules import RULES
from openfelt.solve.vector.betting_lines import (
    BettingLines,
    LineShares,
    betting_lines,
    line_shares,
    street_of,
)

MOST_OF_16_BITS = 1 << 16  # buckets


class Single:
    """A player that is no mixture."""

    @property
    def parts(self) -> tuple[Self, ...]:
        """The player itself."""
        return (self,)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights of the parts."""
        return (1.0,)


@dataclass(frozen=True, eq=False)
class Player(Single):
    """A player whose action probabilities depend only on its cards and the betting."""

    name: str
    betting: BettingLines
    layout: Layout
    probabilities: Floats  # [slots] of the layout
    buckets: tuple[NDArray[Any], ...]  # by street [canonical boards, 1326]

    @property
    def identity(self) -> tuple[NDArray[Any], ...]:
        """Arrays that tell it from other players; the large tables are left out."""
        return (self.probabilities, *self.layout, *self.buckets[:2])

    def before_flop(self, node: int) -> Floats:
        """[1326, actions] the action probabilities at a decision before the flop."""
        return self.at(node, self.buckets[PREFLOP][0])

    def buckets_on(self, board: Sequence[int]) -> NDArray[Any]:
        """[1326] the buckets of hole cards on a board."""
        number, seen_as = find_board(board)
        return np.asarray(self.buckets[BOARD_CARDS.index(len(board))][number, PERMUTED_PAIR[seen_as]])

    def at(self, node: int, buckets: NDArray[Any]) -> Floats:
        """[hands, actions] the action probabilities at a decision, of hands with these buckets."""
        facts, layout = self.betting.node[node], self.layout
        place = street_of(self.betting.node, node), int(facts[PLAYER])
        rows = int(layout.slot_base[place]) + int(layout.edges[place]) * buckets.astype(np.int64)
        first = rows + int(facts[PLACE]) - int(layout.first_edge[place])
        return np.asarray(self.probabilities[first[:, None] + np.arange(facts[KIND] & ACTIONS_MASK)])


@dataclass(frozen=True, eq=False)
class Mixture:
    """Players, one of which is drawn before each hand."""

    name: str
    parts: tuple[Player, ...]
    weights: tuple[float, ...]  # the probability of each

    @property
    def betting(self) -> BettingLines:
        """The betting lines, which all parts share."""
        return self.parts[0].betting


AnyPlayer: TypeAlias = Player | Mixture


def mixed(parts: Sequence[Player], weights: Sequence[float]) -> AnyPlayer:
    """The mixture of players with these weights."""
    total = sum(weights)
    if not parts or len(parts) != len(weights) or min(weights) < 0 or not 0 < total < np.inf:
        raise FeltError("A mixture needs one non-negative weight per player, at least one of them positive.")
    drawn = [(part, weight / total) for part, weight in zip(parts, weights, strict=True) if weight]
    if len({part.betting.most_bets for part, _ in drawn}) > 1:
        raise FeltError("The players of a mixture must play with the same number of bets.")
    if len(drawn) == 1:
        return drawn[0][0]
    name = " + ".join(f"{weight:.4g} {part.name}" for part, weight in drawn)
    return Mixture(name, tuple(part for part, _ in drawn), tuple(weight for _, weight in drawn))


def fixed_strategy(player: AnyPlayer, seat: int, kind: type[np.floating[Any]]) -> FixedStrategy:
    """The strategy from the flop on, for kernels; the buckets of the parts are numbered consecutively."""
    parts = [line_shares(part.betting, part.probabilities, part.layout, seat) for part in player.parts]
    streets = []
    for street, by_part in enumerate(zip(*parts, strict=True)):
        shares = LineShares(
            *(np.concatenate(tables, axis=1).astype(kind) for tables in zip(*by_part, strict=True))
        )
        tables = [part.buckets[1 + street] for part in player.parts]
        counts = [part.share.shape[1] for part in by_part]
        buckets = tables[0][None] if len(tables) == 1 else numbered_consecutively(tables, counts)
        streets.append(StreetStrategy(shares, buckets))
    return FixedStrategy(*streets)


def numbered_consecutively(tables: Sequence[NDArray[Any]], counts: Sequence[int]) -> NDArray[Any]:
    """[parts, boards, 1326] buckets, those of each part after those of the parts before it."""
    kind = np.uint16 if sum(counts) <= MOST_OF_16_BITS else np.int32
    firsts = (np.cumsum(counts) - counts).astype(kind)
    return np.stack([np.add(table, first, dtype=kind) for table, first in zip(tables, firsts, strict=True)])


def policy_player(policy: HoldemPolicy, name: str = "") -> Player:
    """A player that follows a policy."""
    tree = policy.tree
    if tree.players != 2:
        raise FeltError(f"Exact values are for two players; {tree.game} has {tree.players}.")
    betting, tables = betting_lines(tree.most_bets), tree.abstraction.tables()
    return Player(
        name or tree.game, betting, tree.layout, policy.probabilities, tuple(map(np.asarray, tables))
    )


def rule_player(rule: str, most_bets: int = MOST_BETS) -> Player:
    """A player that ignores its cards: see RULES."""
    if rule not in RULES:
        raise FeltError(f"There is no rule '{rule}' (known: {', '.join(RULES)}).")
    betting = betting_lines(most_bets)
    layout = one_bucket(betting)
    probabilities = np.zeros(int(layout.edges.sum()))
    for _, kind, _, spot in betting.node[betting.node[:, PLAYER] >= 0].tolist():
        actions = kind & ACTIONS_MASK
        shares = RULES[rule](actions, kind >> FACING_SHIFT & 1)
        probabilities[spot : spot + actions] = np.array(shares) / sum(shares)
    buckets = tuple(np.zeros((len(board_set(cards).key), PAIRS), np.uint16) for cards in BOARD_CARDS)
    return Player(rule, betting, layout, probabilities, buckets)


def one_bucket(betting: BettingLines) -> Layout:
    """The layout of players that do not distinguish hands."""
    spots, decisions = np.zeros((2, len(STREETS), 2), np.int64)
    for player, kind, _, _ in betting.node[betting.node[:, PLAYER] >= 0].tolist():
        spots[kind >> 3 & 3, player] += kind & ACTIONS_MASK
        decisions[kind >> 3 & 3, player] += 1
    first = (np.cumsum(spots) - spots.ravel()).reshape(spots.shape)
    return Layout(spots, first, first, decisions, np.ones_like(spots))
