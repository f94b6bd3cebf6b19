"""Extensive-form fictitious play: each player best-responds to the opponents' average policy.

Heinrich, Lanctot & Silver 2015 (XFP). Averaging is over realisation plans, so the average is that of
whole strategies, as in Brown's fictitious play of the normal form, at the cost of the extensive form.
The average starts with the uniform policy; all players respond simultaneously, with step 1/(t+1).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from openfelt.core.jit import Floats, kernel
from openfelt.games.compile.infoset_tree import InfosetTree
from openfelt.games.compile.sequence_form import SequenceForm
from openfelt.policy.tabular import uniform_policy
from openfelt.solve.realisation_plans import full_reach
from openfelt.solve.solver import Solver
from openfelt.solve.traverse.sequence import best_response, spread_reach, sum_leaves


class FictitiousPlay(Solver):
    """Extensive-form fictitious play (Brown 1951; Heinrich, Lanctot & Silver 2015).

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game.
    **options
        As in `Solver`; the algorithm has no parameters of its own.

    Examples
    --------
    >>> felt.FictitiousPlay("kuhn").run(1_000).measure().exploitability < 0.05
    True
    """

    name: ClassVar[str] = "fictitious-play"
    summary: ClassVar[str] = "best responses to the average (Brown 1951; Heinrich et al. 2015)"
    tree: InfosetTree

    def _start(self) -> None:
        # The plans are summed, not averaged: sums of zeros and ones are exact, and a best response does not
        # change if the opponents' reach is multiplied by a constant.
        self._sum = full_reach(self.form, uniform_policy(self.tree).probabilities)

    def _advance(self, iterations: int) -> None:
        _iterate(self.form, self._sum, iterations)

    @property
    def weights(self) -> Floats:
        return self._sum[: self.tree.num_slots]

    def tables(self) -> dict[str, NDArray[Any]]:
        return {"sum": self._sum}


@kernel
def _iterate(form: SequenceForm, plan_sum: Floats, iterations: int) -> None:
    num_players = len(form.first_row) - 1
    values, plan = np.empty(form.first_slot[-1] + num_players), np.empty_like(plan_sum)
    response = np.empty(form.first_slot[-1])
    for _ in range(iterations):
        for player in range(num_players):
            sum_leaves(form, player, plan_sum, values)
            best_response(form, player, values, response)
            spread_reach(form, player, response, plan)
        for slot in range(len(plan_sum)):
            plan_sum[slot] += plan[slot]
