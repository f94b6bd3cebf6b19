"""Kuhn poker (PJL11 2.2), with the initial pot of HS14 and for three players too."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from openfelt.games.game import CHANCE, TERMINAL, Game, require


class KuhnState(NamedTuple):
    cards: tuple[int, ...] = ()  # while dealing: the cards; after it: the rank of each hand among them
    bets: str = ""  # "p" and "b", one letter per action


class OneCardBetting(Game):
    """One card each, one chip to bet, the higher card wins; a subclass names the deck and the ante."""

    is_poker: ClassVar[bool] = True

    @property
    @abstractmethod
    def ante(self) -> float:
        """Chips that each player puts in before the deal."""

    @property
    @abstractmethod
    def deck(self) -> dict[str, int]:
        """The names of the cards, lowest first, with their numbers."""

    def start(self) -> KuhnState:
        return KuhnState()

    def turn(self, state: KuhnState) -> int:
        if len(state.cards) < self.players:
            return CHANCE
        if "b" not in state.bets:
            return TERMINAL if len(state.bets) == self.players else len(state.bets)
        answered = len(state.bets) - state.bets.index("b")  # the bettor and the players after it
        return TERMINAL if answered == self.players else len(state.bets) % self.players

    def actions(self, state: KuhnState) -> Sequence[str]:
        if len(state.cards) < self.players:
            return [word for word, card in self.deck.items() if card not in state.cards]
        return ["pass", "bet"]

    def play(self, state: KuhnState, action: str) -> KuhnState:
        if len(state.cards) == self.players:
            return KuhnState(state.cards, state.bets + action[0])
        cards = (*state.cards, self.deck[action])
        if len(cards) == self.players:
            cards = tuple(sorted(cards).index(card) for card in cards)
        return KuhnState(cards)

    def sees(self, state: KuhnState, action: str, player: int) -> str:
        dealing = len(state.cards) < self.players
        return action if not dealing or player == len(state.cards) else ""

    def stakes(self, state: KuhnState) -> tuple[float, float]:
        return self.ante * self.players, self.players

    def passive(self, state: KuhnState) -> str:
        return "bet" if "b" in state.bets else "pass"

    def shown(self, state: KuhnState) -> Sequence[int]:
        bettors = self._bettors(state) or range(self.players)
        return sorted(bettors) if len(bettors) > 1 else ()

    def payoffs(self, state: KuhnState) -> Sequence[float]:
        everyone = range(self.players)
        bettors = self._bettors(state)
        paid = [self.ante + (player in bettors) for player in everyone]
        winner = max(bettors or everyone, key=lambda player: state.cards[player])
        return [sum(paid) - paid[player] if player == winner else -paid[player] for player in everyone]

    def _bettors(self, state: KuhnState) -> set[int]:
        return {place % self.players for place, bet in enumerate(state.bets) if bet == "b"}


@dataclass(frozen=True)
class Kuhn(OneCardBetting):
    """Kuhn poker: one card each, one chip to bet, the higher card wins.

    Each player antes an equal share of `pot` (HS14 varies it: 2 is the standard game, 8 that of its Figure
    2) and gets one of `players + 1` cards. In turn they pass or bet one chip. After the first bet, each
    opponent in turn bets (calls) or passes (folds), and the highest card among those who bet wins.
    """

    key: ClassVar[str] = "kuhn"
    pot: float | None = None
    players: int = 2

    def __post_init__(self) -> None:
        require(self.players in (2, 3), self.key, "players", "2 or 3", self.players)
        pot = self.players if self.pot is None else self.pot
        require(0 < pot <= 1000, self.key, "pot", "more than 0 chips and at most 1000", pot)
        # The standard pot is written as None, so that kuhn(pot=2) and kuhn are one game with one name.
        object.__setattr__(self, "pot", None if pot == self.players else pot)

    @property
    def ante(self) -> float:
        return (self.pot or self.players) / self.players

    @cached_property
    def deck(self) -> dict[str, int]:
        return {word: card for card, word in enumerate("JQKA"[: self.players + 1])}
