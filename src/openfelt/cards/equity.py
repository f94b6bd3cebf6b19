"""The exact equity of one hand against another on any street; a tie counts one half.

Before the flop it is read from a file of whole numbers next to this one. `make_matchups` counted them: on
each of the 134,459 canonical boards all hands are compared with each other, and the counts are summed over
the permutations of suits. On the flop and the turn the few remaining boards are enumerated.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import IDENTITY, PERMUTED_PAIR, board_set, find_board
from openfelt.cards.deck import (
    BOARD_CARDS,
    CARDS,
    PAIR,
    PAIR_CARDS,
    PAIRS,
    RIVER,
    Cards,
    parse_cards,
    parse_hand,
)
from openfelt.cards.evaluator import CARD_BIT, evaluate
from openfelt.core.jit import Floats, Ints, Longs, episode_kernel, kernel, part

MATCHUPS_FILE = "matchups.npy"
RUNOUTS = 1_712_304  # boards of five cards that are possible with two given hands
TILE = 34  # rows of the table per pass, to stay in the processor's cache; 1326 = 39 * 34


def equity(hole: Cards, other: Cards, board: Cards = ()) -> float:
    """The exact equity of one hand against another: its expected share of the pot without further betting.

    Parameters
    ----------
    hole, other : str or sequence
        Two cards each: "AhKh", or card names or numbers.
    board : str or sequence
        0, 3, 4 or 5 cards.

    Returns
    -------
    float
        From 0 to 1; a tie counts one half.

    Examples
    --------
    >>> felt.equity("AhKh", "QsQd", "Jh7h2s")
    0.5444...
    """
    (own, table), (theirs, _) = parse_hand(hole, board), parse_hand(other, board)
    parse_cards(own + theirs)
    found = np.empty(len(BOARD_CARDS))
    cards = np.array([*own, *theirs, *table, *[0] * (5 - len(table))], np.int32)
    street = BOARD_CARDS.index(len(table))
    if street == 0:
        return float(_before_flop(matchups(), PAIR[own], PAIR[theirs]))
    _street_equities(cards, found, street, street)
    return float(found[street])


def deal_equities(cards: Ints) -> Floats:
    """[deals, streets] the equity of seat 0 on each street of deals [deals, 9]: two hands, then the board."""
    found = np.empty((len(cards), len(BOARD_CARDS)))
    _deal_equities(np.ascontiguousarray(cards, np.int32), matchups(), found)
    return found


def equities_against(hole: Sequence[int], board: Sequence[int]) -> Floats:
    """[1326] the equity of one hand against every other; one half against hands that share a card with it."""
    found, street = np.full(PAIRS, 0.5), BOARD_CARDS.index(len(board))
    cards = np.array([*hole, 0, 0, *board, *[0] * (5 - len(board))], np.int32)
    _all_equities(cards, street, matchups(), found)
    return found


class Matchups(NamedTuple):
    """Preflop equities of a canonical hand of each of the 169 classes against every hand."""

    score: NDArray[np.uint32]  # [169, 1326] twice the number of boards won, plus that of boards tied
    hole_class: Ints  # [1326] class of each pair of hole cards
    permutation: Ints  # [1326] permutation of suits that makes the pair canonical


@cache
def matchups() -> Matchups:
    """The counts, from the file next to this one."""
    with resources.files(__package__).joinpath(MATCHUPS_FILE).open("rb") as file:
        score = np.load(file, allow_pickle=False)
    canonical = np.array([find_board(pair.tolist()) for pair in PAIR_CARDS], np.int32)
    return Matchups(score, np.ascontiguousarray(canonical[:, 0]), np.ascontiguousarray(canonical[:, 1]))


def make_matchups(threads: int = 2) -> NDArray[np.uint32]:
    """Compute the contents of the file by enumeration, in about a minute."""
    rivers = board_set(BOARD_CARDS[RIVER])
    values = np.full((len(rivers.key), PAIRS), np.nan, np.float32)
    cards, lead = rivers.cards(), np.zeros((PAIRS, PAIRS), np.int32)
    multiplicity = rivers.multiplicity.astype(np.int32)
    with ThreadPoolExecutor(threads) as pool:
        edges = np.linspace(0, len(values), 65).astype(int)
        list(pool.map(lambda span: _value_hands(cards, values, *span), pairwise(edges)))
        list(pool.map(lambda first: _compare(values, multiplicity, lead, first), range(0, PAIRS, TILE)))
    total = np.zeros((PAIRS, PAIRS), np.int64)
    for permuted in PERMUTED_PAIR:
        total += lead[np.ix_(permuted, permuted)]
    score = total // len(PERMUTED_PAIR) + RUNOUTS
    score[_clash()] = 0
    canonical = [pair for pair in range(PAIRS) if find_board(PAIR_CARDS[pair].tolist())[1] == IDENTITY]
    classes = [find_board(PAIR_CARDS[pair].tolist())[0] for pair in canonical]
    table = np.zeros((max(classes) + 1, PAIRS), np.uint32)
    table[classes] = score[canonical]
    return table


def _clash() -> NDArray[np.bool_]:
    low, high = PAIR_CARDS[:, 0], PAIR_CARDS[:, 1]
    return np.asarray(
        (low[:, None] == low) | (low[:, None] == high) | (high[:, None] == low) | (high[:, None] == high)
    )


@kernel
def _value_hands(cards: Longs, values: NDArray[np.float32], first: int, last: int) -> None:
    """On each board the rank of each hand among all; NaN for hands that share a card with the board."""
    keys = np.empty(PAIRS, np.int64)
    for board in range(first, last):
        word = np.uint64(0)
        for card in cards[board]:
            word |= CARD_BIT[card]
        count = 0
        for pair in range(PAIRS):
            hole = CARD_BIT[PAIR_CARDS[pair, 0]] | CARD_BIT[PAIR_CARDS[pair, 1]]
            if not hole & word:
                keys[count] = evaluate(word | hole) << 11 | pair
                count += 1
        keys[:count].sort()
        place = 0
        for entry in range(count):
            if entry > 0 and keys[entry] >> 11 != keys[entry - 1] >> 11:
                place += 1
            values[board, keys[entry] & 2047] = place


@kernel
def _compare(values: NDArray[np.float32], multiplicity: Ints, lead: Ints, first: int) -> None:
    """For a tile of hands: on how many more boards each is ahead than behind."""
    for board in range(len(values)):
        row, weight = values[board], multiplicity[board]
        for own in range(first, first + TILE):
            mine, target = row[own], lead[own]
            if mine == mine:
                for other in range(PAIRS):  # against NaN both comparisons are false
                    target[other] += weight * (np.int32(mine > row[other]) - np.int32(mine < row[other]))


@episode_kernel
def _deal_equities(cards: Ints, before: Matchups, found: Floats) -> None:
    for deal in range(len(cards)):
        own, other = cards[deal, :2], cards[deal, 2:4]
        found[deal, 0] = _before_flop(before, PAIR[own[0], own[1]], PAIR[other[0], other[1]])
        _streets(cards[deal], found[deal], 1, 3)


@kernel
def _all_equities(cards: Ints, street: int, before: Matchups, found: Floats) -> None:
    dead, by_street = np.uint64(0), np.empty(4)
    for place in range(9):
        if place < 2 or 4 <= place < 4 + (2 + street if street else 0):
            dead |= CARD_BIT[cards[place]]
    for pair in range(PAIRS):
        cards[2], cards[3] = PAIR_CARDS[pair, 0], PAIR_CARDS[pair, 1]
        if (CARD_BIT[cards[2]] | CARD_BIT[cards[3]]) & dead:
            continue
        if street == 0:
            found[pair] = _before_flop(before, PAIR[cards[0], cards[1]], pair)
        else:
            _streets(cards, by_street, street, street)
            found[pair] = by_street[street]


@part
def _before_flop(before: Matchups, own: int, other: int) -> float:
    permuted = PERMUTED_PAIR[before.permutation[own], other]
    return float(before.score[before.hole_class[own], permuted]) / (2.0 * RUNOUTS)


@episode_kernel
def _street_equities(cards: Ints, found: Floats, first: int, last: int) -> None:
    _streets(cards, found, first, last)


@part
def _streets(cards: Ints, found: Floats, first: int, last: int) -> None:
    """The equity on the streets from the flop on, over all possible boards."""
    own = CARD_BIT[cards[0]] | CARD_BIT[cards[1]]
    other = CARD_BIT[cards[2]] | CARD_BIT[cards[3]]
    for street in range(first, last + 1):
        base = np.uint64(0)
        for place in range(4, 4 + 2 + street):
            base |= CARD_BIT[cards[place]]
        missing, out = 3 - street, own | other | base
        won, count = 0, 0
        for one in range(CARDS if missing > 0 else 1):
            for two in range(one + 1 if missing > 1 else 0, CARDS if missing > 1 else 1):
                more = np.uint64(0)
                if missing > 0:
                    more |= CARD_BIT[one]
                if missing > 1:
                    more |= CARD_BIT[two]
                if more & out:
                    continue
                mine, theirs = evaluate(base | own | more), evaluate(base | other | more)
                won += 2 * (mine > theirs) + (mine == theirs)
                count += 2
        found[street] = won / count
