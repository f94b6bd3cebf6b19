"""Everybody against everybody, as a table: in plain text, in Markdown and as a picture.

Bots stand in the order of their ranking, and columns have the numbers of the rows, as in chess: names of ten
bots would not fit side by side.
"""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openfelt.base.jit import Floats

LOST, EVEN, WON = "#b35806", "#f7f7f7", "#2166ac"  # told apart also by those who see no red or green
NOBODY = "#dddddd"  # the diagonal
CELL = 0.88  # inches
LIGHT_TEXT = 0.45  # luminance of the ground below which letters on it are white


@dataclass(frozen=True)
class CrossTable:
    """What the bot of a row won, in all and against the bot of each column, with intervals of 95%."""

    names: tuple[str, ...]  # by rank
    won: Floats  # [bots, bots] of the row against the column; nan on the diagonal
    interval: Floats  # [bots, bots] half its width
    mean: Floats  # [bots] over all tables that the bot sat at
    mean_interval: Floats  # [bots]
    unit: str
    digits: int = 1  # after the point
    against: str = "against"  # what a column means

    def text(self) -> str:
        """For a terminal: a line of means for each bot, and one of intervals below it."""
        rows = [["", "", "mean", *(str(place) for place in range(1, len(self.names) + 1))]]
        for place, name in enumerate(self.names):
            cells = self._cells(place)
            rows.append([str(place + 1), name, *(mean for mean, _ in cells)])
            rows.append(["", "", *(interval for _, interval in cells)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        widths[3:] = [max(widths[3:])] * len(self.names)
        return "\n".join(_line(row, widths) for row in rows)

    def markdown(self) -> str:
        """The same for a page."""
        head = ["", "bot", f"mean ({self.unit})", *(str(place) for place in range(1, len(self.names) + 1))]
        lines = [f"| {' | '.join(head)} |", "|---|---|" + "---:|" * (len(head) - 2)]
        for row, name in enumerate(self.names):
            cells = [f"{mean} {interval}".strip() for mean, interval in self._cells(row)]
            lines.append(f"| {' | '.join([str(row + 1), name, *cells])} |")
        return "\n".join(lines)

    def _cells(self, row: int) -> list[tuple[str, str]]:
        """The mean and the interval of everything in a row."""
        pairs = [(self.mean[row], self.mean_interval[row])]
        pairs += zip(self.won[row], self.interval[row], strict=True)
        return [(signed(mean, self.digits), spread(interval, self.digits)) for mean, interval in pairs]

    def plot(self, path: Path, title: str) -> bool:
        """Draw a heat map; returns whether there is matplotlib to draw with."""
        if importlib.util.find_spec("matplotlib") is None:
            return False
        _draw(self, path, title)
        return True


def _line(row: list[str], widths: list[int]) -> str:
    """Names to the left, numbers to the right."""
    cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
    cells[1] = row[1].ljust(widths[1])
    return "  ".join(["", *cells]).rstrip()


def signed(mean: float, digits: int) -> str:
    """A mean as it is printed; nothing where there is none."""
    return "-" if math.isnan(mean) else f"{mean:+,.{digits}f}"


def spread(interval: float, digits: int) -> str:
    """Half an interval as it is printed."""
    return "" if math.isnan(interval) else f"± {interval:,.{digits}f}"


def _draw(table: CrossTable, path: Path, title: str) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import AsinhNorm, LinearSegmentedColormap
    from matplotlib.figure import Figure

    count = len(table.names)
    names = [_short(name) for name in table.names]
    values = np.column_stack([table.mean, table.won])
    sizes = np.abs(values[np.isfinite(values)])
    most = max(float(sizes.max(initial=0.0)), 10.0**-table.digits)
    width = 3.4 + CELL * (count + 1) + 0.075 * max(map(len, names))
    figure = Figure(figsize=(max(6.0, width), 1.9 + 0.62 * CELL * count + 0.75), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    colours = LinearSegmentedColormap.from_list("won", [LOST, EVEN, WON]).with_extremes(bad=NOBODY)
    # Small winnings and large ones are to be told apart in one picture: linear near 0, logarithmic beyond.
    norm = AsinhNorm(linear_width=max(most / 30, 1e-9), vmin=-most, vmax=most)
    picture = axes.imshow(np.ma.masked_invalid(values), cmap=colours, norm=norm, aspect="auto")
    _write_numbers(axes, table, colours, norm)
    axes.set_xticks(range(count + 1), ["mean", *(f"{place + 1}" for place in range(count))])
    axes.set_yticks(range(count), [f"{name}  {place + 1}" for place, name in enumerate(names)])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(f"{table.against} (numbers as on the left)")
    axes.set_ylabel("bot, by rank")
    axes.tick_params(length=0)
    axes.axvline(0.5, color="black", linewidth=1.2)
    bar = figure.colorbar(picture, ax=axes, pad=0.015, ticks=_ticks(most))
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:+,g}" if value else "0")
    bar.set_label(f"won by the bot of the row ({table.unit})")
    figure.suptitle(f"{title}\n{table.unit}, ± half the 95% interval", fontsize=10)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def _write_numbers(axes: Any, table: CrossTable, colours: Any, norm: Any) -> None:
    for row in range(len(table.names)):
        means = [table.mean[row], *table.won[row]]
        for column, (mean, interval) in enumerate(table._cells(row)):
            ground = colours(norm(means[column])) if not math.isnan(means[column]) else (1.0, 1.0, 1.0)
            luminance = 0.2126 * ground[0] + 0.7152 * ground[1] + 0.0722 * ground[2]
            colour = "white" if luminance < LIGHT_TEXT else "black"
            axes.text(column, row - 0.14, mean, ha="center", va="center", fontsize=9, color=colour)
            axes.text(column, row + 0.22, interval, ha="center", va="center", fontsize=7.5, color=colour)


def _ticks(most: float) -> list[float]:
    """Round numbers on both sides of 0, at most as far as the largest."""
    top = math.floor(math.log10(most))
    sizes = [10.0**power for power in (top - 1, top)]
    sizes += [step * 10.0**top for step in (2, 5) if step * 10.0**top <= most]
    return [-size for size in reversed(sizes)] + [0.0, *sizes]


def _short(name: str, most: int = 28) -> str:
    """The end of a long name, which says most of a path."""
    return name if len(name) <= most else f"…{name[1 - most :]}"
