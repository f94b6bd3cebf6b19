"""The cross table of a tournament in plain text and Markdown (`plots/cross_table.py` draws it).

Rows are in the order of the ranking, and columns are labelled by the numbers of the rows, as in chess: the
names of ten bots would not fit side by side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from openfelt.core.jit import Floats


@dataclass(frozen=True)
class CrossTable:
    """Winnings of the bot of a row, in all and against the bot of each column, with 95% intervals."""

    names: tuple[str, ...]  # by rank
    won: Floats  # [bots, bots] of the row against the column; nan on the diagonal
    interval: Floats  # [bots, bots] half the width
    mean: Floats  # [bots] over all matches of the bot
    mean_interval: Floats  # [bots]
    unit: str
    digits: int = 1  # after the decimal point
    against: str = "against"  # the relation of row to column

    def text(self) -> str:
        """For a terminal: for each bot a line of means, and one of intervals below it."""
        rows = [["", "", "mean", *(str(place) for place in range(1, len(self.names) + 1))]]
        for place, name in enumerate(self.names):
            cells = self.cells(place)
            rows.append([str(place + 1), name, *(mean for mean, _ in cells)])
            rows.append(["", "", *(interval for _, interval in cells)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        widths[3:] = [max(widths[3:])] * len(self.names)
        return "\n".join(_line(row, widths) for row in rows)

    def markdown(self) -> str:
        """In Markdown."""
        head = ["", "bot", f"mean ({self.unit})", *(str(place) for place in range(1, len(self.names) + 1))]
        lines = [f"| {' | '.join(head)} |", "|---|---|" + "---:|" * (len(head) - 2)]
        for row, name in enumerate(self.names):
            cells = [f"{mean} {interval}".strip() for mean, interval in self.cells(row)]
            lines.append(f"| {' | '.join([str(row + 1), name, *cells])} |")
        return "\n".join(lines)

    def cells(self, row: int) -> list[tuple[str, str]]:
        """The mean and the interval of each cell of a row."""
        pairs = [(self.mean[row], self.mean_interval[row])]
        pairs += zip(self.won[row], self.interval[row], strict=True)
        return [(signed(mean, self.digits), spread(interval, self.digits)) for mean, interval in pairs]


def _line(row: list[str], widths: list[int]) -> str:
    """Names to the left, numbers to the right."""
    cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
    cells[1] = row[1].ljust(widths[1])
    return "  ".join(["", *cells]).rstrip()


def signed(mean: float, digits: int) -> str:
    """A mean as it is printed; "-" for nan."""
    return "-" if math.isnan(mean) else f"{mean:+,.{digits}f}"


def spread(interval: float, digits: int) -> str:
    """Half the width of an interval as it is printed."""
    return "" if math.isnan(interval) else f"± {interval:,.{digits}f}"
