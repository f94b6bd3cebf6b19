"""The result of freeze-outs: games won with an interval, and the time and faults of each bot."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from openfelt.arena.decision_stats import MILLI, DecisionStats
from openfelt.arena.result import aligned
from openfelt.arena.statistics.estimates import Estimate, Moments, estimate, wilson
from openfelt.arena.stored_stats import is_count, require_sound
from openfelt.core.errors import FileError
from openfelt.core.files import MALFORMED


@dataclass(frozen=True)
class FreezeOutGame:
    """One finished game."""

    number: int
    hands: int
    stacks: tuple[int, ...]  # at the end, by player
    stats: tuple[DecisionStats, ...]  # by player

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        stats = [dataclasses.asdict(each) for each in self.stats]
        return {"number": self.number, "hands": self.hands, "stacks": self.stacks, "conduct": stats}

    @staticmethod
    def from_dict(facts: dict[str, Any]) -> FreezeOutGame:
        """The inverse of `as_dict`."""
        try:
            stats = tuple(DecisionStats(**each) for each in facts["conduct"])
            for each in stats:
                require_sound(each)
            number, hands, stacks = facts["number"], facts["hands"], tuple(facts["stacks"])
            if (
                not all(map(is_count, (number, hands, *stacks)))
                or len(stacks) != len(stats)
                or len(stats) != 2
            ):
                raise ValueError("counts")
            return FreezeOutGame(number, hands, stacks, stats)
        except MALFORMED:
            raise FileError("A game of the freeze-out is damaged: its stacks or stats are missing.") from None


@dataclass(frozen=True)
class FreezeOutScore:
    """The result of one player."""

    name: str
    wins: int
    rate: float  # share of games won, where a draw is half a win
    interval: tuple[float, float]  # 95% interval of the rate (Wilson 1927)
    broke: int  # games in which it lost its whole stack
    won: Estimate  # per game, in the money of the blinds
    stats: DecisionStats


@dataclass(frozen=True)
class FreezeOutResult:
    """The result of several games."""

    names: tuple[str, ...]
    stack: int
    hand_limit: int  # most hands in a game
    limit: float  # seconds per decision
    games: tuple[FreezeOutGame, ...]

    @property
    def draws(self) -> int:
        """Games that ended with equal stacks."""
        return sum(game.stacks[0] == game.stacks[1] for game in self.games)

    @property
    def hands(self) -> int:
        """Hands of all games."""
        return sum(game.hands for game in self.games)

    @property
    def scores(self) -> tuple[FreezeOutScore, ...]:
        """By player."""
        return tuple(self._score(player) for player in range(len(self.names)))

    def _score(self, player: int) -> FreezeOutScore:
        count, stats = len(self.games), DecisionStats()
        for game in self.games:
            stats.add(game.stats[player])
        stacks = [game.stacks[player] for game in self.games]
        wins = sum(game.stacks[player] > game.stacks[1 - player] for game in self.games)
        points = wins + self.draws / 2
        won = np.array(stacks, float)[:, None] - self.stack
        return FreezeOutScore(
            self.names[player],
            wins,
            points / count,
            wilson(points, count),
            stacks.count(0),
            estimate(Moments.of(won), 0),
            stats,
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "games": len(self.games),
            "hands": self.hands,
            "stack": self.stack,
            "hands_per_game": self.hand_limit,
            "milliseconds_limit": None if self.limit == math.inf else MILLI * self.limit,
            "draws": self.draws,
            "participants": [_score_dict(score) for score in self.scores],
        }

    def __str__(self) -> str:
        return "\n".join([self._heading(), *aligned(self._cells()), *self._remarks()])

    def _heading(self) -> str:
        clock = "" if self.limit == math.inf else f", {MILLI * self.limit:g} ms an action"
        games = f"{len(self.games):,} game{'s' * (len(self.games) != 1)}"
        return (
            f"Freeze-out: {games} of at most {self.hand_limit:,} hands, stacks of {self.stack:,}, "
            f"blinds 10 and 20{clock}"
        )

    def _cells(self) -> list[list[str]]:
        rows = [["", "games won", "win rate", "95%", "broke", "money a game", "95%", "ms/action"]]
        for score in self.scores:
            low, high = score.interval
            rows.append(
                [
                    score.name,
                    f"{score.wins:,}",
                    f"{score.rate:.1%}",
                    f"{low:.1%} to {high:.1%}",
                    f"{score.broke:,}",
                    f"{score.won.mean:+,.0f}",
                    f"± {score.won.interval():,.0f}",
                    f"{score.stats.mean_milliseconds:.3f}",
                ]
            )
        return rows

    def _remarks(self) -> list[str]:
        draws = f"{self.draws:,} draws, each half a win; " if self.draws else "no draws; "
        lines = [f"  {draws}{self.hands:,} hands in all"]
        return [*lines, *(line for score in self.scores for line in score.stats.fault_lines(score.name))]


def _score_dict(score: FreezeOutScore) -> dict[str, Any]:
    return {
        "name": score.name,
        "wins": score.wins,
        "win_rate": score.rate,
        "win_rate_interval_95": list(score.interval),
        "broke": score.broke,
        "won_per_game": score.won.mean,
        "won_per_game_interval_95": score.won.interval(),
        **score.stats.facts(),
    }
