"""What a game is: the protocol that every rule file follows.

A game is a small frozen dataclass; its fields are its parameters. It describes play through *states*. A
state is any hashable value that holds what the rest of the game depends on, and no more: two histories
that lead to equal states have the same future. (After the deal of One-Card Poker only the order of the
hands matters, so that is all its state keeps.) This is what makes compiling fast: each state is asked
once, however many histories pass through it.

What a player *knows* is told apart from the state, by `sees`: for every action, what each player sees of
it. A player's information state is the list of everything that he has seen, so a game written this way
has perfect recall unless its `sees` hides a player's own action from him (`check_game` finds that).
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from openfelt.core.errors import GameError

CHANCE = -1  # turn(): chance moves
TERMINAL = -2  # turn(): the game is over


class Game(ABC):
    """Rules of a finite game. Subclasses are frozen dataclasses."""

    key: ClassVar[str]  # the word in the game's name: "kuhn" in "kuhn(pot=8)"
    unit: ClassVar[str] = "chips"  # of payoffs
    is_enumerable: ClassVar[bool] = True  # whether all of its histories fit in memory
    is_poker: ClassVar[bool] = False  # whether `passive` and `stakes` are defined

    if TYPE_CHECKING:  # a subclass has it as an attribute, or as a field where it can vary

        @property
        def players(self) -> int:
            """How many play."""

    @property
    def name(self) -> str:
        """The name that `load_game` turns back into this game, without parameters left at their default."""
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
    def unabstracted(self) -> Game:
        """The same rules without an abstraction: games that differ in it only are equal after this."""
        return self

    @abstractmethod
    def start(self) -> Any:
        """The state before anything has happened."""

    @abstractmethod
    def turn(self, state: Any) -> int:
        """Who moves: a player 0, 1, ..., or CHANCE, or TERMINAL."""

    @abstractmethod
    def actions(self, state: Any) -> Sequence[str]:
        """The words for what the one who moves can do (for chance: what can come)."""

    def chance(self, state: Any) -> Sequence[float]:
        """The probability of each of chance's `actions`; all alike unless a game says otherwise."""
        count = len(self.actions(state))
        return [1.0 / count] * count

    @abstractmethod
    def play(self, state: Any, action: str) -> Any:
        """The state that follows `action`."""

    def sees(self, state: Any, action: str, player: int) -> str:
        """What `player` sees when `action` is taken at `state`; "" if nothing. Public unless overridden."""
        return action

    def stakes(self, state: Any) -> tuple[float, float] | None:
        """In poker: the pot when this betting round began, and the most that all could add from then on."""
        return None

    def passive(self, state: Any) -> str | None:
        """In poker: the action that checks or calls."""
        return None

    def shown(self, state: Any) -> Sequence[int]:
        """In poker: the seats whose cards all see when it is over, those of a showdown."""
        return ()

    @abstractmethod
    def payoffs(self, state: Any) -> Sequence[float]:
        """What each player has won (in `unit`) at a terminal state."""

    @classmethod
    def summary(cls) -> str:
        """One line on the game, from its docstring."""
        return (cls.__doc__ or "").strip().splitlines()[0]


def require(condition: bool, game: str, parameter: str, allowed: str, given: object) -> None:
    """Refuse a parameter with one sentence that says what is allowed."""
    if not condition:
        raise GameError(f"{game}: {parameter} must be {allowed}, not {given}.")


AnyGame: TypeAlias = "str | Path | Game"  # a game, its name, or the path of a Gambit file
