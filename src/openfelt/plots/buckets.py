"""Abstractions: the occupancy of their buckets, and exploitability by the number of buckets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openfelt.cards.abstraction.spec import ALL_HANDS
from openfelt.cards.deck import FLOP, STREETS
from openfelt.core.jit import Floats
from openfelt.plots.axes import MORE_TICKS, add_legend, label_axes, use_log_scale
from openfelt.plots.figure import COLOURS, new_figure, save_figure
from openfelt.plots.intervals import Interval

MOST_BARS = 5_000  # of a street: drawing more takes minutes
APART = 1.02  # on a logarithmic axis, points with the same number of buckets


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


class BucketLine(NamedTuple):
    """The exploitability of policies in buckets of one kind."""

    label: str
    buckets: Sequence[int]  # of all streets together, ascending
    exploitability: Sequence[Interval]  # mbb/h


def plot_exploitability_by_buckets(title: str, lines: Sequence[BucketLine], path: Path) -> None:
    """Draw a line for each kind of buckets, both axes logarithmic; points are moved apart a little."""
    figure = new_figure(8.0, 5.2)
    axes = figure.add_subplot()
    for number, (line, colour) in enumerate(zip(lines, COLOURS, strict=False)):
        means, halves = zip(*((each.mean, each.half) for each in line.exploitability), strict=True)
        beside = np.array(line.buckets) * APART**number
        axes.errorbar(beside, means, yerr=halves, color=colour, fmt="o-", capsize=3, label=line.label)
    axes.set_xscale("log")
    use_log_scale(axes, "y", MORE_TICKS)
    label_axes(axes, "buckets of all streets", "exploitability (mbb/h)", title=title)
    add_legend(axes)
    save_figure(figure, path)
