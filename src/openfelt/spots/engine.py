"""Passes over a whole spot: updates, best responses and expected values, for all hands of a player.

The boards after the root's are divided into PARTS whose values are summed in order, so results do not depend
on the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from openfelt.core.jit import Floats, vector_kernel
from openfelt.spots.betting import Street
from openfelt.spots.decisions import Discounts, Reals
from openfelt.spots.runouts import Runouts
from openfelt.spots.traversal import (
    UPDATE,
    Level,
    Pass,
    Reach,
    Tables,
    Which,
    Workspace,
    begin,
    end,
    new_workspace,
    rivers,
)

PARTS = 8
NO_DISCOUNTS = (1.0, 1.0, 1.0)


def strategy_rows(level: Level, board: int, place: int) -> Reals:
    """[actions, hands] the sums of strategies of a decision on a board."""
    betting, tables = level.betting, level.tables
    player, actions = int(betting.kind[place]), int(betting.actions[place])
    size = int(level.runouts.size[player, board])
    first = int(tables.first[player, board]) + int(betting.entry[place]) * size
    table = tables.average_16 if len(tables.average_16) else tables.average
    return table[first : first + actions * size].reshape(actions, size).astype(np.float32)


def average_strategy(level: Level, board: int, place: int) -> Floats:
    """[actions, hands] the average strategy of a decision on a board; uniform for hands without any."""
    rows = strategy_rows(level, board, place).astype(np.float64)
    total = rows.sum(axis=0)
    return np.where(total > 0, rows / np.where(total > 0, total, 1.0), 1.0 / len(rows))


def write_strategy(level: Level, board: int, place: int, strategy: Reals) -> None:
    """Make a strategy [actions, hands] both the current and the average one of a decision on a board."""
    betting, tables = level.betting, level.tables
    player = int(betting.kind[place])
    first = int(tables.first[player, board]) + int(betting.entry[place]) * strategy.shape[1]
    rows = slice(first, first + strategy.size)
    if len(tables.average_16):
        tables.scale[:, board, betting.decision[place]] = 1 / 32767, 1 / 65535
        tables.regret_16[rows] = np.round(strategy.ravel() * 32767)
        tables.average_16[rows] = np.round(strategy.ravel() * 65535)
    else:
        tables.regret[rows] = tables.average[rows] = strategy.ravel()


class Gadget(NamedTuple):
    """A choice before the root, for safe re-solving: each of a player's hands may take a given value instead.

    Burch, Johanson & Bowling 2014, "Solving imperfect information games using decomposition". The choice is
    learned by regret matching+, as the rest is by discounted CFR.

    With a `base` each hand is also dealt, with this weight, to a player that must play on. The other player
    then minimizes what the range `base` gets at most, plus by how much each hand exceeds its value. If `base`
    is small, no hand exceeds its value in the solution where that is possible (an exact penalty).
    """

    player: int  # who has the choice; -1 for nobody
    value: Reals  # [roots, hands] what it gets instead, as a counterfactual value
    regret: Reals  # [2, roots, hands] of playing on and of taking the value
    base: Reals  # [roots, hands] reach of a hand that has no choice, added to that of the choice


class Engine:
    """The arrays of a spot, and passes over them in one type of numbers.

    Parameters
    ----------
    compress
        Whether tables have 16 bits.
    streets, runouts
        The betting trees and boards of each street.
    weights
        [2] the weights of each player's hands on the first board, in the order of its list. If the first
        street has several roots, whose places and slots on the previous street are their numbers:
        [roots, hands] for each player.
    """

    def __init__(
        self,
        streets: Sequence[Street],
        runouts: Sequence[Runouts],
        weights: Sequence[Floats],
        *,
        compress: bool = False,
    ) -> None:
        self.streets, self.runouts, self.weights = list(streets), list(runouts), list(weights)
        self.levels = tuple(
            Level(street.arrays, boards, new_tables(street, boards, compress=compress))
            for street, boards in zip(streets, runouts, strict=True)
        )
        self._passes: dict[tuple[type[Any], int], Passes] = {}

    def passes(self, kind: type[np.floating[Any]] = np.float32, threads: int = 1) -> Passes:
        """Passes whose sums are of a type of numbers; tables stay in single precision."""
        if (kind, threads) not in self._passes:
            self._passes[kind, threads] = Passes(self, kind, threads)
        return self._passes[kind, threads]

    def release(self) -> None:
        """Give back the workspace of passes and their threads; they are made again when needed."""
        for each in self._passes.values():
            each.close()
        self._passes.clear()


class Passes:
    """Traversals of a spot with their workspace."""

    def __init__(self, engine: Engine, kind: type[np.floating[Any]], threads: int) -> None:
        self.levels, self.kind = engine.levels, kind
        boards = engine.runouts[0].children[-1]
        self.parts = [boards * part // PARTS for part in range(PARTS + 1)] if len(self.levels) > 1 else [0]
        self.threads = min(threads, max(boards, 1), PARTS)
        last = len(self.levels) - 1
        # By thread and street; the threads share the first street.
        self.work = [
            [new_workspace(level, kind, last=number == last) for number, level in enumerate(self.levels)]
            for _ in range(self.threads)
        ]
        self.part_sums = np.zeros((len(self.parts) - 1, *self.work[0][0].value.shape), kind)
        weights = [np.atleast_2d(each) for each in engine.weights]
        self.sizes = [each.shape[1] for each in weights]
        roots, most = len(weights[0]), max(self.sizes) + 1
        self.root = np.zeros((2, roots, most), kind)  # both players' reach at the roots
        for player, each in enumerate(weights):
            self.root[player, :, : self.sizes[player]] = each
        self.sums = np.zeros((roots, most), kind)
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, player: int, mode: int, discounts: Sequence[float] = NO_DISCOUNTS) -> Reals:
        """One pass; returns the counterfactual value of each of the player's hands at the root."""
        return np.asarray(self.run_roots(player, mode, discounts)[0])

    def run_roots(self, player: int, mode: int, discounts: Sequence[float] = NO_DISCOUNTS) -> Reals:
        """One pass; returns the values [roots, hands]."""
        call = Pass(mode, Discounts(*map(self.kind, discounts)))
        before = Reach(self.root[1 - player], self.root[player])
        self.sums[:] = 0
        work = self.work[0]
        if len(self.levels) == 1:
            traverse(self.levels, player, 0, call, before, self.sums, work)
        else:
            begin(self.levels[0], player, 0, call, before, work[0])
            self._parts(player, call, Reach(work[0].reach, work[0].own))
            end(self.levels[0], player, 0, call, work[0], self.sums)
        return self.sums[:, : self.sizes[player]].copy()

    def _parts(self, player: int, call: Pass, before: Reach) -> None:
        """Traverse the boards after the first, and add up the values of their parts."""
        self.part_sums[:] = 0

        def compute(thread: int) -> None:
            for part in range(thread, PARTS, self.threads):
                boards = self.parts[part], self.parts[part + 1]
                traverse_all(
                    self.levels[1:], player, boards, call, before, self.part_sums[part], self.work[thread][1:]
                )

        if self._pool is None:
            compute(0)
        else:
            list(self._pool.map(compute, range(self.threads)))
        for sums in self.part_sums:
            self.work[0][0].value[:] += sums

    def update_river(self, schedule: Reals, gadget: Gadget) -> None:
        """Iterate on the river, in one call; `schedule` [iterations, 3] has the discounts."""
        _update_river(self.levels[0], self.root, schedule, gadget, self.sums, self.work[0][0])


def traverse_all(
    levels: Sequence[Level],
    player: int,
    boards: tuple[int, int],
    call: Pass,
    before: Reach,
    sums: Reals,
    work: Sequence[Workspace],
) -> None:
    """Traverse boards of a street with all that follows; add their values to `sums`."""
    if len(levels) == 1:
        which = Which(int(boards[0]), int(boards[1]), 0, len(levels[0].betting.batch) - 1)
        rivers(levels[0], player, which, call, before, sums, work[0])
    else:
        for board in range(*boards):
            traverse(levels, player, board, call, before, sums, work)


def traverse(
    levels: Sequence[Level],
    player: int,
    board: int,
    call: Pass,
    before: Reach,
    sums: Reals,
    work: Sequence[Workspace],
) -> None:
    """Traverse one board of a street with all that follows."""
    if len(levels) == 1:
        traverse_all(levels, player, (board, board + 1), call, before, sums, work)
        return
    begin(levels[0], player, board, call, before, work[0])
    children = levels[0].runouts.children
    reach = Reach(work[0].reach, work[0].own)
    below = int(children[board]), int(children[board + 1])
    traverse_all(levels[1:], player, below, call, reach, work[0].value, work[1:])
    end(levels[0], player, board, call, work[0], sums)


@vector_kernel
def _update_river(
    level: Level, root: Reals, schedule: Reals, gadget: Gadget, sums: Reals, work: Workspace
) -> None:
    for iteration in range(len(schedule)):
        row = schedule[iteration]
        call = Pass(UPDATE, Discounts(row[0], row[1], row[2]))
        for player in range(2):
            choose_to_play(gadget, root)
            sums[:] = 0
            before = Reach(root[1 - player], root[player])
            rivers(level, player, Which(0, 1, 0, len(level.betting.batch) - 1), call, before, sums, work)
            if player == gadget.player:
                update_choice(gadget, sums)


@vector_kernel
def choose_to_play(gadget: Gadget, root: Reals) -> None:
    """Set the roots' reach of the gadget's player to the probability of playing on, plus the base."""
    for row in range(len(gadget.value)):
        reach, play, leave = root[gadget.player, row], gadget.regret[0, row], gadget.regret[1, row]
        for hand in range(gadget.value.shape[1]):
            total = play[hand] + leave[hand]
            chance = play[hand] / total if total > 0 else 0.5
            reach[hand] = gadget.base[row, hand] + chance


@vector_kernel
def update_choice(gadget: Gadget, sums: Reals) -> None:
    """Update the regrets of the gadget, given the values of playing on."""
    for row in range(len(gadget.value)):
        play, leave = gadget.regret[0, row], gadget.regret[1, row]
        for hand in range(gadget.value.shape[1]):
            total = play[hand] + leave[hand]
            chance = play[hand] / total if total > 0 else 0.5
            gain = sums[row, hand] - gadget.value[row, hand]
            play[hand] = max(play[hand] + (1 - chance) * gain, 0.0)
            leave[hand] = max(leave[hand] - chance * gain, 0.0)


def new_gadget(player: int, values: Floats, base: Floats) -> Gadget:
    """A choice for a player, given values and base [roots, hands]."""
    regret = np.zeros((2, *values.shape), np.float32)
    return Gadget(player, values.astype(np.float32), regret, base.astype(np.float32))


def no_gadget() -> Gadget:
    """No choice before the root."""
    return new_gadget(-1, np.zeros((0, 0)), np.zeros((0, 0)))


def table_rows(street: Street, runouts: Runouts) -> np.ndarray[Any, np.dtype[np.int64]]:
    """[2, boards] how many numbers each table has for a player's decisions on a board."""
    return np.asarray(np.array(street.entries, np.int64)[:, None] * runouts.size)


def new_tables(street: Street, runouts: Runouts, *, compress: bool = False) -> Tables:
    """Empty tables for a street."""
    rows = table_rows(street, runouts).T.ravel()
    wide, narrow = (0, int(rows.sum())) if compress else (int(rows.sum()), 0)
    decisions = len(runouts.card), max(street.decisions, 1)
    return Tables(
        (np.cumsum(rows) - rows).reshape(-1, 2).T.copy(),
        np.zeros(wide, np.float32),
        np.zeros(wide, np.float32),
        np.zeros(narrow, np.int16),
        np.zeros(narrow, np.uint16),
        np.zeros((2, *decisions), np.float32),
        np.zeros(decisions, np.uint8),
    )
