"""Passes over spots on a GPU, which holds all of their tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.deck import RIVER
from openfelt.core.cuda import (
    Repeated,
    free_memory,
    gpu_faults,
    gpu_name,
    is_simulated,
    new_queue,
    numba_cuda,
    to_gpu,
    zeros_on_gpu,
)
from openfelt.core.cuda_build import build_for_cuda
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.spots.betting import Street
from openfelt.spots.decisions import Reals
from openfelt.spots.engine import NO_DISCOUNTS, Engine, Gadget, table_rows
from openfelt.spots.gpu.hands import OWN_SLOTS, PLACES, SLOTS, Tables
from openfelt.spots.gpu.kernels import (
    MOST_THREADS,
    Choice,
    Reach,
    add_boards,
    choose_to_play,
    come_up,
    go_down,
    shift_up,
    shift_up_simulated,
    solve_rivers,
    update_choice,
)
from openfelt.spots.gpu.layout import StreetLayout, lay_out, row_width
from openfelt.spots.runouts import Runouts
from openfelt.spots.solver import CHECK_EVERY, discounts
from openfelt.spots.traversal import UPDATE

SHARED_BYTES = 46_000  # of shared memory that a block may use
BLOCK_BYTES = 2048  # that the system and sums of warps take
SUM_BYTES = 34_000  # of them for running sums; two lanes at once if four take more
FEW_THREADS = 4  # of a block in the simulator
REGISTERS = 48  # of a thread on the river
MARGIN = 1.1  # memory to require, as a multiple of what is known
HAND_BYTES = 26  # of the lists of hands
SINGLE_BYTES = 4


class RiverShape(NamedTuple):
    """How the kernel of the river is built and launched."""

    threads: int
    lanes: int
    shares: bool  # whether the reach of a tree is in shared memory
    memory: int  # bytes of shared memory
    blocks: int
    slots: int  # of the largest tree
    places: int


class GpuEngine:
    """Spots with the same betting trees, solved together.

    Parameters
    ----------
    engines
        The spots' tables on the CPU; `fetch` copies the result there.
    gadgets
        For safe re-solving, one for each spot, all of the same player; empty for none.
    """

    def __init__(self, engines: Sequence[Engine], gadgets: Sequence[Gadget] = ()) -> None:
        self.engines = list(engines)
        _require_memory(engines)
        self._layouts = layouts = lay_out(engines)
        self._most = max(3, *(int(level.betting.actions.max()) for level in engines[0].levels))
        with gpu_faults():
            self._river = shape = river_shape(layouts[-1])
            self._queue = new_queue()
            self._trees = [[to_gpu(tree) for tree in each.trees] for each in layouts]
            self._boards = [_boards_to_gpu(each) for each in layouts]
            self._tables = [self._new_tables(level, each) for level, each in enumerate(layouts)]
            self._roots = len(np.atleast_2d(engines[0].weights[0]))
            self._weights = self._by_root([engine.weights for engine in engines])  # [2, spots, roots * hands]
            self._reach = [self._root_reach(), *(_new_reach(each) for each in layouts[:-1])]
            self._chooser = gadgets[0].player if gadgets else -1
            self._choice = self._new_choice(gadgets) if gadgets else None
            self._value = [zeros_on_gpu(_value_shape(each), np.float32) for each in layouts]
            width = layouts[-1].width
            self._scratch = zeros_on_gpu((shape.blocks, shape.places * width), np.float32)
            self._room = zeros_on_gpu(
                (1, 1) if shape.shares else (shape.blocks, shape.slots * width), np.float32
            )
            self._schedule = zeros_on_gpu((CHECK_EVERY, 3), np.float32)
            self.activate(range(len(engines)))

    def activate(self, spots: Iterable[int]) -> None:
        """Work on some of the spots from now on."""
        chosen = list(spots)
        boards = [np.flatnonzero(np.isin(each.spot, chosen)).astype(np.int32) for each in self._layouts]
        self._active = [to_gpu(each) for each in boards]
        self._ten_iterations = Repeated(self._queue)

    def iterate(self, first: int, count: int) -> None:
        """Queue iterations of both players; `first` is the number of the first one."""
        with gpu_faults():
            for start in range(first, first + count, CHECK_EVERY):
                some = min(CHECK_EVERY, first + count - start)
                self._set_schedule([discounts(start + each) for each in range(CHECK_EVERY)])
                if some == CHECK_EVERY:
                    self._ten_iterations(lambda: self._queue_iterations(CHECK_EVERY))
                else:
                    self._queue_iterations(some)

    def run(self, player: int, mode: int, weights: Sequence[float] = NO_DISCOUNTS) -> GpuEngine:
        """Queue one pass; returns itself."""
        with gpu_faults():
            if self._choice is not None:  # it has changed them
                for there, here in zip(self._reach[0][1::-1], self._weights, strict=True):
                    there.copy_to_device(here, stream=self._queue)
            self._set_schedule([weights] * CHECK_EVERY)
            self._queue_pass(player, mode, 0)
        return self

    def values(self, player: int) -> list[Floats]:
        """By spot, the values of the player's hands in the order of `Engine.weights`; waits for the GPU."""
        return [values[0] for values in self.root_values(player)]

    def root_values(self, player: int) -> list[Floats]:
        """By spot, the values [roots, hands] in the order of `Engine.weights`; waits for the GPU."""
        with gpu_faults():
            rows = self._value[0].copy_to_host(stream=self._queue)
            self.wait()
        found = []
        for engine, row in zip(self.engines, rows, strict=True):
            first, size = engine.runouts[0].hands[player, 0], engine.runouts[0].size[player, 0]
            values = np.zeros((self._roots, size))
            by_root = row.reshape(-1, self._layouts[0].width)[: self._roots]
            values[:, engine.runouts[0].parent[first : first + size]] = by_root[:, :size]
            found.append(values)
        return found

    def fetch(self, streets: int | None = None) -> None:
        """Copy the tables of all streets, or of the first ones, to the CPU."""
        with gpu_faults():
            for level, (tables, _) in enumerate(self._tables[:streets]):
                at = 0
                for engine in self.engines:
                    mine = engine.levels[level].tables
                    span = slice(at, at + len(mine.regret))
                    if len(mine.regret):
                        tables.regret[span].copy_to_host(mine.regret, stream=self._queue)
                        tables.average[span].copy_to_host(mine.average, stream=self._queue)
                    at = span.stop
            self.wait()

    def wait(self) -> None:
        """Wait for the GPU."""
        with gpu_faults():
            self._queue.synchronize()

    def _set_schedule(self, weights: Sequence[Sequence[float]]) -> None:
        self._schedule.copy_to_device(np.array(weights, np.float32), stream=self._queue)

    def _queue_iterations(self, count: int) -> None:
        for row in range(count):
            for player in (0, 1):
                if self._choice is not None:
                    reach = self._reach_of(0, self._chooser).own
                    self._at_roots(choose_to_play, self._choice, reach)
                self._queue_pass(player, UPDATE, row)
                if self._choice is not None and player == self._chooser:
                    boards, width = self._boards[0][player], self._layouts[0].width
                    self._at_roots(update_choice, self._choice, boards, width, self._value[0])

    def _at_roots(self, source: Any, *arguments: Any) -> None:
        blocks, threads = len(self.engines) * self._roots, _threads(self._layouts[0].width)
        _kernel(source)[blocks, threads, self._queue](*arguments)

    def _queue_pass(self, player: int, mode: int, row: int) -> None:
        """Queue one pass; `row` of the schedule has its discounts."""
        last = len(self._layouts) - 1
        for level in range(last):
            reach, chance = self._reach_of(level, player), self._layouts[level].chance
            more = self._reach_of(level + 1, player), self._value[level]
            self._launch(go_down, mode, level, player, reach, chance, self._schedule, row, *more)
        self._solve_rivers(player, mode, row)
        for level in range(last - 1, -1, -1):
            active, threads = self._active[level], _threads(self._layouts[level].width)
            tree, boards = self._trees[level][player], self._boards[level][player]
            blocks = len(active) * tree.next.shape[0]
            below, here = ((self._layouts[each].width, self._value[each]) for each in (level + 1, level))
            _kernel(add_boards)[blocks, threads, self._queue](active, tree, boards, *below, *here)
            self._launch(come_up, mode, level, player, self._schedule, row, *here)

    def _launch(self, source: Any, mode: int, level: int, player: int, *more: Any) -> None:
        active, threads = self._active[level], _threads(self._layouts[level].width)
        tree, boards = self._trees[level][player], self._boards[level][player]
        blocks = len(active) * len(tree.order)
        kernel = _kernel(source, MODE=mode, MOST=self._most)
        kernel[blocks, threads, self._queue](active, tree, boards, self._tables[level][player], *more)

    def _solve_rivers(self, player: int, mode: int, row: int) -> None:
        shape, active, level = self._river, self._active[-1], len(self._layouts) - 1
        warp = 2 if is_simulated() else 32
        kernel = _kernel(
            solve_rivers,
            MODE=mode,
            MOST=self._most,
            LANES=shape.lanes,
            SHARES=shape.shares,
            PIECE=-(-3 * self._layouts[-1].width // shape.threads) | 1,
            WARP=warp,
            STEPS=warp.bit_length() - 1,
        )
        tree = self._trees[-1][player]
        blocks = min(shape.blocks, len(active) * len(tree.order))
        before = self._reach_of(level, player), self._layouts[-1].chance, self._schedule, row
        kernel[blocks, shape.threads, self._queue, shape.memory](
            active, tree, self._boards[-1][player], self._tables[-1][player], *before,
            self._room, self._scratch, self._layouts[-1].width, self._value[-1],
        )  # fmt: skip

    def _reach_of(self, level: int, player: int) -> Reach:
        """The reach on the street before `level`."""
        one, two = self._reach[level].other, self._reach[level].own
        if level or player == 0:
            return self._reach[level]
        return Reach(two, one, self._reach[level].width)

    def _root_reach(self) -> Reach:
        """The weights of both players' hands, as the first player sees them."""
        width = self._weights.shape[2] // self._roots
        return Reach(to_gpu(self._weights[1]), to_gpu(self._weights[0]), width)

    def _new_choice(self, gadgets: Sequence[Gadget]) -> Choice:
        arrays = self._by_root([(each.value, *each.regret, each.base) for each in gadgets])
        value, play, leave, base = map(to_gpu, arrays)
        return Choice(value, play, leave, base, self._reach[0].width)

    def _by_root(self, rows: Sequence[Sequence[Reals]]) -> Any:
        """Arrays [roots, hands] of all spots as [kinds, spots, roots * hands], with rows of equal length."""
        most = max(np.shape(each)[-1] for engine in self.engines for each in engine.weights)
        found = np.zeros((len(rows[0]), len(rows), self._roots, most), np.float32)
        for spot, arrays in enumerate(rows):
            for kind, array in enumerate(arrays):
                found[kind, spot, :, : array.shape[-1]] = array
        return found.reshape(*found.shape[:2], -1)

    def _new_tables(self, level: int, layout: StreetLayout) -> list[Tables]:
        tables = [engine.levels[level].tables for engine in self.engines]
        locked = np.concatenate([each.locked for each in tables])
        if locked.any():
            regret = to_gpu(np.concatenate([each.regret for each in tables]))
            average = to_gpu(np.concatenate([each.average for each in tables]))
        else:
            regret, average = (zeros_on_gpu((max(layout.rows, 1),), np.float32) for _ in range(2))
        first, there = [to_gpu(layout.first[[player, 1 - player]]) for player in (0, 1)], to_gpu(locked)
        return [Tables(each, regret, average, there) for each in first]


def river_shape(layout: StreetLayout) -> RiverShape:
    """How the river is computed."""
    width, threads = layout.width, _threads(layout.width)
    slots = max(
        int(np.diff(tree.root[:, column]).max()) for tree in layout.trees for column in (SLOTS, OWN_SLOTS)
    )
    places = int(np.diff(layout.trees[0].root[:, PLACES]).max())
    sums = SINGLE_BYTES * (3 * width + 1)
    lanes = 4 if 4 * sums <= SUM_BYTES else 2
    memory, reach = lanes * sums, SINGLE_BYTES * slots * width
    shares = memory + reach <= SHARED_BYTES
    memory += reach if shares else 0
    blocks = min(len(layout.spot) * len(layout.trees[0].order), _resident_blocks(threads, memory))
    return RiverShape(threads, lanes, shares, memory, blocks, slots, places)


def memory_needed(streets: Sequence[Street], runouts: Sequence[Runouts]) -> float:
    """Bytes of GPU memory that a spot takes."""
    known = 0.0
    for street, boards in zip(streets, runouts, strict=True):
        betting, width, is_last = street.arrays, row_width([boards]), street.street == RIVER
        rows = len(betting.root) if is_last else len(betting.kind) + 2 * int(betting.slot_root[:, -1].max())
        known += SINGLE_BYTES * (2.0 * table_rows(street, boards).sum() + len(boards.card) * rows * width)
        known += HAND_BYTES * len(boards.pair)
    return MARGIN * known


def _require_memory(engines: Sequence[Engine]) -> None:
    needed, free = sum(memory_needed(each.streets, each.runouts) for each in engines), free_memory()
    if needed > free:
        raise FeltError(
            f"The spot needs {needed / 1e9:,.1f} GB on the GPU; of {gpu_name()}'s memory "
            f"{free / 1e9:,.1f} GB are free. Give fewer bet sizes or smaller ranges, or solve it on the CPU."
        )


def _resident_blocks(threads: int, memory: int) -> int:
    """How many blocks of the river's kernel run at once."""
    if is_simulated():
        return 2
    device = numba_cuda().get_current_device()
    by_registers = device.MAX_REGISTERS_PER_MULTIPROCESSOR // (REGISTERS * threads)
    by_memory = device.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR // (memory + BLOCK_BYTES)
    return int(device.MULTIPROCESSOR_COUNT * max(1, min(by_registers, by_memory)))


def _threads(width: int) -> int:
    """Threads of a block, a multiple of 32: as few as take the hands in the same number of rounds."""
    if is_simulated():
        return FEW_THREADS
    rounds = -(-width // MOST_THREADS)
    return -(-width // rounds // 32) * 32


def _value_shape(layout: StreetLayout) -> tuple[int, int]:
    """Values of a street: by place; on the river by root."""
    tree = layout.trees[0]
    return len(layout.spot), (len(tree.place) if len(tree.next) else len(tree.order)) * layout.width


def _reach_shape(layout: StreetLayout) -> tuple[int, int]:
    slots = max(int(tree.root[-1, column]) for tree in layout.trees for column in (SLOTS, OWN_SLOTS))
    return len(layout.spot), slots * layout.width


def _new_reach(layout: StreetLayout) -> Reach:
    other, own = (zeros_on_gpu(_reach_shape(layout), np.float32) for _ in range(2))
    return Reach(other, own, layout.width)


def _boards_to_gpu(layout: StreetLayout) -> Any:
    """Both players' views, which share most arrays."""
    first, second = layout.boards
    there = to_gpu(first)
    own = {name: to_gpu(getattr(second, name)) for name in ("board", "card", "back_first")}
    return [there, there._replace(**own)]


@cache
def _kernel(source: Any, **constants: Any) -> Any:
    if is_simulated():
        replaced = {shift_up: shift_up_simulated}
        return build_for_cuda(source, replaced, constants=constants | {"ALIGNED": None})
    return build_for_cuda(source, {}, REGISTERS if source is solve_rivers else 0, constants)
