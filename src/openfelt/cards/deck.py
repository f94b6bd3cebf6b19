"""Cards and pairs of hole cards as numbers and as text.

A card is 4 * rank + suit, with ranks 2 to A as 0 to 12 and suits c, d, h, s as 0 to 3. A pair of hole cards
is one of 1,326: high * (high - 1) / 2 + low.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError

RANKS, SUITS = "23456789TJQKA", "cdhs"
CARDS, PAIRS = 52, 1326
PREFLOP, FLOP, TURN, RIVER = range(4)
STREETS = ("preflop", "flop", "turn", "river")
BOARD_CARDS = (0, 3, 4, 5)  # on the table, by street

Bytes = NDArray[np.uint8]
Cards: TypeAlias = "str | Sequence[int] | Sequence[str]"  # "AhKd", or their numbers or names

# The two cards of each pair, the lower first [1326, 2], and the pair of two cards [52, 52].
PAIR_CARDS = np.array([(low, high) for high in range(CARDS) for low in range(high)], np.uint8)
PAIR = np.zeros((CARDS, CARDS), np.int16)
PAIR[PAIR_CARDS[:, 0], PAIR_CARDS[:, 1]] = PAIR[PAIR_CARDS[:, 1], PAIR_CARDS[:, 0]] = np.arange(PAIRS)


def card_text(card: int) -> str:
    """The name of a card: "Ah"."""
    return RANKS[card // 4] + SUITS[card % 4]


def cards_text(cards: Iterable[int]) -> str:
    """The names of several cards: "AhKd"."""
    return "".join(map(card_text, cards))


def parse_cards(text: Cards) -> tuple[int, ...]:
    """Cards from "AhKd" or "Ah Kd", or from numbers; raises FeltError for an invalid or repeated card."""
    if isinstance(text, str):
        letters = text.replace(" ", "").replace(",", "")
        cards = [_parse_card(letters[place : place + 2]) for place in range(0, len(letters), 2)]
    else:
        cards = [_check_card(card) for card in text]
    for card in cards:
        if cards.count(card) > 1:
            raise FeltError(f"The card {card_text(card)} appears twice.")
    return tuple(cards)


def parse_hand(hole: Cards, board: Cards = ()) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two hole cards and a board of 0, 3, 4 or 5 cards, all different."""
    own, table = parse_cards(hole), parse_cards(board)
    if len(own) != 2:
        raise FeltError(f"A hand has two hole cards, not {len(own)}.")
    if len(table) not in BOARD_CARDS:
        raise FeltError(f"A board has 0, 3, 4 or 5 cards, not {len(table)}.")
    parse_cards(own + table)
    return own, table


def pair_number(hole: Cards) -> int:
    """The number of a pair of hole cards, 0 to 1325."""
    (first, second), _ = parse_hand(hole)
    return int(PAIR[first, second])


def pair_class(hole: Cards) -> str:
    """One of the 169 classes of hole cards: "AKs", "72o", "TT"."""
    low, high = sorted(parse_hand(hole)[0])
    ranks = RANKS[high // 4] + RANKS[low // 4]
    return ranks if ranks[0] == ranks[1] else ranks + ("s" if low % 4 == high % 4 else "o")


def _parse_card(text: str) -> int:
    rank, suit = RANKS.find(text[:1].upper()), SUITS.find(text[1:].lower())
    if len(text) != 2 or rank < 0 or suit < 0:
        raise FeltError(f"'{text}' is not a card; write a rank (2-9, T, J, Q, K, A) and a suit (c, d, h, s).")
    return 4 * rank + suit


def _check_card(card: object) -> int:
    if isinstance(card, str):
        return _parse_card(card)
    if not isinstance(card, int | np.integer) or not 0 <= card < CARDS:
        raise FeltError(f"The number of a card is from 0 to 51, not {card}.")
    return int(card)
