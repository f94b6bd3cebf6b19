"""Freeze-outs (TAU 2.1): heads-up limit hold'em with stacks, many games, and who wins how many of them.

Both begin a game with the same stack. It ends when one is broke, or after so many hands; who then has more
has won it. The button changes after each hand, and who has it first after each game. As long as nobody is
late, a game depends on the setup and its number alone: not on other games, nor on the number of processes.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from openfelt.arena.freeze_out.result import FreezeOutGame, FreezeOutResult
from openfelt.arena.freeze_out.stack_table import Cards, StackTable
from openfelt.arena.hand_kernels import ACTION_DRAWS, deal_block, luck
from openfelt.arena.lineup import Lineup
from openfelt.arena.match_folder import mark
from openfelt.arena.table import Conduct
from openfelt.bots.bot import Bot
from openfelt.bots.policy_bot import HoldemBot
from openfelt.bots.registry import load_bot
from openfelt.core.errors import FeltError
from openfelt.core.journal import Journal
from openfelt.core.workers import in_processes
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.compile.compiler import compile_any
from openfelt.games.holdem import Holdem

CHIP = 10  # what a chip of the rules is worth: blinds are 10 and 20, bets 20 and 40
STACK, HANDS, LIMIT = 10_000, 500, 0.2  # TAU's
GAMES = 100
GAME_DEALS = 1 << 20  # numbers of deals set apart for a game, so there are no longer ones
DEALT = 100  # at a time
KIND = "freeze-out"


@dataclass(frozen=True)
class FreezeOutSetup:
    """All that a game depends on, but for its number."""

    bots: tuple[str, ...]  # by name
    seed: int = 0
    stack: int = STACK  # of each player, as a game begins
    hands: int = HANDS  # in a game, at most
    limit: float = LIMIT  # seconds a decision

    def __post_init__(self) -> None:
        if len(self.bots) != 2:
            raise FeltError(f"A freeze-out is for 2 bots, not for {len(self.bots)}.")
        if self.stack < CHIP or self.stack % CHIP:
            raise FeltError(f"A stack must be a multiple of the small blind of {CHIP}, not {self.stack}.")
        if not 1 <= self.hands <= GAME_DEALS:
            raise FeltError(f"A game has 1 to {GAME_DEALS:,} hands, not {self.hands}.")
        if not self.limit > 0:
            raise FeltError(f"A decision needs some time, not {self.limit} seconds.")

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        limit = None if self.limit == math.inf else self.limit
        return {**dataclasses.asdict(self), "bots": list(self.bots), "limit": limit}


def freeze_out(
    *bots: str | Bot,
    games: int = GAMES,
    seed: int = 0,
    stack: int = STACK,
    hands: int = HANDS,
    limit: float = LIMIT,
    processes: int = 1,
    folder: str | Path | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> FreezeOutResult:
    """Let two bots play freeze-outs.

    `bots` are names (`felt bots` lists them; folders of runs too) or bots of your own; those that learn begin
    each game anew, if they are named. `stack` is a multiple of the small blind, which is 10. `limit` is in
    seconds a decision. With a `folder`, finished games are kept there, and what was stopped goes on.
    `progress` is told the number of hands of each game.
    """
    if games < 1 or games != int(games):
        raise FeltError(f"The number of games must be 1 or more, not {games}.")
    if processes < 1 or processes != int(processes):
        raise FeltError(f"The number of processes must be 1 or more, not {processes}.")
    given = [bot for bot in bots if isinstance(bot, Bot)]
    if given and len(given) < len(bots):
        raise FeltError("Either all bots of a freeze-out are given by name, or all as objects.")
    if given and processes > 1:
        raise FeltError("Bots that are given as objects play in one process; name them as FILE.py:CLASS.")
    names = tuple(bot if isinstance(bot, str) else type(bot).__name__ for bot in bots)
    setup = FreezeOutSetup(names, seed, stack, hands, limit)
    player = FreezeOut(setup, given or None)
    marks = [mark(name, bot) for name, bot in zip(names, player.players, strict=True)]
    journal = Journal.open(Path(folder), KIND, {**setup.as_dict(), "marks": marks}) if folder else None
    played = []
    for game in _games(player, int(games), int(processes), journal):
        played.append(game)
        progress(game.hands)
    return FreezeOutResult(player.names, stack, hands, limit, tuple(played))


class FreezeOut:
    """A setup made ready to be played: the bots are loaded."""

    def __init__(
        self,
        setup: FreezeOutSetup,
        bots: Sequence[Bot] | None = None,
        go_on: Callable[[], bool] = lambda: True,
    ) -> None:
        self._go_on = go_on  # asked after each hand: a game that nobody waits for any more is broken off
        self.setup, self.game, self._given = setup, Holdem(), bots
        self.names, self._luck = Lineup.of(setup.bots).names, luck(setup.seed)
        players = self.players = self._load()
        for bot in players:
            if not isinstance(bot.game, Holdem) or bot.game.players != 2:
                raise FeltError(f"A freeze-out is of holdem; {type(bot).__name__} plays {bot.game.name}.")
        tree = compile_any(self.game)
        assert isinstance(tree, BettingTree)
        self._table = StackTable(self.game, players, tree, limit=setup.limit)
        learns = any(bot.learns for bot in players)
        self._anew = learns and bots is None  # bots that learn are made anew for each game
        self._cold = setup.limit < math.inf and (self._anew or not learns)

    def _load(self) -> list[Bot]:
        bots = [load_bot(name, self.game) for name in self.setup.bots] if self._given is None else self._given
        for bot in bots:
            if isinstance(bot, HoldemBot):
                bot.use_tables()
        return list(bots)

    def play(self, number: int) -> FreezeOutGame:
        """One game."""
        table, stacks, hands = self._table, [self.setup.stack // CHIP] * 2, 0
        if self._cold:
            cards = next(self._deals(number))
            table.warm_up(cards.holes, cards.board)
            self._cold = False
        if self._anew:
            table.bots = self._load()
        table.conduct = [Conduct(), Conduct()]
        for cards in self._deals(number):
            dealer = (number + hands) % 2
            seating = 1 - dealer, dealer  # in seat 1 sits the dealer
            draws = int(self._luck.actions), (number * GAME_DEALS + hands) * ACTION_DRAWS
            hand = table.play_hand(cards, seating, [stacks[who] for who in seating], draws)
            for who, won in zip(seating, hand.won, strict=True):
                stacks[who] += won
            hands += 1
            if not all(stacks) or not self._go_on():
                break
        worth = tuple(CHIP * stack for stack in stacks)
        return FreezeOutGame(number, hands, worth, tuple(table.conduct))

    def _deals(self, number: int) -> Iterator[Cards]:
        """The cards of a game, some hands at a time."""
        for first in range(0, self.setup.hands, DEALT):
            count = min(DEALT, self.setup.hands - first)
            deals = deal_block(2, self._luck, number * GAME_DEALS + first, count)
            yield from map(Cards.of, deals.cards.tolist(), deals.value.tolist())


def _games(player: FreezeOut, games: int, processes: int, journal: Journal | None) -> Iterator[FreezeOutGame]:
    """All games in the order of their numbers; those that are kept are not played again."""
    kept = [FreezeOutGame.from_dict(part) for part in journal.parts] if journal else []
    found = {game.number: game for game in kept}
    fresh = _played(player, [number for number in range(games) if number not in found], processes)
    for number in range(games):
        if number not in found:
            found[number] = next(fresh)
            if journal:
                journal.keep(found[number].as_dict())
        yield found[number]


def _played(player: FreezeOut, numbers: list[int], processes: int) -> Iterator[FreezeOutGame]:
    """Play games, and give them back in their order."""
    if processes == 1 or len(numbers) < 2:
        yield from map(player.play, numbers)
        return
    yield from in_processes(_play, numbers, processes, _open, player.setup)


_PLAYERS: list[FreezeOut] = []  # of a process that only plays games


def _open(setup: FreezeOutSetup, stop: Event) -> None:
    _PLAYERS.append(FreezeOut(setup, go_on=lambda: not stop.is_set()))


def _play(number: int) -> FreezeOutGame:
    return _PLAYERS[0].play(number)
