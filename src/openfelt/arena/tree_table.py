"""Enumerated games played by any bots, one decision at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from openfelt.arena.hand_kernels import (
    ACTION_DRAWS,
    CARD_DRAWS,
    HandOutcomes,
    RandomStreams,
    empty_outcomes,
)
from openfelt.arena.participants import Participants
from openfelt.arena.table import Table, WarmUpBot
from openfelt.bots.bot import Bot
from openfelt.bots.view import TreeView, view_of
from openfelt.core.jit import Floats
from openfelt.core.random import Dice, Numbers
from openfelt.core.sampling import draw_alias
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.game import CHANCE, Game
from openfelt.games.hand import Hand
from openfelt.solve.traverse.enumerated import EpisodeTree, episode_tree


class TreeTable(Table):
    """A table of an enumerated game."""

    def __init__(self, game: Game, bots: Sequence[Bot], tree: GameTree, *, limit: float = math.inf) -> None:
        super().__init__(game, bots, limit=limit)
        self._tree, self._episodes = tree, _episodes(tree)
        self._actions: dict[int, tuple[str, ...]] = {}  # by infoset

    def warm_up(self, streams: RandomStreams) -> None:
        bots = [WarmUpBot(bot, self.limit) for bot in self.bots]
        table = TreeTable(self.game, bots, self._tree, limit=self.warm_up_limit)
        for seat, row in enumerate(self._tree.rows.first_row[:-1].tolist()):
            if row < self._tree.rows.first_row[seat + 1]:
                view = TreeView(self.game, seat, self._tree.actions(row), self._tree, row)
                for place in range(len(bots)):
                    table.decide(place, view, Dice(0))

    def play_block(
        self, participants: Participants, times: Sequence[int], streams: RandomStreams, first: int, count: int
    ) -> HandOutcomes:
        outcomes = empty_outcomes(count, len(times), self.game.players, len(self.bots))
        seatings = [participants.places_in(seating) for seating in participants.seatings.tolist()]
        for number in range(count):
            for column, time in enumerate(times):
                seating = seatings[(first + number + time) % len(seatings)]
                cards = Numbers(int(streams.cards), (first + number) * CARD_DRAWS)
                history = self._play(seating, cards, int(streams.actions), (first + number) * ACTION_DRAWS)
                leaf = self._leaf(history)
                won = self._tree.nodes.payoffs[self._tree.nodes.row[leaf]]
                outcomes.leaf[number, column], outcomes.won[number, column] = leaf, won
                if any(self._observes_end):
                    self._end(seating, history, won)
        return outcomes

    def _leaf(self, history: list[int]) -> int:
        here = 0
        for action in history:
            here = int(self._tree.nodes.first_child[here]) + action
        return here

    def _end(self, seating: list[int], history: list[int], won: Floats) -> None:
        """Show the end of a hand to the bots that observe it."""
        hand = Hand(self.game)
        for action in history:
            hand.act(action)
        for seat, place in enumerate(seating):
            if self._observes_end[place]:
                self.end_hand(place, view_of(hand, seat), float(won[seat]))

    def _play(self, seating: list[int], cards: Numbers, start: int, decision: int) -> list[int]:
        """The history of one hand: all actions, with those of chance."""
        nodes, here = self._tree.nodes, 0
        history: list[int] = []
        while True:
            player, row, child = int(nodes.player[here]), int(nodes.row[here]), int(nodes.first_child[here])
            if player == CHANCE:
                history.append(self._draw(row, int(nodes.num_children[here]), cards))
            elif player < 0:
                return history
            else:
                if row not in self._actions:
                    self._actions[row] = self._tree.actions(row)
                view = TreeView(self.game, player, self._actions[row], self._tree, row)
                history.append(self.decide(seating[player], view, Dice(start, decision)))
                decision += 1
            here = child + history[-1]

    def _draw(self, first: int, outcomes: int, cards: Numbers) -> int:
        """An outcome of chance, by the alias method, as `settle` in solve/traverse/enumerated.py draws it."""
        return draw_alias(self._episodes.share, self._episodes.other, first, outcomes, cards.uniform())


@lru_cache(maxsize=4)
def _episodes(tree: GameTree) -> EpisodeTree:
    return episode_tree(tree)
