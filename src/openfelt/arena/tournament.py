"""Tournaments: everybody against everybody, as matches that share their deals, and a cross table of them.

Of a two-player game all pairs meet, of a three-player game all triples. All matches have the same seed, so
that bots are compared on the same cards. Each is a match of its own in every respect: with a folder it has a
sub-folder, and bots that are added later only play what has not been played.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from openfelt.arena.contest import DUPLICATE
from openfelt.arena.cross_table import CrossTable
from openfelt.arena.match import HANDS, match
from openfelt.arena.result import MatchResult
from openfelt.arena.table import Conduct
from openfelt.bots.registry import load_bot
from openfelt.core.errors import FeltError
from openfelt.core.journal import Journal
from openfelt.games.game import AnyGame, Game
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.policy.files import game_of

KIND, STEM = "tournament", "cross-table"


class Amount(NamedTuple):
    """Winnings in the unit that they are told in, with half the 95% interval."""

    mean: float
    interval: float


def mean_of(amounts: Sequence[Amount]) -> Amount:
    """The mean of winnings at several tables.

    They were won on the same deals, so their errors do not cancel out as independent ones would. The
    interval is right if they all go the same way, and otherwise wider than it need be.
    """
    return Amount(*(sum(column) / len(amounts) for column in zip(*amounts, strict=True)))


@dataclass(frozen=True)
class TournamentResult:
    """Of all matches."""

    game: str
    players: int
    bots: tuple[str, ...]  # as they were named
    matches: tuple[MatchResult, ...]

    @property
    def unit(self) -> str:
        """That winnings are told in."""
        return self.matches[0].amount_unit

    def won(self, bot: str, *others: str) -> Amount:
        """What a bot won at all tables where these others sat too."""
        tables = [found for found in self.matches if {bot, *others} <= {score.name for score in found.scores}]
        amounts = [found.amount(found.score(bot).won) for found in tables]
        return mean_of([Amount(amount.mean, amount.interval()) for amount in amounts])

    @property
    def ranking(self) -> tuple[str, ...]:
        """The bots, the one that won most first."""
        return tuple(sorted(self.bots, key=lambda bot: (-self.won(bot).mean, bot)))

    @property
    def cross_table(self) -> CrossTable:
        """Everybody against everybody."""
        names = self.ranking
        nothing = Amount(math.nan, math.nan)
        cells = np.array(
            [[nothing if row == column else self.won(row, column) for column in names] for row in names]
        )
        mean = np.array([self.won(name) for name in names])
        digits = 1 if self.matches[0].in_blinds else 4
        against = "against" if self.players == 2 else "at tables with"
        return CrossTable(
            names, cells[..., 0], cells[..., 1], mean[:, 0], mean[:, 1], self.unit, digits, against
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        standings = [(name, self.won(name)) for name in self.ranking]
        return {
            "game": self.game,
            "unit": self.unit,
            "ranking": [
                {"name": name, "won": won.mean, "interval_95": won.interval} for name, won in standings
            ],
            "matches": [found.as_dict() for found in self.matches],
        }

    def heading(self) -> str:
        """What was played, in a line."""
        first, count = self.matches[0], len(self.matches)
        what = ("pairing" if self.players == 2 else "table") + "s" * (count != 1)
        how = ", each in every seating" if first.dealing == DUPLICATE else ""
        return f"{self.game}: {count} {what} of {first.hands:,} hands ({first.deals:,} deals{how})"

    def __str__(self) -> str:
        table = self.cross_table
        unit = f"  {table.unit} won by the bot of the row, in the mean and {table.against} each; ± 95%"
        return "\n".join([self.heading(), unit, table.text(), *self._faults()])

    def _faults(self) -> list[str]:
        lines = []
        for bot in self.bots:
            conduct = Conduct()
            for score in (score for found in self.matches for score in found.scores if score.name == bot):
                conduct.add(score.conduct)
            lines.append(conduct.told(bot))
        return [line for line in lines if line]

    def csv(self) -> str:
        """A line for each bot at each table."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["bot", "against", "won", "interval_95", "unit", "hands"])
        for found in self.matches:
            for score in found.scores:
                others = "+".join(other.name for other in found.scores if other is not score)
                amount = found.amount(score.won)
                cells = [f"{number:.6g}" for number in (amount.mean, amount.interval())]
                writer.writerow([score.name, others, *cells, self.unit, score.hands])
        return text.getvalue()

    def markdown(self, *, figure: bool) -> str:
        """The page cross-table.md; `figure` says whether cross-table.png lies beside it."""
        table = self.cross_table
        lines = [
            f"# {self.heading()}",
            "",
            f"What the bot of a row won, in {table.unit}, in the mean over all tables and {table.against}",
            "the bot that has the column's number, ± half the 95% interval. All tables share their deals, so",
            "the interval of a mean takes their errors as if they all went the same way.",
            "",
            table.markdown(),
            "",
            *([f"![cross table]({STEM}.png)", ""] if figure else []),
            *self._faults(),
            f"All numbers: [{STEM}.csv]({STEM}.csv).",
        ]
        return "\n".join(lines) + "\n"


def tournament(
    *bots: str,
    game: AnyGame | None = None,
    hands: int = HANDS,
    seed: int = 0,
    dealing: str = "",
    limit: float = math.inf,
    aivat: bool = False,
    compiled: bool = True,
    processes: int = 1,
    folder: str | Path | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> TournamentResult:
    """Let everybody play everybody.

    `hands` are those of each match; see `match` for the rest. With a `folder`, all that is played is kept
    there, and what was stopped goes on; the cross table is written by `TournamentResult.write`.
    """
    rules = load_game(game) if game is not None else game_of_bots(bots)
    tables = pairings(bots, rules)
    for bot in bots:
        load_bot(bot, rules)  # so that a wrong name is found before anything is played
    if folder:
        setup = {"game": rules.name, "seed": seed, "dealing": dealing, "aivat": aivat, "compiled": compiled}
        Journal.open(Path(folder), KIND, {**setup, "limit": None if limit == math.inf else limit})
    matches = [
        match(
            *table,
            game=rules,
            hands=hands,
            seed=seed,
            dealing=dealing,
            limit=limit,
            aivat=aivat,
            compiled=compiled,
            processes=processes,
            folder=Path(folder) / table_name(table) if folder else None,
            progress=progress,
        )
        for table in tables
    ]
    return TournamentResult(rules.name, rules.players, tuple(bots), tuple(matches))


def pairings(bots: Sequence[str], game: Game) -> list[tuple[str, ...]]:
    """Who meets; in the order of names, so that the order in which bots are given makes no difference."""
    for bot in bots:
        if bots.count(bot) > 1:
            raise FeltError(f"Every bot is named once in a tournament, but {bot} is there twice.")
    if len(bots) < game.players:
        raise FeltError(f"A tournament of {game.name} needs {game.players} bots or more, not {len(bots)}.")
    return list(combinations(sorted(bots), game.players))


def table_name(bots: Sequence[str]) -> str:
    """The name of the sub-folder of a match; no two of them share one."""
    return "+".join(quote(bot, safe="@") for bot in bots)


def game_of_bots(bots: Sequence[str]) -> Game:
    """What is played if nobody says it: the game of the first trained policy, or else hold'em for two."""
    for bot in bots:
        found = game_of(bot.partition("@")[2] or bot)
        if found is not None:
            return Holdem(found.players) if isinstance(found, Holdem) else found
    return Holdem()
