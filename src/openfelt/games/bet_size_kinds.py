"""The kinds of bet sizes, and the betting that turns one into chips."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from openfelt.core.errors import FeltError


class BetSpot(NamedTuple):
    """The betting before a bet or a raise, in chips; two players with equal stacks."""

    pot: int  # at the beginning of the street
    stack: int  # effective stack at the beginning of the street: the all-in is a total of this
    last_bet: int = 0  # total that the opponent has bet or raised to on this street; 0: nobody has bet
    committed: int = 0  # total that the player to act has bet on this street
    streets: int = 1  # left, including this one
    raises: int = 0  # made on this street, without the first bet
    min_bet: int | None = None  # least total; None: the last bet plus the last raise, for a bet 1 chip

    @property
    def pot_after_call(self) -> int:
        """The pot if the player to act calls."""
        return self.pot + 2 * self.last_bet


@dataclass(frozen=True)
class PotShare:
    """A percentage of the pot; for a raise, of the pot after a call, on top of the last bet."""

    percent: float

    def total(self, spot: BetSpot) -> int:
        """Chips bet or raised to, before limits."""
        return spot.last_bet + round_chips(spot.pot_after_call * self.percent / 100)

    def __str__(self) -> str:
        return f"{self.percent:.15g}%"


@dataclass(frozen=True)
class LastBetMultiple:
    """A multiple of the last bet; raises only."""

    factor: float

    def total(self, spot: BetSpot) -> int:
        """Chips raised to, before limits."""
        if not spot.last_bet:
            raise FeltError(
                f"'{self}' is a multiple of the last bet, and nobody has bet; write 60%, 120c or a."
            )
        return round_chips(self.factor * spot.last_bet)

    def __str__(self) -> str:
        return f"{self.factor:.15g}x"


@dataclass(frozen=True)
class Chips:
    """A total in chips."""

    chips: int

    def total(self, spot: BetSpot) -> int:
        """Chips bet or raised to, before limits."""
        return self.chips

    def __str__(self) -> str:
        return f"{self.chips}c"


@dataclass(frozen=True)
class Geometric:
    """The same share of the pot on each of several streets, so that the last bet is all-in."""

    streets: int | None = None  # None: those left
    max_percent: float = math.inf

    def total(self, spot: BetSpot) -> int:
        """Chips bet or raised to, before limits."""
        pot = spot.pot_after_call
        streets = max((self.streets or spot.streets) - spot.raises, 1)
        ratio = ((1 + 2 * (spot.stack - spot.last_bet) / pot) ** (1 / streets) - 1) / 2
        return spot.last_bet + round_chips(pot * min(ratio, self.max_percent / 100))

    def __str__(self) -> str:
        limit = "" if math.isinf(self.max_percent) else f"{self.max_percent:.15g}%"
        return f"{self.streets or ''}e{limit}"


@dataclass(frozen=True)
class AllIn:
    """The whole stack."""

    def total(self, spot: BetSpot) -> int:
        """Chips bet or raised to."""
        return spot.stack

    def __str__(self) -> str:
        return "a"


BetSize: TypeAlias = PotShare | LastBetMultiple | Chips | Geometric | AllIn


def round_chips(chips: float) -> int:
    """The nearest whole number; halves are rounded up."""
    return math.floor(chips + 0.5)
