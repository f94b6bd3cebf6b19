"""What a match says: winnings with intervals, how everybody played, and how they behaved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from openfelt.arena.contest import DUPLICATE, BlockResult, Contest
from openfelt.arena.hand_kernels import BETS, CALLS, FOLDS, LATE_BETS, LATE_CALLS
from openfelt.arena.statistics.intervals import UNDECIDED, Estimate, Moments, estimate
from openfelt.arena.table import Conduct
from openfelt.core.errors import FeltError, unknown
from openfelt.games.holdem import BIG_BLIND, Holdem

MILLI = 1000


@dataclass(frozen=True)
class Style:
    """How someone plays hold'em, as PGC10's table 1 reports it."""

    seen_flops: float  # SF: the share of hands that he did not fold before the flop
    early_aggression: float  # P-AGR: bets and raises for each call, before the flop
    late_aggression: float  # AGR: the same after it


@dataclass(frozen=True)
class Score:
    """Of one participant."""

    name: str
    hands: int
    won: Estimate  # in the game's unit a hand, by the best estimate that the match allows
    plain: Estimate  # without luck taken out
    by_seat: tuple[float, ...]  # what was won a hand in each seat
    style: Style | None
    conduct: Conduct


@dataclass(frozen=True)
class MatchResult:
    """Of a match, or of what was played of it so far."""

    game: str
    unit: str
    in_blinds: bool  # whether winnings are told in blinds, as in hold'em
    dealing: str
    deals: int
    hands: int
    seconds: float  # that it took; those of several processes at the same time count once
    scores: tuple[Score, ...]
    verdict: str = ""  # of a sequential test: the first participant is better or worse than the others

    def score(self, name: str) -> Score:
        """Of a participant."""
        for score in self.scores:
            if score.name == name:
                return score
        raise FeltError(unknown("participant", name, [score.name for score in self.scores]))

    def amount(self, chips: Estimate) -> Estimate:
        """In the unit that winnings are told in: mbb/h in hold'em."""
        return chips.scaled(MILLI / BIG_BLIND) if self.in_blinds else chips

    @property
    def amount_unit(self) -> str:
        """The name of that unit."""
        return "mbb/h" if self.in_blinds else f"{self.unit} a hand"

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
            "participants": [self._score_dict(score) for score in self.scores],
        }

    def _score_dict(self, score: Score) -> dict[str, Any]:
        amount = self.amount(score.won)
        facts: dict[str, Any] = {"name": score.name, "hands": score.hands, "unit": self.amount_unit}
        facts |= {
            "won": amount.mean,
            "interval_68": amount.interval(0.68),
            "interval_95": amount.interval(),
            "by_seat": [self.amount(Estimate(seat, 0.0)).mean for seat in score.by_seat],
            "plain_won": self.amount(score.plain).mean,
            "plain_interval_95": self.amount(score.plain).interval(),
        }
        if self.in_blinds:
            facts["small_bets_per_hand"] = score.won.mean / BIG_BLIND
        if score.style:
            facts |= {
                "seen_flops": score.style.seen_flops,
                "preflop_aggression": score.style.early_aggression,
                "aggression": score.style.late_aggression,
            }
        conduct = score.conduct
        facts["faults"] = conduct.faults
        if conduct.first_error:
            facts["first_error"] = conduct.first_error
        if conduct.decisions:
            facts["milliseconds_per_action"] = MILLI * conduct.seconds / conduct.decisions
            facts["longest_action_milliseconds"] = MILLI * conduct.longest
        return facts

    def __str__(self) -> str:
        return "\n".join([self._heading(), *_columns(self._cells()), *self._remarks()])

    def _heading(self) -> str:
        how = "each in every seating" if self.dealing == DUPLICATE else "seats changed after each"
        pace = f", {self.hands / self.seconds:,.0f} hands/s" if self.seconds else ""
        return f"{self.game}: {self.hands:,} hands ({self.deals:,} deals, {how}{pace})"

    def _cells(self) -> list[list[str]]:
        rows = [["", self.amount_unit, "68%", "95%"]]
        if self.in_blinds:
            rows[0].append("sb/h")
        styled = any(score.style for score in self.scores)
        timed = any(score.conduct.decisions for score in self.scores)
        rows[0] += ["SF", "P-AGR", "AGR"] * styled + ["ms/action"] * timed
        for score in self.scores:
            amount = self.amount(score.won)
            digits = 1 if self.in_blinds else 4
            cells = [score.name, f"{amount.mean:+,.{digits}f}"]
            cells += [f"± {amount.interval(share):,.{digits}f}" for share in (0.68, 0.95)]
            if self.in_blinds:
                cells.append(f"{score.won.mean / BIG_BLIND:+.4f}")
            if score.style:
                cells.append(f"{score.style.seen_flops:.3f}")
                cells += map(_ratio, (score.style.early_aggression, score.style.late_aggression))
            if timed:
                conduct = score.conduct
                cells.append(f"{MILLI * conduct.seconds / max(1, conduct.decisions):.3f}")
            rows.append(cells)
        return rows

    def _remarks(self) -> list[str]:
        lines = []
        if self.verdict:
            who = "" if self.verdict == UNDECIDED else f"{self.scores[0].name} is "
            lines.append(f"Sequential test: {who}{self.verdict}.")
        return [*lines, *filter(None, (score.conduct.told(score.name) for score in self.scores))]


def result_of(
    contest: Contest, blocks: Sequence[BlockResult], *, seconds: float, verdict: str = ""
) -> MatchResult:
    """Put blocks together."""
    moments = Moments.total(block.moments for block in blocks)
    hands = sum(block.hands for block in blocks)
    style = np.sum([block.style for block in blocks], axis=0)
    seats = np.sum([block.seats for block in blocks], axis=0)
    holdem = isinstance(contest.game, Holdem)
    columns, scores = contest.columns, []
    for participant, name in enumerate(contest.lineup.names):
        conduct = Conduct()
        for block in blocks:
            conduct.add(block.conduct[participant])
        sat = hands * contest.lineup.seats.count(participant)
        plain = estimate(moments, columns["won"][participant])
        if columns["adjusted"]:
            won = estimate(moments, columns["adjusted"][participant])
        else:
            won = estimate(moments, columns["won"][participant], columns["controls"])
        how = _style(style[participant], sat) if holdem else None
        by_seat = tuple((seats[participant, :, 0] / np.maximum(1, seats[participant, :, 1])).tolist())
        scores.append(Score(name, sat, won, plain, by_seat, how, conduct))
    return MatchResult(
        contest.game.name,
        contest.game.unit,
        holdem,
        contest.setup.dealing,
        moments.count,
        hands,
        seconds,
        tuple(scores),
        verdict,
    )


def _style(counts: Any, hands: int) -> Style:
    def ratio(bets: int, calls: int) -> float:
        return float(bets) / calls if calls else float("inf") if bets else float("nan")

    return Style(
        1 - float(counts[FOLDS]) / max(1, hands),
        ratio(counts[BETS], counts[CALLS]),
        ratio(counts[LATE_BETS], counts[LATE_CALLS]),
    )


def _ratio(number: float) -> str:
    return f"{number:.2f}" if number < 1e4 else "inf" if number == number else "-"


def _columns(rows: list[list[str]]) -> list[str]:
    """The first to the left, the others to the right."""
    widths = [max(len(row[place]) for row in rows if place < len(row)) for place in range(len(rows[0]))]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=False))
        )
        for row in rows
    ]
