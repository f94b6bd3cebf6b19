"""CFR-BR (Johanson, Bard, Burch & Bowling 2012): learn in buckets against an opponent who sees every hand.

CFR in an abstract game learns to play against an opponent that uses the same abstraction, and becomes easier
to exploit in the full game while it learns. In CFR-BR the opponent uses no abstraction. In each iteration a
flop and a turn are dealt. From the turn on, the opponent plays a best response to our current policy, with
every hand and on every river. Before the turn it learns by CFR: there a best response would have to know the
values of all other boards. Our average policy converges to the least exploitable policy of the abstraction,
if that has perfect recall and the opponent distinguishes all hands before the turn.

The two seats are separate games: we against the opponent, and the opponent against us.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from openfelt.cards.boards import boards, hole_class
from openfelt.cards.deck import FLOP, PREFLOP, RIVER, STREETS, TURN
from openfelt.cards.public_cards import Deck
from openfelt.core.devices import CUDA
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.core.random import Numbers, starts
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.compile.compiler import compile_any
from openfelt.games.compile.tree import Tree
from openfelt.games.game import AnyGame
from openfelt.solve.solver import Settings, Solver, setting, within
from openfelt.solve.vector.hand_vectors import new_street_work
from openfelt.solve.vector.iteration import Betting, Learner, Rows, Trunk, Work, iterate, match_all
from openfelt.solve.vector.public_boards import PublicBoards, flop_hands
from openfelt.solve.vector.streets import Street, street_tables

BUCKETS, HANDS = "buckets", "hands"
IN_FLIGHT = 4  # boards at a time on a GPU
GOLDEN_RATIO = (5**0.5 - 1) / 2  # its multiples are spread evenly between whole numbers


@dataclass(frozen=True)
class CFRBRSettings(Settings):
    delay: float = setting(0, "iterations before the average policy begins", kind=int)
    trunk: str = setting(
        BUCKETS,
        "what the opponent distinguishes before the turn, where it learns: our buckets, or all hands up to "
        "suits (slower at first, but converges to a best response)",
        choices=(BUCKETS, HANDS),
    )


class CFRBR(Solver):
    """CFR-BR: learns in the buckets of hold'em against an opponent that best-responds with every hand.

    Parameters
    ----------
    game : Holdem or str
        Two-player hold'em, with the buckets to learn in.
    delay : int
        Iterations before the average policy begins.
    trunk : {"buckets", "hands"}
        What the opponent distinguishes before the turn, where it learns by CFR: our buckets, or all hands up
        to suits.
    deck : Deck, optional
        A smaller deck, for tests.
    **options
        `seed`, `threads`, `device` and `in_flight`, as in `Solver`. On the CPU the two seats learn in two
        threads; on a GPU `in_flight` boards (4) are dealt at a time.

    Examples
    --------
    >>> felt.CFRBR("holdem(buckets='ehs:2')").summary
    'CFR against an opponent that best-responds with every hand (Johanson et al. 2012)'
    """

    name: ClassVar[str] = "cfr-br"
    summary: ClassVar[str] = (
        "CFR against an opponent that best-responds with every hand (Johanson et al. 2012)"
    )
    settings_type: ClassVar[type[Settings]] = CFRBRSettings
    full_width: ClassVar[bool] = False
    runs_on_gpu: ClassVar[bool] = True
    settings: CFRBRSettings
    tree: BettingTree

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
        if self.restriction is not None:
            raise FeltError(f"{self.name} has no restrictions.")
        self._first_draw = Numbers(int(starts(self.seed, 1)[0]), 0).uniform()
        self._boards = PublicBoards(self.deck)
        tree, layout = self.tree, self.tree.layout
        self._regrets, self._average = np.zeros(tree.num_slots), np.zeros(tree.num_slots)
        buckets = tree.abstraction.tables()
        if self.settings.trunk == HANDS:
            flop_row, flop_rows = flop_hands()
            self._trunk_rows = hole_class().astype(np.int32), flop_row
            counts = len(np.unique(hole_class())), flop_rows
        else:
            self._trunk_rows = buckets[PREFLOP][0].astype(np.int32), np.asarray(buckets[FLOP], np.int32)
            counts = int(tree.abstraction.counts[PREFLOP]), int(tree.abstraction.counts[FLOP])
        self._trunks = [  # by our seat, the regrets of the opponent before the flop and on it [rows, edges]
            [np.zeros((counts[street], int(layout.edges[street, 1 - seat]))) for street in (PREFLOP, FLOP)]
            for seat in range(2)
        ]
        if self.device == CUDA:
            from openfelt.solve.vector.gpu.learner import gpu_learners

            self._gpu = gpu_learners(
                tree, self._boards, self._trunk_rows, counts, self.in_flight or IN_FLIGHT
            )
            self._behind = False  # whether the tables here lack what was learned on the GPU
        else:
            self._start_on_cpu()

    def _start_on_cpu(self) -> None:
        tree, layout, streets = self.tree, self.tree.layout, street_tables(self.tree)
        preflop, flop, turn, river = streets
        self._betting = Betting(preflop, flop, turn, river, self.deck.live, boards())
        policy, hands = np.zeros(tree.num_slots), int(self.deck.pairs.sum())
        buckets, none = tuple(map(np.asarray, tree.abstraction.tables())), np.zeros((0, 0))
        self._learners: list[Learner] = []
        self._opponents: list[Trunk] = []
        self._work: list[Work] = []
        for seat in range(2):
            rows = []
            for street in range(len(STREETS)):
                base, count = int(layout.slot_base[street, seat]), int(layout.buckets[street, seat])
                shape = count, int(layout.edges[street, seat])
                part = slice(base, base + shape[0] * shape[1])
                tables = self._regrets, self._average, policy
                rows.append(Rows(*(table[part].reshape(shape) for table in tables)))
            self._learners.append(Learner(seat, (rows[0], rows[1], rows[2], rows[3]), buckets))
            before, on_flop = (
                Rows(table, none, np.zeros((hands, table.shape[1]))) for table in self._trunks[seat]
            )
            preflop_row, flop_row = (row.astype(np.int64) for row in self._trunk_rows)
            self._opponents.append(Trunk(before, on_flop, preflop_row, flop_row))
            self._work.append(self._new_work(streets, seat, hands))
        self._resumed()

    def _new_work(self, streets: tuple[Street, ...], seat: int, hands: int) -> Work:
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
            for there, trunk in zip(self._gpu, self._trunks, strict=True):
                there.load(self._regrets, self._average, trunk)
            self._behind = False
        else:
            for here in self._learners:
                match_all(self._betting, here)

    def board(self, iteration: int) -> int:
        """The number of an iteration's board; it depends on the seed and the iteration only.

        Boards are not drawn independently: in any long stretch of iterations each comes about as often as its
        probability says.
        """
        return self._boards.find((self._first_draw + iteration * GOLDEN_RATIO) % 1.0)

    def _weights(self, iteration: int) -> tuple[float, float]:
        """The weight of an iteration in the regrets, and in the average."""
        return float(iteration), max(0.0, iteration - float(self.settings.delay))

    def _advance(self, iterations: int) -> None:
        if self.device == CUDA:
            self._advance_on_gpu(iterations)
        else:
            with ThreadPoolExecutor(min(self.threads, 2)) as pool:
                list(pool.map(lambda seat: self._learn(seat, iterations), range(2)))

    def _learn(self, seat: int, iterations: int) -> None:
        learner, opponent, work = self._learners[seat], self._opponents[seat], self._work[seat]
        for number in range(self.iterations + 1, self.iterations + iterations + 1):
            cards = self._boards.cards(self.board(number))
            iterate(self._betting, cards, learner, opponent, self._weights(number), work)
            match_all(self._betting, learner)

    def _advance_on_gpu(self, iterations: int) -> None:
        last, step = self.iterations + iterations, self.in_flight or IN_FLIGHT
        for first in range(self.iterations + 1, last + 1, step):
            numbers = range(first, min(first + step, last + 1))
            chosen = np.array([self.board(number) for number in numbers])
            for learner in self._gpu:
                learner.iterate(chosen, *self._weights(numbers[-1]))
        for learner in self._gpu:
            learner.wait()
        self._behind = self._behind or iterations > 0

    def _fetch(self) -> None:
        if self.device == CUDA and self._behind:
            for seat, learner in enumerate(self._gpu):
                learner.fetch(self._regrets, self._average, self._trunks[seat])
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
