"""Discounted CFR on a spot, to a target exploitability.

Brown & Sandholm 2019, "Solving imperfect-information games via discounted regret minimization", with
alternating updates, alpha = 3/2 and beta = 0. Departures: gamma = 3 instead of 2, and the average starts anew
after 1, 4 and 16 iterations, so that the first strategies do not stay in it. (postflop-solver has both, with
an average that starts anew at all powers of four; later ones turned out to slow convergence.)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from openfelt.cards.boards import PERMUTED_PAIR
from openfelt.cards.deck import PAIRS
from openfelt.core.cuda import choose_device
from openfelt.core.devices import CPU, CUDA
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.core.memory import machine_memory
from openfelt.spots.engine import (
    Engine,
    Gadget,
    choose_to_play,
    new_gadget,
    no_gadget,
    table_rows,
    update_choice,
)
from openfelt.spots.locks import Lock, LockedStrategy, apply_locks, lock_strategies
from openfelt.spots.runouts import Runouts, build_runouts, pairs_of, suit_symmetry
from openfelt.spots.spot import Spot, total_weight
from openfelt.spots.traversal import BEST_RESPONSE, EXPECTED, UPDATE

CHECK_EVERY = 10  # iterations between two measurements
ALPHA, GAMMA, NEGATIVE = 1.5, 3.0, 0.5
RESETS = (1, 4, 16)  # iterations at which the average starts anew
TABLE_BYTES = 8  # a regret and an average, for each action of each hand
OVERHEAD = 1.1  # workspace and lists of hands
MOST_MEMORY = 0.9  # of the machine's
MOST_THREADS = 1024
SAME = 1e-3  # relative differences up to this are rounding


class Budget(NamedTuple):
    """How long to iterate: until the first of both is used up."""

    iterations: int
    seconds: float = float("inf")


class Measured(NamedTuple):
    """The state of a solver, for a progress bar."""

    iterations: int
    exploitability: float  # percent of the pot
    seconds: float


Progress = Callable[[Measured], bool | None]  # returns True to stop


class SpotSolver:
    """Solves a spot; `run` may be called repeatedly.

    Parameters
    ----------
    spot : Spot
    locks : sequence of Lock
        Decisions whose strategy is given.
    gadget : (player, values) or (player, values, base), optional
        A player whose hands may take given counterfactual values instead of playing: safe re-solving. `base`
        is the range with which the player must play on (`engine.Gadget`).
    threads : int
        Threads; the result does not depend on their number.
    compress : bool
        Whether tables have 16 bits.
    device : {"cpu", "cuda", "auto"}
        A GPU solves spots with tables of 32 bits.
    """

    def __init__(
        self,
        spot: Spot,
        *,
        locks: tuple[Lock, ...] = (),
        gadget: tuple[int, Floats] | tuple[int, Floats, Floats] | None = None,
        threads: int = 1,
        compress: bool = False,
        device: str = CPU,
    ) -> None:
        if not 1 <= threads <= MOST_THREADS:
            raise FeltError(f"A spot is solved on 1 to {MOST_THREADS} threads, not {threads}.")
        self.spot, self.locks, self.threads = spot, locks, threads
        self.device = choose_device(device)
        if self.device == CUDA and compress:
            raise FeltError("A GPU solves spots with tables of 32 bits only.")
        strategies = lock_strategies(spot, locks)
        runouts = runouts_for(spot, strategies, [] if gadget is None else [_all_hands(spot, *gadget)])
        self.engine = new_engine(spot, runouts, compress=compress)
        apply_locks(self.engine, strategies)
        self.gadget = no_gadget() if gadget is None else _gadget(*gadget)
        self.iterations, self.seconds = 0, 0.0
        self.total_weight = total_weight(spot.ranges)
        gadgets = [self.gadget] if gadget is not None else []
        self._gpu = _gpu([self.engine], gadgets) if self.device == CUDA else None

    def run(
        self,
        iterations: int = 10_000,
        *,
        until: float = 0.0,
        seconds: float = float("inf"),
        progress: Progress | None = None,
    ) -> Measured:
        """Iterate until the exploitability is at most `until` percent of the pot, or a budget is used up."""
        start, before = time.perf_counter(), self.seconds
        last = self.iterations + iterations
        while True:
            self._update(min(CHECK_EVERY, last - self.iterations), start + seconds)
            self.seconds = before + time.perf_counter() - start
            measured = Measured(self.iterations, self.exploitability(), self.seconds)
            stop = progress is not None and progress(measured)
            if stop or measured.exploitability <= until or self.iterations >= last:
                return measured
            if time.perf_counter() - start >= seconds:
                return measured

    def iterate(self, iterations: int, *, seconds: float = float("inf")) -> int:
        """Iterate without measuring; returns the number of iterations done within the budget."""
        deadline, before = time.perf_counter() + seconds, self.iterations
        while self.iterations - before < iterations:
            self._update(min(CHECK_EVERY, before + iterations - self.iterations), deadline)
            if time.perf_counter() >= deadline:
                break
        return self.iterations - before

    def best_responses(self) -> tuple[float, float]:
        """What a best response of each player gets of the pot, in chips."""
        return self._values(BEST_RESPONSE)

    def values(self) -> tuple[float, float]:
        """What the average strategies of OOP and IP get of the pot, in chips."""
        return self._values(EXPECTED)

    def exploitability(self) -> float:
        """The mean over players of what a best response gains, in percent of the pot."""
        best = sum(self.best_responses())
        # Without rake the values of both players add up to the pot.
        values = sum(self.values()) if self.spot.rake else self.spot.pot
        return 50.0 * (best - values) / self.spot.pot

    def fetch(self) -> None:
        """Copy the tables of a GPU to the engine."""
        if self._gpu is not None:
            self._gpu.fetch()

    def in_chips(self, player: int, values: Floats) -> float:
        """What a player gets of the pot, given the counterfactual values of its hands."""
        return float(values @ self.engine.weights[player]) / self.total_weight + self.spot.pot / 2

    def _values(self, mode: int) -> tuple[float, float]:
        first, second = (self.in_chips(player, self._hand_values(player, mode)) for player in (0, 1))
        return first, second

    def _hand_values(self, player: int, mode: int) -> Floats:
        if self._gpu is not None:
            return np.asarray(self._gpu.run(player, mode).values(player)[0])
        passes = self.engine.passes(np.float32, self.threads)
        for each, weights in enumerate(self.engine.weights):  # updates with a gadget change them
            passes.root[each, 0, : len(weights)] = weights
        return passes.run(player, mode).astype(np.float64)

    def _update(self, count: int, deadline: float) -> None:
        if self._gpu is not None:
            self._gpu.iterate(self.iterations, count)
            self._gpu.wait()  # for the time
            self.iterations += count
            return
        passes = self.engine.passes(np.float32, self.threads)
        if len(self.engine.levels) == 1:
            schedule = [discounts(self.iterations + each) for each in range(count)]
            passes.update_river(np.array(schedule, np.float32).reshape(-1, 3), self.gadget)
            self.iterations += count
            return
        for _ in range(count):
            weights = discounts(self.iterations)
            for player in (0, 1):
                choose_to_play(self.gadget, passes.root)
                passes.run(player, UPDATE, weights)
                if player == self.gadget.player:
                    update_choice(self.gadget, passes.sums)
            self.iterations += 1
            if time.perf_counter() > deadline:
                return


def discounts(iteration: int) -> tuple[float, float, float]:
    """The factors of positive regrets, negative regrets and the average in an iteration, counted from 0."""
    power = float(max(iteration - 1, 0)) ** ALPHA
    start = max((each for each in RESETS if each <= iteration), default=0)
    age = iteration - start
    return power / (power + 1), NEGATIVE, (age / (age + 1)) ** GAMMA


def new_engine(spot: Spot, runouts: Sequence[Runouts], *, compress: bool = False) -> Engine:
    """The tables of a spot, all zero; refused if they do not fit into memory."""
    needed = memory_needed(spot, runouts, compress=compress)
    if needed > MOST_MEMORY * machine_memory():
        raise FeltError(
            f"The spot needs {needed / 1e9:,.1f} GB of memory and this machine has "
            f"{machine_memory() / 1e9:,.1f} GB; give fewer bet sizes or smaller ranges, or compress "
            "the tables."
        )
    weights = [spot.ranges[player][first_hands(runouts[0], player)] for player in (0, 1)]
    return Engine(spot.streets, runouts, weights, compress=compress)


def _gpu(engines: Sequence[Engine], gadgets: Sequence[Gadget]) -> Any:
    from openfelt.spots.gpu.engine import GpuEngine

    return GpuEngine(engines, gadgets)


def runouts_for(spot: Spot, locks: Sequence[LockedStrategy], rows: Sequence[Floats] = ()) -> list[Runouts]:
    """The boards of a spot, unmerged if locks, or rows [1326] of a gadget, tell suits apart."""
    group = suit_symmetry(spot.cards, spot.ranges)
    by_board = any(callable(each.strategy) for each in locks)
    if by_board and len(group) > 1:
        return build_runouts(spot.cards, spot.ranges, merge=False)
    of_locks = [row for each in locks if not callable(each.strategy) for row in each.strategy]
    for row in [*of_locks, *rows]:
        top = max(float(np.abs(row).max()), 1e-12)
        if any(np.abs(row[PERMUTED_PAIR[suits]] - row).max() > SAME * top for suits in group):
            return build_runouts(spot.cards, spot.ranges, merge=False)
    return spot.runouts


def memory_needed(
    spot: Spot, runouts: Sequence[Runouts] | None = None, *, compress: bool = False, device: str = CPU
) -> float:
    """Bytes that solving a spot takes, on the CPU or on a GPU."""
    if device == CUDA:
        from openfelt.spots.gpu.engine import memory_needed as gpu_memory_needed

        return gpu_memory_needed(spot.streets, spot.runouts if runouts is None else runouts)
    each = TABLE_BYTES / 2 if compress else TABLE_BYTES
    return OVERHEAD * sum(
        each * float(table_rows(street, boards).sum())
        for street, boards in zip(spot.streets, spot.runouts if runouts is None else runouts, strict=True)
    )


def first_hands(runouts: Runouts, player: int) -> Any:
    """The pairs of a player on the first board, in the order of `Runouts.parent`: by number."""
    return np.sort(pairs_of(runouts, player, 0))


def _all_hands(spot: Spot, player: int, values: Floats, *_: object) -> Floats:
    """[1326] the values of a player's hands on the first board."""
    row = np.zeros(PAIRS)
    row[first_hands(spot.runouts[0], player)] = values
    return row


def _gadget(player: int, values: Floats, base: Floats | None = None) -> Gadget:
    return new_gadget(player, values[None], np.zeros((1, len(values))) if base is None else base[None])
