"""The one protocol of all bots: what a seat sees in, an action out, a clock beside it."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod

from openfelt.bots.view import View
from openfelt.core.random import Dice
from openfelt.games.game import Game
from openfelt.games.hand import Thought


class Clock:
    """How long a decision may take; it runs from the moment that it is made."""

    __slots__ = ("_begun", "limit")

    def __init__(self, limit: float = math.inf) -> None:
        self.limit = limit  # seconds
        self._begun = time.perf_counter()

    @property
    def used(self) -> float:
        """Seconds since the decision was asked for."""
        return time.perf_counter() - self._begun

    @property
    def left(self) -> float:
        """Seconds until it is too late."""
        return self.limit - self.used


class Bot(ABC):
    """Anything that can sit at a table. One bot plays one seat at a time, hand after hand.

    A bot that always decides alike given what it sees and the dice may be dealt any hand in any order. One
    that learns from hand to hand sets `learns`, and is then given whole sessions.
    """

    learns: bool = False

    def __init__(self, game: Game) -> None:
        self.game = game

    @abstractmethod
    def act(self, view: View, dice: Dice, clock: Clock) -> str:
        """One of `view.actions`; chance comes from the dice alone, so that a match can be played again."""

    def think(self, view: View) -> Thought | None:
        """What it knows and the probabilities that it would draw from, where it decides by probabilities."""
        return None

    def end_hand(self, view: View, won: float) -> None:  # noqa: B027 (most have nothing to learn)
        """The hand is over: what this seat could see of it in the end, and the chips that it won."""
