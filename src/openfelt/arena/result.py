"""The result of a match: winnings with intervals, playing style, and the time and faults of each bot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from openfelt.arena.decision_stats import DecisionStats
from openfelt.arena.hand_kernels import BETS, CALLS, FOLDS, LATE_BETS, LATE_CALLS
from openfelt.arena.match_blocks import DUPLICATE, BlockResult, Contest
from openfelt.arena.statistics.estimates import Estimate, Moments, estimate
from openfelt.arena.statistics.sequential_test import UNDECIDED
from openfelt.core.errors import FeltError, unknown
from openfelt.core.jit import Longs
from openfelt.games.game import Unit


@dataclass(frozen=True)
class Style:
    """How a participant plays hold'em, by the statistics of PGC10, table 1."""

    seen_flops: float  # SF: share of hands not folded before the flop
    early_aggression: float  # P-AGR: bets and raises per call, before the flop
    late_aggression: float  # AGR: the same from the flop on


@dataclass(frozen=True)
class Score:
    """The result of one participant."""

    name: str
    hands: int
    won: Estimate  # per hand, in the unit of payoffs, by the most precise estimate that the match allows
    plain: Estimate  # the mean, not adjusted for luck
    by_seat: tuple[float, ...]  # mean winnings per hand in each seat
    style: Style | None
    stats: DecisionStats


@dataclass(frozen=True)
class MatchResult:
    """The result of a match."""

    game: str
    unit: Unit  # in which winnings are reported
    big_blind: float  # chips; 0 if the game has no blinds
    dealing: str
    deals: int
    hands: int
    seconds: float  # elapsed time
    scores: tuple[Score, ...]
    verdict: str = ""  # of a sequential test: the first participant is better or worse than its opponents
    adjustment: str = ""  # the method by which winnings are adjusted for luck; empty if they are as played

    def score(self, name: str) -> Score:
        """The result of a participant."""
        for score in self.scores:
            if score.name == name:
                return score
        raise FeltError(unknown("participant", name, [score.name for score in self.scores]))

    def amount(self, payoff: Estimate) -> Estimate:
        """An estimate in the unit in which winnings are reported."""
        return payoff.scaled(self.unit.scale)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "game": self.game,
            "dealing": self.dealing,
            "deals": self.deals,
            "hands": self.hands,
            "seconds": self.seconds,
            "hands_per_second": self.hands / self.seconds if self.seconds else None,
            **({"verdict": self.verdict} if self.verdict else {}),
            "adjustment": self.adjustment or None,
            "participants": [self._score_dict(score) for score in self.scores],
        }

    def _score_dict(self, score: Score) -> dict[str, Any]:
        amount = self.amount(score.won)
        facts: dict[str, Any] = {"name": score.name, "hands": score.hands, "unit": self.unit.name}
        facts |= {
            "won": amount.mean,
            "interval_68": amount.interval(0.68),
            "interval_95": amount.interval(),
            "by_seat": [self.amount(Estimate(seat, 0.0)).mean for seat in score.by_seat],
            "plain_won": self.amount(score.plain).mean,
            "plain_interval_95": self.amount(score.plain).interval(),
        }
        if self.big_blind:
            facts["small_bets_per_hand"] = score.won.mean / self.big_blind
        if score.style:
            facts |= {
                "seen_flops": score.style.seen_flops,
                "preflop_aggression": score.style.early_aggression,
                "aggression": score.style.late_aggression,
            }
        return facts | score.stats.facts()

    def __str__(self) -> str:
        return "\n".join([self._heading(), *aligned(self._cells()), *self._remarks()])

    def _heading(self) -> str:
        how = "each in every seating" if self.dealing == DUPLICATE else "seats changed after each"
        pace = f", {self.hands / self.seconds:,.0f} hands/s" if self.seconds else ""
        return f"{self.game}: {self.hands:,} hands ({self.deals:,} deals, {how}{pace})"

    def _cells(self) -> list[list[str]]:
        styled = any(score.style for score in self.scores)
        timed = any(score.stats.decisions for score in self.scores)
        head = ["", self.unit.name, "68%", "95%", *["sb/h"] * bool(self.big_blind)]
        rows = [head + ["SF", "P-AGR", "AGR"] * styled + ["ms/action"] * timed]
        for score in self.scores:
            amount, digits = self.amount(score.won), self.unit.digits
            cells = [score.name, f"{amount.mean:+,.{digits}f}"]
            cells += [f"± {amount.interval(share):,.{digits}f}" for share in (0.68, 0.95)]
            if self.big_blind:
                cells.append(f"{score.won.mean / self.big_blind:+.4f}")
            if score.style:
                cells.append(f"{score.style.seen_flops:.3f}")
                cells += map(_ratio_text, (score.style.early_aggression, score.style.late_aggression))
            if timed:
                cells.append(f"{score.stats.mean_milliseconds:.3f}")
            rows.append(cells)
        return rows

    def _remarks(self) -> list[str]:
        lines = []
        if self.adjustment:
            how = f"adjusted for luck by {self.adjustment}"
            lines.append(f"Winnings in {self.unit.name} are {how}; {self._as_played()}.")
        if self.verdict:
            who = "" if self.verdict == UNDECIDED else f"{self.scores[0].name} is "
            lines.append(f"Sequential test: {who}{self.verdict}.")
        return [*lines, *(line for score in self.scores for line in score.stats.fault_lines(score.name))]

    def _as_played(self) -> str:
        amounts = [(score.name, self.amount(score.plain).mean) for score in self.scores]
        return "as played: " + ", ".join(f"{name} {mean:+,.{self.unit.digits}f}" for name, mean in amounts)


def result_of(
    contest: Contest, blocks: Sequence[BlockResult], *, seconds: float, verdict: str = ""
) -> MatchResult:
    """Put blocks together."""
    moments = Moments.total(block.moments for block in blocks)
    hands = sum(block.hands for block in blocks)
    columns = contest.columns
    adjustment = "AIVAT" if columns["adjusted"] else "control variates" if columns["controls"] else ""
    return MatchResult(
        contest.game.name,
        contest.game.winnings_unit,
        contest.game.big_blind,
        contest.setup.dealing,
        moments.count,
        hands,
        seconds,
        tuple(
            _score(contest, blocks, moments, hands, participant)
            for participant in range(len(contest.participants.names))
        ),
        verdict,
        adjustment,
    )


def _score(
    contest: Contest, blocks: Sequence[BlockResult], moments: Moments, hands: int, participant: int
) -> Score:
    style = np.sum([block.style[participant] for block in blocks], axis=0)
    seats = np.sum([block.seats[participant] for block in blocks], axis=0)
    columns, stats = contest.columns, DecisionStats()
    for block in blocks:
        stats.add(block.stats[participant])
    plain = estimate(moments, columns["won"][participant])
    if columns["adjusted"]:
        won = estimate(moments, columns["adjusted"][participant])
    else:
        won = estimate(moments, columns["won"][participant], columns["controls"])
    seat_hands = hands * contest.participants.places.count(participant)
    return Score(
        contest.participants.names[participant],
        seat_hands,
        won,
        plain,
        tuple((seats[:, 0] / np.maximum(1, seats[:, 1])).tolist()),
        _style(style, seat_hands) if contest.engine.has_style else None,
        stats,
    )


def _style(counts: Longs, hands: int) -> Style:
    def ratio(bets: int, calls: int) -> float:
        return float(bets) / calls if calls else float("inf") if bets else float("nan")

    return Style(
        1 - float(counts[FOLDS]) / max(1, hands),
        ratio(counts[BETS], counts[CALLS]),
        ratio(counts[LATE_BETS], counts[LATE_CALLS]),
    )


def _ratio_text(number: float) -> str:
    return f"{number:.2f}" if number < 1e4 else "inf" if number == number else "-"


def aligned(rows: list[list[str]]) -> list[str]:
    """Lines of a text table: the first column to the left, the others to the right."""
    widths = [max(len(row[place]) for row in rows if place < len(row)) for place in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join(["", row[0].ljust(widths[0]), *cells[1:]]))
    return lines
