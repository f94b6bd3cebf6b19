"""Canonical boards: boards up to order and suits, numbered, and found card by card.

Two boards that differ by a permutation of suits are isomorphic; the canonical one has its suits sorted by
the ranks that they hold. There are 1,755 canonical flops, 16,432 boards of four and 134,459 of five cards. A
table leads from a canonical board and a card to the next board: its number, and the permutation of suits that
makes it canonical. (A canonical board of two cards is one of the 169 classes of hole cards.)

Code that follows cards through these tables also composes the permutations, and applies the result to the
hole cards before it looks them up.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import CARDS, PAIR, PAIR_CARDS, PAIRS, Bytes, Cards, parse_cards
from openfelt.core.jit import Ints, Longs, for_rounds, kernel, part

PERMUTATIONS = np.array(list(itertools.permutations(range(4))), np.uint8)  # [24, 4] suit -> suit
_NUMBER = {tuple(order): number for number, order in enumerate(PERMUTATIONS.tolist())}
IDENTITY = 0  # the permutation that changes nothing
# [24, 24] the permutation that applies the first, then the second
COMPOSED = np.array(
    [[_NUMBER[tuple(after[first].tolist())] for after in PERMUTATIONS] for first in PERMUTATIONS], np.uint8
)
# [24, 52] the card, and [24, 1326] the pair of hole cards, that a permutation of suits makes of another
PERMUTED_CARD = np.array(
    [[4 * (card // 4) + order[card % 4] for card in range(CARDS)] for order in PERMUTATIONS]
)
PERMUTED_CARD = PERMUTED_CARD.astype(np.uint8)
PERMUTED_PAIR = PAIR[PERMUTED_CARD[:, PAIR_CARDS[:, 0]], PERMUTED_CARD[:, PAIR_CARDS[:, 1]]]
PERMUTATION_BITS = 5
SUIT_SHIFT, SUIT_BITS = 13, (1 << 13) - 1


class Boards(NamedTuple):
    """Transitions between the canonical boards of 0 to 5 cards."""

    # [boards, 52] the next board's number << 5 | permutation; -1 where the card is on the board
    to_1: Ints
    to_2: Ints
    to_3: Ints
    to_4: Ints
    to_5: Ints


class BoardSet(NamedTuple):
    """The canonical boards of one size."""

    key: Longs  # [boards] thirteen bits a suit, the fullest suit highest; ascending
    multiplicity: Ints  # [boards] number of boards that are isomorphic to it

    def cards(self) -> Longs:
        """The cards of each canonical board [boards, cards], ascending."""
        held = (self.key[:, None] & _CARD_KEY) != 0
        return np.nonzero(held)[1].reshape(len(held), -1)


# A canonical board's fullest suit is suit 0, in the highest bits of its key.
_CARD_KEY = np.array([1 << (SUIT_SHIFT * (3 - card % 4) + card // 4) for card in range(CARDS)], np.int64)


@cache
def boards() -> Boards:
    """The tables of transitions (about 4 MB, computed in a moment)."""
    return Boards(*(_steps(size) for size in range(5)))


@cache
def board_set(size: int) -> BoardSet:
    """All canonical boards of that many cards."""
    if size == 0:
        return BoardSet(np.zeros(1, np.int64), np.ones(1, np.int32))
    before = board_set(size - 1)
    keys = np.full((len(before.key), CARDS), -1, np.int64)
    _add_a_card(before.key, keys, np.empty((0, 0), np.int32))
    key = np.unique(keys[keys >= 0])
    return BoardSet(key, _multiplicity(key))


def find_board(cards: Cards) -> tuple[int, int]:
    """The number of a board among the canonical ones of its size, and the permutation that leads there."""
    board, permutation = 0, IDENTITY
    for size, card in enumerate(parse_cards(cards)):
        entry = int(_steps(size)[board, PERMUTED_CARD[permutation, card]])
        board, permutation = entry >> PERMUTATION_BITS, int(COMPOSED[permutation, entry & 31])
    return board, permutation


def count_hands(size: int) -> int:
    """Number of hands up to suits: a board of that size with two hole cards (Burnside's lemma)."""
    return int(_count_hands(board_set(size).key, _CARD_KEY, PERMUTED_CARD, PAIR_CARDS, PERMUTED_PAIR))


@cache
def hole_class() -> Ints:
    """[1326] the class of each pair of hole cards, 0 to 168."""
    return np.array([find_board(pair.tolist())[0] for pair in PAIR_CARDS], np.int32)


@cache
def _steps(size: int) -> Ints:
    """The transitions from boards of that size."""
    before, after = board_set(size), board_set(size + 1)
    keys = np.full((len(before.key), CARDS), -1, np.int64)
    permutation = np.zeros((len(before.key), CARDS), np.int32)
    _add_a_card(before.key, keys, permutation)
    steps = np.searchsorted(after.key, keys) << PERMUTATION_BITS | permutation
    return np.where(keys < 0, -1, steps).astype(np.int32)


def _add_a_card(before: Longs, keys: Longs, permutation: Ints) -> None:
    for_rounds(_keys_with_a_card, keys.size * len(PERMUTATIONS))(before, keys, permutation)


def _multiplicity(key: Longs) -> Ints:
    suits = key[:, None] >> SUIT_SHIFT * np.arange(4) & SUIT_BITS
    alike = np.tril(suits[:, :, None] == suits[:, None, :]).sum(axis=2)  # to each suit, and those before it
    return np.asarray(24 // alike.prod(axis=1), np.int32)


@kernel
def _keys_with_a_card(before: Longs, keys: Longs, permutation: Ints) -> None:
    """For each board and card: the key of the board with the card, and the permutation that sorts suits."""
    suits, order = np.empty(4, np.int64), np.empty(4, np.int64)
    for board in range(len(before)):
        for card in range(CARDS):
            for place in range(4):
                suits[place] = before[board] >> SUIT_SHIFT * (3 - place) & SUIT_BITS
                order[place] = place
            if suits[card % 4] >> card // 4 & 1:
                continue
            suits[card % 4] |= 1 << card // 4
            for place in range(1, 4):  # insertion sort, the fullest first
                here = place
                while here > 0 and suits[here - 1] < suits[here]:
                    suits[here - 1], suits[here] = suits[here], suits[here - 1]
                    order[here - 1], order[here] = order[here], order[here - 1]
                    here -= 1
            key = np.int64(0)
            for place in range(4):
                key = key << SUIT_SHIFT | suits[place]
            keys[board, card] = key
            if len(permutation):
                permutation[board, card] = _permutation_number(order)


@part
def _permutation_number(order: Longs) -> int:
    """The number of the permutation that sends suit order[place] to place."""
    for number in range(len(PERMUTATIONS)):
        if (
            PERMUTATIONS[number, order[0]] == 0
            and PERMUTATIONS[number, order[1]] == 1
            and PERMUTATIONS[number, order[2]] == 2
        ):
            return number
    return -1


@kernel
def _count_hands(
    keys: Longs, card_key: Longs, permuted_card: Bytes, pair_cards: Bytes, permuted_pair: NDArray[np.int16]
) -> int:
    """Sum over boards of the orbits of pairs: the mean number of pairs that a symmetry leaves fixed."""
    total = 0
    for board in range(len(keys)):
        stabilisers, fixed = 0, 0
        for permutation in range(len(permuted_card)):
            permuted = np.int64(0)
            for card in range(CARDS):
                if keys[board] & card_key[card]:
                    permuted |= card_key[permuted_card[permutation, card]]
            if permuted != keys[board]:
                continue
            stabilisers += 1
            for pair in range(PAIRS):
                off_board = not keys[board] & (card_key[pair_cards[pair, 0]] | card_key[pair_cards[pair, 1]])
                fixed += off_board and permuted_pair[permutation, pair] == pair
        total += fixed // stabilisers
    return total


@part
def step(table: Ints, board: int, permutation: int, card: int) -> tuple[int, int]:
    """From a canonical board, and a dealt card that is not on it, to the board with that card."""
    entry = table[board, PERMUTED_CARD[permutation, card]]
    return entry >> PERMUTATION_BITS, COMPOSED[permutation, entry & 31]
