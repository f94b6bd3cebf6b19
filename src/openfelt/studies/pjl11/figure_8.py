"""PJL11, Figure 8: winnings of a response while it is trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openfelt.arena.statistics.estimates import Estimate
from openfelt.core.jit import Floats
from openfelt.core.workers import Workers
from openfelt.opponents.responses.model_policy import DEALS
from openfelt.plots.curves import Band, Level, plot_bands
from openfelt.policy.files import POLICY, save_policy
from openfelt.solve.sampling.external_mccfr import ExternalMCCFR
from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.studies.experiment import Experiment
from openfelt.studies.files import csv_text
from openfelt.studies.findings import Finding, both, is_above
from openfelt.studies.match_table import Winnings, wins_more
from openfelt.studies.pjl11.observed_opponent import (
    GAMES,
    QUICK_DEALS,
    QUICK_GAMES,
    UNIT,
    ObservedOpponent,
    ResponseConfig,
    play_match,
    require_scikit_learn,
    train,
)
from openfelt.studies.pjl11.table_1 import EQUILIBRIUM, POKI
from openfelt.studies.pjl11.table_2 import PAPER, equilibrium_label
from openfelt.studies.study import Setting

BUCKETS = 10
ONLINE_GAMES = 1_000  # during which the iterations are run
POINTS = 11  # at which the policy is measured, from 0 games on
RUNS = 5
SAMPLED, EXTERNAL = "MCRNR10", "MCRNR10, external sampling"
# Iterations of each seat; an iteration of external sampling takes about twelve times as long.
CURVES = {
    SAMPLED: ResponseConfig(BUCKETS, 3_000_000, OutcomeMCCFR.name),
    EXTERNAL: ResponseConfig(BUCKETS, 250_000, ExternalMCCFR.name),
}
LEVEL = equilibrium_label(BUCKETS)
LEVEL_FACTOR = 10  # hands of the level, as a multiple of those of a point

Progress = Callable[[int], object]


class OnlineResults(NamedTuple):
    """Winnings in sb/h."""

    games: Sequence[int]  # [points]
    won: dict[str, Floats]  # by curve: [runs, points]
    level: Winnings  # of the equilibrium


def mean_of(won: Floats) -> Winnings:
    """The mean of runs with Student's interval, which covers training and matches."""
    spread = Estimate(float(won.mean()), float(won.std(ddof=1)) / len(won) ** 0.5, len(won) - 1)
    return Winnings(spread.mean, spread.interval(0.68), spread.interval(), 0)


@dataclass(frozen=True, kw_only=True)
class OnlineCurve(Experiment):
    """Observes the opponent, trains responses, and plays matches with each at several stages.

    The budget is the hands of each match.
    """

    games: int = GAMES  # in which the opponent is observed
    quick_games: int = QUICK_GAMES

    def check(self) -> None:
        require_scikit_learn()

    def _sizes(self, budget: int) -> tuple[int, int, int]:
        """Observed games, runs, points of a curve."""
        return (self.games, RUNS, POINTS) if budget == self.budget else (self.quick_games, 2, 3)

    def planned_work(self, budget: int) -> int:
        games, runs, points = self._sizes(budget)
        return games + (LEVEL_FACTOR + len(CURVES) * runs * points) * budget

    def run(
        self, *, budget: int, seed: int, processes: Workers, parts: Path, progress: Progress
    ) -> OnlineResults:
        games, runs, points = self._sizes(budget)
        observed = ObservedOpponent(POKI, parts, DEALS if budget == self.budget else QUICK_DEALS)
        bot = EQUILIBRIUM.as_posix()
        observed.observe(bot, games, seed, processes, progress)

        won = {label: np.empty((runs, points)) for label in CURVES}
        for place, (label, config) in enumerate(CURVES.items()):
            for run in range(runs):
                solvers = observed.solvers(config, seed + run)
                for point in range(points):
                    name = f"{place}-{run}-{point}"
                    step = config.iterations // (points - 1) if point else 0
                    save_policy(train(solvers, step, processes), parts / name / POLICY)
                    won[label][run, point] = play_match(
                        (parts / name).as_posix(),
                        *(POKI, budget, seed + run, processes, parts / f"{name}-match", progress),
                    ).mean
        level = play_match(bot, POKI, LEVEL_FACTOR * budget, seed, processes, parts / "level", progress)
        return OnlineResults([ONLINE_GAMES * point // (points - 1) for point in range(points)], won, level)

    def csv(self, results: OnlineResults) -> str:
        lines: list[list[object]] = []
        for label, won in results.won.items():
            for (run, point), mean in np.ndenumerate(won):
                games = results.games[point]
                iterations = 2 * CURVES[label].iterations * games // ONLINE_GAMES
                lines.append([label, run, games, iterations, f"{mean:.6g}"])
        lines.append([LEVEL, "", "", "", f"{results.level.mean:.6g}"])
        return csv_text(["player", "run", "games", "iterations", f"won_{UNIT}"], rows=lines)

    def table(self, results: OnlineResults) -> list[str]:
        runs = len(next(iter(results.won.values())))
        lines = [
            "## All points",
            "",
            f"Winnings in {UNIT}: mean of {runs} runs with Student's 95% interval. {LEVEL} wins "
            f"{results.level}.",
            "",
            "| games | " + " | ".join(results.won) + " |",
            "|---:|" + "---:|" * len(results.won),
        ]
        for point, games in enumerate(results.games):
            cells = (str(mean_of(won[:, point])) for won in results.won.values())
            lines.append(f"| {games:,} | {' | '.join(cells)} |")
        return lines

    def plot(self, results: OnlineResults, path: Path) -> None:
        curves = {}
        for label, won in results.won.items():
            points = [mean_of(each) for each in won.T]
            curves[label] = Band(*np.array([[each.mean, each.half_95] for each in points]).T)
        level = Level(LEVEL, results.level.mean, results.level.half_95)
        labels = "games played during training", f"winnings against {POKI} ({UNIT})"
        plot_bands(self.title, results.games, curves, level, labels, path)


def _judge(results: OnlineResults) -> list[Finding]:
    found = []
    for label, won in results.won.items():
        first, last, level = mean_of(won[:, 0]), mean_of(won[:, -1]), results.level
        found.append(
            Finding(
                f"{label} learns to win from {POKI} within {results.games[-1]:,} games",
                f"{first} at first, {last} {UNIT} after {results.games[-1]:,} games",
                both(wins_more(last, first), is_above(last.interval)),
                ours=label != SAMPLED,
            )
        )
        claim, measured = f"{label} then wins far more than {LEVEL}", f"{last} against {level} {UNIT}"
        found.append(Finding(claim, measured, wins_more(last, level), ours=label != SAMPLED))
    return found


FIGURE_8 = OnlineCurve(
    name="pjl11-figure-8",
    title="PJL11, Figure 8: winnings of a response while it is trained",
    paper=PAPER + "Figure 8. The paper prints the curve without numbers.",
    question=(
        "How quickly does a response to a model of the opponent become profitable when it is trained while "
        "the games are played?"
    ),
    settings=(
        Setting("opponent", "Poki", f"`{POKI}`, a [stand-in](../bots.md)"),
        Setting("observed cards", "those that were shown", "the same"),
        Setting("games", f"{ONLINE_GAMES:,}", "the same"),
        Setting(
            "iterations",
            f"{2 * CURVES[SAMPLED].iterations:,} of MCRNR with outcome sampling during the games",
            "the same, half of them for each seat",
        ),
        Setting(
            "external sampling",
            "none",
            f"{2 * CURVES[EXTERNAL].iterations:,} iterations, which take about as long",
        ),
        Setting(
            "winnings",
            "of the games themselves",
            "of 3,000 other hands that the policy of each point plays",
        ),
        Setting("runs", "not given", f"{RUNS}, with different deals"),
    ),
    setup=(
        "The kind of model, the buckets and p are those of [Table 2](pjl11-table-2.md). The curve does not "
        "depend on the luck of a thousand games, because at each point the policy plays hands of its own, "
        "each deal in both seats. AIVAT (Burch et al. 2018) removes most of their luck without bias."
    ),
    budget=3_000,
    quick_budget=40,
    findings=_judge,
    requires="ten minutes",
)
