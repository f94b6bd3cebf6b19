"""Solves flops on a GPU, one after another; while one is solved, the next is prepared.

Values have the stages of `flop.py`, in single precision.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.deck import FLOP, PAIRS, RIVER, TURN
from openfelt.cards.public_cards import Deck, Flop, plan_flop
from openfelt.core.cuda import gpu_faults, is_simulated, new_queue, to_gpu, zeros_on_gpu
from openfelt.core.cuda_build import build_for_cuda, cuda
from openfelt.core.jit import Floats
from openfelt.games.holdem import MOST_BETS
from openfelt.measure.holdem.flop import stages_of
from openfelt.measure.holdem.flop_solver import FlopValues, Task, by_class, reach_at_flop
from openfelt.measure.holdem.gpu.flop_and_turn import add_images, add_leaks, come_up, deal, go_down, sum_parts
from openfelt.measure.holdem.gpu.river import StreetTables, solve_river
from openfelt.measure.holdem.network import NetworkPlayer
from openfelt.measure.holdem.player import fixed_strategy
from openfelt.solve.vector.betting_lines import FIRST, LANES, LINES
from openfelt.solve.vector.gpu.plan import packed, plan_shape
from openfelt.solve.vector.gpu.river_lists import sync_warp
from openfelt.solve.vector.gpu.river_squares import ROOM, order_river, words_of
from openfelt.solve.vector.gpu.terms import terms_of

REGISTERS = 128  # of a thread on the river
THREADS = 256  # of a block on the other streets
MOST_SHARES = 3_800  # that fit into the shared memory of a block
IN_FLIGHT = 2  # flops that are queued at once


class GpuSolver:
    """Solves one flop after another on the GPU."""

    def __init__(self, task: Task, deck: Deck) -> None:
        self._game = _Game(task, deck)
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


class _Game:
    """What is the same for every flop: tables on the GPU, and kernels."""

    def __init__(self, task: Task, deck: Deck) -> None:
        assert not isinstance(task.other, NetworkPlayer)
        assert not isinstance(task.ours, NetworkPlayer)
        self.task, self.deck, betting = task, deck, task.other.betting
        self.live = to_gpu(deck.live)
        self.roots = [lines.roots for lines in betting.streets]
        self.parts = len(task.other.parts)
        other = fixed_strategy(task.other, 1 - task.seat, np.float32)
        ours = other if task.ours is None else fixed_strategy(task.ours, task.seat, np.float32)
        self.streets = [
            StreetTables(
                _by_root(theirs.shares.share),
                _by_root(own.shares.share),
                _by_root(own.shares.folds),
                _single(terms_of(lines, task.seat == FIRST)),
            )
            for theirs, own, lines in zip(other, ours, betting.streets, strict=True)
        ]
        tables = [to_gpu(np.asarray(street.buckets)) for street in other]
        first = task.other.parts[0]  # its buckets are numbered from 0, like ours
        same = all(a is b for a, b in zip((task.ours or first).buckets, first.buckets, strict=True))
        self.tables = [tables, tables if same else [to_gpu(np.asarray(street.buckets)) for street in ours]]
        self.reach = _reach(task.other, 1 - task.seat, deck)
        self.own_reach = _reach(task.ours, task.seat, deck) if task.leaks else []
        self.chances = deck.chances.astype(np.float32)
        self.best = [True, False] if task.leaks else [task.best]  # by stage of the river
        shares = self.streets[-1].share.shape[1] * LINES
        self.share_bytes = 4 * shares if shares <= MOST_SHARES else 0
        opens, fewer = task.seat == FIRST, betting.most_bets < MOST_BETS
        how = {"OPENS": opens, "FEWER": fewer, "FITS": self.share_bytes > 0, "PARTS": self.parts}
        self.solve_river = [_river_kernel(**how, BEST=best) for best in self.best]
        self.come_up = _street_kernel(come_up, OPENS=opens)
        self.deal, self.go_down = _street_kernel(deal), _street_kernel(go_down)
        self.add_images, self.add_leaks = _street_kernel(add_images), _street_kernel(add_leaks)
        self.sum_parts = _street_kernel(sum_parts)
        self.order_river = _street_kernel(order_river, PARTS=self.parts)


class _FlopWorkspace:
    """The memory of one flop on the GPU, with a queue of its own."""

    def __init__(self, game: _Game) -> None:
        self._game, self._queue, leaks = game, new_queue(), game.task.leaks
        turns, (e1, e2, e3) = game.deck.size - 3, game.roots
        self._plan = zeros_on_gpu(plan_shape(game.deck), np.int32)
        self._theirs = [zeros_on_gpu((1 + turns, PAIRS), np.int32) for _ in range(game.parts)]
        self._ours = zeros_on_gpu((1 + turns, PAIRS), np.int32)
        self._words = zeros_on_gpu((turns * (turns - 1) * words_of(game.parts) * ROOM,), np.uint32)
        self._facts = zeros_on_gpu((turns * (turns - 1),), np.uint32)
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
            self._run(game.deal, 1 + turns, game.live, self._plan, part, *game.tables[0][:2], bucket)
        self._run(game.deal, 1 + turns, game.live, self._plan, 0, *game.tables[1][:2], self._ours)
        rivers = (table[2] for table in game.tables)
        arguments = (game.live, self._plan, *rivers, self._words, self._facts)
        self._run(game.order_river, plan.rivers, *arguments, threads=ROOM)
        share = [street.share for street in game.streets]
        for bucket, reach, into in zip(self._theirs, game.reach, self._by_part, strict=True):
            self._down(turns, bucket, share, reach, into)
        if game.parts > 1:
            for boards, most, roots, reach, total in zip(
                (1, turns), (1, game.deck.size - 3), (e2, e3), self._reach, self._total, strict=True
            ):
                self._run(game.sum_parts, boards * roots, game.parts, most, roots, reach, total)
        if task.leaks:
            own = [street.own_share for street in game.streets]
            self._down(turns, self._ours, own, game.own_reach[0], self._own_reach)
        for stage, kernel in enumerate(game.solve_river):
            self._run(
                kernel,
                turns * e3,
                self._plan,
                self._words,
                self._facts,
                e3,
                game.chances[3],
                self._reach[1],
                game.streets[2],
                self._river_values[stage],
                threads=ROOM,
                memory=game.share_bytes,
            )
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

    def _down(self, turns: int, bucket: Any, share: Any, reach: Any, into: Any) -> None:
        kernel, (e1, e2, _) = self._game.go_down, self._game.roots
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
                game.streets[place],
                game.task.best and stage == 0,
                into,
            )

    def _run(
        self, kernel: Any, blocks: int, *arguments: Any, threads: int = THREADS, memory: int = 0
    ) -> None:
        few = threads == THREADS and is_simulated()
        kernel[blocks, 32 if few else threads, self._queue, memory](*arguments)


@cache
def _river_kernel(**constants: Any) -> Any:
    if is_simulated():
        return build_for_cuda(solve_river, {sync_warp: _sync_block}, 0, constants | {"ALIGNED": None})
    return build_for_cuda(solve_river, {}, REGISTERS, constants)


def _sync_block() -> None:
    cuda.syncthreads()


@cache
def _street_kernel(kernel: Any, **constants: Any) -> Any:
    return build_for_cuda(kernel, {}, constants=constants)


def _new(*shape: int) -> Any:
    """A table of hands; with three numbers, a list of tables."""
    if len(shape) == 3:
        return [_new(*shape[1:]) for _ in range(shape[0])]
    return zeros_on_gpu((*shape, PAIRS), np.float32)


def _single(table: Floats) -> Any:
    return to_gpu(table.astype(np.float32))


def _reach(player: Any, seat: int, deck: Deck) -> Any:
    """By part [1, roots, 1326]."""
    return [_single(np.ascontiguousarray(part.T[None])) for part in reach_at_flop(player, seat, deck)]


def _by_root(shares: NDArray[Any]) -> Any:
    """[roots, buckets, lines], so that a block of threads reads consecutive memory."""
    blocks, buckets, _ = shares.shape
    table = shares.reshape(blocks, buckets, LINES, LANES).transpose(0, 3, 1, 2)
    return _single(table.reshape(blocks * LANES, buckets, LINES))
