"""The protocol of all bots: a view of the hand in, an action out, a clock beside it."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from typing import Any, Generic

from numpy.typing import NDArray

from openfelt.bots.view import ViewType
from openfelt.core.random import Dice
from openfelt.games.compile.tree import Tree
from openfelt.games.game import Game
from openfelt.games.hand import Thought
from openfelt.policy.policy import Policy


class Clock:
    """How long a decision may take; it starts when it is created."""

    __slots__ = ("_begun", "limit")

    def __init__(self, limit: float = math.inf) -> None:
        self.limit = limit  # seconds
        self._begun = time.perf_counter()

    @property
    def used(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._begun

    @property
    def left(self) -> float:
        """Seconds until the limit."""
        return self.limit - self.used


class Bot(ABC, Generic[ViewType]):
    """Anything that can take a seat. One bot plays one seat at a time, hand after hand.

    A bot whose decisions depend on nothing but the view and the random numbers that it is given can be dealt
    any hand in any order. One that learns from hand to hand sets `learns`, and is then given whole sessions.

    Parameters
    ----------
    game : Game
        The game that it plays; raise FeltError for a game that it does not play.

    Examples
    --------
    >>> class Timid(felt.Bot):
    ...     def act(self, view, dice, clock):
    ...         return view.passive if max(view.hole) > 43 else view.actions[0]
    """

    learns: bool = False
    rule: str | None = None  # the rule of policy/rules.py that it follows, whatever its cards

    def __init__(self, game: Game) -> None:
        self.game = game

    @abstractmethod
    def act(self, view: ViewType, dice: Dice, clock: Clock) -> str:
        """One of `view.actions`. Draw random numbers from `dice` only, so that a match can be repeated."""

    def think(self, view: ViewType) -> Thought | None:
        """The probabilities from which it would draw its action, if it decides by probabilities."""
        return None

    def considered(self) -> Thought | None:
        """What its last decision was based on, if it does not decide by probabilities."""
        return None

    def end_hand(self, view: ViewType, won: float) -> None:
        """The hand is over: what this seat can see of it at the end, and the chips that it won."""

    @property
    def fixed_policy(self) -> Policy | None:
        """The policy by which it plays, always; None if there is none."""
        return None

    @property
    def fingerprint(self) -> str:
        """Changes with the policy or model by which it plays; empty if there is none."""
        return ""

    @property
    def plays_in_kernels(self) -> bool:
        """Whether kernels can play in its place, by its `kernel_table`."""
        return False

    def use_tables(self) -> None:
        """Prepare for many decisions: build or load what makes them fast, if there is anything."""

    def kernel_table(self, tree: Tree) -> NDArray[Any] | None:
        """The table by which kernels play in its place; None if it must be called for each decision."""
        return None
