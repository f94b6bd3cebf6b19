"""One finished hand of any game: who sat where, what was dealt, what was done, what was won."""

from __future__ import annotations

from dataclasses import dataclass

HIDDEN = "??"  # a card that the one who wrote the history did not see


@dataclass(frozen=True, slots=True)
class HandRecord:
    """Seats are those of the rules; chips are the game's."""

    game: str  # its name: "holdem", "holdem(players=3)", "kuhn", "leduc"
    number: int  # in its match, from 0, or in a person's session, from 1
    names: tuple[str, ...]  # by seat
    dealt: tuple[str, ...]  # chance's words in the order of the rules, as far as it came; or HIDDEN
    actions: tuple[str, ...]  # the players' words
    won: tuple[float, ...]  # chips, by seat
