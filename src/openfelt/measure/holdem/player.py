"""A player as the engine reads him: what he does in a bucket, and the bucket of every hand on every board.

A mixture is of several players, its *parts*: before each hand one of them is drawn, who plays it to the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import board_set
from openfelt.cards.deck import BOARD_CARDS, PAIRS, STREETS
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import ACTIONS_MASK, FACING_SHIFT, KIND, PLACE, PLAYER, Layout
from openfelt.games.holdem import MOST_BETS
from openfelt.measure.holdem.betting_lines import Betting, Ways, betting_lines, street_of, ways_of
from openfelt.measure.holdem.flop import Known
from openfelt.policy.holdem import HoldemPolicy
from openfelt.policy.rules import RULES


@dataclass(frozen=True, eq=False)
class Player:
    """One who plays by his cards and the betting, and nothing else."""

    name: str
    betting: Betting
    layout: Layout
    probabilities: Floats  # [slots] of the layout
    buckets: tuple[NDArray[Any], ...]  # by street [canonical boards, 1326]

    @property
    def parts(self) -> tuple[Player, ...]:
        """Himself alone."""
        return (self,)

    @property
    def weights(self) -> tuple[float, ...]:
        """Of the parts."""
        return (1.0,)

    def before_flop(self, node: int) -> Floats:
        """[1326, actions] what he does at a decision before the flop."""
        facts, layout = self.betting.node[node], self.layout
        place = street_of(self.betting.node, node), int(facts[PLAYER])
        rows = int(layout.slot_base[place]) + int(layout.edges[place]) * self.buckets[0][0].astype(np.int64)
        first = rows + int(facts[PLACE]) - int(layout.first_edge[place])
        return np.asarray(self.probabilities[first[:, None] + np.arange(facts[KIND] & ACTIONS_MASK)])


@dataclass(frozen=True, eq=False)
class Mixture:
    """Players, of whom one is drawn before each hand."""

    name: str
    parts: tuple[Player, ...]
    weights: tuple[float, ...]  # how likely each is drawn

    @property
    def betting(self) -> Betting:
        """Of all."""
        return self.parts[0].betting


Anyone: TypeAlias = Player | Mixture


def mixed(parts: Sequence[Player], weights: Sequence[float]) -> Anyone:
    """One of them is drawn before each hand, as the weights say."""
    total = sum(weights)
    if not parts or len(parts) != len(weights) or min(weights) < 0 or not 0 < total < np.inf:
        raise FeltError("A mixture needs players and as many weights, none negative and not all zero.")
    drawn = [(part, weight / total) for part, weight in zip(parts, weights, strict=True) if weight]
    if len({part.betting.most_bets for part, _ in drawn}) > 1:
        raise FeltError("The players of a mixture must play with the same number of bets.")
    if len(drawn) == 1:
        return drawn[0][0]
    name = " + ".join(f"{weight:.4g} {part.name}" for part, weight in drawn)
    return Mixture(name, tuple(part for part, _ in drawn), tuple(weight for _, weight in drawn))


def known(player: Anyone, seat: int, kind: type[np.floating[Any]]) -> Known:
    """What he does after the flop, for kernels: the buckets of one part come after those of the other."""
    parts = [ways_of(part.betting, part.probabilities, part.layout, seat) for part in player.parts]
    streets = [
        Ways(*(np.concatenate(tables, axis=1).astype(kind) for tables in zip(*ways, strict=True)))
        for ways in zip(*parts, strict=True)
    ]
    flop, turn, river = streets
    if len(parts) == 1:
        return Known(flop, turn, river, *(table[None] for table in player.parts[0].buckets[1:]))
    buckets = []
    for street, tables in enumerate(zip(*(part.buckets[1:] for part in player.parts), strict=True)):
        counts = [ways[street].share.shape[1] for ways in parts]
        firsts = (np.cumsum(counts) - counts).astype(np.uint16)
        numbered = [
            np.add(table, first, dtype=np.uint16) for table, first in zip(tables, firsts, strict=True)
        ]
        buckets.append(np.stack(numbered))
    return Known(flop, turn, river, *buckets)


def policy_player(policy: HoldemPolicy, name: str = "") -> Player:
    """One who plays a policy of buckets."""
    tree = policy.tree
    if tree.players != 2:
        raise FeltError(f"Exact values are for two players; {tree.game} has {tree.players}.")
    betting, tables = betting_lines(tree.most_bets), tree.abstraction.tables()
    return Player(
        name or tree.game, betting, tree.layout, policy.probabilities, tuple(map(np.asarray, tables))
    )


def rule_player(rule: str, most_bets: int = MOST_BETS) -> Player:
    """One of those that do not look at their cards: see RULES."""
    if rule not in RULES:
        raise FeltError(f"There is no rule '{rule}' (known: {', '.join(RULES)}).")
    betting = betting_lines(most_bets)
    layout = one_bucket(betting)
    probabilities = np.zeros(int(layout.edges.sum()))
    for _, kind, _, spot in betting.node[betting.node[:, PLAYER] >= 0].tolist():
        ways = kind & ACTIONS_MASK
        shares = RULES[rule](ways, kind >> FACING_SHIFT & 1)
        probabilities[spot : spot + ways] = np.array(shares) / sum(shares)
    buckets = tuple(np.zeros((len(board_set(cards).key), PAIRS), np.uint16) for cards in BOARD_CARDS)
    return Player(rule, betting, layout, probabilities, buckets)


def one_bucket(betting: Betting) -> Layout:
    """Of players to whom all hands are alike."""
    spots, decisions = np.zeros((2, len(STREETS), 2), np.int64)
    for player, kind, _, _ in betting.node[betting.node[:, PLAYER] >= 0].tolist():
        spots[kind >> 3 & 3, player] += kind & ACTIONS_MASK
        decisions[kind >> 3 & 3, player] += 1
    first = (np.cumsum(spots) - spots.ravel()).reshape(spots.shape)
    return Layout(spots, first, first, decisions, np.ones_like(spots))
