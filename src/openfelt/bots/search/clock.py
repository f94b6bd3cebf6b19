"""How many iterations to run before the next look at the clock, so that the search ends in time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from openfelt.core.errors import FeltError

MARGIN = 2.0  # a chunk may take this many times its expected duration
SLICE = 0.005  # longest chunk, in seconds
FIRST, GROWTH = 64, 4  # iterations of the first chunk, and largest factor from one to the next
TICK = 1e-9  # shortest iteration in seconds, even if a coarse clock measures less
RESERVE, SHARE = 0.001, 0.02  # reserved for the time after the search: seconds, and share of the limit
STALLS = 0.25  # largest share of the limit reserved for stalls by the system
FADING = 0.9  # decay of the longest stall from one search to the next


@dataclass
class TimingHistory:
    """Timings of a searcher's earlier searches, in seconds."""

    cost: float = 0.0  # of an iteration; 0: unknown
    stall: float = 0.0  # longest delay of a chunk: other programs use the processor too


class Pace:
    """The pace of one search: grants the number of iterations of each chunk.

    The cost of an iteration is measured from grant to grant, so it includes the time spent in Python. The
    first chunk is always granted, since without it there is no result.
    """

    def __init__(
        self,
        now: Callable[[], float],
        seconds: float,
        iterations: int | None,
        history: TimingHistory | None = None,
        begun: float | None = None,
    ) -> None:
        """The limit counts from `begun`, by default from now."""
        if iterations is None and seconds == math.inf:
            raise FeltError("A search needs a number of iterations, or seconds.")
        if iterations is not None and iterations < 1:
            raise FeltError(f"A search needs at least one iteration, not {iterations}.")
        if not seconds > 0.0:
            raise FeltError(f"A search needs a time above 0 seconds, not {seconds}.")
        self._now, self._seconds, self._iterations = now, seconds, iterations
        self._begun = now() if begun is None else begun
        self._granted = self._begun
        self._history = history or TimingHistory()
        self._history.stall *= FADING
        self.done, self._chunk, self._shortest = 0, 0, 0.0

    @property
    def used(self) -> float:
        """Seconds since the start."""
        return self._now() - self._begun

    def grant(self) -> int:
        """The number of iterations to run now; 0: stop."""
        if self._seconds == math.inf:
            assert self._iterations is not None
            self.done, count = self._iterations, self._iterations - self.done
            return count
        time, history = self._now(), self._history
        if self._chunk:
            self._learn(time - self._granted)
        self._granted = time
        rest = math.inf if self._iterations is None else self._iterations - self.done
        most = self._chunk * GROWTH if self._chunk else FIRST if history.cost else 1
        least = 1 if not self.done or self._left(time) > MARGIN * history.cost else 0
        # Work besides iterations takes no longer than the shortest chunk as a whole.
        available = min(self._left(time) / MARGIN - self._shortest, SLICE)
        self._chunk = int(min(rest, most, max(least, available / max(history.cost, TICK))))
        return self._chunk

    def _left(self, time: float) -> float:
        """Seconds left for the search."""
        reserved = SHARE * self._seconds + RESERVE + min(self._history.stall, STALLS * self._seconds)
        return self._seconds - reserved - (time - self._begun)

    def _learn(self, took: float) -> None:
        history = self._history
        if history.cost and self.done:
            late = took - self._shortest - self._chunk * history.cost
            history.stall = max(history.stall, late)
        self.done += self._chunk
        history.cost = took / self._chunk
        self._shortest = min(self._shortest or took, took)
