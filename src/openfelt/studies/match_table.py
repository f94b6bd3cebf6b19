"""A table of a paper whose cells are matches: the paper's winnings and ours."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from openfelt.arena.match import match
from openfelt.arena.result import MatchResult
from openfelt.core.errors import FeltError
from openfelt.core.workers import Workers
from openfelt.plots.intervals import Interval, IntervalPanel, plot_match_table
from openfelt.studies.experiment import Experiment
from openfelt.studies.files import csv_text, slug
from openfelt.studies.findings import apart, is_above

SCORE_68, SCORE_95 = 0.99446, 1.95996  # of the normal distribution
WIDENED = SCORE_95 / SCORE_68
DISTANCE = "then the distance of ours from it, in standard errors of both"
UNIT_SCALE = {"mbb/h": 1.0, "sb/h": 1e-3}  # by which mbb/h are multiplied


@dataclass(frozen=True)
class Cell:
    """One match of the table; its winnings are those of the first bot."""

    row: str
    column: str
    bots: tuple[str, ...]
    published: tuple[float, float] | None = None  # mean, half of the 68% interval, in the table's unit
    max_hands: int = 0  # 0: as many as the other cells


@dataclass(frozen=True)
class Winnings:
    """Mean winnings of a bot with their intervals."""

    mean: float
    half_68: float  # half of the 68% interval
    half_95: float
    hands: int

    @classmethod
    def of_first_bot(cls, result: MatchResult, unit: str = "mbb/h") -> Winnings:
        """Those of the first bot of a match."""
        won, scale = result.amount(result.scores[0].won), UNIT_SCALE[unit]
        return cls(won.mean * scale, won.interval(0.68) * scale, won.interval() * scale, result.hands)

    def __str__(self) -> str:
        digits = 3 if abs(self.half_95) < 0.5 else 1
        return f"{self.mean:+.{digits}f} ± {self.half_95:.{digits}f}"

    @property
    def interval(self) -> Interval:
        """With its 95% interval."""
        return Interval(self.mean, self.half_95)

    def beside(self, published: tuple[float, float]) -> str:
        """The winnings of a paper with their 95% interval, and how far ours are from them."""
        mean, half_68 = published
        error = math.hypot(self.half_95, WIDENED * half_68) / SCORE_95
        return f"{mean:+g} ± {WIDENED * half_68:.3g}; {(self.mean - mean) / error:+.1f}"


def wins_more(first: Winnings, second: Winnings) -> bool | None:
    """Whether the first exceeds the second, by the 95% interval of the difference of independent matches."""
    return is_above(apart(first.interval, second.interval))


TableResults = Mapping[tuple[str, str], Winnings]  # by row and column


def require_policy(study: str, path: str, command: str) -> None:
    """Raise if `path` is a policy folder that does not exist; `command` trains it."""
    if "/" in path and not Path(path).exists():
        raise FeltError(f"{study} needs the policy {path}; `{command}` trains it.")


@dataclass(frozen=True, kw_only=True)
class MatchTable(Experiment):
    """A table of matches."""

    unit: str  # a key of UNIT_SCALE
    cells: tuple[Cell, ...]
    training_command: str = ""  # that trains the policies

    @property
    def rows(self) -> list[str]:
        return list(dict.fromkeys(cell.row for cell in self.cells))

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(cell.column for cell in self.cells))

    def check(self) -> None:
        for cell in self.cells:
            for bot in cell.bots:
                require_policy(self.name, bot.rpartition("@")[2], self.training_command)

    def planned_work(self, budget: int) -> int:
        return sum(min(budget, cell.max_hands or budget) for cell in self.cells)

    def run(
        self, *, budget: int, seed: int, processes: Workers, parts: Path, progress: Callable[[int], object]
    ) -> TableResults:
        results = {}
        for cell in self.cells:
            result = match(
                *cell.bots,
                hands=min(budget, cell.max_hands or budget),
                seed=seed,
                processes=processes,
                folder=parts / slug(f"{cell.row} {cell.column}"),
                progress=progress,
            )
            results[cell.row, cell.column] = Winnings.of_first_bot(result, self.unit)
        return results

    def csv(self, results: TableResults) -> str:
        """A line for each match."""
        lines = []
        for cell in self.cells:
            won = results[cell.row, cell.column]
            numbers = [f"{number:.6g}" for number in (won.mean, won.half_68, won.half_95)]
            published = cell.published or ("", "")
            lines.append([cell.row, cell.column, self.unit, *numbers, won.hands, *published])
        head = ["row", "column", "unit", "won", "half_68", "half_95", "hands", "paper", "paper_half_68"]
        return csv_text(head, rows=lines)

    def read_csv(self, text: str) -> TableResults:
        results = {}
        for row in csv.DictReader(text.splitlines()):
            mean, half_68, half_95 = (float(row[key]) for key in ("won", "half_68", "half_95"))
            results[row["row"], row["column"]] = Winnings(mean, half_68, half_95, int(row["hands"]))
        return results

    def table(self, results: TableResults) -> list[str]:
        has_paper = any(cell.published for cell in self.cells)
        lines = [
            "## All matches",
            "",
            f"Winnings in {self.unit} with 95% intervals."
            + f" In brackets: the paper's, whose 68% intervals are widened to 95%; {DISTANCE}." * has_paper,
            "",
            "| | " + " | ".join(self.columns) + " |",
            "|---|" + "---|" * len(self.columns),
        ]
        published = {(cell.row, cell.column): cell.published for cell in self.cells}
        for row in self.rows:
            cells = []
            for column in self.columns:
                won, paper = results.get((row, column)), published.get((row, column))
                theirs = f" ({won.beside(paper)})" if won and paper else ""
                cells.append(f"{won}{theirs}" if won else "")
            lines.append(f"| {row} | " + " | ".join(cells) + " |")
        return lines

    def plot(self, results: TableResults, path: Path) -> None:
        """A panel for each column."""
        panels = []
        for column in self.columns:
            cells = [cell for cell in self.cells if cell.column == column]
            ours = {cell.row: results[cell.row, column].interval for cell in cells}
            published = {
                cell.row: Interval(cell.published[0], WIDENED * cell.published[1])
                for cell in cells
                if cell.published
            }
            panels.append(IntervalPanel(column, ours, published))
        plot_match_table(self.title, self.rows, panels, f"winnings ({self.unit})", path)
