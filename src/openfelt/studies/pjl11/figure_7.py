"""Ponsen, de Jong & Lanctot 2011, Figure 7: convergence of RNR (CFR) and MCRNR (sampling) over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from openfelt.measure.exploitability import exploitability
from openfelt.plots.curves import ConvergencePanel, plot_convergence
from openfelt.policy.policy import join_seats
from openfelt.solve.cfr import CFR, PCFRPlus
from openfelt.solve.restriction import Restriction
from openfelt.solve.sampling.external_mccfr import ExternalMCCFR
from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.solve.sequence_lp import SequenceLP
from openfelt.solve.solver import Solver
from openfelt.studies.experiment import Experiment
from openfelt.studies.files import cached_json, csv_text
from openfelt.studies.pjl11.figure_6 import (
    EPSILON,
    FULL_GAMES,
    MCRNR,
    PAPER,
    QUICK_GAMES,
    file_name,
    fixed_profile,
    unit_of,
)
from openfelt.studies.pjl11.figure_7_findings import (
    BASELINES,
    EXTERNAL,
    FRACTIONS,
    HISTORY_RNR,
    LARGER_GAMES,
    RNR,
    ConvergenceCurve,
    ConvergenceResults,
    GameConvergence,
    findings,
    time_to,
)
from openfelt.studies.pjl11.history_cfr import HistoryCFR
from openfelt.studies.study import HOUR

METHODS: dict[str, tuple[type[Solver], dict[str, Any]]] = {
    HISTORY_RNR: (HistoryCFR, {}),
    RNR: (CFR, {}),
    MCRNR: (OutcomeMCCFR, {"epsilon": EPSILON}),
    BASELINES: (OutcomeMCCFR, {"epsilon": EPSILON, "baseline": 0.1}),
    EXTERNAL: (ExternalMCCFR, {}),
}
LARGER_FIXED = 30_000_000  # iterations of MCCFR for their fixed policies, which are farther from equilibrium
REFERENCE_UNTIL, REFERENCE_ITERATIONS = 0.005, 200  # of PCFR+, in place of exact responses there
P = 0.5  # the paper does not give its p
FIRST, PER_DECADE = 0.02, 5  # seconds
MEASURES = {"epsilon": "epsilon, b1 + b2", "distance": "distance"}


@dataclass(frozen=True, kw_only=True)
class ConvergenceStudy(Experiment):
    """Methods compared by training time; the budget is the seconds of each run."""

    work_unit: ClassVar[str] = "seconds"

    def games(self, budget: int) -> tuple[str, ...]:
        """Smaller ones in a quick run."""
        return (*FULL_GAMES, *LARGER_GAMES) if budget == self.budget else QUICK_GAMES

    def planned_work(self, budget: int) -> int:
        return len(self.games(budget)) * len(METHODS) * budget

    def run(
        self, *, budget: int, seed: int, processes: int, parts: Path, progress: Callable[[int], object]
    ) -> ConvergenceResults:
        """One run after another, whatever `processes` is: times are measured."""
        parts.mkdir(parents=True, exist_ok=True)
        results = {}
        for game in self.games(budget):
            curves = {}
            for number, method in enumerate(METHODS):
                request = {"game": game, "method": method, "seconds": budget, "seed": seed, "p": P}
                path = parts / f"{file_name(game)}.{number}.json"
                train = partial(_train_and_measure, game, method, budget, seed)
                curves[method] = ConvergenceCurve(*cached_json(path, request, train))
                progress(budget)
            path, request = parts / f"{file_name(game)}.ends.json", {"game": game, "seed": seed, "p": P}
            ends = cached_json(path, request, partial(_limit_and_start, game, seed))
            results[game] = GameConvergence(curves, *ends)
        return results

    def csv(self, results: ConvergenceResults) -> str:
        lines = [
            [game, method, *(f"{number:.6g}" for number in row)]
            for game, convergence in results.items()
            for method, curve in convergence.curves.items()
            for row in zip(*curve, strict=True)
        ]
        return csv_text(["game", "method", *ConvergenceCurve._fields], rows=lines)

    def table(self, results: ConvergenceResults) -> list[str]:
        lines = [
            "## Time to converge",
            "",
            "Seconds until the distance is this fraction of the uniform policy's.",
            "",
        ]
        lines += ["| game | method | " + " | ".join(f"1/{fraction}" for fraction in FRACTIONS) + " |"]
        lines += ["|---|---|" + "---:|" * len(FRACTIONS)]
        for game, convergence in results.items():
            for method in convergence.curves:
                times = (time_to(convergence, method, fraction) for fraction in FRACTIONS)
                cells = " | ".join("-" if np.isinf(time) else f"{time:.2g}" for time in times)
                lines.append(f"| {game} | {method} | {cells} |")
        lines += [
            "",
            "## Final values",
            "",
            "| game | method | seconds | epsilon | limit of epsilon | distance |",
        ]
        lines.append("|---|---|---:|---:|---:|---:|")
        for game, convergence in results.items():
            for method, curve in convergence.curves.items():
                numbers = f"{curve.seconds[-1]:.1f} | {curve.epsilon[-1]:.4f} | {convergence.limit:.4f}"
                lines.append(f"| {game} | {method} | {numbers} | {curve.distance[-1]:.2g} |")
        return lines

    def plot(self, results: ConvergenceResults, path: Path) -> None:
        """Games side by side, their two measures one below the other."""
        columns = 2 if len(results) <= 4 else 3
        games = list(results.items())
        panels = [
            _panel(game, convergence, measure)
            for first in range(0, len(games), columns)
            for measure in MEASURES
            for game, convergence in games[first : first + columns]
        ]
        plot_convergence(f"{self.title}, p = {P:g}", panels, "exact responses", columns, path)


def _panel(game: str, convergence: GameConvergence, measure: str) -> ConvergencePanel:
    curves = {
        method: (curve.seconds, getattr(curve, measure)) for method, curve in convergence.curves.items()
    }
    limit = convergence.limit if measure == "epsilon" else None
    return ConvergencePanel(game, f"{MEASURES[measure]} ({unit_of(game)} per game)", curves, limit)


def _runs(game: str, method: type[Solver], seed: int, **settings: Any) -> list[Solver]:
    """One for each seat."""
    fixed = fixed_profile(game, seed, LARGER_FIXED if game in LARGER_GAMES else None)
    return [
        method(game, restriction=Restriction(1 - free, fixed, P), seed=seed, **settings) for free in (0, 1)
    ]


def _distance(runs: Sequence[Solver]) -> float:
    return sum(each.measure().nash_conv for each in runs)


def _train_and_measure(game: str, method: str, seconds: int, seed: int) -> list[list[float]]:
    """Seconds, epsilon and distance at points of time."""
    runs = _runs(game, METHODS[method][0], seed, **METHODS[method][1])
    count = max(2, round(np.log10(seconds / FIRST) * PER_DECADE) + 1)
    points: list[list[float]] = []
    for until in np.geomspace(FIRST, seconds, count) / 2:  # half of the time for each seat
        late = [each for each in runs if each.seconds < until]  # a long iteration may pass several points
        for each in late:
            each.run(seconds=until - each.seconds)
        if late:
            epsilon = exploitability(join_seats([each.policy for each in runs])).nash_conv
            points.append([sum(each.seconds for each in runs), epsilon, _distance(runs)])
    return [list(column) for column in zip(*points, strict=True)]


def _limit_and_start(game: str, seed: int) -> tuple[float, float]:
    """The epsilon that all methods converge to, and the distance they start from."""
    solver = PCFRPlus if game in LARGER_GAMES else SequenceLP
    exact = [
        each.run(REFERENCE_ITERATIONS, until=REFERENCE_UNTIL).policy for each in _runs(game, solver, seed)
    ]
    return exploitability(join_seats(exact)).nash_conv, _distance(_runs(game, CFR, seed))


FIGURE_7 = ConvergenceStudy(
    name="pjl11-figure-7",
    title="PJL11, Figure 7: convergence of RNR and MCRNR over time",
    paper=PAPER,
    setup=(
        "The games and fixed policies of [pjl11-figure-6](pjl11-figure-6.md), and two larger games, added "
        "after the first trials to see whether the smaller ones are too small for sampling; their fixed "
        f"policies have {LARGER_FIXED:,} iterations. All methods solve the restricted game with p = {P:g} "
        "(the paper does not give its p), one run a seat. RNR over all histories is CFR as in the papers: it "
        "traverses both outcomes of the coin, history by history. RNR (CFR) is ours: the same policies after "
        "each iteration, computed on the sequence form. MCRNR is outcome sampling with epsilon 0.6. It is "
        "compared with the same with baselines (VR-MCCFR of Schmid et al. 2019, step 0.1, chosen after a few "
        "short trials on these games) and with external sampling. Time is training time alone, on one "
        "thread, summed over both runs. Epsilon is the paper's: the summed winnings of best responses to "
        "both policies. It converges not to zero but to that of the exact responses (of PCFR+ in the two "
        "larger games). The distance is the nash_conv of the restricted games, which converges to zero; all "
        "methods start with the uniform policy."
    ),
    budget=20,
    quick_budget=2,
    findings=findings,
    requires=HOUR,
)
