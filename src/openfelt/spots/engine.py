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
    Workspace,
    begin,
    end,
    new_workspace,
    river,
    rivers,
    turns,
)

PARTS = 8
NO_DISCOUNTS = (1.0, 1.0, 1.0)


class Gadget(NamedTuple):
    """A choice before the root, for safe re-solving: each of a player's hands may take a given value instead.

    Burch, Johanson & Bowling 2014, "Solving imperfect information games using decomposition". The choice is
    learned by regret matching+, as the rest is by discounted CFR.
    """

    player: int  # who has the choice; -1 for nobody
    value: Reals  # [hands] what it gets instead, as a counterfactual value
    regret: Reals  # [2, hands] of playing on and of taking the value


class Engine:
    """The arrays of a spot, and passes over them in one type of numbers.

    Parameters
    ----------
    streets, runouts
        The betting trees and boards of each street.
    weights
        [2] the weights of each player's hands on the first board, in the order of its list.
    """

    def __init__(
        self, streets: Sequence[Street], runouts: Sequence[Runouts], weights: Sequence[Floats]
    ) -> None:
        self.streets, self.runouts, self.weights = list(streets), list(runouts), list(weights)
        self.levels = tuple(
            Level(street.arrays, boards, new_tables(street, boards))
            for street, boards in zip(streets, runouts, strict=True)
        )
        self._passes: dict[tuple[type[Any], int], Passes] = {}

    def passes(self, kind: type[np.floating[Any]] = np.float32, threads: int = 1) -> Passes:
        """Passes whose sums are of a type of numbers; tables stay in single precision."""
        if (kind, threads) not in self._passes:
            self._passes[kind, threads] = Passes(self, kind, threads)
        return self._passes[kind, threads]


class Passes:
    """Traversals of a spot with their workspace."""

    def __init__(self, engine: Engine, kind: type[np.floating[Any]], threads: int) -> None:
        self.levels, self.kind = engine.levels, kind
        self.parts = _parts(int(engine.runouts[0].children[-1])) if len(self.levels) > 1 else None
        self.threads = min(threads, len(self.parts) - 1) if self.parts is not None else 1
        last = len(self.levels) - 1
        self.top = new_workspace(self.levels[0], kind, last=last == 0)
        self.below = [
            tuple(
                new_workspace(level, kind, last=number == last)
                for number, level in enumerate(self.levels)
                if number
            )
            for _ in range(self.threads)
        ]
        if self.parts is not None:
            self.part_sums = np.zeros((len(self.parts) - 1, *self.top.value.shape), kind)
        most = max(map(len, engine.weights)) + 1
        self.root = np.zeros((2, 1, most), kind)  # both players' reach at the root
        for player, weights in enumerate(engine.weights):
            self.root[player, 0, : len(weights)] = weights
        self.sums = np.zeros((1, most), kind)
        self.sizes = [len(weights) for weights in engine.weights]
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def run(
        self, player: int, mode: int, discounts: Sequence[float] = NO_DISCOUNTS, root: Reals | None = None
    ) -> Reals:
        """One pass; returns the counterfactual value of each of the player's hands at the root.

        `root` [2, 1, hands]: both players' reach, if it is not that of their ranges.
        """
        root = self.root if root is None else root
        call = Pass(mode, Discounts(*map(self.kind, discounts)))
        before = Reach(root[1 - player], root[player])
        self.sums[:] = 0
        if self.parts is None:
            river(self.levels[0], player, 0, call, before, self.sums, self.top)
        else:
            begin(self.levels[0], player, 0, call, before, self.top)
            self._below(player, call)
            end(self.levels[0], player, 0, call, self.top, self.sums)
        return self.sums[0, : self.sizes[player]].copy()

    def _below(self, player: int, call: Pass) -> None:
        assert self.parts is not None
        parts, reach = len(self.parts) - 1, Reach(self.top.reach, self.top.own)
        self.part_sums[:] = 0
        traverse = rivers if len(self.levels) == 2 else turns

        def work(thread: int) -> None:
            some = parts * thread // self.threads, parts * (thread + 1) // self.threads
            traverse(
                *(self.levels[1:], player, self.parts, some, call, reach, self.part_sums), self.below[thread]
            )

        if self._pool is None:
            work(0)
        else:
            list(self._pool.map(work, range(self.threads)))
        for sums in self.part_sums:
            self.top.value[:] += sums

    def update_river(self, schedule: Reals, gadget: Gadget) -> None:
        """Iterations of a spot on the river, in one call: `schedule` has the discounts of each [iterations, 3]."""
        _update_river(self.levels[0], self.root, schedule, gadget, self.sums, self.top)


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
            river(level, player, 0, call, Reach(root[1 - player], root[player]), sums, work)
            if player == gadget.player:
                update_choice(gadget, sums)


@vector_kernel
def choose_to_play(gadget: Gadget, root: Reals) -> None:
    """Set the root's reach of the gadget's player to the probability of playing on."""
    if gadget.player >= 0:
        reach = root[gadget.player, 0]
        for hand in range(len(gadget.value)):
            total = gadget.regret[0, hand] + gadget.regret[1, hand]
            reach[hand] = gadget.regret[0, hand] / total if total > 0 else 0.5


@vector_kernel
def update_choice(gadget: Gadget, sums: Reals) -> None:
    """Update the regrets of the gadget, given the values of playing on."""
    for hand in range(len(gadget.value)):
        total = gadget.regret[0, hand] + gadget.regret[1, hand]
        chance = gadget.regret[0, hand] / total if total > 0 else 0.5
        play, leave = sums[0, hand], gadget.value[hand]
        mean = chance * play + (1 - chance) * leave
        gadget.regret[0, hand] = max(gadget.regret[0, hand] + (play - mean), 0.0)
        gadget.regret[1, hand] = max(gadget.regret[1, hand] + (leave - mean), 0.0)


def no_gadget(kind: type[np.floating[Any]] = np.float32) -> Gadget:
    """No choice before the root."""
    return Gadget(-1, np.zeros(0, kind), np.zeros((2, 0), kind))


def table_rows(street: Street, runouts: Runouts) -> np.ndarray[Any, np.dtype[np.int64]]:
    """[2, boards] how many numbers each table has for a player's decisions on a board."""
    return np.asarray(np.array(street.entries, np.int64)[:, None] * runouts.size)


def new_tables(street: Street, runouts: Runouts) -> Tables:
    """Empty tables for a street."""
    rows = table_rows(street, runouts).T.ravel()
    first = (np.cumsum(rows) - rows).reshape(-1, 2).T.copy()
    regret, average = np.zeros(rows.sum(), np.float32), np.zeros(rows.sum(), np.float32)
    return Tables(first, regret, average, np.zeros((len(runouts.card), max(street.decisions, 1)), np.uint8))


def _parts(boards: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    count = min(PARTS, boards)
    return np.array([boards * part // count for part in range(count + 1)], np.int32)
