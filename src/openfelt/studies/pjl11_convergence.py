"""Ponsen, de Jong & Lanctot 2011, Figure 7: RNR by CFR and MCRNR by sampling, over time."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from openfelt.evaluate.exploitability import exploitability, seat
from openfelt.responses.response import restricted_solver
from openfelt.solvers.cfr import CFR
from openfelt.solvers.external_mccfr import ExternalMCCFR
from openfelt.solvers.outcome_mccfr import OutcomeMCCFR
from openfelt.solvers.restriction import ONCE
from openfelt.solvers.sequence_lp import SequenceLP
from openfelt.studies.match_study import MatchStudy
from openfelt.studies.pjl11_responses import (
    EPSILON,
    FULL_GAMES,
    MCRNR,
    PAPER,
    QUICK_GAMES,
    file_name,
    fixed_profile,
    kept,
)
from openfelt.studies.report import COLOURS
from openfelt.studies.study import AN_HOUR, Finding

RNR = "RNR (CFR)"
EXTERNAL = "MCRNR, external sampling"
METHODS: dict[str, tuple[str, dict[str, float]]] = {
    RNR: (CFR.name, {}),
    MCRNR: (OutcomeMCCFR.name, {"epsilon": EPSILON}),
    EXTERNAL: (ExternalMCCFR.name, {}),
}
P = 0.5  # the paper does not say which
FIRST, PER_DECADE = 0.02, 5  # seconds
MEASURES = {"epsilon": "epsilon (b1 + b2)", "distance": "distance to the restricted equilibrium"}


class Curve(NamedTuple):
    """Of one method in one game; both seats' runs together."""

    seconds: list[float]
    epsilon: list[float]  # nash_conv of the two free players' policies, as the paper's
    distance: list[float]  # nash_conv in the games with a coin, summed over both runs: it goes to zero


class Course(NamedTuple):
    """Of one game."""

    curves: dict[str, Curve]
    limit: float  # epsilon of the exact restricted Nash responses


Results = Mapping[str, Course]


@dataclass(frozen=True, kw_only=True)
class ConvergenceStudy(MatchStudy):
    """Two methods followed by the clock; its `hands` are the seconds of each run."""

    work: ClassVar[str] = "seconds"

    def games(self, hands: int) -> tuple[str, ...]:
        """The large ones only in a full run."""
        return FULL_GAMES if hands == self.hands else QUICK_GAMES

    def planned(self, hands: int) -> int:
        return len(FULL_GAMES) * len(METHODS) * hands

    def play(
        self, *, hands: int, seed: int, processes: int, parts: Path, progress: Callable[[int], object]
    ) -> Results:
        """One run after another, whatever the processes: it is the time that is measured."""
        parts.mkdir(parents=True, exist_ok=True)
        found = {}
        for game in self.games(hands):
            curves = {}
            for number, method in enumerate(METHODS):
                asked = {"game": game, "method": method, "seconds": hands, "seed": seed, "p": P}
                path = parts / f"{file_name(game)}.{number}.json"
                curves[method] = Curve(*kept(path, asked, lambda: _follow(game, method, hands, seed)))  # noqa: B023
                progress(hands)
            path, asked = parts / f"{file_name(game)}.limit.json", {"game": game, "seed": seed, "p": P}
            limit = kept(path, asked, lambda: _limit(game, seed))  # noqa: B023
            found[game] = Course(curves, limit)
        return found

    def csv(self, results: Results) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["game", "method", *Curve._fields])
        for game, course in results.items():
            for method, curve in course.curves.items():
                rows = zip(*curve, strict=True)
                writer.writerows([game, method, *(f"{number:.6g}" for number in row)] for row in rows)
        return text.getvalue()

    def table(self, results: Results) -> list[str]:
        lines = ["## At the end", "", "| game | method | seconds | epsilon | its limit | distance |"]
        lines.append("|---|---|---:|---:|---:|---:|")
        for game, course in results.items():
            for method, curve in course.curves.items():
                numbers = f"{curve.seconds[-1]:.1f} | {curve.epsilon[-1]:.4f} | {course.limit:.4f}"
                lines.append(f"| {game} | {method} | {numbers} | {curve.distance[-1]:.2g} |")
        return lines

    def plot(self, results: Results, path: Path) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(15.0, 7.2), layout="constrained")
        FigureCanvasAgg(figure)
        for column, (game, course) in enumerate(results.items()):
            for row, (measure, label) in enumerate(MEASURES.items()):
                axes = figure.add_subplot(2, len(results), len(results) * row + column + 1)
                for colour, (method, curve) in zip(COLOURS, course.curves.items(), strict=False):
                    values = np.maximum(getattr(curve, measure), 1e-9)
                    axes.plot(curve.seconds, values, "o-", markersize=3, color=colour, label=method)
                if measure == "epsilon":
                    axes.axhline(max(course.limit, 1e-9), color="#999999", linestyle=":", label="exact")
                axes.set_xscale("log")
                axes.set_yscale("log")
                axes.set_xlabel("seconds of learning")
                axes.set_ylabel(label)
                axes.set_title(game, fontsize=10)
                axes.grid(alpha=0.25)
                axes.legend(fontsize=8, frameon=False)
        figure.suptitle(f"{self.title}, p = {P:g}", fontsize=10)
        figure.savefig(path, dpi=110, metadata={"Software": None})


def _follow(game: str, method: str, seconds: int, seed: int) -> list[list[float]]:
    solver, settings = METHODS[method]
    fixed = fixed_profile(game, seed)
    runs = [restricted_solver(game, fixed, P, free, ONCE, solver, seed=seed, **settings) for free in (0, 1)]
    count = max(2, round(np.log10(seconds / FIRST) * PER_DECADE) + 1)
    points: list[list[float]] = []
    for until in np.geomspace(FIRST, seconds, count) / 2:  # half of the time for each seat
        for each in runs:
            if each.seconds < until:
                each.run(seconds=until - each.seconds)
        epsilon = exploitability(game, seat([each.policy for each in runs])).nash_conv
        distance = sum(each.measure().nash_conv for each in runs)
        points.append([sum(each.seconds for each in runs), epsilon, distance])
    return [list(column) for column in zip(*points, strict=True)]


def _limit(game: str, seed: int) -> float:
    fixed = fixed_profile(game, seed)
    exact = [restricted_solver(game, fixed, P, free, ONCE, SequenceLP.name).run().policy for free in (0, 1)]
    return exploitability(game, seat(exact)).nash_conv


def _time_to(curve: Curve, distance: float) -> float:
    """The first moment from which it is so near; never is infinite."""
    return next(
        (at for at, value in zip(curve.seconds, curve.distance, strict=True) if value <= distance), np.inf
    )


def _findings(results: Results) -> list[Finding]:
    told, sooner = [], []
    for game, course in results.items():
        full, sampled = course.curves[RNR], course.curves[MCRNR]
        target = 2 * min(sampled.distance)  # which sampling does reach
        times = _time_to(sampled, target), _time_to(full, target)
        sooner.append(times[0] < times[1])
        shown = "never" if np.isinf(times[1]) else f"{times[1]:.2g}"
        told.append(f"{game}: distance {target:.2g} after {times[0]:.2g} seconds, RNR {shown}")
    early = [course.curves[MCRNR].distance[0] < course.curves[RNR].distance[0] for course in results.values()]
    return [
        Finding("MCRNR gives a better approximation in less time", "; ".join(told), all(sooner)),
        Finding(
            "especially in the early iterations",
            f"after the first {FIRST:g} seconds (or RNR's first iterations) it is nearer in {sum(early)} of "
            f"{len(early)} games",
            all(early),
        ),
    ]


FIGURE_7 = ConvergenceStudy(
    name="pjl11-figure-7",
    title="PJL11, Figure 7: how fast RNR and MCRNR converge",
    paper=PAPER,
    setting=(
        "The games and fixed policies of [pjl11-figure-6](pjl11-figure-6.md). RNR is CFR, MCRNR outcome "
        "sampling with epsilon 0.6, and beside it external sampling, all on the game with a coin of "
        f"p = {P:g} (the paper does not say which p it took), one run a seat. Time is that of learning "
        "alone, on one thread, of both runs together. Epsilon is the paper's: what best responses win from "
        "both policies; it does not go to zero but to that of the exact responses. The distance is what both "
        "players could gain in the games with a coin, which goes to zero. Our CFR does not walk histories: "
        "an iteration is two passes over the sequence form, some milliseconds in the largest of these games."
    ),
    hands=100,
    quick_hands=2,
    findings=_findings,
    needs=AN_HOUR,
)
