"""One hand (one game from start to end), step by step, with what each seat has seen of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from openfelt.base.errors import FeltError
from openfelt.compile.game_tree import GameTree
from openfelt.rules.game import CHANCE, TERMINAL, Game


@dataclass(frozen=True)
class Step:
    """Something that happened."""

    mover: int  # a player or CHANCE
    action: str
    seen: tuple[str, ...]  # what each player saw of it
    row: int  # the row at which a player decided; -1 for chance


class Hand:
    """The rules and the tree walked side by side: the rules give words, the tree gives rows."""

    def __init__(self, game: Game, tree: GameTree) -> None:
        self._game, self._tree = game, tree
        self._state: Any = game.start()
        self._node = 0
        self.steps: list[Step] = []

    @property
    def mover(self) -> int:
        """Who is to move: a player, CHANCE or TERMINAL."""
        return int(self._tree.nodes.player[self._node])

    @property
    def row(self) -> int:
        """The row of the player to move."""
        return int(self._tree.nodes.row[self._node])

    @property
    def actions(self) -> tuple[str, ...]:
        """What the one to move can do."""
        return tuple(self._game.actions(self._state))

    @property
    def payoffs(self) -> tuple[float, ...]:
        """What each player has won, once it is over."""
        if self.mover != TERMINAL:
            raise FeltError("The hand is not over yet.")
        return tuple(float(value) for value in self._game.payoffs(self._state))

    def act(self, number: int) -> Step:
        """Take the action of that number."""
        action = self.actions[number]
        seen = tuple(self._game.sees(self._state, action, player) for player in range(self._game.players))
        step = Step(self.mover, action, seen, self.row if self.mover >= 0 else -1)
        self._state = self._game.play(self._state, action)
        self._node = int(self._tree.nodes.first_child[self._node]) + number
        self.steps.append(step)
        return step

    def act_for_chance(self, generator: np.random.Generator) -> Step:
        """Let chance move."""
        if self.mover != CHANCE:
            raise FeltError("It is not for chance to move.")
        return self.act(int(generator.choice(len(self.actions), p=self._game.chance(self._state))))
