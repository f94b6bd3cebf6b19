"""PJL11, Figure 8: what a response wins from the opponent while it is still being learned."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openfelt.arena.statistics.intervals import Estimate
from openfelt.core.jit import Floats
from openfelt.opponents.responses.bucketed import DEALS
from openfelt.plots.figure import COLOURS, new_figure, save_figure
from openfelt.policy.files import POLICY, save_policy
from openfelt.solve.sampling.external_mccfr import ExternalMCCFR
from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.studies.match_study import MatchStudy
from openfelt.studies.match_table import Measured, more
from openfelt.studies.pjl11.scouting import (
    GAMES,
    QUICK_DEALS,
    QUICK_GAMES,
    UNIT,
    Scouted,
    Way,
    learn,
    require_trees,
    sb_per_hand,
)
from openfelt.studies.pjl11.table_1 import EQUILIBRIUM, POKI
from openfelt.studies.pjl11.table_2 import PAPER, equilibrium
from openfelt.studies.study import Finding

BUCKETS = 10
ONLINE = 1_000  # games, while which the iterations are run
POINTS = 11  # at which the policy is measured, from 0 games on
RUNS = 5
SAMPLED, EXTERNAL = "MCRNR10", "MCRNR10, external sampling"
# Iterations of each seat meanwhile; an iteration of external sampling takes some twelve times as long.
CURVES = {
    SAMPLED: Way(BUCKETS, 3_000_000, OutcomeMCCFR.name),
    EXTERNAL: Way(BUCKETS, 250_000, ExternalMCCFR.name),
}
LEVEL = equilibrium(BUCKETS)
LEVEL_HANDS = 10  # times those of a point of the curve

Progress = Callable[[int], object]


class Results(NamedTuple):
    """All in sb/h."""

    games: Sequence[int]  # [points]
    won: dict[str, Floats]  # [runs, points] by curve
    level: Measured  # that of the equilibrium


def mean_of(won: Floats) -> Measured:
    """Of runs, with Student's interval from their differences, which has everything in it."""
    spread = Estimate(float(won.mean()), float(won.std(ddof=1)) / len(won) ** 0.5, len(won) - 1)
    return Measured(spread.mean, spread.interval(0.68), spread.interval(), 0)


@dataclass(frozen=True, kw_only=True)
class OnlineCurve(MatchStudy):
    """Watches the opponent, learns responses, and plays with what each has learned so far."""

    games: int = GAMES  # in which the opponent is watched
    quick_games: int = QUICK_GAMES

    def check(self) -> None:
        require_trees()

    def _sizes(self, hands: int) -> tuple[int, int, int]:
        """Games watched, runs, points of a curve."""
        return (self.games, RUNS, POINTS) if hands == self.hands else (self.quick_games, 2, 3)

    def planned(self, hands: int) -> int:
        games, runs, points = self._sizes(hands)
        return games + (LEVEL_HANDS + len(CURVES) * runs * points) * hands

    def play(self, *, hands: int, seed: int, processes: int, parts: Path, progress: Progress) -> Results:
        games, runs, points = self._sizes(hands)
        scouted = Scouted(POKI, parts, DEALS if hands == self.hands else QUICK_DEALS)
        bot = EQUILIBRIUM.as_posix()
        scouted.watch(bot, games, seed, processes, progress)

        found = {label: np.empty((runs, points)) for label in CURVES}
        for place, (label, way) in enumerate(CURVES.items()):
            for run in range(runs):
                solvers = scouted.solvers(way, seed + run)
                for point in range(points):
                    word = f"{place}-{run}-{point}"
                    step = way.iterations // (points - 1) if point else 0
                    save_policy(learn(solvers, step, processes), parts / word / POLICY)
                    found[label][run, point] = sb_per_hand(
                        (parts / word).as_posix(),
                        *(POKI, hands, seed + run, processes, parts / f"{word}-match", progress),
                    ).mean
        level = sb_per_hand(bot, POKI, LEVEL_HANDS * hands, seed, processes, parts / "level", progress)
        return Results([ONLINE * point // (points - 1) for point in range(points)], found, level)

    def csv(self, results: Results) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["player", "run", "games", "iterations", f"won_{UNIT}"])
        for label, won in results.won.items():
            for (run, point), mean in np.ndenumerate(won):
                games = results.games[point]
                done = 2 * CURVES[label].iterations * games // ONLINE
                writer.writerow([label, run, games, done, f"{mean:.6g}"])
        writer.writerow([LEVEL, "", "", "", f"{results.level.mean:.6g}"])
        return text.getvalue()

    def table(self, results: Results) -> list[str]:
        runs = len(next(iter(results.won.values())))
        lines = [
            "## The curves",
            "",
            f"In {UNIT}: the mean of {runs} runs, with its 95% interval by Student's t. {LEVEL} wins "
            f"{results.level}.",
            "",
            "| games | " + " | ".join(results.won) + " |",
            "|---:|" + "---:|" * len(results.won),
        ]
        for point, games in enumerate(results.games):
            cells = (str(mean_of(won[:, point])) for won in results.won.values())
            lines.append(f"| {games:,} | {' | '.join(cells)} |")
        return lines

    def plot(self, results: Results, path: Path) -> None:
        figure = new_figure(7.0, 4.4)
        axes = figure.add_subplot()
        for colour, (label, won) in zip(COLOURS, results.won.items(), strict=False):
            points = [mean_of(each) for each in won.T]
            means, halves = np.array([[each.mean, each.half_95] for each in points]).T
            axes.plot(results.games, means, "o-", color=colour, label=label, markersize=4)
            axes.fill_between(results.games, means - halves, means + halves, color=colour, alpha=0.18, lw=0)
        level = results.level
        axes.axhline(level.mean, color=COLOURS[3], linestyle="--", label=LEVEL)
        axes.axhspan(
            level.mean - level.half_95, level.mean + level.half_95, color=COLOURS[3], alpha=0.18, lw=0
        )
        axes.set_xlabel("games played while it learns")
        axes.set_ylabel(f"won from {POKI}, {UNIT}")
        axes.grid(alpha=0.25)
        axes.legend(fontsize=8, frameon=False)
        figure.suptitle(f"{self.title}\nshaded: 95% intervals", fontsize=10)
        save_figure(figure, path)


def _findings(results: Results) -> list[Finding]:
    found = []
    for label, won in results.won.items():
        first, last, level = mean_of(won[:, 0]), mean_of(won[:, -1]), results.level
        found.append(
            Finding(
                f"{label} learns to win from {POKI} while it plays",
                f"{first} at first, {last} {UNIT} after {results.games[-1]:,} games",
                more(last, first) and last.mean > last.half_95,
            )
        )
        found.append(
            Finding(
                f"{label} is then far ahead of {LEVEL}", f"{last} against {level} {UNIT}", more(last, level)
            )
        )
    return found


FIGURE_8 = OnlineCurve(
    name="pjl11-figure-8",
    title="PJL11, Figure 8: what a response wins while it is being learned",
    paper=PAPER + "Figure 8. It prints a curve without numbers.",
    setting=(
        f"While {ONLINE:,} games are played, {2 * CURVES[SAMPLED].iterations:,} iterations of outcome "
        "sampling are run, as in the paper, half of them for each seat; beside it, external sampling with "
        f"{2 * CURVES[EXTERNAL].iterations:,}, which take about as long. What has been learned after so "
        "many games plays 3,000 hands, each deal in both seats, with luck taken out by AIVAT, so that the "
        f"curve is not a thousand games' luck. There are {RUNS} runs, with other deals each. The model, the "
        "coin and the buckets are those of [Table 2](pjl11-table-2.md)."
    ),
    hands=3_000,
    quick_hands=40,
    findings=_findings,
    needs="ten minutes",
)
