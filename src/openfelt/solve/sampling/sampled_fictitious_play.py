"""Fictitious play for games too large to traverse in full: best replies to sampled play.

In Brown's fictitious play (1951) each player answers the average of its opponents' past play with a best
reply, and the result is the average of the replies. Over realisation plans (Heinrich, Lanctot & Silver 2015)
it is `fictitious_play.py`, which visits every history. Here an iteration is that of external sampling
(`external_mccfr.py`) with one rule replaced: at each infoset a player takes the action with the highest sum
of counterfactual values so far (uniformly among ties) instead of matching regrets. (Regrets are these sums
less a constant of the infoset, so their order is the same.)

Opponents are not sampled from their averages, yet the replies answer these averages: in iteration t opponents
play their current best replies, and the sum of an action's values against all of these is t times its value
against their average. For the same reason the averages are those of whole strategies: an infoset is visited
as often as its player's current reply plays to it.

Departures from the theory:

- The sums are those of sampled deals and replies. Generalised weakened fictitious play allows for errors that
  vanish on average (Leslie & Collins 2006).
- An action's sum contains the values of the player's own later replies at the time they were played; a true
  best response is computed anew from the leaves upwards. So each infoset follows the leader separately, and
  there is no proof that the whole converges. In the small games it does, about as fast as external sampling.
- Players are updated in turn, not simultaneously: a later one answers what was just learned.

Sampling the opponents from their averages, and adding the reply to the average of each visited infoset, was
tried first. It does not converge: nash_conv in Leduc stays near 3 chips over two million iterations.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from openfelt.core.jit import Floats
from openfelt.solve.sampling.external_mccfr import (
    ExternalMCCFR,
    add_regrets,
    keep_regrets,
    play_row,
    traverse_in_turn,
)
from openfelt.solve.traverse.episode import implements
from openfelt.solve.traverse.regret_matching import REGRET
from openfelt.solve.traverse.sampling_worker import iterate


class BestReplies(NamedTuple):
    """How a game is traversed: as by external sampling, with best replies."""

    samples_others: bool
    most_actions: int


class SampledFictitiousPlay(ExternalMCCFR):
    """Fictitious play with chance and opponents sampled, for games too large for `FictitiousPlay`.

    Parameters
    ----------
    game : Game, str or Path
        Any game, hold'em included.
    **options
        `seed`, `threads` and `restriction`, as in `Solver`. It does not run on a GPU.

    Examples
    --------
    >>> solver = felt.SampledFictitiousPlay("kuhn", seed=1).run(20_000)
    >>> solver.measure().exploitability < 0.1
    True
    """

    name: ClassVar[str] = "sampled-fictitious-play"
    summary: ClassVar[str] = "best replies to sampled past play (after Brown 1951; Leslie & Collins 2006)"
    walk_type: ClassVar[Any] = BestReplies
    runs_on_gpu: ClassVar[bool] = False  # not tested with correlated replies in flight


implements(iterate, BestReplies)(traverse_in_turn)
implements(keep_regrets, BestReplies)(add_regrets)


@implements(play_row, BestReplies)
def _reply(
    how: BestReplies, sums: Floats, first: int, last: int, policies: Floats, row: int, column: int
) -> None:
    """The best action so far; uniform over ties, and so at the start.

    Other threads may write to the sums meanwhile, so each is read once.
    """
    most, count = -np.inf, 0
    for slot in range(first, last):
        policies[row, column + slot - first] = sums[slot, REGRET]
        most = max(most, policies[row, column + slot - first])
    for place in range(column, column + last - first):
        count += policies[row, place] == most
    for place in range(column, column + last - first):
        policies[row, place] = (policies[row, place] == most) / count
