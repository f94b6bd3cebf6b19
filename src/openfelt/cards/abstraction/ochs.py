"""Opponent cluster hand strength (OCHS) on the river: equities against several ranges instead of one.

The 169 classes of hole cards are divided into OPPONENTS clusters with similar equities against all hands. A
hand on the river is described by its equity against each cluster (Johanson, Burch, Valenzano & Bowling 2013,
"Evaluating state-space abstractions in extensive-form games"). Two hands with the same hand strength may beat
different hands; these equities distinguish them.

Hands of the same ranks whose cards are alike in whether they have the suit of a possible flush differ only in
the cards that they remove from the opponent's range. They share the mean of their equities, so that they are
in the same bucket.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.abstraction.kmeans import SEED, SortedCentres, fit, nearest
from openfelt.cards.boards import board_set, hole_class
from openfelt.cards.deck import BOARD_CARDS, CARDS, PAIR_CARDS, PAIRS, RANKS, RIVER
from openfelt.cards.equity import matchups
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.core.jit import Floats, Ints, Longs, kernel

OPPONENTS = 8  # clusters of the opponent's hole cards
SAMPLED_BOARDS, SAMPLED_HANDS = 25_000, 8  # hands per board to which the centres are fitted
KINDS = 4  # of hands of two ranks: which of their cards have the flush suit
SQUARES = len(RANKS) ** 2


@cache
def opponent_clusters() -> NDArray[np.uint8]:
    """[169] the cluster of each class of hole cards, the weakest first."""
    score, classes, _ = matchups()
    met, total = np.zeros((len(score), len(score))), np.zeros((len(score), len(score)))
    for pair, kind in enumerate(classes):
        total[:, kind] += score[:, pair]
        met[:, kind] += score[:, pair] > 0
    equities = total / np.maximum(met, 1)
    equities /= equities.max()
    centres = fit(equities, np.bincount(classes).astype(np.float64), OPPONENTS)
    nearest = ((equities[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    order = np.argsort([equities[nearest == each].mean() for each in range(OPPONENTS)])
    return np.asarray(np.argsort(order)[nearest], np.uint8)


def river_centres(clusters: NDArray[np.uint8], count: int) -> Floats:
    """The centres [count, OPPONENTS], fitted to a sample of all hands, ordered by mean equity."""
    generator, boards = np.random.default_rng(SEED), board_set(BOARD_CARDS[RIVER])
    chance = boards.multiplicity / boards.multiplicity.sum()
    chosen = np.sort(generator.choice(len(chance), SAMPLED_BOARDS, p=chance))
    points = np.empty((SAMPLED_BOARDS, SAMPLED_HANDS, OPPONENTS))
    found, clusters_of_pairs = np.empty((PAIRS, OPPONENTS)), cluster_of_pairs(clusters)
    for place, cards in enumerate(boards.cards()[chosen]):
        possible = cluster_equities(cards, clusters_of_pairs, found)
        points[place] = found[generator.choice(np.flatnonzero(possible), SAMPLED_HANDS)]
    fitted = fit(points.reshape(-1, OPPONENTS), np.ones(SAMPLED_BOARDS * SAMPLED_HANDS), count)
    return fitted[np.lexsort((*fitted.T, fitted.sum(axis=1)))]


def cluster_of_pairs(clusters: NDArray[np.uint8]) -> Ints:
    """[1326] the cluster of each pair of hole cards."""
    return clusters[hole_class()].astype(np.int32)


@kernel
def cluster_equities(cards: Longs, clusters: Ints, found: Floats) -> NDArray[np.bool_]:
    """Fill `found` [1326, OPPONENTS] on a board of five cards; returns which hands are possible.

    One pass over the hands in the order of their values counts those below each hand, by cluster and card.
    """
    word = np.uint64(0)
    suits = np.zeros(4, np.int64)
    for card in cards:
        word |= CARD_BIT[card]
        suits[card % 4] += 1
    keys = np.empty(PAIRS, np.int64)
    possible = np.zeros(PAIRS, np.bool_)
    count = 0
    every, every_card = np.zeros(OPPONENTS, np.int64), np.zeros((CARDS, OPPONENTS), np.int64)
    for pair in range(PAIRS):
        low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
        hole = CARD_BIT[low] | CARD_BIT[high]
        if not hole & word:
            keys[count] = np.int64(evaluate(word | hole)) << 11 | pair
            count += 1
            possible[pair] = True
            every[clusters[pair]] += 1
            every_card[low, clusters[pair]] += 1
            every_card[high, clusters[pair]] += 1
    keys = np.sort(keys[:count])
    below, below_card = np.zeros(OPPONENTS, np.int64), np.zeros((CARDS, OPPONENTS), np.int64)
    start = 0
    while start < count:
        end = start
        while end < count and keys[end] >> 11 == keys[start] >> 11:
            end += 1
        for step in range(2):  # the lower hands, then with those of equal value
            for place in range(start, end):
                pair = keys[place] & 2047
                low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
                for which in range(OPPONENTS):
                    here = below[which] - below_card[low, which] - below_card[high, which]
                    if step == 0:
                        found[pair, which] = here
                    else:
                        own = 1 if clusters[pair] == which else 0
                        met = every[which] - every_card[low, which] - every_card[high, which] + own
                        # The hand itself is in all three sums of each difference, so it was taken off once.
                        score = found[pair, which] + here + own  # twice the hands beaten, plus those tied
                        found[pair, which] = score / (2 * met) if met else 0.5
            if step == 0:
                for place in range(start, end):
                    pair = keys[place] & 2047
                    below[clusters[pair]] += 1
                    below_card[PAIR_CARDS[pair, 0], clusters[pair]] += 1
                    below_card[PAIR_CARDS[pair, 1], clusters[pair]] += 1
        start = end
    _share_means(suits, possible, found)
    return possible


@kernel
def _share_means(suits: Longs, possible: NDArray[np.bool_], found: Floats) -> None:
    """Replace the equities of a hand by the mean of all hands of its kind."""
    sums, counts = np.zeros((SQUARES * KINDS, OPPONENTS)), np.zeros(SQUARES * KINDS)
    for pair in range(PAIRS):
        if possible[pair]:
            kind = _kind(suits, pair)
            counts[kind] += 1.0
            for which in range(OPPONENTS):
                sums[kind, which] += found[pair, which]
    for pair in range(PAIRS):
        if possible[pair]:
            kind = _kind(suits, pair)
            for which in range(OPPONENTS):
                found[pair, which] = sums[kind, which] / counts[kind]


@kernel
def _kind(suits: Longs, pair: int) -> int:
    """The ranks of a hand, and which of its cards have the suit of a possible flush."""
    low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
    first, second = suits[low % 4] >= 3, suits[high % 4] >= 3
    if low // 4 == high // 4 and second:
        first, second = True, False
    return int(((low // 4 * len(RANKS) + high // 4) * 2 + first) * 2 + second)


@kernel
def river_buckets(cards: Longs, clusters: Ints, centres: SortedCentres, table: NDArray[np.uint16]) -> None:
    """[boards, 1326] the nearest centre of each hand on boards [boards, 5]; 0 where a hand is impossible."""
    found, known = np.empty((PAIRS, OPPONENTS)), np.empty(SQUARES * KINDS, np.int64)
    suits = np.empty(4, np.int64)
    for board in range(len(cards)):
        possible = cluster_equities(cards[board], clusters, found)
        suits[:] = 0
        for card in cards[board]:
            suits[card % 4] += 1
        known[:] = -1
        for pair in range(PAIRS):
            table[board, pair] = 0
            if possible[pair]:
                kind = _kind(suits, pair)
                if known[kind] < 0:
                    known[kind] = nearest(found[pair], centres)
                table[board, pair] = known[kind]
