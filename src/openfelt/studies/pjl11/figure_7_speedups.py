"""The results of PJL11's Figure 7: curves of runs, the work to converge, and speedups with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from openfelt.core.jit import Floats
from openfelt.plots.intervals import Interval
from openfelt.studies.findings import apart, difference, is_above

SECONDS, NODES = "seconds", "nodes"  # axes


class ConvergenceCurve(NamedTuple):
    """One run of a method in a game: the learners of both seats together."""

    seconds: list[float]  # of CPU time
    nodes: list[float]  # decisions and terminal histories visited
    epsilon: list[float]  # the paper's: nash_conv of the profile of both responses
    distance: list[float]  # nash_conv in the restricted games, summed over both seats; converges to zero


class GameConvergence(NamedTuple):
    """All methods in one game."""

    curves: dict[str, list[ConvergenceCurve]]  # by method: its runs
    limit: float  # epsilon of the exact restricted Nash responses
    start: float  # distance of the uniform policy, with which all methods start


ConvergenceResults = Mapping[str, GameConvergence]


class Work(NamedTuple):
    """The logarithm of the work of each run until an event, and what is not known of it."""

    logs: Floats  # [runs]
    may_be_less: bool = False  # a run was there at its first measured point, which counts
    may_be_more: bool = False  # a run never got there; all its work counts

    def after(self, earlier: Work) -> Work:
        """The work as a multiple of that until an earlier event of the same runs."""
        return Work(
            self.logs - earlier.logs,
            self.may_be_less or earlier.may_be_more,
            self.may_be_more or earlier.may_be_less,
        )


class Speedup(NamedTuple):
    """The ratio of two geometric means of work, as a logarithm."""

    log: Interval
    may_be_less: bool = False
    may_be_more: bool = False

    def above_one(self) -> bool | None:
        """Whether it is above 1; None: the interval or unfinished runs leave it open."""
        verdict = is_above(self.log)
        is_open = self.may_be_less if verdict else self.may_be_more
        return None if is_open else verdict

    def over(self, other: Speedup) -> Speedup:
        """The ratio of two independent speedups."""
        return Speedup(
            apart(self.log, other.log),
            self.may_be_less or other.may_be_more,
            self.may_be_more or other.may_be_less,
        )

    def __str__(self) -> str:
        """For example "2.5 (2.1 to 3)"; "> 2.1" or "< 3" if only that is known, "-" if nothing is."""
        mean, half = self.log
        low, middle, high = (_number(float(np.exp(each))) for each in (mean - half, mean, mean + half))
        if self.may_be_less:
            return "-" if self.may_be_more else f"< {high}"
        return f"> {low}" if self.may_be_more else f"{middle} ({low} to {high})"


def speedup(slow: Work, fast: Work) -> Speedup:
    """How many times more work one method needs than another, by Welch's t on its logarithm."""
    return Speedup(
        difference(slow.logs, fast.logs),
        slow.may_be_less or fast.may_be_more,
        slow.may_be_more or fast.may_be_less,
    )


def work_to(convergence: GameConvergence, method: str, fraction: float, axis: str = SECONDS) -> Work:
    """The work of a method's runs until the distance is 1/fraction of the initial one."""
    runs, target = convergence.curves[method], float(np.log(convergence.start / fraction))
    places = [_first_place(run, target) for run in runs]
    logs = [_log_work(run, place, target, axis) for run, place in zip(runs, places, strict=True)]
    return Work(np.array(logs), any(place == 0 for place in places), any(place is None for place in places))


def describe_work(work: Work, scale: float = 1.0) -> str:
    """The geometric mean; "< 2" or "> 2" if it is a bound, "-" if no more is known."""
    mean = _number(scale * float(np.exp(work.logs.mean())))
    if work.may_be_less and work.may_be_more:
        return "-"
    return f"{'< ' if work.may_be_less else '> ' if work.may_be_more else ''}{mean}"


def _first_place(run: ConvergenceCurve, target: float) -> int | None:
    """The first point at which the distance is at its target."""
    return next((place for place, each in enumerate(run.distance) if _log(each) <= target), None)


def _log_work(run: ConvergenceCurve, place: int | None, target: float, axis: str) -> float:
    """Interpolates linearly on logarithmic axes."""
    work: list[float] = getattr(run, axis)
    if place is None:
        return float(np.log(work[-1]))
    if place == 0:
        return float(np.log(work[0]))
    before, here = _log(run.distance[place - 1]), _log(run.distance[place])
    part = (before - target) / (before - here)
    return float((1 - part) * np.log(work[place - 1]) + part * np.log(work[place]))


def _log(distance: float) -> float:
    return float(np.log(max(distance, 1e-12)))


def _number(value: float) -> str:
    return f"{value:.2g}" if value < 99.5 else f"{value:,.0f}"
