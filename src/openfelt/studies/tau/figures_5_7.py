"""TAU, section 5.1 with figures 5 to 7: a neural network that says which node of a search to expand."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openfelt.arena.match import Progress
from openfelt.core.jit import Floats
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
from openfelt.plots.figure import COLOURS, new_figure, save_figure
from openfelt.studies.match_study import MatchStudy
from openfelt.studies.study import Finding
from openfelt.studies.tau.examples import (
    OPPONENTS,
    PUBLIC,
    THINKING,
    by_public,
    collect_all,
    joined,
    split,
)
from openfelt.studies.tau.expansion import BUDGETS, Outcome, meet_all, own_features

EPOCHS = 20
EXAMPLES_OF_HAND = 3  # about so many, on average over the three opponents
SETS = {
    "hand potential (figure 5)": (POTENTIAL, *PUBLIC),
    "Chen formula (figure 6)": (CHEN, *PUBLIC),
    "both (figure 7)": (POTENTIAL, CHEN, *PUBLIC),
    "both, pot size": (POTENTIAL, CHEN, *PUBLIC, POT),
    "both, pot size, opponent's actions": (POTENTIAL, CHEN, *PUBLIC, POT, OPPONENT),
}
FULLEST = list(SETS)[-1]
VISIBLE = 0.01  # of accuracy, what would be seen on a plot


@dataclass(frozen=True)
class Results:
    """Everything that is measured."""

    examples: int  # for training
    tested: int
    shares: Floats  # [3] of the actions among those for testing
    majority: float  # accuracy of the most frequent action
    without_cards: float  # and of the most frequent one given all that is public in figures 5 to 7
    accuracy: dict[str, Floats]  # by set, [epochs]
    where: Floats  # [opponents, 2] of the network that plays, in the end, at max and at min nodes
    outcomes: dict[tuple[int, str], Outcome]  # by budget and what is equal


@dataclass(frozen=True, kw_only=True)
class NetworkStudy(MatchStudy):
    """Collects, trains, and plays."""

    examples: int
    quick_examples: int

    def _examples(self, hands: int) -> int:
        return self.examples if hands == self.hands else self.quick_examples

    def check(self) -> None:
        """Is scikit-learn there?"""
        classifier()

    def planned(self, hands: int) -> int:
        matches = sum(2 * int(hands * share) for share in BUDGETS.values())
        return matches + self._examples(hands) // EXAMPLES_OF_HAND

    def play(self, *, hands: int, seed: int, processes: int, parts: Path, progress: Progress) -> Results:
        features, told = own_features(), [0, 0]

        def tell(examples: int) -> None:
            told[0] += examples
            progress(told[0] // EXAMPLES_OF_HAND - told[1])
            told[1] = told[0] // EXAMPLES_OF_HAND

        collected = collect_all(features, self._examples(hands), seed=seed, folder=parts, progress=tell)
        training, pieces = split(collected)
        testing = joined(pieces)
        accuracy, model = {}, None
        for label, names in SETS.items():
            seen, found = testing.features[:, feature_columns(names)], []
            for model in train(training, names, epochs=EPOCHS, seed=seed):
                found.append(model.score(seen, testing.action))
            accuracy[label] = np.array(found)
        where = [_at_nodes(model, piece) for piece in pieces]
        outcomes = meet_all(weights_of(model, SETS[FULLEST]), hands, seed, processes, parts, progress)
        shares = np.bincount(testing.action, minlength=len(ACTIONS)) / len(testing.action)
        most = int(np.bincount(training.action).argmax())
        return Results(
            len(training.action),
            len(testing.action),
            shares,
            float(shares[most]),
            by_public(training, testing),
            accuracy,
            np.array(where),
            outcomes,
        )

    def csv(self, results: Results) -> str:
        """A line for each epoch of each set, then one for each match."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["features", "epoch", "accuracy"])
        for label, accuracy in results.accuracy.items():
            writer.writerows([label, epoch + 1, f"{share:.6g}"] for epoch, share in enumerate(accuracy))
        writer.writerow(["most frequent action", "", f"{results.majority:.6g}"])
        writer.writerow(["most frequent action without cards", "", f"{results.without_cards:.6g}"])
        for opponent, nodes in zip(OPPONENTS, results.where, strict=True):
            for node, share in zip(("max", "min"), nodes, strict=True):
                writer.writerow([f"{FULLEST}: {opponent}, {node} nodes", EPOCHS, f"{share:.6g}"])
        writer.writerow([])
        words = ("equal", "iterations_random", "iterations_network", "won_mbb/h", "half_95", "hands")
        writer.writerow([*words, "ms_network", "ms_random"])
        for (budget, equal), each in results.outcomes.items():
            numbers = each.won.mean, each.won.half_95, each.won.hands
            took = each.milliseconds, each.milliseconds_of_chance
            cells = [f"{number:.6g}" for number in (*numbers, *took)]
            writer.writerow([equal, budget, each.iterations, *cells])
        return text.getvalue()

    def table(self, results: Results) -> list[str]:
        shares = ", ".join(f"{name} {share:.1%}" for name, share in zip(ACTIONS, results.shares, strict=True))
        lines = [
            "## Accuracy",
            "",
            f"{results.examples:,} examples for training, {results.tested:,} for testing, of which {shares}.",
            "",
            "| features, with max/min node, actions available and street | after one epoch | the best | "
            f"after {EPOCHS} |",
            "|---|---|---|---|",
        ]
        for label, found in results.accuracy.items():
            lines.append(f"| {label} | {found[0]:.1%} | {found.max():.1%} | {found[-1]:.1%} |")
        lines += [
            f"| (always the most frequent action) | {results.majority:.1%} | | |",
            f"| (the most frequent action, without cards) | {results.without_cards:.1%} | | |",
            "",
            "The last network, whose features are the most, by where the decision was:",
            "",
            "| hands against | at max nodes | at min nodes |",
            "|---|---|---|",
        ]
        for opponent, (own, other) in zip(OPPONENTS, results.where, strict=True):
            lines.append(f"| {opponent} | {own:.1%} | {other:.1%} |")
        lines += [
            "",
            "## Matches",
            "",
            "This network against chance, in mbb/h with 95% intervals.",
            "",
            "| equal | iterations, chance | network | won | hands | ms a decision, chance | network |",
            "|---|---|---|---|---|---|---|",
        ]
        for (budget, equal), each in results.outcomes.items():
            lines.append(
                f"| {equal} | {budget:,} | {each.iterations:,} | {each.won} | {each.won.hands:,} "
                f"| {each.milliseconds_of_chance:.2f} | {each.milliseconds:.2f} |"
            )
        return lines

    def plot(self, results: Results, path: Path) -> None:
        """Accuracy by epoch beside the matches."""
        figure = new_figure(12.0, 4.6)
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        epochs = range(1, EPOCHS + 1)
        for colour, (label, accuracy) in zip((*COLOURS, "#b8860b"), results.accuracy.items(), strict=True):
            left.plot(epochs, accuracy, color=colour, label=label, linewidth=1.6)
        for height, style, label in (
            (results.without_cards, "--", "most frequent action, without cards"),
            (results.majority, ":", "most frequent action"),
        ):
            left.axhline(height, color="grey", linestyle=style, label=label)
        left.xaxis.get_major_locator().set_params(integer=True)
        left.set_xlabel("epochs")
        left.set_ylabel(f"accuracy on {results.tested:,} examples")
        left.grid(alpha=0.25)
        left.legend(fontsize=8, frameon=False)
        names = [f"{budget:,} iterations,\nequal {equal}" for budget, equal in results.outcomes]
        for height, each in enumerate(results.outcomes.values()):
            right.errorbar(each.won.mean, height, xerr=each.won.half_95, fmt="o", color=COLOURS[0])
        right.axvline(0.0, color="grey", linewidth=0.8)
        right.set_yticks(range(len(names)), names, fontsize=8)
        right.set_ylim(len(names) - 0.5, -0.5)
        right.set_xlabel("won by the network against chance, mbb/h (95%)")
        right.grid(axis="x", alpha=0.25)
        figure.suptitle(self.title, fontsize=10)
        save_figure(figure, path)


def _at_nodes(model: Any, examples: Examples) -> list[float]:
    """Accuracy at max and at min nodes."""
    right = model.predict(examples.features[:, feature_columns(SETS[FULLEST])]) == examples.action
    own = examples.features[:, feature_columns([MAX_NODE])[0]] == 1.0
    return [float(right[own].mean()), float(right[~own].mean())]


def _findings(results: Results) -> list[Finding]:
    accuracy, found = results.accuracy, []
    for label in list(SETS)[:3]:
        first, last = accuracy[label][0], accuracy[label][-1]
        text = f"no visible improvements in prediction accuracy across epochs: {label}"
        found.append(Finding(text, f"{first:.1%}, then {last:.1%}", bool(last - first < VISIBLE)))
    end = [float(accuracy[label][-1]) for label in list(SETS)[2:]]
    found.append(
        Finding(
            "with pot size and the opponent's past actions the results are mostly similar",
            f"{end[1]:.1%} and {end[2]:.1%} instead of {end[0]:.1%}",
            max(end) - end[0] < VISIBLE,
        )
    )
    for (budget, equal), each in results.outcomes.items():
        text = f"choosing at random performs as well: {budget:,} iterations, equal {equal}"
        ours = f"the network wins {each.won} mbb/h"
        found.append(Finding(text, ours, each.won.mean <= each.won.half_95))
    return found


FIGURES_5_TO_7 = NetworkStudy(
    name="tau-figures-5-7",
    title="TAU, figures 5 to 7: a neural network to choose the node to expand",
    paper=(
        'Ong, Baid, Suri & Soh, "Poker Agent with Monte Carlo Tree Search", section 5.1, figures 5 to 7. Of '
        "the figures only the captions and the findings in words are known here."
    ),
    setting=(
        "As in the paper: 320,000 (features, action) examples of hands that the searcher won, 300,000 for "
        "training and 20,000 for testing, a third each from self-play, against `random` and against "
        "`always-raise`; decisions of both seats, which max/min node tells apart. The searcher is `mcts` "
        f"with {THINKING} iterations a decision. Hand potential is exact instead of 500 simulations. The "
        "paper does not tell its network; ours has two layers of 32 and 16 units (scikit-learn). Then the "
        "network says which untried action of a row the search tries first, against a search that tries "
        "them at random, with as many iterations a decision, and with as many as take as long. Each deal is "
        "played in both seats."
    ),
    hands=20_000,
    quick_hands=400,
    examples=320_000,
    quick_examples=12_000,
    findings=_findings,
    remarks=(
        "A winner has never folded, so among the examples nobody folds at a max node: the network can only "
        "learn there when to call and when to raise, and it tries folding last. The paper suspects its "
        "choice of won hands too.\n\nHow many iterations take as long was measured in the matches of equal "
        "iterations, so another machine will find other numbers in the matches of equal time."
    ),
    needs="an hour",
)
