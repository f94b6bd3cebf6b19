"""The pictures of the pages that explain how it works.

    python docs/site/pictures.py [NAME ...]

writes docs/explanation/NAME.svg; all of them take about three minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

import openfelt as felt
from openfelt.cards.deck import cards_text, parse_cards
from openfelt.plots.axes import add_legend, label_axes
from openfelt.plots.figure import COLOURS, new_figure

FOLDER = Path(__file__).parent.parent / "explanation"
UNIT = "exploitability (chips a game)"
FLOP, HANDS = "Th7c2h", ("9h8h", "8s7d")


def best_responses() -> Any:
    """Kuhn poker: what player 0 wins by a best response if player 1 bluffs with probability x."""
    equilibrium = felt.SequenceLP("kuhn").run().policy
    tree = equilibrium.tree
    slots = tree.slots(tree.find_row(1, "J pass"))
    shares = np.linspace(0, 1, 61)
    values = []
    for share in shares:
        table = equilibrium.probabilities.copy()
        table[slots] = 1 - share, share
        values.append(felt.best_response(equilibrium.with_table(table), 0).value)
    figure, axes = _figure()
    axes.plot(shares, values, color=COLOURS[0])
    axes.axhline(-1 / 18, color="gray", linewidth=1, linestyle="--")
    axes.annotate("value of the game, -1/18", (0.62, -1 / 18), (0.62, -0.05), fontsize=8)
    axes.annotate("equilibrium: bluff 1/3", (1 / 3, -1 / 18), (0.03, -0.05), fontsize=8)
    label_axes(
        axes, "probability that player 1 bets a jack after a pass", "best response of player 0 (chips)"
    )
    return figure


def regret_matching() -> Any:
    """Rock, paper, scissors: regret matching in self-play circles, its average converges."""
    payoffs = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    regrets = np.array([[1.0, 0, 0], [0, 0.5, 0]])
    current, average, total = [], [], np.zeros(3)
    for iteration in range(1, 1001):
        positive = np.maximum(regrets, 0)
        mixed = positive / positive.sum(axis=1, keepdims=True)
        total += mixed[0]
        current.append(mixed[0][0])
        average.append(total[0] / iteration)
        for player, values in enumerate((payoffs @ mixed[1], payoffs @ mixed[0])):
            regrets[player] += values - mixed[player] @ values
    figure, axes = _figure()
    axes.plot(current, color=COLOURS[1], linewidth=1, label="current strategy")
    axes.plot(average, color=COLOURS[0], label="average strategy")
    axes.axhline(1 / 3, color="gray", linewidth=1, linestyle="--")
    label_axes(axes, "iteration", "probability of rock")
    add_legend(axes)
    return figure


def full_width() -> Any:
    """Leduc: the exploitability of full-width solvers by iteration."""
    kinds = (felt.FictitiousPlay, felt.CFR, felt.CFRPlus, felt.DCFR, felt.PCFRPlus)
    return _curves([kind("leduc").run(3_000) for kind in kinds], "iterations")


def sampling() -> Any:
    """Leduc: the exploitability of CFR and its sampled variants by training time."""
    kinds = (felt.CFR, felt.ChanceCFR, felt.ExternalMCCFR, felt.OutcomeMCCFR)
    return _curves([kind("leduc", seed=1).run(seconds=8) for kind in kinds], "seconds")


def tree_search() -> Any:
    """Leduc: the exploitability of UCT and Smooth UCT by episode."""
    kinds = (felt.UCT, felt.SmoothUCT)
    return _curves([kind("leduc", c=18, seed=1).run(10_000_000) for kind in kinds], "iterations", "episodes")


def strength() -> Any:
    """Two hands on one flop: how their strength on the river is distributed."""
    figure, axes = _figure()
    for hole, colour in zip(HANDS, COLOURS, strict=False):
        found = felt.hand_strength(hole, FLOP)
        axes.hist(
            _river_strengths(hole, FLOP),
            bins=np.linspace(0, 1, 26),
            alpha=0.6,
            color=colour,
            label=f"{hole}: E[HS] {found.ehs:.3f}, E[HS²] {found.ehs2:.3f}",
        )
    label_axes(axes, f"hand strength on the river, after the flop {FLOP}", "runouts")
    add_legend(axes)
    return figure


def frontier() -> Any:
    """Leduc: exploitation and exploitability of restricted Nash responses to one opponent."""
    equilibrium = felt.PCFRPlus("leduc").run(until=1e-4).policy
    opponent = felt.mixture([equilibrium, felt.rule_policy("leduc", "always-raise")], [1, 1])
    responses = felt.Responses("leduc", opponent)
    chances = (0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1)
    found = [responses.restricted(p) for p in chances]
    figure, axes = _figure()
    axes.plot(
        [each.exploitability for each in found], [each.exploitation for each in found], "o-", color=COLOURS[0]
    )
    for p, each in zip(chances, found, strict=True):
        if p in (0, 0.5, 0.9, 1):
            place = (each.exploitability, each.exploitation)
            axes.annotate(f"p = {p:g}", place, textcoords="offset points", xytext=(6, -10), fontsize=8)
    label_axes(axes, UNIT, "exploitation (chips a game)")
    return figure


def variance() -> Any:
    """Hold'em: the half width of the 95% interval of the same match by method."""
    ways: dict[str, dict[str, Any]] = {
        "as played": {"dealing": "fresh"},
        "control variates": {"dealing": "fresh"},
        "duplicate": {"dealing": "duplicate"},
        "duplicate, AIVAT": {"dealing": "duplicate", "aivat": True},
    }
    widths = []
    for name, how in ways.items():
        result = felt.match("always-call", "probe", game="holdem", hands=20_000, seed=1, **how)
        score = result.scores[0]
        won = score.plain if name == "as played" else score.won
        widths.append(result.amount(won).interval(0.95))
    figure, axes = _figure()
    bars = axes.barh(list(ways), widths, color=COLOURS[0])
    axes.bar_label(bars, fmt="± %.0f", padding=3)
    axes.invert_yaxis()
    axes.set_xlim(0, max(widths) * 1.15)
    label_axes(axes, "half width of the 95% interval (mbb/h)", grid="x")
    return figure


def spot() -> Any:
    """A river spot with a closed form: how often the bluffs bet, by iteration."""
    counts = np.unique(np.geomspace(1, 1_000, 25).astype(int))
    spot = felt.Spot(oop="AA,QQ", ip="KK", board="2c3d4h8s9s", pot=100, stack=100, bets="100%")
    bluffs, calls = [], []
    for iterations in counts:
        solution = spot.solve(until=0, iterations=int(iterations))
        bluffs.append(_frequency(solution.node(""), "QQ", "all-in"))
        calls.append(_frequency(solution.node("a"), "KK", "call"))
    figure, axes = _figure()
    axes.semilogx(counts, bluffs, "o-", color=COLOURS[0], markersize=3, label="QQ bets (bluffs)")
    axes.semilogx(counts, calls, "o-", color=COLOURS[1], markersize=3, label="KK calls")
    axes.axhline(0.5, color="gray", linewidth=1, linestyle="--", label="equilibrium")
    label_axes(axes, "iterations of discounted CFR", "frequency")
    add_legend(axes)
    return figure


PICTURES: dict[str, Callable[[], Any]] = {
    "best-responses": best_responses,
    "regret-matching": regret_matching,
    "full-width": full_width,
    "sampling": sampling,
    "tree-search": tree_search,
    "strength": strength,
    "frontier": frontier,
    "variance": variance,
    "spot": spot,
}


def draw(names: list[str], folder: Path) -> None:
    """Write pictures; equal pictures are equal files."""
    mpl.rcParams["svg.hashsalt"] = "openfelt"
    mpl.rcParams["svg.fonttype"] = "none"
    for name in names:
        PICTURES[name]().savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})


def _figure() -> tuple[Any, Any]:
    figure = new_figure(6.4, 3.6)
    return figure, figure.add_subplot()


def _curves(solvers: list[felt.Solver], x: str, x_label: str = "") -> Any:
    figure, axes = _figure()
    for solver, colour in zip(solvers, ("#222222", *COLOURS), strict=False):
        points = solver.measurements
        xs = [getattr(point, x) for point in points]
        axes.loglog(xs, [point.exploitability for point in points], color=colour, label=solver.name)
    label_axes(axes, x_label or x, UNIT)
    add_legend(axes)
    return figure


def _river_strengths(hole: str, flop: str) -> list[float]:
    dead = set(parse_cards(hole)) | set(parse_cards(flop))
    rest = [card for card in range(52) if card not in dead]
    return [felt.hand_strength(hole, flop + cards_text(two)).hs for two in combinations(rest, 2)]


def _frequency(node: Any, hands: str, action: str) -> float:
    """How often these hands take an action."""
    place = [each.name for each in node.actions].index(action)
    return float(np.nanmean(node.strategy[place][felt.parse_range(hands) > 0]))


if __name__ == "__main__":
    draw(sys.argv[1:] or list(PICTURES), FOLDER)
