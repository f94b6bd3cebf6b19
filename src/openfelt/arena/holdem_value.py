"""What a hold'em policy wins against another, estimated from many duplicate deals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from openfelt.arena.match import match
from openfelt.arena.match_blocks import DUPLICATE
from openfelt.arena.statistics.estimates import Estimate
from openfelt.bots.policy_bot import policy_bot
from openfelt.core.errors import FeltError
from openfelt.core.workers import Workers
from openfelt.games.holdem import BIG_BLIND, require_holdem
from openfelt.games.registry import load_game
from openfelt.policy.policy import Policy


@dataclass(frozen=True)
class HoldemValue:
    """Winnings of a policy per hand."""

    deals: int
    hands: int  # each deal is played once in each seat
    won: Estimate  # chips per hand
    seats: tuple[float, ...]  # chips per hand, by seat

    @property
    def chips(self) -> float:
        """The mean over all seats."""
        return self.won.mean

    @property
    def mbb(self) -> float:
        """Thousandths of a big blind per hand."""
        return 1000 * self.chips / BIG_BLIND

    def interval(self, confidence: float = 0.95) -> float:
        """Half the width of the interval, in mbb/h."""
        return 1000 * self.won.interval(confidence) / BIG_BLIND

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
    policy: Policy,
    opponent: Policy,
    *,
    deals: int = 1_000_000,
    seed: int = 0,
    threads: Workers = 1,
    progress: Callable[[int], object] = lambda _: None,
) -> HoldemValue:
    """What `policy` wins per hand in one seat, with `opponent` in all others."""
    game = require_holdem(load_game(policy.game)).unabstracted
    players = game.players
    if opponent.tree.players != players:
        raise FeltError(
            f"Both policies must be for the same number of players, not for {players} and "
            f"{opponent.tree.players}."
        )
    if deals < 2 or deals != int(deals):
        raise FeltError(f"The number of deals must be a whole number of 2 or more, not {deals}.")
    others = policy_bot(opponent, game)
    result = match(
        policy_bot(policy, game),
        *[others] * (players - 1),
        hands=int(deals) * players,
        seed=seed,
        dealing=DUPLICATE,
        processes=threads,
        progress=lambda hands: progress(hands // players),
    )
    score = result.scores[0]
    return HoldemValue(result.deals, result.hands, score.won, score.by_seat)
