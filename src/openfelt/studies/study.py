"""What a study is: learners followed while they learn, and what their curves say of a paper's finding."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np

from openfelt.base.jit import Floats
from openfelt.solvers.solver import Solver

A_GPU, AN_HOUR = "a GPU", "an hour"  # what a study may need
Metric = Callable[[Any], float]  # of a learner, or of what its contender's lines make of it


def _itself(solver: Solver) -> Solver:
    return solver


@dataclass(frozen=True)
class Contender:
    """A learner with its parameters, by the name that the plot gives it."""

    label: str
    make: Callable[[int], Solver]  # from a seed
    # Several things may be measured of one learner, each a line of the plot by its own name.
    lines: Mapping[str, Callable[[Solver], Any]] = field(default_factory=lambda: {"": _itself})

    @property
    def labels(self) -> list[str]:
        """The names of its lines."""
        return [" ".join(filter(None, [self.label, line])) for line in self.lines]


@dataclass(frozen=True)
class Panel:
    """One plot: a metric over the episodes."""

    metric: str  # its name in the data
    measure: Metric
    axis: str  # what the vertical axis says, with the unit
    logarithmic: bool = False


@dataclass(frozen=True)
class Curves:
    """What was measured: for each contender and metric one curve a run."""

    episodes: Sequence[int]
    values: dict[tuple[str, str], Floats]  # (label, metric) -> [runs, points]

    def at(self, share: float, label: str, metric: str) -> float:
        """The mean over the runs when that share of the episodes was over."""
        place = int(np.searchsorted(self.episodes, share * self.episodes[-1]))
        return float(self.values[label, metric][:, place].mean())

    def end(self, label: str, metric: str) -> float:
        """The mean over the runs at the end."""
        return float(self.values[label, metric][:, -1].mean())

    def low(self, label: str, metric: str, since: int = 0) -> tuple[float, int]:
        """The lowest point of the mean curve from `since` episodes on, and after how many it came."""
        mean = self.values[label, metric].mean(axis=0)
        mean[np.asarray(self.episodes) < min(since, self.episodes[-1])] = math.inf
        return float(mean.min()), int(self.episodes[int(mean.argmin())])

    def between(self, label: str, metric: str) -> str:
        """The mean at the end, with the least and the most of the runs."""
        last = self.values[label, metric][:, -1]
        if np.isnan(last).all():
            return ""
        if len(last) == 1:
            return f"{last[0]:.4g}"
        return f"{last.mean():.3g} ({last.min():.3g} to {last.max():.3g})"


@dataclass(frozen=True)
class Finding:
    """A statement of the paper, what we measured, and whether it holds."""

    paper: str
    ours: str
    holds: bool


@dataclass(frozen=True)
class Study:
    """One figure or experiment of a paper."""

    name: str
    title: str
    paper: str  # the citation
    setting: str  # what is run, in words
    contenders: tuple[Contender, ...]
    panels: tuple[Panel, ...]
    episodes: tuple[int, ...]  # at which to measure
    quick_episodes: tuple[int, ...]
    findings: Callable[[Curves], list[Finding]]
    runs: int = 10
    remarks: str = ""  # what the full run shows besides, in Markdown
    own_claims: bool = False  # what the findings state is ours, not the paper's
    needs: str = ""  # what not everybody has, so that `all` leaves it out


def every(step: int, last: int) -> tuple[int, ...]:
    """step, 2 step, ... up to last."""
    return tuple(range(step, last + 1, step))


def spaced(first: int, last: int, per_decade: int = 12) -> tuple[int, ...]:
    """Evenly on a logarithmic axis, from first to last."""
    count = round(math.log10(last / first) * per_decade) + 1
    return tuple(dict.fromkeys(round(point) for point in np.geomspace(first, last, count)))


def follow(
    study: Study,
    *,
    runs: int,
    episodes: Sequence[int],
    threads: int = 1,
    seed: int = 0,
    progress: Callable[[int], object] = lambda _: None,
) -> Curves:
    """Let every contender learn `runs` times, `threads` of the runs at a time; the same for any threads.

    `progress` is told the episodes done since it was last told.
    """
    values = {
        (label, panel.metric): np.empty((runs, len(episodes)))
        for contender in study.contenders
        for label in contender.labels
        for panel in study.panels
    }
    stopped = Event()

    def one_run(contender: Contender, run: int) -> None:
        solver = contender.make(seed + run)
        told = 0

        def tell(solver: Solver, _: object) -> bool:
            nonlocal told
            progress(solver.iterations - told)
            told = solver.iterations
            return stopped.is_set()

        for point, count in enumerate(episodes):
            solver.run(count - solver.iterations, progress=tell)
            if stopped.is_set():
                return
            for label, line in zip(contender.labels, contender.lines.values(), strict=True):
                subject = line(solver)
                for panel in study.panels:
                    values[label, panel.metric][run, point] = panel.measure(subject)

    with ThreadPoolExecutor(threads) as pool:
        work = [pool.submit(one_run, contender, run) for contender in study.contenders for run in range(runs)]
        try:
            for done in work:
                done.result()
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise
    return Curves(episodes, values)
