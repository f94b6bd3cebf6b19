"""Ponsen, de Jong & Lanctot 2011, Figure 6: what restricted Nash responses win, and what they risk."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, NamedTuple

import numpy as np

from openfelt.core.files import write_text
from openfelt.opponents.responses.response import Response, Responses, restricted_solver
from openfelt.plots.figure import new_figure, save_figure
from openfelt.plots.frontier import Point, draw_frontier
from openfelt.policy.policy import join_seats
from openfelt.policy.tabular import TabularPolicy
from openfelt.solve.restriction import ONCE
from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.studies.match_study import MatchStudy
from openfelt.studies.study import AN_HOUR, Finding

PS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97, 1.0)
# The paper names only the deck of One-Card Poker. The others are as large as a linear program takes seconds.
FULL_GAMES = ("one_card(500)", "goofspiel(6)", "bluff(1,1,6)", "princess_monster(3,3,7)")
QUICK_GAMES = ("one_card(50)", "goofspiel(4)", "bluff(1,1,4)", "princess_monster(3,3,5)")
EPSILON = 0.6
FIXED_UNTIL = 0.05  # exploitability: the paper's epsilon, 0.1, is summed over the players
MCRNR, EXACT = "MCRNR", "exact (linear program)"
PAPER = (
    'Ponsen, de Jong & Lanctot, "Computing Approximate Nash Equilibria and Robust Best-Responses Using '
    'Sampling" (2011), section 4.3.1. The paper prints its curves without numbers.'
)


class Frontiers(NamedTuple):
    """Of one game."""

    unit: str
    points: dict[str, list[Point]]  # EXACT, and MCRNR's by `learned`; sums over both seats, as in the paper


Results = Mapping[str, Frontiers]


@cache
def fixed_profile(game: str, seed: int, most: int | None = None) -> TabularPolicy:
    """The paper's perfect model: the policy of a run of MCCFR, of so many iterations at most."""
    policy = OutcomeMCCFR(game, epsilon=EPSILON, seed=seed).run(most, until=FIXED_UNTIL).policy
    assert isinstance(policy, TabularPolicy)
    return policy


def kept(path: Path, asked: dict[str, Any], work: Callable[[], Any]) -> Any:
    """What was written down for the same question; else it is worked out, and written down."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["asked"] == asked:
            return found["answer"]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    answer = work()
    write_text(path, json.dumps({"asked": asked, "answer": answer}))
    return answer


def file_name(game: str) -> str:
    """Of a game, without brackets."""
    return "".join(letter if letter.isalnum() else "-" for letter in game)


@dataclass(frozen=True, kw_only=True)
class FrontierStudy(MatchStudy):
    """Frontiers of several games; its `hands` are the iterations of each run of MCRNR."""

    work: ClassVar[str] = "iterations"

    def games(self, hands: int) -> tuple[str, ...]:
        """The large ones only in a full run."""
        return FULL_GAMES if hands == self.hands else QUICK_GAMES

    def planned(self, hands: int) -> int:
        return len(FULL_GAMES) * len(PS) * 2 * hands

    def play(
        self, *, hands: int, seed: int, processes: int, parts: Path, progress: Callable[[int], object]
    ) -> Results:
        parts.mkdir(parents=True, exist_ok=True)
        return {
            game: Frontiers(unit_of(game), self._frontiers(game, hands, seed, processes, parts, progress))
            for game in self.games(hands)
        }

    def _frontiers(
        self, game: str, hands: int, seed: int, processes: int, parts: Path, progress: Callable[[int], object]
    ) -> dict[str, list[Point]]:
        making, made = Lock(), list[Responses]()

        def responses() -> Responses:
            with making:  # once, and only if some point is missing
                if not made:
                    made.append(Responses(game, fixed_profile(game, seed)))
            return made[0]

        def one(p: float) -> Any:
            asked = {"game": game, "p": p, "iterations": hands, "seed": seed}
            path = parts / f"{file_name(game)}.{p:g}.json"
            answer = kept(path, asked, lambda: _points(responses(), p, seed, stages(hands)))
            progress(2 * hands)
            return answer

        with ThreadPoolExecutor(processes) as pool:
            answers = list(pool.map(one, PS))
        return {
            name: [Point(p, *answer[name]) for p, answer in zip(PS, answers, strict=True)]
            for name in answers[0]
        }

    def csv(self, results: Results) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["game", "solver", *Point._fields])
        for game, frontiers in results.items():
            for name, points in frontiers.points.items():
                writer.writerows([game, name, *(f"{number:.6g}" for number in each)] for each in points)
        return text.getvalue()

    def table(self, results: Results) -> list[str]:
        names = _learned_names(results)
        lines = ["## How near MCRNR comes", "", BEHIND + ": the mean over p (the most).", ""]
        lines += ["| game | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
        for game, frontiers in results.items():
            short = [_behind(frontiers, name) for name in names]
            cells = " | ".join(f"{np.mean(each):.2%} ({max(each):.2%})" for each in short)
            lines.append(f"| {game} | {cells} |")
        lines += ["", "## The points", "", f"Sums over both seats, per game; {names[-1]}."]
        for game, (unit, points) in results.items():
            head = "| p | exploitation, exact | MCRNR | exploitability, exact | MCRNR |"
            lines += ["", f"{game}, in {unit}:", "", head, "|---:|---:|---:|---:|---:|"]
            for exact, found in zip(points[EXACT], points[names[-1]], strict=True):
                won = f"{exact.exploitation:.4f} | {found.exploitation:.4f}"
                risk = f"{exact.exploitability:.4f} | {found.exploitability:.4f}"
                lines.append(f"| {exact.p:g} | {won} | {risk} |")
        return lines

    def plot(self, results: Results, path: Path) -> None:
        figure = new_figure(10.8, 8.0)
        for place, (game, (unit, points)) in enumerate(results.items()):
            axes = figure.add_subplot(2, 2, place + 1)
            draw_frontier(axes, game, points, unit)
        figure.suptitle(f"{self.title} (summed over both seats; numbers are p)", fontsize=10)
        save_figure(figure, path)


def stages(hands: int) -> list[int]:
    """The iterations of a run after which it is measured."""
    return sorted({max(1, hands // 100), max(1, hands // 10), hands})


def learned(iterations: int) -> str:
    """What MCRNR's points are called after so many iterations."""
    return f"{MCRNR}, {iterations:,} iterations"


def _points(responses: Responses, p: float, seed: int, after: Sequence[int]) -> dict[str, list[float]]:
    """Of one p: the exact one, and those of MCRNR on its way."""
    game, fixed, how = responses.game, responses.fixed, {"epsilon": EPSILON, "seed": seed}
    runs = [restricted_solver(game, fixed, p, free, ONCE, OutcomeMCCFR.name, **how) for free in (0, 1)]
    found = {EXACT: _summed(responses.restricted(p))}
    for iterations in after:
        for each in runs:
            each.run(iterations - each.iterations)
        together = responses.measured(join_seats([each.policy for each in runs]), MCRNR)
        found[learned(iterations)] = _summed(together)
    return found


def unit_of(game: str) -> str:
    """What payoffs are counted in."""
    from openfelt.games.registry import load_game

    return load_game(game).unit


def _summed(response: Response) -> list[float]:
    """Exploitability and exploitation over both seats."""
    return [2 * response.exploitability, 2 * response.exploitation]


def _findings(results: Results) -> list[Finding]:
    exact = {game: frontiers.points[EXACT] for game, frontiers in results.items()}
    shares = {game: _shares(points, PS.index(0.8)) for game, points in exact.items()}
    last = {game: 1.0 - _shares(points, PS.index(0.97))[1] for game, points in exact.items()}
    names = _learned_names(results)
    behind = [np.concatenate([_behind(each, name) for each in results.values()]) for name in names]
    means, most = [float(np.mean(each)) for each in behind], float(max(behind[-1]))
    bluff = [game for game in exact if game.startswith("bluff")]
    return [
        Finding(
            "for 0.5 <= p <= 0.8 exploitation rises noticeably for a small loss of exploitability",
            "of what a best response wins and risks, p = 0.8 has "
            + ", ".join(f"{won:.0%} and {risk:.0%} in {game}" for game, (won, risk) in shares.items()),
            all(won > 2 * risk for won, risk in shares.values()),
        ),
        Finding(
            "in every game except Bluff p from 0.97 to 1 has a high impact on the trade-off",
            "so much of the risk comes there: "
            + ", ".join(f"{share:.0%} in {game}" for game, share in last.items()),
            all((share > 0.25) != (game in bluff) for game, share in last.items()),
        ),
        Finding(
            "over time MCRNR approaches the restricted Nash response (the exact frontier is ours)",
            BEHIND
            + ", in the mean of all points by "
            + ", ".join(f"{mean:.1%} ({name})" for mean, name in zip(means, names, strict=True)),
            all(_falls(each, names) for each in results.values()),
        ),
        Finding(
            "at the end it is within 10% of it at every point (our bar)",
            f"the same shares: {np.mean(behind[-1]):.1%} in the mean, {most:.1%} at most; at most "
            + ", ".join(f"{max(_behind(each, names[-1])):.1%} in {game}" for game, each in results.items()),
            most < 0.1,
        ),
    ]


BEHIND = (
    "What it maximises, p * exploitation - (1 - p) * exploitability, is below that of the exact frontier, in "
    "shares of what a best response wins more than an equilibrium"
)


def _falls(frontiers: Frontiers, names: Sequence[str]) -> bool:
    """Whether the mean of a game is less each time."""
    return bool((np.diff([np.mean(_behind(frontiers, name)) for name in names]) < 0).all())


def _learned_names(results: Results) -> list[str]:
    return [name for name in next(iter(results.values())).points if name != EXACT]


def _behind(frontiers: Frontiers, name: str) -> list[float]:
    """How far each point is below the exact one, in what is maximised."""
    exact = frontiers.points[EXACT]
    return [
        (sure.p * (sure.exploitation - each.exploitation) + (1 - sure.p) * _more_risk(each, sure))
        / max(exact[-1].exploitation - exact[0].exploitation, 1e-9)
        for sure, each in zip(exact, frontiers.points[name], strict=True)
    ]


def _more_risk(each: Point, sure: Point) -> float:
    return each.exploitability - sure.exploitability


def _shares(points: Sequence[Point], place: int) -> tuple[float, float]:
    """Of a best response's exploitation and exploitability above the equilibrium's."""
    first, last, here = (np.array(points[which][1:]) for which in (0, -1, place))
    risk, won = (here - first) / np.maximum(last - first, 1e-9)
    return float(won), float(risk)


FIGURE_6 = FrontierStudy(
    name="pjl11-figure-6",
    title="PJL11, Figure 6: exploitation over exploitability of restricted Nash responses",
    paper=PAPER,
    setting=(
        "One-Card Poker with 500 cards, as in the paper, and Goofspiel, Bluff and Princess and Monster, of "
        "which it does not say how large they are; ours are as large as linear programs solve in seconds. "
        "The fixed policy, a perfect model, is that of outcome-sampling MCCFR with epsilon 0.6, run until "
        "its nash_conv is at most 0.1. MCRNR is outcome sampling with epsilon 0.6 on the game with a coin, "
        "one run a seat, also measured after a hundredth and a tenth of its iterations; beside it stands the "
        "exact frontier. Exploitation is what is won more than by the equilibrium of the linear program; "
        "both numbers are sums over the seats."
    ),
    hands=20_000_000,
    quick_hands=300_000,
    findings=_findings,
    needs=AN_HOUR,
)
