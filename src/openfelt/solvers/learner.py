"""What the Monte-Carlo learners share: random streams, and the work of several threads.

With one thread and one seed the tables are the same to the bit, however a run is cut into pieces. With
several threads, very large tables, and those of hold'em, are shared without locks. The cache lines of smaller
ones would be torn from one thread by another at every step, so there either

- each thread works on a copy, and tells the others every few hundred episodes what it has added
  (`traverse/exchange.py`). This suits learners of one path at a time, whose policies move little
  meanwhile. Or
- each thread is a learner of its own, and only the average policies are put together. This suits external
  and chance sampling, whose regrets move so far with every iteration that an exchange would have to come
  after each few of them. In a two-player zero-sum game a mixture of averages is at most as exploitable as
  they are in the mean, and part of the sampling errors cancels out. The tables are then the same to the
  bit for the same number of threads. (In other games, without that warrant, the tables are shared.)
"""

from __future__ import annotations

from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.base.errors import FeltError
from openfelt.base.jit import Floats
from openfelt.base.memory import machine_memory
from openfelt.base.random import Stream, streams
from openfelt.compile.betting_tree import BettingTree
from openfelt.compile.compiler import Tree, compile_any
from openfelt.rules.game import AnyGame
from openfelt.solvers.solver import MOST_THREADS, Solver
from openfelt.traverse.exchange import Exchange, exchanges, no_exchange
from openfelt.traverse.open_tree import open_tree

Tables: TypeAlias = dict[str, NDArray[Any]]
Shapes: TypeAlias = dict[str, tuple[tuple[int, ...], type[np.generic]]]

SHARED_FROM = 16_000_000  # bytes of tables from which threads share them


class Span(NamedTuple):
    """Which iterations to do: number begun + stride, begun + 2 stride, ..., `length` of them."""

    begun: int
    length: int
    stride: int = 1


class Thread(NamedTuple):
    """What one thread writes to besides the tables."""

    deal: Any
    scratch: Any
    stream: Stream


class Learner(Solver):
    """A solver that samples. Its tables may be written by several threads."""

    work: ClassVar[str] = "episodes"
    first_measurement: ClassVar[int] = 1_000
    exchanged: ClassVar[str | None]  # the table of sums that threads exchange; none if each learns its own

    def _compile(self, game: AnyGame) -> Tree:
        return compile_any(game)

    def _start(self) -> None:
        opened = open_tree(self.tree, MOST_THREADS)
        self.episode_tree, self.depth, self.most_actions = opened.tree, opened.depth, opened.most_actions
        self.streams = streams(self.seed, MOST_THREADS)
        shapes = self._table_shapes()
        size = sum(int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in shapes.values())
        if size > machine_memory():
            raise FeltError(
                f"{self.name} needs {size / 1e9:.1f} GB for {self.tree.game}; this machine has "
                f"{machine_memory() / 1e9:.1f}."
            )
        self._shared = size >= SHARED_FROM or isinstance(self.tree, BettingTree)
        if self.exchanged is None:
            self._shared = self._shared or not self.tree.two_player_zero_sum
        self.learners = self.threads if self.exchanged is None and not self._shared else 1
        self.learned = {
            name: np.zeros((self.learners, *shape), kind) for name, (shape, kind) in shapes.items()
        }
        self._scratch = [self._new_scratch() for _ in range(self.threads)]
        self._decks = opened.decks
        self._deals = [opened.new_deal(self._decks[thread]) for thread in range(self.threads)]
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    @abstractmethod
    def _table_shapes(self) -> Shapes:
        """The tables that are learned, all zero at first: their shapes and types."""

    @abstractmethod
    def _new_scratch(self) -> Any:
        """What an episode writes on the way, for one thread."""

    @abstractmethod
    def _learn(self, tables: Tables, thread: Thread, span: Span, exchange: Exchange) -> None:
        """Do the iterations of the span on the tables, with exchanges on the way."""

    def _merge(self, common: Tables, copies: list[Tables]) -> None:
        """Bring together what is not exchanged, after the threads have worked on copies."""

    def tables(self) -> Tables:
        decks = {"decks": self._decks} if self._decks.size else {}
        return {**self.learned, "streams": self.streams, **decks}

    def summed(self, name: str, column: int) -> Floats:
        """A column of a table, the sum over all learners; a view of it where there is only one."""
        table = self.learned[name][..., column]
        found: Floats = table[0] if self.learners == 1 else table.sum(axis=0)
        return found

    def _advance(self, iterations: int) -> None:
        exchanging = self.exchanged is not None and not self._shared
        few = exchanging and iterations < self.tree.num_slots  # not worth the copies
        if self._pool is None or few or iterations == 0:
            self._learn_part(0, self._tables_of(0), Span(self.iterations, iterations), no_exchange())
        elif exchanging:
            self._learn_by_exchange(self._pool, iterations)
        else:
            apart = self.learners > 1
            tables = [self._tables_of(thread if apart else 0) for thread in range(self.threads)]
            spans = self._own_spans(iterations) if apart else self._common_spans(iterations)
            self._in_threads(self._pool, tables, spans, [no_exchange()] * self.threads)

    def _learn_by_exchange(self, pool: ThreadPoolExecutor, iterations: int) -> None:
        """Each thread on a copy of the tables."""
        assert self.exchanged is not None
        common = self._tables_of(0)
        every = max(1, self.tree.num_slots)  # so that exchanges take a few percent of the time
        sides = exchanges(common[self.exchanged], self.threads, every)
        copies = [{name: table.copy() for name, table in common.items()} for _ in range(self.threads)]
        self._in_threads(pool, copies, self._common_spans(iterations), sides)
        table = common[self.exchanged]
        table += sides[0].given.sum(axis=0).reshape(table.shape)
        self._merge(common, copies)

    def _own_spans(self, iterations: int) -> list[Span]:
        """The iterations shared out, each thread with a count of its own."""
        before, after = (
            [total // self.threads + (thread < total % self.threads) for thread in range(self.threads)]
            for total in (self.iterations, self.iterations + iterations)
        )
        return [Span(begun, end - begun) for begun, end in zip(before, after, strict=True)]

    def _common_spans(self, iterations: int) -> list[Span]:
        """The iterations dealt out in turn, by a common count."""
        share, rest = divmod(iterations, self.threads)
        return [
            Span(self.iterations + thread + 1 - self.threads, share + (thread < rest), self.threads)
            for thread in range(self.threads)
        ]

    def _in_threads(
        self, pool: ThreadPoolExecutor, tables: list[Tables], spans: list[Span], sides: list[Exchange]
    ) -> None:
        list(pool.map(self._learn_part, range(self.threads), tables, spans, sides))

    def _learn_part(self, thread: int, tables: Tables, span: Span, exchange: Exchange) -> None:
        own = Thread(self._deals[thread], self._scratch[thread], self.streams[thread])
        self._learn(tables, own, span, exchange)

    def _tables_of(self, learner: int) -> Tables:
        return {name: table[learner] for name, table in self.learned.items()}
