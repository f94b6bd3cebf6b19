"""Freeze-outs (TAU 2.1): games of heads-up limit hold'em with stacks, and how many of them each bot wins.

Both start a game with the same stack. The game ends when one is broke or after a maximal number of hands, and
the larger stack wins. The button moves after each hand, and the first button after each game. If no decision
is late, a game depends on the setup and its number alone: not on other games, nor on the number of processes.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openfelt.arena.decision_stats import DecisionStats
from openfelt.arena.freeze_out.result import FreezeOutGame, FreezeOutResult
from openfelt.arena.freeze_out.stack_table import StackDeal, StackTable
from openfelt.arena.hand_kernels import ACTION_DRAWS, deal_block, random_streams
from openfelt.arena.match_folder import bot_fingerprints
from openfelt.arena.participants import Participants
from openfelt.bots.bot import Bot
from openfelt.bots.files import named_files
from openfelt.bots.registry import load_bot
from openfelt.core.errors import FeltError
from openfelt.core.journal import MARKS, Journal
from openfelt.core.workers import Job, Workers, as_done, is_wanted, own_threads
from openfelt.games.compile.betting_tree import compile_holdem
from openfelt.games.holdem import Holdem

CHIP = 10  # money per chip of the rules: blinds are 10 and 20, bets 20 and 40
STACK, HANDS, LIMIT = 10_000, 500, 0.2  # as in TAU
GAMES = 100
GAME_DEALS = 1 << 20  # deals reserved for a game, and so the most hands that it can have
DEAL_BLOCK = 100  # deals at a time
KIND = "freeze-out"


@dataclass(frozen=True)
class FreezeOutSetup:
    """All that a game depends on, except its number."""

    bots: tuple[str, ...]  # by name
    seed: int = 0
    stack: int = STACK  # of each player at the start of a game
    hands: int = HANDS  # most hands in a game
    limit: float = LIMIT  # seconds per decision
    strict: bool = False  # whether a bot's exception or illegal action stops the game

    def __post_init__(self) -> None:
        if len(self.bots) != 2:
            raise FeltError(f"A freeze-out is for 2 bots, not for {len(self.bots)}.")
        if self.stack < CHIP or self.stack % CHIP:
            raise FeltError(f"A stack must be a multiple of the small blind of {CHIP}, not {self.stack}.")
        if not 1 <= self.hands <= GAME_DEALS:
            raise FeltError(f"A game has 1 to {GAME_DEALS:,} hands, not {self.hands}.")
        if not self.limit > 0:
            raise FeltError(f"The time limit of a decision must be above 0 seconds, not {self.limit}.")

    def as_dict(self) -> dict[str, Any]:
        """For JSON: what a game depends on, so without `strict`."""
        limit = None if self.limit == math.inf else self.limit
        facts = {**dataclasses.asdict(self), "bots": list(self.bots), "limit": limit}
        del facts["strict"]
        return facts


def freeze_out(
    *bots: str | Bot,
    games: int = GAMES,
    seed: int = 0,
    stack: int = STACK,
    hands: int = HANDS,
    limit: float = LIMIT,
    processes: Workers = 1,
    strict: bool = False,
    folder: str | Path | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> FreezeOutResult:
    """Play freeze-outs between two bots.

    Parameters
    ----------
    bots : str or Bot
        Two names (`felt bots` lists them; folders of runs too), or two bot objects. Bots that learn start
        each game anew if they are given by name.
    games : int
        How many games to play.
    seed : int
        Deals other cards.
    stack : int
        Of each player, a multiple of the small blind of 10.
    hands : int
        The most hands in a game.
    limit : float
        Seconds per decision.
    processes : int or str
        A number of processes, or "ray" or the address of a Ray cluster. Does not change the result.
    strict : bool
        Raise BotFaultError at the first exception or illegal action of a bot, instead of counting it.
    folder : str or Path, optional
        Save finished games there; a later call resumes.
    progress : callable
        Called with the number of hands of each finished game.

    Returns
    -------
    FreezeOutResult
        All games, and the wins of each bot with an interval.

    Examples
    --------
    >>> felt.freeze_out("always-raise", "always-call", games=2, hands=20).hands
    40
    """
    if games < 1 or games != int(games):
        raise FeltError(f"The number of games must be 1 or more, not {games}.")
    if (count := own_threads(processes)) < 1 or count != int(count):
        raise FeltError(f"The number of processes must be 1 or more, not {processes}.")
    objects = [bot for bot in bots if isinstance(bot, Bot)]
    if objects and len(objects) < len(bots):
        raise FeltError("Give either all bots of a freeze-out by name, or all as objects.")
    if objects and processes != 1:
        raise FeltError("Bots that are given as objects play in one process; name them as FILE.py:CLASS.")
    names = tuple(bot if isinstance(bot, str) else type(bot).__name__ for bot in bots)
    setup = FreezeOutSetup(names, seed, stack, hands, limit, strict)
    match = FreezeOut(setup, objects or None)
    marks = bot_fingerprints(names, match.bots)
    journal = Journal.open(Path(folder), KIND, {**setup.as_dict(), MARKS: marks}) if folder else None
    finished = []
    for game in _games(match, int(games), processes, journal):
        finished.append(game)
        if strict:  # games of a folder may have been played without
            for name, stats in zip(match.names, game.stats, strict=True):
                stats.require_faultless(name)
        progress(game.hands)
    return FreezeOutResult(match.names, stack, hands, limit, tuple(finished))


class FreezeOut:
    """A setup whose bots are loaded."""

    def __init__(
        self,
        setup: FreezeOutSetup,
        bots: Sequence[Bot] | None = None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        """`is_wanted` is called after each hand; if it returns False, the game is abandoned."""
        self._is_wanted = is_wanted
        self.setup, self.game, self._bot_objects = setup, Holdem(), bots
        self.names, self._streams = Participants.of(setup.bots).names, random_streams(setup.seed)
        self.bots = self._load()
        for bot in self.bots:
            if bot.game.unabstracted != self.game:
                raise FeltError(f"A freeze-out is of holdem; {type(bot).__name__} plays {bot.game.name}.")
        self._table = StackTable(self.game, self.bots, compile_holdem(self.game), limit=setup.limit)
        self._table.strict = setup.strict
        learns = any(bot.learns for bot in self.bots)
        self._reloads = learns and bots is None  # bots that learn are loaded again for each game
        self._is_cold = setup.limit < math.inf and (self._reloads or not learns)

    def _load(self) -> list[Bot]:
        if self._bot_objects is None:
            bots = [load_bot(name, self.game) for name in self.setup.bots]
        else:
            bots = list(self._bot_objects)
        for bot in bots:
            bot.use_tables()
        return bots

    def play(self, number: int) -> FreezeOutGame:
        """Play one game."""
        table, stacks, hands = self._table, [self.setup.stack // CHIP] * 2, 0
        if self._is_cold:
            table.warm_up(self._streams)
            self._is_cold = False
        if self._reloads:
            table.bots = self._load()
        table.stats = [DecisionStats(), DecisionStats()]
        for deal in self._deals(number):
            dealer = (number + hands) % 2
            seating = 1 - dealer, dealer  # the dealer is in seat 1
            draws = int(self._streams.actions), (number * GAME_DEALS + hands) * ACTION_DRAWS
            hand = table.play_hand(deal, seating, [stacks[player] for player in seating], draws)
            for player, won in zip(seating, hand.won, strict=True):
                stacks[player] += won
            hands += 1
            if not all(stacks) or not self._is_wanted():
                break
        return FreezeOutGame(number, hands, tuple(CHIP * stack for stack in stacks), tuple(table.stats))

    def _deals(self, number: int) -> Iterator[StackDeal]:
        """The deals of a game."""
        for first in range(0, self.setup.hands, DEAL_BLOCK):
            count = min(DEAL_BLOCK, self.setup.hands - first)
            deals = deal_block(2, self._streams, number * GAME_DEALS + first, count)
            yield from map(StackDeal.of, deals.cards.tolist(), deals.value.tolist())


def _games(
    match: FreezeOut, games: int, processes: Workers, journal: Journal | None
) -> Iterator[FreezeOutGame]:
    """All games in order; those in the journal are not played again."""
    stored = [FreezeOutGame.from_dict(part) for part in journal.parts] if journal else []
    finished = {game.number: game for game in stored}
    missing = [number for number in range(games) if number not in finished]
    job = Job(_open, match.setup, here=match.play, files=named_files(match.setup.bots))
    played = as_done(job, missing, processes)
    for number in range(games):
        while number not in finished:
            _, game = next(played)
            finished[game.number] = game
            if journal:
                journal.append(game.as_dict())
        yield finished[number]


def _open(setup: FreezeOutSetup) -> Callable[[int], FreezeOutGame]:
    return FreezeOut(setup, is_wanted=is_wanted).play
