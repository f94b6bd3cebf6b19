"""Studies of learning curves: solvers that are measured while they train."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from openfelt.core.jit import Floats
from openfelt.plots.curves import CurvePanel, plot_runs
from openfelt.plots.intervals import Interval
from openfelt.solve.solver import Solver
from openfelt.studies.files import csv_text
from openfelt.studies.findings import Finding, difference, mean_of_runs
from openfelt.studies.study import Study

Metric = Callable[[Any], float]  # of a solver, or of what a line of its SolverConfig extracts from it


def short(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def _solver_itself(solver: Solver) -> Solver:
    return solver


@dataclass(frozen=True)
class SolverConfig:
    """A solver with its parameters, and its label in the figure."""

    label: str
    make: Callable[[int], Solver]  # from a seed
    needs_gpu: bool = False
    # Several things may be measured of one solver, each a line of the figure with its own label.
    lines: Mapping[str, Callable[[Solver], Any]] = field(default_factory=lambda: {"": _solver_itself})

    @property
    def labels(self) -> list[str]:
        """The labels of its lines."""
        return [" ".join(filter(None, [self.label, line])) for line in self.lines]


@dataclass(frozen=True)
class Panel:
    """One plot: a metric over the episodes."""

    metric: str  # its column in the CSV
    measure: Metric
    axis: str  # label of the vertical axis, with the unit
    logarithmic: bool = False
    title: str = ""
    labels: tuple[str, ...] = ()  # of the lines that it shows; empty: all
    single_runs: bool = False  # draw every run and the median, not the mean and a band
    published: Mapping[str, float] = field(default_factory=dict)  # the paper's values, by label


@dataclass(frozen=True)
class LearningCurves:
    """Measurements by line and metric, one curve a run."""

    episodes: Sequence[int]  # [points]
    values: dict[tuple[str, str], Floats]  # (label, metric) -> [runs, points]

    @property
    def runs(self) -> int:
        return len(next(iter(self.values.values())))

    def has(self, *solvers: SolverConfig) -> bool:
        """Whether all of these solvers were run."""
        measured = {label for label, _ in self.values}
        return all(label in measured for solver in solvers for label in solver.labels)

    def at(self, share: float, label: str, metric: str) -> float:
        """The mean over the runs after that share of the episodes."""
        place = int(np.searchsorted(self.episodes, share * self.episodes[-1]))
        return float(self.values[label, metric][:, place].mean())

    def end(self, label: str, metric: str) -> float:
        """The mean over the runs at the end."""
        return float(self.values[label, metric][:, -1].mean())

    def ends(self, label: str, metric: str) -> Interval:
        """The mean over the runs at the end, with its interval."""
        return mean_of_runs(self.values[label, metric][:, -1])

    def apart(self, metric: str, first: str, second: str, share: float = 1.0) -> Interval:
        """How far one line is above another after that share of the episodes: independent runs."""
        place = int(np.searchsorted(self.episodes, share * self.episodes[-1]))
        return difference(*(self.values[label, metric][:, place] for label in (first, second)))

    def change(self, label: str, metric: str, since: float, until: float = 1.0) -> Interval:
        """The change of a line between two shares of the episodes, run by run."""
        first, last = (int(np.searchsorted(self.episodes, x * self.episodes[-1])) for x in (since, until))
        table = self.values[label, metric]
        return mean_of_runs(table[:, last] - table[:, first])

    def minimum(self, label: str, metric: str, since: int = 0) -> tuple[float, int]:
        """The lowest point of the mean curve from `since` episodes on, and its episodes."""
        mean = self.values[label, metric].mean(axis=0)
        mean[np.asarray(self.episodes) < min(since, self.episodes[-1])] = math.inf
        return float(mean.min()), int(self.episodes[int(mean.argmin())])

    def summary(self, label: str, metric: str) -> str:
        """The mean at the end, the median, and the minimum and maximum of the runs."""
        last = self.values[label, metric][:, -1]
        if np.isnan(last).all():
            return ""
        if len(last) == 1:
            return f"{last[0]:.4g}"
        mean, median, least, most = map(short, (last.mean(), np.median(last), last.min(), last.max()))
        return f"{mean}, {median} ({least} to {most})"


@dataclass(frozen=True, kw_only=True)
class LearningStudy(Study):
    """A study whose results are LearningCurves."""

    solvers: tuple[SolverConfig, ...]
    panels: tuple[Panel, ...]
    episodes: tuple[int, ...]  # after which to measure
    quick_episodes: tuple[int, ...]
    runs: int = 10
    work: str = "episodes"  # the unit of `episodes`
    by_clock: bool = False  # `episodes` are seconds of CPU time, the same for every solver
    partial_findings: bool = False  # `findings` accepts results in which solvers are missing

    def quick(self) -> Self:
        """What a quick run runs."""
        return self

    def missing(self, results: LearningCurves) -> list[str]:
        return [solver.label for solver in self.solvers if not results.has(solver)]

    def judge(self, results: LearningCurves) -> list[Finding]:
        return self.findings(results) if self.partial_findings or self.is_complete(results) else []

    def csv(self, results: LearningCurves) -> str:
        metrics = list(self.metrics)
        lines = []
        for label in self._labels(results):
            tables = [results.values[label, metric] for metric in metrics]
            for run in range(results.runs):
                for point, episodes in enumerate(results.episodes):
                    lines.append([label, run, episodes, *(f"{table[run, point]:.6g}" for table in tables)])
        return csv_text(["learner", "run", self._column, *metrics], rows=lines)

    def read_csv(self, text: str) -> LearningCurves:
        if self.runs == 1:  # then the intervals are not those of the runs
            super().read_csv(text)
        metrics = list(self.metrics)
        rows = list(csv.DictReader(text.splitlines()))
        episodes = sorted({int(row[self._column]) for row in rows})
        runs = 1 + max(int(row["run"]) for row in rows)
        values = {
            (label, metric): np.full((runs, len(episodes)), np.nan)
            for label in dict.fromkeys(row["learner"] for row in rows)
            for metric in metrics
        }
        for row in rows:
            place = int(row["run"]), episodes.index(int(row[self._column]))
            for metric in metrics:
                values[row["learner"], metric][place] = float(row[metric])
        return LearningCurves(tuple(episodes), values)

    def plot(self, results: LearningCurves, path: Path) -> None:
        drawn = [(panel, tables) for panel in self.panels if (tables := self._tables(results, panel))]
        panels = [
            CurvePanel(
                results.episodes,
                tables,
                panel.axis,
                logarithmic=panel.logarithmic,
                single_runs=panel.single_runs and results.runs > 1,
                published=panel.published,
                x_label=self.work,
                title=panel.title,
            )
            for panel, tables in drawn
        ]
        plot_runs(self.title, panels, path)

    def table(self, results: LearningCurves) -> list[str]:
        spread = (
            f": mean, median (minimum to maximum) of {results.runs} runs."
            if results.runs > 1
            else ", one run."
        )
        lines = [
            "## Final values",
            "",
            f"After {results.episodes[-1]:,} {self.work}{spread}",
            "",
            "| solver | " + " | ".join(panel.axis for panel in self.metrics.values()) + " |",
            "|---|" + "---|" * len(self.metrics),
        ]
        for label in self._labels(results):
            cells = [results.summary(label, metric) for metric in self.metrics]
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
        return lines

    @property
    def metrics(self) -> dict[str, Panel]:
        """A panel for each metric; several panels may show the same one, of different solvers."""
        return {panel.metric: panel for panel in self.panels}

    @property
    def _column(self) -> str:
        return "seconds" if self.by_clock else "episodes"

    def _labels(self, results: LearningCurves) -> list[str]:
        return [label for solver in self.solvers if results.has(solver) for label in solver.labels]

    def _tables(self, results: LearningCurves, panel: Panel) -> dict[str, Floats]:
        """The curves of a panel by label, without those that it does not measure."""
        labels = [label for label in self._labels(results) if label in (panel.labels or [label])]
        tables = {label: results.values[label, panel.metric] for label in labels}
        return {label: table for label, table in tables.items() if not np.isnan(table).all()}
