"""Occupancy of the buckets of an abstraction."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from openfelt.cards.deck import STREETS
from openfelt.core.jit import Floats
from openfelt.plots.axes import label_axes
from openfelt.plots.figure import COLOURS, new_figure, save_figure


def plot_occupancy(name: str, occupancy: list[Floats], path: Path) -> None:
    """Draw for each street the share of all hands that each bucket of an abstraction holds."""
    figure = new_figure(10.4, 6.4)
    for place, (street, shares) in enumerate(zip(STREETS, occupancy, strict=True)):
        axes = figure.add_subplot(2, 2, place + 1)
        axes.bar(np.arange(len(shares)), 100 * shares, width=1.0, color=COLOURS[place])
        title = f"{street}: {len(shares)} buckets, {int((shares == 0).sum())} empty"
        label_axes(axes, "bucket, from weakest to strongest hands", "share of all hands (%)", title=title)
        axes.set_xlim(-0.5, len(shares) - 0.5)
    figure.suptitle(f"Bucket occupancy of {name}")
    save_figure(figure, path)
