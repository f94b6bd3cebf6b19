"""The winnings of a person in a session, with intervals, and the luck-adjusted winnings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from openfelt.arena.statistics.estimates import Moments, estimate

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
        won, free = np.cumsum([0.0, *self.won]).tolist(), np.cumsum([0.0, *self.adjusted]).tolist()
        places = np.unique(np.linspace(0, self.hands, min(MOST_POINTS, self.hands + 1)).astype(int)).tolist()
        return [[place, won[place], free[place] if self._is_adjusted else None] for place in places]

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
