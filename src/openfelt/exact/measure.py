"""How exploitable a player of two-player hold'em is, over all flops or a sample; kept on the way."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from openfelt.base.cuda import choose_device
from openfelt.base.devices import CPU
from openfelt.base.errors import FeltError, FileError
from openfelt.base.files import MANIFEST, load_folder, save_folder
from openfelt.base.jit import Floats, Longs
from openfelt.exact.best_response import CLASSES, Before, FlopSolver, Task, before_flop, gains
from openfelt.exact.deals import Deck
from openfelt.exact.leaks import Leaks, put_together
from openfelt.exact.player import Anyone, Mixture, Player
from openfelt.rules.holdem import BIG_BLIND

FOLDER = "flops"  # the kind of folder that is kept
OFTEN = 30.0  # seconds from one saving to the next
CONFIDENCE = 1.96  # standard errors of a 95% interval
BEST = "a best response"
PRECISION = "single"  # as on a GPU; tests compare it with double
SEATS = ("big blind", "dealer")


@dataclass(frozen=True)
class Sample:
    """Which flops are worked out, and how often each counts."""

    kinds: Longs  # numbers among the kinds of flops
    times: Longs  # how often each was drawn
    draws: int  # 0: all flops, each once

    @property
    def is_all(self) -> bool:
        return not self.draws


def all_flops(deck: Deck) -> Sample:
    """Each kind once."""
    count = len(deck.flops)
    return Sample(np.arange(count), np.ones(count, np.int64), 0)


def some_flops(deck: Deck, draws: int, seed: int) -> Sample:
    """Drawn as they are dealt, with replacement."""
    ways = np.array([flop.ways for flop in deck.flops], float)
    drawn = np.random.default_rng(seed).choice(len(ways), draws, p=ways / ways.sum())
    kinds, times = np.unique(drawn, return_counts=True)
    return Sample(kinds, times, draws)


@dataclass(frozen=True)
class Exploit:
    """What a player wins from another, in chips a hand by seat (of the one who wins)."""

    name: str  # from whom
    against: str  # by whom: a best response, or a player
    won: tuple[float, ...]
    error: float  # the standard error of its mean, if flops were drawn; 0 over all
    flops: int  # drawn; 0 for all
    seconds: float
    device: str
    leaks: tuple[Leaks, ...] = ()  # by seat, if they were asked for

    def seen_by_the_other(self) -> Exploit:
        """What he wins who loses here."""
        won = tuple(-each for each in reversed(self.won))
        return replace(self, name=self.against, against=self.name, won=won)

    @property
    def mbb(self) -> float:
        """The mean of the seats, in thousandths of a big blind a hand; of a best response: exploitability."""
        return 1000 * float(np.mean(self.won)) / BIG_BLIND

    @property
    def by_seat(self) -> list[float]:
        return [1000 * won / BIG_BLIND for won in self.won]

    @property
    def interval(self) -> float:
        """Half the width of the 95% interval, in mbb/g; 0 over all flops."""
        return 1000 * CONFIDENCE * self.error / BIG_BLIND

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "against": self.against,
            "mbb_per_game": self.mbb,
            "interval_95": [self.mbb - self.interval, self.mbb + self.interval],
            "by_seat": self.by_seat,
            "flops": self.flops or "all",
            "seconds": self.seconds,
            "device": self.device,
            **({"leaks": [leaks.as_dict() for leaks in self.leaks]} if self.leaks else {}),
        }


class Measure:
    """Works out what a seat wins, flop after flop, on a device."""

    def __init__(
        self,
        other: Anyone,
        ours: Player | None = None,
        *,
        leaks: bool = False,
        sample: Sample | None = None,
        deck: Deck | None = None,
        device: str = CPU,
        threads: int = 1,
        folder: Path | None = None,
    ) -> None:
        """If `ours` is not given, a best response is asked for; with `leaks` also where it gains on him whom
        it answers, in its own seat. What is in `folder` is gone on with.
        """
        self.deck = deck or Deck()
        self.device = choose_device(device)
        if leaks and isinstance(other, Mixture):
            raise FeltError("Leaks are told of one player, not of a mixture.")
        himself = other if isinstance(other, Player) and leaks else ours
        self._tasks = [Task(other, seat, himself, leaks) for seat in range(2)]
        self._sample, self._threads, self._folder = sample or all_flops(self.deck), threads, folder
        count, entries = len(self._sample.kinds), len(other.betting.entries)
        self.values = np.zeros((2, count, entries, CLASSES))
        streets = other.betting.streets if leaks else ()
        # By seat and street, what is gained there in all.
        self.gained = [[np.zeros((each.entries, CLASSES)) for each in streets] for _ in range(2)]
        self.done = np.zeros((2, count), np.bool_)
        self.seconds = 0.0
        if folder is not None and (folder / MANIFEST).exists():
            self._go_on(folder)

    @property
    def _facts(self) -> dict[str, Any]:
        digest = hashlib.sha256(f"{self.deck} {self.device} {self._tasks[0].leaks}".encode())
        for player in (self._tasks[0].other, self._tasks[0].ours):
            for part, weight in zip(player.parts, player.weights, strict=True) if player else ():
                for array in (weight, part.probabilities, *part.layout, *part.buckets[:2]):
                    digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(self._sample.kinds.tobytes())
        return {"of": self._tasks[0].other.name, "fingerprint": digest.hexdigest()[:32]}

    def _go_on(self, folder: Path) -> None:
        arrays, facts = load_folder(folder, FOLDER)
        if facts.get("fingerprint") != self._facts["fingerprint"]:
            raise FileError(
                f"{folder} holds values of {facts.get('of')}, or of other flops, with leaks or without, or "
                "from another device."
            )
        self.values, self.done = np.array(arrays["values"]), np.array(arrays["done"])
        for seat, streets in enumerate(self.gained):
            for street, total in enumerate(streets):
                total[:] = arrays[f"gained-{seat}-{street}"]
        self.seconds = float(facts["seconds"])

    def _keep(self) -> None:
        if self._folder is not None:
            arrays = {"values": self.values, "done": self.done}
            for seat, streets in enumerate(self.gained):
                arrays |= {f"gained-{seat}-{street}": total for street, total in enumerate(streets)}
            save_folder(self._folder, FOLDER, arrays, {**self._facts, "seconds": self.seconds})

    def run(self, progress: Callable[[float], object] = lambda _: None) -> Exploit:
        """Work out what is missing; `progress` is told the share of all work that was done."""
        share, weights = 1.0 / self.done.size, self._weights()
        progress(share * float(self.done.sum()))
        begun = saved = time.monotonic()
        try:
            for seat, task in enumerate(self._tasks):
                missing = np.flatnonzero(~self.done[seat])
                if not len(missing):
                    continue
                for place, found in self._solved(task, missing):
                    self.values[seat, place] = found.values[0]
                    for total, gained in zip(self.gained[seat], found.leaks, strict=True):
                        total += weights[place] * gained
                    self.done[seat, place] = True
                    progress(share)
                    now = time.monotonic()
                    self.seconds += now - begun
                    begun = now
                    if now - saved > OFTEN:
                        self._keep()
                        saved = now
        finally:
            self._keep()
        return self._result()

    def _solved(self, task: Task, missing: Longs) -> Any:
        flops = [self.deck.flops[self._sample.kinds[place]] for place in missing]
        if self.device != CPU:
            from openfelt.exact.gpu import GpuSolver

            yield from zip(missing, GpuSolver(task, self.deck).solve_all(flops), strict=True)
            return
        solver = FlopSolver(task, self.deck, PRECISION)
        with ThreadPoolExecutor(self._threads) as pool:
            yield from zip(missing, pool.map(solver.solve, flops), strict=True)

    def _result(self) -> Exploit:
        task, live = self._tasks[0], self.deck.pairs > 0
        found = [
            before_flop(task, self.deck, self.at_flop(seat), best=task.best)
            for seat, task in enumerate(self._tasks)
        ]
        won = tuple(float(before.value[live].mean()) for before in found)
        error = 0.0 if self._sample.is_all else self._error(found)
        against = BEST if task.best or task.ours is None else task.ours.name
        leaks = tuple(map(self._leaks, range(2), found)) if task.leaks else ()
        drawn = self._sample.draws
        return Exploit(task.other.name, against, won, error, drawn, self.seconds, self.device, leaks)

    def _leaks(self, seat: int, best: Before) -> Leaks:
        task, at_flop = self._tasks[seat], self.at_flop(seat)
        first = best.value - before_flop(task, self.deck, at_flop, best=False).value
        later = [gain * self.deck.chances[0] for gain in self.gained[seat]]
        return put_together(task.other.betting, self.deck, first, later, best.chosen)

    def at_flop(self, seat: int) -> Floats:
        """[entries, 169] what hands are worth where the flop begins, over all flops, or estimated so."""
        return np.asarray((self.values[seat] * self._weights()[:, None, None]).sum(axis=0))

    def _weights(self) -> Floats:
        """How much each flop counts: in a sample, as often as it was drawn in the place of all."""
        if self._sample.is_all:
            return np.ones(len(self._sample.kinds))
        ways = np.array([flop.ways for flop in self.deck.flops], float)
        return np.asarray(self._sample.times * ways.sum() / ways[self._sample.kinds] / self._sample.draws)

    def _error(self, found: list[Before]) -> float:
        """The standard error of the mean of the seats, which share the flops."""
        times, draws = self._sample.times, self._sample.draws
        worth = np.zeros(len(times))  # what each draw says that the flops are worth
        for seat, before in enumerate(found):
            per_flop = (self.values[seat] * gains(self._tasks[seat], self.deck, before)).sum(axis=(1, 2))
            worth += per_flop * self._weights() * draws / times / len(found)
        mean = (worth * times).sum() / draws
        return float(np.sqrt((times * (worth - mean) ** 2).sum() / (draws - 1) / draws))


def measure_exploit(
    other: Anyone, ours: Player | None = None, *, flops: int = 0, seed: int = 0, **how: Any
) -> Exploit:
    """What a best response wins from a player, or what `ours` does; over all flops, or some at random."""
    deck = Deck()
    if flops and flops < 2:
        raise FeltError("An estimate needs two flops or more.")
    sample = some_flops(deck, flops, seed) if flops else all_flops(deck)
    progress = how.pop("progress", lambda _: None)
    return Measure(other, ours, sample=sample, deck=deck, **how).run(progress)
