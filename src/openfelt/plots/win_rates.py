"""Win rates of freeze-outs as bars, above the winnings a hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from openfelt.plots.axes import add_legend, draw_zero, label_axes
from openfelt.plots.figure import COLOURS, new_figure, save_figure
from openfelt.plots.intervals import Interval

EVEN = 50.0  # per cent
PAPER: dict[str, Any] = {"color": COLOURS[1], "label": "paper"}


class WinRate(NamedTuple):
    """One pairing, from the view of its first bot."""

    label: str
    rate: float  # share of games won
    interval: tuple[float, float]  # 95%
    chips: Interval  # won a hand
    published: float | None = None  # the paper's share of games won
    series: str = ""  # pairings of several series stand side by side


def plot_win_rates(title: str, pairings: Sequence[WinRate], first: str, x_label: str, path: Path) -> None:
    """Draw the share of games won by `first` and its winnings, for each pairing."""
    labels = list(dict.fromkeys(each.label for each in pairings))
    names = list(dict.fromkeys(each.series for each in pairings))
    width = 0.8 / len(names)
    figure = new_figure(max(8.6, 0.5 * len(pairings)), 6.4)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for number, name in enumerate(names):
        own = [each for each in pairings if each.series == name]
        shift = (number - (len(names) - 1) / 2) * width
        places = np.array([labels.index(each.label) for each in own]) + shift
        rates = 100 * np.array([each.rate for each in own])
        low, high = 100 * np.array([each.interval for each in own]).T
        colour = [each for each in COLOURS if each != PAPER["color"]][number]
        above.bar(
            places,
            rates,
            width,
            yerr=np.maximum(0.0, [rates - low, high - rates]),
            color=colour,
            alpha=0.85,
            capsize=3,
            label=f"here (95%){', ' * bool(name)}{name}",
        )
        chips, halves = zip(*(each.chips for each in own), strict=True)
        below.errorbar(places, chips, yerr=halves, fmt="o", color=colour)
    published = {each.label: 100 * each.published for each in pairings if each.published is not None}
    if published:
        above.plot([labels.index(label) for label in published], [*published.values()], "D", **PAPER)
    if published or len(names) > 1:
        add_legend(above)
    draw_zero(above, vertical=False, at=EVEN)
    above.set_ylim(0, 105)
    label_axes(above, "", f"games won by\n{first} (%)", grid="y")
    draw_zero(below, vertical=False)
    below.set_xticks(range(len(labels)), [label.replace(" (", "\n(") for label in labels], fontsize=8)
    label_axes(below, x_label, "winnings (chips a hand, 95%)", grid="y")
    figure.suptitle(title, fontsize=10)
    save_figure(figure, path)
