"""One-Card Poker, OCP(N) in PJL11 2.2 (after Gordon 2005): Kuhn poker with a deck of N cards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from openfelt.games.game import require
from openfelt.games.kuhn import OneCardBetting


@dataclass(frozen=True)
class OneCard(OneCardBetting):
    """One-Card Poker: Kuhn poker with a deck of N cards; one_card(3) is Kuhn."""

    key: ClassVar[str] = "one_card"
    ante = 1.0
    players = 2
    cards: int

    def __post_init__(self) -> None:
        require(2 <= self.cards <= 1_000, self.key, "cards", "a whole number from 2 to 1000", self.cards)

    @cached_property
    def deck(self) -> dict[str, int]:
        words = "JQKA" if self.cards <= 4 else [str(card) for card in range(1, self.cards + 1)]
        return {word: card for card, word in enumerate(words[: self.cards])}
