"""The record of one finished hand of any game: players, cards, actions, winnings."""

from __future__ import annotations

from dataclasses import dataclass

HIDDEN = "??"  # a card that is not known


@dataclass(frozen=True, slots=True)
class HandRecord:
    """One finished hand of any game. Seats and chips are those of the rules.

    Parameters
    ----------
    game : str
        Its name: "holdem", "holdem(players=3)", "kuhn", "leduc".
    number : int
        Number of the hand in its match, from 0, or in a person's session, from 1.
    names : tuple of str
        Names of the players by seat.
    dealt : tuple of str
        Outcomes of chance in the order of the rules; "??" for a card that is not known.
    actions : tuple of str
        Actions of the players in order.
    won : tuple of float
        Chips won by seat.

    Examples
    --------
    >>> felt.HandRecord("kuhn", 0, ("Ann", "Bo"), ("K", "Q"), ("bet", "pass"), (1.0, -1.0)).won
    (1.0, -1.0)
    """

    game: str  # its name: "holdem", "holdem(players=3)", "kuhn", "leduc"
    number: int  # in its match, from 0, or in a person's session, from 1
    names: tuple[str, ...]  # by seat
    dealt: tuple[str, ...]  # outcomes of chance in the order of the rules; HIDDEN where not known
    actions: tuple[str, ...]  # of the players
    won: tuple[float, ...]  # chips, by seat
