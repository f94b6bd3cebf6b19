"""Hold'em for the slow learners: the rules themselves, cards drawn as the kernels draw them, buckets one hand
at a time.
"""

from __future__ import annotations

from functools import cache

from slow_learners import SlowExternal, SlowOutcome, SlowUCT

from openfelt.cards.deck import BOARD_CARDS
from openfelt.games.game import TERMINAL
from openfelt.games.holdem import Holdem, is_over


def draw_cards(cards, needed, random):
    """Until there are so many; a card that is out already is drawn again. Returns how often was drawn."""
    draws = 0
    while len(cards) < needed:
        card = int(random.uniform() * 52)
        draws += 1
        if card not in cards:
            cards.append(card)
    return draws


class SlowHoldem:
    """A history is the state and the words of the betting; cards come from the learner."""

    def __init__(self, game: Holdem, abstraction) -> None:
        self.game, self.root = game, (game.start(), ())
        self._bucket = cache(abstraction.bucket)

    def mover(self, history):
        return TERMINAL if is_over(history[0].betting) else history[0].betting.turn

    def actions(self, history):
        return list(self.game.actions(history[0]))

    def children(self, history):
        state, words = history
        return [(self.game.play(state, word), (*words, word)) for word in self.actions(history)]

    def information(self, history):
        state, words = history
        seat = state.betting.turn
        return seat, (words, self._bucket(self.game.hole(state, seat), self.game.board(state)))

    def payoffs(self, history):
        return self.game.payoffs(history[0])


class HoldemDeals:
    """In place of the settling of chance: cards are drawn when a street comes, and stay for the episode."""

    def __init__(self, game: Holdem, abstraction, *rest, **more) -> None:
        super().__init__(game, *rest, **more)
        self.slow = SlowHoldem(game, abstraction)
        self.cards = []

    def settle(self, history):
        state, words = history
        if history == self.slow.root:
            self.cards = []
        if is_over(state.betting):
            return history
        needed = 2 * self.players + BOARD_CARDS[state.betting.street]
        draw_cards(self.cards, needed, self.random)
        return state._replace(cards=tuple(self.cards[:needed])), words

    def probability_of_chance(self, before, after):
        return 1.0  # it cancels out


class SlowHoldemUCT(HoldemDeals, SlowUCT):
    pass


class SlowHoldemOutcome(HoldemDeals, SlowOutcome):
    pass


class SlowHoldemExternal(HoldemDeals, SlowExternal):
    pass
