"""Wald's sequential test: stop a match as soon as it is decided."""

from __future__ import annotations

import math
from dataclasses import dataclass

from openfelt.arena.statistics.estimates import Moments, estimate
from openfelt.core.errors import FeltError

BETTER, WORSE, UNDECIDED = "better", "worse", "undecided"
MIN_ROWS = 500  # with fewer, the variance is not reliable: large pots are rare


@dataclass(frozen=True)
class SequentialTest:
    """Wald's sequential probability ratio test (1945) of a mean: is it +margin or -margin?

    Rows are assumed to be normal with the variance measured so far, as is usual for match results. If the
    true mean is beyond a margin, the probability of the wrong verdict is about the error rate at most.
    Between the margins either verdict is possible; at 0, with equal rates, both have the same probability.

    Parameters
    ----------
    margin : float
        In a match of hold'em in mbb/h, otherwise in the unit of the game.
    false_better : float
        Probability of the verdict "better" if the mean is -margin.
    false_worse : float
        Probability of the verdict "worse" if the mean is +margin.

    Examples
    --------
    >>> test = felt.SequentialTest(margin=10)
    >>> [round(bound, 2) for bound in test.bounds]
    [-2.94, 2.94]
    """

    margin: float  # in the unit of the column
    false_better: float = 0.05  # probability of the verdict "better" if the mean is -margin
    false_worse: float = 0.05  # probability of the verdict "worse" if the mean is +margin

    def __post_init__(self) -> None:
        if not (self.margin > 0 and math.isfinite(self.margin)):
            raise FeltError(f"The margin of a sequential test must be above 0, not {self.margin}.")
        for rate in (self.false_better, self.false_worse):
            if not 0 < rate < 0.5:
                raise FeltError(f"An error rate must be above 0 and below 0.5, not {rate}.")

    @property
    def bounds(self) -> tuple[float, float]:
        """Of the log-likelihood ratio: at or below the first it is worse, at or above the second better."""
        lower = math.log(self.false_worse / (1 - self.false_better))
        return lower, math.log((1 - self.false_worse) / self.false_better)

    def ratio(self, moments: Moments, column: int) -> float:
        """The log-likelihood ratio of +margin against -margin."""
        if moments.count < MIN_ROWS:
            return 0.0
        measured = estimate(moments, column)
        if measured.error == 0.0:
            return math.copysign(math.inf, measured.mean) if measured.mean else 0.0
        return 2 * self.margin * measured.mean / measured.error**2

    def verdict(self, moments: Moments, column: int) -> str:
        """The verdict after these rows."""
        ratio, (lower, upper) = self.ratio(moments, column), self.bounds
        return BETTER if ratio >= upper else WORSE if ratio <= lower else UNDECIDED
