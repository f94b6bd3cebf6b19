"""How the hands of a match are played, adjusted for luck and recorded: one engine per kind of game."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property, singledispatch
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from openfelt.arena.hand_kernels import (
    ACTION_DRAWS,
    Deals,
    HandOutcomes,
    MatchPlan,
    deal_block,
    empty_outcomes,
    pay_block,
    play_holdem_block,
    play_tree_block,
    slot_offsets,
)
from openfelt.arena.holdem_table import HoldemTable
from openfelt.arena.records import PlayedHand, holdem_hands, tree_hands
from openfelt.arena.statistics.aivat import (
    BettingHistory,
    KnownPolicies,
    betting_history,
    holdem_aivat,
    tree_aivat,
)
from openfelt.arena.statistics.card_luck import card_luck
from openfelt.arena.table import Table
from openfelt.arena.tree_table import TreeTable
from openfelt.bots.bot import Bot
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints, Longs
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.tree import Tree, too_many_histories
from openfelt.games.game import Game
from openfelt.games.holdem import require_holdem
from openfelt.policy.holdem import require_holdem_policy
from openfelt.solve.traverse.holdem import HoldemTree, holdem_tree
from openfelt.solve.traverse.open_tree import open_tree


class Engine(ABC):
    """Plays the blocks of one match."""

    has_controls: ClassVar[bool]  # whether there are control variates
    has_style: ClassVar[bool]  # whether folds, bets and calls are counted

    def __init__(self, game: Game, plan: MatchPlan) -> None:
        self.game, self.plan = game, plan
        self._tables: tuple[NDArray[Any], ...] = ()  # by participant

    @abstractmethod
    def require_aivat(self) -> None:
        """Raise if AIVAT does not apply to the game."""

    @abstractmethod
    def use_tables(self, bots: Sequence[Bot], tables: Sequence[NDArray[Any] | None]) -> None:
        """Set the tables by which kernels play, one per participant; None where there is none."""

    @abstractmethod
    def play(self, first: int, count: int) -> HandOutcomes:
        """Play deals from number `first` on in kernels; all participants need tables."""

    @abstractmethod
    def open_table(self, bots: Sequence[Bot], limit: float) -> Table:
        """A table at which bots are called for each decision."""

    @abstractmethod
    def aivat(self, outcomes: HandOutcomes, first: int) -> Floats:
        """[deals, times, seats] winnings adjusted by AIVAT."""

    @abstractmethod
    def controls(self, first: int, count: int) -> Floats:
        """[deals, seats, CONTROLS] control variates, if there are some."""

    @abstractmethod
    def hands(self, first: int, leaf: Ints) -> Iterator[PlayedHand]:
        """Cards, actions and winnings of the hands that ended at leaves [deals, times]."""


class HoldemEngine(Engine):
    """Limit hold'em: cards are dealt first, then the betting is played."""

    has_controls = True
    has_style = True

    def __init__(self, tree: BettingTree, game: Game, plan: MatchPlan) -> None:
        super().__init__(game, plan)
        self._tree, self._holdem = tree, require_holdem(game)
        self._bucket_trees: list[HoldemTree | None] = []  # by participant; None: the cards do not matter
        self._is_known = np.zeros(0, np.bool_)

    def require_aivat(self) -> None:
        if self.game.players != 2:
            raise FeltError("AIVAT for hold'em needs two players, not three; leave it out.")

    def use_tables(self, bots: Sequence[Bot], tables: Sequence[NDArray[Any] | None]) -> None:
        self._is_known = np.array([table is not None for table in tables])
        self._tables = tuple(np.zeros(0, np.uint8) if table is None else table for table in tables)
        self._bucket_trees = [_bucket_tree(bot) for bot in bots]

    def _deal(self, first: int, count: int) -> Deals:
        return deal_block(self.game.players, self.plan.streams, first, count)

    def play(self, first: int, count: int) -> HandOutcomes:
        deals = self._deal(first, count)
        return play_holdem_block(self._tree, self._tables, self._offsets(deals), self.plan, deals, first)

    def open_table(self, bots: Sequence[Bot], limit: float) -> HoldemTable:
        return HoldemTable(self._holdem, bots, self._tree, limit=limit)

    def aivat(self, outcomes: HandOutcomes, first: int) -> Floats:
        deals = self._deal(first, len(outcomes.leaf))
        policies = KnownPolicies(self._tables, self._offsets(deals), self._is_known)
        seated = self.plan.participants(first, len(outcomes.leaf))
        return holdem_aivat(self._tree, self._history, deals, outcomes, seated, policies)

    @cached_property
    def _history(self) -> BettingHistory:
        return betting_history(self._tree)

    def controls(self, first: int, count: int) -> Floats:
        return card_luck(self._deal(first, count))

    def hands(self, first: int, leaf: Ints) -> Iterator[PlayedHand]:
        deals = self._deal(first, len(leaf))
        deal_count, times = leaf.shape
        outcomes = empty_outcomes(deal_count, times, self.game.players, 0)
        outcomes.leaf[...] = leaf
        pay_block(self._tree.node, self._tree.leaves, deals.value, outcomes)
        return holdem_hands(self._tree, deals, outcomes)

    def _offsets(self, deals: Deals) -> Longs:
        """[participants, deals, ...] where each policy has its slots; 0 where the cards do not matter."""
        known: dict[int, Longs] = {}  # participants may share a tree
        for tree in self._bucket_trees:
            if tree is not None and id(tree) not in known:
                known[id(tree)] = slot_offsets(tree, deals)
        nothing = np.zeros((len(deals.cards), 4 * self.game.players), np.int64)
        return np.stack([nothing if tree is None else known[id(tree)] for tree in self._bucket_trees])


def _bucket_tree(bot: Bot) -> HoldemTree | None:
    """The tree with the buckets of a bot's policy; None for a bot that has none."""
    policy = bot.fixed_policy
    return None if policy is None else holdem_tree(require_holdem_policy(policy).tree)


class TreeEngine(Engine):
    """Enumerated games: chance is sampled at its nodes."""

    has_controls = False
    has_style = False

    def __init__(self, tree: GameTree, game: Game, plan: MatchPlan) -> None:
        super().__init__(game, plan)
        self._tree, opened = tree, open_tree(tree)
        if opened.depth > ACTION_DRAWS:
            raise FeltError(f"{game.name} has over {ACTION_DRAWS} decisions in a row; matches allow no more.")
        self._episodes = opened.tree
        self._known: Sequence[NDArray[Any] | None] = ()

    def require_aivat(self) -> None:
        pass

    def use_tables(self, bots: Sequence[Bot], tables: Sequence[NDArray[Any] | None]) -> None:
        self._known = tables
        self._tables = tuple(table for table in tables if table is not None)

    def play(self, first: int, count: int) -> HandOutcomes:
        return play_tree_block(self._episodes, self._tables, self.plan, first, count)

    def open_table(self, bots: Sequence[Bot], limit: float) -> TreeTable:
        return TreeTable(self.game, bots, self._tree, limit=limit)

    def aivat(self, outcomes: HandOutcomes, first: int) -> Floats:
        adjusted = np.empty_like(outcomes.won)
        seated = self.plan.participants(first, len(outcomes.leaf))
        for seating, leaves in zip(self.plan.seatings, self._adjusted_leaves, strict=True):
            here = (seated == seating).all(axis=2)
            adjusted[here] = leaves[outcomes.leaf[here]]
        return adjusted

    @cached_property
    def _adjusted_leaves(self) -> list[Floats]:
        """By seating: [nodes, players] adjusted winnings at each leaf."""
        return [tree_aivat(self._tree, [self._known[bot] for bot in row]) for row in self.plan.seatings]

    def controls(self, first: int, count: int) -> Floats:
        return np.zeros((count, self.game.players, 0))

    def hands(self, first: int, leaf: Ints) -> Iterator[PlayedHand]:
        return tree_hands(self._tree, leaf)


@singledispatch
def match_engine(tree: Tree, game: Game, plan: MatchPlan) -> Engine:
    """The engine for a compiled game."""
    raise too_many_histories(tree.game)


match_engine.register(BettingTree, HoldemEngine)
match_engine.register(GameTree, TreeEngine)
