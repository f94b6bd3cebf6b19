"""Solves flops on a GPU, one after another; while one is solved, the next is prepared.

Values have the stages of `flop.py`, in single precision.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from openfelt.cards.deck import FLOP, PAIRS, RIVER, TURN
from openfelt.cards.public_cards import Deck, Flop, plan_flop
from openfelt.core.cuda import gpu_faults, zeros_on_gpu
from openfelt.core.jit import Floats
from openfelt.measure.holdem.flop import stages_of
from openfelt.measure.holdem.flop_solver import FlopValues, Task, by_class
from openfelt.measure.holdem.gpu.game import Game
from openfelt.measure.holdem.gpu.rivers import RiverWorkspace
from openfelt.solve.vector.gpu.plan import packed

IN_FLIGHT = 2  # flops that are queued at once


class GpuSolver:
    """Solves one flop after another on the GPU."""

    def __init__(self, task: Task, deck: Deck) -> None:
        self._game = Game(task, deck)
        self._workspaces = [_FlopWorkspace(self._game) for _ in range(IN_FLIGHT)]

    def solve_all(self, flops: Sequence[Flop]) -> Iterator[FlopValues]:
        """The values of flops, in their order."""
        under_way: deque[tuple[_FlopWorkspace, Flop]] = deque()
        with gpu_faults():
            for flop, work in zip(flops, cycle(self._workspaces), strict=False):
                if len(under_way) == IN_FLIGHT:
                    yield self._values(*under_way.popleft())
                work.begin(flop)
                under_way.append((work, flop))
            while under_way:
                yield self._values(*under_way.popleft())

    def by_hand(self, flop: Flop) -> Floats:
        """[stages, roots, 1326] the value of each hand at each root of the flop."""
        self._workspaces[0].begin(flop)
        return np.array([values[0] for values in self._workspaces[0].values()])

    def _values(self, work: _FlopWorkspace, flop: Flop) -> FlopValues:
        deck = self._game.deck
        return FlopValues(
            np.array([by_class(values[0], flop, deck) for values in work.values()]),
            tuple(by_class(leak, flop, deck) for leak in work.leaks()),
        )


class _FlopWorkspace(RiverWorkspace):
    """The memory of one flop on the GPU, with a queue of its own."""

    def __init__(self, game: Game) -> None:
        turns, (e1, e2, e3), leaks = game.deck.size - 3, game.roots, game.task.leaks
        super().__init__(game, turns * (turns - 1))
        if any(game.networks):
            self._add_tables(FLOP, 1)
            self._add_tables(TURN, turns)
        self._theirs = [zeros_on_gpu((1 + turns, PAIRS), np.int32) for _ in range(game.parts)]
        self._ours = zeros_on_gpu((1 + turns, PAIRS), np.int32)
        # The reach of all parts of a mixture one after another, and the sums over parts.
        self._reach = [_new(game.parts, e2), _new(game.parts * turns, e3)]
        self._by_part = [
            [self._reach[0][part : part + 1], self._reach[1][part * turns : (part + 1) * turns]]
            for part in range(game.parts)
        ]
        self._total = self._reach if game.parts == 1 else [_new(1, e2), _new(turns, e3)]
        self._own_reach = [_new(1, e2), _new(turns, e3)] if leaks else []
        self._river_values = _new(stages_of(RIVER, leaks), turns, e3)
        self._turn_values = _new(stages_of(TURN, leaks), turns, e2)
        self._flop_sums = _new(stages_of(TURN, leaks), 1, e2)
        self._flop_values = _new(stages_of(FLOP, leaks), 1, e1)
        self._leaks = [_new(roots) for roots in game.roots] if leaks else []

    def begin(self, flop: Flop) -> None:
        """Queue all work of a flop."""
        game, task = self._game, self._game.task
        plan = plan_flop(game.deck, flop)
        turns, (_, e2, e3) = plan.turns, game.roots
        self._plan.copy_to_device(packed(game.deck, flop, plan), stream=self._queue)
        for part, bucket in enumerate(self._theirs):
            self._deal(0, part, bucket, turns)
        self._deal(1, 0, self._ours, turns)
        self._order_rivers(plan.rivers)
        for street, boards in ((FLOP, 1), (TURN, turns)):
            self._fill_tables(street, 0, boards, self._weights)
        share = [street.share for street in self._streets]
        for bucket, reach, into in zip(self._theirs, game.reach, self._by_part, strict=True):
            self._down(game.go_down[0], turns, bucket, share, reach, into)
        if game.parts > 1:
            for boards, most, roots, reach, total in zip(
                (1, turns), (1, game.deck.size - 3), (e2, e3), self._reach, self._total, strict=True
            ):
                self._run(game.sum_parts, boards * roots, game.parts, most, roots, reach, total)
        if task.leaks:
            own = [street.own_share for street in self._streets]
            self._down(game.go_down[1], turns, self._ours, own, game.own_reach[0], self._own_reach)
        self._solve_rivers(plan.of_turn, self._reach[1], self._river_values)
        self._up(TURN, turns, self._river_values, self._turn_values)
        for total, values in zip(self._flop_sums, self._turn_values, strict=True):
            self._run(game.add_images, e2, turns, self._plan, game.chances[2], values, total)
        self._up(FLOP, 1, self._flop_sums, self._flop_values)
        if task.leaks:
            one = np.float32(1)
            for street, (boards, chance, reach, values) in enumerate(
                [
                    (1, one, game.own_reach[0], self._flop_values),
                    (turns, game.chances[2], self._own_reach[0], self._turn_values),
                    (turns, game.chances[2], self._own_reach[1], self._river_values),
                ]
            ):
                into = self._leaks[street]
                where = (self._plan, chance, reach, values[0], values[1], into)
                self._run(game.add_leaks, game.roots[street], boards, street > 0, *where)

    def values(self) -> Any:
        """[stages, 1, roots, 1326] the values of the flop; waits for the GPU."""
        return [each.copy_to_host(stream=self._queue) for each in self._flop_values]

    def leaks(self) -> Any:
        """By street [roots, 1326]; empty if not requested."""
        return [leak.copy_to_host(stream=self._queue) for leak in self._leaks]

    def _deal(self, player: int, part: int, bucket: Any, turns: int) -> None:
        """Find the buckets of the opponent (0) or ours (1)."""
        game = self._game
        self._run(game.deal[player], 1 + turns, game.live, self._plan, part, *game.tables[player][:2], bucket)

    def _down(self, kernel: Any, turns: int, bucket: Any, share: Any, reach: Any, into: Any) -> None:
        e1, e2, _ = self._game.roots
        self._run(kernel, e1, bucket, 0, share[0], e1, reach, into[0])
        self._run(kernel, turns * e2, bucket, 1, share[1], e2, into[0], into[1])

    def _up(self, street: int, boards: int, below: Any, values: Any) -> None:
        game, place = self._game, street - FLOP
        roots = game.roots[place]
        for stage, into in enumerate(values):
            self._run(
                game.come_up,
                boards * roots,
                self._theirs[0],
                place,
                self._ours,
                roots,
                self._total[place],
                below[max(stage - 1, 0)],
                self._streets[place],
                game.task.best and stage == 0,
                into,
            )


def _new(*shape: int) -> Any:
    """A table of hands; with three numbers, a list of tables."""
    if len(shape) == 3:
        return [_new(*shape[1:]) for _ in range(shape[0])]
    return zeros_on_gpu((*shape, PAIRS), np.float32)
