"""Curves over training time: means of several runs with bands, and convergence by the clock."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from openfelt.core.jit import Floats
from openfelt.plots.axes import (
    above_zero,
    add_legend,
    add_legend_below,
    draw_band,
    label_axes,
    use_log_scale,
)
from openfelt.plots.figure import COLOURS, new_figure, save_figure

TITLE_WIDTH = 62  # letters of a title line per panel
LEAST = 1e-12  # lower end of a band on a logarithmic axis
LOG_RANGE = 1000  # ratio of last to first x from which the horizontal axis is logarithmic
LEGEND_COLUMNS = 4
MOST_INSIDE = 5  # lines of a single panel whose legend is inside it
MANY_COLOURS = ("#222222", *COLOURS)


@dataclass(frozen=True)
class CurvePanel:
    """One plot: a metric over training time."""

    x: Sequence[float]  # [points]
    runs: Mapping[str, Floats]  # by label: [runs, points]
    y_label: str
    x_label: str = "episodes"
    title: str = ""
    logarithmic: bool = False
    single_runs: bool = False  # draw every run and the median, not the mean and a band
    published: Mapping[str, float] = field(default_factory=dict)  # values of a paper, by label


class Band(NamedTuple):
    """A curve with the half width of its intervals."""

    mean: Floats  # [points]
    half: Floats  # [points]


class Level(NamedTuple):
    """A constant to compare curves with."""

    label: str
    mean: float
    half: float


def plot_runs(
    title: str,
    panels: Sequence[CurvePanel],
    path: Path,
    *,
    columns: int | None = None,
    panel_size: tuple[float, float] = (5.2, 3.9),
) -> None:
    """Draw for each panel and label the runs: the mean, shaded from minimum to maximum, or each of them."""
    columns = columns or (len(panels) if len(panels) <= 3 else 2)
    rows = -(-len(panels) // columns)
    figure = new_figure(panel_size[0] * columns, panel_size[1] * rows)
    for place, panel in enumerate(panels):
        _draw_runs(figure.add_subplot(rows, columns, place + 1), panel)
    is_shared = len({(*panel.runs, *panel.published) for panel in panels}) == 1
    if is_shared and (len(panels) > 1 or len(panels[0].runs) > MOST_INSIDE):
        add_legend_below(figure, *figure.axes, columns=LEGEND_COLUMNS)
    else:
        for axes in figure.axes:
            add_legend(axes)
    count = len(next(iter(panels[0].runs.values())))
    spread = f"mean of {count} runs; shaded: minimum to maximum" if count > 1 else "one run"
    if panels[0].single_runs:
        spread = f"{count} runs; thick: their median, dashed: their mean"
    figure.suptitle(f"{textwrap.fill(title, TITLE_WIDTH * columns)}\n{spread}", fontsize=10)
    save_figure(figure, path)


def _draw_runs(axes: Any, panel: CurvePanel) -> None:
    from matplotlib.ticker import MaxNLocator

    styles = product(("-", "--"), COLOURS)
    for (line, colour), (label, table) in zip(styles, panel.runs.items(), strict=False):
        if panel.single_runs:
            axes.plot(panel.x, table.T, color=colour, alpha=0.35, linewidth=0.6)
            axes.plot(panel.x, np.median(table, axis=0), color=colour, label=label, linewidth=2.2)
            axes.plot(panel.x, table.mean(axis=0), color=colour, linestyle="--", linewidth=1.4)
            continue
        low, high = table.min(axis=0), table.max(axis=0)
        low = above_zero(low, LEAST) if panel.logarithmic else low
        drawn = {"color": colour, "linestyle": line, "linewidth": 1.6, "label": label}
        draw_band(axes, panel.x, table.mean(axis=0), low, high, **drawn)
    for style, (label, value) in zip(((0, (1, 1)), "--", "-."), panel.published.items(), strict=False):
        axes.axhline(value, color="#555555", linestyle=style, linewidth=1.1, label=f"paper: {label}")
    if panel.logarithmic:
        use_log_scale(axes, "y")
    if panel.x[-1] >= LOG_RANGE * panel.x[0]:
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    label_axes(axes, panel.x_label, panel.y_label, title=panel.title)


def plot_bands(
    title: str,
    x: Sequence[float],
    curves: Mapping[str, Band],
    level: Level,
    labels: tuple[str, str],
    path: Path,
) -> None:
    """Draw curves with their intervals, and a level with its own; `labels` are those of x and y."""
    figure = new_figure(7.0, 4.4)
    axes = figure.add_subplot()
    for colour, (label, (mean, half)) in zip(COLOURS, curves.items(), strict=False):
        style = {"color": colour, "label": label, "marker": "o", "markersize": 4}
        draw_band(axes, x, mean, mean - half, mean + half, **style)
    axes.axhline(level.mean, color=COLOURS[3], linestyle="--", label=level.label)
    axes.axhspan(level.mean - level.half, level.mean + level.half, color=COLOURS[3], alpha=0.18, lw=0)
    label_axes(axes, *labels)
    add_legend(axes)
    figure.suptitle(f"{title}\nshaded: 95% intervals", fontsize=10)
    save_figure(figure, path)


@dataclass(frozen=True)
class ConvergencePanel:
    """Several methods in one game, by the clock or by another measure of work."""

    title: str
    y_label: str
    # By method: of each of its runs, the seconds or other work, and the values.
    curves: Mapping[str, Sequence[tuple[Sequence[float], Sequence[float]]]]
    limit: float | None = None  # what all curves approach
    x_label: str = "training time (s)"
    levels: Mapping[str, float] = field(default_factory=dict)  # values of a paper or of another program


def plot_convergence(
    title: str, panels: Sequence[ConvergencePanel], limit_label: str, columns: int, path: Path
) -> None:
    """Draw panels row by row on logarithmic axes, with one legend."""
    rows = -(-len(panels) // columns)
    figure = new_figure(4.4 * columns, 3.2 * rows)
    labels = dict.fromkeys(label for panel in panels for label in panel.curves)
    styles = dict(zip(labels, zip(cycle(MANY_COLOURS), cycle("s^ovD"), strict=False), strict=False))
    for place, panel in enumerate(panels):
        _draw_convergence(figure.add_subplot(rows, columns, place + 1), panel, styles, limit_label)
    add_legend_below(figure, *figure.axes, columns=3)
    figure.suptitle(title, fontsize=10)
    save_figure(figure, path)


def _draw_convergence(
    axes: Any, panel: ConvergencePanel, styles: Mapping[str, tuple[str, str]], limit_label: str
) -> None:
    from matplotlib.ticker import NullFormatter

    for label, runs in panel.curves.items():
        colour, marker = styles[label]
        size, width = (3.0, 1.3) if len(runs) == 1 else (2.0, 0.7)
        style = {"marker": marker, "markersize": size, "linewidth": width, "color": colour, "label": label}
        for seconds, values in runs:
            axes.plot(seconds, above_zero(values, 1e-9), **style)
    if panel.limit is not None:
        axes.axhline(max(panel.limit, 1e-9), color="#999999", linestyle=":", label=limit_label)
    for dashes, (label, value) in zip(cycle(((0, (1, 1)), "--", "-.")), panel.levels.items(), strict=False):
        axes.axhline(value, color="#555555", linestyle=dashes, linewidth=1.1, label=label)
    axes.set(xscale="log", yscale="log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    label_axes(axes, panel.x_label, panel.y_label, title=panel.title)
    axes.yaxis.label.set_fontsize(8)
