"""CFR-BR (Johanson, Bard, Burch & Bowling 2012): learn in buckets against an opponent without buckets.

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
from math import comb
from typing import Any, ClassVar

import numpy as np

from openfelt.cards.abstraction.lossless import flop_hands
from openfelt.cards.abstraction.spec import ALL_HANDS
from openfelt.cards.boards import hole_class
from openfelt.cards.deck import FLOP, PREFLOP
from openfelt.core.devices import CUDA
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.solve.solver import Settings, setting, within
from openfelt.solve.vector.iteration import Rows, Trunk, iterate, match_all
from openfelt.solve.vector.vector_solver import BoardUnit, Increments, VectorSettings, VectorSolver

BUCKETS, HANDS = "buckets", "hands"
MOST_STEP = 8  # of rivers
RECENT = 0.1  # of the iterations, over which the opponent's winnings are averaged


@dataclass(frozen=True)
class CFRBRSettings(VectorSettings):
    trunk: str = setting(
        BUCKETS,
        "how the opponent learns before the turn: in our buckets, or for each hand up to suit isomorphism "
        "(slower, but not limited by the buckets)",
        choices=(BUCKETS, HANDS),
    )
    river_step: int = setting(
        1, "learn from one river of a board in this many, up to suits; the opponent responds on all", kind=int
    )


class CFRBR(VectorSolver):
    """CFR-BR: learns in the buckets of hold'em against an opponent that best-responds with every hand.

    Parameters
    ----------
    game : Holdem or str
        Two-player hold'em, with the buckets to learn in.
    delay : int
        Iterations before the average policy begins.
    gamma : float
        Weight iteration t of the average by (t - delay)^gamma.
    weighting : {"uniform", "linear"}
        Weights of the iterations in the regrets: all equal, or in proportion to their number.
    trunk : {"buckets", "hands"}
        What the opponent distinguishes before the turn, where it learns by CFR: our buckets, or all hands up
        to suits.
    river_step : int
        Learn from one river of a board in this many, up to suits; the opponent responds on all. On a GPU an
        iteration takes less time with 3, and its regrets are noisier.
    **options
        `deck`, a smaller deck for tests; `seed`, `threads`, `device` and `in_flight`, as in `Solver`. On
        the CPU the two seats learn in two threads. `in_flight` boards are dealt at a time: 1; on a GPU 16,
        fewer at first; on a cluster 16.

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
    settings: CFRBRSettings

    def _prepare(self) -> None:
        within("river_step", self.settings.river_step, 1, MOST_STEP)
        self._river_step = int(self.settings.river_step)
        tree, buckets = self.tree, self.tree.abstraction.tables()
        if self.settings.trunk == HANDS:
            self._trunk_rows = hole_class().astype(np.int32), flop_hands()
            self._trunk_counts = ALL_HANDS[PREFLOP], ALL_HANDS[FLOP]
        else:
            self._trunk_rows = buckets[PREFLOP][0].astype(np.int32), np.asarray(buckets[FLOP], np.int32)
            self._trunk_counts = int(tree.abstraction.counts[PREFLOP]), int(tree.abstraction.counts[FLOP])
        self._won: list[tuple[int, Floats]] = []  # iterations, and the opponent's chips so far by our seat
        self._chips = np.zeros(2)
        edges = tree.layout.edges
        self._trunks = [
            [
                np.zeros((self._trunk_counts[street], int(edges[street, 1 - seat])))
                for street in (PREFLOP, FLOP)
            ]
            for seat in range(2)
        ]

    def _new_gpu(self, in_flight: int) -> Any:
        from openfelt.solve.vector.gpu.iterations import CFRBROnGpu

        trunk = self._trunk_rows, self._trunk_counts
        return CFRBROnGpu(self.tree, self._boards, in_flight, *trunk, self._river_step)

    def _start_on_cpu(self) -> None:
        none, hands = np.zeros((0, 0)), int(self.deck.pairs.sum())
        preflop_row, flop_row = (row.astype(np.int64) for row in self._trunk_rows)
        self._opponents = []
        for trunk in self._trunks:
            before, on_flop = (Rows(table, none, np.zeros((hands, table.shape[1]))) for table in trunk)
            self._opponents.append(Trunk(before, on_flop, preflop_row, flop_row))
        super()._start_on_cpu()

    def _advance(self, iterations: int) -> None:
        if not self._won:
            self._won.append((self.iterations, self._opponent_chips()))
        super()._advance(iterations)
        self._won.append((self.iterations + iterations, self._opponent_chips()))

    def _advance_on_cpu(self, iterations: int) -> None:
        with ThreadPoolExecutor(min(self.threads, 2)) as pool:
            list(pool.map(lambda seat: self._learn(seat, iterations), range(2)))

    def _deal(self, unit: BoardUnit) -> float:
        learner, opponent = self._learners[unit.side], self._opponents[unit.side]
        cards, work = self._boards.cards(unit.board), self._work[unit.side]
        sampled = self._boards.sampled_rivers(unit.board, self._river_step, unit.offset)
        return float(iterate(self._betting, cards, sampled, learner, opponent, unit.weights, work))

    def _add(self, side: int, found: Increments) -> None:
        super()._add(side, found)
        self._chips[side] += found.won

    def _learn(self, seat: int, iterations: int) -> None:
        for number in range(self.iterations + 1, self.iterations + iterations + 1):
            unit = BoardUnit(self.board(number), seat, self._offset(number), self._weights(number))
            self._chips[seat] += self._deal(unit)
            match_all(self._betting, self._learners[seat])

    def _resumed(self) -> None:
        super()._resumed()
        self._won = []

    def _opponent_chips(self) -> Floats:
        """By our seat, summed over all boards so far and all pairs of hands."""
        return self._gpu.opponents_won() if self.device == CUDA else self._chips.copy()

    @property
    def opponent_value(self) -> tuple[float, float]:
        """What the opponent has won in the last tenth of the iterations: chips a hand, by our seat.

        This estimates what a best response wins from our current policy. It is less as long as the opponent
        still learns how to play before the turn, or learns that in buckets.
        """
        if not self._won:
            raise FeltError(f"{self.name} has run no iterations yet.")
        (begun, _), (last, total) = self._won[0], self._won[-1]
        until = last - RECENT * (last - begun)
        first, before = next(each for each in reversed(self._won) if each[0] <= until)
        left = self.deck.size - 4  # cards that are not on the board
        one, two = (total - before) / (last - first) / (comb(left, 2) * comb(left - 2, 2))
        return float(one), float(two)
