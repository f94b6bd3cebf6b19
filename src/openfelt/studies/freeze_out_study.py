"""A study whose numbers come from freeze-outs: who wins how many games, and how much a hand."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openfelt.arena.freeze_out.freeze_out import CHIP, freeze_out
from openfelt.arena.freeze_out.result import FreezeOutGame, FreezeOutResult
from openfelt.arena.statistics.intervals import Estimate, Moments, estimate
from openfelt.plots.figure import COLOURS, new_figure, save_figure
from openfelt.studies.match_study import MatchStudy

LEAST_GAMES = 2  # of a pairing
EVEN = 0.5

Progress = Callable[[int], object]


class Pairing(NamedTuple):
    """Two bots; what the first wins is told."""

    label: str
    bots: tuple[str, str]
    games: int
    length: int  # hands in a game, at most
    published: float | None = None  # win rate


@dataclass(frozen=True)
class Outcome:
    """Of the games of a pairing, for the first of the bots."""

    games: int
    hands: int
    rate: float  # of games won
    interval: tuple[float, float]  # of 95%
    chips: Estimate  # won a hand
    dollars: Estimate  # won a game
    ruined: int  # games in which the other lost all
    until_ruin: float  # hands in such a game, in the mean
    milliseconds: float  # a decision

    @property
    def is_more(self) -> bool:
        """Whether the first wins more than half of the games, beyond the interval."""
        return self.interval[0] > EVEN

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.rate:.1%} ({low:.0%} to {high:.0%})"

    @property
    def per_hand(self) -> str:
        return f"{self.chips.mean:+.3f} ± {self.chips.interval():.3f}"


Results = Mapping[str, Outcome]  # by label


def chips_per_hand(games: Sequence[FreezeOutGame], stack: int) -> Estimate:
    """What the first won for each hand: a ratio of sums, as games differ in length (Cochran 1977, 2.11)."""
    won = np.array([game.stacks[0] - stack for game in games]) / CHIP
    hands = np.array([game.hands for game in games], float)
    ratio = float(won.sum() / hands.sum())
    around = estimate(Moments.of((won - ratio * hands)[:, None]), 0)
    return Estimate(ratio, around.error / float(hands.mean()), around.freedom)


def outcome_of(result: FreezeOutResult) -> Outcome:
    """What games say of the first bot."""
    score, ruins = result.scores[0], [game.hands for game in result.games if game.stacks[1] == 0]
    return Outcome(
        len(result.games),
        result.hands,
        score.rate,
        score.interval,
        chips_per_hand(result.games, result.stack),
        score.won,
        len(ruins),
        float(np.mean(ruins)) if ruins else math.nan,
        score.stats.mean_milliseconds,
    )


@dataclass(frozen=True, kw_only=True)
class FreezeOutStudy(MatchStudy):
    """Pairings that play freeze-outs; `hands` are those of a pairing, at most."""

    pairings: tuple[Pairing, ...]
    first: str  # whose win rate it is
    axis: str  # what the pairings differ in

    def _sizes(self, pairing: Pairing, hands: int) -> tuple[int, int]:
        """How many games, and hands in each at most."""
        length = max(1, min(pairing.length, hands // LEAST_GAMES))
        return min(pairing.games, max(LEAST_GAMES, hands // length)), length

    def planned(self, hands: int) -> int:
        return sum(math.prod(self._sizes(pairing, hands)) for pairing in self.pairings)

    def play(self, *, hands: int, seed: int, processes: int, parts: Path, progress: Progress) -> Results:
        found = {}
        for pairing in self.pairings:
            games, length = self._sizes(pairing, hands)
            result = freeze_out(
                *pairing.bots,
                games=games,
                hands=length,
                seed=seed,
                limit=math.inf,
                processes=processes,
                folder=parts / re.sub(r"[^0-9A-Za-z]+", "-", pairing.label).strip("-"),
                progress=progress,
            )
            progress(games * length - result.hands)  # of games that ended early
            found[pairing.label] = outcome_of(result)
        return found

    def csv(self, results: Results) -> str:
        """A line for each pairing."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(
            [
                *("pairing", "first", "second", "games", "hands", "win_rate", "low_95", "high_95"),
                *("chips_per_hand", "half_95", "dollars_per_game", "half_95", "second_broke"),
                *("hands_until_broke", "ms_per_decision", "paper_win_rate"),
            ]
        )
        for pairing in self.pairings:
            each = results[pairing.label]
            numbers = (
                *(each.rate, *each.interval, each.chips.mean, each.chips.interval()),
                *(each.dollars.mean, each.dollars.interval(), each.ruined, each.until_ruin),
                each.milliseconds,
            )
            cells = [*(f"{number:.6g}" for number in numbers)]
            writer.writerow([pairing.label, *pairing.bots, each.games, each.hands, *cells, pairing.published])
        return text.getvalue()

    def table(self, results: Results) -> list[str]:
        lines = [
            "## All pairings",
            "",
            f"Games won by {self.first}, where a draw is half a win, with 95% intervals (Wilson); chips won "
            f"a hand, and dollars won a game. A chip is ${CHIP}.",
            "",
            f"| {self.axis} | games won | the paper | chips a hand | $ a game | games | hands | "
            "ms a decision |",
            "|---|---:|---:|---:|---:|---:|---:|---:|",
        ]
        for pairing in self.pairings:
            each = results[pairing.label]
            theirs = "" if pairing.published is None else f"{pairing.published:.0%}"
            money = f"{each.dollars.mean:+,.0f} ± {each.dollars.interval():,.0f}"
            lines.append(
                f"| {pairing.label} | {each} | {theirs} | {each.per_hand} | {money} | {each.games:,} "
                f"| {each.hands:,} | {each.milliseconds:.2f} |"
            )
        return lines

    def plot(self, results: Results, path: Path) -> None:
        """Bars of the win rate, as in the paper, above what was won a hand."""
        found = [results[pairing.label] for pairing in self.pairings]
        places = np.arange(len(found))
        figure = new_figure(8.6, 6.4)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        rates = 100 * np.array([each.rate for each in found])
        low, high = 100 * np.array([each.interval for each in found]).T
        spans = np.maximum(0.0, [rates - low, high - rates])
        above.bar(places, rates, yerr=spans, color=COLOURS[0], alpha=0.85, capsize=3, label="here, 95%")
        printed = [
            (place, 100 * pairing.published)
            for place, pairing in enumerate(self.pairings)
            if pairing.published is not None
        ]
        if printed:
            above.plot(*zip(*printed, strict=True), "D", color=COLOURS[1], label="the paper")
            above.legend(fontsize=8, frameon=False)
        above.axhline(100 * EVEN, color="grey", linewidth=0.8)
        above.set_ylim(0, 105)
        above.set_ylabel(f"games won by\n{self.first}, %")
        chips = [each.chips for each in found]
        below.errorbar(
            places,
            [each.mean for each in chips],
            yerr=[each.interval() for each in chips],
            fmt="o",
            color=COLOURS[0],
        )
        below.axhline(0.0, color="grey", linewidth=0.8)
        below.set_ylabel("won, chips a hand (95%)")
        below.set_xticks(
            places, [pairing.label.replace(" (", "\n(") for pairing in self.pairings], fontsize=8
        )
        below.set_xlabel(self.axis)
        for panel in (above, below):
            panel.grid(axis="y", alpha=0.25)
        figure.suptitle(self.title, fontsize=10)
        save_figure(figure, path)
