"""The rivers of a sample on a GPU, turn by turn; `by_board.py` does the rest on the CPU.

To the kernels each half of the sampled rivers is a turn of its own.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from openfelt.cards.boards import find_board
from openfelt.cards.deck import PAIRS
from openfelt.cards.public_cards import Deck
from openfelt.cards.runouts import River, Turn
from openfelt.core.cuda import gpu_faults, to_gpu, zeros_on_gpu
from openfelt.core.jit import Floats, Ints
from openfelt.games.features.features import Vectors
from openfelt.measure.holdem.flop import FlopWorkspace
from openfelt.measure.holdem.flop_solver import Task
from openfelt.measure.holdem.gpu.game import Game
from openfelt.measure.holdem.gpu.rivers import RiverWorkspace
from openfelt.solve.vector.gpu.plan import (
    CARDS,
    OF_TURN,
    RIVER,
    RIVER_AS,
    RIVER_FIRST,
    RIVER_NUMBER,
    RIVER_THROUGH,
    RIVER_TURN,
    TURN,
    plan_of,
)

HALVES = 2


class SampledRivers(RiverWorkspace):
    """Solves the sampled rivers of one turn after another."""

    def __init__(self, task: Task, deck: Deck) -> None:
        game = Game(task, deck)
        super().__init__(game, HALVES * (deck.size - 4))
        self._lock = Lock()
        shape = game.roots[-1], PAIRS
        self._values = [[zeros_on_gpu((most, *shape), np.float32)] for most in range(HALVES + 1)]

    def __call__(self, board: list[int], turn: Turn, work: FlopWorkspace) -> list[Floats]:
        """For each half [1, 1326, columns] the values at the end of the turn."""
        roots, columns = self._game.roots[-1], work.river.reach.shape[2]
        halves = len(turn.rivers[0].weights)
        reach = np.repeat(work.river.reach[:, :, :roots].transpose(0, 2, 1), halves, axis=0)
        with self._lock, gpu_faults():
            of_turn, weights, plan = self._planned(board, turn.rivers)
            self._plan.copy_to_device(plan, stream=self._queue)
            self._order_rivers(len(weights))
            values = self._values[halves]
            self._solve_rivers(of_turn, to_gpu(reach.astype(np.float32)), values, weights)
            found = values[0].copy_to_host(stream=self._queue)
            self._queue.synchronize()
        result = np.zeros((halves, 1, PAIRS, columns), work.river.reach.dtype)
        result[:, 0, :, :roots] = found.transpose(0, 2, 1)
        return list(result)

    def _planned(self, board: list[int], rivers: list[River]) -> tuple[Ints, Vectors, Ints]:
        """The first river of each half and the number of rivers, their weights, and the plan."""
        halves = range(len(rivers[0].weights))
        dealt = [(half, river) for half in halves for river in rivers if river.weights[half]]
        counts = [sum(half == each for each, _ in dealt) for half in halves]
        of_turn = np.cumsum([0, *counts]).astype(np.int32)
        boards = [find_board([*board, river.card]) for _, river in dealt]
        rows: dict[int, Any] = {
            CARDS: np.tile(board[:3], len(counts)),
            TURN: np.full(len(counts), board[3]),
            OF_TURN: of_turn,
            RIVER: [river.card for _, river in dealt],
            RIVER_TURN: [half for half, _ in dealt],
            RIVER_NUMBER: [number for number, _ in boards],
            RIVER_THROUGH: [through for _, through in boards],
            RIVER_FIRST: np.cumsum([0, *(len(river.seen_as) for _, river in dealt)]),
            RIVER_AS: np.concatenate([river.seen_as for _, river in dealt]),
        }
        weights = np.array([river.weights[half] for half, river in dealt], np.float32)
        return of_turn, weights, plan_of(self._game.deck, rows)
