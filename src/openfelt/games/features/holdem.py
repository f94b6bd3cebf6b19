"""Vectors of limit hold'em, for two or three players: seat, street, betting line and cards.

Columns, in this order:

- the seat of the player (one per seat) and the street (4);
- the betting: for each street and each place in its betting line one column per action, "call" (also a check)
  and "raise" (also a bet); with three players "fold" before them;
- flop, turn, river and hole cards, 52 columns each.

All but the hole cards is public, so a public state's vector is the beginning of its infosets' vectors.

Suits are renamed: they are sorted by the ranks that they hold on the flop, then on the turn, the river and in
the hand, the fullest first. So infosets that differ by a permutation of suits have one vector, and a network
plays them alike, which the exact engine relies on. The names of suits on the board do not depend on the hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import BOARD_CARDS, CARDS, PAIR_CARDS, STREETS, card_text
from openfelt.core.jit import part
from openfelt.games.compile.betting_tree import (
    ACTIONS_MASK,
    CHILD,
    FACING_SHIFT,
    KIND,
    PLAYER,
    STREET_SHIFT,
    betting_nodes,
    betting_states,
    reverse_topological,
)
from openfelt.games.features.features import Features, Masks, Vectors
from openfelt.games.game import CHANCE
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem, bet, first_betting

ACTIONS = ("fold", "call", "raise")
CARD_GROUPS = ("flop", "turn", "river", "hole")
FIRST_OF_GROUP = (0, 3, 4, 5)  # cards of the board before each group


class HoldemLayout(NamedTuple):
    """Where the columns begin, for kernels."""

    players: int
    streets: int  # first column of the streets
    betting: int  # first column of the betting lines
    places: int  # of a betting line on a street
    codes: int  # columns of a place: the last of ACTIONS
    cards: int  # first column of the cards
    size: int


@lru_cache(maxsize=4)
def holdem_layout(players: int, most_bets: int) -> HoldemLayout:
    """The layout for a number of players and of bets a street."""
    states, after = betting_states(players, most_bets)
    length = [0] * len(states)  # of the longest line from each state to the end of the street
    for here in reverse_topological(after):
        for there in after[here]:
            same_street = states[there].street == states[here].street
            length[here] = max(length[here], 1 + same_street * length[there])
    places, codes = max(length), 2 if players == 2 else 3
    betting = players + len(STREETS)
    cards = betting + len(STREETS) * places * codes
    size = cards + len(CARD_GROUPS) * CARDS
    return HoldemLayout(players, players, betting, places, codes, cards, size)


class HoldemFeatures(Features):
    """The vectors of limit hold'em."""

    actions = ACTIONS
    synonyms = {"check": "call", "bet": "raise"}  # noqa: RUF012 (as in the base class)

    def __init__(self, game: Holdem) -> None:
        self.game, self.layout = game, holdem_layout(game.players, game.bets)
        columns = [f"seat {seat}" for seat in range(game.players)] + list(STREETS)
        columns += [
            f"{street} action {place}: {word}"
            for street in STREETS
            for place in range(1, self.layout.places + 1)
            for word in ACTIONS[-self.layout.codes :]
        ]
        columns += [f"{group}: {card_text(card)}" for group in CARD_GROUPS for card in range(CARDS)]
        self.names = tuple(columns)
        self.public_names = self.names[: self.layout.size - CARDS]

    def infoset(self, hand: Hand, player: int | None = None) -> Vectors:
        me = hand.mover if player is None else player
        line = [step.action for step in hand.steps if step.mover != CHANCE]
        return self.encode(me, self.game.hole(hand.state, me), self.game.board(hand.state), line)

    def public_state(self, hand: Hand) -> Vectors:
        line = [step.action for step in hand.steps if step.mover != CHANCE]
        return self.encode(hand.mover, (), self.game.board(hand.state), line)[: self.public_size]

    def encode(self, seat: int, hole: Sequence[int], board: Sequence[int], line: Sequence[str]) -> Vectors:
        """[size] the vector of a seat with hole cards, board and all actions since the blinds."""
        vector, layout = np.zeros(self.size, np.float32), self.layout
        if seat >= 0:
            vector[seat] = 1.0
        betting, place = first_betting(self.game.players, self.game.bets), 0
        for word in line:
            code = self.number(word) - (len(ACTIONS) - layout.codes)
            if code >= 0:  # a fold of one of two players ends the hand
                vector[layout.betting + (betting.street * layout.places + place) * layout.codes + code] = 1.0
            after = bet(betting, word)
            place = place + 1 if after.street == betting.street else 0
            betting = after
        vector[layout.streets + BOARD_CARDS.index(len(board))] = 1.0
        groups = [board[:3], board[3:4], board[4:5], hole]
        renamed = renamed_suits(groups)
        for group, cards in enumerate(groups):
            for card in cards:
                vector[layout.cards + CARDS * group + card // 4 * 4 + renamed[card % 4]] = 1.0
        return vector

    def betting_table(self) -> tuple[Vectors, Masks]:
        """For all nodes of the betting tree of two players: [nodes, columns before the cards] and masks."""
        layout = self.layout
        node, _, _ = betting_nodes(self.game.players, self.game.bets)
        table = np.zeros((len(node), layout.cards), np.float32)
        masks = np.zeros((len(node), len(ACTIONS)), np.bool_)
        place = np.zeros(len(node), np.int64)
        for here in np.flatnonzero(node[:, PLAYER] >= 0).tolist():  # parents before children
            kind, child = int(node[here, KIND]), int(node[here, CHILD])
            street, first = kind >> STREET_SHIFT & 3, 1 - (kind >> FACING_SHIFT & 1)
            for number in range(first, first + (kind & ACTIONS_MASK)):
                after, code = child + number - first, number - (len(ACTIONS) - layout.codes)
                table[after] = table[here]
                if code >= 0:
                    at = (street * layout.places + int(place[here])) * layout.codes + code
                    table[after, layout.betting + at] = 1.0
                same = int(node[after, KIND]) >> STREET_SHIFT & 3 == street
                place[after] = place[here] + 1 if same else 0
                masks[here, number] = True
        decisions = np.flatnonzero(node[:, PLAYER] >= 0)
        table[decisions, node[decisions, PLAYER]] = 1.0
        table[decisions, layout.streets + (node[decisions, KIND] >> STREET_SHIFT & 3)] = 1.0
        return table, masks

    def card_table(self, board: Sequence[int]) -> Vectors:
        """[1326, 208] the columns of the cards for every pair of hole cards on a board.

        The rows of pairs with a card of the board mean nothing.
        """
        table = np.zeros((len(PAIR_CARDS), len(CARD_GROUPS) * CARDS), np.float32)
        keys = np.array(suit_keys([board[:3], board[3:4], board[4:5], ()]))
        own = np.zeros((len(PAIR_CARDS), 4), np.int64)
        for cards in PAIR_CARDS.T:
            own[np.arange(len(own)), cards % 4] += 1 << (cards // 4).astype(np.int64)
        order = np.argsort(-(keys + own), axis=1, kind="stable")
        renamed = np.argsort(order, axis=1)  # [1326, 4] suit -> its new name
        everybody = np.arange(len(table))
        for group, (first, cards) in enumerate(zip(FIRST_OF_GROUP, (3, 1, 1), strict=False)):
            for card in board[first : first + cards]:
                table[everybody, CARDS * group + card // 4 * 4 + renamed[:, card % 4]] = 1.0
        for cards in PAIR_CARDS.T.astype(np.int64):
            table[everybody, CARDS * 3 + cards // 4 * 4 + renamed[everybody, cards % 4]] = 1.0
        return table


def suit_keys(groups: Sequence[Sequence[int]]) -> list[int]:
    """For each suit its ranks on the flop, the turn, the river and in the hand: 13 bits each."""
    keys = [0] * 4
    for group, cards in enumerate(groups):
        for card in cards:
            keys[card % 4] |= 1 << 13 * (3 - group) + card // 4
    return keys


def renamed_suits(groups: Sequence[Sequence[int]]) -> list[int]:
    """The new name of each suit."""
    keys = suit_keys(groups)
    order = sorted(range(4), key=lambda suit: -keys[suit])  # stable
    return [order.index(suit) for suit in range(4)]


@part
def rename_suits(keys: NDArray[np.int64], renamed: NDArray[np.int64]) -> None:
    """The same in kernels: `renamed` [4] from `keys` [4]."""
    for suit in range(4):
        before = 0
        for other in range(4):
            before += keys[other] > keys[suit] or (keys[other] == keys[suit] and other < suit)
        renamed[suit] = before
