"""Hands played by any bots, one decision at a time, on the very deals that kernels would play (`hands.py`).

A bot that is too slow, raises an error or names an action that is not there does not stop a match: the first
of its actions is taken for it, which in poker checks or folds, and it is counted.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from openfelt.arena.alarm import TooLateError, alarm
from openfelt.arena.hand_kernels import (
    ACTION_DRAWS,
    CARD_DRAWS,
    Deals,
    Luck,
    Played,
    count_action,
    deal_block,
    pay_block,
    room,
)
from openfelt.arena.lineup import Lineup
from openfelt.bots.bot import Bot, Clock
from openfelt.bots.view import HoldemView, TreeView, View, view_of
from openfelt.cards.deck import BOARD_CARDS
from openfelt.core.jit import Floats, Longs
from openfelt.core.random import Dice, Numbers
from openfelt.core.sampling import draw_alias
from openfelt.games.compile.betting_tree import FACING_SHIFT, PLACE, STREET_SHIFT, BettingTree
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, Game
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem, bet, betting_actions, is_over, passive
from openfelt.solve.traverse.enumerated import EpisodeTree, episode_tree

Hole = tuple[int, ...]  # cards, as numbers
LATE, ERROR, ILLEGAL = "late", "error", "illegal"
FEW_NODES = 100_000  # a tree is turned into Python's own numbers, which are quicker there, up to this size
KIND_BITS = (1 << STREET_SHIFT + 2) - 1  # number of actions, whether there is a bet, street
WARM_UP = 60.0  # seconds for a decision before the clock counts
LEARNING = 60.0  # seconds after a hand, for a bot that learns


@dataclass
class Conduct:
    """How a participant behaved: the time it took, and its faults."""

    decisions: int = 0
    seconds: float = 0.0
    longest: float = 0.0  # seconds, of one decision
    faults: dict[str, int] = field(default_factory=lambda: {LATE: 0, ERROR: 0, ILLEGAL: 0})
    first_error: str = ""

    def add(self, other: Conduct) -> None:
        """Put two blocks together."""
        self.decisions += other.decisions
        self.seconds += other.seconds
        self.longest = max(self.longest, other.longest)
        for fault, count in other.faults.items():
            self.faults[fault] += count
        self.first_error = self.first_error or other.first_error

    def told(self, name: str) -> str:
        """A sentence on the faults of a bot, if it had any."""
        counts = [f"{count:,} {fault}" for fault, count in self.faults.items() if count]
        error = f" (the first error: {self.first_error})" if self.first_error else ""
        return f"{name} failed to act: {', '.join(counts)}{error}; it checked or folded." if counts else ""


class Table(ABC):
    """Bots at a game, one for each place of a lineup."""

    def __init__(self, game: Game, bots: Sequence[Bot], *, limit: float = math.inf) -> None:
        self.game, self.bots, self.limit = game, bots, limit
        self.conduct = [Conduct() for _ in bots]
        self._watchers = [type(bot).end_hand is not Bot.end_hand for bot in bots]

    def tell(self, place: int, view: View, won: float) -> None:
        """Let a bot see how a hand ended; a bot that fails at that is counted too.

        The clock is for decisions: a bot that learns from hands has more time for that.
        """
        bot = self.bots[place]
        limit = max(self.limit, LEARNING) if bot.learns else self.limit
        clock = Clock(limit)
        fault, _ = self._guarded(place, lambda: bot.end_hand(view, won), limit)
        if fault or clock.used > limit:
            self.conduct[place].faults[fault or LATE] += 1

    def _guarded(self, place: int, act: Callable[[], object], limit: float) -> tuple[str, object]:
        """The fault of a bot, if it has one, and what it said."""
        try:
            with alarm(limit):
                return "", act()
        except TooLateError:
            return LATE, None
        except (Exception, SystemExit) as error:
            conduct = self.conduct[place]
            conduct.first_error = conduct.first_error or f"{type(error).__name__}: {error}"
            return ERROR, None

    @abstractmethod
    def play_block(self, lineup: Lineup, times: Sequence[int], luck: Luck, first: int, count: int) -> Played:
        """Play deals from number `first` on, each at these of the times that it is played in the match."""

    def ask(self, place: int, view: View, dice: Dice) -> int:
        """The place of the action that a bot names, or 0 for one that fails to name any in time."""
        conduct, clock, actions = self.conduct[place], Clock(self.limit), view.actions
        fault, named = self._guarded(place, lambda: self.bots[place].act(view, dice, clock), self.limit)
        used = clock.used
        conduct.decisions += 1
        conduct.seconds += used
        if used > conduct.longest:
            conduct.longest = used
        if used > self.limit:
            fault = LATE
        if not fault and isinstance(named, str) and named in actions:
            return actions.index(named)
        conduct.faults[fault or ILLEGAL] += 1
        return 0


class HoldemTable(Table):
    """Of limit hold'em."""

    def __init__(
        self, game: Holdem, bots: Sequence[Bot], tree: BettingTree, *, limit: float = math.inf
    ) -> None:
        super().__init__(game, bots, limit=limit)
        self._holdem, self._tree = game, tree
        self._row = _reader(tree)
        self._words: dict[int, tuple[str, ...]] = {}  # what can be done, by the kind of a decision

    def warm_up(self, holes: Sequence[Hole], board: Hole) -> None:
        """Let bots decide once on every street before the clock counts.

        What a bot compiles or reads when it first needs it can take seconds; under a short clock it would be
        interrupted each time, and never come to its end. What is asked here is not to change how a bot
        plays: one that learns is to be made anew.
        """
        patient = [_Patient(bot, self.limit) for bot in self.bots]
        table = HoldemTable(self._holdem, patient, self._tree, limit=max(WARM_UP, self.limit))
        betting = self._holdem.start().betting
        line: tuple[str, ...] = ()
        while not is_over(betting):
            seat, words = betting.turn, betting_actions(betting)
            view = self._view(seat, words, holes[seat], board[: BOARD_CARDS[betting.street]], line)
            for place, conduct in enumerate(table.conduct):
                if not conduct.faults[LATE]:
                    table.ask(place, view, Dice(0))
            word = passive(betting) if "fold" in words and line else words[-1]  # one bets, the others call
            betting, line = bet(betting, word), (*line, word)

    def _view(self, seat: int, words: Sequence[str], hole: Hole, board: Hole, line: tuple[str, ...]) -> View:
        return HoldemView(self._holdem, seat, words, hole, board, line)

    def play_block(self, lineup: Lineup, times: Sequence[int], luck: Luck, first: int, count: int) -> Played:
        players = self.game.players
        deals = deal_block(players, luck, first, count)
        played = room(count, len(times), players, len(self.bots))
        order = [lineup.places(seating) for seating in lineup.seatings.tolist()]
        for number, cards in enumerate(deals.cards.tolist()):
            holes = [tuple(cards[2 * seat : 2 * seat + 2]) for seat in range(players)]
            boards = [tuple(cards[2 * players : 2 * players + size]) for size in BOARD_CARDS]
            for column, time in enumerate(times):
                seating = order[(first + number + time) % len(order)]
                draws = luck.actions, (first + number) * ACTION_DRAWS
                leaf, line = self._play(holes, boards, seating, draws, played.style)
                played.leaf[number, column] = leaf
                if any(self._watchers):
                    won = self._pay(deals, played, number, column)
                    self._end(seating, holes, boards, line, leaf, won)
        pay_block(self._tree.node, self._tree.leaves, deals.value, played)
        return played

    def _play(
        self,
        holes: list[tuple[int, ...]],
        boards: list[tuple[int, ...]],
        seating: list[int],
        draws: tuple[np.uint64, int],
        style: Longs,
    ) -> tuple[int, tuple[str, ...]]:
        start, decision = int(draws[0]), draws[1]
        node = 0
        line: tuple[str, ...] = ()
        while True:
            player, kind, child, _ = self._row(node)
            if player < 0:
                return node, line
            street = kind >> STREET_SHIFT & 3
            actions = self._words.get(kind & KIND_BITS) or self._learn_words(node, kind)
            view = HoldemView(self._holdem, player, actions, holes[player], boards[street], line)
            place = self.ask(seating[player], view, Dice(start, decision))
            count_action(style, seating[player], street, kind >> FACING_SHIFT & 1, place)
            decision += 1
            line = (*line, actions[place])
            node = child + place

    def _learn_words(self, node: int, kind: int) -> tuple[str, ...]:
        self._words[kind & KIND_BITS] = self._tree.actions(node)
        return self._words[kind & KIND_BITS]

    def _pay(self, deals: Deals, played: Played, number: int, time: int) -> list[float]:
        one = Played(
            played.leaf[number : number + 1, time : time + 1],
            played.won[number : number + 1, time : time + 1],
            played.style,
        )
        pay_block(self._tree.node, self._tree.leaves, deals.value[number : number + 1], one)
        won: list[float] = one.won[0, 0].tolist()
        return won

    def _end(
        self,
        seating: list[int],
        holes: list[tuple[int, ...]],
        boards: list[tuple[int, ...]],
        line: tuple[str, ...],
        leaf: int,
        won: list[float],
    ) -> None:
        inside = int(self._tree.leaves.inside[self._tree.node[leaf, PLACE]])
        seats = [seat for seat in range(len(holes)) if inside >> seat & 1]
        shown = {seat: holes[seat] for seat in seats} if len(seats) > 1 else {}
        board = boards[HoldemView(self._holdem, 0, (), holes[0], (), line).moves[-1].street]
        for seat, place in enumerate(seating):
            if self._watchers[place]:
                view = HoldemView(self._holdem, seat, (), holes[seat], board, line, shown)
                self.tell(place, view, won[seat])


class TreeTable(Table):
    """Of an enumerated game."""

    def __init__(self, game: Game, bots: Sequence[Bot], tree: GameTree, *, limit: float = math.inf) -> None:
        super().__init__(game, bots, limit=limit)
        self._tree, self._episodes = tree, _episodes(tree)
        self._words: dict[int, tuple[str, ...]] = {}

    def warm_up(self) -> None:
        """Let bots decide once in every seat before the clock counts, as `HoldemTable.warm_up`."""
        patient = [_Patient(bot, self.limit) for bot in self.bots]
        table = TreeTable(self.game, patient, self._tree, limit=max(WARM_UP, self.limit))
        for seat, row in enumerate(self._tree.rows.first_row[:-1].tolist()):
            if row < self._tree.rows.first_row[seat + 1]:
                view = TreeView(self.game, seat, self._tree.actions(row), self._tree, row)
                for place in range(len(patient)):
                    table.ask(place, view, Dice(0))

    def play_block(self, lineup: Lineup, times: Sequence[int], luck: Luck, first: int, count: int) -> Played:
        played = room(count, len(times), self.game.players, len(self.bots))
        order = [lineup.places(seating) for seating in lineup.seatings.tolist()]
        for number in range(count):
            for column, time in enumerate(times):
                seating = order[(first + number + time) % len(order)]
                cards = Numbers(int(luck.cards), (first + number) * CARD_DRAWS)
                way = self._play(seating, cards, int(luck.actions), (first + number) * ACTION_DRAWS)
                leaf = self._leaf(way)
                won = self._tree.nodes.payoffs[self._tree.nodes.row[leaf]]
                played.leaf[number, column], played.won[number, column] = leaf, won
                if any(self._watchers):
                    self._end(seating, way, won)
        return played

    def _leaf(self, way: list[int]) -> int:
        here = 0
        for action in way:
            here = int(self._tree.nodes.first_child[here]) + action
        return here

    def _end(self, seating: list[int], way: list[int], won: Floats) -> None:
        hand = Hand(self.game)
        for action in way:
            hand.act(action)
        for seat, place in enumerate(seating):
            if self._watchers[place]:
                self.tell(place, view_of(hand, seat), float(won[seat]))

    def _play(self, seating: list[int], cards: Numbers, start: int, decision: int) -> list[int]:
        """All actions from the start to the end, those of chance too."""
        nodes, here = self._tree.nodes, 0
        way: list[int] = []
        while True:
            player, row, child = int(nodes.player[here]), int(nodes.row[here]), int(nodes.first_child[here])
            if player == CHANCE:
                way.append(self._draw(row, int(nodes.num_children[here]), cards))
            elif player < 0:
                return way
            else:
                if row not in self._words:
                    self._words[row] = self._tree.actions(row)
                view = TreeView(self.game, player, self._words[row], self._tree, row)
                way.append(self.ask(seating[player], view, Dice(start, decision)))
                decision += 1
            here = child + way[-1]

    def _draw(self, first: int, ways: int, cards: Numbers) -> int:
        """By the alias method, as `settle` in solve/traverse/enumerated.py draws."""
        return draw_alias(self._episodes.share, self._episodes.other, first, ways, cards.uniform())


class _Patient(Bot):
    """A bot that is told of its usual clock, whatever the table's."""

    def __init__(self, bot: Bot, limit: float) -> None:
        super().__init__(bot.game)
        self._bot, self._limit = bot, limit

    def act(self, view: View, dice: Dice, clock: Clock) -> str:
        return self._bot.act(view, dice, Clock(self._limit))


@lru_cache(maxsize=4)
def _reader(tree: BettingTree) -> Callable[[int], list[int]]:
    """From a node to its row as Python's own numbers. Kept, for a match opens a table for every block."""
    if tree.num_nodes < FEW_NODES:
        rows: list[list[int]] = tree.node.tolist()
        return rows.__getitem__
    return lambda node: tree.node[node].tolist()


@lru_cache(maxsize=4)
def _episodes(tree: GameTree) -> EpisodeTree:
    return episode_tree(tree)
