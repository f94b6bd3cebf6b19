"""Studies that run an experiment of their own, most of them matches, and store its parts in a folder."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from openfelt.core.workers import Workers
from openfelt.studies.study import Study


@dataclass(frozen=True, kw_only=True)
class Experiment(Study):
    """A study whose results come from one call of `run`."""

    work_unit: ClassVar[str] = "hands"  # what the budget and the progress are counted in

    budget: int  # of each match or run, in `work_unit`s unless the subclass says otherwise
    quick_budget: int

    def check(self) -> None:
        """Raise before the work starts if something is missing."""
        return None

    @abstractmethod
    def planned_work(self, budget: int) -> int:
        """The `work_unit`s of a whole run."""

    @abstractmethod
    def run(
        self, *, budget: int, seed: int, processes: Workers, parts: Path, progress: Callable[[float], object]
    ) -> Any:
        """Run the experiment; finished parts in the folder `parts` are not repeated."""
