"""The winnings of a person in a session, with intervals, and the luck-adjusted winnings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from openfelt.arena.statistics.estimates import Moments, estimate
from openfelt.core.jit import Floats

MOST_POINTS = 400  # of a chart


class Score:
    """Winnings hand by hand."""

    def __init__(self, big_blind: float | None) -> None:
        self._scale = 1000 / big_blind if big_blind else 1.0
        self.unit = "mbb/h" if big_blind else "chips a hand"
        self.won: list[float] = []  # of each hand
        self.adjusted: list[float] = []  # luck-adjusted, of each hand, while known for all
        self._is_adjusted = True
        self._summary: dict[str, Any] | None = None  # computed once per hand

    @property
    def hands(self) -> int:
        return len(self.won)

    @property
    def is_adjusted(self) -> bool:
        """Whether every hand could be adjusted for luck."""
        return self._is_adjusted

    def add(self, won: float, adjusted: float | None) -> None:
        """Count a finished hand."""
        self.won.append(won)
        self._is_adjusted &= adjusted is not None
        self.adjusted.append(won if adjusted is None else adjusted)
        self._summary = None

    def summary(self) -> dict[str, Any]:
        """The figures of the page."""
        if self._summary is None:
            free = self._line(self.adjusted) if self._is_adjusted and self.won else None
            own = self._line(self.won)
            self._summary = {"hands": self.hands, **own, "rate_unit": self.unit, "luck_free": free}
        return self._summary

    def chart(self) -> list[list[float | None]]:
        """[hand, total winnings, luck-adjusted total], thinned out if there are many hands."""
        return chart_points(self.won, self.adjusted if self._is_adjusted else None)

    def _line(self, amounts: list[float]) -> dict[str, float | None]:
        if not amounts:
            return {"won": 0.0, "rate": None, "interval": None}
        mean = estimate(Moments.of(np.array(amounts)[:, None]), 0).scaled(self._scale)
        interval = (
            mean.interval() if mean.error > 0 else math.inf
        )  # equal winnings say nothing about the spread
        return {
            "won": sum(amounts),
            "rate": mean.mean,
            "interval": interval if np.isfinite(interval) else None,
        }


def chart_points(*columns: Sequence[float] | Floats | None) -> list[list[float | None]]:
    """[hand, the total of each column up to this hand, or None], thinned out if there are many hands."""
    totals = [None if column is None else np.cumsum([0.0, *column]).tolist() for column in columns]
    hands = max(len(total) - 1 for total in totals if total is not None)
    places = np.unique(np.linspace(0, hands, min(MOST_POINTS, hands + 1)).astype(int)).tolist()
    return [[place, *(None if total is None else total[place] for total in totals)] for place in places]
