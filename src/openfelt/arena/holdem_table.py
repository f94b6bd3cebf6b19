"""Limit hold'em played by any bots, one decision at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from openfelt.arena.decision_stats import LATE
from openfelt.arena.hand_kernels import (
    ACTION_DRAWS,
    Deals,
    HandOutcomes,
    RandomStreams,
    count_action,
    deal_block,
    empty_outcomes,
    pay_block,
)
from openfelt.arena.participants import Participants
from openfelt.arena.table import Table, WarmUpBot
from openfelt.bots.bot import Bot
from openfelt.bots.view import HoldemView, View
from openfelt.cards.deck import BOARD_CARDS
from openfelt.core.jit import Longs
from openfelt.core.random import Dice
from openfelt.games.compile.betting_tree import FACING_SHIFT, PLACE, STREET_SHIFT, BettingTree
from openfelt.games.holdem import Holdem, bet, betting_actions, is_over, passive

Hole = tuple[int, ...]  # cards, as numbers
LARGE_TREE = 100_000  # nodes; smaller trees are converted to lists of Python integers, which are faster
KIND_BITS = (1 << STREET_SHIFT + 2) - 1  # number of actions, whether there is a bet to call, street


class DealtCards(NamedTuple):
    """The cards of one hand, all the way to the river."""

    holes: list[Hole]  # by seat
    boards: list[Hole]  # by street

    @staticmethod
    def of(cards: Sequence[int], players: int) -> DealtCards:
        """From a row of `Deals.cards`."""
        holes = [tuple(cards[2 * seat : 2 * seat + 2]) for seat in range(players)]
        return DealtCards(holes, [tuple(cards[2 * players : 2 * players + size]) for size in BOARD_CARDS])


class HoldemTable(Table):
    """A table of limit hold'em."""

    def __init__(
        self, game: Holdem, bots: Sequence[Bot], tree: BettingTree, *, limit: float = math.inf
    ) -> None:
        super().__init__(game, bots, limit=limit)
        self._holdem, self._tree = game, tree
        self._node = _node_reader(tree)
        self._actions: dict[int, tuple[str, ...]] = {}  # by the kind of a decision

    def warm_up(self, streams: RandomStreams) -> None:
        bots = [WarmUpBot(bot, self.limit) for bot in self.bots]
        table = HoldemTable(self._holdem, bots, self._tree, limit=self.warm_up_limit)
        deal = deal_block(self.game.players, streams, 0, 1).cards[0].tolist()
        cards = DealtCards.of(deal, self.game.players)
        betting = self._holdem.start().betting
        line: tuple[str, ...] = ()
        while not is_over(betting):
            seat, actions = betting.turn, betting_actions(betting)
            view = self._view(seat, actions, cards.holes[seat], cards.boards[betting.street], line)
            for place, stats in enumerate(table.stats):
                if not stats.faults[LATE]:
                    table.decide(place, view, Dice(0))
            # The first to act bets, and all others call.
            action = passive(betting) if "fold" in actions and line else actions[-1]
            betting, line = bet(betting, action), (*line, action)

    def _view(
        self, seat: int, actions: Sequence[str], hole: Hole, board: Hole, line: tuple[str, ...]
    ) -> View:
        return HoldemView(self._holdem, seat, actions, hole, board, line)

    def play_block(
        self, participants: Participants, times: Sequence[int], streams: RandomStreams, first: int, count: int
    ) -> HandOutcomes:
        players = self.game.players
        deals = deal_block(players, streams, first, count)
        outcomes = empty_outcomes(count, len(times), players, len(self.bots))
        seatings = [participants.places_in(seating) for seating in participants.seatings.tolist()]
        for number, row in enumerate(deals.cards.tolist()):
            cards = DealtCards.of(row, players)
            for column, time in enumerate(times):
                seating = seatings[(first + number + time) % len(seatings)]
                draws = streams.actions, (first + number) * ACTION_DRAWS
                leaf, line = self._play(cards, seating, draws, outcomes.style)
                outcomes.leaf[number, column] = leaf
                if any(self._observes_end):
                    won = self._pay(deals, outcomes, number, column)
                    self._end(seating, cards, line, leaf, won)
        pay_block(self._tree.node, self._tree.leaves, deals.value, outcomes)
        return outcomes

    def _play(
        self, cards: DealtCards, seating: list[int], draws: tuple[np.uint64, int], style: Longs
    ) -> tuple[int, tuple[str, ...]]:
        """The leaf and the betting line of one hand; `draws` is the place of its random numbers."""
        start, decision = int(draws[0]), draws[1]
        node = 0
        line: tuple[str, ...] = ()
        while True:
            player, kind, child, _ = self._node(node)
            if player < 0:
                return node, line
            street = kind >> STREET_SHIFT & 3
            actions = self._actions.get(kind & KIND_BITS) or self._read_actions(node, kind)
            view = HoldemView(self._holdem, player, actions, cards.holes[player], cards.boards[street], line)
            action = self.decide(seating[player], view, Dice(start, decision))
            count_action(style, seating[player], street, kind >> FACING_SHIFT & 1, action)
            decision += 1
            line = (*line, actions[action])
            node = child + action

    def _read_actions(self, node: int, kind: int) -> tuple[str, ...]:
        self._actions[kind & KIND_BITS] = self._tree.actions(node)
        return self._actions[kind & KIND_BITS]

    def _pay(self, deals: Deals, outcomes: HandOutcomes, number: int, column: int) -> list[float]:
        """What each seat won in one hand."""
        one = HandOutcomes(
            outcomes.leaf[number : number + 1, column : column + 1],
            outcomes.won[number : number + 1, column : column + 1],
            outcomes.style,
        )
        pay_block(self._tree.node, self._tree.leaves, deals.value[number : number + 1], one)
        won: list[float] = one.won[0, 0].tolist()
        return won

    def _end(
        self, seating: list[int], cards: DealtCards, line: tuple[str, ...], leaf: int, won: list[float]
    ) -> None:
        """Show the end of a hand to the bots that observe it."""
        holes = cards.holes
        inside = int(self._tree.leaves.inside[self._tree.node[leaf, PLACE]])
        seats = [seat for seat in range(len(holes)) if inside >> seat & 1]
        shown = {seat: holes[seat] for seat in seats} if len(seats) > 1 else {}
        board = cards.boards[HoldemView(self._holdem, 0, (), holes[0], (), line).moves[-1].street]
        for seat, place in enumerate(seating):
            if self._observes_end[place]:
                view = HoldemView(self._holdem, seat, (), holes[seat], board, line, shown)
                self.end_hand(place, view, won[seat])


@lru_cache(maxsize=4)
def _node_reader(tree: BettingTree) -> Callable[[int], list[int]]:
    """Reads a node as Python integers. Cached, since a match opens a table for every block."""
    if tree.num_nodes < LARGE_TREE:
        rows: list[list[int]] = tree.node.tolist()
        return rows.__getitem__
    return lambda node: tree.node[node].tolist()
