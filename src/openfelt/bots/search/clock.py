"""How many iterations to do before the next look at the clock, so that an action is named in time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from openfelt.core.errors import FeltError

MARGIN = 2.0  # a chunk may take so many times what is foreseen
SLICE = 0.005  # seconds of a chunk at most
FIRST, GROWTH = 64, 4  # iterations of the first chunk at most, and how much longer the next may be
TICK = 1e-9  # seconds that an iteration takes at least, whatever a coarse clock says
RESERVE, SHARE = 0.001, 0.02  # seconds kept for what comes after, and the share of all time
STALLS = 0.25  # the share of all time that may be kept for being stopped by the system
FADING = 0.9  # how much of the longest stall is remembered from one search to the next


@dataclass
class TimingHistory:
    """What a searcher remembers of its earlier searches, in seconds."""

    cost: float = 0.0  # of an iteration; 0 where nobody knows
    stall: float = 0.0  # by how much a chunk was late, at worst: others want the processor too


class Pace:
    """Of one search: ask it before each chunk how many iterations that may be.

    What an iteration costs is measured from question to question, so all that Python does in between is
    counted. The first chunk is always granted, for without it there is nothing to name.
    """

    def __init__(
        self,
        now: Callable[[], float],
        seconds: float,
        iterations: int | None,
        habits: TimingHistory | None = None,
        begun: float | None = None,
    ) -> None:
        """Time runs since `begun`, or from now on."""
        if iterations is None and seconds == math.inf:
            raise FeltError("A search needs a number of iterations, or seconds.")
        if iterations is not None and iterations < 1:
            raise FeltError(f"A search needs at least one iteration, not {iterations}.")
        if not seconds > 0.0:
            raise FeltError(f"A search needs a time above 0 seconds, not {seconds}.")
        self._now, self._seconds, self._iterations = now, seconds, iterations
        self._begun = now() if begun is None else begun
        self._asked = self._begun
        self._habits = habits or TimingHistory()
        self._habits.stall *= FADING
        self.done, self._chunk, self._shortest = 0, 0, 0.0

    @property
    def used(self) -> float:
        """Seconds since the start."""
        return self._now() - self._begun

    def grant(self) -> int:
        """How many iterations to do now; 0 when it is time to stop."""
        if self._seconds == math.inf:
            assert self._iterations is not None
            self.done, count = self._iterations, self._iterations - self.done
            return count
        time, habits = self._now(), self._habits
        if self._chunk:
            self._learn(time - self._asked)
        self._asked = time
        rest = math.inf if self._iterations is None else self._iterations - self.done
        most = self._chunk * GROWTH if self._chunk else FIRST if habits.cost else 1
        least = 1 if not self.done or self._left(time) > MARGIN * habits.cost else 0
        # What has to be done besides iterations takes no longer than the shortest chunk did as a whole.
        foreseen = min(self._left(time) / MARGIN - self._shortest, SLICE)
        self._chunk = int(min(rest, most, max(least, foreseen / max(habits.cost, TICK))))
        return self._chunk

    def _left(self, time: float) -> float:
        """Seconds that may still be used."""
        kept = SHARE * self._seconds + RESERVE + min(self._habits.stall, STALLS * self._seconds)
        return self._seconds - kept - (time - self._begun)

    def _learn(self, took: float) -> None:
        habits = self._habits
        if habits.cost and self.done:
            late = took - self._shortest - self._chunk * habits.cost
            habits.stall = max(habits.stall, late)
        self.done += self._chunk
        habits.cost = took / self._chunk
        self._shortest = min(self._shortest or took, took)
