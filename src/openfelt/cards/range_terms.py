"""One term of a range: "QQ+", "A5s-A2s:0.5", "AhKd", and the weight brackets of PioSolver."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import PAIR, RANKS, parse_cards
from openfelt.cards.hand_classes import CELL_CLASS, PAIR_CELL
from openfelt.core.errors import FeltError

EVERY_HAND = ("random", "any", "full", "*")
NO_HAND = "none"
ALLOWED = "write hands such as QQ+, 77-99, AKs, AK, A8s+, A5s-A2s or AhKd"
RANK = "[2-9TJQKA]"
HAND = re.compile(rf"({RANK})({RANK})([so]?)", re.IGNORECASE)
COMBO = re.compile(rf"(?:{RANK}[cdhs]){{2}}", re.IGNORECASE)
NUMBER = re.compile(r"(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})")
TOP_PERCENT = re.compile(r"(?:top)?[0-9.]+%", re.IGNORECASE)
PIECE = re.compile(r"\[(?P<end>/?)(?P<percent>[^\[\]]*)\]|(?P<term>[^\s,;\[\]]+)|(?P<stray>[\[\]])")
CLASS_PAIRS = {name: np.flatnonzero(cell == PAIR_CELL) for cell, name in enumerate(CELL_CLASS)}


class HandClasses(NamedTuple):
    """Hole cards of two ranks: a pair, suited ("s"), offsuit ("o") or both ("")."""

    high: int
    low: int
    suits: str

    def pairs(self) -> NDArray[np.intp]:
        """The numbers of these hole cards."""
        ranks = RANKS[self.high] + RANKS[self.low]
        if self.high == self.low or self.suits:
            return CLASS_PAIRS[ranks + self.suits]
        return np.concatenate((CLASS_PAIRS[ranks + "s"], CLASS_PAIRS[ranks + "o"]))


def parse_bracket(piece: re.Match[str], bracket: float | None) -> float | None:
    """The weight that holds after "[50]" (0.5) or "[/50]" (None)."""
    name = _quote(piece[0])
    if piece["stray"] is not None:
        raise FeltError(f"A weight bracket is not complete at {name}; write [50]AKs,AQs[/50].")
    percent = piece["percent"].strip()
    if not NUMBER.fullmatch(percent) or float(percent) > 100:
        raise FeltError(f"The weight bracket {name} does not hold a percentage from 0 to 100.")
    weight = float(percent) / 100
    if not piece["end"]:
        if bracket is not None:
            raise FeltError(f"The weight bracket {name} is inside another one; close that one first.")
        return weight
    if weight != bracket:
        raise FeltError(
            f"The weight bracket {name} closes no bracket of this weight; write [50]AKs,AQs[/50]."
        )
    return None


def parse_term(term: str, bracket: float | None) -> tuple[NDArray[np.intp] | slice, float]:
    """The hands of a term and their weight."""
    hands, colon, number = term.partition(":")
    weight = 1.0 if bracket is None else bracket
    if colon:
        if bracket is not None:
            raise FeltError(f"{_quote(term)} has its own weight inside a weight bracket; use one of the two.")
        if not NUMBER.fullmatch(number) or float(number) > 1:
            raise FeltError(f"The weight of {_quote(term)} is not a number from 0 to 1.")
        weight = float(number)
    if not hands:
        raise FeltError(f"{_quote(term)} is a weight without a hand; write AKs:0.5.")
    word = hands.lower()
    if word in EVERY_HAND:
        return slice(None), weight
    if word == NO_HAND:
        return slice(0), weight
    return _parse_hands(hands), weight


def _parse_hands(term: str) -> NDArray[np.intp]:
    """The hands of a term without its weight."""
    if TOP_PERCENT.fullmatch(term):
        raise FeltError(f"{_quote(term)}: top-percent ranges are not supported; {ALLOWED}.")
    if COMBO.fullmatch(term):
        if term[:2].lower() == term[2:].lower():
            raise FeltError(f"{_quote(term)} has the same card twice; a hand is two different cards.")
        first, second = parse_cards(term)
        return np.array([PAIR[first, second]], np.intp)
    first_text, dash, last_text = term.partition("-")
    if dash:
        return _join(_interval(_parse_classes(first_text, term), _parse_classes(last_text, term), term))
    if term.endswith("+"):
        return _join(_and_better(_parse_classes(term[:-1], term)))
    return _parse_classes(term, term).pairs()


def _parse_classes(text: str, term: str) -> HandClasses:
    found = HAND.fullmatch(text)
    if found is None:
        raise FeltError(f"{_quote(term)} is not a term of a range; {ALLOWED}.")
    low, high = sorted(RANKS.index(rank.upper()) for rank in found.group(1, 2))
    if low == high and found[3]:
        raise FeltError(f"{_quote(term)}: a pair is neither suited nor offsuit; write {RANKS[low] * 2}.")
    return HandClasses(high, low, found[3].lower())


def _and_better(hands: HandClasses) -> list[HandClasses]:
    """The classes of "QQ+" or "A8s+"."""
    high, low, suits = hands
    if high == low:
        return [HandClasses(rank, rank, suits) for rank in range(low, len(RANKS))]
    return [HandClasses(high, kicker, suits) for kicker in range(low, high)]


def _interval(first: HandClasses, last: HandClasses, term: str) -> list[HandClasses]:
    """The classes of "QQ-22", "AQs-A2s" or "98s-54s"."""
    bottom, top = sorted((first, last))
    both_pairs, any_pair = (test(hand.high == hand.low for hand in (bottom, top)) for test in (all, any))
    if bottom.suits == top.suits and any_pair == both_pairs:
        if bottom.high == top.high:
            return [HandClasses(top.high, low, top.suits) for low in range(bottom.low, top.low + 1)]
        gap = top.high - top.low
        if gap == bottom.high - bottom.low:
            return [HandClasses(high, high - gap, top.suits) for high in range(bottom.high, top.high + 1)]
    raise FeltError(
        f"{_quote(term)} does not join two pairs, two hands with the same high card or two hands with the "
        "same gap, both suited or both offsuit; write QQ-22, A5s-A2s or 98s-54s."
    )


def _join(hands: list[HandClasses]) -> NDArray[np.intp]:
    return np.concatenate([hand.pairs() for hand in hands])


def _quote(term: str) -> str:
    return f"'{term}'" if len(term) <= 40 else f"'{term[:40]}...'"
