"""The lossless flop: a bucket for each hand up to suit isomorphism, 1,286,792 of them.

Two hands are in the same bucket if and only if a permutation of suits turns one into the other, hole cards
and flop. Buckets are numbered flop by flop, in the order of the canonical boards; so their order says nothing
of strength. The numbers follow from the cards alone: policies are saved without a table of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import PERMUTED_CARD, PERMUTED_PAIR, board_set, find_board
from openfelt.cards.deck import BOARD_CARDS, CARDS, FLOP, PAIR_CARDS, PAIRS, Bytes
from openfelt.core.jit import Ints, Longs, kernel


@cache
def flop_hands() -> Ints:
    """[canonical flops, 1326] the number of each hand up to suits; 0 where a hole card is on the board."""
    cards = board_set(BOARD_CARDS[FLOP]).cards()
    numbers = np.zeros((len(cards), PAIRS), np.int32)
    _number_hands(cards, PERMUTED_CARD, PERMUTED_PAIR, numbers)
    return numbers


def flop_hands_on(board: Sequence[int]) -> Ints:
    """[1326] the number of each hand on a flop; 0 where a hole card is on it."""
    number, seen_as = find_board(board)
    return np.asarray(flop_hands()[number, PERMUTED_PAIR[seen_as]])


@kernel
def _number_hands(
    cards: Longs, permuted_card: Bytes, permuted_pair: NDArray[np.int16], numbers: Ints
) -> None:
    """Number the hands: a new number for the first pair of each orbit of a flop's symmetries."""
    held, count = np.empty(CARDS, np.bool_), 0
    for board in range(len(cards)):
        held[:] = False
        held[cards[board]] = True
        kept = np.empty(len(permuted_card), np.bool_)  # permutations that map the flop to itself
        for order in range(len(permuted_card)):
            kept[order] = held[permuted_card[order][cards[board]]].all()
        for pair in range(PAIRS):
            if held[PAIR_CARDS[pair, 0]] or held[PAIR_CARDS[pair, 1]]:
                continue
            first = pair
            for order in range(len(permuted_card)):
                if kept[order]:
                    first = min(first, permuted_pair[order, pair])
            if first == pair:
                numbers[board, pair] = count
                count += 1
            else:
                numbers[board, pair] = numbers[board, first]
