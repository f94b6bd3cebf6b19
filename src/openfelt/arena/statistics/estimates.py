"""Estimates of means: additive moments, intervals, control variates and a sequential test.

Each deal of a match is a row of a few numbers: the winnings of each participant, and control variates for the
luck of the cards. All that is reported follows from the sums of the columns and of their products
(`Moments`), so blocks of deals can be played anywhere and added up, and nothing else has to be stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # scipy.special takes long to import and loads itself when it is first used

from openfelt.core.jit import Floats


@dataclass(frozen=True)
class Moments:
    """Of rows of numbers: the count, the sums, and the sums of products of any two columns."""

    count: int
    sums: Floats  # [columns]
    products: Floats  # [columns, columns]

    @staticmethod
    def of(rows: Floats) -> Moments:
        """The moments of a table [rows, columns]."""
        return Moments(len(rows), rows.sum(axis=0), rows.T @ rows)

    @staticmethod
    def total(parts: Iterable[Moments]) -> Moments:
        """The moments of all rows, added up in the order given, so that the result is reproducible."""
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
        """[columns, columns] unbiased estimate of the covariance."""
        means = self.means
        table = (self.products - self.count * np.outer(means, means)) / max(1, self.count - 1)
        return np.asarray(table)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, without loss."""
        return {"count": self.count, "sums": self.sums.tolist(), "products": self.products.tolist()}

    @staticmethod
    def from_dict(facts: dict[str, Any]) -> Moments:
        """The inverse of `as_dict`."""
        sums = np.array(facts["sums"], float)
        products = np.array(facts["products"], float).reshape(len(sums), len(sums))
        return Moments(int(facts["count"]), sums, products)


RANK_TOLERANCE = 1e-10  # relative; below it control variates are linearly dependent


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error."""

    mean: float
    error: float
    freedom: float = math.inf  # degrees of freedom, for Student's t

    def interval(self, confidence: float = 0.95) -> float:
        """Half the width of the interval."""
        if self.freedom < 1:
            return math.inf
        return float(scipy.special.stdtrit(self.freedom, 0.5 + confidence / 2)) * self.error

    def scaled(self, factor: float) -> Estimate:
        """In another unit."""
        return Estimate(self.mean * factor, self.error * abs(factor), self.freedom)


def estimate(moments: Moments, column: int, controls: Iterable[int] = ()) -> Estimate:
    """The mean of a column; `controls` are columns whose true mean is 0, regressed out.

    It is the intercept of a linear regression, with its usual standard error. The regression costs one degree
    of freedom per control. If rows are not normal, it has a bias of the order of one over their number
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
    if 1 <= rank < freedom:  # with too few rows, controls are not used
        inverse = np.linalg.pinv(inner, rcond=RANK_TOLERANCE, hermitian=True)
        slope = inverse @ cross
        mean -= float(slope @ means[chosen])
        variance = (variance - float(slope @ cross)) * freedom / (freedom - rank)
        spread += float(means[chosen] @ inverse @ means[chosen]) / freedom
        freedom -= rank
    # Without any variance, sums of squares still leave a rounding error.
    floor = 1e-14 * float(moments.products[column, column]) / count
    variance = variance if variance > floor else 0.0
    return Estimate(mean, math.sqrt(variance * spread), freedom)


def _rank(matrix: Floats) -> int:
    """The number of linearly independent controls, from their covariance."""
    if not len(matrix):
        return 0
    return int(np.linalg.matrix_rank(matrix, tol=RANK_TOLERANCE * np.linalg.norm(matrix, 2), hermitian=True))


def wilson(wins: float, games: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of Wilson (1927) for the share of games won."""
    if games == 0:
        return 0.0, 1.0
    z = float(scipy.special.ndtri(0.5 + confidence / 2))
    share, weight = wins / games, z * z / games
    middle = (share + weight / 2) / (1 + weight)
    half = z / (1 + weight) * math.sqrt(share * (1 - share) / games + weight / (4 * games))
    return max(0.0, middle - half), min(1.0, middle + half)
