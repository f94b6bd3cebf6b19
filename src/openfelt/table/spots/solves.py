"""Solves spots in the background: one at a time, within limits of memory and time; keeps the solutions."""

from __future__ import annotations

import os
import secrets
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NamedTuple

from openfelt.core.errors import FeltError, MissingError
from openfelt.spots.locks import Lock as SpotLock, lock_strategies
from openfelt.spots.solution import Solution
from openfelt.spots.solver import Measured, memory_needed, runouts_for
from openfelt.spots.spot import Spot
from openfelt.table.spots.archive import read_archive, write_archive
from openfelt.table.spots.form import SpotForm, form_json, form_of
from openfelt.table.spots.locks import Source, make_locks
from openfelt.table.spots.view import comparison_json, position_json, runouts_json

COMPILING, SOLVING, DONE, FAILED = "compiling", "solving", "done", "failed"
MOST_THREADS = 8
CACHED_POSITIONS = 40  # of a solution
KEPT_SOURCES = 20  # policies of bots
KEY_BYTES = 18


class Limits(NamedTuple):
    """What the solves of a server may use."""

    memory: float = 2e9  # bytes of one spot
    kept: float = 4e9  # bytes of all solutions, with the one that is computed
    solutions: int = 20
    cpu_seconds: float = 600.0  # of one solve
    unattended: float = 120.0  # seconds without a question about its status, after which a solve is stopped


class BusyError(FeltError):
    """Another spot is being solved."""


@dataclass
class Solve:
    """One solve. The thread that runs it writes `state`, `measured`, `solution` and `error`."""

    form: SpotForm
    memory: float
    asked: float  # when somebody last asked for its status, by the monotonic clock
    state: str = COMPILING
    began: float | None = None  # when the first iteration began
    measured: Measured | None = None
    solution: Solution | None = None
    error: str | None = None
    stopping: bool = False
    is_loaded: bool = False  # from a file
    positions: OrderedDict[tuple[str, str], dict[str, Any]] = field(default_factory=OrderedDict)

    @property
    def is_running(self) -> bool:
        return self.state in (COMPILING, SOLVING)


class SpotSolves:
    """All solves of a server, by a random key: whoever has it can see the solution, nobody else.

    `status` and `stop` return at once and may be called from any thread. `check`, `start` and `load` are
    called from one thread, `position`, `runouts`, `compare` and `save` from one other.
    """

    def __init__(self, limits: Limits | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self.limits, self._now = limits or Limits(), now
        self._solves: OrderedDict[str, Solve] = OrderedDict()
        self._sources: OrderedDict[str, Source] = OrderedDict()
        self._lock = Lock()
        self._is_compiled = False

    def check(self, form: SpotForm) -> dict[str, Any]:
        """The memory that a spot needs, and whether it is within the limit."""
        memory = _memory(form, self._locks(form))
        decisions = sum(street.decisions for street in form.spot.streets)
        allowed = memory <= self.limits.memory
        return {
            "memory": round(memory),
            "limit": round(self.limits.memory),
            "decisions": decisions,
            "allowed": allowed,
            "sentence": None if allowed else self._too_large(memory),
        }

    def start(self, form: SpotForm) -> str:
        """Start a solve; returns its key. Raises FeltError if the spot is too large or the solver is busy."""
        self._require_free()
        locks = self._locks(form)
        memory = _memory(form, locks)
        if memory > self.limits.memory:
            raise FeltError(self._too_large(memory))
        solve = Solve(form, memory, self._now())
        key = self._add(_new_key(), solve)
        Thread(target=self._run, args=(solve, locks), name="spot-solver", daemon=True).start()
        return key

    def load(self, path: Path) -> str:
        """Read the archive of a solution; returns its key."""
        self._require_free()
        key, solution = _new_key(), read_archive(path, self.limits.memory)
        form = form_of(solution, key)
        solve = Solve(form, memory_needed(solution.spot, solution.engine.runouts), self._now(), DONE)
        solve.solution, solve.is_loaded = solution, True
        solve.measured = Measured(solution.iterations, solution.exploitability, solution.seconds)
        return self._add(key, solve)

    def save(self, key: str, path: Path) -> None:
        """Write the archive of a solution."""
        write_archive(self._solution(key), path)

    def offer(self, source: Source) -> str:
        """Keep a strategy to which decisions can be locked; returns its key."""
        with self._lock:
            key = _new_key()
            self._sources[key] = source
            if len(self._sources) > KEPT_SOURCES:
                self._sources.popitem(last=False)
        return key

    def status(self, key: str) -> dict[str, Any]:
        """The progress of a solve, or its result."""
        solve = self._find(key)
        solve.asked = self._now()
        measured = solve.measured
        facts: dict[str, Any] = {
            "state": "stopping" if solve.stopping and solve.is_running else solve.state,
            "form": form_json(solve.form),
            "memory": round(solve.memory),
            "iterations": measured.iterations if measured else 0,
            "exploitability": round(measured.exploitability, 4) if measured else None,
            "seconds": round(measured.seconds, 2) if measured else self._elapsed(solve),
            "limit_seconds": round(self.limits.cpu_seconds / thread_count(), 1),
            "error": solve.error,
            "loaded": solve.is_loaded,
        }
        if solve.solution is not None:
            facts["values"] = [round(value, 4) for value in solve.solution.values]
        return facts

    def stop(self, key: str) -> None:
        """Stop a solve at its next measurement; what it has found so far is kept."""
        self._find(key).stopping = True

    def position(self, key: str, line: str) -> dict[str, Any]:
        """A position of a solution (see `position_json`)."""
        return self._look_up(key, line, position_json)

    def runouts(self, key: str, line: str) -> dict[str, Any]:
        """All cards after a line of a solution (see `runouts_json`)."""
        return self._look_up(key, line, runouts_json)

    def compare(self, key: str, other: str, line: str) -> dict[str, Any]:
        """A decision of two solutions (see `comparison_json`)."""
        return comparison_json(self._solution(key), self._solution(other), line)

    def close(self) -> None:
        """Stop what is running."""
        for solve in list(self._solves.values()):
            solve.stopping = True

    def _elapsed(self, solve: Solve) -> float:
        return 0.0 if solve.began is None else round(self._now() - solve.began, 1)

    def _look_up(
        self, key: str, line: str, compute: Callable[[Solution, str], dict[str, Any]]
    ) -> dict[str, Any]:
        solve, solution = self._find(key), self._solution(key)
        entry = compute.__name__, line
        if entry not in solve.positions:
            solve.positions[entry] = compute(solution, line)
            if len(solve.positions) > CACHED_POSITIONS:
                solve.positions.popitem(last=False)
        solve.positions.move_to_end(entry)
        return solve.positions[entry]

    def _find(self, key: str) -> Solve:
        solve = self._solves.get(key)
        if solve is None:
            raise MissingError("This solution does not exist or is no longer kept; solve the spot again.")
        return solve

    def _solution(self, key: str) -> Solution:
        solve = self._find(key)
        if solve.solution is None:
            raise FeltError(solve.error or "The spot is still being solved.")
        return solve.solution

    def _locks(self, form: SpotForm) -> list[SpotLock]:
        return make_locks(form.spot, form.locks, self._source)

    def _source(self, key: str) -> Source:
        source = self._sources.get(key)
        return self._solution(key) if source is None else source

    def _add(self, key: str, solve: Solve) -> str:
        with self._lock:
            self._require_free()
            self._make_room(solve.memory)
            self._solves[key] = solve
        return key

    def _require_free(self) -> None:
        if any(solve.is_running for solve in list(self._solves.values())):
            raise BusyError("Another spot is being solved on this server; try again when it is done.")

    def _make_room(self, memory: float) -> None:
        """Forget the oldest solutions until a new one fits."""
        while self._solves and (
            len(self._solves) >= self.limits.solutions
            or sum(solve.memory for solve in self._solves.values()) + memory > self.limits.kept
        ):
            self._solves.popitem(last=False)

    def _too_large(self, memory: float) -> str:
        return (
            f"The spot needs {gigabytes(memory)} of memory and this server allows "
            f"{gigabytes(self.limits.memory)}; give fewer bet sizes, smaller ranges or a later street."
        )

    def _run(self, solve: Solve, locks: list[SpotLock]) -> None:
        try:
            if not self._is_compiled:
                compile_kernels()
                self._is_compiled = True
            solve.began, solve.state = self._now(), SOLVING
            threads = thread_count()
            solution = solve.form.spot.solve(
                solve.form.until,
                seconds=self.limits.cpu_seconds / threads,
                threads=threads,
                locks=locks,
                compress=solve.form.compress,
                progress=lambda measured: self._report(solve, measured),
            )
            solve.measured = Measured(solution.iterations, solution.exploitability, solution.seconds)
            solve.solution = solution
            solve.state = DONE
        except FeltError as error:
            solve.error, solve.state = str(error), FAILED
        except MemoryError:
            solve.error = "The machine ran out of memory; give fewer bet sizes or smaller ranges."
            solve.state = FAILED
        except Exception:
            traceback.print_exc()
            solve.error, solve.state = "Internal error of the server; see its output.", FAILED

    def _report(self, solve: Solve, measured: Measured) -> bool:
        solve.measured = measured
        return solve.stopping or self._now() - solve.asked > self.limits.unattended


def compile_kernels() -> None:
    """Compile the kernels of the solver, or load them from the cache: solve two small spots."""
    for board in ("2c3d4h8s9s", "2c3d4h8s"):
        spot = Spot(oop="AA", ip="KK", board=board, pot=10, stack=10, bets="100%")
        spot.solve(iterations=1).node()


def _memory(form: SpotForm, locks: list[SpotLock]) -> float:
    """Bytes that a form needs; locks can keep isomorphic boards apart."""
    runouts = runouts_for(form.spot, lock_strategies(form.spot, locks)) if locks else None
    return memory_needed(form.spot, runouts, compress=form.compress)


def _new_key() -> str:
    return secrets.token_urlsafe(KEY_BYTES)


def thread_count() -> int:
    """Threads of a solve: one core is left to the table."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores - 1, MOST_THREADS))


def gigabytes(memory: float) -> str:
    """A size in words: "1.5 GB", "12 MB"."""
    return f"{memory / 1e9:,.1f} GB" if memory >= 1e9 else f"{max(memory / 1e6, 0.1):,.1f} MB"
