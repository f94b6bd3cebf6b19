"""Flop Hold'em: limit Texas hold'em that ends with the betting on the flop.

It is the benchmark game of Brown, Lerer, Gross & Sandholm 2019, "Deep counterfactual regret minimization".
Seats, blinds and bets are those of our two-player limit hold'em; the better hand of five cards wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from openfelt.cards.deck import FLOP
from openfelt.games.holdem import HoldemState, LimitHoldem, first_betting


@dataclass(frozen=True)
class FlopHoldem(LimitHoldem):
    """Flop Hold'em: limit Texas hold'em for two that ends after the betting on the flop."""

    key: ClassVar[str] = "flop_holdem"
    players: ClassVar[int] = 2
    last_street: ClassVar[int] = FLOP

    def start(self) -> HoldemState:
        return HoldemState((), first_betting(self.players))


def is_flop_holdem_name(name: str) -> bool:
    """Whether the name of a game is that of Flop Hold'em."""
    return name.partition("(")[0] == FlopHoldem.key
