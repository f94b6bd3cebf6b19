"""Winnings with intervals, one row a player: the figures of match tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from openfelt.plots.axes import add_legend_below, draw_intervals, draw_zero, label_axes, name_rows
from openfelt.plots.figure import COLOURS, new_figure, save_figure

OURS = "here (95%)"


class Interval(NamedTuple):
    """A mean with the half width of its interval."""

    mean: float
    half: float = 0.0

    def __format__(self, how: str) -> str:
        return f"{self.mean:{how}} ± {self.half:{how.lstrip('+')}}"


class IntervalPanel(NamedTuple):
    """One panel of a match table; both maps are by row."""

    title: str
    ours: Mapping[str, Interval]
    published: Mapping[str, Interval]


def plot_match_table(
    title: str,
    rows: Sequence[str],
    panels: Sequence[IntervalPanel],
    x_label: str,
    path: Path,
    *,
    published: str = "paper (95%)",
) -> None:
    """Draw a panel for each column of a match table: our results beside the paper's."""
    figure = new_figure(3.2 + 3.6 * len(panels), 2.0 + 0.42 * len(rows))
    axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for own, panel in zip(axes, panels, strict=True):
        _draw_column(own, rows, panel, published)
        draw_zero(own, vertical=True)
        label_axes(own, x_label, title=panel.title, grid="x")
        name_rows(own, rows)
    fullest = max(axes, key=lambda own: len(own.get_legend_handles_labels()[1]))
    add_legend_below(figure, fullest, columns=2)
    figure.suptitle(title, fontsize=10)
    save_figure(figure, path)


def _draw_column(axes: Any, rows: Sequence[str], panel: IntervalPanel, published: str) -> None:
    places = {row: place for place, row in enumerate(rows)}
    paper = {"fmt": "D", "color": COLOURS[1], "markerfacecolor": "white"}
    for values, shift, label, style in (
        (panel.ours, -0.1, OURS, {}),
        (panel.published, 0.15, published, paper),
    ):
        if values:
            heights = [places[row] + shift for row in values]
            means = [each.mean for each in values.values()]
            halves = [each.half for each in values.values()]
            draw_intervals(axes, heights, means, halves, label=label, **style)
