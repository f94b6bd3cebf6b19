"""Accuracy of a network by training epoch, beside matches of a search that uses it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from openfelt.core.jit import Floats
from openfelt.plots.axes import add_legend, draw_intervals, draw_zero, label_axes, name_rows
from openfelt.plots.figure import COLOURS, new_figure, save_figure
from openfelt.plots.intervals import Interval

LINE_COLOURS = (*COLOURS, "#b8860b")
BASELINE_STYLES = ("--", ":")


def plot_network_accuracy(
    title: str,
    accuracy: Mapping[str, Floats],
    baselines: Mapping[str, float],
    matches: Mapping[str, Interval],
    labels: tuple[str, str],
    path: Path,
) -> None:
    """Draw accuracy by epoch on the left and matches on the right; `labels`: of accuracy, of winnings."""
    figure = new_figure(12.0, 4.6)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    _draw_accuracy(left, accuracy, baselines)
    label_axes(left, "epochs", labels[0])
    add_legend(left)
    means, halves = zip(*matches.values(), strict=True)
    draw_intervals(right, range(len(matches)), means, halves)
    draw_zero(right, vertical=True)
    name_rows(right, list(matches))
    label_axes(right, labels[1], grid="x")
    figure.suptitle(title, fontsize=10)
    save_figure(figure, path)


def _draw_accuracy(axes: Any, accuracy: Mapping[str, Floats], baselines: Mapping[str, float]) -> None:
    for colour, (label, values) in zip(LINE_COLOURS, accuracy.items(), strict=True):
        axes.plot(range(1, len(values) + 1), values, color=colour, label=label, linewidth=1.6)
    for style, (label, height) in zip(BASELINE_STYLES, baselines.items(), strict=True):
        axes.axhline(height, color="grey", linestyle=style, label=label)
    axes.xaxis.get_major_locator().set_params(integer=True)
