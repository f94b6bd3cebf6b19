"""Exploitation over exploitability of counter-strategies, as in PJL11's Figure 6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from openfelt.plots.axes import add_legend, label_axes
from openfelt.plots.figure import COLOURS, new_figure, save_figure

NEAR = 0.06  # share of an axis that a number covers


class Point(NamedTuple):
    """One counter-strategy of a frontier."""

    p: float
    exploitability: float
    exploitation: float


class Frontiers(NamedTuple):
    """The frontiers of one game, by method."""

    unit: str
    points: Mapping[str, Sequence[Point]]


def plot_frontier(title: str, curves: Mapping[str, Sequence[Point]], unit: str, path: Path) -> None:
    """Draw the frontiers of one game; the points of the first are labelled with their p."""
    figure = new_figure(5.6, 4.4)
    _draw_frontiers(figure.add_subplot(), title, Frontiers(unit, curves))
    save_figure(figure, path)


def plot_frontiers(title: str, games: Mapping[str, Frontiers], path: Path) -> None:
    """Draw the frontiers of up to four games."""
    figure = new_figure(10.8, 8.0)
    for place, (game, frontiers) in enumerate(games.items()):
        _draw_frontiers(figure.add_subplot(2, 2, place + 1), game, frontiers)
    figure.suptitle(title, fontsize=10)
    save_figure(figure, path)


def _draw_frontiers(axes: Any, title: str, frontiers: Frontiers) -> None:
    for number, (name, points) in enumerate(frontiers.points.items()):
        risk, won = [each.exploitability for each in points], [each.exploitation for each in points]
        axes.plot(risk, won, "o-" if number == 0 else "s--", color=COLOURS[number], label=name, markersize=4)
    for group in _group_neighbours(axes, next(iter(frontiers.points.values()))):
        first, last = group[0], group[-1]
        text = f"{first.p:g}" if first is last else f"{first.p:g}–{last.p:g}"
        place = last.exploitability, last.exploitation
        axes.annotate(text, place, textcoords="offset points", xytext=(5, -9), fontsize=7)
    unit = f"({frontiers.unit} per game)"
    label_axes(axes, f"exploitability {unit}", f"exploitation {unit}", title=title)
    add_legend(axes)


def _group_neighbours(axes: Any, points: Sequence[Point]) -> list[list[Point]]:
    """Group neighbours whose numbers would overlap; each group gets one label."""
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
