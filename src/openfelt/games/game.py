"""The protocol of a game: what every rule file implements.

A game is a small frozen dataclass; its fields are its parameters. It describes play through *states*. A
state is any hashable value that holds what the rest of the game depends on, and no more: two histories
that lead to equal states have the same future. (After the deal of One-Card Poker only the order of the
hands matters, so its state holds only that order.) This makes compiling fast: the rules are called once for
each state, however many histories pass through it.

What a player *observes* is separate from the state: `sees` says what each player observes of every action. An
information set is the list of all observations of its player, so a game written this way has perfect recall
unless its `sees` hides a player's own action from it (`check_game` finds that).
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from openfelt.core.errors import GameError

CHANCE = -1  # turn(): chance moves
TERMINAL = -2  # turn(): the game is over


class Unit(NamedTuple):
    """The unit in which winnings per hand are reported."""

    name: str  # "mbb/h"
    scale: float = 1.0  # how many of it are one unit of payoffs
    digits: int = 4  # printed after the decimal point

    def __str__(self) -> str:
        return self.name


class Game(ABC):
    """Rules of a finite game. A game of your own is a subclass, a frozen dataclass.

    Implement `start`, `turn`, `actions`, `play` and `payoffs`; override `chance` if chance is not uniform,
    and `sees` if an action is not public. `felt.check_game` verifies the result; every solver and
    measurement then accepts it.

    Examples
    --------
    >>> class Pennies(felt.Game):  # matching pennies: player 1 does not see player 0's coin
    ...     key, players = "pennies", 2
    ...     name = "pennies"
    ...     def start(self):
    ...         return ""
    ...     def turn(self, state):
    ...         return len(state) if len(state) < 2 else felt.TERMINAL
    ...     def actions(self, state):
    ...         return ["h", "t"]
    ...     def play(self, state, action):
    ...         return state + action
    ...     def sees(self, state, action, player):
    ...         return action if player == len(state) else ""
    ...     def payoffs(self, state):
    ...         return [1, -1] if state[0] == state[1] else [-1, 1]
    >>> felt.exploitability(felt.uniform_policy(Pennies())).nash_conv
    0.0
    """

    key: ClassVar[str]  # the word in the game's name: "kuhn" in "kuhn(pot=8)"
    unit: ClassVar[str] = "chips"  # of payoffs
    is_enumerable: ClassVar[bool] = True  # whether all of its infosets fit in memory
    is_zero_sum: ClassVar[bool] = True  # which `check_game` verifies
    is_poker: ClassVar[bool] = False  # whether `passive` and `stakes` are defined
    big_blind: ClassVar[float] = 0.0  # chips; 0 if there are no blinds

    if TYPE_CHECKING:  # subclasses have this as an attribute, or as a field if it is a parameter

        @property
        def players(self) -> int:
            """Number of players."""

    @property
    def name(self) -> str:
        """The name from which `load_game` makes this game; parameters with default values are left out."""
        words = []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.default is dataclasses.MISSING:
                words.append(repr(value))
            elif value != field.default:
                words.append(f"{field.name}={value!r}")
        return f"{self.key}({','.join(words)})" if words else self.key

    @property
    def abstraction(self) -> str:
        """Name of the card abstraction with which solvers see the game; empty if there is none."""
        return ""

    @property
    def winnings_unit(self) -> Unit:
        """The unit in which winnings per hand are reported."""
        return Unit(f"{self.unit} a hand")

    @property
    def is_factored(self) -> bool:
        """Whether it has too many histories to list and is compiled to its infosets without them."""
        return False

    @property
    def unabstracted(self) -> Game:
        """The same rules without an abstraction: games that differ in it only are equal after this."""
        return self

    @abstractmethod
    def start(self) -> Any:
        """The state before anything has happened."""

    @abstractmethod
    def turn(self, state: Any) -> int:
        """The player to move (0, 1, ...), or CHANCE, or TERMINAL."""

    @abstractmethod
    def actions(self, state: Any) -> Sequence[str]:
        """The names of the legal actions; at chance nodes, of the outcomes."""

    def is_legal(self, state: Any, action: str) -> bool:
        """Whether `action` is one of the `actions`."""
        return action in self.actions(state)

    def chance(self, state: Any) -> Sequence[float]:
        """The probability of each outcome at a chance node; uniform unless overridden."""
        count = len(self.actions(state))
        return [1.0 / count] * count

    @abstractmethod
    def play(self, state: Any, action: str) -> Any:
        """The state after `action`."""

    def sees(self, state: Any, action: str, player: int) -> str:
        """What `player` observes when `action` is taken; "" for nothing. Actions are public by default."""
        return action

    def public(self, state: Any, action: str, seen: Sequence[str]) -> str:
        """What everybody observes of `action`, given what each player sees; by default what all see alike."""
        return seen[0] if all(word == seen[0] for word in seen) else ""

    def stakes(self, state: Any) -> tuple[float, float] | None:
        """In poker: the pot at the start of the betting round, and the most that can be added after it."""
        return None

    def passive(self, state: Any) -> str | None:
        """In poker: the action that checks or calls."""
        return None

    def shown(self, state: Any) -> Sequence[int]:
        """In poker: the seats whose cards are shown at the end of the hand, those in a showdown."""
        return ()

    @abstractmethod
    def payoffs(self, state: Any) -> Sequence[float]:
        """What each player wins, in `unit`, at a terminal state."""

    @classmethod
    def summary(cls) -> str:
        """The first line of the class docstring."""
        return (cls.__doc__ or "").strip().splitlines()[0]


def require(condition: bool, game: str, parameter: str, allowed: str, given: object) -> None:
    """Raise GameError for a parameter out of its range, and say what is allowed."""
    if not condition:
        raise GameError(f"{game}: {parameter} must be {allowed}, not {given}.")


AnyGame: TypeAlias = "str | Path | Game"  # a game, its name, or the path of a Gambit file
