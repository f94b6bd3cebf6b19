"""Goofspiel, the less informational version of PJL11 2.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from openfelt.games.game import TERMINAL, Game, require


class GoofspielState(NamedTuple):
    hands: tuple[tuple[int, ...], tuple[int, ...]]
    lead: int  # points of player 0 less those of player 1
    bid: int  # of player 0 in this round; 0 before it


@dataclass(frozen=True)
class Goofspiel(Game):
    """Goofspiel: secret bids of the cards 1..N for the prizes N, N-1, ..., 1.

    The prizes come in the fixed order N, N-1, ..., 1. For each, both players bid a card simultaneously and
    learn only who won the prize (nobody, if the bids tie), not the opponent's card. The player with more
    points gets +1, the other -1; both get 0 if they tie. The last round, with one card each, is automatic.
    """

    key: ClassVar[str] = "goofspiel"
    unit: ClassVar[str] = "points"
    players = 2
    cards: int

    def __post_init__(self) -> None:
        require(2 <= self.cards <= 13, self.key, "cards", "a whole number from 2 to 13", self.cards)

    def start(self) -> GoofspielState:
        hand = tuple(range(1, self.cards + 1))
        return GoofspielState((hand, hand), lead=0, bid=0)

    def turn(self, state: GoofspielState) -> int:
        if not state.hands[1]:
            return TERMINAL
        return 1 if state.bid else 0

    def actions(self, state: GoofspielState) -> Sequence[str]:
        return [str(card) for card in state.hands[self.turn(state)]]

    def play(self, state: GoofspielState, action: str) -> GoofspielState:
        mine, other = state.hands
        card = int(action)
        if not state.bid:
            return GoofspielState((tuple(c for c in mine if c != card), other), state.lead, card)
        prize = len(other)
        hands = (mine, tuple(c for c in other if c != card))
        lead = state.lead + prize * _sign(state.bid - card)
        if prize == 2:  # one card each is left, for the last prize
            (last,), (answer,) = hands
            return GoofspielState(((), ()), lead + _sign(last - answer), 0)
        return GoofspielState(hands, lead, 0)

    def sees(self, state: GoofspielState, action: str, player: int) -> str:
        if not state.bid:
            return action if player == 0 else ""
        result = _sign(state.bid - int(action)) * (1 if player == 0 else -1)
        word = {1: "won", 0: "tied", -1: "lost"}[result]
        return f"{action} {word}" if player == 1 else word

    def public(self, state: GoofspielState, action: str, seen: Sequence[str]) -> str:
        """Who won the prize, in the words of player 0."""
        return seen[0] if state.bid else ""

    def payoffs(self, state: GoofspielState) -> Sequence[float]:
        return [float(_sign(state.lead)), -float(_sign(state.lead))]


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
