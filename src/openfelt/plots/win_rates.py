"""Win rates of freeze-outs as bars, above the winnings a hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openfelt.plots.axes import add_legend, draw_zero, label_axes
from openfelt.plots.figure import COLOURS, new_figure, save_figure

EVEN = 50.0  # per cent


class WinRate(NamedTuple):
    """One pairing, from the view of its first bot."""

    label: str
    rate: float  # share of games won
    interval: tuple[float, float]  # 95%
    chips: float  # won a hand
    chips_half: float  # half of the 95% interval
    published: float | None = None  # the paper's share of games won


def plot_win_rates(title: str, pairings: Sequence[WinRate], first: str, x_label: str, path: Path) -> None:
    """Draw the share of games won by `first` and its winnings, for each pairing."""
    places = np.arange(len(pairings))
    figure = new_figure(8.6, 6.4)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    rates = 100 * np.array([each.rate for each in pairings])
    low, high = 100 * np.array([each.interval for each in pairings]).T
    spans = np.maximum(0.0, [rates - low, high - rates])
    above.bar(places, rates, yerr=spans, color=COLOURS[0], alpha=0.85, capsize=3, label="here (95%)")
    published = [
        (place, 100 * each.published) for place, each in enumerate(pairings) if each.published is not None
    ]
    if published:
        above.plot(*zip(*published, strict=True), "D", color=COLOURS[1], label="paper")
        add_legend(above)
    draw_zero(above, vertical=False, at=EVEN)
    above.set_ylim(0, 105)
    label_axes(above, "", f"games won by\n{first} (%)", grid="y")
    chips, halves = [each.chips for each in pairings], [each.chips_half for each in pairings]
    below.errorbar(places, chips, yerr=halves, fmt="o", color=COLOURS[0])
    draw_zero(below, vertical=False)
    below.set_xticks(places, [each.label.replace(" (", "\n(") for each in pairings], fontsize=8)
    label_axes(below, x_label, "winnings (chips a hand, 95%)", grid="y")
    figure.suptitle(title, fontsize=10)
    save_figure(figure, path)
