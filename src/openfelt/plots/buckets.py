"""Occupancy of the buckets of an abstraction."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from openfelt.cards.abstraction.spec import ALL_HANDS
from openfelt.cards.deck import FLOP, STREETS
from openfelt.core.jit import Floats
from openfelt.plots.axes import label_axes
from openfelt.plots.figure import COLOURS, new_figure, save_figure

MOST_BARS = 5_000  # of a street: drawing more takes minutes


def plot_occupancy(name: str, occupancy: list[Floats], path: Path) -> None:
    """Draw for each street the share of all hands that each bucket of an abstraction holds."""
    figure = new_figure(10.4, 6.4)
    for place, (street, shares) in enumerate(zip(STREETS, occupancy, strict=True)):
        axes = figure.add_subplot(2, 2, place + 1)
        together = -(-len(shares) // MOST_BARS)  # adjacent buckets that share a bar, with their mean
        first = np.arange(0, len(shares), together)
        sizes = np.diff(first, append=len(shares))
        height = 100 * np.add.reduceat(shares, first) / sizes
        axes.bar(first - 0.5, height, width=sizes, align="edge", color=COLOURS[place])
        title = f"{street}: {len(shares)} buckets, {int((shares == 0).sum())} empty"
        is_lossless = len(shares) == ALL_HANDS[FLOP]
        order = "flop by flop" if is_lossless else "from weakest to strongest hands"
        label_axes(axes, f"bucket, {order}", "share of all hands (%)", title=title)
        axes.set_xlim(-0.5, len(shares) - 0.5)
    figure.suptitle(f"Bucket occupancy of {name}")
    save_figure(figure, path)
