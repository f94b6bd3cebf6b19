"""The report on a player's hands: what was lost, where, and how the player plays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from openfelt.arena.statistics.estimates import Estimate, Moments, estimate
from openfelt.core.jit import Floats, Longs
from openfelt.table.report.decisions import Decision, DecisionTable
from openfelt.table.report.style import Style

WORST = 5
PERIODS = 10  # of the hands, for results over time
HALF_WIDTH = 1.96  # standard errors in half of a 95% interval


@dataclass(frozen=True)
class Rate:
    """A mean per 100 hands with half of its 95% interval; None with fewer than two hands."""

    mean: float
    interval: float | None


@dataclass(frozen=True)
class Leak:
    """EV lost in one kind of decision."""

    street: str
    situation: str
    decisions: int
    lost: Rate
    chosen: str  # the most costly mistake of this kind: what was done,
    best: str  # what was best,
    share: float  # and its share of what was lost here


@dataclass(frozen=True)
class WorstDecision:
    """One of the most costly decisions."""

    decision: Decision
    interval: float  # half of the 95% interval of the loss, in chips


@dataclass(frozen=True)
class Period:
    """Consecutive hands."""

    hands: int
    won: Rate
    adjusted: Rate | None  # luck-adjusted winnings, where they are known
    lost: Rate | None


@dataclass(frozen=True)
class Report:
    """What a player's hands show.

    Rates are in big blinds per 100 hands where there are blinds, otherwise in chips per 100 hands.
    """

    unit: str
    hands: int
    decisions: int
    won: Rate
    adjusted: Rate | None
    lost: Rate | None  # None if EV losses are not known
    explain: str  # what the losses assume, or why there are none
    leaks: tuple[Leak, ...]  # the most costly first
    streets: Mapping[str, Rate]  # lost
    worst: tuple[WorstDecision, ...]
    periods: tuple[Period, ...]
    styles: Mapping[str, Style]  # by name

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        styles = {name: style.as_dict() for name, style in self.styles.items()}
        worst = [{**each.decision._asdict(), "interval": each.interval} for each in self.worst]
        return {**asdict(self), "styles": styles, "worst": worst}


@dataclass(frozen=True)
class Results:
    """Winnings of a player, hand by hand, in chips."""

    won: Floats  # [hands]
    adjusted: Floats | None = None  # [hands] luck-adjusted
    blind: float | None = None  # the big blind, if there is one


def make_report(
    results: Results, decisions: DecisionTable | None, explain: str, styles: Mapping[str, Style]
) -> Report:
    """The report on hands; `decisions` is None if EV losses are not known."""
    scale = 100 / (results.blind or 1.0)
    hands = len(results.won)
    lost = None if decisions is None else _by_hand(decisions, hands)
    return Report(
        unit="bb/100" if results.blind else "chips per 100 hands",
        hands=hands,
        decisions=0 if decisions is None else len(decisions),
        won=_rate(results.won, scale),
        adjusted=None if results.adjusted is None else _rate(results.adjusted, scale),
        lost=None if lost is None else _rate(lost, scale),
        explain=explain,
        leaks=() if decisions is None else _leaks(decisions, hands, scale),
        streets={} if decisions is None else _streets(decisions, hands, scale),
        worst=() if decisions is None else _worst(decisions),
        periods=_periods(results, lost, scale),
        styles=styles,
    )


def _by_hand(decisions: DecisionTable, hands: int, chosen: Longs | slice = slice(None)) -> Floats:
    """[hands] EV lost in some of the decisions."""
    return np.asarray(np.bincount(decisions.hand[chosen], decisions.loss[chosen], hands), np.float64)


def _rate(values: Floats, scale: float) -> Rate:
    if not len(values):
        return Rate(0.0, None)
    found: Estimate = estimate(Moments.of(values[:, None]), 0).scaled(scale)
    interval = found.interval()
    return Rate(found.mean, interval if math.isfinite(interval) else None)


def _leaks(decisions: DecisionTable, hands: int, scale: float) -> tuple[Leak, ...]:
    kinds = decisions.street * len(decisions.words) + decisions.situation
    found = []
    for kind in np.unique(kinds):
        places = np.flatnonzero(kinds == kind)
        first = decisions.at(int(places[0]))
        chosen, best, share = _main_mistake(decisions, places)
        lost = _rate(_by_hand(decisions, hands, places), scale)
        found.append(Leak(first.street, first.situation, len(places), lost, chosen, best, share))
    return tuple(sorted(found, key=lambda leak: -leak.lost.mean))


def _main_mistake(decisions: DecisionTable, places: Longs) -> tuple[str, str, float]:
    """What was done and what was best in the most costly mistake of a kind, and its share of the loss."""
    pairs = decisions.chosen[places] * len(decisions.words) + decisions.best[places]
    wrong = places[decisions.chosen[places] != decisions.best[places]]
    if not len(wrong):
        return "", "", 0.0
    losses = np.bincount(pairs, decisions.loss[places])
    losses[:: len(decisions.words) + 1] = -np.inf  # what was chosen was best
    most = int(losses.argmax())
    if losses[most] <= 0:  # estimates without a clear mistake
        return "", "", 0.0
    total = float(decisions.loss[places].sum())
    chosen, best = divmod(most, len(decisions.words))
    share = min(1.0, max(0.0, float(losses[most]) / total)) if total > 0 else 0.0
    return decisions.words[chosen], decisions.words[best], share


def _streets(decisions: DecisionTable, hands: int, scale: float) -> dict[str, Rate]:
    streets = [int(street) for street in dict.fromkeys(decisions.street.tolist())]
    return {
        decisions.words[street]: _rate(
            _by_hand(decisions, hands, np.flatnonzero(decisions.street == street)), scale
        )
        for street in streets
    }


def _worst(decisions: DecisionTable) -> tuple[WorstDecision, ...]:
    order = np.argsort(-decisions.loss, kind="stable")[:WORST]
    found = [decisions.at(int(place)) for place in order if decisions.loss[place] > 0]
    return tuple(WorstDecision(each, HALF_WIDTH * each.error) for each in found)


def _periods(results: Results, lost: Floats | None, scale: float) -> tuple[Period, ...]:
    ends = np.linspace(0, len(results.won), PERIODS + 1).astype(int).tolist()
    parts = [slice(*ends[place : place + 2]) for place in range(PERIODS) if ends[place] < ends[place + 1]]
    return tuple(
        Period(
            part.stop - part.start,
            _rate(results.won[part], scale),
            None if results.adjusted is None else _rate(results.adjusted[part], scale),
            None if lost is None else _rate(lost[part], scale),
        )
        for part in parts
    )
