"""How well an opponent model is calibrated."""

from __future__ import annotations

from pathlib import Path

from openfelt.opponents.models.public_tree import CLASSES
from openfelt.opponents.models.score import Calibration
from openfelt.plots.figure import COLOURS, new_figure, save_figure

FEW = 10  # predictions below which a bin is not drawn


def plot_calibration(title: str, calibration: Calibration, path: Path) -> None:
    """How often actions came, over the chance that was given to them."""
    figure = new_figure(5.2, 4.6)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle=":")
    for colour, name, chances, predicted, observed in zip(COLOURS, CLASSES, *calibration, strict=False):
        some = chances >= FEW
        label = f"{name} ({int(chances.sum()):,} decisions)"
        axes.plot(predicted[some], observed[some], "o-", color=colour, label=label)
    axes.set_xlabel("chance that was given to an action")
    axes.set_ylabel("how often it came")
    axes.set_title(f"{title}: calibration error {calibration.error:.3f}", fontsize=10)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, frameon=False)
    save_figure(figure, path)
