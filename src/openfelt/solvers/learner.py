"""What the Monte-Carlo learners share: random streams, and several threads on one set of tables.

With one thread and one seed the tables are the same to the bit, however a run is cut into pieces. With
several threads they are not. Large tables are then shared without locks. Small ones, whose cache lines the
threads would tear from each other at every step, are copied for each thread, which every so often (some
thousand episodes) adds what it learned to the common ones and takes over what the others did.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.base.random import Stream, streams
from openfelt.solvers.solver import MOST_THREADS, Solver
from openfelt.traverse.episode import episode_tree, longest_path

Tables: TypeAlias = dict[str, NDArray[Any]]
# Brings what one thread has into the common table: (common, own, what own was at first, threads).
Merge: TypeAlias = Callable[[NDArray[Any], NDArray[Any], NDArray[Any], int], object]

SHARED_FROM = 4_000_000  # bytes of tables from which threads share them
APART = 0.002  # seconds that a thread learns on its own copy


def add(common: NDArray[Any], own: NDArray[Any], before: NDArray[Any], threads: int) -> None:
    """Sums: what the thread has added."""
    common += own - before


def average(common: NDArray[Any], own: NDArray[Any], before: NDArray[Any], threads: int) -> None:
    """Estimates, which all threads have moved alike."""
    common += (own - before) / threads


def latest(common: NDArray[Any], own: NDArray[Any], before: NDArray[Any], threads: int) -> None:
    """Times."""
    np.maximum(common, own, out=common)


class Learner(Solver):
    """A solver that samples. Its tables may be written by several threads."""

    work: ClassVar[str] = "episodes"
    first_measurement: ClassVar[int] = 1_000
    merges: ClassVar[dict[str, Merge]]  # how each learned table is brought together

    def _start(self) -> None:
        self.episode_tree = episode_tree(self.tree)
        self.depth = longest_path(self.tree)
        self.streams = streams(self.seed, MOST_THREADS)
        self.learned = self._first_tables()
        self._scratch = [self._new_scratch() for _ in range(self.threads)]
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self._lock = Lock()

    @abstractmethod
    def _first_tables(self) -> dict[str, NDArray[Any]]:
        """The tables before anything was learned."""

    @abstractmethod
    def _new_scratch(self) -> Any:
        """What an episode writes on the way, for one thread."""

    @abstractmethod
    def _learn(self, tables: Tables, scratch: Any, stream: Stream, begun: int, episodes: int) -> None:
        """Run `episodes`, of which the first is the one after `begun`; `self.threads` do so at a time."""

    def tables(self) -> dict[str, NDArray[Any]]:
        return {**self.learned, "streams": self.streams}

    def _advance(self, iterations: int) -> None:
        if self._pool is None or iterations == 0:
            self._learn(self.learned, self._scratch[0], self.streams[0], self.iterations, iterations)
            return
        copied = sum(table.nbytes for table in self.learned.values()) < SHARED_FROM
        part = self._learn_apart if copied else self._learn_shared
        for done in [self._pool.submit(part, thread, iterations) for thread in range(self.threads)]:
            done.result()

    def _learn_shared(self, thread: int, iterations: int) -> None:
        """One thread's part of the iterations, on the common tables."""
        scratch, stream = self._scratch[thread], self.streams[thread]
        self._learn(self.learned, scratch, stream, self.iterations, self._part(thread, iterations))

    def _learn_apart(self, thread: int, iterations: int) -> None:
        """One thread's part of the iterations, on copies."""
        with self._lock:
            before = {name: table.copy() for name, table in self.learned.items()}
        own = {name: table.copy() for name, table in before.items()}
        scratch, stream = self._scratch[thread], self.streams[thread]
        done, part, step = 0, self._part(thread, iterations), 1
        while done < part:
            step, clock = min(step, part - done), time.perf_counter()
            self._learn(own, scratch, stream, self.iterations + done * self.threads, step)
            done += step
            step = max(1, int(step * min(10.0, APART / (time.perf_counter() - clock))))
            with self._lock:
                for name, common in self.learned.items():
                    self.merges[name](common, own[name], before[name], self.threads)
                    own[name][...] = before[name][...] = common

    def _part(self, thread: int, iterations: int) -> int:
        return iterations // self.threads + (thread < iterations % self.threads)
