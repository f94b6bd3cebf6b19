"""A match from start to end: blocks of deals, distributed over processes, until there are enough.

Blocks are put together in the order of their numbers, so the result depends on the setup and the length
alone: not on the number of processes, nor on whether the match was stopped and resumed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from openfelt.arena.hand_files import write_hands
from openfelt.arena.match_blocks import DUPLICATE, FRESH, BlockResult, Contest, Setup
from openfelt.arena.match_folder import MatchFolder
from openfelt.arena.records import require_history
from openfelt.arena.result import MatchResult, result_of
from openfelt.arena.statistics.estimates import Moments
from openfelt.arena.statistics.sequential_test import UNDECIDED, SequentialTest
from openfelt.bots.bot import Bot
from openfelt.bots.files import named_files
from openfelt.core.errors import FeltError
from openfelt.core.workers import Job, Workers, as_done, is_cluster, own_threads
from openfelt.games.game import AnyGame, Game
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord
from openfelt.policy.files import game_of

COMPILED_BLOCK, PYTHON_BLOCK = 20_000, 200  # deals
CLUSTER_BLOCKS = 25  # blocks of kernels that a cluster gets as one unit: about a second
SESSION = 1_000  # deals in a row for bots that learn
TEST_BLOCK = 500  # deals between two evaluations of a sequential test
HANDS = 60_000  # as in HS14

Span = tuple[int, int]  # first deal and number of deals of a block
Spans = tuple[Span, ...]
Progress = Callable[[int], object]  # called with the number of hands played since the last call


def match(
    *bots: str | Bot,
    game: AnyGame | None = None,
    hands: int = HANDS,
    seed: int = 0,
    dealing: str = "",
    limit: float = math.inf,
    aivat: bool = False,
    compiled: bool = True,
    processes: Workers = 1,
    until: SequentialTest | None = None,
    session: int = 0,
    strict: bool = False,
    history: str | Path | None = None,
    folder: str | Path | None = None,
    progress: Progress = lambda _: None,
) -> MatchResult:
    """Play a match. Every participant takes every seat equally often.

    Parameters
    ----------
    bots : str or Bot
        One per seat: names (`felt bots` lists them; folders of runs too), or bot objects.
    game : Game, str or Path, optional
        By default the game of the first policy that is named, else hold'em.
    hands : int
        The number of hands to play, rounded up to whole deals.
    seed : int
        Deals other cards.
    dealing : {"duplicate", "fresh"}, optional
        Play each deal in every seating, or a new deal for each hand, with the luck of the cards regressed
        out. By default duplicate for two players, fresh for three.
    limit : float
        Seconds per decision.
    aivat : bool
        Adjust winnings by AIVAT where policies are known (`arena/statistics/aivat.py`).
    compiled : bool
        Let kernels play for bots that are policies.
    processes : int or str
        A number of processes, or "ray" or the address of a Ray cluster. Does not change the result.
    until : SequentialTest, optional
        Stop once the test is decided. Its margin is in mbb/h for hold'em, else in the unit of the game.
    session : int
        How many deals in a row a bot that learns plays before it starts anew; 0 for the default.
    strict : bool
        Raise BotFaultError at the first exception or illegal action of a bot, instead of counting it.
    history : str or Path, optional
        Write the hands to this file, .phhs, .phh or .db.
    folder : str or Path, optional
        Save finished blocks there; a later call resumes the match.
    progress : callable
        Called with the number of hands played since its last call.

    Returns
    -------
    MatchResult
        Winnings with intervals, playing style, time and faults of each participant.

    Examples
    --------
    >>> result = felt.match("random", "always-call", game="kuhn", hands=2000)
    >>> result.hands, result.scores[0].name
    (2000, 'random')
    """
    for what, number, least in (
        ("The number of processes", own_threads(processes), 1),
        ("The seed", seed, 0),
        ("The number of deals in a session", session, 0),
    ):
        _require_whole(what, number, least)
    if history:
        require_history(Path(history))
    wanted = Setup("", (), seed, dealing, session, limit, compiled, aivat, bool(history), strict)
    contest, deals = plan_match(bots, game, wanted, hands, TEST_BLOCK if until else 0)
    if processes != 1 and any(isinstance(bot, Bot) for bot in bots) and not contest.compiled:
        raise FeltError("Bots that are given as objects play in one process; name them as FILE.py:CLASS.")
    journal = MatchFolder(Path(folder), contest) if folder else None
    begun, verdict = time.perf_counter() - (journal.seconds_before if journal else 0.0), ""
    blocks: list[BlockResult] = []
    total = Moments.total(())
    for block in _blocks(contest, deals, processes, journal, begun):
        blocks.append(block)
        if strict:  # blocks of a folder may have been played without
            _require_faultless(contest, block)
        progress(block.hands)
        if until:
            total = Moments.total([total, block.moments])
            verdict = until_in_chips(until, contest).verdict(total, contest.columns["won"][0])
            if verdict != UNDECIDED:
                break
    seconds = time.perf_counter() - begun
    if history:
        _write(Path(history), contest, blocks)
    return result_of(contest, blocks, seconds=seconds, verdict=verdict)


def _require_whole(what: str, number: float, least: int) -> None:
    if not (number >= least and math.isfinite(number) and number == int(number)):
        raise FeltError(f"{what} must be a whole number of {least} or more, not {number}.")


def plan_match(
    bots: Sequence[str | Bot], game: AnyGame | None, wanted: Setup, hands: int, test_block: int = 0
) -> tuple[Contest, int]:
    """The contest and its number of deals."""
    contest = _contest(bots, game, wanted, test_block)
    _require_whole("A match's number of hands", hands, 2 * contest.times)
    return contest, _number_of_deals(contest, int(hands))


def _number_of_deals(contest: Contest, hands: int) -> int:
    """Rounded up; with fresh deals to the same number of hands in every seating."""
    deals = -(-hands // contest.times)
    if contest.setup.dealing == FRESH:
        seatings = len(contest.participants.seatings)
        deals = -(-deals // seatings) * seatings
    return deals


def _write(path: Path, contest: Contest, blocks: Sequence[BlockResult]) -> None:
    def all_records() -> Iterator[HandRecord]:
        first = 0
        for block in blocks:
            assert block.leaf is not None
            yield from contest.records(first, block.leaf)
            first += len(block.leaf)

    write_hands(path, all_records(), match=" - ".join(contest.setup.bots))


def until_in_chips(test: SequentialTest, contest: Contest) -> SequentialTest:
    """The test with its margin in the unit of payoffs."""
    return replace(test, margin=test.margin / contest.game.winnings_unit.scale)


def _contest(bots: Sequence[str | Bot], game: AnyGame | None, wanted: Setup, test_block: int) -> Contest:
    """The contest, with defaults for what the setup leaves open."""
    names = tuple(bot if isinstance(bot, str) else _name(bot, bots.index(bot)) for bot in bots)
    objects = [bot for bot in bots if isinstance(bot, Bot)]
    if objects and len(objects) < len(bots):
        raise FeltError("Give either all bots of a match by name, or all as objects.")
    if len(names) < 2:
        raise FeltError("A match needs at least two bots.")
    if game is None and objects:
        game = objects[0].game
    rules = load_game(game) if game is not None else _game_of(names)
    for bot in objects:
        if bot.game.unabstracted.name != rules.unabstracted.name:
            raise FeltError(f"{type(bot).__name__} plays {bot.game.name}, not {rules.name}.")
    dealing = wanted.dealing or (DUPLICATE if rules.players == 2 else FRESH)
    contest = Contest(replace(wanted, game=rules.name, bots=names, dealing=dealing), objects or None)
    if not wanted.block:
        block = test_block or (COMPILED_BLOCK if contest.compiled else PYTHON_BLOCK)
        learns = any(bot.learns for bot in contest.bots)
        contest.setup = replace(contest.setup, block=SESSION if learns else block)
    return contest


def _name(bot: Bot, place: int) -> str:
    return f"{type(bot).__name__}-{place + 1}"


def _game_of(names: Sequence[str]) -> Game:
    """The game of the first named policy of an enumerated game, else hold'em for that many players."""
    for name in names:
        game = game_of(name.partition("@")[2] or name)
        if game is not None and game.is_enumerable:
            return game
    return load_game(f"holdem(players={len(names)})")


def _blocks(
    contest: Contest, deals: int, processes: Workers, journal: MatchFolder | None, begun: float
) -> Iterator[BlockResult]:
    """All blocks in order; those in the journal are not played again."""
    spans = block_spans(contest, deals)
    finished = {span: block for span in spans if journal and (block := journal.find(*span))}
    units = units_of(contest, [span for span in spans if span not in finished], processes)
    played = as_done(_job(contest), units, processes)
    for span in spans:
        while span not in finished:
            place, blocks = next(played)
            for done, block in zip(units[place], blocks, strict=True):
                finished[done] = block
                if journal:
                    journal.append(*done, block, time.perf_counter() - begun)
        yield finished.pop(span)


def _require_faultless(contest: Contest, block: BlockResult) -> None:
    for name, stats in zip(contest.participants.names, block.stats, strict=True):
        stats.require_faultless(name)


def block_spans(contest: Contest, deals: int) -> list[Span]:
    """The blocks of a match."""
    size = contest.setup.block
    return [(first, min(size, deals - first)) for first in range(0, deals, size)]


def units_of(contest: Contest, spans: Sequence[Span], processes: Workers) -> list[Spans]:
    """Blocks as units of work: on a cluster kernels play enough of them to be worth a message."""
    size = CLUSTER_BLOCKS if contest.compiled and is_cluster(processes) else 1
    return [tuple(spans[first : first + size]) for first in range(0, len(spans), size)]


def _job(contest: Contest) -> Job[list[BlockResult]]:
    """Plays blocks: in kernels, which run in parallel in one process, or else in processes."""
    setup, bots = contest.setup, contest.bot_objects
    return Job(
        _open,
        (setup, bots),
        here=partial(play_blocks, contest),
        in_threads=contest.compiled,
        files=() if bots else named_files((setup.game, *setup.bots)),
    )


def _open(setup: tuple[Setup, Sequence[Bot] | None]) -> Callable[[Spans], list[BlockResult]]:
    return partial(play_blocks, Contest(*setup))


def play_blocks(contest: Contest, spans: Spans) -> list[BlockResult]:
    """Play blocks, one after another."""
    return [contest.play(*span) for span in spans]
