"""The cross table of a tournament as a heat map, and the files of its report."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from openfelt.arena.cross_table import CrossTable
from openfelt.arena.tournament import STEM, TournamentResult
from openfelt.core.files import not_written, write_text
from openfelt.plots.figure import has_matplotlib, new_figure, save_figure

LOST, EVEN, WON = "#b35806", "#f7f7f7", "#2166ac"  # distinguishable without red-green vision
DIAGONAL = "#dddddd"
CELL = 0.88  # inches
LIGHT_TEXT = 0.45  # background luminance below which text is white


def write_report(result: TournamentResult, folder: Path) -> bool:
    """Write cross-table.csv, .md and, with matplotlib, .png; returns whether the figure was drawn."""
    drawn = has_matplotlib()
    try:
        write_text(folder / f"{STEM}.csv", result.csv())
        if drawn:
            plot_cross_table(result.cross_table, folder / f"{STEM}.png", result.heading())
        write_text(folder / f"{STEM}.md", result.markdown(figure=drawn))
    except OSError as error:
        raise not_written(folder, error) from error
    return drawn


def plot_cross_table(table: CrossTable, path: Path, title: str) -> None:
    """Draw a heat map of winnings into a PNG file."""
    from matplotlib.colors import AsinhNorm, LinearSegmentedColormap

    count = len(table.names)
    names = [_short(name) for name in table.names]
    values = np.column_stack([table.mean, table.won])
    sizes = np.abs(values[np.isfinite(values)])
    most = max(float(sizes.max(initial=0.0)), 10.0**-table.digits)
    width = 3.4 + CELL * (count + 1) + 0.075 * max(map(len, names))
    figure = new_figure(max(6.0, width), 1.9 + 0.62 * CELL * count + 0.75)
    axes = figure.add_subplot()
    colours = LinearSegmentedColormap.from_list("won", [LOST, EVEN, WON]).with_extremes(bad=DIAGONAL)
    # Linear near 0 and logarithmic beyond, so that small winnings stay distinguishable from each other.
    norm = AsinhNorm(linear_width=max(most / 30, 1e-9), vmin=-most, vmax=most)
    image = axes.imshow(np.ma.masked_invalid(values), cmap=colours, norm=norm, aspect="auto")
    _write_numbers(axes, table, colours, norm)
    axes.set_xticks(range(count + 1), ["mean", *(f"{place + 1}" for place in range(count))])
    axes.set_yticks(range(count), [f"{name}  {place + 1}" for place, name in enumerate(names)])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(f"{table.against} (numbered as on the left)")
    axes.set_ylabel("bot, by rank")
    axes.tick_params(length=0)
    axes.axvline(0.5, color="black", linewidth=1.2)
    bar = figure.colorbar(image, ax=axes, pad=0.015, ticks=_ticks(most))
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:+,g}" if value else "0")
    bar.set_label(f"winnings of the row's bot ({table.unit})")
    figure.suptitle(f"{title}\n{table.unit}, ± half of the 95% interval", fontsize=10)
    save_figure(figure, path)


def _write_numbers(axes: Any, table: CrossTable, colours: Any, norm: Any) -> None:
    for row in range(len(table.names)):
        means = [table.mean[row], *table.won[row]]
        for column, (mean, interval) in enumerate(table.cells(row)):
            background = colours(norm(means[column])) if not math.isnan(means[column]) else (1.0, 1.0, 1.0)
            luminance = 0.2126 * background[0] + 0.7152 * background[1] + 0.0722 * background[2]
            colour = "white" if luminance < LIGHT_TEXT else "black"
            axes.text(column, row - 0.14, mean, ha="center", va="center", fontsize=9, color=colour)
            axes.text(column, row + 0.22, interval, ha="center", va="center", fontsize=7.5, color=colour)


def _ticks(most: float) -> list[float]:
    """Round numbers on both sides of 0, up to the largest value."""
    top = math.floor(math.log10(most))
    sizes = [10.0**power for power in (top - 1, top)]
    sizes += [step * 10.0**top for step in (2, 5) if step * 10.0**top <= most]
    return [-size for size in reversed(sizes)] + [0.0, *sizes]


def _short(name: str, most: int = 28) -> str:
    """The end of a long name: the part of a path that distinguishes it."""
    return name if len(name) <= most else f"…{name[1 - most :]}"
