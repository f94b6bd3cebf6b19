"""Words and signs that all games share: cards, ranks, amounts."""

from __future__ import annotations

from collections.abc import Sequence

from openfelt.cards.deck import RANKS

YOU = "you"  # the person's name in texts
SUIT_SIGNS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
RANK_NAMES = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("jack", "queen", "king", "ace"),
)


def amount(number: float, unit: str = "chips") -> str:
    """1 chip, 2 chips."""
    return f"{number:g} {unit.removesuffix('s') if number == 1 else unit}"


def card_sign(card: str) -> str:
    """A♥ for Ah, 10♣ for Tc; K for a K without a suit."""
    rank = "10" if card[0] == "T" else card[0]
    return rank + SUIT_SIGNS.get(card[1:], "")


def card_signs(cards: Sequence[str]) -> str:
    """A♥ K♦"""
    return " ".join(map(card_sign, cards))


def ranks_text(rank: str) -> str:
    """Kings for K, sixes for 6, in lower case."""
    return plural(RANK_NAMES[RANKS.index(rank)])


def plural(name: str) -> str:
    """The plural of a rank's name."""
    return name + ("es" if name == "six" else "s")


def verb(name: str, base: str) -> str:
    """The form of a regular verb that goes with a name: you call, default calls."""
    return base if name == YOU else f"{base}s"


def sentence_start(text: str) -> str:
    """A text at the start of a sentence; names of bots keep their spelling."""
    return "You" + text[3:] if text.startswith(YOU) and text[3:4] in ("", " ") else text
