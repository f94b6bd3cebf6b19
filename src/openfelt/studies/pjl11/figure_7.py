"""Ponsen, de Jong & Lanctot 2011, Figure 7: convergence of RNR (CFR) and MCRNR (sampling) over time."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from openfelt.core.jit import Longs
from openfelt.core.workers import Workers
from openfelt.games.compile.compiler import compile_game
from openfelt.measure.exploitability import exploitability
from openfelt.plots.curves import ConvergencePanel, plot_convergence
from openfelt.policy.policy import join_seats
from openfelt.solve.cfr import CFR, PCFRPlus
from openfelt.solve.restriction import Restriction
from openfelt.solve.sampling.external_mccfr import ExternalMCCFR
from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.solve.sampling.sampling_solver import SamplingSolver
from openfelt.solve.sequence_lp import SequenceLP
from openfelt.solve.solver import Solver
from openfelt.studies.cpu_time import train_for
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
    offset_of,
    unit_of,
)
from openfelt.studies.pjl11.figure_7_findings import (
    BASELINES,
    EXTERNAL,
    FRACTIONS,
    HISTORY_RNR,
    JUDGED,
    LARGER_GAMES,
    RNR,
    findings,
    speedup_table,
)
from openfelt.studies.pjl11.figure_7_speedups import (
    NODES,
    SECONDS,
    ConvergenceCurve,
    ConvergenceResults,
    GameConvergence,
    describe_work,
    work_to,
)
from openfelt.studies.pjl11.history_cfr import TRAVERSALS, HistoryCFR
from openfelt.studies.pjl11.nodes_touched import count_nodes, full_traversal
from openfelt.studies.study import Setting

STEP = 0.1  # of the baselines, chosen after a few short trials on these games
METHODS: dict[str, tuple[type[Solver], dict[str, Any]]] = {
    HISTORY_RNR: (HistoryCFR, {}),
    RNR: (CFR, {}),
    MCRNR: (OutcomeMCCFR, {"epsilon": EPSILON}),
    BASELINES: (OutcomeMCCFR, {"epsilon": EPSILON, "baseline": STEP}),
    EXTERNAL: (ExternalMCCFR, {}),
}
LARGER_FIXED = 30_000_000  # iterations of MCCFR for their fixed policies, which are farther from equilibrium
REFERENCE_UNTIL, REFERENCE_ITERATIONS = 0.005, 200  # of PCFR+, in place of exact responses there
P = 0.5  # the paper does not give its p
RUNS = 3  # of each method
FIRST, PER_DECADE = 0.005, 4  # seconds
MEASURES = {"epsilon": "epsilon, b1 + b2", "distance": "distance"}
# The figure: rows of panels, by axis and measure. CFR on the sequence form visits no histories.
PANELS = ((SECONDS, "epsilon"), (SECONDS, "distance"), (NODES, "distance"))
AXES = {SECONDS: "training time (s of CPU)", NODES: "nodes visited"}
SPEEDUPS = (
    "How many times more work the second method needs than the first until the distance is this fraction of "
    f"the uniform policy's: the ratio of geometric means over {RUNS} runs, with its 95% interval (Welch's t "
    "on the logarithm of work). Below 1 the first method is behind. A run that does not get there counts "
    'with all its work, and one that is there at its first measured point counts with that. "<" and ">" mean '
    'that the speedup is only bounded for this reason, and stand before the end of the interval; "-" means '
    "that nothing is known, for example if runs of both methods do not get there. A comparison is undecided "
    "if its interval or bound leaves open which method is ahead."
)
FRACTION_LIST = "1/{}, 1/{} and 1/{}".format(*JUDGED)
LIMIT = "restricted Nash responses (linear program; PCFR+ in the last two games)"


@dataclass(frozen=True, kw_only=True)
class ConvergenceStudy(Experiment):
    """Methods compared by training time; the budget is the seconds of CPU time of each run."""

    work_unit: ClassVar[str] = "seconds"

    def games(self, budget: int) -> tuple[str, ...]:
        """Smaller ones in a quick run."""
        return (*FULL_GAMES, *LARGER_GAMES) if budget == self.budget else QUICK_GAMES

    def planned_work(self, budget: int) -> int:
        return len(self.games(budget)) * len(METHODS) * RUNS * budget

    def run(
        self, *, budget: int, seed: int, processes: Workers, parts: Path, progress: Callable[[int], object]
    ) -> ConvergenceResults:
        """One run after another, whatever `processes` is: times are measured."""
        parts.mkdir(parents=True, exist_ok=True)
        games = self.games(budget)
        curves: dict[str, dict[str, list[ConvergenceCurve]]]
        curves = {game: {method: [] for method in METHODS} for game in games}
        for run, game, (number, method) in product(range(RUNS), games, enumerate(METHODS)):
            request = {"game": game, "method": method, "seconds": budget, "seed": seed, "run": run}
            request |= {"p": P, "offset": offset_of(game), "measured": list(ConvergenceCurve._fields)}
            path = parts / f"{file_name(game)}.{number}.{run}.json"
            train = partial(_train_and_measure, game, method, budget, seed, run)
            curves[game][method].append(ConvergenceCurve(*cached_json(path, request, train)))
            progress(budget)
        results = {}
        for game in games:
            path, request = parts / f"{file_name(game)}.ends.json", {"game": game, "seed": seed, "p": P}
            ends = cached_json(path, request, partial(_limit_and_start, game, seed))
            results[game] = GameConvergence(curves[game], *ends)
        return results

    def csv(self, results: ConvergenceResults) -> str:
        lines = [
            [game, method, run, *(f"{number:.6g}" for number in (*row, convergence.limit, convergence.start))]
            for game, convergence in results.items()
            for method, curves in convergence.curves.items()
            for run, curve in enumerate(curves)
            for row in zip(*curve, strict=True)
        ]
        return csv_text(["game", "method", "run", *ConvergenceCurve._fields, "limit", "start"], rows=lines)

    def read_csv(self, text: str) -> ConvergenceResults:
        results = dict[str, GameConvergence]()
        for row in csv.DictReader(text.splitlines()):
            convergence = results.setdefault(
                row["game"], GameConvergence({}, float(row["limit"]), float(row["start"]))
            )
            curves = convergence.curves.setdefault(row["method"], [])
            if int(row["run"]) == len(curves):
                curves.append(ConvergenceCurve(*([] for _ in ConvergenceCurve._fields)))
            for field in ConvergenceCurve._fields:
                getattr(curves[-1], field).append(float(row[field]))
        return results

    def table(self, results: ConvergenceResults) -> list[str]:
        """Speedups, the work behind them, and where the runs end."""
        lines = ["## Speedups", "", SPEEDUPS, "", *speedup_table(results), "", "## Work to converge"]
        for axis, word in ((SECONDS, "Seconds"), (NODES, "Nodes visited, in millions,")):
            lines += ["", f"{word} until the distance is this fraction of the uniform policy's.", ""]
            lines += ["| game | method | " + " | ".join(f"1/{fraction}" for fraction in FRACTIONS) + " |"]
            lines += ["|---|---|" + "---:|" * len(FRACTIONS)]
            scale = 1e-6 if axis == NODES else 1.0
            for game, convergence in results.items():
                for method in _shown(convergence, axis):
                    works = (work_to(convergence, method, each, axis) for each in FRACTIONS)
                    cells = " | ".join(describe_work(work, scale) for work in works)
                    lines.append(f"| {game} | {method} | {cells} |")
        lines += ["", "## Final values", "", "Means over the runs.", ""]
        lines += ["| game | method | seconds | epsilon | limit of epsilon | distance |"]
        lines.append("|---|---|---:|---:|---:|---:|")
        for game, convergence in results.items():
            for method, curves in convergence.curves.items():
                seconds, _, epsilon, distance = np.mean([[row[-1] for row in run] for run in curves], axis=0)
                numbers = f"{seconds:.1f} | {epsilon:.4f} | {convergence.limit:.4f} | {distance:.2g}"
                lines.append(f"| {game} | {method} | {numbers} |")
        return lines

    def plot(self, results: ConvergenceResults, path: Path) -> None:
        """Games side by side, their panels one below the other."""
        columns = 2 if len(results) <= 4 else 3
        games = list(results.items())
        panels = [
            _panel(game, convergence, axis, measure)
            for first in range(0, len(games), columns)
            for axis, measure in PANELS
            for game, convergence in games[first : first + columns]
        ]
        plot_convergence(f"{self.title}, p = {P:g}", panels, LIMIT, columns, path)


def _shown(convergence: GameConvergence, axis: str) -> list[str]:
    """The methods that are shown on an axis."""
    return [method for method in convergence.curves if axis == SECONDS or method != RNR]


def _panel(game: str, convergence: GameConvergence, axis: str, measure: str) -> ConvergencePanel:
    curves = {
        method: [(getattr(run, axis), getattr(run, measure)) for run in convergence.curves[method]]
        for method in _shown(convergence, axis)
    }
    limit = convergence.limit if measure == "epsilon" else None
    y_label = f"{MEASURES[measure]} ({unit_of(game)} per game)"
    return ConvergencePanel(game, y_label, curves, limit, AXES[axis])


def _learners(game: str, method: type[Solver], seed: int, run: int = 0, **settings: Any) -> list[Solver]:
    """One for each seat; the fixed policies are the same in all runs."""
    if method is OutcomeMCCFR:
        settings["offset"] = offset_of(game)
    fixed = fixed_profile(game, seed, LARGER_FIXED if game in LARGER_GAMES else None)
    return [
        method(game, restriction=Restriction(1 - free, fixed, P), seed=seed + run, **settings)
        for free in (0, 1)
    ]


def _counted(game: str, method: str, seed: int, run: int) -> tuple[list[Solver], list[Longs]]:
    """New learners, and what counts the nodes that they visit."""
    learners = _learners(game, METHODS[method][0], seed, run, **METHODS[method][1])
    return learners, [count_nodes(each) for each in learners if isinstance(each, SamplingSolver)]


def _distance(learners: Sequence[Solver]) -> float:
    return sum(each.measure().nash_conv for each in learners)


def _train_and_measure(game: str, method: str, seconds: int, seed: int, run: int) -> list[list[float]]:
    """Seconds, nodes, epsilon and distance at points of time."""
    for each in _counted(game, method, seed, run)[0]:
        each.run(1, measure=False)  # compiles what is not compiled yet
    learners, counts = _counted(game, method, seed, run)
    per_iteration = float(TRAVERSALS * full_traversal(compile_game(game)))
    count = max(2, round(np.log10(seconds / FIRST) * PER_DECADE) + 1)
    used = np.zeros(len(learners))
    points: list[list[float]] = []
    for until in np.geomspace(FIRST, seconds, count) / len(learners):  # an equal part for each seat
        late = np.flatnonzero(used < until)  # a long iteration may pass several points
        for seat in late:
            used[seat] += train_for(learners[seat], until - used[seat])
        if len(late):
            epsilon = exploitability(join_seats([each.policy for each in learners])).nash_conv
            nodes = float(sum(int(each[0]) for each in counts))
            if method == HISTORY_RNR:
                nodes = per_iteration * sum(each.iterations for each in learners)
            elif method == RNR:  # visits no histories
                nodes = math.nan
            points.append([float(used.sum()), nodes, epsilon, _distance(learners)])
    return [list(column) for column in zip(*points, strict=True)]


def _limit_and_start(game: str, seed: int) -> tuple[float, float]:
    """The epsilon that all methods converge to, and the distance they start from."""
    solver = PCFRPlus if game in LARGER_GAMES else SequenceLP
    exact = [
        each.run(REFERENCE_ITERATIONS, until=REFERENCE_UNTIL).policy for each in _learners(game, solver, seed)
    ]
    return exploitability(join_seats(exact)).nash_conv, _distance(_learners(game, CFR, seed))


FIGURE_7 = ConvergenceStudy(
    name="pjl11-figure-7",
    title="PJL11, Figure 7: convergence of RNR and MCRNR over time",
    paper=PAPER,
    question=(
        "Does sampling (MCRNR) find a robust response faster than CFR over the whole game (RNR)? Both solve "
        "the game in which the opponent is bound to a fixed policy with probability p."
    ),
    settings=(
        Setting("games and fixed policies", "those of Figure 6", "those of [Figure 6](pjl11-figure-6.md)"),
        Setting(
            "larger games", "none", " and ".join(LARGER_GAMES) + f"; {LARGER_FIXED:,} iterations of MCCFR"
        ),
        Setting("p", "not given", f"{P:g}"),
        Setting("RNR", "CFR", "CFR over all histories; also CFR on the sequence form, which is ours"),
        Setting(
            "MCRNR",
            "outcome sampling, epsilon 0.6",
            f"the same; with baselines (step {STEP:g}); external sampling",
        ),
        Setting("payoffs", "those of the games", "outcome sampling subtracts those of uniform play"),
        Setting("horizontal axis", "seconds", "seconds of CPU time of one thread, and nodes visited"),
    ),
    setup=(
        "Each run has one learner per seat; seconds and nodes are summed over both. CFR over all histories "
        "traverses the game for both outcomes of the coin that decides whether the opponent is bound; CFR on "
        "the sequence form computes the same policies with fewer operations. Baselines are those of VR-MCCFR "
        "(Schmid et al. 2019). Epsilon is the paper's: the summed winnings of best responses to both "
        "policies; it converges not to zero but to that of the restricted Nash responses. The distance is "
        "the nash_conv of the restricted games, which converges to zero. All methods start with the uniform "
        "policy. "
        f"Each method has {RUNS} runs with different seeds (methods that do not sample differ in their times "
        "only) against the same fixed policies. Claims compare the work until the distance is "
        f"{FRACTION_LIST} of the initial one. On a busy machine runs are slower in CPU time too, because "
        "programs share its caches; the intervals contain this."
    ),
    budget=10,
    quick_budget=1,
    findings=findings,
    requires="half an hour",
)
