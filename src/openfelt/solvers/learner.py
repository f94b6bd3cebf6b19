"""What the Monte-Carlo learners share: random streams, and the work of several threads.

With one thread and one seed the tables are the same to the bit, however a run is cut into pieces. With
several threads, large tables are shared without locks. The cache lines of small ones would be torn from one
thread by another at every step, so there either

- each thread works on a copy, and every few milliseconds adds what it has learned to the common tables and
  takes over what the others did. This suits counts of visits, whose policies move slowly. Or
- each thread is a learner of its own, and only the average policies are put together. This suits regrets:
  CFR turns around within sqrt(T) iterations, so regrets brought together less often than that overshoot. In
  a two-player zero-sum game a mixture of averages is at most as exploitable as they are in the mean; part
  of the sampling errors cancels out, so that two threads with T/2 iterations each are better than one
  with T/2, though not quite as good as one with T. The tables are the same to the bit for the same number
  of threads. (In other games mixtures have no such warrant, and the tables are shared.)
"""

from __future__ import annotations

import time
from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.base.random import Stream, streams
from openfelt.solvers.solver import MOST_THREADS, Solver
from openfelt.traverse.episode import episode_tree, longest_path

Tables: TypeAlias = dict[str, NDArray[Any]]

SHARED_FROM = 1_000_000  # bytes of tables from which threads share them
SPELL = 0.002  # seconds that a thread works on its copy, at least,
SPELL_PER_MERGE = 20.0  # and how many times as long as it takes to bring it together


class Learner(Solver):
    """A solver that samples. Its tables may be written by several threads."""

    work: ClassVar[str] = "episodes"
    first_measurement: ClassVar[int] = 1_000
    sums_up: ClassVar[bool]  # whether all threads add to the same small tables, or each learns its own

    def _start(self) -> None:
        self.episode_tree = episode_tree(self.tree)
        self.depth = max(1, longest_path(self.tree))
        self.streams = streams(self.seed, MOST_THREADS)
        first = self._first_tables()
        self._small = sum(table.nbytes for table in first.values()) < SHARED_FROM
        apart = self._small and not self.sums_up and self.tree.two_player_zero_sum
        self.learners = self.threads if apart else 1
        self.learned = {name: np.stack([table] * self.learners) for name, table in first.items()}
        self._scratch = [self._new_scratch() for _ in range(self.threads)]
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self._lock = Lock()

    @abstractmethod
    def _first_tables(self) -> Tables:
        """The tables before anything was learned."""

    @abstractmethod
    def _new_scratch(self) -> Any:
        """What an episode writes on the way, for one thread."""

    @abstractmethod
    def _learn(
        self, tables: Tables, scratch: Any, stream: Stream, begun: int, episodes: int, stride: int = 1
    ) -> None:
        """Run episodes number begun + stride, begun + 2 stride, ... on the tables."""

    def tables(self) -> Tables:
        return {**self.learned, "streams": self.streams}

    def _advance(self, iterations: int) -> None:
        if self._pool is None or iterations == 0:
            self._learn_part(0, iterations, self.iterations)
            return
        part = self._learn_copy if self._small and self.sums_up else self._learn_part
        share, rest = divmod(self.iterations + iterations, self.threads)
        before, rest_before = divmod(self.iterations, self.threads)
        work = []
        for thread in range(self.threads):
            begun = before + (thread < rest_before)
            work.append(self._pool.submit(part, thread, share + (thread < rest) - begun, begun))
        for done in work:
            done.result()

    def _learn_part(self, thread: int, episodes: int, begun: int) -> None:
        """Learn on the tables themselves: the thread's own, or the common ones by a common clock."""
        own = {name: table[thread % self.learners] for name, table in self.learned.items()}
        stride = self.threads // self.learners
        if stride > 1:
            begun = self.iterations - stride + thread + 1
        self._learn(own, self._scratch[thread], self.streams[thread], begun, episodes, stride)

    def _learn_copy(self, thread: int, episodes: int, begun: int) -> None:
        """Learn on a copy, and bring it together with the common tables every so often."""
        with self._lock:
            before = {name: table[0].copy() for name, table in self.learned.items()}
        own = {name: table.copy() for name, table in before.items()}
        done, step, merging = 0, 1, 0.0
        while done < episodes:
            step, clock = min(step, episodes - done), time.perf_counter()
            self._learn(own, self._scratch[thread], self.streams[thread], begun + done, step)
            done += step
            spell = max(SPELL, SPELL_PER_MERGE * merging)
            step = max(1, int(step * min(10.0, spell / (time.perf_counter() - clock))))
            with self._lock:
                clock = time.perf_counter()
                for name, table in self.learned.items():
                    table[0] += own[name] - before[name]
                    own[name][...] = before[name][...] = table[0]
                merging = time.perf_counter() - clock
