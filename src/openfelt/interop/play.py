"""One hand after another in which some seats are played from outside and the others by our bots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.bots.bot import Bot, Clock
from openfelt.bots.registry import load_bot
from openfelt.bots.view import view_of
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice
from openfelt.games.features.features import Vectors, features
from openfelt.games.game import CHANCE, TERMINAL, AnyGame
from openfelt.games.hand import Hand
from openfelt.games.registry import load_game

MOST_UNSEEN = 1_000  # hands in a row that may end before an outside seat acts


class Play:
    """Hands of a game; chance and bots act by themselves."""

    def __init__(self, game: AnyGame) -> None:
        self.game = load_game(game)
        self.layout = features(self.game)
        self.bots: dict[int, Bot] = {}  # by seat; the other seats are played from outside
        self.hand = Hand(self.game)
        self.generator = np.random.default_rng()

    def load(self, bot: str | Bot) -> Bot:
        """A bot, from its name if need be."""
        return load_bot(bot, self.game) if isinstance(bot, str) else bot

    def seed(self, seed: int | None) -> None:
        """Begin a sequence of random numbers; without a seed the present one goes on."""
        if seed is not None:
            self.generator = np.random.default_rng(seed)

    def begin(self, bots: Mapping[int, Bot]) -> None:
        """Deal hands until one comes to a seat that is played from outside."""
        self.bots = dict(bots)
        for _ in range(MOST_UNSEEN):
            self.hand = Hand(self.game)
            self._play_on()
            if not self.is_over:
                return
        raise FeltError(f"The bots end every hand of {self.game.name} before anybody else acts.")

    @property
    def is_over(self) -> bool:
        """Whether the hand is over."""
        return self.hand.mover == TERMINAL

    def act(self, number: int) -> bool:
        """Take an action by its number; if it is illegal, take the first legal one and return False."""
        legal = [self.layout.number(action) for action in self.hand.actions]
        self.hand.act(legal.index(number) if number in legal else 0)
        self._play_on()
        return number in legal

    def _play_on(self) -> None:
        while not self.is_over:
            seat = self.hand.mover
            if seat == CHANCE:
                self.hand.act_for_chance(self.generator)
            elif seat in self.bots:
                dice = Dice(int(self.generator.integers(1 << 63)))
                action = self.bots[seat].act(view_of(self.hand), dice, Clock())
                self.hand.act(self.hand.actions.index(action))
            else:
                return
        for seat, bot in self.bots.items():
            bot.end_hand(view_of(self.hand, seat), self.hand.payoffs[seat])

    def vector(self, seat: int) -> Vectors:
        """What a seat knows."""
        return self.layout.infoset(self.hand, seat)

    def mask(self, seat: int) -> NDArray[np.int8]:
        """The legal actions of a seat; none if it is not to move."""
        legal = self.hand.actions if self.hand.mover == seat else ()
        return self.layout.mask(legal).astype(np.int8)

    def observation(self, seat: int) -> dict[str, Any]:
        """Vector and mask, as PettingZoo and Gymnasium name them."""
        return {"observation": self.vector(seat), "action_mask": self.mask(seat)}

    def text(self) -> str:
        """The hand so far: all actions, with those of chance."""
        return " ".join(step.action for step in self.hand.steps)
