"""How near models of a player come to the truth, where it is known: Leduc hold'em, by number of hands."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openfelt.core.files import write_text
from openfelt.core.jit import Floats
from openfelt.opponents.models.files import KINDS, new_model
from openfelt.opponents.models.frequencies import FrequencyModel
from openfelt.opponents.models.observed import KNOWN, SHOWN
from openfelt.opponents.models.tally import TallyModel
from openfelt.plots.figure import COLOURS, new_figure, save_figure
from openfelt.studies.match_study import MatchStudy
from openfelt.studies.models.known_player import GAME, PLAYERS, action_distance, card_distance, hands_of
from openfelt.studies.study import Finding, spaced

FIRST, PER_DECADE, RUNS = 30, 2, 3
CARDS = {KNOWN: "all cards known", SHOWN: "cards of showdowns only"}
MEASURES = {"actions": "distance of actions", "cards": "distance of cards"}


class Case(NamedTuple):
    """A curve: who is modelled, from what, by which kind."""

    player: str
    cards: str
    kind: str


class Curve(NamedTuple):
    """Total variation from the truth, in the mean over decisions and over hands."""

    hands: list[int]
    actions: Floats  # [runs, points]
    cards: Floats  # [runs, points]


Results = Mapping[Case, Curve]
CASES = tuple(Case(player, cards, kind) for player in PLAYERS for cards in CARDS for kind in KINDS)


@dataclass(frozen=True, kw_only=True)
class ModelStudy(MatchStudy):
    """Models that learn from more and more hands."""

    def points(self, hands: int) -> list[int]:
        """The numbers of hands at which it is measured."""
        return list(spaced(FIRST, hands, PER_DECADE))

    def planned(self, hands: int) -> int:
        return len(CASES) * RUNS * sum(self.points(hands))

    def play(
        self, *, hands: int, seed: int, processes: int, parts: Path, progress: Callable[[int], object]
    ) -> Results:
        parts.mkdir(parents=True, exist_ok=True)
        points = self.points(hands)
        found: dict[Case, Curve] = {}
        for number, case in enumerate(CASES):
            runs = [_run(case, points, seed + run, parts / f"{number}.{run}.json") for run in range(RUNS)]
            for _ in runs:
                progress(sum(points))
            table = np.array(runs)  # [runs, points, 2]
            found[case] = Curve(points, table[:, :, 0], table[:, :, 1])
        return found

    def csv(self, results: Results) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["player", "cards", "kind", "run", "hands", *MEASURES])
        for case, curve in results.items():
            for run, point in np.ndindex(curve.actions.shape):
                numbers = [f"{table[run, point]:.6g}" for table in curve[1:]]
                writer.writerow([*case, run, curve.hands[point], *numbers])
        return text.getvalue()

    def table(self, results: Results) -> list[str]:
        last = next(iter(results.values())).hands[-1]
        lines = ["## At the end", "", f"After {last:,} hands, the mean of {RUNS} runs."]
        for player, cards in _panels():
            lines += [
                "",
                f"Of {player}, {CARDS[cards]}:",
                "",
                "| kind | actions | cards |",
                "|---|---:|---:|",
            ]
            for kind in KINDS:
                curve = results[Case(player, cards, kind)]
                numbers = (f"{table[:, -1].mean():.4f}" for table in curve[1:])
                lines.append(f"| {kind} | {' | '.join(numbers)} |")
        return lines

    def plot(self, results: Results, path: Path) -> None:
        from matplotlib.ticker import LogFormatter

        figure = new_figure(15.0, 7.2)
        for column, (player, cards) in enumerate(_panels()):
            for row, (measure, label) in enumerate(MEASURES.items()):
                axes = figure.add_subplot(2, 4, 4 * row + column + 1)
                for colour, kind in zip(COLOURS, KINDS, strict=False):
                    curve = results[Case(player, cards, kind)]
                    table = np.maximum(getattr(curve, measure), 1e-4)
                    axes.plot(curve.hands, table.mean(axis=0), color=colour, label=kind)
                    axes.fill_between(
                        curve.hands, table.min(axis=0), table.max(axis=0), color=colour, alpha=0.18
                    )
                axes.set_xscale("log")
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter(LogFormatter())
                axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.4)))
                axes.set_xlabel("hands seen")
                axes.set_ylabel(f"{label} (total variation)")
                axes.set_title(f"{player}, {CARDS[cards]}", fontsize=10)
                axes.grid(alpha=0.25)
                axes.legend(fontsize=8, frameon=False)
        figure.suptitle(f"{self.title}: mean of {RUNS} runs; shaded: from the least to the most", fontsize=10)
        save_figure(figure, path)


def _panels() -> Iterator[tuple[str, str]]:
    return ((player, cards) for player in PLAYERS for cards in CARDS)


def _run(case: Case, points: list[int], seed: int, kept: Path) -> list[list[float]]:
    """[points, 2] distances; those that are kept are not measured again."""
    asked = {"case": list(case), "points": points, "seed": seed}
    try:
        found = json.loads(kept.read_text(encoding="utf-8"))
        if {key: found[key] for key in asked} == asked:
            return [[float(number) for number in pair] for pair in found["distances"]]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    hands = hands_of(case.player, case.cards, points[-1], np.random.default_rng(seed))
    distances = []
    for count in points:
        model = new_model(case.kind, GAME)
        model.fit(hands[:count], seed=seed)
        distances.append([action_distance(model, case.player), card_distance(model, case.player)])
    write_text(kept, json.dumps({**asked, "distances": distances}))
    return distances


def _findings(results: Results) -> list[Finding]:
    reading = [kind for kind in KINDS if kind != FrequencyModel.kind]
    learners = [kind for kind in reading if kind != TallyModel.kind]

    def share(case: Case, since: int) -> list[float]:
        """Of the distances after so many hands, or the nearest point, what is left at the end."""
        curve = results[case]
        place = int(np.argmin(abs(np.array(curve.hands) - since)))
        return [float(table[:, -1].mean() / table[:, place].mean()) for table in curve[1:]]

    def ratios(cards: str, kinds: Sequence[str], since: int) -> list[float]:
        return [each for who in PLAYERS for kind in kinds for each in share(Case(who, cards, kind), since)]

    last = next(iter(results.values())).hands[-1]
    known, drawn = ratios(KNOWN, reading, FIRST), ratios(SHOWN, learners, last // 10)
    guessed = ratios(SHOWN, [TallyModel.kind], last // 10)
    ahead = [
        float(own[:, -1].mean() / tallied[:, -1].mean())
        for player, cards in _panels()
        for kind in learners
        for own, tallied in zip(
            results[Case(player, cards, kind)][1:],
            results[Case(player, cards, TallyModel.kind)][1:],
            strict=True,
        )
    ]
    return [
        Finding(
            f"with known cards, every kind that looks at cards is nearer after {last:,} hands than {FIRST}",
            f"{min(known):.0%} to {max(known):.0%} of the distance is left",
            max(known) < 1,
        ),
        Finding(
            "trees and relational models come nearer than the tally, which sees less of a hand",
            f"in the end their distance is {min(ahead):.0%} to {max(ahead):.0%} of the tally's",
            max(ahead) < 1,
        ),
        Finding(
            "from showdowns alone they go on learning, as they draw the cards that were not shown (EM)",
            f"ten times the hands leave {min(drawn):.0%} to {max(drawn):.0%} of the distance",
            max(drawn) < 1,
        ),
        Finding(
            "the tally of showdowns stops where TAU's guess of cards that were not shown is wrong",
            f"ten times the hands leave {min(guessed):.0%} to {max(guessed):.0%}",
            min(guessed) > 0.8,
        ),
    ]


MODELS_TRUTH = ModelStudy(
    name="models-truth",
    title="How near models of a player come to the truth, in Leduc hold'em",
    paper="Ours: models are judged where the truth can be computed. [What the kinds are](../models.md).",
    setting=(
        "A policy that is known plays itself, and models learn from its hands: the average policy of a "
        "million episodes of Smooth UCT, and one whose rows were drawn at random, of which nothing can be "
        "learned by analogy. Then both are compared over the whole game: what is done at a decision, and "
        "what may be held at the end of a hand when the other's card is known (by Bayes' rule from the "
        "policy and from the model). Distances are total variations, from 0 to 1, weighted by how often a "
        "decision or a hand comes. No model sees the rank of the board, only whether it pairs the hand, so "
        "that some distance remains with any number of hands."
    ),
    hands=30_000,
    quick_hands=1_000,
    findings=_findings,
    needs="ten minutes",
    remarks=(
        "The random policy folds good cards as readily as bad ones, so TAU's guess, from which EM starts, is "
        "wrong of it. EM undoes that slowly: with few rounds, more hands only make the guess more distinct."
    ),
    own_claims=True,
)
