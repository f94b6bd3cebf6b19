"""A match from start to end: blocks of deals over processes, kept as they are finished, until it is enough.

The blocks are put together in the order of their numbers, so that the result depends on the setup and the
length alone: not on how many processes there are, nor on whether it was stopped and resumed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing.synchronize import Event
from pathlib import Path

from openfelt.arena.contest import DUPLICATE, FRESH, BlockResult, Contest, Setup
from openfelt.arena.match_folder import MatchFolder
from openfelt.arena.records import records, require_history, write_history
from openfelt.arena.result import MatchResult, result_of
from openfelt.arena.statistics.intervals import UNDECIDED, Moments, SequentialTest
from openfelt.bots.bot import Bot
from openfelt.core.errors import FeltError
from openfelt.core.workers import in_processes
from openfelt.games.game import AnyGame, Game
from openfelt.games.holdem import BIG_BLIND, Holdem
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord
from openfelt.policy.files import game_of

COMPILED_BLOCK, PYTHON_BLOCK = 20_000, 200  # deals
SESSION = 1_000  # deals that bots which learn are given in a row
LOOK = 500  # deals after which a sequential test is asked again
HANDS = 60_000  # HS14's

Progress = Callable[[int], object]  # is told of hands as they are played


def match(
    *bots: str | Bot,
    game: AnyGame | None = None,
    hands: int = HANDS,
    seed: int = 0,
    dealing: str = "",
    limit: float = math.inf,
    aivat: bool = False,
    compiled: bool = True,
    processes: int = 1,
    until: SequentialTest | None = None,
    session: int = 0,
    history: str | Path | None = None,
    folder: str | Path | None = None,
    progress: Progress = lambda _: None,
) -> MatchResult:
    """Let bots play, one for each seat; every seat is taken by everyone equally often.

    `bots` are names (`felt bots` lists them; folders of runs too) or bots of your own. `dealing` is
    "duplicate" (each deal in every seating) or "fresh" (a new deal for each hand, the luck of the cards
    regressed out). `limit` is in seconds a decision. `until` stops the match once a sequential test is
    decided, with its margin in mbb/h in hold'em, in the game's unit otherwise. With a `folder`, what is
    played is kept there, and a match that was stopped goes on. `aivat` takes luck out where policies are
    known (`aivat.py`). `session` is the number of deals that bots which learn are given in a row. `history`
    is a file for the hands, .phhs or .db.
    """
    for what, number, least in (
        ("The number of processes", processes, 1),
        ("The seed", seed, 0),
        ("The number of deals in a session", session, 0),
    ):
        _require_whole(what, number, least)
    if history:
        require_history(Path(history))
    wanted = Setup("", (), seed, dealing, session, limit, compiled, aivat, bool(history))
    contest = _contest(bots, game, wanted, LOOK if until else 0)
    _require_whole("A match's number of hands", hands, 2 * contest.times)
    if processes > 1 and any(isinstance(bot, Bot) for bot in bots) and not contest.compiled:
        raise FeltError("Bots that are given as objects play in one process; name them as FILE.py:CLASS.")
    deals = -(-int(hands) // contest.times)
    if contest.setup.dealing == FRESH:  # the same number of hands in every seating
        rounds = len(contest.lineup.seatings)
        deals = -(-deals // rounds) * rounds
    kept = MatchFolder(Path(folder), contest) if folder else None
    begun, verdict = time.perf_counter() - (kept.seconds_before if kept else 0.0), ""
    blocks: list[BlockResult] = []
    moments: list[Moments] = []
    for block in _blocks(contest, deals, processes, kept, begun):
        blocks.append(block)
        progress(block.hands)
        if until:
            moments = [Moments.total([*moments, block.moments])]
            verdict = until_in_chips(until, contest).verdict(moments[0], contest.columns["won"][0])
            if verdict != UNDECIDED:
                break
    seconds = time.perf_counter() - begun
    if history:
        _write(Path(history), contest, blocks)
    return result_of(contest, blocks, seconds=seconds, verdict=verdict)


def _require_whole(what: str, number: float, least: int) -> None:
    if not (number >= least and math.isfinite(number) and number == int(number)):
        raise FeltError(f"{what} must be a whole number of {least} or more, not {number}.")


def _write(path: Path, contest: Contest, blocks: Sequence[BlockResult]) -> None:
    def all_records() -> Iterator[HandRecord]:
        first = 0
        for block in blocks:
            assert block.leaf is not None
            yield from records(contest, first, block.leaf)
            first += len(block.leaf)

    write_history(path, all_records(), " - ".join(contest.setup.bots))


def until_in_chips(test: SequentialTest, contest: Contest) -> SequentialTest:
    """The test with its margin in the unit of payoffs."""
    return replace(test, margin=test.margin * BIG_BLIND / 1000) if isinstance(contest.game, Holdem) else test


def _contest(bots: Sequence[str | Bot], game: AnyGame | None, wanted: Setup, look: int) -> Contest:
    """A setup with what was left open put in."""
    names = tuple(bot if isinstance(bot, str) else _name(bot, bots.index(bot)) for bot in bots)
    given = None
    if any(isinstance(bot, Bot) for bot in bots):
        if not all(isinstance(bot, Bot) for bot in bots):
            raise FeltError("Either all bots of a match are given by name, or all as objects.")
        given = [bot for bot in bots if isinstance(bot, Bot)]
        game = game or given[0].game
    if len(names) < 2:
        raise FeltError("A match needs at least two bots.")
    rules = load_game(game) if game is not None else _game_of(names)
    for bot in given or ():
        if not _same_rules(bot.game, rules):
            raise FeltError(f"{type(bot).__name__} plays {bot.game.name}, not {rules.name}.")
    dealing = wanted.dealing or (DUPLICATE if rules.players == 2 else FRESH)
    contest = Contest(replace(wanted, game=rules.name, bots=names, dealing=dealing), given)
    if not wanted.block:
        block = look or (COMPILED_BLOCK if contest.compiled else PYTHON_BLOCK)
        learns = any(bot.learns for bot in contest.bots)
        contest.setup = replace(contest.setup, block=SESSION if learns else block)
    return contest


def _same_rules(one: Game, other: Game) -> bool:
    """Whether two games are played alike; the buckets of hold'em make no difference at the table."""
    if isinstance(one, Holdem) and isinstance(other, Holdem):
        return (one.players, one.bets) == (other.players, other.bets)
    return one.name == other.name


def _name(bot: Bot, place: int) -> str:
    return f"{type(bot).__name__}-{place + 1}"


def _game_of(names: Sequence[str]) -> Game:
    """The game of the first policy that is named, or else hold'em for so many."""
    for name in names:
        found = game_of(name.partition("@")[2] or name)
        if found is not None and not isinstance(found, Holdem):
            return found
    return load_game(f"holdem(players={len(names)})")


def _blocks(
    contest: Contest, deals: int, processes: int, kept: MatchFolder | None, begun: float
) -> Iterator[BlockResult]:
    """All blocks in the order of their numbers; those that are kept are not played again."""
    size = contest.setup.block
    wanted = [(first, min(size, deals - first)) for first in range(0, deals, size)]
    missing = [span for span in wanted if not (kept and kept.find(*span))]
    fresh = _played(contest, missing, processes)
    for span in wanted:
        block = kept.find(*span) if kept else None
        if block is None:
            block = next(fresh)
            if kept:
                kept.keep(*span, block, time.perf_counter() - begun)
        yield block


def _played(contest: Contest, spans: list[tuple[int, int]], processes: int) -> Iterator[BlockResult]:
    """Play blocks, and give them back in their order."""
    if processes == 1 or len(spans) < 2:
        yield from (contest.play(*span) for span in spans)
    elif contest.compiled:  # kernels run beside each other in one process
        with ThreadPoolExecutor(processes) as pool:
            yield from pool.map(lambda span: contest.play(*span), spans)
    else:
        yield from in_processes(_play, spans, processes, _open, contest.setup)


_CONTESTS: list[Contest] = []  # of a process that only plays blocks


def _open(setup: Setup, _: Event) -> None:
    _CONTESTS.append(Contest(setup))


def _play(span: tuple[int, int]) -> BlockResult:
    return _CONTESTS[0].play(*span)
