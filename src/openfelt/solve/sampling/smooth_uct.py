"""Smooth IS-UCT: tree search that often follows its average policy (HS14, Algorithm 2).

The schedule `decay` is equation 2.11 of Mac Manus 2019 (MM19), after Heinrich & Silver 2015, with the factor
eta0 of the listing in its section 3.1.2, and with N the visits of the infoset; HS14's schedule (4) is the
same with other numbers.

With three players HS14 sets eta to 0 at infosets with fewer than 10,000 visits, to avoid disproportionate
exploration at rarely visited nodes. Read literally, such an infoset plays its average policy only, which then
does not improve: an action is drawn in proportion to how often it was drawn before. (Each action is tried
once first; the average of a single visit would repeat it for ever.) As Definition 4 asks for an eta that is
bounded from below, the sentence may mean that there is no mixing there, but plain UCB: below="ucb".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from openfelt.core.errors import FeltError
from openfelt.solve.sampling.gpu import InFlightLimits
from openfelt.solve.sampling.uct import UCT, UCTSettings
from openfelt.solve.solver import Settings, setting, within
from openfelt.solve.traverse.ucb import Selection

MAX_AVERAGE, BY_VISITS, DECAY = "max-average", "visits", "decay"
BY_AVERAGE, BY_UCB = "average", "ucb"


@dataclass(frozen=True)
class SmoothUCTSettings(UCTSettings):
    """Parameters of Smooth IS-UCT."""

    schedule: str = setting(
        DECAY,
        "eta, the probability of UCB: the largest probability of the average (HS14, 3); "
        "9000 / (10000 + sqrt(N)) (HS14, 4); or max(gamma, eta0 / (1 + d sqrt(N))) (MM19, 2.11)",
        choices=(MAX_AVERAGE, BY_VISITS, DECAY),
    )
    gamma: float = setting(0.1, "lower limit of eta in the schedule decay")
    eta0: float = setting(0.9, "initial eta in the schedule decay")
    d: float = setting(0.002, "rate of the schedule decay")
    threshold: float = setting(
        0.0, "infosets with fewer visits are played without mixing (HS14 uses 10000 with three players)"
    )
    below: str = setting(
        BY_AVERAGE,
        "what is played there: the average, as eta = 0 says; or UCB",
        choices=(BY_AVERAGE, BY_UCB),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        within("gamma", self.gamma, 0.0, 1.0)
        within("eta0", self.eta0, 0.0, 1.0)
        within("d", self.d, 0.0, math.inf)
        within("threshold", self.threshold, 0.0, math.inf)
        if self.below != BY_AVERAGE and not self.threshold:
            raise FeltError("below= says what is played below a threshold: give threshold= too.")
        own = SmoothUCTSettings.gamma, SmoothUCTSettings.eta0, SmoothUCTSettings.d
        if self.schedule != DECAY and (self.gamma, self.eta0, self.d) != own:
            raise FeltError(f"gamma, eta0 and d belong to the schedule {DECAY}, not to {self.schedule}.")


class SmoothUCT(UCT):
    """Smooth IS-UCT: UCB mixed with the average policy, which approaches an equilibrium (HS14).

    Parameters
    ----------
    game : Game, str or Path
        Any game, hold'em included.
    c : float, optional
        Exploration constant, in the game's unit; by default half the range of payoffs.
    k : float, optional
        In poker, instead of `c`: explore with the pot plus k times what can still be bet (HS14, 5).
    rollout : {"uniform", "call", "on-policy"}
        How a player acts after it has left its tree.
    opponent : str, Path or Policy
        "self", "random", a rule, the folder of a run or policy, or a policy.
    schedule : {"decay", "max-average", "visits"}
        Probability eta of selecting by UCB: max(gamma, eta0 / (1 + d sqrt(N))) (MM19, 2.11), the largest
        probability of the average (HS14, 3), or 9000 / (10000 + sqrt(N)) (HS14, 4).
    gamma : float
        Lower limit of eta in the schedule "decay".
    eta0 : float
        Initial eta in the schedule "decay".
    d : float
        Rate of the schedule "decay".
    threshold : float
        Infosets with fewer visits are played without mixing.
    below : {"average", "ucb"}
        What is played there: the average, as eta = 0 says, or UCB.
    **options
        `seed`, `threads`, `device` and `in_flight`, as in `Solver`.

    Examples
    --------
    >>> solver = felt.SmoothUCT("kuhn", c=2, seed=1).run(100_000)
    >>> solver.measure().exploitability < 0.1
    True
    """

    name: ClassVar[str] = "smooth-uct"
    summary: ClassVar[str] = "UCT mixed with its average policy (Smooth IS-UCT, Heinrich & Silver 2014)"
    settings_type: ClassVar[type[Settings]] = SmoothUCTSettings
    settings: SmoothUCTSettings

    def _in_flight_limits(self) -> InFlightLimits:
        return InFlightLimits(4096, 16.0) if self.settings.schedule == DECAY else super()._in_flight_limits()

    def _choose_selection(self) -> Selection:
        settings, threshold = self.settings, float(self.settings.threshold)
        below = settings.below == BY_UCB
        if settings.schedule == DECAY:
            gamma, eta0, d = float(settings.gamma), float(settings.eta0), float(settings.d)
            return Selection(False, gamma, eta0, d, threshold, below)
        return Selection(settings.schedule == MAX_AVERAGE, 0.0, 0.9, 1e-4, threshold, below)
