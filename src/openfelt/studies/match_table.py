"""A table of a paper whose cells are matches: who plays whom, what the paper printed, what comes out here."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from openfelt.arena.match import match
from openfelt.core.errors import FeltError
from openfelt.plots.figure import COLOURS, new_figure, save_figure
from openfelt.studies.match_study import MatchStudy

PER_UNIT = {"mbb/h": 1.0, "sb/h": 1e-3}  # what a thousandth of a big blind is in each


@dataclass(frozen=True)
class Cell:
    """One match of the table; the first of the bots is the one whose winnings are told."""

    row: str
    column: str
    bots: tuple[str, ...]
    published: tuple[float, float] | None = None  # the mean, and half the 68% interval, in the table's unit
    hands: int = 0  # where it should be fewer than in the others


@dataclass(frozen=True)
class Measured:
    """What came out, in the table's unit."""

    mean: float
    half_68: float
    half_95: float
    hands: int

    def __str__(self) -> str:
        digits = 3 if abs(self.half_95) < 0.5 else 1
        return f"{self.mean:+.{digits}f} ± {self.half_95:.{digits}f}"


def more(first: Measured, second: Measured) -> bool:
    """Whether the first is more than the second, beyond what both intervals leave open."""
    return first.mean - second.mean > math.hypot(first.half_95, second.half_95)


Results = Mapping[tuple[str, str], Measured]  # by row and column


@dataclass(frozen=True, kw_only=True)
class MatchTable(MatchStudy):
    """A table of matches."""

    unit: str  # one of PER_UNIT
    cells: tuple[Cell, ...]
    made_by: str = ""  # the command that trains the policies

    @property
    def rows(self) -> list[str]:
        return list(dict.fromkeys(cell.row for cell in self.cells))

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(cell.column for cell in self.cells))

    def check(self) -> None:
        """Are the policies there?"""
        for cell in self.cells:
            for bot in cell.bots:
                folder = bot.rpartition("@")[2]
                if "/" in folder and not Path(folder).exists():
                    raise FeltError(f"{self.name} needs the policy {folder}; `{self.made_by}` trains it.")

    def planned(self, hands: int) -> int:
        return sum(min(hands, cell.hands or hands) for cell in self.cells)

    def play(
        self, *, hands: int, seed: int, processes: int, parts: Path, progress: Callable[[int], object]
    ) -> Results:
        found = {}
        for cell in self.cells:
            word = re.sub(r"[^0-9A-Za-z]+", "-", f"{cell.row} {cell.column}").strip("-")
            result = match(
                *cell.bots,
                hands=min(hands, cell.hands or hands),
                seed=seed,
                processes=processes,
                folder=parts / word,
                progress=progress,
            )
            won, scale = result.amount(result.scores[0].won), PER_UNIT[self.unit]
            found[cell.row, cell.column] = Measured(
                won.mean * scale, won.interval(0.68) * scale, won.interval() * scale, result.hands
            )
        return found

    def csv(self, results: Results) -> str:
        """A line for each match."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(
            ["row", "column", "unit", "won", "half_68", "half_95", "hands", "paper", "paper_half_68"]
        )
        for cell in self.cells:
            measured = results[cell.row, cell.column]
            numbers = [f"{number:.6g}" for number in (measured.mean, measured.half_68, measured.half_95)]
            published = cell.published or ("", "")
            writer.writerow([cell.row, cell.column, self.unit, *numbers, measured.hands, *published])
        return text.getvalue()

    def table(self, results: Results) -> list[str]:
        """Ours with the 95% interval, and in brackets the paper's with its 68%."""
        lines = [
            "## All matches",
            "",
            f"In {self.unit}, with 95% intervals; in brackets the paper's, with its 68% intervals.",
            "",
            "| | " + " | ".join(self.columns) + " |",
            "|---|" + "---|" * len(self.columns),
        ]
        published = {(cell.row, cell.column): cell.published for cell in self.cells}
        for row in self.rows:
            cells = []
            for column in self.columns:
                measured, paper = results.get((row, column)), published.get((row, column))
                theirs = f" ({paper[0]:+g} ± {paper[1]:g})" if paper else ""
                cells.append(f"{measured}{theirs}" if measured else "")
            lines.append(f"| {row} | " + " | ".join(cells) + " |")
        return lines

    def plot(self, results: Results, path: Path) -> None:
        """A panel for each column: ours beside the paper's."""
        rows, columns = self.rows, self.columns
        wide = 3.2 + 3.6 * len(columns)
        figure = new_figure(wide, 2.0 + 0.42 * len(rows))
        axes = figure.subplots(1, len(columns), sharex=True, sharey=True, squeeze=False)[0]
        for place, (panel, column) in enumerate(zip(axes, columns, strict=True)):
            for cell in self.cells:
                if cell.column != column:
                    continue
                height, measured = rows.index(cell.row), results[cell.row, column]
                label = "here, 95%" if height == 0 else None
                panel.errorbar(
                    measured.mean, height - 0.1, xerr=measured.half_95, fmt="o", color=COLOURS[0], label=label
                )
                if cell.published:
                    panel.errorbar(
                        cell.published[0],
                        height + 0.15,
                        xerr=cell.published[1],
                        fmt="D",
                        color=COLOURS[1],
                        markerfacecolor="white",
                        label="the paper, 68%" if height == 0 else None,
                    )
            panel.axvline(0.0, color="grey", linewidth=0.8)
            panel.set_title(column, fontsize=9)
            panel.set_xlabel(f"won, {self.unit}")
            panel.set_yticks(range(len(rows)), rows, fontsize=8)
            panel.grid(axis="x", alpha=0.25)
            if place == 0:
                panel.set_ylim(len(rows) - 0.5, -0.5)  # the first row at the top
                figure.legend(
                    *panel.get_legend_handles_labels(), fontsize=8, loc="outside lower center", ncols=2
                )
        figure.suptitle(self.title, fontsize=10)
        save_figure(figure, path)
