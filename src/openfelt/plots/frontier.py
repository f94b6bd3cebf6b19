"""What counter-strategies win from a player over what they risk, as in PJL11's Figure 6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from openfelt.plots.figure import COLOURS, new_figure, save_figure

NEAR = 0.06  # of an axis: the width of a number


class Point(NamedTuple):
    """Of a frontier."""

    p: float
    exploitability: float
    exploitation: float


def plot_frontier(title: str, curves: Mapping[str, Sequence[Point]], unit: str, path: Path) -> None:
    """One picture of frontiers by name; p stands beside the points of the first."""
    figure = new_figure(5.6, 4.4)
    draw_frontier(figure.add_subplot(), title, curves, unit)
    save_figure(figure, path)


def draw_frontier(axes: Any, title: str, curves: Mapping[str, Sequence[Point]], unit: str) -> None:
    """Into a plot's axes."""
    for number, (name, points) in enumerate(curves.items()):
        risk, won = [each.exploitability for each in points], [each.exploitation for each in points]
        axes.plot(risk, won, "o-" if number == 0 else "s--", color=COLOURS[number], label=name, markersize=4)
    for group in _close_together(axes, next(iter(curves.values()))):
        first, last = group[0], group[-1]
        shown = f"{first.p:g}" if first is last else f"{first.p:g}–{last.p:g}"
        place = last.exploitability, last.exploitation
        axes.annotate(shown, place, textcoords="offset points", xytext=(5, -9), fontsize=7)
    axes.set_xlabel(f"exploitability ({unit} per game)")
    axes.set_ylabel(f"exploitation ({unit} per game)")
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, frameon=False)


def _close_together(axes: Any, points: Sequence[Point]) -> list[list[Point]]:
    """Neighbours whose numbers would cover each other get one number together."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    groups: list[list[Point]] = []
    for point in points:
        if groups:
            first = groups[-1][0]
            across = abs(point.exploitability - first.exploitability) / (right - left)
            up = abs(point.exploitation - first.exploitation) / (high - low)
            if across < NEAR and up < NEAR / 2:
                groups[-1].append(point)
                continue
        groups.append([point])
    return groups
