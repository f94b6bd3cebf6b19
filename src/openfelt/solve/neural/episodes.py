"""The decisions of games in progress, collected until each game ends and its payoffs are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Ints, kernel, part
from openfelt.games.features.features import Masks, Vectors

Bytes = NDArray[np.int8]
Actions = NDArray[np.int16]


class Decisions(NamedTuple):
    """Decisions, those of one game in a row; in progress each array has [games, depth] instead of [n]."""

    infoset: Ints  # [n]
    action: Actions  # [n]
    player: Bytes  # [n]
    mark: Bytes  # [n] what the solver wants to remember
    chance: Vectors  # [n] the probability with which the action was taken
    left: Ints  # [n] decisions of the same game that follow
    payoffs: Vectors  # [n, players] of the game


def new_decisions(shape: tuple[int, ...], players: int) -> Decisions:
    """Arrays for decisions."""
    return Decisions(
        infoset=np.zeros(shape, np.int32),
        action=np.zeros(shape, np.int16),
        player=np.zeros(shape, np.int8),
        mark=np.zeros(shape, np.int8),
        chance=np.zeros(shape, np.float32),
        left=np.zeros(shape, np.int32),
        payoffs=np.zeros((*shape, players), np.float32),
    )


class Recorder:
    """Collects the decisions of many games.

    Parameters
    ----------
    games : int
        The number of games at once.
    depth : int
        The most decisions in a game.
    steps : int
        The most steps between two calls of `take`.
    players : int
        Of the game.
    """

    def __init__(self, games: int, depth: int, steps: int, players: int) -> None:
        self._open = new_decisions((games, depth), players)
        self._length = np.zeros(games, np.int32)
        self._closed = new_decisions((games * (steps + depth),), players)
        self._count = 0

    def note(
        self, infosets: Ints, actions: Ints, players: Bytes, marks: Bytes, probabilities: Vectors
    ) -> None:
        """Record one decision in each game, before the step."""
        _note(self._open, self._length, infosets, actions, players, marks, probabilities)

    def close(self, dones: Masks, rewards: Vectors) -> None:
        """After the step: move games that ended to the finished ones."""
        self._count = _close(self._open, self._length, self._closed, self._count, dones, rewards)

    def take(self) -> Decisions:
        """All decisions of the games that ended since the last call; overwritten by later games."""
        count, self._count = self._count, 0
        return Decisions._make(array[:count] for array in self._closed)

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays of a checkpoint."""
        return {**self._open._asdict(), "length": self._length}


@kernel
def _note(
    pending: Decisions,
    length: Ints,
    infosets: Ints,
    actions: Ints,
    players: Bytes,
    marks: Bytes,
    probabilities: Vectors,
) -> None:
    depth = pending.action.shape[1]
    for game in range(len(length)):
        at = min(length[game], depth - 1)  # in a hostile checkpoint a game may have been longer
        pending.infoset[game, at] = infosets[game]
        pending.action[game, at] = actions[game]
        pending.player[game, at] = players[game]
        pending.mark[game, at] = marks[game]
        pending.chance[game, at] = probabilities[game, actions[game]]
        length[game] = at + 1


@kernel
def _close(
    pending: Decisions, length: Ints, closed: Decisions, count: int, dones: Masks, rewards: Vectors
) -> int:
    for game in range(len(length)):
        if not dones[game]:
            continue
        for at in range(length[game]):
            closed.infoset[count] = pending.infoset[game, at]
            closed.action[count] = pending.action[game, at]
            closed.player[count] = pending.player[game, at]
            closed.mark[count] = pending.mark[game, at]
            closed.chance[count] = pending.chance[game, at]
            closed.left[count] = length[game] - 1 - at
            for player in range(rewards.shape[1]):
                closed.payoffs[count, player] = rewards[game, player]
            count += 1
        length[game] = 0
    return count


@part
def next_own(games: Decisions, at: int) -> int:
    """The next decision of the same player in the same game; -1 if there is none."""
    for later in range(at + 1, at + games.left[at] + 1):
        if games.player[later] == games.player[at]:
            return later
    return -1
