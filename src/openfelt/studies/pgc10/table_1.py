"""PGC10, Table 1: tree search with and without a model of the opponent, against two programs."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from openfelt.arena.contest import FRESH
from openfelt.arena.match import match
from openfelt.arena.result import Style
from openfelt.core.files import MANIFEST
from openfelt.games.holdem import Holdem
from openfelt.hands.store import HandStore
from openfelt.opponents.models.files import new_model, save_model
from openfelt.opponents.models.observed import KNOWN, SHOWN, observed_hands
from openfelt.plots.figure import COLOURS, new_figure, save_figure
from openfelt.studies.match_study import MatchStudy
from openfelt.studies.match_table import PER_UNIT, Measured, more
from openfelt.studies.study import Finding

ACE1, POKI = "ace1", "poki-like"
OPPONENTS = (ACE1, POKI)
ITERATIONS = 1_000  # a decision
C = 4  # chips: the paper's 2, which has no unit, as small bets, in which it tells all winnings
OTHER_C = (2, 10)  # chips
TRAINING_SEED = 1_000_000  # away from that of the matches: what was learned from is not played again
UNIT = "sb/h"

Progress = Callable[[int], object]


class Player(NamedTuple):
    """A way to play: by which model, if any, learned from which cards."""

    kind: str = ""
    cards: str = KNOWN
    c: int = C

    def name(self, folder: Path) -> str:
        """Of the bot; `folder` has its model."""
        search = f"c={self.c},iterations={ITERATIONS}"
        if not self.kind:
            return f"mcts({search})"
        return f"mcts-{self.kind}({search},model={folder.as_posix()!r},learn=False)"


class Printed(NamedTuple):
    """A row of the paper's table."""

    seen_flops: float
    early_aggression: float
    late_aggression: float
    won: float  # sb/h
    games: int


PLAIN, MODEL = "no model", "relational model"
PLAYERS = {
    PLAIN: Player(),
    MODEL: Player("relational"),
    "relational model, cards of showdowns only": Player("relational", SHOWN),
    "tally": Player("tally"),
    "tally, cards of showdowns only": Player("tally", SHOWN),
    **{
        f"{label}, C = {c} chips": Player(kind, c=c)
        for c in OTHER_C
        for label, kind in ((PLAIN, ""), (MODEL, "relational"))
    },
}
PRINTED = {
    (ACE1, PLAIN): Printed(0.64, 0.5, 4.7, 1.09, 10_010),
    (ACE1, MODEL): Printed(0.47, 7311, 8.3, 1.67, 10_010),
    (POKI, PLAIN): Printed(0.945, 0.7, 1.9, -0.50, 10_304),
    (POKI, MODEL): Printed(0.916, 0.2, 0.8, 0.06, 10_310),
}


@dataclass(frozen=True)
class Line:
    """What came out of a match."""

    won: Measured  # sb/h
    style: Style

    @property
    def aggression(self) -> str:
        early, late = _ratio(self.style.early_aggression), _ratio(self.style.late_aggression)
        return f"{early} before the flop, {late} after"


Results = Mapping[tuple[str, str], Line]  # by opponent and player


def difference(first: Line, second: Line) -> Measured:
    """What the first won more; as if the two matches were independent, though they share their deals."""
    one, other = first.won, second.won
    return Measured(
        one.mean - other.mean,
        math.hypot(one.half_68, other.half_68),
        math.hypot(one.half_95, other.half_95),
        one.hands + other.hands,
    )


def base_of(player: str) -> str:
    """The player without a model that one with a model is set beside."""
    wanted = Player(c=PLAYERS[player].c)
    return next(label for label, each in PLAYERS.items() if each == wanted)


def _hands(label: str, hands: int) -> int:
    """Of a match: the paper's rows are the long ones."""
    return hands if label in (PLAIN, MODEL) else hands * 2 // 5


@dataclass(frozen=True, kw_only=True)
class ModelMatches(MatchStudy):
    """Learns models from games of the plain search, then plays with each of them, frozen."""

    training: int  # games from which models are learned
    quick_training: int

    def _training(self, hands: int) -> int:
        return self.training if hands == self.hands else self.quick_training

    def planned(self, hands: int) -> int:
        matches = sum(_hands(label, hands) for label in PLAYERS)
        return len(OPPONENTS) * (self._training(hands) + matches)

    def play(self, *, hands: int, seed: int, processes: int, parts: Path, progress: Progress) -> Results:
        found = {}
        for opponent in OPPONENTS:
            self._learn(opponent, self._training(hands), seed, processes, parts, progress)
            for label, player in PLAYERS.items():
                result = match(
                    player.name(model_folder(parts, opponent, player)),
                    opponent,
                    hands=_hands(label, hands),
                    seed=seed,
                    processes=processes,
                    folder=parts / _word(f"{opponent} {label}"),
                    progress=progress,
                )
                score = result.scores[0]
                won, scale = result.amount(score.won), PER_UNIT[UNIT]
                assert score.style is not None
                found[opponent, label] = Line(
                    Measured(
                        won.mean * scale, won.interval(0.68) * scale, won.interval() * scale, result.hands
                    ),
                    score.style,
                )
        return found

    def _learn(
        self, opponent: str, games: int, seed: int, processes: int, parts: Path, progress: Progress
    ) -> None:
        """Play the games, unless they are kept, and learn those models that are missing."""
        history = parts / f"{opponent}-training.db"
        history.unlink(missing_ok=True)  # it may have been cut off; games that are kept are written again
        parts.mkdir(parents=True, exist_ok=True)
        match(
            Player().name(parts),
            opponent,
            hands=games,
            seed=seed + TRAINING_SEED,
            dealing=FRESH,
            processes=processes,
            history=history,
            folder=parts / f"{opponent}-training",
            progress=progress,
        )
        for player in PLAYERS.values():
            folder = model_folder(parts, opponent, player)
            if player.kind and not (folder / MANIFEST).exists():
                model = new_model(player.kind, Holdem.key)
                with HandStore(history) as store:
                    model.fit(observed_hands(store.hands(opponent), opponent, Holdem.key, player.cards))
                save_model(model, folder, player=opponent)

    def csv(self, results: Results) -> str:
        """A line for each match, with the paper's numbers where it has some."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        words = ("seen_flops", "preflop_aggression", "aggression", "won_sb/h")
        writer.writerow(
            [
                *("opponent", "player", *words, "half_95", "games"),
                *(f"paper_{word}" for word in (*words, "games")),
            ]
        )
        for (opponent, player), line in results.items():
            style, won = line.style, line.won
            numbers = (style.seen_flops, style.early_aggression, style.late_aggression, won.mean, won.half_95)
            cells = [f"{number:.6g}" for number in numbers]
            printed = PRINTED.get((opponent, player), ("",) * len(Printed._fields))
            writer.writerow([opponent, player, *cells, won.hands, *printed])
        return text.getvalue()

    def table(self, results: Results) -> list[str]:
        lines = [
            "## All matches",
            "",
            "Of the searching bot; sb/h with 95% intervals; in brackets the paper's. SF: the share of hands "
            "that it did not fold before the flop. P-AGR, AGR: bets and raises for each call, before the "
            "flop and after it.",
            "",
            "| against | player | SF | P-AGR | AGR | sb/h | games |",
            "|---|---|---:|---:|---:|---:|---:|",
        ]
        for (opponent, player), line in results.items():
            style, printed = line.style, PRINTED.get((opponent, player))
            ours = (
                f"{style.seen_flops:.3f}",
                _ratio(style.early_aggression),
                _ratio(style.late_aggression),
                str(line.won),
                f"{line.won.hands:,}",
            )
            brackets = [f" ({number:,})" for number in printed] if printed else [""] * len(ours)
            cells = " | ".join(map("".join, zip(ours, brackets, strict=True)))
            lines.append(f"| {opponent} | {player} | {cells} |")
        lines += ["", "## What a model adds", "", f"| against | player | {UNIT} |", "|---|---|---:|"]
        for (opponent, player), line in results.items():
            if PLAYERS[player].kind:
                more_won = difference(line, results[opponent, base_of(player)])
                theirs = f" ({_published_difference(opponent):+.2f})" if player == MODEL else ""
                lines.append(f"| {opponent} | {player} | {more_won}{theirs} |")
        return lines

    def plot(self, results: Results, path: Path) -> None:
        """A panel for each opponent: ours beside the paper's."""
        labels = list(PLAYERS)
        figure = new_figure(11.0, 4.6)
        axes = figure.subplots(1, len(OPPONENTS), sharey=True)
        for panel, opponent in zip(axes, OPPONENTS, strict=True):
            won = [results[opponent, label].won for label in labels]
            panel.errorbar(
                [each.mean for each in won],
                range(len(labels)),
                xerr=[each.half_95 for each in won],
                fmt="o",
                color=COLOURS[0],
                label="here, 95%",
            )
            printed = [(PRINTED[opponent, label].won, labels.index(label)) for label in (PLAIN, MODEL)]
            panel.plot(
                [won for won, _ in printed],
                [height + 0.2 for _, height in printed],
                "D",
                color=COLOURS[1],
                markerfacecolor="white",
                label="the paper",
            )
            panel.axvline(0.0, color="grey", linewidth=0.8)
            panel.set_title(f"against {opponent}", fontsize=9)
            panel.set_xlabel(f"won by the search, {UNIT}")
            panel.set_yticks(range(len(labels)), labels, fontsize=8)
            panel.grid(axis="x", alpha=0.25)
        axes[0].set_ylim(len(labels) - 0.5, -0.5)  # the first row at the top
        figure.legend(*axes[0].get_legend_handles_labels(), fontsize=8, loc="outside lower center", ncols=2)
        figure.suptitle(self.title, fontsize=10)
        save_figure(figure, path)


def model_folder(parts: Path, opponent: str, player: Player) -> Path:
    """Where a player's model is kept; players that differ in the search alone share one."""
    return parts / f"{opponent}-{player.kind}-{player.cards}"


def _word(text: str) -> str:
    return re.sub(r"[^0-9A-Za-z]+", "-", text).strip("-")


def _ratio(number: float) -> str:
    return "-" if math.isnan(number) else f"{number:.2f}"


def _published_difference(opponent: str) -> float:
    return PRINTED[opponent, MODEL].won - PRINTED[opponent, PLAIN].won


def _findings(results: Results) -> list[Finding]:
    found = []
    for label in (PLAIN, MODEL):
        won = results[ACE1, label].won
        text = f"MCTS beats ACE1: {label} ({PRINTED[ACE1, label].won:+.2f} {UNIT})"
        found.append(Finding(text, f"{won} {UNIT}", won.mean > won.half_95))
    won = results[POKI, PLAIN].won
    text = f"without a model it loses to Poki ({PRINTED[POKI, PLAIN].won:+.2f} {UNIT})"
    found.append(Finding(text, f"{won} {UNIT}", won.mean < -won.half_95))
    won = results[POKI, MODEL].won
    text = f"with the model it wins from Poki by a small margin ({PRINTED[POKI, MODEL].won:+.2f} {UNIT})"
    found.append(Finding(text, f"{won} {UNIT}", won.mean > won.half_95))
    for opponent, name in ((ACE1, "ACE1"), (POKI, "Poki")):
        line, base = results[opponent, MODEL], results[opponent, PLAIN]
        text = f"the model adds {_published_difference(opponent):.2f} {UNIT} against {name}"
        found.append(Finding(text, f"{difference(line, base)} {UNIT}", more(line.won, base.won)))
    line, base = results[ACE1, MODEL], results[ACE1, PLAIN]
    holds = (
        line.style.early_aggression > base.style.early_aggression
        and line.style.late_aggression > base.style.late_aggression
    )
    text = "with the model it is much more aggressive against ACE1"
    found.append(Finding(text, f"{line.aggression}; without, {base.aggression}", holds))
    return found


PGC10_TABLE_1 = ModelMatches(
    name="pgc10-table-1",
    title="PGC10, Table 1: tree search with and without a model of the opponent",
    paper=(
        'Ponsen, Gerritsen & Chaslot, "Integrating Opponent Models with Monte-Carlo Tree Search in Poker" '
        "(2010), Table 1. Poki is closed; ACE1 is rebuilt from the paper's words."
    ),
    setting=(
        f"A search of {ITERATIONS:,} iterations a decision. The model is learned from 5,000 games of each "
        "opponent against the search without a model (the paper does not say against whom), with all cards "
        "known, and then frozen. Besides, with the cards of showdowns only, and with TAU's tally. The "
        f"paper's C = 2 has no unit: it is taken as 2 small bets, {C} chips (decided after a trial of 2,000 "
        f"games with {OTHER_C[0]}, {C} and {OTHER_C[1]} chips, on other deals); the others have rows of "
        "their own. The opponents are [`ace1` and `poki-like`](../bots.md). Each deal is played in both "
        "seats, and all matches share their deals; the games for learning had others. The interval of a "
        "difference takes its two matches as independent."
    ),
    hands=10_000,
    quick_hands=40,
    training=5_000,
    quick_training=200,
    findings=_findings,
    needs="half an hour",
)
