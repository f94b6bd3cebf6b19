"""CFR with public chance sampling (Johanson, Bard, Lanctot, Gibson & Bowling 2012).

The paper is "Efficient Nash equilibrium approximation through Monte Carlo counterfactual regret
minimization". In each iteration a flop and a turn are dealt, and both players learn with all hands and on all
rivers, in their buckets. The average policy converges to an equilibrium of the abstract game, as that of
external sampling does.
"""

from __future__ import annotations

from typing import Any, ClassVar

from openfelt.solve.vector.iteration import iterate_both, match_all
from openfelt.solve.vector.vector_solver import BoardUnit, VectorSolver


class PublicChanceCFR(VectorSolver):
    """CFR that deals a flop and a turn in each iteration and computes with all hands and rivers.

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
    **options
        `deck`, a smaller deck for tests; `seed`, `device` and `in_flight`, as in `Solver`. `in_flight` boards
        are dealt at a time: 1; on a GPU 16, fewer at first; on a cluster 16.

    Examples
    --------
    >>> felt.PublicChanceCFR("holdem(buckets='ehs:2')").summary
    'CFR on a sampled flop and turn, with all hands and rivers (Johanson et al. 2012)'
    """

    name: ClassVar[str] = "public-chance-cfr"
    summary: ClassVar[str] = (
        "CFR on a sampled flop and turn, with all hands and rivers (Johanson et al. 2012)"
    )
    sides: ClassVar[tuple[int, ...]] = (0,)

    def _new_gpu(self, in_flight: int) -> Any:
        from openfelt.solve.vector.gpu.iterations import PublicChanceOnGpu

        return PublicChanceOnGpu(self.tree, self._boards, in_flight)

    def _deal(self, unit: BoardUnit) -> float:
        one, two = self._learners
        iterate_both(self._betting, self._boards.cards(unit.board), one, two, unit.weights, self._work[0])
        return 0.0

    def _advance_on_cpu(self, iterations: int) -> None:
        one, two = self._learners
        for number in range(self.iterations + 1, self.iterations + iterations + 1):
            cards = self._boards.cards(self.board(number))
            iterate_both(self._betting, cards, one, two, self._weights(number), self._work[0])
            for learner in self._learners:
                match_all(self._betting, learner)
