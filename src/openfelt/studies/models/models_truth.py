"""Distance of opponent models from the true policy in Leduc hold'em, by number of hands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openfelt.core.jit import Floats
from openfelt.core.workers import Workers
from openfelt.opponents.models.files import KINDS, new_model
from openfelt.opponents.models.frequencies import FrequencyModel
from openfelt.opponents.models.observed import KNOWN, SHOWN
from openfelt.opponents.models.tally import TallyModel
from openfelt.plots.axes import above_zero
from openfelt.plots.curves import CurvePanel, plot_runs
from openfelt.plots.intervals import Interval
from openfelt.studies.experiment import Experiment
from openfelt.studies.files import cached_json, csv_text
from openfelt.studies.findings import Finding, both, is_above, is_below, mean_of_runs
from openfelt.studies.models.ground_truth import GAME, PLAYERS, action_distance, card_distance, sample_hands
from openfelt.studies.study import spaced

FIRST, PER_DECADE, RUNS = 30, 2, 6
CARDS = {KNOWN: "all cards known", SHOWN: "showdown cards only"}
MEASURES = ("actions", "cards")
LEAST = 1e-4  # distance drawn for smaller ones
STOPPED = 0.8  # a model that keeps more of its distance has stopped improving


class Case(NamedTuple):
    """One curve: the player, the cards that are known, the kind of model."""

    player: str
    cards: str
    kind: str


class DistanceCurve(NamedTuple):
    """Mean total variation distance from the truth, by number of hands."""

    hands: list[int]
    actions: Floats  # [runs, points]
    cards: Floats  # [runs, points]


ModelResults = Mapping[Case, DistanceCurve]
CASES = tuple(Case(player, cards, kind) for player in PLAYERS for cards in CARDS for kind in KINDS)


@dataclass(frozen=True, kw_only=True)
class ModelStudy(Experiment):
    """Models fitted to more and more hands; the budget is the most hands."""

    def points(self, budget: int) -> list[int]:
        """The numbers of hands at which to measure."""
        return list(spaced(FIRST, budget, PER_DECADE))

    def planned_work(self, budget: int) -> int:
        return len(CASES) * RUNS * sum(self.points(budget))

    def run(
        self, *, budget: int, seed: int, processes: Workers, parts: Path, progress: Callable[[int], object]
    ) -> ModelResults:
        parts.mkdir(parents=True, exist_ok=True)
        points = self.points(budget)
        results: dict[Case, DistanceCurve] = {}
        for number, case in enumerate(CASES):
            runs = [_run(case, points, seed + run, parts / f"{number}.{run}.json") for run in range(RUNS)]
            for _ in runs:
                progress(sum(points))
            table = np.array(runs)  # [runs, points, 2]
            results[case] = DistanceCurve(points, table[:, :, 0], table[:, :, 1])
        return results

    def csv(self, results: ModelResults) -> str:
        lines = []
        for case, curve in results.items():
            for run, point in np.ndindex(curve.actions.shape):
                numbers = [f"{table[run, point]:.6g}" for table in (curve.actions, curve.cards)]
                lines.append([*case, run, curve.hands[point], *numbers])
        return csv_text(["player", "cards", "kind", "run", "hands", *MEASURES], rows=lines)

    def table(self, results: ModelResults) -> list[str]:
        last = next(iter(results.values())).hands[-1]
        lines = ["## Final distances", "", f"After {last:,} hands, mean of {RUNS} runs."]
        for player, cards in _columns():
            lines += [
                "",
                f"Models of {player}, {CARDS[cards]}:",
                "",
                "| kind of model | actions | cards |",
                "|---|---:|---:|",
            ]
            for kind in KINDS:
                curve = results[Case(player, cards, kind)]
                numbers = (f"{table[:, -1].mean():.4f}" for table in (curve.actions, curve.cards))
                lines.append(f"| {kind} | {' | '.join(numbers)} |")
        return lines

    def plot(self, results: ModelResults, path: Path) -> None:
        columns = list(_columns())
        panels = []
        for measure in MEASURES:
            for player, cards in columns:
                curves = {kind: results[Case(player, cards, kind)] for kind in KINDS}
                panels.append(
                    CurvePanel(
                        next(iter(curves.values())).hands,
                        {kind: above_zero(getattr(curve, measure), LEAST) for kind, curve in curves.items()},
                        f"distance of {measure} (total variation)",
                        x_label="observed hands",
                        title=f"{player}, {CARDS[cards]}",
                        logarithmic=True,
                    )
                )
        plot_runs(self.title, panels, path, columns=len(columns), panel_size=(3.75, 3.6))


def _columns() -> Iterator[tuple[str, str]]:
    return ((player, cards) for player in PLAYERS for cards in CARDS)


def _run(case: Case, points: list[int], seed: int, path: Path) -> list[list[float]]:
    """[points, 2] distances, stored at `path`."""

    def compute() -> list[list[float]]:
        hands = sample_hands(case.player, case.cards, points[-1], np.random.default_rng(seed))
        distances = []
        for count in points:
            model = new_model(case.kind, GAME)
            model.fit(hands[:count], seed=seed)
            distances.append([action_distance(model, case.player), card_distance(model, case.player)])
        return distances

    distances: list[list[float]] = cached_json(
        path, {"case": list(case), "points": points, "seed": seed}, compute
    )
    return distances


def _judge(results: ModelResults) -> list[Finding]:
    using_cards = [kind for kind in KINDS if kind != FrequencyModel.kind]
    trees = [kind for kind in using_cards if kind != TallyModel.kind]
    last = next(iter(results.values())).hands[-1]

    def remaining(cards: str, kinds: Sequence[str], since: int) -> list[Interval]:
        """Final distances as shares of those after `since` hands (or the nearest point), of each run."""
        shares = []
        for curve in (results[Case(player, cards, kind)] for player in PLAYERS for kind in kinds):
            place = int(np.argmin(abs(np.array(curve.hands) - since)))
            shares += [mean_of_runs(table[:, -1] / table[:, place]) for table in curve[1:]]
        return shares

    known = remaining(KNOWN, using_cards, FIRST)
    imputed = remaining(SHOWN, trees, last // 10)
    tallied = remaining(SHOWN, [TallyModel.kind], last // 10)
    relative = _relative_to_tally(results, trees)
    return [
        Finding(
            f"with all cards known, every model that uses cards is closer after {last:,} hands than {FIRST}",
            f"{_between(known)} of the distance remains",
            both(*(is_below(share, 1.0) for share in known)),
        ),
        Finding(
            "tree and relational models come closer than the tally, which uses fewer features",
            f"at the end their distance is {_between(relative)} of the tally's",
            both(*(is_below(share, 1.0) for share in relative)),
        ),
        Finding(
            "with showdown cards only they keep improving, since EM imputes the hidden cards",
            f"after ten times the hands {_between(imputed)} of the distance remains",
            both(*(is_below(share, 1.0) for share in imputed)),
        ),
        Finding(
            "with showdown cards only the tally stops where TAU's guess of hidden cards is wrong",
            f"after ten times the hands {_between(tallied)} remains",
            both(*(is_above(share, STOPPED) for share in tallied)),
        ),
    ]


def _between(shares: Sequence[Interval]) -> str:
    """The smallest and the largest mean, each with its interval."""
    ends = (choose(shares, key=lambda share: share.mean) for choose in (min, max))
    return " to ".join(f"{share.mean:.0%} ± {share.half:.0%}" for share in ends)


def _relative_to_tally(results: ModelResults, kinds: Sequence[str]) -> list[Interval]:
    """Final distances of models as shares of the tally's, which learned from the same hands."""
    shares = []
    for player, cards in _columns():
        tally = results[Case(player, cards, TallyModel.kind)]
        for kind in kinds:
            for own, base in zip(results[Case(player, cards, kind)][1:], tally[1:], strict=True):
                shares.append(mean_of_runs(own[:, -1] / base[:, -1]))
    return shares


MODELS_TRUTH = ModelStudy(
    name="models-truth",
    title="Distance of opponent models from the true policy in Leduc hold'em",
    paper=(
        "Not from a paper: how close do opponent models come to the true policy? In Leduc hold'em the answer "
        "can be computed. The kinds of models are described in [models](../models.md)."
    ),
    setup=(
        "A fixed policy plays itself, and models learn from its hands. There are two policies: the average "
        "policy of a million episodes of Smooth UCT, and one with random probabilities at each infoset, "
        "where nothing generalizes from one infoset to another. Models are compared with the policy over the "
        "whole game: the probabilities of actions, and the distribution of the player's card at the end of a "
        "hand when the opponent's card is known (by Bayes' rule from the policy and from the model). "
        "Distances are total variations, from 0 to 1, weighted by the probability of the decision or hand. "
        "No model uses the rank of the board, only whether it pairs the hand, so some distance remains with "
        f"any number of hands. There are {RUNS} runs, with different hands; the same for all models. Shares "
        "are means over runs with 95% intervals, and a claim about several models holds if it holds of each."
    ),
    budget=30_000,
    quick_budget=1_000,
    findings=_judge,
    requires="half an hour",
    remarks=(
        "The random policy folds good cards as often as bad ones, so TAU's guess of hidden cards, from which "
        "EM starts, is wrong for it. EM corrects this slowly: with few rounds of EM, more hands only sharpen "
        "the wrong guess."
    ),
    own_claims=True,
)
