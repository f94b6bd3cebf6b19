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

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.abstraction.centre_tree import CentreTree, nearest
from openfelt.cards.abstraction.clusters import SEED, fit
from openfelt.cards.boards import board_set, hole_class
from openfelt.cards.deck import BOARD_CARDS, CARDS, PAIR_CARDS, PAIRS, RANKS, RIVER
from openfelt.cards.equity import matchups
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.core.jit import Floats, Ints, Longs, kernel

OPPONENTS = 8  # clusters of the opponent's hole cards
SAMPLED_BOARDS, SAMPLED_HANDS = 25_000, 8  # to which the centres are fitted: at least, and of each board
SAMPLE_OF_BUCKET = 30  # hands
CHUNK = 1_024  # boards at a time
KINDS = 4  # of hands of two ranks: which of their cards have the flush suit
SQUARES = len(RANKS) ** 2
ITSELF = np.eye(OPPONENTS)  # by cluster of a hand


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
    size = max(SAMPLED_BOARDS, SAMPLE_OF_BUCKET * count // SAMPLED_HANDS)
    chosen = np.sort(generator.choice(len(chance), size, p=chance))
    points = np.empty((size, SAMPLED_HANDS, OPPONENTS))
    clusters_of_pairs = cluster_of_pairs(clusters)
    cards = boards.cards()[chosen]
    with ThreadPoolExecutor() as pool:
        for first in range(0, size, CHUNK):
            some = pool.map(lambda each: kind_equities(each, clusters_of_pairs), cards[first : first + CHUNK])
            for place, (kinds, equities) in enumerate(some, first):
                points[place] = equities[generator.choice(kinds[kinds >= 0], SAMPLED_HANDS)]
    fitted = fit(points.reshape(-1, OPPONENTS), np.ones(size * SAMPLED_HANDS), count)
    return fitted[np.lexsort((*fitted.T, fitted.sum(axis=1)))]


def cluster_of_pairs(clusters: NDArray[np.uint8]) -> Ints:
    """[1326] the cluster of each pair of hole cards."""
    return clusters[hole_class()].astype(np.int32)


@kernel
def kind_equities(cards: Longs, clusters: Ints) -> tuple[Longs, Floats]:
    """The kind of each hand [1326] on a board of five cards, and the equities [kinds, OPPONENTS].

    The kind is -1 where a hand is impossible. One pass over the hands in the order of their values counts
    those below each hand, by cluster and card.
    """
    kinds, values = _number_kinds(cards)
    hands, sizes = _in_order(kinds, values)
    equities = np.zeros((len(values), OPPONENTS))
    every, score = np.zeros((CARDS + 1, OPPONENTS)), np.zeros((CARDS + 1, OPPONENTS))
    for pair in hands:
        _count(every, pair, clusters)
    start = 0
    while start < len(hands):
        end, value = start, values[kinds[hands[start]]]
        while end < len(hands) and values[kinds[hands[end]]] == value:
            _count(score, hands[end], clusters)  # tied hands count one, weaker ones two
            end += 1
        for pair in hands[start:end]:
            low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
            for which in range(OPPONENTS):
                own = ITSELF[clusters[pair], which]  # in the total and at both cards: once too often
                met = every[CARDS, which] - every[low, which] - every[high, which] + own
                beaten = score[CARDS, which] - score[low, which] - score[high, which] + own
                none = int(met == 0.0)  # as if there were one such hand, tied (without a slow branch)
                equities[kinds[pair], which] += (beaten + none) / (2.0 * (met + none))
        for pair in hands[start:end]:
            _count(score, pair, clusters)
        start = end
    for kind in range(len(values)):
        for which in range(OPPONENTS):
            equities[kind, which] /= sizes[kind]
    return kinds, equities


@kernel
def _count(counts: Floats, pair: int, clusters: Ints) -> None:
    """Count a hand in its cluster: at each of its cards, and in the last row, of all hands."""
    counts[PAIR_CARDS[pair, 0], clusters[pair]] += 1.0
    counts[PAIR_CARDS[pair, 1], clusters[pair]] += 1.0
    counts[CARDS, clusters[pair]] += 1.0


@kernel
def _number_kinds(cards: Longs) -> tuple[Longs, Longs]:
    """The kind of each hand [1326], numbered as they come, -1 if impossible; and the value of each kind."""
    word, suits = np.uint64(0), np.zeros(4, np.int64)
    for card in cards:
        word |= CARD_BIT[card]
        suits[card % 4] += 1
    number, count = np.full(SQUARES * KINDS, -1), 0
    kinds, values = np.full(PAIRS, -1), np.empty(SQUARES * KINDS, np.int64)
    for pair in range(PAIRS):
        hole = CARD_BIT[PAIR_CARDS[pair, 0]] | CARD_BIT[PAIR_CARDS[pair, 1]]
        if not hole & word:
            kind = _kind(suits, pair)
            if number[kind] < 0:
                number[kind], values[count] = count, evaluate(word | hole)
                count += 1
            kinds[pair] = number[kind]
    return kinds, values[:count]


@kernel
def _kind(suits: Longs, pair: int) -> int:
    """The ranks of a hand, and which of its cards have the suit of a possible flush."""
    low, high = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
    first, second = suits[low % 4] >= 3, suits[high % 4] >= 3
    if low // 4 == high // 4 and second:
        first, second = True, False
    return int(((low // 4 * len(RANKS) + high // 4) * 2 + first) * 2 + second)


@kernel
def _in_order(kinds: Longs, values: Longs) -> tuple[Longs, Longs]:
    """The possible hands in the order of their values, kind by kind, and the size of each kind."""
    sizes, place = np.zeros(len(values), np.int64), np.empty(len(values), np.int64)
    for kind in kinds:
        if kind >= 0:
            sizes[kind] += 1
    total = 0
    for kind in np.argsort(values):
        place[kind] = total
        total += sizes[kind]
    hands = np.empty(total, np.int64)
    for pair in range(PAIRS):
        kind = kinds[pair]
        if kind >= 0:
            hands[place[kind]] = pair
            place[kind] += 1
    return hands, sizes


@kernel
def river_buckets(cards: Longs, clusters: Ints, tree: CentreTree, table: NDArray[Any]) -> None:
    """[boards, 1326] the nearest centre of each hand on boards [boards, 5]; 0 where a hand is impossible."""
    for board in range(len(cards)):
        kinds, equities = kind_equities(cards[board], clusters)
        buckets = nearest(equities, tree)
        for pair in range(PAIRS):
            table[board, pair] = buckets[kinds[pair]] if kinds[pair] >= 0 else 0
