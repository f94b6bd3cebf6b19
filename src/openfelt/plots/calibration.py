"""Calibration of an opponent model."""

from __future__ import annotations

from pathlib import Path

from openfelt.opponents.models.public_tree import CLASSES
from openfelt.opponents.models.score import Calibration
from openfelt.plots.axes import add_legend, label_axes
from openfelt.plots.figure import COLOURS, new_figure, save_figure

MIN_PREDICTIONS = 10  # bins with fewer are not drawn


def plot_calibration(title: str, calibration: Calibration, path: Path) -> None:
    """Draw the observed frequency of each action over its predicted probability."""
    figure = new_figure(5.2, 4.6)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle=":")
    for colour, name, counts, predicted, observed in zip(COLOURS, CLASSES, *calibration, strict=False):
        some = counts >= MIN_PREDICTIONS
        label = f"{name} ({int(counts.sum()):,} decisions)"
        axes.plot(predicted[some], observed[some], "o-", color=colour, label=label)
    heading = f"{title}: calibration error {calibration.error:.3f}"
    label_axes(axes, "predicted probability", "observed frequency", title=heading)
    add_legend(axes)
    save_figure(figure, path)
