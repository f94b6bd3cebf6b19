"""One hand (one game from start to end), step by step, with what each seat observes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from openfelt.core.errors import FeltError
from openfelt.games.game import CHANCE, TERMINAL, Game


@dataclass(frozen=True)
class Thought:
    """The infoset of a decision, and what it was based on, by action.

    A bot that decides by search has visits and values instead of probabilities.
    """

    infoset: str
    probabilities: tuple[float, ...]  # that the action was drawn from; empty if there are none
    visits: tuple[float, ...] = ()  # of each action in a search
    values: tuple[float, ...] = ()  # mean payoff of each action in a search, nan if it was never tried


@dataclass(frozen=True)
class Step:
    """An action of a player, or an outcome of chance."""

    mover: int  # a player or CHANCE
    number: int  # position of the action among `actions`
    action: str
    actions: tuple[str, ...]  # all legal ones
    seen: tuple[str, ...]  # what each player observed of it
    thought: Thought | None = None  # of a bot


class Hand:
    """A game in progress: the rules, and the steps so far."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.state: Any = game.start()
        self.steps: list[Step] = []
        self.states: list[Any] = []  # before each step

    def __deepcopy__(self, memo: dict[int, Any]) -> Hand:
        return self.before(len(self.steps))  # steps and states do not change

    @property
    def mover(self) -> int:
        """The player to move, CHANCE or TERMINAL."""
        return self.game.turn(self.state)

    @property
    def actions(self) -> tuple[str, ...]:
        """The legal actions."""
        return tuple(self.game.actions(self.state))

    @property
    def payoffs(self) -> tuple[float, ...]:
        """What each player has won, at the end."""
        if self.mover != TERMINAL:
            raise FeltError("The hand is not over yet.")
        return tuple(float(value) for value in self.game.payoffs(self.state))

    def before(self, step: int) -> Hand:
        """The hand as it was before that step."""
        earlier = Hand(self.game)
        earlier.steps, earlier.states = self.steps[:step], self.states[:step]
        earlier.state = (*self.states, self.state)[step]
        return earlier

    def act(self, number: int, thought: Thought | None = None) -> Step:
        """Take the action at that position."""
        actions = self.actions
        action = actions[number]
        seen = tuple(self.game.sees(self.state, action, player) for player in range(self.game.players))
        step = Step(self.mover, number, action, actions, seen, thought)
        self.states.append(self.state)
        self.state = self.game.play(self.state, action)
        self.steps.append(step)
        return step

    def act_for_chance(self, generator: np.random.Generator) -> Step:
        """Draw an outcome of chance."""
        if self.mover != CHANCE:
            raise FeltError("It is not chance's turn.")
        return self.act(int(generator.choice(len(self.actions), p=self.game.chance(self.state))))
