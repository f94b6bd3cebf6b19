"""What the sampling solvers share: the loop over iterations, and the work of several threads.

With one thread and one seed the tables are the same to the bit, however a run is cut into pieces. With
several threads, very large tables and those of hold'em are shared without locks. The cache lines of smaller
tables would move between the processors at every step, so there either

- each thread works on a copy, and exchanges its updates every few hundred episodes
  (`solve/traverse/thread_exchange.py`). This suits solvers of one path at a time, whose policies change
  little meanwhile. Early in a run they change much, and what is learned then stays in infosets that are
  hardly visited later. So, as on a GPU, the iterations between two exchanges grow with the iterations done
  (`InFlightLimits.patience`), and at first one thread works alone. Or
- each thread learns independently, and only the average policies are combined. This suits external and chance
  sampling, whose regrets change so much with every iteration that threads would have to exchange them after
  every few. In a two-player zero-sum game a mixture of averages is at most as exploitable as they are on
  average, and part of the sampling errors cancels out. The tables are then the same to the bit for the same
  number of threads. (In other games, which lack that guarantee, the tables are shared.)

On a GPU (`gpu.py`) thousands of threads share one table.

Independent learners (`learners`, and always on a cluster) are units of work: one gets its tables and a range
of iterations, and returns the tables. For the same number of learners they are the same to the bit on threads
and on a cluster.
"""

from __future__ import annotations

from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from queue import SimpleQueue
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.core.devices import CUDA
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, episode_kernel
from openfelt.core.memory import machine_memory
from openfelt.core.random import starts
from openfelt.core.workers import Job, as_done, is_cluster, worker_count
from openfelt.games.compile.compiler import compile_any
from openfelt.games.compile.tree import Tree
from openfelt.games.game import AnyGame
from openfelt.solve.restriction import Restriction, mixed
from openfelt.solve.sampling.gpu import Gpu, InFlightLimits, Shapes, size_of
from openfelt.solve.solver import MOST_LEARNERS, MOST_THREADS, Solver
from openfelt.solve.traverse.open_tree import open_tree
from openfelt.solve.traverse.sampling_worker import Span, Worker, WorkerSize, iterate_next, new_worker
from openfelt.solve.traverse.thread_exchange import Exchange, exchanges, no_exchange, trade

Tables: TypeAlias = dict[str, NDArray[Any]]

SHARED_FROM = 16_000_000  # bytes of tables from which threads share them
OFTEN = 8  # threads exchange at most so many times as often as is cheap
MOST_ALONE = 10_000_000  # iterations before threads join, at most


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


class LearnerSetup(NamedTuple):
    """All that independent learners share."""

    kind: type[SamplingSolver]
    tree: Any
    options: dict[str, Any]


class LearnerUnit(NamedTuple):
    """Some iterations of one learner."""

    span: Span
    tables: Tables


class SamplingSolver(Solver):
    """A solver that samples. Several threads may write its tables."""

    full_width: ClassVar[bool] = False
    work: ClassVar[str] = "episodes"
    first_measurement: ClassVar[int] = 1_000
    tables_type: ClassVar[Any]  # the NamedTuple of tables that kernels read; each field is a table
    exchanges: ClassVar[bool]  # whether threads exchange their first table, or learn independently
    runs_on_gpu: ClassVar[bool] = True
    distributes: ClassVar[bool] = True
    has_learners: ClassVar[bool] = True
    binds_each: ClassVar[bool] = True

    def _compile(self, game: AnyGame) -> Tree:
        return compile_any(game)

    def _start(self) -> None:
        opened = open_tree(self.tree)
        self.episode_tree, self.depth, self.most_actions = opened.tree, opened.depth, opened.most_actions
        if self.restriction is not None:
            self.episode_tree = self.restriction.wrap(opened.tree)
        apart = self._count_learners()
        self._starts = starts(self.seed, max(apart, MOST_THREADS))
        self.limits = self._in_flight_limits()
        shapes = self._table_shapes()
        size = size_of(shapes) * max(1, apart)
        if size > machine_memory():
            raise FeltError(
                f"{self.name} needs {size / 1e9:.1f} GB for {self.tree.game}; this machine has "
                f"{machine_memory() / 1e9:.1f}."
            )
        assert tuple(shapes) == self.tables_type._fields
        self._gpu = self._if_it_fits(lambda: self._new_gpu(shapes)) if not apart else None
        self._shared = size_of(shapes) >= SHARED_FROM or not self.tree.is_enumerated
        if not self.exchanges:
            self._shared = self._shared or not self.tree.two_player_zero_sum
        own = 1 if self._gpu or self.exchanges or self._shared else self.threads
        self.learners = apart or own
        setup, on_gpu = self._learner_setup(), self.device == CUDA
        self._job = Job(LearnerUnits, setup, here=LearnerUnits(setup), in_threads=True, gpu=on_gpu)
        self._learned = {
            name: np.zeros((self.learners, *shape), kind) for name, (shape, kind) in shapes.items()
        }
        threads = 0 if self._gpu or apart else self.threads
        self._workers = [new_worker(self._worker_size()) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def _count_learners(self) -> int:
        """How many independent learners were requested; 0: none, threads may share what they learn."""
        if self.learners_asked is None and not is_cluster(self.workers):
            return 0
        if not self.tree.two_player_zero_sum:
            raise FeltError(
                f"Independent learners need a two-player zero-sum game, where their mixture is sound; "
                f"{self.tree.game} is none."
            )
        return self.learners_asked or min(worker_count(self.workers), MOST_LEARNERS)

    def _learner_setup(self) -> LearnerSetup:
        options = {"device": self.device, "restriction": self.restriction, **asdict(self.settings)}
        return LearnerSetup(type(self), self.tree, options | {"in_flight": self.in_flight})

    def _learn_apart(self, iterations: int) -> None:
        """Each learner as a unit of work."""
        units = [
            LearnerUnit(span, self._tables_of(learner))
            for learner, span in enumerate(self._own_spans(iterations))
        ]
        for learner, tables in as_done(self._job, units, self.workers):
            for name, table in self._tables_of(learner).items():
                table[...] = tables[name]

    def continue_learner(self, unit: LearnerUnit) -> Tables:
        """Learn a unit of another solver of the same kind, in the tables of this one; returns these."""
        for name, table in self._tables_of(0).items():
            table[...] = unit.tables[name]
        self.iterations = unit.span.begun
        self._resumed()
        self._starts[0] = unit.span.start
        self._advance(unit.span.length)
        return {name: table[0].copy() for name, table in self.learned.items()}

    def _new_gpu(self, shapes: Shapes) -> Gpu:
        what = f"{self.name} of {self.tree.game}"
        return Gpu(self._how(), self.episode_tree, self.tables_type, shapes, self._worker_size(), what)

    @abstractmethod
    def _table_shapes(self) -> Shapes:
        """The shapes and types of the tables, which start at zero."""

    @abstractmethod
    def _worker_size(self) -> WorkerSize:
        """The size of what an iteration records."""

    @abstractmethod
    def _in_flight_limits(self) -> InFlightLimits:
        """How many iterations may run at once on a GPU."""

    @abstractmethod
    def _how(self) -> Any:
        """The settings that the solver's kernel reads, a NamedTuple of its own type."""

    def _merge(self, common: Tables, copies: list[Tables]) -> None:
        """Combine what is not exchanged, after the threads have worked on copies."""

    @property
    def learned(self) -> Tables:
        """The tables, each [learners, ...]."""
        if self._gpu:
            self._gpu.fetch(self._kernel_tables(0))
        return self._learned

    def tables(self) -> Tables:
        return dict(self.learned)

    def _resumed(self) -> None:
        self._starts = starts(self.seed, max(self.learners, MOST_THREADS))
        for worker in self._workers:
            worker.trace.met[:] = -1
        if self._gpu:
            self._gpu.resume(self._how(), self._kernel_tables(0))

    def summed(self, name: str, column: int) -> Floats:
        """A column of a table, the sum over all learners; a view of it where there is only one."""
        table = self.learned[name][..., column]
        found: Floats = table[0] if self.learners == 1 else table.sum(axis=0)
        return found

    def _played(self, restriction: Restriction) -> Floats:
        """The average policy as played. `probabilities` is its free part: only free decisions are visited.

        Each of these counts by how often play reaches it, bound or not.
        """
        return mixed(self.form, restriction, self.probabilities)

    def _advance(self, iterations: int) -> None:
        if self._count_learners():
            if iterations:
                self._learn_apart(iterations)
            return
        exchanging = self.exchanges and not self._shared
        few = exchanging and (iterations < self.tree.num_slots or self.iterations < self._alone)
        if self._gpu:
            most = self.in_flight or max(1.0, self.limits.per_row * self.tree.num_rows)
            self._gpu.learn(self.iterations, iterations, self._starts[0], self.limits.patience, most)
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
        rare = self.tree.num_slots  # exchanges then take a few percent of the time
        allowed = self.iterations // (self.limits.patience * self.threads)
        every = max(1, min(rare, max(rare // OFTEN, allowed)))
        sides = exchanges(exchanged, self.threads, every)
        copies = [{name: table.copy() for name, table in common.items()} for _ in range(self.threads)]
        self._in_threads(pool, copies, self._common_spans(iterations), sides)
        exchanged += sides[0].given.sum(axis=0).reshape(exchanged.shape)
        self._merge(common, copies)

    @property
    def _alone(self) -> int:
        """Iterations that one thread does before the others join: exchanges would be too far apart."""
        begin = self.limits.patience * self.threads * self.tree.num_slots // OFTEN
        return min(begin, MOST_ALONE)

    def _own_spans(self, iterations: int) -> list[Span]:
        """The iterations divided among the learners, each with a count and random numbers of its own."""
        count = self.learners
        before, after = (
            [total // count + (learner < total % count) for learner in range(count)]
            for total in (self.iterations, self.iterations + iterations)
        )
        return [
            Span(begun, end - begun, 1, start)
            for begun, end, start in zip(before, after, self._starts, strict=False)
        ]

    def _common_spans(self, iterations: int) -> list[Span]:
        """The iterations assigned to the threads in turn, by a common count."""
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


class LearnerUnits:
    """What a worker opens: solvers, one for each of its threads, that continue any learner."""

    def __init__(self, setup: LearnerSetup) -> None:
        self._setup = setup
        self._idle: SimpleQueue[SamplingSolver] = SimpleQueue()

    def __call__(self, unit: LearnerUnit) -> Tables:
        kind, tree, options = self._setup
        solver = kind(tree, **options) if self._idle.empty() else self._idle.get()
        try:
            return solver.continue_learner(unit)
        finally:
            self._idle.put(solver)
