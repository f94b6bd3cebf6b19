"""Small drawing steps that several figures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from openfelt.core.jit import Floats
from openfelt.plots.figure import COLOURS

MANY_TICKS = (1.5, 0.4)  # thresholds of LogFormatter, in decades, for labels of minor ticks
MORE_TICKS = (2, 0.5)


def label_axes(axes: Any, x: str, y: str = "", *, title: str = "", grid: str = "both") -> None:
    """Set the labels and the title, and draw a faint grid."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize=10)
    axes.grid(axis=grid, alpha=0.25)


def add_legend(axes: Any) -> None:
    """A small legend without a frame; what it covers stays visible as a shade."""
    axes.legend(fontsize=8, edgecolor="none", framealpha=0.8)


def add_legend_below(figure: Any, *panels: Any, columns: int) -> None:
    """One legend below all panels, with the entries of these."""
    entries: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    placing = {"fontsize": 8, "frameon": False, "loc": "outside lower center", "ncols": columns}
    figure.legend(entries.values(), entries.keys(), **placing)


def use_log_scale(axes: Any, which: str, minor: tuple[float, float] = MANY_TICKS) -> None:
    """Make axis `which` ("x" or "y") logarithmic, and label minor ticks too where it is short."""
    from matplotlib.ticker import LogFormatter

    axes.set(**{f"{which}scale": "log"})
    axis = getattr(axes, f"{which}axis")
    axis.set_major_formatter(LogFormatter())
    axis.set_minor_formatter(LogFormatter(minor_thresholds=minor))


def draw_band(axes: Any, x: Sequence[float], mean: Floats, low: Floats, high: Floats, **line: Any) -> None:
    """A curve with a shaded band around it; `line` goes to matplotlib's `plot`."""
    (drawn,) = axes.plot(x, mean, **line)
    axes.fill_between(x, low, high, color=drawn.get_color(), alpha=0.18, linewidth=0)


def draw_intervals(
    axes: Any, rows: Sequence[float], means: Sequence[float], halves: Sequence[float], **style: Any
) -> None:
    """Horizontal intervals, one a row; `style` goes to matplotlib's `errorbar`."""
    axes.errorbar(means, rows, xerr=halves, **{"fmt": "o", "color": COLOURS[0], **style})


def name_rows(axes: Any, names: Sequence[str]) -> None:
    """Label the rows 0, 1, ... of a horizontal plot, the first at the top."""
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)


def draw_zero(axes: Any, *, vertical: bool, at: float = 0.0) -> None:
    """A thin grey line at zero (or `at`)."""
    (axes.axvline if vertical else axes.axhline)(at, color="grey", linewidth=0.8)


def above_zero(values: Sequence[float] | Floats, least: float) -> Floats:
    """Values raised to at least `least`, for a logarithmic axis."""
    raised: Floats = np.maximum(values, least)
    return raised
