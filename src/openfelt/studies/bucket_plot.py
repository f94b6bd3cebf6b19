"""How full the buckets of an abstraction are, as a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from openfelt.base.files import not_written
from openfelt.base.jit import Floats
from openfelt.cards.deck import STREETS
from openfelt.studies.report import COLOURS


def plot_occupancy(name: str, occupancy: list[Floats], path: Path) -> None:
    """Draw for each street the share of all hands that each bucket of an abstraction holds."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.4, 6.4), layout="constrained")
    FigureCanvasAgg(figure)
    for place, (street, shares) in enumerate(zip(STREETS, occupancy, strict=True)):
        axes = figure.add_subplot(2, 2, place + 1)
        axes.bar(np.arange(len(shares)), 100 * shares, width=1.0, color=COLOURS[place])
        axes.set_title(f"{street}: {len(shares)} buckets, {int((shares == 0).sum())} empty", fontsize=10)
        axes.set_xlabel("bucket, from the weakest hands to the strongest")
        axes.set_ylabel("share of all hands, %")
        axes.set_xlim(-0.5, len(shares) - 0.5)
        axes.grid(alpha=0.25)
    figure.suptitle(f"How full the buckets of {name} are")
    try:
        figure.savefig(path, dpi=110, metadata={"Software": None})
    except OSError as error:
        raise not_written(path, error) from error
