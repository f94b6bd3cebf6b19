"""PGC10, Table 1: tree search with and without an opponent model, against two programs."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from openfelt.arena.match import match
from openfelt.arena.match_blocks import FRESH
from openfelt.arena.result import Style
from openfelt.bots.search.mcts import INFOSETS, LINES
from openfelt.core.files import MANIFEST
from openfelt.core.workers import Workers
from openfelt.games.holdem import Holdem
from openfelt.hands.store import HandStore
from openfelt.opponents.models.files import new_model, save_model
from openfelt.opponents.models.observed import KNOWN, SHOWN, observed_hands
from openfelt.plots.intervals import Interval, IntervalPanel, plot_match_table
from openfelt.studies.experiment import Experiment
from openfelt.studies.files import csv_text, slug
from openfelt.studies.findings import Finding, is_above, is_below
from openfelt.studies.match_table import SCORE_95, Winnings, wins_more
from openfelt.studies.study import HOUR, Setting

ACE1, POKI = "ace1", "poki-like"
OPPONENTS = (ACE1, POKI)
ITERATIONS = 1_000  # a decision
C = 4  # chips: the paper's 2, which has no unit, read as small bets, the unit of its winnings
BIG_BETS = 8  # chips: the paper's 2 read as big bets
OTHER_C = (2, BIG_BETS, 10)  # chips
TRAINING_SEED = 1_000_000  # added to the seed: training games and matches have different deals
UNIT = "sb/h"

Progress = Callable[[int], object]


class SearchConfig(NamedTuple):
    """A search: its model, if any, the cards the model learned from, C in chips, and its tree's nodes."""

    kind: str = ""
    cards: str = KNOWN
    c: int = C
    nodes: str = LINES

    def name(self, folder: Path) -> str:
        """The name of the bot; `folder` holds its model."""
        search = f"c={self.c},iterations={ITERATIONS},nodes={self.nodes!r}"
        if not self.kind:
            return f"mcts({search})"
        return f"mcts-{self.kind}({search},model={folder.as_posix()!r},learn=False)"


class PublishedRow(NamedTuple):
    """A row of the paper's table."""

    seen_flops: float  # share of hands
    early_aggression: float
    late_aggression: float
    won: float  # sb/h
    games: int


PLAIN, MODEL = "no model", "relational model"
PAPERS = {PLAIN: SearchConfig(), MODEL: SearchConfig("relational")}
BIG = f", C = {BIG_BETS} chips"
OURS = ", tree of infosets"
SEARCHES = {
    **PAPERS,
    **{f"{label}{BIG}": each._replace(c=BIG_BETS) for label, each in PAPERS.items()},
    **{f"{label}{OURS}": each._replace(nodes=INFOSETS) for label, each in PAPERS.items()},
    f"relational model, cards of showdowns only{OURS}": SearchConfig("relational", SHOWN, nodes=INFOSETS),
    f"tally{OURS}": SearchConfig("tally", nodes=INFOSETS),
    f"tally, cards of showdowns only{OURS}": SearchConfig("tally", SHOWN, nodes=INFOSETS),
    **{
        f"{label}, C = {c} chips{OURS}": each._replace(c=c, nodes=INFOSETS)
        for c in OTHER_C
        for label, each in PAPERS.items()
    },
}
PUBLISHED = {
    (ACE1, PLAIN): PublishedRow(0.64, 0.5, 4.7, 1.09, 10_010),
    (ACE1, MODEL): PublishedRow(0.47, 7311, 8.3, 1.67, 10_010),
    (POKI, PLAIN): PublishedRow(0.945, 0.7, 1.9, -0.50, 10_304),
    (POKI, MODEL): PublishedRow(0.916, 0.2, 0.8, 0.06, 10_310),
}


@dataclass(frozen=True)
class SearchMatch:
    """The result of a match for the search."""

    won: Winnings  # sb/h
    style: Style

    @property
    def aggression(self) -> str:
        early, late = _ratio(self.style.early_aggression), _ratio(self.style.late_aggression)
        return f"{early} before the flop, {late} after"


SearchResults = Mapping[tuple[str, str], SearchMatch]  # by opponent and search


def difference(first: SearchMatch, second: SearchMatch) -> Winnings:
    """Difference of winnings, with the interval of independent matches although they share their deals."""
    one, other = first.won, second.won
    return Winnings(
        one.mean - other.mean,
        math.hypot(one.half_68, other.half_68),
        math.hypot(one.half_95, other.half_95),
        one.hands + other.hands,
    )


def without_model(search: str) -> str:
    """The label of the search with the same tree and C, and no model."""
    wanted = SEARCHES[search]._replace(kind="", cards=KNOWN)
    return next(label for label, each in SEARCHES.items() if each == wanted)


def _hands(label: str, budget: int) -> int:
    """Hands of a match: most with the paper's tree."""
    if SEARCHES[label].nodes == LINES:
        return budget
    return budget // (4 if label.removesuffix(OURS) in PAPERS else 10)


@dataclass(frozen=True, kw_only=True)
class ModelMatches(Experiment):
    """Fits models to games of the plain search, then plays with each of them; the models stay fixed."""

    training: int  # games that models are fitted to
    quick_training: int

    def _training(self, budget: int) -> int:
        return self.training if budget == self.budget else self.quick_training

    def planned_work(self, budget: int) -> int:
        matches = sum(_hands(label, budget) for label in SEARCHES)
        return len(OPPONENTS) * (self._training(budget) + matches)

    def run(
        self, *, budget: int, seed: int, processes: Workers, parts: Path, progress: Progress
    ) -> SearchResults:
        results = {}
        for opponent in OPPONENTS:
            self._fit_models(opponent, self._training(budget), seed, processes, parts, progress)
            for label, search in SEARCHES.items():
                result = match(
                    search.name(model_folder(parts, opponent, search)),
                    opponent,
                    hands=_hands(label, budget),
                    seed=seed,
                    processes=processes,
                    folder=parts / slug(f"{opponent} {label}"),
                    progress=progress,
                )
                style = result.scores[0].style
                assert style is not None
                results[opponent, label] = SearchMatch(Winnings.of_first_bot(result, UNIT), style)
        return results

    def _fit_models(
        self, opponent: str, games: int, seed: int, processes: Workers, parts: Path, progress: Progress
    ) -> None:
        """Play the training games, unless they are stored, and fit the models that are missing."""
        history = parts / f"{opponent}-training.db"
        history.unlink(missing_ok=True)  # it may be incomplete; stored games are written again
        parts.mkdir(parents=True, exist_ok=True)
        match(
            SearchConfig().name(parts),
            opponent,
            hands=games,
            seed=seed + TRAINING_SEED,
            dealing=FRESH,
            processes=processes,
            history=history,
            folder=parts / f"{opponent}-training",
            progress=progress,
        )
        for search in SEARCHES.values():
            folder = model_folder(parts, opponent, search)
            if search.kind and not (folder / MANIFEST).exists():
                model = new_model(search.kind, Holdem.key)
                with HandStore(history) as store:
                    model.fit(observed_hands(store.hands(opponent), opponent, Holdem.key, search.cards))
                save_model(model, folder, player=opponent)

    def csv(self, results: SearchResults) -> str:
        """A line for each match, with the paper's numbers where it has some."""
        columns = ("seen_flops", "preflop_aggression", "aggression", "won_sb/h")
        head = ["opponent", "player", *columns, "half_68", "half_95", "games"]
        lines = []
        for (opponent, search), each in results.items():
            style, won = each.style, each.won
            shares = (style.seen_flops, style.early_aggression, style.late_aggression)
            cells = [f"{number:.6g}" for number in (*shares, won.mean, won.half_68, won.half_95)]
            published = PUBLISHED.get((opponent, search), ("",) * len(PublishedRow._fields))
            lines.append([opponent, search, *cells, won.hands, *published])
        return csv_text([*head, *(f"paper_{column}" for column in (*columns, "games"))], rows=lines)

    def read_csv(self, text: str) -> SearchResults:
        results = {}
        for row in csv.DictReader(text.splitlines()):
            style = Style(*(float(row[key]) for key in ("seen_flops", "preflop_aggression", "aggression")))
            mean, half_68, half_95 = (float(row[key]) for key in ("won_sb/h", "half_68", "half_95"))
            won = Winnings(mean, half_68, half_95, int(row["games"]))
            results[row["opponent"], row["player"]] = SearchMatch(won, style)
        return results

    def table(self, results: SearchResults) -> list[str]:
        lines = [
            "## All matches",
            "",
            "All numbers are those of the search; winnings in sb/h with 95% intervals. In brackets: the "
            "paper's, which has no intervals; with winnings, how many standard errors ours are from it. SF: "
            "share of hands not folded before the flop. P-AGR, AGR: bets and raises per call, before the "
            "flop and after it.",
            "",
            "| opponent | search | SF | P-AGR | AGR | winnings | games |",
            "|---|---|---:|---:|---:|---:|---:|",
        ]
        for (opponent, search), each in results.items():
            style, published = each.style, PUBLISHED.get((opponent, search))
            ours = (
                f"{style.seen_flops:.3f}",
                _ratio(style.early_aggression),
                _ratio(style.late_aggression),
                str(each.won),
                f"{each.won.hands:,}",
            )
            brackets = [""] * len(ours)
            if published:
                away = (each.won.mean - published.won) / (each.won.half_95 / SCORE_95)
                texts = [f"{number:,}" for number in published]
                texts[PublishedRow._fields.index("won")] = f"{published.won:+}; {away:+.1f}"
                brackets = [f" ({text})" for text in texts]
            cells = " | ".join(map("".join, zip(ours, brackets, strict=True)))
            lines.append(f"| {opponent} | {search} | {cells} |")
        lines += ["", "## Gain by the model", "", f"| opponent | search | gain ({UNIT}) |", "|---|---|---:|"]
        for (opponent, search), each in results.items():
            if SEARCHES[search].kind:
                gain = difference(each, results[opponent, without_model(search)])
                theirs = f" ({_published_difference(opponent):+.2f})" if search == MODEL else ""
                lines.append(f"| {opponent} | {search} | {gain}{theirs} |")
        return lines

    def plot(self, results: SearchResults, path: Path) -> None:
        """A panel for each opponent."""
        panels = []
        for opponent in OPPONENTS:
            ours = {label: results[opponent, label].won.interval for label in SEARCHES}
            published = {label: Interval(PUBLISHED[opponent, label].won) for label in (PLAIN, MODEL)}
            panels.append(IntervalPanel(f"against {opponent}", ours, published))
        x_label = f"winnings of the search ({UNIT})"
        plot_match_table(self.title, list(SEARCHES), panels, x_label, path, published="paper")


def model_folder(parts: Path, opponent: str, search: SearchConfig) -> Path:
    """The folder of a search's model; searches that differ only in C share it."""
    return parts / f"{opponent}-{search.kind}-{search.cards}"


def _ratio(number: float) -> str:
    return "-" if math.isnan(number) else f"{number:.2f}"


def _published_difference(opponent: str) -> float:
    return PUBLISHED[opponent, MODEL].won - PUBLISHED[opponent, PLAIN].won


def _judge(results: SearchResults) -> list[Finding]:
    found, ours = [], []
    for label in (PLAIN, MODEL):
        won = results[ACE1, label].won
        claim = f"MCTS beats ACE1: {label} ({PUBLISHED[ACE1, label].won:+.2f} {UNIT})"
        found.append(Finding(claim, f"{won} {UNIT}", is_above(won.interval)))
    won = results[POKI, PLAIN].won
    claim = f"without a model it loses to Poki ({PUBLISHED[POKI, PLAIN].won:+.2f} {UNIT})"
    found.append(Finding(claim, f"{won} {UNIT}", is_below(won.interval)))
    won = results[POKI, MODEL].won
    claim = f"with the model it wins a little from Poki ({PUBLISHED[POKI, MODEL].won:+.2f} {UNIT})"
    found.append(Finding(claim, f"{won} {UNIT}", is_above(won.interval)))
    for opponent, name in ((ACE1, "ACE1"), (POKI, "Poki")):
        model, plain = results[opponent, MODEL], results[opponent, PLAIN]
        claim = f"the model adds {_published_difference(opponent):.2f} {UNIT} against {name}"
        holds = wins_more(model.won, plain.won)
        found.append(Finding(claim, f"{difference(model, plain)} {UNIT}", holds))
        model, plain = results[opponent, MODEL + BIG], results[opponent, PLAIN + BIG]
        claim = f"the same with C as 2 big bets, against {name}"
        holds = wins_more(model.won, plain.won)
        ours.append(Finding(claim, f"{difference(model, plain)} {UNIT}", holds, ours=True))
        model, plain = results[opponent, MODEL + OURS], results[opponent, PLAIN + OURS]
        claim = f"a model also makes a search over infosets stronger against {opponent}"
        holds = wins_more(model.won, plain.won)
        ours.append(Finding(claim, f"{difference(model, plain)} {UNIT}", holds, ours=True))
    model, plain = results[ACE1, MODEL], results[ACE1, PLAIN]
    holds = (
        model.style.early_aggression > plain.style.early_aggression
        and model.style.late_aggression > plain.style.late_aggression
    )
    claim = "with the model it is much more aggressive against ACE1"
    found.append(Finding(claim, f"{model.aggression}; without, {plain.aggression}", holds))
    won = results[POKI, MODEL + BIG].won
    claim = "with the model and C as 2 big bets it wins a little from Poki"
    return [*found, *ours, Finding(claim, f"{won} {UNIT}", is_above(won.interval), ours=True)]


TREES = "betting lines, our reading; in further rows infosets: the line and the bucket of the hand"
TRAINED = "against the search without a model"

PGC10_TABLE_1 = ModelMatches(
    name="pgc10-table-1",
    title="PGC10, Table 1: tree search with and without an opponent model",
    paper=(
        'Ponsen, Gerritsen & Chaslot, "Integrating Opponent Models with Monte-Carlo Tree Search in Poker" '
        "(2010), Table 1. Poki is closed-source; ACE1 is rebuilt from the paper's description."
    ),
    question=(
        "Does a model of the opponent, learned from its games, make a tree search stronger? The search plays "
        "a weak rule-based program and a stronger one, with and without a model."
    ),
    settings=(
        Setting("iterations of a decision", "1,000", f"{ITERATIONS:,}"),
        Setting("nodes of the search tree", "states of the game; cards are sampled", TREES),
        Setting("rollouts", "all players call", "the same"),
        Setting("C", "2, without a unit", f"{C} chips, 2 small bets; further rows with 2, {BIG_BETS} and 10"),
        Setting(
            "games that models are learned from", "5,000, against an unknown player", "5,000, " + TRAINED
        ),
        Setting("cards in these games", "not said", "all known; in further rows those of showdowns"),
        Setting("learning while playing", "none", "none"),
        Setting("ACE1", "rules of the authors", "[`ace1`](../bots.md), by the paper's description"),
        Setting("Poki", "the bot Anders of Poker Academy", "[`poki-like`](../bots.md), a stand-in"),
        Setting("dealing", "not said", "each deal in both seats; the same deals for all searches"),
    ),
    setup=(
        "The first four rows of each opponent have the paper's tree as we read it; its claims are judged by "
        f"the first two. C = {C} was chosen after a trial of 2,000 games on other deals, with infosets. "
        "In that tree a plan for later streets cannot depend on cards that are still to come. Our own search "
        "has infosets as nodes, in which a later decision depends on the bucket of the hand. The interval of "
        "a difference treats its two matches as independent."
    ),
    budget=40_000,
    quick_budget=40,
    training=5_000,
    quick_training=200,
    findings=_judge,
    remarks=(
        "C decides much, and the paper gives it no unit. Read as 2 small bets, the search with the model "
        "loses to the stand-in for Poki; read as 2 big bets it wins a little, as in the paper, and its "
        "winnings from ACE1 are close to the paper's, too. Without a model, winnings from ACE1 stay below "
        "the paper's with either reading. Without a model, a search over infosets folds less and raises "
        "more before the flop."
    ),
    requires=HOUR,
)
