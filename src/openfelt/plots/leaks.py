"""Leaks of a hold'em policy: gains of a best response by street, betting line and starting hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from openfelt.cards.deck import RANKS
from openfelt.measure.holdem.leaks import Answer, Leaks, square
from openfelt.measure.results import Exploitability
from openfelt.plots.figure import COLOURS, new_figure, save_figure

LINES = 12
ACTIONS = {"fold": 0, "check": 1, "call": 1, "raise": 2}
SHADES = ["#d9d9d9", "#9ecae1", "#e6550d"]  # fold; check or call; raise


def plot_leaks(exploit: Exploitability, path: Path) -> None:
    """Draw one row of panels for each seat."""
    figure = new_figure(19, 10)
    how = f"estimated from {exploit.origin.flops:,} flops" if exploit.origin.flops else "exact"
    title = f"Where a best response gains on {exploit.name}"
    figure.suptitle(f"{title}: {exploit.exploitability:.1f} mbb/h in all ({how})")
    axes = figure.subplots(len(exploit.leaks), 4, width_ratios=[1, 1.9, 1.3, 1.3])
    for row, seat, leaks in zip(axes, exploit.seats, exploit.leaks, strict=True):
        _draw_streets(row[0], seat, leaks)
        _draw_lines(row[1], leaks)
        _draw_hands(figure, row[2], leaks)
        _draw_answer(row[3], leaks.answers[0])
    save_figure(figure, path, dpi=100)


def _draw_streets(axes: Any, seat: str, leaks: Leaks) -> None:
    streets = leaks.by_street
    bars = axes.bar(list(streets), list(streets.values()), color=COLOURS[0])
    axes.bar_label(bars, fmt="%.1f", fontsize=9)
    axes.set_ylabel("gain (mbb/h)")
    axes.set_title(f"as {seat}, by street")


def _draw_lines(axes: Any, leaks: Leaks) -> None:
    lines = leaks.by_line()[:LINES][::-1]
    axes.barh(
        [f"{street}: {line}" for street, line, _ in lines], [gain for *_, gain in lines], color=COLOURS[1]
    )
    axes.tick_params(axis="y", labelsize=7)
    axes.set_xlabel("gain (mbb/h)")
    axes.set_title("by betting line before the street")


def _draw_hands(figure: Any, axes: Any, leaks: Leaks) -> None:
    shown = axes.imshow(leaks.by_hand()[square()], cmap="viridis")
    figure.colorbar(shown, ax=axes, label="gain (mbb/h)", shrink=0.8)
    _name_ranks(axes)
    axes.set_title("by starting hand (suited above the diagonal)", fontsize=10)


def _draw_answer(axes: Any, answer: Answer) -> None:
    from matplotlib.colors import ListedColormap

    best = answer.worth.argmax(axis=1)
    shade = np.array([ACTIONS[action] for action in answer.actions])[best][square()]
    axes.imshow(shade, cmap=ListedColormap(SHADES), vmin=0, vmax=len(SHADES) - 1)
    for row, column in np.ndindex(*shade.shape):
        axes.text(
            column, row, answer.actions[best[square()[row, column]]][0].upper(), ha="center", va="center"
        )
    _name_ranks(axes)
    axes.set_title(f"best response before the flop after {answer.line}", fontsize=10)


def _name_ranks(axes: Any) -> None:
    ranks = list(RANKS[::-1])
    axes.set_xticks(range(len(ranks)), ranks)
    axes.set_yticks(range(len(ranks)), ranks)
