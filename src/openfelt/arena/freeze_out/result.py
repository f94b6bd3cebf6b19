"""What freeze-outs say: who wins how many games, with an interval, and how everybody behaved."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from openfelt.arena.statistics.intervals import Estimate, Moments, estimate, wilson
from openfelt.arena.table import Conduct
from openfelt.core.errors import FileError

MILLI = 1000


@dataclass(frozen=True)
class FreezeOutGame:
    """One game that is over."""

    number: int
    hands: int
    stacks: tuple[int, ...]  # at the end, by player
    conduct: tuple[Conduct, ...]  # by player

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_dict(found: dict[str, Any]) -> FreezeOutGame:
        """What `as_dict` gave."""
        try:
            conduct = tuple(Conduct(**each) for each in found["conduct"])
            return FreezeOutGame(int(found["number"]), int(found["hands"]), tuple(found["stacks"]), conduct)
        except (KeyError, TypeError, ValueError):
            raise FileError("A kept game is damaged: it does not say who had what at its end.") from None


@dataclass(frozen=True)
class FreezeOutScore:
    """Of one player."""

    name: str
    wins: int
    rate: float  # of games won, where a draw is half a win
    interval: tuple[float, float]  # of 95% (Wilson 1927), of the rate
    broke: int  # games in which he lost all
    won: Estimate  # a game, in the money of the blinds
    conduct: Conduct


@dataclass(frozen=True)
class FreezeOutResult:
    """Of some games."""

    names: tuple[str, ...]
    stack: int
    hand_limit: int  # hands in a game, at most
    limit: float  # seconds a decision
    games: tuple[FreezeOutGame, ...]

    @property
    def draws(self) -> int:
        """Games after which both had the same."""
        return sum(game.stacks[0] == game.stacks[1] for game in self.games)

    @property
    def hands(self) -> int:
        """Of all games."""
        return sum(game.hands for game in self.games)

    @property
    def scores(self) -> tuple[FreezeOutScore, ...]:
        """By player."""
        return tuple(self._score(player) for player in range(len(self.names)))

    def _score(self, player: int) -> FreezeOutScore:
        count, conduct = len(self.games), Conduct()
        for game in self.games:
            conduct.add(game.conduct[player])
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
            conduct,
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
        return "\n".join([self._heading(), *_columns(self._cells()), *self._remarks()])

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
                    f"{MILLI * score.conduct.seconds / max(1, score.conduct.decisions):.3f}",
                ]
            )
        return rows

    def _remarks(self) -> list[str]:
        draws = f"{self.draws:,} draws, each half a win; " if self.draws else "no draws; "
        lines = [f"  {draws}{self.hands:,} hands in all"]
        return [*lines, *filter(None, (score.conduct.told(score.name) for score in self.scores))]


def _score_dict(score: FreezeOutScore) -> dict[str, Any]:
    conduct = score.conduct
    facts: dict[str, Any] = {
        "name": score.name,
        "wins": score.wins,
        "win_rate": score.rate,
        "win_rate_interval_95": list(score.interval),
        "broke": score.broke,
        "won_per_game": score.won.mean,
        "won_per_game_interval_95": score.won.interval(),
        "faults": conduct.faults,
    }
    if conduct.first_error:
        facts["first_error"] = conduct.first_error
    if conduct.decisions:
        facts["milliseconds_per_action"] = MILLI * conduct.seconds / conduct.decisions
        facts["longest_action_milliseconds"] = MILLI * conduct.longest
    return facts


def _columns(rows: list[list[str]]) -> list[str]:
    """The first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(["", row[0].ljust(widths[0]), *cells[1:]]))
    return lines
