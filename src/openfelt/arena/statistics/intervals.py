"""What a sample says of a mean: moments that add up, intervals, control variates, and when to stop.

A match adds up, deal by deal, a few numbers: what each participant won, and what is known of the luck of the
cards. All that is reported follows from their sums and sums of products (`Moments`), so blocks of deals can
be played anywhere and put together, and nothing else has to be kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats


@dataclass(frozen=True)
class Moments:
    """Of rows of numbers: how many, their sums, and the sums of products of any two columns."""

    count: int
    sums: Floats  # [columns]
    products: Floats  # [columns, columns]

    @staticmethod
    def of(rows: Floats) -> Moments:
        """Of a table [rows, columns]."""
        return Moments(len(rows), rows.sum(axis=0), rows.T @ rows)

    @staticmethod
    def total(parts: Iterable[Moments]) -> Moments:
        """Of all rows together; added up in the order given, so that it does not depend on who was first."""
        count, sums, products = 0, np.zeros(0), np.zeros((0, 0))
        for part in parts:
            if count == 0:
                sums, products = np.zeros_like(part.sums), np.zeros_like(part.products)
            count, sums, products = count + part.count, sums + part.sums, products + part.products
        return Moments(count, sums, products)

    @property
    def means(self) -> Floats:
        return self.sums / self.count

    @property
    def covariance(self) -> Floats:
        """Of a row, estimated without bias."""
        means = self.means
        table = (self.products - self.count * np.outer(means, means)) / max(1, self.count - 1)
        return np.asarray(table)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; floats come back as they were."""
        return {"count": self.count, "sums": self.sums.tolist(), "products": self.products.tolist()}

    @staticmethod
    def from_dict(found: dict[str, Any]) -> Moments:
        """What `as_dict` gave."""
        sums = np.array(found["sums"], float)
        products = np.array(found["products"], float).reshape(len(sums), len(sums))
        return Moments(int(found["count"]), sums, products)


RANK_TOLERANCE = 1e-10  # controls that others tell already count for nothing


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error."""

    mean: float
    error: float
    freedom: float = math.inf  # degrees of, for Student's t

    def interval(self, confidence: float = 0.95) -> float:
        """Half the width of the interval."""
        if self.freedom < 1:
            return math.inf
        return float(scipy.stats.t.ppf(0.5 + confidence / 2, self.freedom)) * self.error

    def scaled(self, factor: float) -> Estimate:
        """In another unit."""
        return Estimate(self.mean * factor, self.error * abs(factor), self.freedom)


def estimate(moments: Moments, column: int, controls: Iterable[int] = ()) -> Estimate:
    """The mean of a column; `controls` are columns whose true mean is 0, regressed out.

    It is the intercept of a linear regression, with its usual standard error. The regression costs a degree
    of freedom a control, and where rows are not normal a bias of the order of one over their number
    (Lavenberg & Welch 1981), far below the standard error.
    """
    count, chosen = moments.count, list(controls)
    if count < 2:
        return Estimate(float(moments.means[column]), math.inf, 0)
    covariance, means = moments.covariance, moments.means
    mean, variance = float(means[column]), float(covariance[column, column])
    freedom, spread = count - 1, 1.0 / count
    inner, cross = covariance[np.ix_(chosen, chosen)], covariance[chosen, column]
    rank = _rank(inner)
    if 1 <= rank < freedom:  # with too few rows, controls are left alone
        inverse = np.linalg.pinv(inner, rcond=RANK_TOLERANCE, hermitian=True)
        slope = inverse @ cross
        mean -= float(slope @ means[chosen])
        variance = (variance - float(slope @ cross)) * freedom / (freedom - rank)
        spread += float(means[chosen] @ inverse @ means[chosen]) / freedom
        freedom -= rank
    # Sums of squares leave a little rounding behind where there is no variance at all.
    floor = 1e-14 * float(moments.products[column, column]) / count
    variance = variance if variance > floor else 0.0
    return Estimate(mean, math.sqrt(variance * spread), freedom)


def _rank(matrix: Floats) -> int:
    """How many of the controls tell something that the others do not."""
    if not len(matrix):
        return 0
    return int(np.linalg.matrix_rank(matrix, tol=RANK_TOLERANCE * np.linalg.norm(matrix, 2), hermitian=True))


def wilson(wins: float, games: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of Wilson (1927) for a share."""
    if games == 0:
        return 0.0, 1.0
    z = float(scipy.stats.norm.ppf(0.5 + confidence / 2))
    share, weight = wins / games, z * z / games
    middle = (share + weight / 2) / (1 + weight)
    half = z / (1 + weight) * math.sqrt(share * (1 - share) / games + weight / (4 * games))
    return max(0.0, middle - half), min(1.0, middle + half)


BETTER, WORSE, UNDECIDED = "better", "worse", "undecided"
FIRST_LOOK = 500  # rows before which the variance is not trusted: huge pots are rare


@dataclass(frozen=True)
class SequentialTest:
    """Wald's sequential probability ratio test (1945) of a mean: is it +margin or -margin?

    The rows are taken as normal with the variance measured so far, as is usual for match results. If the
    truth lies beyond a margin the wrong answer comes at most about as often as its error rate; between the
    margins either answer may come, and at 0 each equally often where the rates are equal.
    """

    margin: float  # in the unit of the column
    false_better: float = 0.05  # how often "better" may be said of a mean at or below -margin
    false_worse: float = 0.05

    def __post_init__(self) -> None:
        if not (self.margin > 0 and math.isfinite(self.margin)):
            raise FeltError(f"The margin of a sequential test must be above 0, not {self.margin}.")
        for rate in (self.false_better, self.false_worse):
            if not 0 < rate < 0.5:
                raise FeltError(f"An error rate must be above 0 and below 0.5, not {rate}.")

    @property
    def bounds(self) -> tuple[float, float]:
        """Of the log-likelihood ratio: below the first it is worse, above the second better."""
        lower = math.log(self.false_worse / (1 - self.false_better))
        return lower, math.log((1 - self.false_worse) / self.false_better)

    def ratio(self, moments: Moments, column: int) -> float:
        """The log-likelihood ratio of +margin against -margin."""
        if moments.count < FIRST_LOOK:
            return 0.0
        known = estimate(moments, column)
        if known.error == 0.0:
            return math.copysign(math.inf, known.mean) if known.mean else 0.0
        return 2 * self.margin * known.mean / known.error**2

    def verdict(self, moments: Moments, column: int) -> str:
        """What can be said after these rows."""
        ratio, (lower, upper) = self.ratio(moments, column), self.bounds
        return BETTER if ratio >= upper else WORSE if ratio <= lower else UNDECIDED
