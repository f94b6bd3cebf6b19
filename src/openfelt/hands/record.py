"""The record of one finished hand of any game: players, cards, actions, winnings."""

from __future__ import annotations

from dataclasses import dataclass

HIDDEN = "??"  # a card that is not known


@dataclass(frozen=True, slots=True)
class HandRecord:
    """One finished hand. Seats and chips are those of the rules."""

    game: str  # its name: "holdem", "holdem(players=3)", "kuhn", "leduc"
    number: int  # in its match, from 0, or in a person's session, from 1
    names: tuple[str, ...]  # by seat
    dealt: tuple[str, ...]  # outcomes of chance in the order of the rules; HIDDEN where not known
    actions: tuple[str, ...]  # of the players
    won: tuple[float, ...]  # chips, by seat
