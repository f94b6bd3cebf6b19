"""What opponent models learn about: the private holdings and public states of a game.

A *holding* is what a player can hold: in hold'em one of the 1,326 pairs, in Kuhn and Leduc poker a rank. Its
*hand rank* on a board is from 0 to 99; in hold'em it is the probability of winning against a random hand with
the board dealt out, in percent (the buckets of `ehs:100`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache, cached_property, lru_cache, singledispatch
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.abstraction.abstraction import load_abstraction
from openfelt.cards.boards import PERMUTED_PAIR, find_board
from openfelt.cards.deck import BOARD_CARDS, PAIR, PAIR_CARDS, PAIRS, STREETS, cards_text, parse_cards
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.betting_tree import CHILD, FACING_SHIFT, KIND, betting_words
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, TERMINAL, AnyGame, Game
from openfelt.games.holdem import Holdem
from openfelt.games.kuhn import Kuhn, KuhnState
from openfelt.games.leduc import Leduc, LeducState
from openfelt.games.registry import load_game
from openfelt.hands.record import HIDDEN
from openfelt.opponents.models.public_tree import PublicTree, holdem_public, small_public
from openfelt.solve.traverse.conditional_deals import pairs_without

HAND_RANKS = 100
RANKED_BY = "ehs:100"
CARD_FACTS = ("sum_hole_cards", "suited", "pair")  # of a holding, whatever the board
UNKNOWN = -1  # a holding that was not observed


class HoldemRanks(NamedTuple):
    """The tables of hand ranks, [boards, 1326] each."""

    preflop: NDArray[Any]
    flop: NDArray[Any]
    turn: NDArray[Any]
    river: NDArray[Any]


class InfosetPlace(NamedTuple):
    """An infoset of an enumerated game, as models see it."""

    row: int  # its number
    node: int  # of the public tree
    holding: int
    board: tuple[int, ...]


class InfosetTable(NamedTuple):
    """All infosets of an enumerated game."""

    tree: GameTree
    node: Longs  # [infosets] of the public tree
    rank: Longs  # [infosets]
    holding: Longs  # [infosets]
    row_of_slot: Longs  # [slots]
    class_of_slot: Longs  # [slots]


class ModelDomain(ABC):
    """The holdings and public states of one game, whatever its abstraction."""

    game: Game
    public: PublicTree
    board_cards: tuple[int, ...]  # by street
    streets: tuple[str, ...]
    holdings: int
    least_buckets: int = 1  # of hand ranks, so that models can tell all hands apart
    card_facts: Floats  # [CARD_FACTS, holdings]

    @property
    def players(self) -> int:
        return int(self.public.paid.shape[1])

    @abstractmethod
    def ranks(self, board: Sequence[int]) -> Longs:
        """[holdings] hand ranks on a board; arbitrary for holdings that share a card with it."""

    def first_class(self, node: int) -> int:
        """The class of a decision's first action: FOLD if there is a bet to call, else CALL."""
        return 1 - (int(self.public.node[node, KIND]) >> FACING_SHIFT & 1)

    def rank_of(self, holding: int, board: Sequence[int]) -> int:
        """The hand rank of one holding."""
        return int(self.ranks(board)[holding])

    @abstractmethod
    def possible(self, dead: Sequence[int]) -> Floats:
        """[holdings] probability of each holding, given cards that are elsewhere; sums to 1."""

    @abstractmethod
    def read(self, dealt: Sequence[str]) -> tuple[list[int], list[tuple[int, ...]], tuple[int, ...]]:
        """From the cards of a hand history: each seat's holding or UNKNOWN, its cards, and the board."""

    @abstractmethod
    def holding_text(self, holding: int) -> str:
        """The cards of a holding."""

    def line(self, words: Sequence[str]) -> tuple[int, ...]:
        """A betting line, each action by its position among the legal ones."""
        positions: list[int] = []
        node = 0
        for word in words:
            actions = self.actions(node)
            if word not in actions:
                before = " ".join(words[: len(positions)]) or "the deal"
                raise FeltError(f"After {before} the legal actions are {', '.join(actions)}, not {word}.")
            positions.append(actions.index(word))
            node = int(self.public.node[node, CHILD]) + positions[-1]
        return tuple(positions)

    @abstractmethod
    def actions(self, node: int) -> tuple[str, ...]:
        """The legal actions at a decision."""

    @property
    def rank_tables(self) -> HoldemRanks:
        """Hand ranks on all boards, for search in hold'em."""
        raise FeltError(f"for_search is for hold'em; in {self.game.name} search uses the model's policy().")

    def infosets(self) -> list[InfosetPlace]:
        """Every infoset of an enumerated game."""
        raise FeltError(f"{self.game.name} is not enumerated, so its models have no tabular policy.")

    @property
    def infoset_table(self) -> InfosetTable:
        """Every infoset of an enumerated game, as arrays."""
        raise FeltError(f"{self.game.name} is not enumerated, so its models have no tabular policy.")


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
    def rank_tables(self) -> HoldemRanks:
        """Built on first use, in seconds, and stored in the cache folder."""
        return HoldemRanks(*map(np.asarray, load_abstraction(RANKED_BY).tables()))

    def ranks(self, board: Sequence[int]) -> Longs:
        number, permutation = _canonical(tuple(board))
        table = self.rank_tables[BOARD_CARDS.index(len(board))]
        return np.asarray(table[number][PERMUTED_PAIR[permutation]], np.int64)

    def rank_of(self, holding: int, board: Sequence[int]) -> int:
        number, permutation = _canonical(tuple(board))
        return int(
            self.rank_tables[BOARD_CARDS.index(len(board))][number, PERMUTED_PAIR[permutation, holding]]
        )

    def possible(self, dead: Sequence[int]) -> Floats:
        free = pairs_without(dead)
        return np.asarray(free / free.sum())

    def read(self, dealt: Sequence[str]) -> tuple[list[int], list[tuple[int, ...]], tuple[int, ...]]:
        inside = 2 * self.players
        hole = dealt[:inside]
        pairs = [hole[place : place + 2] for place in range(0, len(hole), 2)]
        cards = [() if HIDDEN in pair else parse_cards(pair) for pair in pairs]
        held = [int(PAIR[pair[0], pair[1]]) if pair else UNKNOWN for pair in cards]
        return held, cards, parse_cards(dealt[inside:])

    def holding_text(self, holding: int) -> str:
        return cards_text(PAIR_CARDS[holding][::-1].tolist())

    def actions(self, node: int) -> tuple[str, ...]:
        return betting_words(int(self.public.node[node, KIND]))


@lru_cache(maxsize=1 << 16)  # models are fitted to the same hands many times
def _canonical(board: tuple[int, ...]) -> tuple[int, int]:
    return find_board(board)


class OneCardDomain(ModelDomain):
    """Enumerated games with one private card, which counts by its rank."""

    copies: ClassVar[int]  # of each rank in the deck

    def __init__(self, game: Kuhn | Leduc) -> None:
        self.game = game
        self.public = small_public(game, self.paid)
        self.deck = list(game.deck)
        self.holdings = len(self.deck)
        self.least_buckets = min(2 * self.holdings, HAND_RANKS)
        facts = np.zeros((len(CARD_FACTS), self.holdings))
        facts[0] = np.arange(self.holdings)
        self.card_facts = facts

    @abstractmethod
    def paid(self, state: Any) -> Sequence[int]:
        """Chips that each player has put in at a state of the game."""

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
        return self._actions[node]

    @cached_property
    def _actions(self) -> list[tuple[str, ...]]:
        """The legal actions at every node of the public tree."""
        words: list[tuple[str, ...]] = [()] * len(self.public.node)
        for place in self.infosets():
            words[place.node] = self.tree.actions(place.row)
        return words

    @property
    def tree(self) -> GameTree:
        """The enumerated game."""
        return compile_game(self.game)

    def infosets(self) -> list[InfosetPlace]:
        found: dict[int, InfosetPlace] = {}
        nodes = self.tree.nodes
        open_nodes: list[tuple[int, int, Any, tuple[int, ...]]] = [(0, 0, self.game.start(), ())]
        while open_nodes:
            node, public, state, dealt = open_nodes.pop()
            mover = self.game.turn(state)
            if mover == TERMINAL:
                continue
            if mover != CHANCE:
                row = int(nodes.row[node])
                found.setdefault(row, InfosetPlace(row, public, dealt[mover], dealt[self.players :]))
            for position, action in enumerate(self.game.actions(state)):
                chance, child = mover == CHANCE, int(nodes.first_child[node]) + position
                cards = (*dealt, self.deck.index(action)) if chance else dealt
                below = public if chance else int(self.public.node[public, CHILD]) + position
                open_nodes.append((child, below, self.game.play(state, action), cards))
        assert len(found) == self.tree.num_rows
        return [found[row] for row in sorted(found)]

    @cached_property
    def infoset_table(self) -> InfosetTable:
        places, first_slot = self.infosets(), self.tree.rows.first_slot
        counts = np.diff(first_slot)
        first = np.array([self.first_class(place.node) for place in places])
        row_of_slot = np.repeat(np.arange(len(places)), counts)
        return InfosetTable(
            tree=self.tree,
            node=np.array([place.node for place in places]),
            rank=np.array([self.rank_of(place.holding, place.board) for place in places]),
            holding=np.array([place.holding for place in places]),
            row_of_slot=row_of_slot,
            class_of_slot=np.arange(len(row_of_slot)) - first_slot[:-1][row_of_slot] + first[row_of_slot],
        )


class KuhnDomain(OneCardDomain):
    """Kuhn poker. Its ante may be a fraction of a chip; models count it as 1."""

    board_cards, streets, copies = (0,), ("preflop",), 1

    def paid(self, state: KuhnState) -> Sequence[int]:
        players = self.game.players
        return [1 + ("b" in state.bets[seat::players]) for seat in range(players)]


class LeducDomain(OneCardDomain):
    """Leduc hold'em."""

    board_cards, streets, copies = (0, 1), ("preflop", "flop"), 2

    def paid(self, state: LeducState) -> Sequence[int]:
        return state.paid


def model_domain(game: AnyGame) -> ModelDomain:
    """The domain of a betting game; the same object for the same rules."""
    return _cached_domain(load_game(game).unabstracted)


def require_domain(game: Game) -> None:
    """Raise for a game that has no domain; none is built."""
    if _domain.dispatch(type(game)) is _domain.dispatch(object):
        _domain(game)


@singledispatch
def _domain(game: Game) -> ModelDomain:
    raise FeltError(f"Opponent models are for hold'em, Leduc and Kuhn poker, not for {game.name}.")


_domain.register(Holdem, HoldemDomain)
_domain.register(Kuhn, KuhnDomain)
_domain.register(Leduc, LeducDomain)
_cached_domain = cache(_domain)
