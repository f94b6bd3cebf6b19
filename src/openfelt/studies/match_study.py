"""What studies have in common that are played, not learned: hands, kept match by match, then a page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from openfelt.core.files import not_written, write_text
from openfelt.studies.report import page_of
from openfelt.studies.study import Finding


@dataclass(frozen=True, kw_only=True)
class MatchStudy(ABC):
    """A study whose numbers come from matches; `results` are what its `play` gives."""

    work: ClassVar[str] = "hands"  # what is counted

    name: str
    title: str
    paper: str  # the citation
    setting: str  # what is played, in words
    hands: int  # of each match
    quick_hands: int
    findings: Callable[[Any], list[Finding]]  # from the results
    needs: str = ""  # what not everybody has, so that `all` leaves it out
    remarks: str = ""  # what the full run shows besides, in Markdown
    own_claims: bool = False  # what the findings state is ours, not the paper's

    def check(self) -> None:
        """Find out before the work whether everything is there."""
        return None

    @abstractmethod
    def planned(self, hands: int) -> int:
        """How many hands are played in all."""

    @abstractmethod
    def play(
        self, *, hands: int, seed: int, processes: int, parts: Path, progress: Callable[[float], object]
    ) -> Any:
        """Play all matches; those that `parts` has are not played again."""

    def is_whole(self, results: Any) -> bool:
        """Whether nothing is missing, as it may be where `only` a part was asked for."""
        return True

    @abstractmethod
    def csv(self, results: Any) -> str:
        """All numbers."""

    @abstractmethod
    def plot(self, results: Any, path: Path) -> None:
        """The picture."""

    @abstractmethod
    def table(self, results: Any) -> Sequence[str]:
        """The numbers in Markdown, below a heading."""

    def write(self, results: Any, folder: Path, *, full: bool, made_by: str) -> Path:
        """Write NAME.csv, NAME.png and NAME.md (NAME-quick if it is not the full run); returns the page."""
        stem = self.name if full else f"{self.name}-quick"
        title = f"{self.title}{'' if full else ' (a quick look, not the full run)'}"
        end = [*self.table(results), "", f"{made_by} All numbers: [{stem}.csv]({stem}.csv)."]
        notes = [self.remarks] if full else []
        try:
            write_text(folder / f"{stem}.csv", self.csv(results))
            self.plot(results, folder / f"{stem}.png")
            page = page_of(self, title, stem, self.findings(results), notes, end)
            write_text(folder / f"{stem}.md", page)
        except OSError as error:
            raise not_written(folder, error) from error
        return folder / f"{stem}.md"
