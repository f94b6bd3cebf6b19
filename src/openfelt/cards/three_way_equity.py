"""The exact shares of the pot for three given hands, for every set of players still in the hand.

All possible boards are enumerated once. Only the order of the three hands on a board matters, so these orders
are counted; the shares for any set of players follow from the counts. Cards of a player that has folded are
known and cannot be dealt, so shares are a martingale while the board is dealt.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import CARDS, Cards, parse_cards, parse_hand
from openfelt.cards.evaluator import CARD_BIT, cards_word, evaluate
from openfelt.core.errors import FeltError
from openfelt.core.jit import Longs, kernel

PLAYERS = 3
Words = NDArray[np.uint64]
Shares = dict[tuple[int, ...], tuple[float, ...]]  # by the players still in: the share of each; 0 for others


def three_way_shares(holes: Sequence[Cards], board: Cards = ()) -> Shares:
    """The expected share of the pot of each of three hands without further betting, by players still in."""
    if len(holes) != PLAYERS:
        raise FeltError(f"Shares are computed for three hands, not for {len(holes)}.")
    hands = [parse_hand(hole, board) for hole in holes]
    table = hands[0][1]
    out = parse_cards([card for own, _ in hands for card in own] + list(table))
    words = np.array([cards_word(np.array(own, np.int64)) for own, _ in hands], np.uint64)
    rest = CARD_BIT[[card for card in range(CARDS) if card not in out]]
    counts = np.zeros((3, 3, 3), np.int64)
    _count_orders(words, cards_word(np.array(table, np.int64)), rest, 5 - len(table), counts)
    sets = [some for size in (1, 2, 3) for some in combinations(range(PLAYERS), size)]
    return {inside: _shares(counts, inside) for inside in sets}


def _shares(counts: Longs, inside: tuple[int, ...]) -> tuple[float, ...]:
    """From the counts of orders: the best hands of the players still in split the pot."""
    won = [0.0] * PLAYERS
    for order in zip(*np.nonzero(counts), strict=True):
        ahead = dict(zip(combinations(range(PLAYERS), 2), (int(sign) - 1 for sign in order), strict=True))
        ahead |= {(other, one): -sign for (one, other), sign in ahead.items()}
        best = [one for one in inside if all(ahead[one, other] >= 0 for other in inside if other != one)]
        for one in best:
            won[one] += int(counts[order]) / len(best)
    return tuple(sum_ / int(counts.sum()) for sum_ in won)


@kernel
def _count_orders(holes: Words, base: np.uint64, rest: Words, missing: int, counts: Longs) -> None:
    """Count boards by how the hands compare, 0 behind, 1 even, 2 ahead: 0 and 1, 0 and 2, 1 and 2."""
    if missing == 0:
        _compare(holes, base, counts)
        return
    # `place` has the cards but the last, ascending; word[n] is the board with the first n of them.
    place, word = np.arange(missing), np.empty(missing, np.uint64)
    word[0] = base
    depth = 0
    while depth >= 0:
        if depth == missing - 1:
            for last in range(place[depth], len(rest)):
                _compare(holes, word[depth] | rest[last], counts)
            depth -= 1
        elif place[depth] < len(rest):
            word[depth + 1] = word[depth] | rest[place[depth]]
            place[depth] += 1
            place[depth + 1] = place[depth]
            depth += 1
        else:
            depth -= 1


@kernel
def _compare(holes: Words, board: np.uint64, counts: Longs) -> None:
    first, second, third = evaluate(board | holes[0]), evaluate(board | holes[1]), evaluate(board | holes[2])
    counts[
        1 + (first > second) - (first < second),
        1 + (first > third) - (first < third),
        1 + (second > third) - (second < third),
    ] += 1
