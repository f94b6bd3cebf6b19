"""Round-robin tournaments: matches that share their deals, and a cross table of the results.

In a two-player game all pairs meet, in a three-player game all triples. All matches have the same seed, so
bots are compared on the same cards. With a folder, each match has a sub-folder, and if bots are added later,
only their matches are played.
"""

from __future__ import annotations

import csv
import io
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from openfelt.arena.cross_table import CrossTable
from openfelt.arena.decision_stats import DecisionStats
from openfelt.arena.match import HANDS, Spans, block_spans, match, plan_match, play_blocks, units_of
from openfelt.arena.match_blocks import DUPLICATE, BlockResult, Contest, Setup
from openfelt.arena.match_folder import MatchFolder
from openfelt.arena.result import MatchResult
from openfelt.bots.files import named_files
from openfelt.bots.registry import load_bot
from openfelt.core.errors import FeltError
from openfelt.core.journal import Journal
from openfelt.core.workers import Job, Workers, as_done, is_cluster
from openfelt.games.game import AnyGame, Game, Unit
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.policy.files import game_of

KIND, STEM = "tournament", "cross-table"


class Amount(NamedTuple):
    """Mean winnings in the unit in which they are reported."""

    mean: float
    interval: float  # half the width of the 95% interval


def mean_of(amounts: Sequence[Amount]) -> Amount:
    """The mean of winnings in several matches.

    They were won on the same deals, so their errors are not independent. The interval is correct if the
    errors are fully correlated, and otherwise wider than necessary.
    """
    return Amount(*(sum(column) / len(amounts) for column in zip(*amounts, strict=True)))


@dataclass(frozen=True)
class TournamentResult:
    """The results of all matches."""

    game: str
    players: int
    bots: tuple[str, ...]  # names, in the order given
    matches: tuple[MatchResult, ...]

    @property
    def unit(self) -> Unit:
        """In which winnings are reported."""
        return self.matches[0].unit

    def won(self, bot: str, *opponents: str) -> Amount:
        """What a bot won on average over all matches with these opponents."""
        players = {bot, *opponents}
        matches = [each for each in self.matches if players <= {score.name for score in each.scores}]
        amounts = [each.amount(each.score(bot).won) for each in matches]
        return mean_of([Amount(amount.mean, amount.interval()) for amount in amounts])

    @property
    def ranking(self) -> tuple[str, ...]:
        """The bots by their winnings, the highest first."""
        return tuple(sorted(self.bots, key=lambda bot: (-self.won(bot).mean, bot)))

    @property
    def cross_table(self) -> CrossTable:
        """The winnings of each bot against each opponent."""
        names = self.ranking
        nothing = Amount(math.nan, math.nan)
        cells = np.array(
            [[nothing if row == column else self.won(row, column) for column in names] for row in names]
        )
        mean = np.array([self.won(name) for name in names])
        against = "against" if self.players == 2 else "at tables with"
        return CrossTable(
            names,
            cells[..., 0],
            cells[..., 1],
            mean[:, 0],
            mean[:, 1],
            self.unit.name,
            self.unit.digits,
            against,
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        standings = [(name, self.won(name)) for name in self.ranking]
        return {
            "game": self.game,
            "unit": self.unit.name,
            "ranking": [
                {"name": name, "won": won.mean, "interval_95": won.interval} for name, won in standings
            ],
            "matches": [each.as_dict() for each in self.matches],
        }

    def heading(self) -> str:
        """One line: game, number of matches, hands per match."""
        first, count = self.matches[0], len(self.matches)
        what = ("pairing" if self.players == 2 else "table") + "s" * (count != 1)
        how = ", each in every seating" if first.dealing == DUPLICATE else ""
        return f"{self.game}: {count} {what} of {first.hands:,} hands ({first.deals:,} deals{how})"

    def __str__(self) -> str:
        table = self.cross_table
        unit = f"  {table.unit} won by the bot of the row, on average and {table.against} each; ± 95%"
        if adjustment := self.matches[0].adjustment:
            unit += f"; adjusted for luck by {adjustment}"
        faults = (line for bot in self.bots for line in self._stats(bot).fault_lines(bot))
        return "\n".join([self.heading(), unit, table.text(), *faults])

    def _stats(self, bot: str) -> DecisionStats:
        """Of a bot in all of its matches."""
        stats = DecisionStats()
        for score in (score for each in self.matches for score in each.scores if score.name == bot):
            stats.add(score.stats)
        return stats

    def csv(self) -> str:
        """One line per bot and match."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["bot", "against", "won", "interval_95", "unit", "hands"])
        for each in self.matches:
            for score in each.scores:
                opponents = "+".join(other.name for other in each.scores if other is not score)
                amount = each.amount(score.won)
                cells = [f"{number:.6g}" for number in (amount.mean, amount.interval())]
                writer.writerow([score.name, opponents, *cells, self.unit.name, score.hands])
        return text.getvalue()

    def markdown(self, *, figure: bool) -> str:
        """The page cross-table.md; `figure` says whether there is a cross-table.png beside it."""
        table, adjustment = self.cross_table, self.matches[0].adjustment
        lines = [
            f"# {self.heading()}",
            "",
            f"Winnings of the bot of a row in {table.unit}, on average over all matches and {table.against}",
            "the bot with the column's number, ± half the 95% interval. All matches share their deals, so",
            "the interval of an average assumes that their errors are fully correlated.",
            *([f"Winnings are adjusted for luck by {adjustment}."] if adjustment else []),
            "",
            table.markdown(),
            "",
            *([f"![cross table]({STEM}.png)", ""] if figure else []),
            *filter(None, (self._stats(bot).fault_report(bot) for bot in self.bots)),
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
    processes: Workers = 1,
    strict: bool = False,
    folder: str | Path | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> TournamentResult:
    """Play a round-robin tournament.

    Parameters
    ----------
    bots : str
        Names of all bots (`felt bots` lists them; folders of runs too), each once.
    game : Game, str or Path, optional
        By default that of the first trained policy, else two-player hold'em.
    hands : int
        The number of hands of each match.
    seed, dealing, limit, aivat, compiled, processes, strict
        As in `match`.
    folder : str or Path, optional
        Save the matches there, each in a sub-folder; a later call resumes the tournament.
    progress : callable
        Called with the number of hands played since its last call.

    Returns
    -------
    TournamentResult
        The result of each match, the ranking and the cross table.

    Examples
    --------
    >>> felt.tournament("random", "always-call", "probe", game="kuhn", hands=2000).ranking
    ('probe', 'always-call', 'random')
    """
    rules = load_game(game) if game is not None else game_of_bots(bots)
    tables = pairings(bots, rules)
    for bot in bots:
        load_bot(bot, rules)  # report a wrong name before anything is played
    if folder:
        setup = {"game": rules.name, "seed": seed, "dealing": dealing, "aivat": aivat, "compiled": compiled}
        Journal.open(Path(folder), KIND, {**setup, "limit": None if limit == math.inf else limit})
    with TemporaryDirectory() as temporary:
        if is_cluster(processes):
            folder = folder or temporary
            wanted = Setup("", (), seed, dealing, 0, limit, compiled, aivat, False, strict)
            _play_together(_Plan(tables, rules, wanted, hands), Path(folder), processes, progress)
            processes, progress = 1, lambda _: None  # all blocks are played
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
                strict=strict,
                folder=Path(folder) / table_name(table) if folder else None,
                progress=progress,
            )
            for table in tables
        ]
    return TournamentResult(rules.name, rules.players, tuple(bots), tuple(matches))


class _Plan(NamedTuple):
    """The matches of a tournament."""

    tables: list[tuple[str, ...]]
    game: Game
    setup: Setup  # of each, except for its bots
    hands: int


def _play_together(plan: _Plan, folder: Path, processes: Workers, progress: Callable[[int], object]) -> None:
    """Play the blocks of all matches as one job, so that no worker waits for the end of a match."""
    setups, folders, units = list[Setup](), list[MatchFolder](), list[tuple[int, Spans]]()
    begun = time.perf_counter()
    for number, table in enumerate(plan.tables):
        contest, deals = plan_match(table, plan.game, plan.setup, plan.hands)
        setups.append(contest.setup)
        folders.append(MatchFolder(folder / table_name(table), contest))
        stored = {span: folders[-1].find(*span) for span in block_spans(contest, deals)}
        progress(sum(block.hands for block in stored.values() if block))
        missing = [span for span, block in stored.items() if not block]
        units += [(number, spans) for spans in units_of(contest, missing, processes)]
    job = Job(_Tables, setups, files=named_files(name for table in plan.tables for name in table))
    for place, blocks in as_done(job, units, processes):
        number, spans = units[place]
        seconds = (time.perf_counter() - begun) / len(setups)
        for span, block in zip(spans, blocks, strict=True):
            folders[number].append(*span, block, folders[number].seconds_before + seconds)
            progress(block.hands)


class _Tables:
    """Plays blocks of any match of a tournament; the bots of the last one stay loaded."""

    def __init__(self, setups: list[Setup]) -> None:
        self._setups = setups
        self._number, self._contest = -1, list[Contest]()

    def __call__(self, unit: tuple[int, Spans]) -> list[BlockResult]:
        number, spans = unit
        if number != self._number:
            self._contest.clear()
            self._contest.append(Contest(self._setups[number]))
            self._number = number
        return play_blocks(self._contest[0], spans)


def pairings(bots: Sequence[str], game: Game) -> list[tuple[str, ...]]:
    """The bots of each match, in alphabetical order, whatever the order in which they are given."""
    for bot in bots:
        if bots.count(bot) > 1:
            raise FeltError(f"A tournament names each bot once, but {bot} is named twice.")
    if len(bots) < game.players:
        raise FeltError(f"A tournament of {game.name} needs {game.players} bots or more, not {len(bots)}.")
    return list(combinations(sorted(bots), game.players))


def table_name(bots: Sequence[str]) -> str:
    """The name of the sub-folder of a match, different for every match."""
    return "+".join(quote(bot, safe="@") for bot in bots)


def game_of_bots(bots: Sequence[str]) -> Game:
    """The default game: that of the first trained policy, else two-player hold'em."""
    for bot in bots:
        game = game_of(bot.partition("@")[2] or bot)
        if game is not None:
            return game if game.is_enumerable else Holdem(game.players)
    return Holdem()
