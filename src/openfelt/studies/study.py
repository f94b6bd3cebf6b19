"""A study reproduces one figure or table of a paper and writes a page that compares both."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from openfelt.core.errors import FeltError
from openfelt.core.files import not_written, write_text
from openfelt.studies.findings import Finding, findings_table

GPU, HOUR = "a GPU", "an hour"  # values of Study.requires
NO_MATCH = "\0"  # a value of --only that no label contains


class Setting(NamedTuple):
    """A setting of the paper, and ours."""

    name: str
    paper: str
    here: str


@dataclass(frozen=True, kw_only=True)
class Study(ABC):
    """One figure or table: what is run, and its files NAME.csv, NAME.png and NAME.md.

    `results` are what the study measures; their type is the subclass's.
    """

    name: str
    title: str
    paper: str  # citation, and what is known of the paper's numbers
    setup: str  # what is run here
    question: str = ""  # for a reader who does not know the paper
    settings: tuple[Setting, ...] = ()  # the paper's and ours
    findings: Callable[[Any], list[Finding]]  # from the results
    remarks: str = ""  # discussion of the full run, in Markdown
    own_claims: bool = False  # the findings test claims of ours, not of the paper
    requires: str = ""  # time, hardware or files; `felt study run all` skips such a study

    @abstractmethod
    def csv(self, results: Any) -> str:
        """All numbers."""

    def read_csv(self, text: str) -> Any:
        """The results of a CSV that was written by `csv`."""
        raise FeltError(f"The CSV of {self.name} does not contain all that its page needs.")

    @abstractmethod
    def plot(self, results: Any, path: Path) -> None:
        """Draw the figure."""

    @abstractmethod
    def table(self, results: Any) -> Sequence[str]:
        """The main numbers in Markdown, with headings."""

    def missing(self, results: Any) -> list[str]:
        """Labels of the parts that were not measured yet."""
        return []

    def is_complete(self, results: Any) -> bool:
        """Whether everything was measured."""
        return not self.missing(results)

    def judge(self, results: Any) -> list[Finding]:
        """The findings that the results allow."""
        return self.findings(results)

    def stem(self, *, full: bool) -> str:
        """The name of its files without suffix."""
        return self.name if full else f"{self.name}-quick"

    def write(self, results: Any, folder: Path, *, full: bool, provenance: str) -> Path:
        """Write the CSV, the figure and the page; returns the page."""
        stem = self.stem(full=full)
        try:
            write_text(folder / f"{stem}.csv", self.csv(results))
            self.plot(results, folder / f"{stem}.png")
            write_text(folder / f"{stem}.md", self.page(results, full=full, provenance=provenance))
        except OSError as error:
            raise not_written(folder, error) from error
        return folder / f"{stem}.md"

    def page(self, results: Any, *, full: bool, provenance: str) -> str:
        """The page in Markdown."""
        stem = self.stem(full=full)
        lines = [f"# {self.title}{'' if full else ' (quick run with small budgets)'}", ""]
        lines += [*_paragraph(self.question), self.paper, "", "## Setup", ""]
        if self.settings:
            lines += ["| setting | paper | here |", "|---|---|---|"]
            lines += [*(f"| {' | '.join(each)} |" for each in self.settings), ""]
        lines += [*_paragraph(self.setup), "## Result", "", f"![{self.title}]({stem}.png)", ""]
        if missing := self.missing(results):
            lines += [f"Not measured yet: {'; '.join(missing)}.", ""]
        lines += findings_table(self.judge(results), own_claims=self.own_claims)
        if self.remarks and full:
            lines += ["## Remarks", "", self.remarks, ""]
        lines += [*self.table(results), "", "## Reproduce", ""]
        return "\n".join([*lines, f"{provenance} All numbers: [{stem}.csv]({stem}.csv)."]) + "\n"


def _paragraph(text: str) -> list[str]:
    return [text, ""] if text else []


def every(step: int, last: int) -> tuple[int, ...]:
    """step, 2 step, ... up to last."""
    return tuple(range(step, last + 1, step))


def spaced(first: int, last: int, per_decade: int = 12) -> tuple[int, ...]:
    """Numbers from first to last, evenly spaced on a logarithmic axis."""
    count = round(math.log10(last / first) * per_decade) + 1
    return tuple(dict.fromkeys(round(point) for point in np.geomspace(first, last, count)))
