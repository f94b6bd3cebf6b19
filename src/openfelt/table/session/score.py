"""What a person has won in a session, how sure that is, and what is left of it without the luck."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from openfelt.arena.statistics.intervals import Moments, estimate

POINTS = 400  # of a chart, at most


class Score:
    """Adds up winnings, hand by hand."""

    def __init__(self, unit_bet: float | None) -> None:
        self._scale = 1000 / unit_bet if unit_bet else 1.0
        self.unit = "mbb/h" if unit_bet else "chips a hand"
        self.won: list[float] = []  # of each hand
        self.luck_free: list[float] = []  # of each hand, as long as it is known of all
        self._known = True
        self._summary: dict[str, Any] | None = None  # worked out once a hand

    @property
    def hands(self) -> int:
        return len(self.won)

    @property
    def knows_luck(self) -> bool:
        """Whether the luck of every hand is known."""
        return self._known

    def add(self, won: float, luck_free: float | None) -> None:
        """A hand is over."""
        self.won.append(won)
        self._known &= luck_free is not None
        self.luck_free.append(won if luck_free is None else luck_free)
        self._summary = None

    def summary(self) -> dict[str, Any]:
        """As the page shows it."""
        if self._summary is None:
            free = self._line(self.luck_free) if self._known and self.won else None
            own = self._line(self.won)
            self._summary = {"hands": self.hands, **own, "rate_unit": self.unit, "luck_free": free}
        return self._summary

    def chart(self) -> list[list[float | None]]:
        """[hand, won so far, the same without luck], thinned out where there are many hands."""
        won, free = np.cumsum([0.0, *self.won]).tolist(), np.cumsum([0.0, *self.luck_free]).tolist()
        places = np.unique(np.linspace(0, self.hands, min(POINTS, self.hands + 1)).astype(int)).tolist()
        return [[place, won[place], free[place] if self._known else None] for place in places]

    def _line(self, amounts: list[float]) -> dict[str, float | None]:
        if not amounts:
            return {"won": 0.0, "rate": None, "interval": None}
        mean = estimate(Moments.of(np.array(amounts)[:, None]), 0).scaled(self._scale)
        interval = mean.interval() if mean.error > 0 else math.inf  # equal winnings say nothing of luck
        return {
            "won": sum(amounts),
            "rate": mean.mean,
            "interval": interval if np.isfinite(interval) else None,
        }
