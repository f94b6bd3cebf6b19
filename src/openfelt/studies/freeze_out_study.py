"""Studies of freeze-outs: the share of games that a bot wins, and its winnings a hand."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openfelt.arena.freeze_out.freeze_out import CHIP, freeze_out
from openfelt.arena.freeze_out.result import FreezeOutGame, FreezeOutResult
from openfelt.arena.statistics.estimates import Estimate, Moments, estimate
from openfelt.core.workers import Workers
from openfelt.plots.intervals import Interval
from openfelt.plots.win_rates import WinRate, plot_win_rates
from openfelt.studies.experiment import Experiment
from openfelt.studies.files import csv_text, slug
from openfelt.studies.findings import rate_is_above

MIN_GAMES = 2  # of a pairing
EVEN = 0.5


class Pairing(NamedTuple):
    """Two bots; results are those of the first."""

    label: str
    bots: tuple[str, str]
    games: int
    length: int  # hands in a game, at most
    published: float | None = None  # win rate
    series: str = ""  # pairings of several series have the same labels

    @property
    def key(self) -> str:
        """Its name among all pairings."""
        return pairing_key(self.label, self.series)


def pairing_key(label: str, series: str = "") -> str:
    """The name of a pairing among all: its label and its series."""
    return f"{label}, {series}" if series else label


@dataclass(frozen=True)
class PairingResult:
    """The games of a pairing, for the first of the bots."""

    games: int
    hands: int
    rate: float  # share of games won
    interval: tuple[float, float]  # 95%
    chips: Interval  # won a hand
    dollars: Interval  # won a game
    bankruptcies: int  # games in which the second bot lost its stack
    hands_to_bankruptcy: float  # mean over these games
    milliseconds: float  # a decision

    def wins_more_than(self, share: float = EVEN) -> bool | None:
        """Whether it wins more than that share of the games; None: the interval does not decide it."""
        return rate_is_above(self.interval, share)

    def wins_fewer_than(self, other: PairingResult) -> bool | None:
        """Whether it wins a smaller share of its games than another pairing."""
        return rate_is_above(other.apart(self), 0.0)

    def apart(self, other: PairingResult) -> tuple[float, float]:
        """How far its rate is above another one: 95% interval as of independent games.

        Newcombe 1998, "Interval estimation for the difference between independent proportions", method 10.
        """
        mean = self.rate - other.rate
        low = mean - math.hypot(self.rate - self.interval[0], other.interval[1] - other.rate)
        return low, mean + math.hypot(self.interval[1] - self.rate, other.rate - other.interval[0])

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.rate:.1%} ({low:.0%} to {high:.0%})"

    @property
    def per_hand(self) -> str:
        return f"{self.chips:+.3f}"


FreezeOutResults = Mapping[str, PairingResult]  # by key


def chips_per_hand(games: Sequence[FreezeOutGame], stack: int) -> Estimate:
    """Winnings of the first bot a hand: a ratio of sums, as games differ in length (Cochran 1977, 2.11)."""
    won = np.array([game.stacks[0] - stack for game in games]) / CHIP
    hands = np.array([game.hands for game in games], float)
    ratio = float(won.sum() / hands.sum())
    around = estimate(Moments.of((won - ratio * hands)[:, None]), 0)
    return Estimate(ratio, around.error / float(hands.mean()), around.freedom)


def pairing_result(result: FreezeOutResult) -> PairingResult:
    """Summarize games for the first bot."""
    score, lengths = result.scores[0], [game.hands for game in result.games if game.stacks[1] == 0]
    return PairingResult(
        games=len(result.games),
        hands=result.hands,
        rate=score.rate,
        interval=score.interval,
        chips=_interval(chips_per_hand(result.games, result.stack)),
        dollars=_interval(score.won),
        bankruptcies=len(lengths),
        hands_to_bankruptcy=float(np.mean(lengths)) if lengths else math.nan,
        milliseconds=score.stats.mean_milliseconds,
    )


def _interval(of: Estimate) -> Interval:
    return Interval(of.mean, of.interval())


@dataclass(frozen=True, kw_only=True)
class FreezeOutStudy(Experiment):
    """Pairings that play freeze-outs; the budget is the most hands of a pairing."""

    pairings: tuple[Pairing, ...]
    first: str  # the bot whose win rate is measured
    axis: str  # what the pairings differ in

    def _sizes(self, pairing: Pairing, budget: int) -> tuple[int, int]:
        """The number of games, and the most hands of each."""
        length = max(1, min(pairing.length, budget // MIN_GAMES))
        return min(pairing.games, max(MIN_GAMES, budget // length)), length

    def planned_work(self, budget: int) -> int:
        return sum(math.prod(self._sizes(pairing, budget)) for pairing in self.pairings)

    def run(
        self, *, budget: int, seed: int, processes: Workers, parts: Path, progress: Callable[[int], object]
    ) -> FreezeOutResults:
        results = {}
        for pairing in self.pairings:
            games, length = self._sizes(pairing, budget)
            result = freeze_out(
                *pairing.bots,
                games=games,
                hands=length,
                seed=seed,
                limit=math.inf,
                processes=processes,
                folder=parts / slug(pairing.key),
                progress=progress,
            )
            progress(games * length - result.hands)  # of games that ended early
            results[pairing.key] = pairing_result(result)
        return results

    def csv(self, results: FreezeOutResults) -> str:
        """A line for each pairing."""
        head = [
            *("pairing", "series", "first", "second", "games", "hands", "win_rate", "low_95", "high_95"),
            *("chips_per_hand", "chips_half_95", "dollars_per_game", "dollars_half_95", "second_broke"),
            *("hands_until_broke", "ms_per_decision", "paper_win_rate"),
        ]
        lines = []
        for pairing in self.pairings:
            each = results[pairing.key]
            numbers = (
                *(each.rate, *each.interval, *each.chips, *each.dollars),
                *(each.bankruptcies, each.hands_to_bankruptcy, each.milliseconds),
            )
            cells = [f"{number:.6g}" for number in numbers]
            names = (pairing.label, pairing.series, *pairing.bots)
            lines.append([*names, each.games, each.hands, *cells, pairing.published])
        return csv_text(head, rows=lines)

    def read_csv(self, text: str) -> FreezeOutResults:
        return {
            pairing_key(row["pairing"], row["series"]): PairingResult(
                games=int(row["games"]),
                hands=int(row["hands"]),
                rate=float(row["win_rate"]),
                interval=(float(row["low_95"]), float(row["high_95"])),
                chips=Interval(float(row["chips_per_hand"]), float(row["chips_half_95"])),
                dollars=Interval(float(row["dollars_per_game"]), float(row["dollars_half_95"])),
                bankruptcies=int(row["second_broke"]),
                hands_to_bankruptcy=float(row["hands_until_broke"]),
                milliseconds=float(row["ms_per_decision"]),
            )
            for row in csv.DictReader(text.splitlines())
        }

    def table(self, results: FreezeOutResults) -> list[str]:
        lines = [
            "## All pairings",
            "",
            f"Share of games won by {self.first} with Wilson's 95% interval, a draw counting as half a win; "
            f"its winnings in chips a hand and in dollars a game. A chip is ${CHIP}.",
        ]
        for series in dict.fromkeys(pairing.series for pairing in self.pairings):
            lines += [
                "",
                *([f"### {series[0].upper()}{series[1:]}", ""] if series else []),
                f"| {self.axis} | games won | paper | chips a hand | $ a game | games | hands "
                "| ms a decision |",
                "|---|---:|---:|---:|---:|---:|---:|---:|",
                *(self._row(pairing, results) for pairing in self.pairings if pairing.series == series),
            ]
        return lines

    def _row(self, pairing: Pairing, results: FreezeOutResults) -> str:
        each = results[pairing.key]
        theirs = "" if pairing.published is None else f"{pairing.published:.0%}"
        return (
            f"| {pairing.label} | {each} | {theirs} | {each.per_hand} | {each.dollars:+,.0f} "
            f"| {each.games:,} | {each.hands:,} | {each.milliseconds:.2f} |"
        )

    def plot(self, results: FreezeOutResults, path: Path) -> None:
        bars = [
            WinRate(pairing.label, each.rate, each.interval, each.chips, pairing.published, pairing.series)
            for pairing in self.pairings
            for each in [results[pairing.key]]
        ]
        plot_win_rates(self.title, bars, self.first, self.axis, path)
