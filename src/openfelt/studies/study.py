"""What a study is: learners followed while they learn, and what their curves say of a paper's finding."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from openfelt.base.files import write_text
from openfelt.base.jit import Floats
from openfelt.solvers.solver import Solver

Values = dict[tuple[str, str], Floats]  # (label, metric) -> [points]
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

    def has(self, *contenders: Contender) -> bool:
        """Whether they were all run."""
        known = {label for label, _ in self.values}
        return all(label in known for contender in contenders for label in contender.labels)

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
    finds_in_part: bool = False  # whether findings can be told while some contenders were not run

    def found(self, curves: Curves) -> list[Finding]:
        """The findings, as far as the contenders were run."""
        return self.findings(curves) if self.finds_in_part or curves.has(*self.contenders) else []


def every(step: int, last: int) -> tuple[int, ...]:
    """step, 2 step, ... up to last."""
    return tuple(range(step, last + 1, step))


def spaced(first: int, last: int, per_decade: int = 12) -> tuple[int, ...]:
    """Evenly on a logarithmic axis, from first to last."""
    count = round(math.log10(last / first) * per_decade) + 1
    return tuple(dict.fromkeys(round(point) for point in np.geomspace(first, last, count)))


@dataclass(frozen=True)
class Parts:
    """Runs that are finished, each in a file: a study that was stopped, or is shared out over machines, goes
    on with them.
    """

    folder: Path | None  # None: they are not kept
    seed: int  # of the first run
    episodes: Sequence[int]

    def find(self, contender: Contender, run: int) -> Values | None:
        """What was measured in a run, if it was done with the same seed and episodes."""
        if self.folder is None:
            return None
        try:
            found = json.loads(self._path(self.folder, contender, run).read_text(encoding="utf-8"))
            if (found["seed"], found["episodes"]) != (self.seed + run, list(self.episodes)):
                return None
            return {(label, metric): np.array(values, float) for label, metric, values in found["values"]}
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, contender: Contender, run: int, values: Values) -> None:
        """Write down what was measured in a run."""
        if self.folder is None:
            return
        facts = {
            "seed": self.seed + run,
            "episodes": list(self.episodes),
            "values": [[label, metric, table.tolist()] for (label, metric), table in values.items()],
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self._path(self.folder, contender, run), json.dumps(facts))

    def _path(self, folder: Path, contender: Contender, run: int) -> Path:
        return folder / f"{re.sub(r'[^0-9A-Za-z]+', '-', contender.label)}.{run}.json"


def follow(
    study: Study,
    *,
    runs: int,
    episodes: Sequence[int],
    threads: int = 1,
    seed: int = 0,
    parts_folder: Path | None = None,
    only: str = "",
    progress: Callable[[int], object] = lambda _: None,
) -> Curves:
    """Let every contender learn `runs` times, `threads` of the runs at a time; the same for any threads.

    Finished runs are kept in `parts_folder`, and those that are there already are not run again. `only` the
    contenders with that in their names are run; others that were not run before are missing then. `progress`
    is told the episodes done since it was last told.
    """
    parts, stopped = Parts(parts_folder, seed, episodes), Event()

    def one_run(contender: Contender, run: int) -> Values | None:
        if (known := parts.find(contender, run)) is not None:
            progress(episodes[-1])
            return known
        if only not in contender.label:
            return None
        solver = contender.make(seed + run)
        told = 0

        def tell(solver: Solver, _: object) -> bool:
            nonlocal told
            progress(solver.iterations - told)
            told = solver.iterations
            return stopped.is_set()

        values = {
            (label, panel.metric): np.empty(len(episodes))
            for label in contender.labels
            for panel in study.panels
        }
        for point, count in enumerate(episodes):
            solver.run(count - solver.iterations, progress=tell)
            if stopped.is_set():
                return None
            for label, line in zip(contender.labels, contender.lines.values(), strict=True):
                subject = line(solver)
                for panel in study.panels:
                    values[label, panel.metric][point] = panel.measure(subject)
        parts.keep(contender, run, values)
        return values

    with ThreadPoolExecutor(threads) as pool:
        work = [
            [pool.submit(one_run, contender, run) for run in range(runs)] for contender in study.contenders
        ]
        try:
            found = [[run.result() for run in contender] for contender in work]
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise
    together: dict[tuple[str, str], Floats] = {}
    for of_contender in found:
        whole = [values for values in of_contender if values is not None]
        if len(whole) == runs:
            together |= {key: np.array([values[key] for values in whole]) for key in whole[0]}
    return Curves(episodes, together)
