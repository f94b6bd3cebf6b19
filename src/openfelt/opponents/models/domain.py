"""What models learn on: the public tree of a game, the cards that a player may hold, how good they are.

A *holding* is what a player can have in his hand: in hold'em one of the 1,326 pairs, in Kuhn and Leduc poker
a rank. Its *hand rank* on a board is from 0 to 99, in hold'em the chance to win against any two cards with
the board dealt out, in percent (the buckets of `ehs:100`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.abstraction.abstraction import load_abstraction
from openfelt.cards.boards import PAIR_AS, find_board
from openfelt.cards.deck import BOARD_CARDS, PAIR, PAIR_CARDS, PAIRS, STREETS, cards_text, parse_cards
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.betting_tree import CHILD, FACING_SHIFT, KIND, betting_words
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, TERMINAL, AnyGame, Game
from openfelt.games.holdem import Holdem
from openfelt.games.kuhn import Kuhn
from openfelt.games.leduc import RAISE, Leduc
from openfelt.games.registry import load_game
from openfelt.hands.record import HIDDEN
from openfelt.opponents.models.public_tree import PublicTree, holdem_public, small_public
from openfelt.solve.traverse.conditional_deals import pairs_without

HAND_RANKS = 100
RANKED_BY = "ehs:100"
CARD_FACTS = ("sum_hole_cards", "suited", "pair")  # of a holding, whatever the board
UNKNOWN = -1  # a holding that was not seen


class ModelDomain(ABC):
    """Of one game, whatever abstraction its name gives."""

    game: Game
    public: PublicTree
    board_cards: tuple[int, ...]  # on the table, by street
    streets: tuple[str, ...]
    holdings: int
    card_facts: Floats  # [CARD_FACTS, holdings]

    @property
    def players(self) -> int:
        return len(self.public.opening)

    @abstractmethod
    def ranks(self, board: Sequence[int]) -> Longs:
        """[holdings] hand ranks on a board; of those that share a card with it, any number."""

    def first_class(self, node: int) -> int:
        """The class of a decision's first action: FOLD where there is a bet to call, else CALL."""
        return 1 - (int(self.public.node[node, KIND]) >> FACING_SHIFT & 1)

    def rank_of(self, holding: int, board: Sequence[int]) -> int:
        """The hand rank of one holding."""
        return int(self.ranks(board)[holding])

    @abstractmethod
    def possible(self, dead: Sequence[int]) -> Floats:
        """[holdings] how likely each is when these cards are known to be elsewhere; sums to 1."""

    @abstractmethod
    def read(self, dealt: Sequence[str]) -> tuple[list[int], list[tuple[int, ...]], tuple[int, ...]]:
        """Of a history's words for what was dealt: each seat's holding or UNKNOWN, his cards, the board."""

    @abstractmethod
    def holding_text(self, holding: int) -> str:
        """In words."""

    def line(self, words: Sequence[str]) -> tuple[int, ...]:
        """A line of actions as their places among those of the rules."""
        ways: list[int] = []
        node = 0
        for word in words:
            actions = self.actions(node)
            if word not in actions:
                raise FeltError(f"After {' '.join(words[: len(ways)]) or 'the deal'} nobody can {word}.")
            ways.append(actions.index(word))
            node = int(self.public.node[node, CHILD]) + ways[-1]
        return tuple(ways)

    @abstractmethod
    def actions(self, node: int) -> tuple[str, ...]:
        """The words for what can be done at a decision."""


class HoldemRanks(NamedTuple):
    """The tables of hand ranks, [boards, 1326] each."""

    preflop: NDArray[Any]
    flop: NDArray[Any]
    turn: NDArray[Any]
    river: NDArray[Any]


class HoldemDomain(ModelDomain):
    """Limit hold'em."""

    board_cards, streets, holdings = BOARD_CARDS, STREETS, PAIRS

    def __init__(self, game: Holdem) -> None:
        self.game = game
        self.public = holdem_public(game)
        number, suit = 2 + PAIR_CARDS // 4, PAIR_CARDS % 4
        low, high = number[:, 0], number[:, 1]
        facts = [low.astype(int) + high, suit[:, 0] == suit[:, 1], low == high]
        self.card_facts = np.array(facts, np.float64)

    @cached_property
    def tables(self) -> HoldemRanks:
        """Made on first need, some seconds, and kept in the cache folder."""
        return HoldemRanks(*map(np.asarray, load_abstraction(RANKED_BY).tables()))

    def ranks(self, board: Sequence[int]) -> Longs:
        number, permutation = _found(tuple(board))
        table = self.tables[BOARD_CARDS.index(len(board))]
        return np.asarray(table[number][PAIR_AS[permutation]], np.int64)

    def rank_of(self, holding: int, board: Sequence[int]) -> int:
        number, permutation = _found(tuple(board))
        return int(self.tables[BOARD_CARDS.index(len(board))][number, PAIR_AS[permutation, holding]])

    def possible(self, dead: Sequence[int]) -> Floats:
        free = pairs_without(dead)
        return np.asarray(free / free.sum())

    def read(self, dealt: Sequence[str]) -> tuple[list[int], list[tuple[int, ...]], tuple[int, ...]]:
        inside = 2 * self.players
        cards = [() if HIDDEN in pair else parse_cards(pair) for pair in _pairs(dealt[:inside])]
        held = [int(PAIR[pair[0], pair[1]]) if pair else UNKNOWN for pair in cards]
        return held, cards, parse_cards(dealt[inside:])

    def holding_text(self, holding: int) -> str:
        return cards_text(PAIR_CARDS[holding][::-1].tolist())

    def actions(self, node: int) -> tuple[str, ...]:
        return betting_words(int(self.public.node[node, KIND]))


@lru_cache(maxsize=1 << 16)  # models are fitted to the same hands again and again
def _found(board: tuple[int, ...]) -> tuple[int, int]:
    return find_board(board)


def _pairs(dealt: Sequence[str]) -> list[Sequence[str]]:
    return [dealt[place : place + 2] for place in range(0, len(dealt), 2)]


class OneCardDomain(ModelDomain):
    """Kuhn and Leduc poker: one card each, which counts by its rank."""

    def __init__(self, game: Kuhn | Leduc) -> None:
        self.game = game
        leduc = isinstance(game, Leduc)
        ante, sizes = (1, RAISE) if leduc else (1, (1,))  # Kuhn's initial pot may be a fraction: taken as 1
        self.public = small_public(game, [ante] * game.players, sizes)
        self.board_cards, self.streets = ((0, 1), ("preflop", "flop")) if leduc else ((0,), ("preflop",))
        self.deck = list(game.deck)
        self.copies = 2 if leduc else 1
        self.holdings = len(self.deck)
        facts = np.zeros((len(CARD_FACTS), self.holdings))
        facts[0] = np.arange(self.holdings)
        self.card_facts = facts

    def ranks(self, board: Sequence[int]) -> Longs:
        order = np.arange(self.holdings)
        for card in board:
            order[card] += self.holdings
        return np.asarray(order * (HAND_RANKS - 1) // (2 * self.holdings - 1))

    def possible(self, dead: Sequence[int]) -> Floats:
        left = np.full(self.holdings, float(self.copies))
        for card in dead:
            left[card] -= 1.0
        return np.asarray(left / left.sum())

    def read(self, dealt: Sequence[str]) -> tuple[list[int], list[tuple[int, ...]], tuple[int, ...]]:
        numbers = [UNKNOWN if word == HIDDEN else self.deck.index(word) for word in dealt]
        own, board = numbers[: self.players], numbers[self.players :]
        return own, [() if card == UNKNOWN else (card,) for card in own], tuple(board)

    def holding_text(self, holding: int) -> str:
        return self.deck[holding]

    def actions(self, node: int) -> tuple[str, ...]:
        return self._words[node]

    @cached_property
    def _words(self) -> list[tuple[str, ...]]:
        """Of every node of the public tree, by one walk over the game's own."""
        words: list[tuple[str, ...]] = [()] * len(self.public.node)
        for place in self.rows():
            words[place.node] = self.tree.actions(place.row)
        return words

    @property
    def tree(self) -> GameTree:
        """The enumerated game."""
        return compile_game(self.game)

    def rows(self) -> list[InfosetPlace]:
        """Every row of the game's tree, as a model sees it."""
        found: dict[int, InfosetPlace] = {}
        nodes = self.tree.nodes
        todo: list[tuple[int, int, Any, tuple[int, ...]]] = [(0, 0, self.game.start(), ())]
        while todo:
            node, public, state, dealt = todo.pop()
            mover = self.game.turn(state)
            if mover == TERMINAL:
                continue
            if mover != CHANCE:
                row = int(nodes.row[node])
                found.setdefault(row, InfosetPlace(row, public, dealt[mover], dealt[self.players :]))
            for way, action in enumerate(self.game.actions(state)):
                chance = mover == CHANCE
                cards = (*dealt, self.deck.index(action)) if chance else dealt
                below = public if chance else int(self.public.node[public, CHILD]) + way
                todo.append((int(nodes.first_child[node]) + way, below, self.game.play(state, action), cards))
        assert len(found) == self.tree.num_rows
        return [found[row] for row in sorted(found)]

    @cached_property
    def infoset_table(self) -> InfosetTable:
        """All rows as arrays, and for each slot its row and class of action."""
        places, first_slot = self.rows(), self.tree.rows.first_slot
        counts = np.diff(first_slot)
        first = np.array([self.first_class(place.node) for place in places])
        row_of_slot = np.repeat(np.arange(len(places)), counts)
        return InfosetTable(
            node=np.array([place.node for place in places]),
            rank=np.array([self.rank_of(place.holding, place.board) for place in places]),
            holding=np.array([place.holding for place in places]),
            row_of_slot=row_of_slot,
            class_of_slot=np.arange(len(row_of_slot)) - first_slot[:-1][row_of_slot] + first[row_of_slot],
        )


class InfosetTable(NamedTuple):
    """The rows of an enumerated game."""

    node: Longs  # [rows] of the public tree
    rank: Longs  # [rows]
    holding: Longs  # [rows]
    row_of_slot: Longs  # [slots]
    class_of_slot: Longs  # [slots]


class InfosetPlace(NamedTuple):
    """A row of an enumerated game."""

    row: int
    node: int  # of the public tree
    holding: int
    board: tuple[int, ...]


def model_domain(game: AnyGame) -> ModelDomain:
    """Of a betting game that models know; the same object for the same rules."""
    rules = load_game(game)
    if isinstance(rules, Holdem):
        return _holdem_ground(Holdem(players=rules.players, bets=rules.bets))
    if isinstance(rules, Kuhn | Leduc):
        return _small_ground(rules)
    raise FeltError(f"Models of opponents are for hold'em, Leduc and Kuhn poker, not for {rules.name}.")


_holdem_ground, _small_ground = cache(HoldemDomain), cache(OneCardDomain)
