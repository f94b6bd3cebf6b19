"""The base of solvers that deal a flop and a turn, and compute with all hands and all rivers at once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from queue import SimpleQueue
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import boards
from openfelt.cards.deck import FLOP, RIVER, STREETS, TURN
from openfelt.cards.public_cards import Deck
from openfelt.core.devices import CUDA
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.core.random import Numbers, starts
from openfelt.core.workers import Job, in_order, is_cluster
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.compile.compiler import compile_any
from openfelt.games.compile.tree import Tree
from openfelt.games.game import AnyGame
from openfelt.solve.solver import Settings, Solver, setting, within
from openfelt.solve.vector.hand_vectors import new_street_work
from openfelt.solve.vector.iteration import Betting, Learner, Rows, Work, match_all
from openfelt.solve.vector.public_boards import PublicBoards
from openfelt.solve.vector.streets import street_tables

IN_FLIGHT, PATIENCE = 16, 500  # most boards at a time on a GPU, and boards done before each further one
CLUSTER_BOARDS = 16  # boards at a time on a cluster
MOST_GAMMA = 4.0  # the sums stay within single precision, also after millions of boards
GOLDEN_RATIO = (5**0.5 - 1) / 2  # its multiples are spread evenly between whole numbers
UNIFORM, LINEAR = "uniform", "linear"


@dataclass(frozen=True)
class VectorSettings(Settings):
    delay: float = setting(0, "iterations before the average policy begins", kind=int)
    gamma: float = setting(1.0, "weight iteration t of the average by (t - delay)^gamma")
    weighting: str = setting(
        UNIFORM,
        "weights of iterations in the regrets: all equal, or in proportion to their number (linear CFR)",
        choices=(UNIFORM, LINEAR),
    )


Policies: TypeAlias = "list[list[Floats]]"  # by seat and street [rows, edges]


class BoardSetup(NamedTuple):
    """All that the boards of a batch share."""

    kind: type[VectorSolver]
    tree: Any
    deck: Deck
    settings: dict[str, Any]


class BoardUnit(NamedTuple):
    """A board on which one seat learns, or both."""

    board: int
    side: int  # a seat; 0 also if both seats learn together
    offset: int  # of the rivers that are sampled
    weights: tuple[float, float]


class Increments(NamedTuple):
    """What a board adds to the tables."""

    learned: dict[int, list[tuple[Floats, Floats]]]  # by seat and street: to regrets and average
    trunk: list[Floats]  # to the opponent's regrets
    won: float  # by the opponent, in chips


class VectorSolver(Solver):
    """Learns two-player hold'em; an iteration is a flop and a turn."""

    full_width: ClassVar[bool] = False
    runs_on_gpu: ClassVar[bool] = True
    distributes: ClassVar[bool] = True
    batches: ClassVar[bool] = True
    sides: ClassVar[tuple[int, ...]] = (0, 1)  # seats that learn apart from each other on a board
    settings_type: ClassVar[type[Settings]] = VectorSettings
    settings: VectorSettings
    tree: BettingTree
    _river_step = 1  # one river in this many is sampled to learn from

    def __init__(self, game: AnyGame, *, deck: Deck | None = None, **options: Any) -> None:
        self.deck = deck or Deck()
        super().__init__(game, **options)

    def _compile(self, game: AnyGame) -> Tree:
        tree = compile_any(game)
        if not isinstance(tree, BettingTree) or tree.players != 2:
            raise FeltError(f"{self.name} learns two-player hold'em, not {tree.game}.")
        return tree

    def _start(self) -> None:
        within("delay", self.settings.delay, 0, np.inf)
        within("gamma", self.settings.gamma, 0, MOST_GAMMA)
        if self.restriction is not None:
            raise FeltError(f"{self.name} has no restrictions.")
        self._boards = PublicBoards(self.deck)
        self._regrets, self._average = np.zeros(self.tree.num_slots), np.zeros(self.tree.num_slots)
        # By our seat, the regrets of an opponent that is no learner [rows, edges], before the flop and on it.
        self._trunks: list[list[Floats]] = []
        self._behind = False  # whether the tables here lack what was learned on the GPU
        self._prepare()
        if is_cluster(self.workers):
            if self.device == CUDA:
                raise FeltError(f"{self.name} trains on one GPU, or on the CPUs of a cluster.")
            self.batch = self.in_flight or CLUSTER_BOARDS
        elif self.device != CUDA:
            self.batch = self.in_flight or 1
        setup = BoardSetup(type(self), self.tree, self.deck, asdict(self.settings))
        self._job = Job(BoardUnits, setup, here=BoardUnits(setup), in_threads=True)
        if self.device == CUDA:
            self._gpu = self._new_gpu(self.in_flight or IN_FLIGHT)
        else:
            self._start_on_cpu()

    def _prepare(self) -> None:
        """Create further tables."""

    def _new_gpu(self, in_flight: int) -> Any:
        """The tables on a GPU."""
        raise NotImplementedError

    def _start_on_cpu(self) -> None:
        preflop, flop, turn, river = street_tables(self.tree)
        self._betting = Betting(preflop, flop, turn, river, self.deck.live, boards())
        layout, policy = self.tree.layout, np.zeros(self.tree.num_slots)
        preflop_row, flop_row, turn_row, river_row = map(np.asarray, self.tree.abstraction.tables())
        # One type of the flop's table, lossless or not, for which kernels are compiled.
        buckets = preflop_row, flop_row.astype(np.int32), turn_row, river_row
        self._learners: list[Learner] = []
        for seat in range(2):
            rows = []
            for street in range(len(STREETS)):
                base, count = int(layout.slot_base[street, seat]), int(layout.buckets[street, seat])
                shape = count, int(layout.edges[street, seat])
                part = slice(base, base + shape[0] * shape[1])
                tables = self._regrets, self._average, policy
                rows.append(Rows(*(table[part].reshape(shape) for table in tables)))
            self._learners.append(Learner(seat, (rows[0], rows[1], rows[2], rows[3]), buckets))
        self._work = [self._new_work(seat) for seat in range(2)]
        self._resumed()

    def _new_work(self, seat: int) -> Work:
        streets, hands = street_tables(self.tree), int(self.deck.pairs.sum())
        roots = [len(street.edge) for street in streets]
        decisions = [int((street.player == 1 - seat).sum()) for street in streets]
        rivers = self._boards.rivers

        def by_street() -> tuple[Floats, Floats, Floats]:
            flop, turn, river = (np.zeros((2, roots[street], hands)) for street in (FLOP, TURN, RIVER))
            return flop, turn, river

        return Work(
            new_street_work(max(len(street.player) for street in streets), hands),
            by_street(),
            by_street(),
            np.zeros((roots[TURN], decisions[TURN], hands), np.int8),
            np.zeros((rivers, roots[RIVER], decisions[RIVER], hands), np.int8),
        )

    def _resumed(self) -> None:
        if self.device == CUDA:
            self._gpu.load(self._regrets, self._average, self._trunks)
            self._behind = False
        else:
            for learner in self._learners:
                match_all(self._betting, learner)

    @property
    def _first_draw(self) -> float:
        return float(Numbers(int(starts(self.seed, 1)[0]), 0).uniform())

    def board(self, iteration: int) -> int:
        """The number of an iteration's board; it depends on the seed and the iteration only.

        Boards are not drawn independently: in any long stretch of iterations each comes about as often as its
        probability says.
        """
        return self._boards.find((self._first_draw + iteration * GOLDEN_RATIO) % 1.0)

    def _weights(self, iteration: int) -> tuple[float, float]:
        """The weight of an iteration in the regrets, and in the average."""
        in_regrets = float(iteration) if self.settings.weighting == LINEAR else 1.0
        after = max(0.0, iteration - float(self.settings.delay))
        return in_regrets, after**self.settings.gamma if after else 0.0

    def _offset(self, iteration: int) -> int:
        """The first river of an iteration's board that is sampled, if not all are."""
        return iteration % self._river_step

    def _advance(self, iterations: int) -> None:
        if self.device == CUDA:
            self._advance_on_gpu(iterations)
        elif self.batch > 1 or is_cluster(self.workers):
            self._advance_in_batches(iterations)
        else:
            self._advance_on_cpu(iterations)

    def _advance_on_cpu(self, iterations: int) -> None:
        raise NotImplementedError

    def _advance_in_batches(self, iterations: int) -> None:
        """Several boards with the same policies; what they add is summed in the order of the boards."""
        last = self.iterations + iterations
        for first in range(self.iterations + 1, last + 1, self.batch):
            numbers = range(first, min(first + self.batch, last + 1))
            weights = self._weights(numbers[-1])
            units = [
                BoardUnit(self.board(number), side, self._offset(number), weights)
                for number in numbers
                for side in self.sides
            ]
            policies = [[rows.policy for rows in learner.rows] for learner in self._learners]
            trunks = [[table.copy() for table in tables] for tables in self._trunks]
            for place, found in in_order(self._job, units, self.workers, policies, trunks):
                self._add(units[place].side, found)
            for learner in self._learners:
                match_all(self._betting, learner)

    def _add(self, side: int, found: Increments) -> None:
        for seat, streets in found.learned.items():
            for rows, (regrets, average) in zip(self._learners[seat].rows, streets, strict=True):
                rows.regrets[...] += regrets
                rows.average[...] += average
        for table, added in zip(self._trunks[side] if self._trunks else (), found.trunk, strict=True):
            table += added

    def increments(self, unit: BoardUnit, policies: Policies, trunks: list[list[Floats]]) -> Increments:
        """What one board adds to the tables, if these policies meet."""
        seats = (unit.side,) if len(self.sides) > 1 else (0, 1)
        for seat in seats:
            for rows, policy in zip(self._learners[seat].rows, policies[seat], strict=True):
                rows.policy[...] = policy
                rows.regrets[...] = 0.0
                rows.average[...] = 0.0
        before = trunks[unit.side] if trunks else []
        after = self._trunks[unit.side] if trunks else []
        for own, table in zip(after, before, strict=True):
            own[...] = table
        won = self._deal(unit)
        learned = {
            seat: [(rows.regrets.copy(), rows.average.copy()) for rows in self._learners[seat].rows]
            for seat in seats
        }
        return Increments(learned, [now - was for now, was in zip(after, before, strict=True)], won)

    def _deal(self, unit: BoardUnit) -> float:
        """One board; returns the chips that the opponent has won, if there is one."""
        raise NotImplementedError

    def _advance_on_gpu(self, iterations: int) -> None:
        done, last, most = self.iterations, self.iterations + iterations, self.in_flight or IN_FLIGHT
        while done < last:
            step = min(most, 1 + done // PATIENCE, last - done)
            numbers = range(done + 1, done + step + 1)
            chosen, offsets = (np.array([of(each) for each in numbers]) for of in (self.board, self._offset))
            done += step
            self._gpu.iterate(chosen, offsets, *self._weights(done))
        self._gpu.wait()
        self._behind = self._behind or iterations > 0

    def _fetch(self) -> None:
        if self._behind:
            self._gpu.fetch(self._regrets, self._average, self._trunks)
            self._behind = False

    @property
    def weights(self) -> Floats:
        self._fetch()
        return self._average

    def tables(self) -> dict[str, NDArray[Any]]:
        self._fetch()
        trunks = {
            f"opponent.{seat}.{STREETS[street]}": table
            for seat, by_street in enumerate(self._trunks)
            for street, table in enumerate(by_street)
        }
        return {"regrets": self._regrets, "average": self._average, **trunks}


class BoardUnits:
    """What a worker opens: solvers, one for each of its threads, that compute what a board adds."""

    def __init__(self, setup: BoardSetup) -> None:
        self._setup = setup
        self._idle: SimpleQueue[VectorSolver] = SimpleQueue()

    def __call__(self, unit: BoardUnit, policies: Policies, trunks: list[list[Floats]]) -> Increments:
        kind, tree, deck, settings = self._setup
        solver = kind(tree, deck=deck, **settings) if self._idle.empty() else self._idle.get()
        try:
            return solver.increments(unit, policies, trunks)
        finally:
            self._idle.put(solver)
