"""The rating of a person at heads-up hold'em: the bots are a ladder, luck-adjusted winnings decide.

A point is 1 mbb/h. The bot `default` has 2000 points, any other bot as many fewer as it loses to `default` in
mbb/h. A person who wins w mbb/h from a bot is w points above it. Weak bots lose far more to those who exploit
them than to `default`, so a win rate above CAP says only that the person is at least that much better (a
censored observation). The rating is the mean of the posterior over a normal prior.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import scipy  # scipy.stats takes long to import and loads itself when it is first used

from openfelt.core.jit import Floats
from openfelt.games.holdem import BIG_BLIND, Holdem
from openfelt.policy.files import DEFAULT
from openfelt.table.lobby.characters import title_of
from openfelt.table.lobby.strength import heads_up_results, level

TOP = 2000.0  # points of `default`
PRIOR = (1600.0, 300.0)  # mean and standard deviation
CAP = 400.0  # points
TYPICAL = 2_500.0  # mbb, standard deviation of the luck-adjusted winnings of a hand, worth PRIOR_HANDS hands
PRIOR_HANDS = 20
GRID = np.arange(0.0, 3_001.0, 2.0)


@dataclass(frozen=True)
class PlayedSession:
    """Finished hands of a session at heads-up hold'em."""

    bot: str
    begun: float  # seconds since 1970
    won: Sequence[float]  # chips, by hand
    adjusted: Sequence[float]  # luck-adjusted


@dataclass(frozen=True)
class Rating:
    """A rating with half of its 95% interval."""

    points: float
    interval: float
    hands: int


def ladder() -> dict[str, float]:
    """The points of the bots with known results, the strongest first."""
    against = {name: won[DEFAULT].mean for name, won in heads_up_results().items() if DEFAULT in won}
    rungs = {DEFAULT: TOP, **{name: TOP + won for name, won in against.items()}}
    return dict(sorted(rungs.items(), key=lambda rung: -rung[1]))


def rate(sessions: Iterable[PlayedSession]) -> Rating:
    """The rating after these sessions; those against other bots do not count."""
    rungs, by_bot = ladder(), dict[str, list[float]]()
    for session in sessions:
        if session.bot in rungs:
            by_bot.setdefault(session.bot, []).extend(session.adjusted)
    likely = scipy.stats.norm.logpdf(GRID, *PRIOR)
    for bot, adjusted in by_bot.items():
        if adjusted:
            likely = likely + _log_likelihood(np.array(adjusted) * 1000 / BIG_BLIND, GRID - rungs[bot])
    weights = np.exp(likely - likely.max())
    weights /= weights.sum()
    points = float(weights @ GRID)
    spread = math.sqrt(float(weights @ (GRID - points) ** 2))
    return Rating(points, 1.96 * spread, sum(map(len, by_bot.values())))


def _log_likelihood(won: Floats, above: Floats) -> Floats:
    """Of being `above` a bot by so many points, given the luck-adjusted winnings of hands in mbb."""
    count, mean = len(won), float(won.mean())
    squares = float(((won - mean) ** 2).sum()) + PRIOR_HANDS * TYPICAL**2
    error = math.sqrt(squares / (count + PRIOR_HANDS) / count)
    if mean >= CAP:
        return np.asarray(scipy.stats.norm.logcdf((above - CAP) / error))
    return np.asarray(scipy.stats.norm.logpdf(mean, above, error))


def rating_report(sessions: Sequence[PlayedSession], now: datetime) -> dict[str, Any]:
    """The rating, the ladder and the streaks, ready for JSON."""
    found, game, rungs = rate(sessions), Holdem(), ladder()
    played = {session.bot for session in sessions}
    steps = [
        {
            "bot": bot,
            "title": title_of(bot),
            "points": points,
            "level": level(bot, game),
            "hands": sum(len(session.won) for session in sessions if session.bot == bot),
            **_against(session.adjusted for session in sessions if session.bot == bot),
        }
        for bot, points in rungs.items()
    ]
    above = [rung for rung in steps if rung["points"] > found.points]
    return {
        "points": found.points,
        "interval": found.interval,
        "hands": found.hands,
        "prior": not played & rungs.keys(),
        "next": above[-1]["title"] if above else None,
        "ladder": steps,
        "streaks": {**hand_streaks(sessions), "days": day_streak(sessions, now)},
    }


def _against(parts: Iterable[Sequence[float]]) -> Mapping[str, Any]:
    """Whether a bot is beaten: the 95% interval of the luck-adjusted win rate is above zero."""
    adjusted = np.array([value for part in parts for value in part])
    if len(adjusted) < 2:
        return {"beaten": False}
    error = float(adjusted.std(ddof=1)) / math.sqrt(len(adjusted))
    return {"beaten": bool(adjusted.mean() > scipy.stats.t.ppf(0.975, len(adjusted) - 1) * error > 0)}


def hand_streaks(sessions: Sequence[PlayedSession]) -> dict[str, int]:
    """Hands won in a row: in the latest hands, and at most; a split pot does not end a streak."""
    current, longest = 0, 0
    for session in sorted(sessions, key=lambda each: each.begun):
        for won in session.won:
            current = current + 1 if won > 0 else current if won == 0 else 0
            longest = max(longest, current)
    return {"hands": current, "longest": longest}


def day_streak(sessions: Sequence[PlayedSession], now: datetime) -> int:
    """Days in a row, up to today or yesterday, on which a session was begun (UTC)."""
    days = {datetime.fromtimestamp(session.begun, UTC).date() for session in sessions if len(session.won)}
    day: date = now.date() if now.date() in days else now.date() - timedelta(days=1)
    count = 0
    while day in days:
        count, day = count + 1, day - timedelta(days=1)
    return count
