"""Ponsen, de Jong & Lanctot 2011, Figure 6: exploitation and exploitability of restricted responses."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from openfelt.core.workers import Workers, own_threads
from openfelt.measure.exploitability import expected_values
from openfelt.opponents.responses.response import Response, Responses, restricted_solver
from openfelt.plots.frontier import Frontiers, Point, plot_frontiers
from openfelt.policy.policy import Policy, join_seats
from openfelt.policy.tabular import uniform_policy
from openfelt.solve.restriction import ONCE
from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.studies.experiment import Experiment
from openfelt.studies.files import cached_json, csv_text
from openfelt.studies.findings import Finding
from openfelt.studies.study import HOUR, Setting

PS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97, 1.0)
# The paper gives only the size of One-Card Poker; the others are as large as a linear program solves in
# seconds.
FULL_GAMES = ("one_card(500)", "goofspiel(6)", "bluff(1,1,6)", "princess_monster(3,3,7)")
QUICK_GAMES = ("one_card(50)", "goofspiel(4)", "bluff(1,1,4)", "princess_monster(3,3,5)")
EPSILON = 0.6
ITERATIONS = 20_000_000  # of MCRNR, a seat
FIXED_UNTIL = 0.05  # exploitability; the paper's epsilon of 0.1 is the sum over both players
MCRNR, EXACT = "MCRNR", "exact (linear program)"
PAPER = (
    'Ponsen, de Jong & Lanctot, "Computing Approximate Nash Equilibria and Robust Best-Responses Using '
    'Sampling" (2011), section 4.3.1. The paper prints its curves without numbers.'
)


# By game. Points are sums over both seats, as in the paper; methods are EXACT and `mcrnr_label`s.
FrontierResults = Mapping[str, Frontiers]


@cache
def offset_of(game: str) -> float:
    """The first player's payoff in uniform play, which outcome sampling subtracts to reduce variance."""
    return round(expected_values(uniform_policy(game))[0], 2)


@cache
def fixed_profile(game: str, seed: int, most: int | None = None) -> Policy:
    """The fixed policy, a perfect model: that of a run of MCCFR of at most `most` iterations."""
    solver = OutcomeMCCFR(game, epsilon=EPSILON, offset=offset_of(game), seed=seed)
    return solver.run(most, until=FIXED_UNTIL).policy


def file_name(game: str) -> str:
    """The name of a game as part of a file name."""
    return "".join(letter if letter.isalnum() else "-" for letter in game)


@dataclass(frozen=True, kw_only=True)
class FrontierStudy(Experiment):
    """Frontiers of several games; the budget is the iterations of each run of MCRNR."""

    work_unit: ClassVar[str] = "iterations"

    def games(self, budget: int) -> tuple[str, ...]:
        """Smaller ones in a quick run."""
        return FULL_GAMES if budget == self.budget else QUICK_GAMES

    def planned_work(self, budget: int) -> int:
        return len(FULL_GAMES) * len(PS) * 2 * budget

    def run(
        self, *, budget: int, seed: int, processes: Workers, parts: Path, progress: Callable[[int], object]
    ) -> FrontierResults:
        parts.mkdir(parents=True, exist_ok=True)
        return {
            game: Frontiers(unit_of(game), self._frontiers(game, budget, seed, processes, parts, progress))
            for game in self.games(budget)
        }

    def _frontiers(
        self,
        game: str,
        budget: int,
        seed: int,
        processes: Workers,
        parts: Path,
        progress: Callable[[int], object],
    ) -> dict[str, list[Point]]:
        lock, created = Lock(), list[Responses]()

        def responses() -> Responses:
            with lock:  # once, and only if some point is missing
                if not created:
                    created.append(Responses(game, fixed_profile(game, seed)))
            return created[0]

        def one(p: float) -> Any:
            request = {"game": game, "p": p, "iterations": budget, "seed": seed, "offset": offset_of(game)}
            path = parts / f"{file_name(game)}.{p:g}.json"
            answer = cached_json(path, request, lambda: _points(responses(), p, seed, stages(budget)))
            progress(2 * budget)
            return answer

        with ThreadPoolExecutor(own_threads(processes)) as pool:
            answers = list(pool.map(one, PS))
        return {
            name: [Point(p, *answer[name]) for p, answer in zip(PS, answers, strict=True)]
            for name in answers[0]
        }

    def csv(self, results: FrontierResults) -> str:
        lines = [
            [game, name, *(f"{number:.10g}" for number in point)]
            for game, frontiers in results.items()
            for name, points in frontiers.points.items()
            for point in points
        ]
        return csv_text(["game", "solver", *Point._fields], rows=lines)

    def read_csv(self, text: str) -> FrontierResults:
        points = dict[str, dict[str, list[Point]]]()
        for row in csv.DictReader(text.splitlines()):
            point = Point(*(float(row[field]) for field in Point._fields))
            points.setdefault(row["game"], {}).setdefault(row["solver"], []).append(point)
        return {game: Frontiers(unit_of(game), each) for game, each in points.items()}

    def table(self, results: FrontierResults) -> list[str]:
        names = _mcrnr_labels(results)
        lines = ["## Objective of MCRNR", "", f"{SHORTFALL}: mean over p (maximum).", ""]
        lines += ["| game | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
        for game, frontiers in results.items():
            short = [_shortfall(frontiers, name) for name in names]
            cells = " | ".join(f"{np.mean(each):.2%} ({max(each):.2%})" for each in short)
            lines.append(f"| {game} | {cells} |")
        lines += ["", "## All points", "", f"Sums over both seats, per game; {names[-1]}."]
        for game, (unit, points) in results.items():
            head = "| p | exploitation, exact | MCRNR | exploitability, exact | MCRNR |"
            lines += ["", f"{game}, in {unit}:", "", head, "|---:|---:|---:|---:|---:|"]
            for exact, sampled in zip(points[EXACT], points[names[-1]], strict=True):
                won = f"{exact.exploitation:.4f} | {sampled.exploitation:.4f}"
                risk = f"{exact.exploitability:.4f} | {sampled.exploitability:.4f}"
                lines.append(f"| {exact.p:g} | {won} | {risk} |")
        return lines

    def plot(self, results: FrontierResults, path: Path) -> None:
        plot_frontiers(f"{self.title} (sums over both seats; numbers are p)", results, path)


def stages(budget: int) -> list[int]:
    """The iterations of a run after which it is measured."""
    return sorted({max(1, budget // 100), max(1, budget // 10), budget})


def mcrnr_label(iterations: int) -> str:
    """The label of MCRNR after some iterations."""
    return f"{MCRNR}, {iterations:,} iterations"


def _points(responses: Responses, p: float, seed: int, after: Sequence[int]) -> dict[str, list[float]]:
    """The points of one p: the exact one, and MCRNR's after some iterations."""
    game, fixed = responses.game, responses.fixed
    settings = {"epsilon": EPSILON, "offset": offset_of(game), "seed": seed}
    runs = [restricted_solver(game, fixed, p, free, ONCE, OutcomeMCCFR.name, **settings) for free in (0, 1)]
    points = {EXACT: _sums(responses.restricted(p))}
    for iterations in after:
        for each in runs:
            each.run(iterations - each.iterations)
        together = responses.measured(join_seats([each.policy for each in runs]), MCRNR)
        points[mcrnr_label(iterations)] = _sums(together)
    return points


def unit_of(game: str) -> str:
    """The unit of a game's payoffs."""
    from openfelt.games.registry import load_game

    return load_game(game).unit


def _sums(response: Response) -> list[float]:
    """Exploitability and exploitation, summed over both seats."""
    return [2 * response.exploitability, 2 * response.exploitation]


def _judge(results: FrontierResults) -> list[Finding]:
    exact = {game: frontiers.points[EXACT] for game, frontiers in results.items()}
    shares = {game: _shares(points, PS.index(0.8)) for game, points in exact.items()}
    last = {game: 1.0 - _shares(points, PS.index(0.97))[1] for game, points in exact.items()}
    names = _mcrnr_labels(results)
    short = [np.concatenate([_shortfall(each, name) for each in results.values()]) for name in names]
    means, most = [float(np.mean(each)) for each in short], float(max(short[-1]))
    bluff = [game for game in exact if game.startswith("bluff")]
    return [
        Finding(
            "for 0.5 <= p <= 0.8 exploitation rises noticeably at a small cost in exploitability",
            "shares of a best response's exploitation and exploitability at p = 0.8: "
            + ", ".join(f"{won:.0%} and {risk:.0%} in {game}" for game, (won, risk) in shares.items()),
            all(won > 2 * risk for won, risk in shares.values()),
        ),
        Finding(
            "in every game except Bluff, p from 0.97 to 1 has a high impact on the trade-off",
            "share of the exploitability that is added there: "
            + ", ".join(f"{share:.0%} in {game}" for game, share in last.items()),
            all((share > 0.25) != (game in bluff) for game, share in last.items()),
        ),
        Finding(
            "over time MCRNR approaches the restricted Nash response (the exact frontier is ours)",
            f"{SHORTFALL}, mean of all points: "
            + ", ".join(f"{mean:.1%} ({name})" for mean, name in zip(means, names, strict=True)),
            all(_is_decreasing(each, names) for each in results.values()),
        ),
        Finding(
            "at the end it is within 10% of it at every point",
            f"the same shares: {np.mean(short[-1]):.1%} on average, maximum {most:.1%}; maxima by game: "
            + ", ".join(
                f"{max(_shortfall(each, names[-1])):.1%} in {game}" for game, each in results.items()
            ),
            most < 0.1,
            ours=True,
        ),
    ]


SHORTFALL = (
    "Shortfall of MCRNR's objective, p * exploitation - (1 - p) * exploitability, from the exact frontier, "
    "as a share of the exploitation of a best response"
)


def _is_decreasing(frontiers: Frontiers, names: Sequence[str]) -> bool:
    """Whether the mean shortfall of a game decreases from stage to stage."""
    return bool((np.diff([np.mean(_shortfall(frontiers, name)) for name in names]) < 0).all())


def _mcrnr_labels(results: FrontierResults) -> list[str]:
    return [name for name in next(iter(results.values())).points if name != EXACT]


def _shortfall(frontiers: Frontiers, name: str) -> list[float]:
    """By how much the objective of each point is below the exact one, as described by SHORTFALL."""
    exact = frontiers.points[EXACT]
    scale = max(exact[-1].exploitation - exact[0].exploitation, 1e-9)
    return [
        (
            best.p * (best.exploitation - each.exploitation)
            + (1 - best.p) * (each.exploitability - best.exploitability)
        )
        / scale
        for best, each in zip(exact, frontiers.points[name], strict=True)
    ]


def _shares(points: Sequence[Point], place: int) -> tuple[float, float]:
    """Exploitation and exploitability above the equilibrium's, as shares of a best response's."""
    first, last, here = (np.array(points[which][1:]) for which in (0, -1, place))
    risk, won = (here - first) / np.maximum(last - first, 1e-9)
    return float(won), float(risk)


SIZES = ", as large as a linear program solves in seconds"

FIGURE_6 = FrontierStudy(
    name="pjl11-figure-6",
    title="PJL11, Figure 6: exploitation and exploitability of restricted Nash responses",
    paper=PAPER,
    question=(
        "A restricted Nash response trades what it wins from a model of the opponent (exploitation) for what "
        "a best response wins from it (exploitability). How good is the trade, and does MCRNR, which "
        "samples, find it? One player is bound to the model with probability p; its opponent learns against "
        "that."
    ),
    settings=(
        Setting("One-Card Poker", "500 cards", "the same"),
        Setting(
            "Goofspiel, Bluff, Princess and Monster", "sizes not given", ", ".join(FULL_GAMES[1:]) + SIZES
        ),
        Setting("model", "a policy of MCCFR within epsilon = 0.1", "the same: nash_conv at most 0.1"),
        Setting("p", ", ".join(f"{p:g}" for p in PS), "the same"),
        Setting(
            "MCRNR",
            "outcome sampling, epsilon 0.6; iterations not given",
            f"the same, {ITERATIONS:,} iterations a seat",
        ),
        Setting("payoffs", "those of the games", "less those of uniform play: the same regrets on average"),
        Setting("exact frontier", "none", "of the linear program"),
    ),
    setup=(
        "Exploitation is the gain over the equilibrium of the linear program; both axes are sums over the "
        "seats. MCRNR is one run a seat, also measured after a hundredth and a tenth of its iterations. The "
        "values of the exact frontier have no error; those of MCRNR are of single runs."
    ),
    budget=ITERATIONS,
    quick_budget=300_000,
    findings=_judge,
    requires=HOUR,
)
