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

from openfelt.core.files import write_text
from openfelt.core.jit import Floats
from openfelt.core.sources import package_checksum
from openfelt.solve.solver import Solver

Values = dict[tuple[str, str], Floats]  # (label, metric) -> [points]
A_GPU, AN_HOUR = "a GPU", "an hour"  # what a study may need
NOBODY = "\0"  # in no learner's name
Metric = Callable[[Any], float]  # of a learner, or of what its contender's lines make of it


def _itself(solver: Solver) -> Solver:
    return solver


@dataclass(frozen=True)
class Contender:
    """A learner with its parameters, by the name that the plot gives it."""

    label: str
    make: Callable[[int], Solver]  # from a seed
    needs_gpu: bool = False
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

    study: Study
    folder: Path | None  # None: they are not kept
    runs: int
    seed: int  # of the first run
    episodes: Sequence[int]

    def find(self, contender: Contender, run: int) -> Values | None:
        """What was measured in a run, if it was done with the same seed and episodes."""
        path = self._path(contender, run)
        try:
            found = json.loads(path.read_text(encoding="utf-8")) if path else {}
            values = {(label, metric): np.array(table, float) for label, metric, table in found["values"]}
            same = (found["seed"], found["episodes"]) == (self.seed + run, list(self.episodes))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        whole = values.keys() == self.empty(contender).keys()
        whole = whole and all(table.shape == (len(self.episodes),) for table in values.values())
        return values if same and whole else None

    def empty(self, contender: Contender) -> Values:
        """Room for what is measured of a contender."""
        return {
            (label, panel.metric): np.empty(len(self.episodes))
            for label in contender.labels
            for panel in self.study.panels
        }

    def keep(self, contender: Contender, run: int, values: Values) -> None:
        """Write down what was measured in a run."""
        facts = {
            "sources": package_checksum(),
            "seed": self.seed + run,
            "episodes": list(self.episodes),
            "values": [[label, metric, table.tolist()] for (label, metric), table in values.items()],
        }
        if path := self._path(contender, run):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, json.dumps(facts))

    def missing(self, only: str) -> list[Contender]:
        """Those of the contenders with that in their names that have still to run."""
        named = [contender for contender in self.study.contenders if only in contender.label]
        return [contender for contender in named if self._left(contender)]

    def left(self, only: str) -> int:
        """How many runs they have still to do."""
        return sum(map(self._left, self.missing(only)))

    def _left(self, contender: Contender) -> int:
        return sum(self.find(contender, run) is None for run in range(self.runs))

    def made_by_others(self) -> bool:
        """Whether some were made by other sources than ours."""
        own = package_checksum()
        return any(
            json.loads(path.read_text(encoding="utf-8")).get("sources") != own for path in self._paths()
        )

    def remove(self) -> None:
        """Once all are in a report."""
        for path in self._paths():
            path.unlink()
        if self.folder and self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _paths(self) -> list[Path]:
        pairs = [(contender, run) for contender in self.study.contenders for run in range(self.runs)]
        paths = [self._path(*pair) for pair in pairs if self.find(*pair) is not None]
        return [path for path in paths if path]

    def _path(self, contender: Contender, run: int) -> Path | None:
        word = re.sub(r"[^0-9A-Za-z]+", "-", contender.label)
        return self.folder / f"{word}.{self.seed + run}.json" if self.folder else None


def follow(
    parts: Parts, *, threads: int = 1, only: str = "", progress: Callable[[int], object] = lambda _: None
) -> Curves:
    """Let every contender of a study learn, `threads` of the runs at a time; the same for any threads.

    Runs that are known already are not done again. `only` the contenders with that in their names are run;
    others that are not known are missing then. `progress` is told the episodes done since it was last told.
    """
    study, stopped = parts.study, Event()

    def one_run(contender: Contender, run: int) -> Values | None:
        if (known := parts.find(contender, run)) is not None:
            return known
        if only not in contender.label:
            return None
        solver = contender.make(parts.seed + run)
        told = 0

        def tell(solver: Solver, _: object) -> bool:
            nonlocal told
            progress(solver.iterations - told)
            told = solver.iterations
            return stopped.is_set()

        values = parts.empty(contender)
        for point, count in enumerate(parts.episodes):
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
            [pool.submit(one_run, contender, run) for run in range(parts.runs)]
            for contender in study.contenders
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
        if len(whole) == parts.runs:
            together |= {key: np.array([values[key] for values in whole]) for key in whole[0]}
    return Curves(parts.episodes, together)
