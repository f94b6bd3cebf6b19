"""The value of the best five of up to seven cards, for kernels: a higher number is a better hand.

A set of cards is one 64-bit word, with sixteen bits per suit. A few additions of the four suits give the
ranks that occur once, twice, three or four times. A value is the category, then the ranks that make it, then
the kickers, each as a mask of thirteen bits. Of two masks with equally many bits the larger is better, so
values are compared as numbers. The only tables have 8,192 entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import Cards, parse_cards
from openfelt.core.errors import FeltError
from openfelt.core.jit import kernel, part

CATEGORIES = (
    *("high card", "pair", "two pair", "three of a kind", "straight"),
    *("flush", "full house", "four of a kind", "straight flush"),
)
PAIRED, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(1, 9)
MASKS = 1 << 13
CATEGORY_SHIFT, RANK_SHIFT = 26, 13

CARD_BIT = np.array([1 << (16 * (card % 4) + card // 4) for card in range(52)], np.uint64)
SUIT_SHIFTS = (np.uint64(16), np.uint64(32), np.uint64(48))
SUIT_BITS = np.uint64(MASKS - 1)


def _top_bits(mask: int, count: int) -> int:
    while mask.bit_count() > count:
        mask &= mask - 1
    return mask


def _straight_bit(mask: int) -> int:
    """The bit of the highest card of the best straight in a mask of ranks; 0 if there is none."""
    with_low_ace = mask << 1 | mask >> 12
    runs = [high for high in range(4, 14) if with_low_ace >> (high - 4) & 31 == 31]
    return 1 << (max(runs) - 1) if runs else 0


COUNT = np.array([mask.bit_count() for mask in range(MASKS)], np.uint8)
TOP_1, TOP_2, TOP_3, TOP_5 = (
    np.array([_top_bits(mask, count) for mask in range(MASKS)], np.int32) for count in (1, 2, 3, 5)
)
STRAIGHT_BIT = np.array([_straight_bit(mask) for mask in range(MASKS)], np.int32)


def hand_value(cards: Cards) -> int:
    """The value of five to seven cards; only comparisons of values are meaningful."""
    parsed = parse_cards(cards)
    if not 5 <= len(parsed) <= 7:
        raise FeltError(f"A hand to evaluate has five to seven cards, not {len(parsed)}.")
    return int(hand_values(np.array([parsed], np.uint8))[0])


def hand_category(cards: Cards) -> str:
    """The category of a hand: "two pair"."""
    return CATEGORIES[hand_value(cards) >> CATEGORY_SHIFT]


@part
def evaluate(word: Any) -> int:
    """The value of a set of five to seven cards, given as a word."""
    clubs = int(word & SUIT_BITS)
    diamonds = int((word >> SUIT_SHIFTS[0]) & SUIT_BITS)
    hearts = int((word >> SUIT_SHIFTS[1]) & SUIT_BITS)
    spades = int(word >> SUIT_SHIFTS[2])
    for suit in (clubs, diamonds, hearts, spades):
        if COUNT[suit] >= 5:  # seven cards with a flush have neither quads nor a full house
            if STRAIGHT_BIT[suit]:
                return (STRAIGHT_FLUSH << CATEGORY_SHIFT) + int(STRAIGHT_BIT[suit])
            return (FLUSH << CATEGORY_SHIFT) + int(TOP_5[suit])
    # Add the four suits rank by rank, in binary: ones + 2 twos + 4 fours.
    lower, upper = clubs ^ diamonds, hearts ^ spades
    both_lower, both_upper = clubs & diamonds, hearts & spades
    ones, carry = lower ^ upper, lower & upper
    twos, fours = both_lower ^ both_upper ^ carry, both_lower & both_upper
    ranks = clubs | diamonds | hearts | spades
    threes, pairs = ones & twos, twos & ~ones
    if fours:
        return (QUADS << CATEGORY_SHIFT) + (fours << RANK_SHIFT) + int(TOP_1[ranks ^ fours])
    if threes:
        best = int(TOP_1[threes])
        rest = (threes ^ best) | pairs
        if rest:
            return (FULL_HOUSE << CATEGORY_SHIFT) + (best << RANK_SHIFT) + int(TOP_1[rest])
    if STRAIGHT_BIT[ranks]:
        return (STRAIGHT << CATEGORY_SHIFT) + int(STRAIGHT_BIT[ranks])
    if threes:
        return (TRIPS << CATEGORY_SHIFT) + (threes << RANK_SHIFT) + int(TOP_2[ranks ^ threes])
    if pairs:
        best = int(TOP_2[pairs])
        if COUNT[best] == 2:
            return (TWO_PAIR << CATEGORY_SHIFT) + (best << RANK_SHIFT) + int(TOP_1[ranks ^ best])
        return (PAIRED << CATEGORY_SHIFT) + (pairs << RANK_SHIFT) + int(TOP_3[ranks ^ pairs])
    return int(TOP_5[ranks])


@kernel
def cards_word(cards: NDArray[np.int64]) -> np.uint64:
    """A set of cards as a word."""
    word = np.uint64(0)
    for card in cards:
        word |= CARD_BIT[card]
    return word


@kernel
def hand_values(hands: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The values of many hands [hands, cards]."""
    values = np.empty(len(hands), np.int32)
    for hand in range(len(hands)):
        word = np.uint64(0)
        for card in hands[hand]:
            word |= CARD_BIT[card]
        values[hand] = evaluate(word)
    return values
