"""Fictitious play where the game is too large to walk: best replies to sampled play.

In Brown's fictitious play (1951) each player answers the average of what the others have played with a best
reply, and what comes out is the average of the replies; over realisation plans (Heinrich, Lanctot & Silver
2015) it is `fictitious_play.py`, which needs every history. Here an iteration is that of external sampling
(`external_mccfr.py`), with one rule exchanged: in each row a player takes the action whose counterfactual
values sum to the most so far (all such ones alike), instead of matching regrets. (Regrets are these sums less
something that is the same for all actions of a row, so their order is the same.)

The others' average is not drawn from, yet it is what is answered: in iteration t they play the best replies
that they have then, and the sum of what an action was worth against each of these is t times what it is worth
against their average. It is also what makes the averages those of whole strategies: a row is met as
often as its player's reply of the moment plays to it.

Where this is not the theory's:

- The sums are those of sampled deals and replies. Errors that vanish in the mean are what generalised
  weakened fictitious play allows for (Leslie & Collins 2006).
- An action's sum holds what the player's own later replies were worth when they were played; a best response
  proper is made anew from the leaves upwards. So each row follows the leader by itself, and there is no proof
  that the whole converges. In the small games it does, about as fast as external sampling.
- Players are updated in turn, not at once, and one who comes later answers what was just learned.

Drawing the others from their averages, and adding the reply to the average of each row that is met, was tried
first: it does not converge (nash_conv in Leduc stays near 3 chips over two million iterations).
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from openfelt.core.jit import Floats
from openfelt.solve.sampling.external_mccfr import ExternalMCCFR, play_row, traverse_in_turn
from openfelt.solve.traverse.episode import implements
from openfelt.solve.traverse.regret_matching import REGRET
from openfelt.solve.traverse.worker import iterate


class BestReplies(NamedTuple):
    """How a game is walked: as by external sampling, with best replies."""

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
    runs_on_gpu: ClassVar[bool] = False  # what a crowd of replies that go together would learn is not known


implements(iterate, BestReplies)(traverse_in_turn)


@implements(play_row, BestReplies)
def _reply(
    how: BestReplies, sums: Floats, first: int, last: int, policies: Floats, row: int, column: int
) -> None:
    """The best action so far; at the start, and at any other tie, all of them alike.

    Other threads may write to the sums meanwhile, so they are read once.
    """
    most, count = -np.inf, 0
    for slot in range(first, last):
        policies[row, column + slot - first] = sums[slot, REGRET]
        most = max(most, policies[row, column + slot - first])
    for place in range(column, column + last - first):
        count += policies[row, place] == most
    for place in range(column, column + last - first):
        policies[row, place] = (policies[row, place] == most) / count
