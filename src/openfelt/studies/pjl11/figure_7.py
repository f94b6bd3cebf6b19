"""Ponsen, de Jong & Lanctot 2011, Figure 7: RNR by CFR and MCRNR by sampling, over time."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from openfelt.measure.exploitability import exploitability
from openfelt.plots.figure import COLOURS, new_figure, save_figure
from openfelt.policy.policy import join_seats
from openfelt.solve.cfr import CFR, PCFRPlus
from openfelt.solve.restriction import Restriction
from openfelt.solve.sampling.external_mccfr import ExternalMCCFR
from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.solve.sequence_lp import SequenceLP
from openfelt.solve.solver import Solver
from openfelt.studies.match_study import MatchStudy
from openfelt.studies.pjl11.figure_6 import (
    EPSILON,
    FULL_GAMES,
    MCRNR,
    PAPER,
    QUICK_GAMES,
    file_name,
    fixed_profile,
    kept,
    unit_of,
)
from openfelt.studies.pjl11.history_walk import HistoryCFR
from openfelt.studies.study import AN_HOUR, Finding

WALK = "RNR (CFR over all histories)"
RNR = "RNR (CFR)"  # ours, on the sequence form
BASELINES = "MCRNR with baselines"
EXTERNAL = "MCRNR, external sampling"
METHODS: dict[str, tuple[type[Solver], dict[str, Any]]] = {
    WALK: (HistoryCFR, {}),
    RNR: (CFR, {}),
    MCRNR: (OutcomeMCCFR, {"epsilon": EPSILON}),
    BASELINES: (OutcomeMCCFR, {"epsilon": EPSILON, "baseline": 0.1}),
    EXTERNAL: (ExternalMCCFR, {}),
}
# Larger than the linear program takes: to see what sampling gains with size.
LARGER_GAMES = ("bluff(1,1,8)", "princess_monster(3,3,11)")
LARGER_FIXED = 30_000_000  # iterations of MCCFR for their fixed policies, which are not as near
ENOUGH, MOST_PASSES = 0.005, 200  # exploitability, iterations: of what stands for the exact responses there
P = 0.5  # the paper does not say which
FIRST, PER_DECADE = 0.02, 5  # seconds
MEASURES = {"epsilon": "epsilon, b1 + b2", "distance": "distance"}
LINES = ("#222222", *COLOURS)
SHARES = (2, 4, 10, 30, 100)  # the first distance is divided by these; the findings ask for the first three


class Curve(NamedTuple):
    """Of one method in one game; both seats' runs together."""

    seconds: list[float]
    epsilon: list[float]  # nash_conv of the two free players' policies, as the paper's
    distance: list[float]  # nash_conv in the games with a coin, summed over both runs: it goes to zero


class Course(NamedTuple):
    """Of one game."""

    curves: dict[str, Curve]
    limit: float  # epsilon of the exact restricted Nash responses
    start: float  # the distance of even play, from which all begin


Results = Mapping[str, Course]


@dataclass(frozen=True, kw_only=True)
class ConvergenceStudy(MatchStudy):
    """Several methods followed by the clock; its `hands` are the seconds of each run."""

    work: ClassVar[str] = "seconds"

    def games(self, hands: int) -> tuple[str, ...]:
        """The large ones only in a full run."""
        return (*FULL_GAMES, *LARGER_GAMES) if hands == self.hands else QUICK_GAMES

    def planned(self, hands: int) -> int:
        return len(self.games(hands)) * len(METHODS) * hands

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
            path, asked = parts / f"{file_name(game)}.ends.json", {"game": game, "seed": seed, "p": P}
            found[game] = Course(curves, *kept(path, asked, lambda: _ends(game, seed)))  # noqa: B023
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
        lines = [
            "## Time to come near",
            "",
            "Seconds until the distance is so much of that of even play.",
            "",
        ]
        lines += ["| game | method | " + " | ".join(f"1/{share}" for share in SHARES) + " |"]
        lines += ["|---|---|" + "---:|" * len(SHARES)]
        for game, course in results.items():
            for method in course.curves:
                times = (_time_to(course, method, share) for share in SHARES)
                cells = " | ".join("-" if np.isinf(time) else f"{time:.2g}" for time in times)
                lines.append(f"| {game} | {method} | {cells} |")
        lines += ["", "## At the end", "", "| game | method | seconds | epsilon | its limit | distance |"]
        lines.append("|---|---|---:|---:|---:|---:|")
        for game, course in results.items():
            for method, curve in course.curves.items():
                numbers = f"{curve.seconds[-1]:.1f} | {curve.epsilon[-1]:.4f} | {course.limit:.4f}"
                lines.append(f"| {game} | {method} | {numbers} | {curve.distance[-1]:.2g} |")
        return lines

    def plot(self, results: Results, path: Path) -> None:

        columns = 2 if len(results) <= 4 else 3  # games beside each other, the measures below each other
        bands = -(-len(results) // columns)
        figure = new_figure(4.4 * columns, 6.4 * bands)
        for number, (game, course) in enumerate(results.items()):
            for below, (measure, label) in enumerate(MEASURES.items()):
                line, column = 2 * (number // columns) + below, number % columns
                axes = figure.add_subplot(2 * bands, columns, columns * line + column + 1)
                _draw(axes, course, measure)
                axes.set_ylabel(f"{label} ({unit_of(game)} per game)", fontsize=8)
                axes.set_title(game, fontsize=10)
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        figure.suptitle(f"{self.title}, p = {P:g}", fontsize=10)
        save_figure(figure, path)


def _draw(axes: Any, course: Course, measure: str) -> None:
    from matplotlib.ticker import NullFormatter

    for colour, mark, (method, curve) in zip(LINES, "s^ovD", course.curves.items(), strict=True):
        values = np.maximum(getattr(curve, measure), 1e-9)
        axes.plot(curve.seconds, values, f"{mark}-", markersize=3, linewidth=1.3, color=colour, label=method)
    if measure == "epsilon":
        axes.axhline(max(course.limit, 1e-9), color="#999999", linestyle=":", label="exact responses")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("seconds of learning")
    axes.grid(alpha=0.25)


def _runs(game: str, method: type[Solver], seed: int, **settings: Any) -> list[Solver]:
    """One for each seat."""
    fixed = fixed_profile(game, seed, LARGER_FIXED if game in LARGER_GAMES else None)
    return [
        method(game, restriction=Restriction(1 - free, fixed, P), seed=seed, **settings) for free in (0, 1)
    ]


def _distance(runs: Sequence[Solver]) -> float:
    return sum(each.measure().nash_conv for each in runs)


def _follow(game: str, method: str, seconds: int, seed: int) -> list[list[float]]:
    runs = _runs(game, METHODS[method][0], seed, **METHODS[method][1])
    count = max(2, round(np.log10(seconds / FIRST) * PER_DECADE) + 1)
    points: list[list[float]] = []
    for until in np.geomspace(FIRST, seconds, count) / 2:  # half of the time for each seat
        late = [each for each in runs if each.seconds < until]  # others are in an iteration of the walk still
        for each in late:
            each.run(seconds=until - each.seconds)
        if late:
            epsilon = exploitability(join_seats([each.policy for each in runs])).nash_conv
            points.append([sum(each.seconds for each in runs), epsilon, _distance(runs)])
    return [list(column) for column in zip(*points, strict=True)]


def _ends(game: str, seed: int) -> tuple[float, float]:
    """The epsilon that all go to, and the distance from which they come."""
    solver = PCFRPlus if game in LARGER_GAMES else SequenceLP
    exact = [each.run(MOST_PASSES, until=ENOUGH).policy for each in _runs(game, solver, seed)]
    return exploitability(join_seats(exact)).nash_conv, _distance(_runs(game, CFR, seed))


def _time_to(course: Course, method: str, share: float) -> float:
    """When the distance is first so small a part of the start's; never is infinite.

    Between two measurements both run straight on logarithmic axes.
    """
    curve, target = course.curves[method], np.log(course.start / share)
    near = np.log(np.maximum(curve.distance, 1e-12))
    here = next((place for place, value in enumerate(near) if value <= target), None)
    if here is None:
        return np.inf
    if here == 0:
        return curve.seconds[0]
    part = (near[here - 1] - target) / (near[here - 1] - near[here])
    before, after = np.log(curve.seconds[here - 1 : here + 1])
    return float(np.exp(before + part * (after - before)))


def _ratios(course: Course, sampled: str, full: str) -> list[float]:
    """How many times sooner sampling comes to the first shares; 0 if only the other does, nan if neither."""
    times = [(_time_to(course, sampled, share), _time_to(course, full, share)) for share in SHARES[:3]]
    return [np.nan if own == other == np.inf else other / own for own, other in times]


def _told(ratios: Mapping[str, list[float]]) -> str:
    """In words: sooner by so many times, game by game."""
    return "; ".join(f"{game}: {', '.join(map(_times, each))}" for game, each in ratios.items())


def _times(ratio: float) -> str:
    if np.isnan(ratio):
        return "neither"
    if ratio == 0.0 or np.isinf(ratio):
        return "it alone" if ratio else "only the other"
    return f"{ratio:.2g} times sooner" if ratio >= 1.0 else f"{1 / ratio:.2g} times later"


def _findings(results: Results) -> list[Finding]:
    def against(sampled: str, full: str) -> dict[str, list[float]]:
        return {game: _ratios(course, sampled, full) for game, course in results.items()}

    to = f"to 1/{SHARES[0]}, 1/{SHARES[1]} and 1/{SHARES[2]} of the first distance: "
    walked, passed = against(MCRNR, WALK), against(MCRNR, RNR)
    lessened, external = against(BASELINES, WALK), against(EXTERNAL, WALK)
    last = against(EXTERNAL, RNR)
    early = {game: each[0] > max(1.0, np.nanmax([0.0, *each[1:]])) for game, each in walked.items()}
    return [
        Finding(
            "MCRNR gives a better approximation in less time than RNR, CFR over all histories",
            to + _told(walked),
            _all_sooner(walked),
        ),
        Finding(
            "especially in the early iterations",
            "sooner at first, and by more than later, in "
            + (", ".join(game for game, so in early.items() if so) or "no game"),
            all(early.values()),
        ),
        *_growth(walked),
        Finding("the same of MCRNR with baselines (ours)", to + _told(lessened), _all_sooner(lessened)),
        Finding("the same of external sampling (ours)", to + _told(external), _all_sooner(external)),
        Finding(
            "MCRNR against our CFR, which passes over the sequence form (ours)",
            to + _told(passed),
            _all_sooner(passed),
        ),
        Finding(
            "external sampling against our CFR (ours)",
            to + _told(last),
            _all_sooner(last),
        ),
    ]


def _growth(ratios: Mapping[str, list[float]]) -> list[Finding]:
    """Of those games that are there in two sizes."""
    pairs = [
        (small, large)
        for large in LARGER_GAMES
        for small in FULL_GAMES
        if small.partition("(")[0] == large.partition("(")[0] and {small, large} <= ratios.keys()
    ]
    if not pairs:
        return []
    shown = (f"{_times(ratios[s][0])} in {s}, {_times(ratios[g][0])} in {g}" for s, g in pairs)
    grows = all(ratios[large][0] > ratios[small][0] for small, large in pairs)
    return [Finding("the larger the game, the more (ours)", "to the first share: " + "; ".join(shown), grows)]


def _all_sooner(ratios: Mapping[str, list[float]]) -> bool:
    """To all of the shares, in all games."""
    return all(ratio > 1.0 for each in ratios.values() for ratio in each)


FIGURE_7 = ConvergenceStudy(
    name="pjl11-figure-7",
    title="PJL11, Figure 7: how fast RNR and MCRNR converge",
    paper=PAPER,
    setting=(
        "The games and fixed policies of [pjl11-figure-6](pjl11-figure-6.md), and two larger games, added "
        "after the first trials to see whether size is what sampling lacked in the smaller ones; their fixed "
        f"policy is that after {LARGER_FIXED:,} iterations. All solve the game with a coin of "
        f"p = {P:g} (the paper does not say which p it took), one run a seat. RNR over all histories is CFR "
        "as in the papers: it walks both sides of the coin, history by history. RNR (CFR) is ours: the same "
        "policies after each iteration, by passes over the sequence form. MCRNR is outcome sampling with "
        "epsilon 0.6; beside it stand the same with baselines (VR-MCCFR of Schmid et al. 2019, step 0.1, "
        "chosen after a few short trials on these games) and external sampling. Time is that of learning "
        "alone, on one thread, of both runs together. Epsilon is "
        "the paper's: what best responses win from both policies; it does not go to zero but to that of the "
        "exact responses (in the two larger games: of PCFR+). The distance is what both players could gain "
        "in the games with a coin, which goes to zero; even play is where all begin."
    ),
    hands=20,
    quick_hands=2,
    findings=_findings,
    needs=AN_HOUR,
)
