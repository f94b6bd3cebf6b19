"""The rivers after some turns on a GPU; with networks, as many at a time as their tables fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from openfelt.cards.deck import FLOP, RIVER
from openfelt.core.cuda import is_simulated, new_queue, to_gpu, zeros_on_gpu
from openfelt.core.jit import Ints
from openfelt.measure.holdem.gpu.game import Game
from openfelt.measure.holdem.gpu.network import NetworkTables, rivers_at_once
from openfelt.measure.holdem.gpu.river import StreetTables
from openfelt.solve.vector.gpu.launch import THREADS
from openfelt.solve.vector.gpu.plan import plan_shape
from openfelt.solve.vector.gpu.river_squares import ROOM, words_of

FEW_THREADS = 32  # of a block before the river in the simulator


class RiverWorkspace:
    """The memory for rivers on the GPU, with a queue of its own."""

    def __init__(self, game: Game, rivers: int) -> None:
        """`rivers` is the most there are at a time."""
        self._game, self._queue = game, new_queue()
        self._plan = zeros_on_gpu(plan_shape(game.deck), np.int32)
        self._words = zeros_on_gpu((rivers * words_of(game.parts) * ROOM,), np.uint32)
        self._facts = zeros_on_gpu((rivers,), np.uint32)
        self._streets: list[StreetTables] = list(game.streets)
        self._tables: dict[int, list[NetworkTables | None]] = {}  # by street
        networks = [network for network in game.networks if network is not None]
        self._rivers_at_once, self._weights = rivers, to_gpu(np.ones(rivers, np.float32))
        if networks:
            least = min(game.deck.size - 4, rivers)
            self._rivers_at_once = rivers_at_once(networks, game.deck, least, rivers)
            self._add_tables(RIVER, self._rivers_at_once)

    def _add_tables(self, street: int, boards: int) -> None:
        """Allocate the tables of networks on a street."""
        theirs, ours = self._tables[street] = [
            None if network is None else NetworkTables(network, self._game.deck, street, boards)
            for network in self._game.networks
        ]
        tables = self._streets[street - FLOP]
        if theirs:
            tables = tables._replace(share=theirs.tables.share)
        if ours:
            tables = tables._replace(own_share=ours.tables.share, own_folds=ours.tables.folds)
        self._streets[street - FLOP] = tables

    def _fill_tables(self, street: int, first: int, boards: int, weights: Any) -> None:
        """Compute the shares of networks on boards of the plan.

        The value of a river is proportional to the shares of either player, so one of them has the weights.
        """
        for tables in self._tables.get(street, ()):
            if tables is not None:
                tables.fill(self._run, self._game.live, self._plan, first, boards, weights)
                weights = self._weights

    def _order_rivers(self, rivers: int) -> None:
        """Sort the hands of all rivers of the plan."""
        game = self._game
        tables = (table[2] for table in game.tables)
        self._run(
            game.order_river, rivers, game.live, self._plan, *tables, self._words, self._facts, threads=ROOM
        )

    def _solve_rivers(self, of_turn: Ints, reach: Any, values: Any, weights: Any = None) -> None:
        """Queue the rivers of all turns of the plan: the values by stage [turns, roots, 1326].

        `of_turn` has the first river of each turn, and the number of rivers.
        """
        game, roots = self._game, self._game.roots[-1]
        for first, end in _batches(of_turn, self._rivers_at_once):
            begin = int(of_turn[first])
            if self._tables:
                known = self._weights if weights is None else to_gpu(weights[begin:])
                self._fill_tables(RIVER, begin, int(of_turn[end]) - begin, known)
            for stage, kernel in enumerate(game.solve_river):
                self._run(
                    kernel,
                    (end - first) * roots,
                    self._plan,
                    self._words,
                    self._facts,
                    (first, roots),
                    game.chances[3],
                    reach,
                    self._streets[-1],
                    values[stage],
                    threads=ROOM,
                    memory=game.share_bytes,
                )

    def _run(
        self, kernel: Any, blocks: int, *arguments: Any, threads: int = THREADS, memory: int = 0
    ) -> None:
        few = threads == THREADS and is_simulated()
        kernel[blocks, FEW_THREADS if few else threads, self._queue, memory](*arguments)


def _batches(of_turn: Ints, most: int) -> Iterator[tuple[int, int]]:
    """The first and the last turn, exclusive, of as many turns as have at most that many rivers together."""
    first, turns = 0, len(of_turn) - 1
    while first < turns:
        end = first + 1
        while end < turns and of_turn[end + 1] - of_turn[first] <= most:
            end += 1
        yield first, end
        first = end
