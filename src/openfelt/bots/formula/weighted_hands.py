"""Weighted hands of opponents: the strength of each, and the potential of one hand against them.

On a board all 1,326 pairs of hole cards are ordered, now and after each possible next card; a pair's
*promise* is the mean over the next card of the share of hands that it beats now or then, whichever is higher.
It replaces Billings' HS + (1 - HS) PPot against random hands, which would need every pair against every
other; like that, it counts what a hand may become but not what it may lose. A pair's *rank* is the share of
pairs with less promise.

A weight table [1326] is the likelihood of an opponent's actions with each pair (Billings, Papp, Schaeffer &
Szafron 1998). `reweight` updates it for an action, `hand_potential` measures one hand against such tables.

Positions in the order are integers below 8,684, so that shares come from counting instead of sorting.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import CARDS, PAIR, PAIR_CARDS, PAIRS, pair_class
from openfelt.cards.evaluator import CARD_BIT, CATEGORY_SHIFT, COUNT, MASKS, RANK_SHIFT, evaluate
from openfelt.cards.strength import preflop_sums
from openfelt.core.jit import Floats, Ints, Longs, kernel, part

Shorts = NDArray[np.int16]
NO_PLACE = -1  # of a pair with a card of the board

# By category: number of ranks that make the hand, and number of kickers that the evaluator distinguishes.
_RANKS_AND_KICKERS = ((0, 5), (1, 3), (2, 1), (1, 2), (0, 1), (0, 5), (1, 1), (1, 1), (0, 1))
_WIDTH = np.array([math.comb(13, kickers) for _, kickers in _RANKS_AND_KICKERS])
_ENDS = np.cumsum([math.comb(13, ranks) * math.comb(13, kickers) for ranks, kickers in _RANKS_AND_KICKERS])
_FIRST, PLACES = np.concatenate(([0], _ENDS[:-1])), int(_ENDS[-1])
_ORDER = np.zeros(MASKS, np.int16)  # of a mask among those with as many bits
for _bits in range(14):
    _alike = np.flatnonzero(np.equal(COUNT, _bits))
    _ORDER[_alike] = np.arange(len(_alike))
_PAIR_WORD = CARD_BIT[PAIR_CARDS[:, 0]] | CARD_BIT[PAIR_CARDS[:, 1]]


class BoardHands(NamedTuple):
    """All pairs on one board of three to five cards."""

    now: Shorts  # [1326] position in the order of hands; NO_PLACE with a card of the board
    later: Shorts  # [52, 1326] after each possible next card; [0, 1326] on the river
    rank: Floats  # [1326] the share of pairs with less promise


class HandPotential(NamedTuple):
    """Strength and potential of a hand against opponents (Billings et al.), with one card to come."""

    hs: float  # probability of being ahead of all opponents now
    ppot: float  # share of hands ahead that the next card overtakes
    npot: float  # share of hands behind that overtake with the next card

    @property
    def optimistic(self) -> float:
        """HS + (1 - HS) PPot: ahead now, or after the next card."""
        return self.hs + (1 - self.hs) * self.ppot

    @property
    def expected(self) -> float:
        """HS (1 - NPot) + (1 - HS) PPot: ahead after the next card."""
        return self.hs * (1 - self.npot) + (1 - self.hs) * self.ppot


@lru_cache(maxsize=64)
def board_hands(board: tuple[int, ...]) -> BoardHands:
    """Order all pairs on a board, in less than a millisecond; the last boards are cached."""
    later = np.full((CARDS if len(board) < 5 else 0, PAIRS), NO_PLACE, np.int16)
    now, rank = np.empty(PAIRS, np.int16), np.empty(PAIRS)
    _order_hands(np.array(board, np.int64), now, later, rank)
    return BoardHands(now, later, rank)


def hand_potential(hole: tuple[int, ...], hands: BoardHands, weights: Floats) -> HandPotential:
    """The potential of a hand against opponents with weight tables [opponents, 1326].

    HS is the product over opponents (Papp 1998, equation 5.4). Potentials are against the mean of their
    tables, each scaled to sum to one: the "field array" of Papp 5.3.1.
    """
    counts, hs = np.zeros((3, 3)), np.empty(len(weights))
    _hand_potential(int(PAIR[hole[0], hole[1]]), hands.now, hands.later, weights, hs, counts)
    behind, tied, ahead = counts.tolist()  # each: weights of hands that end behind, tied, ahead
    passed = _ratio(behind[2] + behind[1] / 2 + tied[2] / 2, sum(behind) + sum(tied) / 2)
    passing = _ratio(ahead[0] + ahead[1] / 2 + tied[0] / 2, sum(ahead) + sum(tied) / 2)
    return HandPotential(float(hs.prod()), passed, passing)


@cache
def hole_ranks() -> Floats:
    """Before the flop: for each pair the share of pairs that win less often against a random hand."""
    sums = preflop_sums()
    chance = np.array([sums[pair_class(cards)][0] for cards in PAIR_CARDS.tolist()], np.int64)
    rank = np.empty(PAIRS)
    _rank(np.zeros(PAIRS, np.int16), chance, rank)
    return rank


def strength_now(hole: tuple[int, ...], board: tuple[int, ...]) -> float:
    """HS: the probability of being ahead of one random hand, in about ten microseconds."""
    return float(_strength_now(np.array(hole, np.int64), np.array(board, np.int64)))


def _ratio(share: float, whole: float) -> float:
    return share / whole if whole else 0.0


@part
def _place(value: int) -> int:
    """The position of an evaluator's value among all possible ones."""
    category = value >> CATEGORY_SHIFT
    ranks, kickers = value >> RANK_SHIFT & MASKS - 1, value & MASKS - 1
    return int(_FIRST[category] + _ORDER[ranks] * _WIDTH[category] + _ORDER[kickers])


@kernel
def _order_hands(board: Longs, now: Shorts, later: Shorts, rank: Floats) -> None:
    """Fill the arrays of BoardHands; sums are integers, so hands equal up to suits get equal ranks."""
    word = np.uint64(0)
    for card in board:
        word |= CARD_BIT[card]
    counts = np.empty(PLACES, np.int32)
    beaten, beaten_later = np.zeros(PAIRS, np.int64), np.zeros(PAIRS, np.int64)
    _place_hands(word, now)
    most = _count_weaker(now, counts, beaten)
    promise = np.zeros(PAIRS, np.int64) if len(later) else beaten
    for card in range(len(later)):
        if word & CARD_BIT[card]:
            continue
        _place_hands(word | CARD_BIT[card], later[card])
        most_later = _count_weaker(later[card], counts, beaten_later)
        for pair in range(PAIRS):
            if later[card, pair] != NO_PLACE:  # compare the shares beaten / most, now and later
                promise[pair] += max(beaten[pair] * most_later, beaten_later[pair] * most)
    _rank(now, promise, rank)


@kernel
def _place_hands(word: np.uint64, places: Shorts) -> None:
    for pair in range(PAIRS):
        hole = _PAIR_WORD[pair]
        places[pair] = NO_PLACE if hole & word else _place(evaluate(word | hole))


@kernel
def _count_weaker(places: Shorts, counts: Ints, beaten: Longs) -> int:
    """For each pair twice the pairs that it beats plus those it ties, also those that share a card with it.

    Returns the highest possible number.
    """
    counts[:] = 0
    for place in places:
        if place != NO_PLACE:
            counts[place] += 1
    weaker = 0
    for place in range(PLACES):
        equal = counts[place]
        counts[place] = 2 * weaker + equal - 1
        weaker += equal
    for pair in range(PAIRS):
        if places[pair] != NO_PLACE:
            beaten[pair] = counts[places[pair]]
    return 2 * (weaker - 1)


@kernel
def _rank(now: Shorts, promise: Longs, rank: Floats) -> None:
    """The share of other pairs with less promise, ties as halves; 0 for impossible pairs."""
    keys, count = np.empty(PAIRS, np.int64), 0
    for pair in range(PAIRS):
        rank[pair] = 0.0
        if now[pair] != NO_PLACE:
            keys[count] = promise[pair] << 11 | pair
            count += 1
    keys = np.sort(keys[:count])
    start = 0
    while start < count:
        end = start
        while end < count and keys[end] >> 11 == keys[start] >> 11:
            end += 1
        for place in range(start, end):
            rank[keys[place] & 2047] = (start + end - 1) / (2 * (count - 1))
        start = end


@kernel
def _hand_potential(
    own: int, now: Shorts, later: Shorts, weights: Floats, hs: Floats, counts: Floats
) -> None:
    """HS against each opponent; weights of hands behind, tied and ahead now (row) and later (column)."""
    mine, pairs = _PAIR_WORD[own], 0
    others, is_now, field = np.empty(PAIRS, np.int64), np.empty(PAIRS, np.int64), np.zeros(PAIRS)
    for pair in range(PAIRS):
        if now[pair] != NO_PLACE and not _PAIR_WORD[pair] & mine:
            others[pairs] = pair
            is_now[pairs] = 1 + (now[own] > now[pair]) - (now[own] < now[pair])
            pairs += 1
    for opponent in range(len(weights)):
        won, total = 0.0, 0.0
        for place in range(pairs):
            weight = weights[opponent, others[place]]
            won += weight * is_now[place] / 2
            total += weight
        hs[opponent] = won / total
        for place in range(pairs):
            field[place] += weights[opponent, others[place]] / total
    wins, ties = np.zeros(PAIRS, np.int32), np.zeros(PAIRS, np.int32)
    cards = 0
    for card in range(len(later)):
        own_later = later[card, own]
        if own_later != NO_PLACE:
            cards += 1
            for pair in range(PAIRS):
                wins[pair] += own_later > later[card, pair]
                ties[pair] += own_later == later[card, pair]
    for place in range(pairs if cards else 0):
        won = wins[others[place]] - 2  # the two cards that the opponent holds cannot come
        tied = ties[others[place]]
        row, weight = counts[is_now[place]], field[place]
        row[0] += weight * (cards - 2 - won - tied)
        row[1] += weight * tied
        row[2] += weight * won


@kernel
def _strength_now(hole: Longs, board: Longs) -> float:
    word, mine = np.uint64(0), CARD_BIT[hole[0]] | CARD_BIT[hole[1]]
    for card in board:
        word |= CARD_BIT[card]
    value, score, pairs = evaluate(word | mine), 0, 0
    for pair in range(PAIRS):
        if not _PAIR_WORD[pair] & (word | mine):
            other = evaluate(word | _PAIR_WORD[pair])
            score += 1 + (value > other) - (value < other)
            pairs += 1
    return score / (2 * pairs)


@kernel
def reweight(
    weights: Floats, rank: Floats, low: float, high: float, spread: float, credit: float, least: float
) -> None:
    """Update a weight table [1326] for an action that is taken with ranks between two thresholds.

    The probability of the action rises from `least` to 1 as the rank goes from `spread` below to `spread`
    above the threshold `low` (Papp 1998, 7.2.1: mu - sigma and mu + sigma). An action that could have been a
    raise gives hands around and above `high` less weight, by up to `credit`: the part that would have raised
    (Pena 1999, chapter 4).
    """
    for pair in range(PAIRS):
        likelihood = least + (1 - least) * _rise(rank[pair], low, spread)
        held_back = 1 - credit * _rise(rank[pair], high, spread)
        weights[pair] = max(least, weights[pair] * likelihood * held_back)


@part
def _rise(value: float, middle: float, spread: float) -> float:
    return min(1.0, max(0.0, (value - middle + spread) / (2 * spread)))
