"""TAU, section 5.1, Figures 5 to 7: a neural network that selects the node a search expands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openfelt.arena.match import Progress
from openfelt.core.jit import Floats
from openfelt.core.workers import Workers
from openfelt.opponents.models.network import classifier, train, weights_of
from openfelt.opponents.models.network_features import (
    ACTIONS,
    CHEN,
    MAX_NODE,
    OPPONENT,
    POT,
    POTENTIAL,
    Examples,
    feature_columns,
)
from openfelt.plots.intervals import Interval
from openfelt.plots.network_accuracy import plot_network_accuracy
from openfelt.studies.experiment import Experiment
from openfelt.studies.files import csv_text
from openfelt.studies.findings import Finding, is_below, is_within
from openfelt.studies.match_table import SCORE_95
from openfelt.studies.study import HOUR, Setting
from openfelt.studies.tau.examples import (
    OPPONENTS,
    PUBLIC,
    SEARCH_ITERATIONS,
    collect_all,
    concatenate,
    public_accuracy,
    split,
)
from openfelt.studies.tau.network_search import BUDGETS, MatchResults, holdem_features, play_all

EPOCHS = 20
EXAMPLES_PER_HAND = 3  # roughly, on average over the three opponents
FEATURE_SETS = {
    "hand potential (figure 5)": (POTENTIAL, *PUBLIC),
    "Chen formula (figure 6)": (CHEN, *PUBLIC),
    "both (figure 7)": (POTENTIAL, CHEN, *PUBLIC),
    "both, pot size": (POTENTIAL, CHEN, *PUBLIC, POT),
    "both, pot size, opponent's actions": (POTENTIAL, CHEN, *PUBLIC, POT, OPPONENT),
}
LARGEST = list(FEATURE_SETS)[-1]
VISIBLE = 0.01  # a difference in accuracy that a plot would show
AS_WELL = 50.0  # mbb/h: what "as well" allows


@dataclass(frozen=True)
class NetworkResults:
    """Accuracy of the networks, and matches of the last one."""

    training_examples: int
    test_examples: int
    shares: Floats  # [3] of the actions among the test examples
    majority: float  # accuracy of the most frequent action
    without_cards: float  # accuracy of the most frequent action given the public features
    accuracy: dict[str, Floats]  # by feature set, [epochs]
    by_node: Floats  # [opponents, 2] accuracy of the last network at max and at min nodes
    matches: MatchResults


@dataclass(frozen=True, kw_only=True)
class NetworkStudy(Experiment):
    """Collects examples, trains networks, plays matches; the budget is the hands of a match."""

    examples: int
    quick_examples: int

    def _examples(self, budget: int) -> int:
        return self.examples if budget == self.budget else self.quick_examples

    def check(self) -> None:
        """Raise if scikit-learn is missing."""
        classifier()

    def planned_work(self, budget: int) -> int:
        matches = sum(2 * int(budget * share) for share in BUDGETS.values())
        return matches + self._examples(budget) // EXAMPLES_PER_HAND

    def run(
        self, *, budget: int, seed: int, processes: Workers, parts: Path, progress: Progress
    ) -> NetworkResults:
        features, count, reported = holdem_features(), 0, 0

        def report(examples: int) -> None:
            """Examples as progress in hands."""
            nonlocal count, reported
            count += examples
            progress(count // EXAMPLES_PER_HAND - reported)
            reported = count // EXAMPLES_PER_HAND

        collected = collect_all(features, self._examples(budget), seed=seed, folder=parts, progress=report)
        training, by_opponent = split(collected)
        testing = concatenate(by_opponent)
        accuracy, model = {}, None
        for label, names in FEATURE_SETS.items():
            inputs, scores = testing.features[:, feature_columns(names)], []
            for model in train(training, names, epochs=EPOCHS, seed=seed):
                scores.append(model.score(inputs, testing.action))
            accuracy[label] = np.array(scores)
        by_node = [_accuracy_by_node(model, examples) for examples in by_opponent]
        weights = weights_of(model, FEATURE_SETS[LARGEST])
        matches = play_all(weights, budget, seed, processes, parts, progress)
        shares = np.bincount(testing.action, minlength=len(ACTIONS)) / len(testing.action)
        most = int(np.bincount(training.action).argmax())
        return NetworkResults(
            len(training.action),
            len(testing.action),
            shares,
            float(shares[most]),
            public_accuracy(training, testing),
            accuracy,
            np.array(by_node),
            matches,
        )

    def csv(self, results: NetworkResults) -> str:
        """A line for each epoch of each feature set, then one for each match."""
        lines: list[list[object]] = [["features", "epoch", "accuracy"]]
        for label, accuracy in results.accuracy.items():
            lines += [[label, epoch + 1, f"{share:.6g}"] for epoch, share in enumerate(accuracy)]
        lines.append(["most frequent action", "", f"{results.majority:.6g}"])
        lines.append(["most frequent action without cards", "", f"{results.without_cards:.6g}"])
        for opponent, nodes in zip(OPPONENTS, results.by_node, strict=True):
            for node, share in zip(("max", "min"), nodes, strict=True):
                lines.append([f"{LARGEST}: {opponent}, {node} nodes", EPOCHS, f"{share:.6g}"])
        head = ["equal", "iterations_random", "iterations_network", "won_mbb/h", "half_95", "hands"]
        lines += [[], [*head, "ms_network", "ms_random"]]
        for (budget, equal), each in results.matches.items():
            numbers = each.won.mean, each.won.half_95, each.won.hands
            took = each.milliseconds, each.milliseconds_random
            lines.append([equal, budget, each.iterations, *(f"{value:.6g}" for value in (*numbers, *took))])
        return csv_text(*lines)

    def table(self, results: NetworkResults) -> list[str]:
        shares = ", ".join(f"{name} {share:.1%}" for name, share in zip(ACTIONS, results.shares, strict=True))
        lines = [
            "## Accuracy",
            "",
            f"{results.training_examples:,} training examples and {results.test_examples:,} test examples; "
            f"actions of the latter: {shares}.",
            "",
            "| features, besides max/min node, available actions and street | after 1 epoch | best | "
            f"after {EPOCHS} epochs |",
            "|---|---|---|---|",
        ]
        for label, scores in results.accuracy.items():
            lines.append(f"| {label} | {scores[0]:.1%} | {scores.max():.1%} | {scores[-1]:.1%} |")
        lines += [
            f"| (most frequent action) | {results.majority:.1%} | | |",
            f"| (most frequent action given the public features) | {results.without_cards:.1%} | | |",
            "",
            "Accuracy of the network with all features, by kind of node:",
            "",
            "| hands against | max nodes | min nodes |",
            "|---|---|---|",
        ]
        for opponent, (own, other) in zip(OPPONENTS, results.by_node, strict=True):
            lines.append(f"| {opponent} | {own:.1%} | {other:.1%} |")
        lines += [
            "",
            "## Matches",
            "",
            "Expansion by this network against random expansion. Winnings of the network in mbb/h with 95% "
            "intervals.",
            "",
            "| equal | iterations, random | network | winnings | hands | ms a decision, random | network |",
            "|---|---|---|---|---|---|---|",
        ]
        for (budget, equal), each in results.matches.items():
            lines.append(
                f"| {equal} | {budget:,} | {each.iterations:,} | {each.won} | {each.won.hands:,} "
                f"| {each.milliseconds_random:.2f} | {each.milliseconds:.2f} |"
            )
        return lines

    def plot(self, results: NetworkResults, path: Path) -> None:
        """Accuracy by epoch, beside the matches."""
        baselines = {
            "most frequent action given the public features": results.without_cards,
            "most frequent action": results.majority,
        }
        matches = {
            f"{budget:,} iterations,\nequal {equal}": each.won.interval
            for (budget, equal), each in results.matches.items()
        }
        labels = (
            f"accuracy on {results.test_examples:,} examples",
            "winnings of the network (mbb/h, 95%)",
        )
        plot_network_accuracy(self.title, results.accuracy, baselines, matches, labels, path)


def _accuracy_by_node(model: Any, examples: Examples) -> list[float]:
    """Accuracy at max and at min nodes."""
    right = model.predict(examples.features[:, feature_columns(FEATURE_SETS[LARGEST])]) == examples.action
    own = examples.features[:, feature_columns([MAX_NODE])[0]] == 1.0
    return [float(right[own].mean()), float(right[~own].mean())]


def _judge(results: NetworkResults) -> list[Finding]:
    accuracy, found = results.accuracy, []
    for label in list(FEATURE_SETS)[:3]:
        claim = f"no visible improvement in prediction accuracy across epochs: {label}"
        found.append(_judge_gain(claim, accuracy[label][0], accuracy[label][-1], results.test_examples))
    both, *more = (accuracy[label][-1] for label in list(FEATURE_SETS)[2:])
    added = "pot size as a further feature changes", "pot size and the opponent's past actions change"
    for change, end in zip(added, more, strict=True):
        claim = f"{change} prediction accuracy little"
        found.append(_judge_gain(claim, both, end, results.test_examples))
    for (budget, equal), each in results.matches.items():
        claim = (
            f"random expansion performs as well, to {AS_WELL:g} mbb/h: {budget:,} iterations, equal {equal}"
        )
        measured = f"the network wins {each.won} mbb/h"
        found.append(Finding(claim, measured, is_within(each.won.interval, -AS_WELL, AS_WELL)))
    return found


def _judge_gain(claim: str, before: float, after: float, examples: int) -> Finding:
    """Whether accuracy rises by less than a plot would show; as if each were measured on its own examples."""
    half = SCORE_95 * math.sqrt((before * (1 - before) + after * (1 - after)) / examples)
    change = f"a change of {100 * (after - before):+.1f} ± {100 * half:.1f} points"
    gain = Interval(float(after - before), half)
    return Finding(claim, f"{before:.1%}, then {after:.1%}: {change}", is_below(gain, VISIBLE))


FIGURES_5_TO_7 = NetworkStudy(
    name="tau-figures-5-7",
    title="TAU, Figures 5 to 7: a neural network that selects the node to expand",
    paper=(
        'Ong, Baid, Suri & Soh, "Poker Agent with Monte Carlo Tree Search", section 5.1, Figures 5 to 7. '
        "Only the captions of the figures and the findings in the text were available to us."
    ),
    question=(
        "A tree search expands one untried action at a time. Can a network that was trained on the search's "
        "own decisions choose it better than chance does?"
    ),
    settings=(
        Setting(
            "examples",
            "320,000 pairs of features and action from hands that the search won: 300,000 to train, 20,000 "
            "to test; a third each from self-play, against random play and against always-raise",
            "the same; decisions of both seats, told apart by the feature max/min node",
        ),
        Setting("search", "iterations not given", f"`mcts`, {SEARCH_ITERATIONS} iterations a decision"),
        Setting("hand potential", "from 500 simulations", "exact"),
        Setting("network", "not described", "two layers of 32 and 16 units (scikit-learn)"),
        Setting("epochs", "in the figures, which we do not have", str(EPOCHS)),
        Setting("use", "selects the node to expand", "the untried action that is expanded first"),
        Setting("matches", "not described", "against random expansion, with equal iterations and equal time"),
    ),
    setup=(
        f"An improvement of accuracy is visible from {100 * VISIBLE:g} percentage point on; performing as "
        f"well means within {AS_WELL:g} mbb/h. Both limits are ours. Each deal is played in both seats."
    ),
    budget=20_000,
    quick_budget=400,
    examples=320_000,
    quick_examples=12_000,
    findings=_judge,
    remarks=(
        "The examples come from won hands, so they contain no fold at a max node. There the network can only "
        "learn when to call and when to raise, and it expands folding last. The paper also suspects its "
        "choice of won hands.\n\nThe iterations of equal time follow from times measured in the matches of "
        "equal iterations, so they differ from machine to machine."
    ),
    requires=HOUR,
)
