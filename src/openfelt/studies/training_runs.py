"""Training the solvers of a study; each finished run is stored in a file."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event

import numpy as np

from openfelt.core.errors import FileError
from openfelt.core.files import read_sealed, write_sealed
from openfelt.core.jit import Floats
from openfelt.core.sources import package_checksum
from openfelt.core.workers import Job, Workers, as_done, is_cluster
from openfelt.solve.solver import Solver
from openfelt.studies.learning_study import LearningCurves, LearningStudy, SolverConfig
from openfelt.studies.study import NO_MATCH

UNTIL_STOPPED = 1 << 62  # iterations
RunValues = dict[tuple[str, str], Floats]  # (label, metric) -> [points]


@dataclass(frozen=True)
class TrainingRuns:
    """The runs of a study; those in `folder` are finished and not trained again.

    So a study can be stopped and resumed, or its runs made on several machines.
    """

    study: LearningStudy
    folder: Path | None  # None: runs are not stored
    runs: int
    seed: int  # of the first run
    episodes: Sequence[int]  # after which to measure

    def load(self, solver: SolverConfig, run: int) -> RunValues | None:
        """The measurements of a run, if it was made with the same seed and episodes."""
        path = self._path(solver, run)
        try:
            stored = read_sealed(path) if path else {}
            values = {(label, metric): np.array(table, float) for label, metric, table in stored["values"]}
            same = (stored["seed"], stored["episodes"]) == (self.seed + run, list(self.episodes))
        except (FileError, ValueError, KeyError, TypeError):
            return None
        complete = values.keys() == self.empty(solver).keys()
        complete = complete and all(table.shape == (len(self.episodes),) for table in values.values())
        return values if same and complete else None

    def empty(self, solver: SolverConfig) -> RunValues:
        """Empty tables for the measurements of a run."""
        return {
            (label, panel.metric): np.empty(len(self.episodes))
            for label in solver.labels
            for panel in self.study.metrics.values()
        }

    def save(self, solver: SolverConfig, run: int, values: RunValues) -> None:
        """Store the measurements of a finished run."""
        facts = {
            "sources": package_checksum(),
            "seed": self.seed + run,
            "episodes": list(self.episodes),
            "values": [[label, metric, table.tolist()] for (label, metric), table in values.items()],
        }
        if path := self._path(solver, run):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_sealed(path, facts)

    def unfinished(self, only: str) -> list[SolverConfig]:
        """The solvers with `only` in their labels that have runs left."""
        named = [solver for solver in self.study.solvers if only in solver.label]
        return [solver for solver in named if self._count_left(solver)]

    def count_left(self, only: str) -> int:
        """How many runs of these solvers are left."""
        return sum(map(self._count_left, self.unfinished(only)))

    def _count_left(self, solver: SolverConfig) -> int:
        return sum(self.load(solver, run) is None for run in range(self.runs))

    def has_other_sources(self) -> bool:
        """Whether some stored runs were made by another version of the sources."""
        own = package_checksum()
        return any(read_sealed(path).get("sources") != own for path in self._paths())

    def remove(self) -> None:
        """Delete the stored runs, and the folder if it is then empty."""
        for path in self._paths():
            path.unlink()
        if self.folder and self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _paths(self) -> list[Path]:
        pairs = [(solver, run) for solver in self.study.solvers for run in range(self.runs)]
        paths = [self._path(*pair) for pair in pairs if self.load(*pair) is not None]
        return [path for path in paths if path]

    def _path(self, solver: SolverConfig, run: int) -> Path | None:
        word = re.sub(r"[^0-9A-Za-z]+", "-", solver.label)
        return self.folder / f"{word}.{self.seed + run}.json" if self.folder else None

    def finished_curves(self) -> LearningCurves:
        """The curves of those solvers whose runs are all stored."""
        return self.train(only=NO_MATCH)

    def train(
        self, *, threads: Workers = 1, only: str = "", progress: Callable[[float], object] = lambda _: None
    ) -> LearningCurves:
        """Train all solvers with `only` in their labels, `threads` runs at a time or on a cluster.

        The curves do not depend on `threads`. They contain every solver whose runs are all finished.
        `progress` receives the episodes, or seconds, since its last call.
        """
        stop = Event()
        solvers = self.study.solvers
        every = [(which, run) for which in range(len(solvers)) for run in range(self.runs)]
        finished = {unit: self.load(solvers[unit[0]], unit[1]) for unit in every}
        missing = [unit for unit in every if finished[unit] is None and only in solvers[unit[0]].label]
        for gpu in (False, True):
            units = [unit for unit in missing if solvers[unit[0]].needs_gpu == gpu]
            job = Job(
                _open,
                replace(self, folder=None),
                here=partial(self.train_one, is_stopped=stop.is_set, progress=progress),
                in_threads=True,
                stop=stop.set,
                gpu=gpu,
            )
            for place, values in as_done(job, units, threads):
                finished[units[place]] = values
                if values is not None and is_cluster(threads):
                    which, run = units[place]
                    self.save(solvers[which], run, values)
                    progress(self.episodes[-1])
        curves: dict[tuple[str, str], Floats] = {}
        for which in range(len(solvers)):
            runs = [values for run in range(self.runs) if (values := finished[which, run]) is not None]
            if len(runs) == self.runs:
                curves |= {key: np.array([values[key] for values in runs]) for key in runs[0]}
        return LearningCurves(self.episodes, curves)

    def train_one(
        self,
        unit: tuple[int, int],
        *,
        is_stopped: Callable[[], bool] = lambda: False,
        progress: Callable[[float], object] = lambda _: None,
    ) -> RunValues | None:
        """Train and store one run, given the places of its solver and its seed; None if it was stopped."""
        config, run = self.study.solvers[unit[0]], unit[1]
        by_clock = self.study.by_clock
        if by_clock:
            config.make(self.seed + run).run(1, measure=False)  # compiles what is not compiled yet
        solver = config.make(self.seed + run)
        begun, done = 0.0, 0.0

        def report(solver: Solver, _: object) -> bool:
            nonlocal done
            before, done = done, time.thread_time() - begun if by_clock else solver.iterations
            progress(done - before)
            return is_stopped() or (by_clock and done >= count)

        values = self.empty(config)
        for point, count in enumerate(self.episodes):
            begun = time.thread_time() - done
            if by_clock:
                solver.run(UNTIL_STOPPED, measure=False, progress=report)
            else:
                solver.run(count - solver.iterations, progress=report)
            if is_stopped():
                return None
            for label, line in zip(config.labels, config.lines.values(), strict=True):
                subject = line(solver)
                for panel in self.study.metrics.values():
                    values[label, panel.metric][point] = panel.measure(subject)
        self.save(config, run, values)
        return values


def _open(runs: TrainingRuns) -> Callable[[tuple[int, int]], RunValues | None]:
    return runs.train_one
