"""What the Monte-Carlo learners share: the loop over iterations, and the work of several threads.

With one thread and one seed the tables are the same to the bit, however a run is cut into pieces. With
several threads, very large tables, and those of hold'em, are shared without locks. The cache lines of smaller
ones would be torn from one thread by another at every step, so there either

- each thread works on a copy, and tells the others every few hundred episodes what it has added
  (`solve/traverse/exchange.py`). This suits learners of one path at a time, whose policies move little
  meanwhile. Or
- each thread is a learner of its own, and only the average policies are put together. This suits external
  and chance sampling, whose regrets move so far with every iteration that an exchange would have to come
  after each few of them. In a two-player zero-sum game a mixture of averages is at most as exploitable as
  they are in the mean, and part of the sampling errors cancels out. The tables are then the same to the
  bit for the same number of threads. (In other games, without that warrant, the tables are shared.)

On a GPU (`gpu.py`) thousands of threads share one table.
"""

from __future__ import annotations

from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.core.devices import AUTO, CPU, CUDA
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, episode_kernel
from openfelt.core.memory import machine_memory
from openfelt.core.random import starts
from openfelt.games.compile.compiler import compile_any
from openfelt.games.compile.tree import Tree
from openfelt.games.game import AnyGame
from openfelt.solve.restriction import Restriction, mixed
from openfelt.solve.sampling.gpu import Crowd, Gpu, Shapes, TooLittleMemory, size_of
from openfelt.solve.solver import MOST_THREADS, Solver
from openfelt.solve.traverse.exchange import Exchange, exchanges, no_exchange, trade
from openfelt.solve.traverse.open_tree import open_tree
from openfelt.solve.traverse.worker import Span, Worker, WorkerSize, iterate_next, new_worker

Tables: TypeAlias = dict[str, NDArray[Any]]

SHARED_FROM = 16_000_000  # bytes of tables from which threads share them


@episode_kernel
def _learn(how: Any, tree: Any, tables: Any, own: Worker, span: Span, exchange: Exchange) -> None:
    until_trade = exchange.every
    for count in range(1, span.length + 1):
        iterate_next(how, tree, tables, own, span, count)
        until_trade -= 1
        if until_trade == 0:
            trade(tables[0], exchange)
            until_trade = exchange.every
    if exchange.every > 0:
        trade(tables[0], exchange)


class Learner(Solver):
    """A solver that samples. Its tables may be written by several threads."""

    full_width: ClassVar[bool] = False
    work: ClassVar[str] = "episodes"
    first_measurement: ClassVar[int] = 1_000
    tables_type: ClassVar[Any]  # what kernels get the tables as; a field is a table
    exchanges: ClassVar[bool]  # whether threads exchange their first table, or each learns its own
    runs_on_gpu: ClassVar[bool] = True
    binds_each: ClassVar[bool] = True

    def _compile(self, game: AnyGame) -> Tree:
        return compile_any(game)

    def _start(self) -> None:
        opened = open_tree(self.tree)
        self.episode_tree, self.depth, self.most_actions = opened.tree, opened.depth, opened.most_actions
        if self.restriction is not None:
            self.episode_tree = self.restriction.wrap(opened.tree)
        self._starts = starts(self.seed, MOST_THREADS)
        shapes = self._table_shapes()
        size = size_of(shapes)
        if size > machine_memory():
            raise FeltError(
                f"{self.name} needs {size / 1e9:.1f} GB for {self.tree.game}; this machine has "
                f"{machine_memory() / 1e9:.1f}."
            )
        assert tuple(shapes) == self.tables_type._fields
        self._gpu = self._open_gpu(shapes) if self.device == CUDA else None
        self._shared = size >= SHARED_FROM or not self.tree.is_enumerated
        if not self.exchanges:
            self._shared = self._shared or not self.tree.two_player_zero_sum
        self.learners = 1 if self._gpu or self.exchanges or self._shared else self.threads
        self._learned = {
            name: np.zeros((self.learners, *shape), kind) for name, (shape, kind) in shapes.items()
        }
        threads = 0 if self._gpu else self.threads
        self._workers = [new_worker(self._worker_size()) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def _open_gpu(self, shapes: Shapes) -> Gpu | None:
        self.crowd = self._crowd()
        try:
            what = f"{self.name} of {self.tree.game}"
            return Gpu(self._how(), self.episode_tree, self.tables_type, shapes, self._worker_size(), what)
        except TooLittleMemory as error:
            if self.device_asked != AUTO:
                raise
            self.device, self.why_cpu = CPU, str(error)
            return None

    @abstractmethod
    def _table_shapes(self) -> Shapes:
        """The tables that are learned, all zero at first: their shapes and types."""

    @abstractmethod
    def _worker_size(self) -> WorkerSize:
        """What an iteration writes on the way."""

    @abstractmethod
    def _crowd(self) -> Crowd:
        """How many iterations may run at once on a GPU."""

    @abstractmethod
    def _how(self) -> Any:
        """What the learner's kernel is told, a NamedTuple of its own kind."""

    def _merge(self, common: Tables, copies: list[Tables]) -> None:
        """Bring together what is not exchanged, after the threads have worked on copies."""

    @property
    def learned(self) -> Tables:
        """The tables, each [learners, ...]."""
        if self._gpu:
            self._gpu.fetch(self._kernel_tables(0))
        return self._learned

    def tables(self) -> Tables:
        return dict(self.learned)

    def _resumed(self) -> None:
        self._starts = starts(self.seed, MOST_THREADS)
        for worker in self._workers:
            worker.notes.met[:] = -1
        if self._gpu:
            self._gpu.resume(self._how(), self._kernel_tables(0))

    def summed(self, name: str, column: int) -> Floats:
        """A column of a table, the sum over all learners; a view of it where there is only one."""
        table = self.learned[name][..., column]
        found: Floats = table[0] if self.learners == 1 else table.sum(axis=0)
        return found

    def _played(self, restriction: Restriction) -> Floats:
        """A learner meets only the free decisions; each counts by how often the game comes there, bound or
        not, so that the average is that of the free part.
        """
        return mixed(self.form, restriction, self.probabilities)

    def _advance(self, iterations: int) -> None:
        exchanging = self.exchanges and not self._shared
        few = exchanging and iterations < self.tree.num_slots  # not worth the copies
        if self._gpu:
            most = self.in_flight or max(1.0, self.crowd.per_row * self.tree.num_rows)
            self._gpu.learn(self.iterations, iterations, self._starts[0], self.crowd.patience, most)
        elif self._pool is None or few or iterations == 0:
            span = Span(self.iterations, iterations, 1, self._starts[0])
            self._learn_part(0, self._tables_of(0), span, no_exchange())
        elif exchanging:
            self._learn_by_exchange(self._pool, iterations)
        else:
            apart = self.learners > 1
            tables = [self._tables_of(thread if apart else 0) for thread in range(self.threads)]
            spans = self._own_spans(iterations) if apart else self._common_spans(iterations)
            self._in_threads(self._pool, tables, spans, [no_exchange()] * self.threads)

    def _learn_by_exchange(self, pool: ThreadPoolExecutor, iterations: int) -> None:
        """Each thread on a copy of the tables."""
        common = self._tables_of(0)
        exchanged = next(iter(common.values()))
        every = max(1, self.tree.num_slots)  # so that exchanges take a few percent of the time
        sides = exchanges(exchanged, self.threads, every)
        copies = [{name: table.copy() for name, table in common.items()} for _ in range(self.threads)]
        self._in_threads(pool, copies, self._common_spans(iterations), sides)
        exchanged += sides[0].given.sum(axis=0).reshape(exchanged.shape)
        self._merge(common, copies)

    def _own_spans(self, iterations: int) -> list[Span]:
        """The iterations shared out, each thread with a count and random numbers of its own."""
        before, after = (
            [total // self.threads + (thread < total % self.threads) for thread in range(self.threads)]
            for total in (self.iterations, self.iterations + iterations)
        )
        return [
            Span(begun, end - begun, 1, start)
            for begun, end, start in zip(before, after, self._starts, strict=False)
        ]

    def _common_spans(self, iterations: int) -> list[Span]:
        """The iterations dealt out in turn, by a common count."""
        share, rest = divmod(iterations, self.threads)
        return [
            Span(
                self.iterations + thread + 1 - self.threads,
                share + (thread < rest),
                self.threads,
                self._starts[0],
            )
            for thread in range(self.threads)
        ]

    def _in_threads(
        self, pool: ThreadPoolExecutor, tables: list[Tables], spans: list[Span], sides: list[Exchange]
    ) -> None:
        list(pool.map(self._learn_part, range(self.threads), tables, spans, sides))

    def _learn_part(self, thread: int, tables: Tables, span: Span, exchange: Exchange) -> None:
        own = self._workers[thread]
        _learn(self._how(), self.episode_tree, self.tables_type(**tables), own, span, exchange)

    def _kernel_tables(self, learner: int) -> Any:
        return self.tables_type(**self._tables_of(learner))

    def _tables_of(self, learner: int) -> Tables:
        return {name: table[learner] for name, table in self._learned.items()}
