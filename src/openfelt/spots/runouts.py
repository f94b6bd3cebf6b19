"""The boards of a spot, street by street, with the hands that both players can hold on them.

Cards that are isomorphic are merged: where a permutation of suits maps the board and both ranges to
themselves, one card of an orbit is computed, and its values count for the others through the permutation.

On the river the hands of a player are in the order of their strength, on earlier streets in that of their
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import PERMUTATIONS, PERMUTED_CARD, PERMUTED_PAIR
from openfelt.cards.deck import BOARD_CARDS, CARDS, PAIR_CARDS, PAIRS, RIVER, Bytes
from openfelt.cards.evaluator import hand_values
from openfelt.core.jit import Floats, Ints, Longs

Shorts = NDArray[np.int16]
HAND_CARDS = 4  # hole cards of both players


class Runouts(NamedTuple):
    """The boards of one street. Lists of hands are concatenated; `hands` says where a board's begin."""

    street: int
    chance: Floats  # [1] probability of a card
    card: Ints  # [boards] dealt last
    children: Ints  # [boards + 1] the first board of the next street
    cards: Ints  # [boards, cards of a board]
    size: Ints  # [2, boards] number of hands in each player's list
    hands: Longs  # [2, boards] first hand of each player's list
    pair: Shorts  # [hands] number of the pair
    low: Bytes  # [hands] its cards
    high: Bytes
    parent: Shorts  # [hands] place of the hand in the list of the previous board
    same: Shorts  # [hands] place of the hand in the opponent's list; its length if it is not there
    rank: Shorts  # [hands] on the river: equal for hands of equal strength, ascending
    # The cards of an orbit, the board's own card first.
    image: Ints  # [boards + 1] first image of each board
    image_card: Ints  # [images]
    image_suits: Ints  # [images] the permutation of suits that leads to it
    image_hands: Longs  # [2, images] where its list begins in `seen_as`
    seen_as: Shorts  # for each hand of the board: the place of its image in the list of the previous board


def pairs_of(runouts: Runouts, player: int, board: int) -> Shorts:
    """The pairs of a player's hands on a board, in the order of the tables."""
    first = runouts.hands[player, board]
    return runouts.pair[first : first + runouts.size[player, board]]


def suit_symmetry(board: Sequence[int], ranges: Floats) -> list[int]:
    """The permutations of suits that map the board and both ranges [2, 1326] to themselves."""
    kept = []
    for number in range(len(PERMUTATIONS)):
        same_board = {int(PERMUTED_CARD[number, card]) for card in board} == set(board)
        if same_board and all((weights[PERMUTED_PAIR[number]] == weights).all() for weights in ranges):
            kept.append(number)
    return kept


def build_runouts(board: Sequence[int], ranges: Floats, *, merge: bool = True) -> list[Runouts]:
    """The boards of all streets from the given one on; `ranges` are the weights [2, 1326]."""
    symmetry = suit_symmetry(board, ranges) if merge else [0]
    first = BOARD_CARDS.index(len(board))
    pairs = [np.flatnonzero((weights > 0) & _free(board)) for weights in ranges]
    street = _Street([_Board(tuple(board), pairs, symmetry, [(board[-1], 0)])], pairs)
    streets = [street.arrays(first, 1.0)]
    for number in range(first + 1, RIVER + 1):
        chance = 1.0 / (CARDS - BOARD_CARDS[number] + 1 - HAND_CARDS)
        street = street.deal()
        streets[-1] = streets[-1]._replace(children=street.first_of_parent)
        streets.append(street.arrays(number, chance))
    return streets


def _free(board: Sequence[int]) -> NDArray[np.bool_]:
    """[1326] whether a pair shares no card with the board."""
    return np.asarray(~np.isin(PAIR_CARDS, list(board)).any(axis=1))


class _Board(NamedTuple):
    cards: tuple[int, ...]
    pairs: list[NDArray[np.int64]]  # of both players
    symmetry: list[int]
    images: list[tuple[int, int]]  # cards of the orbit, and permutations that lead to them


class _Street:
    def __init__(self, boards: list[_Board], root_pairs: list[NDArray[np.int64]]) -> None:
        self.boards = boards
        self.parent_pairs = [root_pairs] * len(boards)
        self.first_of_parent = np.zeros(1, np.int32)

    def deal(self) -> _Street:
        """The boards after one more card."""
        boards, parents, first = [], [], [0]
        for board in self.boards:
            met = set(board.cards)
            for card in range(CARDS):
                if card in met:
                    continue
                orbit = {int(PERMUTED_CARD[suits, card]): suits for suits in reversed(board.symmetry)}
                met.update(orbit)
                kept = [suits for suits in board.symmetry if PERMUTED_CARD[suits, card] == card]
                pairs = [each[~(PAIR_CARDS[each] == card).any(axis=1)] for each in board.pairs]
                images = [(card, 0)] + [(each, suits) for each, suits in orbit.items() if each != card]
                boards.append(_Board((*board.cards, card), pairs, kept, images))
                parents.append(board.pairs)
            first.append(len(boards))
        street = _Street(boards, boards[0].pairs)
        street.parent_pairs, street.first_of_parent = parents, np.array(first, np.int32)
        return street

    def arrays(self, street: int, chance: float) -> Runouts:
        lists: dict[str, list[NDArray[np.int16]]] = {"pair": [], "parent": [], "same": [], "rank": []}
        sizes, seen_as, seen_sizes = [], [], []
        for board, parents in zip(self.boards, self.parent_pairs, strict=True):
            ranks = [np.zeros(len(pairs), np.int64) for pairs in board.pairs]
            pairs = board.pairs
            if street == RIVER:
                ranks = _ranks(board.cards, pairs)
                orders = [np.argsort(each, kind="stable") for each in ranks]
                pairs = [each[order] for each, order in zip(pairs, orders, strict=True)]
                ranks = [each[order] for each, order in zip(ranks, orders, strict=True)]
            for player in (0, 1):
                lists["pair"].append(pairs[player].astype(np.int16))
                lists["parent"].append(_places(pairs[player], parents[player]))
                lists["same"].append(_places(pairs[player], pairs[1 - player]))
                lists["rank"].append(ranks[player].astype(np.int16))
                sizes.append(len(pairs[player]))
                for _, suits in board.images:
                    seen_as.append(_places(PERMUTED_PAIR[suits][pairs[player]], parents[player]))
                    seen_sizes.append((player, len(pairs[player])))
        flat = {name: np.concatenate(each) for name, each in lists.items()}
        image = np.cumsum([0, *(len(board.images) for board in self.boards)]).astype(np.int32)
        cards = np.array([board.cards for board in self.boards], np.int32).reshape(len(self.boards), -1)
        low, high = PAIR_CARDS[flat["pair"]].T
        return Runouts(
            street,
            np.array([chance]),
            cards[:, -1].copy(),
            np.zeros(len(self.boards) + 1, np.int32),
            cards,
            np.array(sizes, np.int32).reshape(-1, 2).T.copy(),
            (np.cumsum(sizes) - sizes).reshape(-1, 2).T.astype(np.int64),
            flat["pair"],
            low.copy(),
            high.copy(),
            flat["parent"],
            flat["same"],
            flat["rank"],
            image,
            np.array([card for board in self.boards for card, _ in board.images], np.int32),
            np.array([suits for board in self.boards for _, suits in board.images], np.int32),
            _image_starts(seen_sizes, [len(board.images) for board in self.boards]),
            np.concatenate(seen_as),
        )


def _ranks(board: tuple[int, ...], pairs: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """The rank of each pair on a river board among all pairs of both players."""
    values = []
    for each in pairs:
        hands = np.empty((len(each), 7), np.uint8)
        hands[:, :2], hands[:, 2:] = PAIR_CARDS[each], board
        values.append(hand_values(hands))
    _, ranks = np.unique(np.concatenate(values), return_inverse=True)
    return [ranks[: len(pairs[0])], ranks[len(pairs[0]) :]]


def _places(pairs: NDArray[np.integer], among: NDArray[np.int64]) -> Shorts:
    """The place of each pair in another list; the length of the list for those that are not in it."""
    place = np.full(PAIRS, len(among), np.int16)
    place[among] = np.arange(len(among), dtype=np.int16)
    return np.asarray(place[pairs])


def _image_starts(sizes: list[tuple[int, int]], counts: list[int]) -> Longs:
    """[2, images] from the sizes of lists that are stored by board, then by player, then by image."""
    starts = np.zeros((2, sum(counts)), np.int64)
    at, first, entry = 0, 0, 0
    for count in counts:
        for player in (0, 1):
            for which in range(count):
                starts[player, first + which] = at
                at += sizes[entry][1]
                entry += 1
        first += count
    return starts
