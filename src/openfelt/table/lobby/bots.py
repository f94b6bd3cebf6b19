"""The bots of a server: made once for each name and game, and only such as may be named from outside."""

from __future__ import annotations

from collections.abc import Sequence

from openfelt.bots.bot import Bot
from openfelt.core.errors import FeltError
from openfelt.games.game import Game
from openfelt.table.lobby.lobby import table_bot, table_game, title

KEPT = 100


class Bots:
    """For one thread. Bots that learn are made anew for each session."""

    def __init__(self, extra: Sequence[str] = ()) -> None:
        self.extra = tuple(extra)  # names that whoever started the server allows besides our own
        self._made: dict[tuple[str, str], Bot] = {}

    def named(self, game: object, bots: object) -> tuple[Game, list[str]]:
        """The game and the bots of a session that somebody asks for."""
        if not isinstance(game, str):
            raise FeltError("A session needs the name of a game.")
        rules = table_game(game)
        others = rules.players - 1
        if not isinstance(bots, list) or len(bots) != others:
            raise FeltError(f"{title(rules)} needs {others} {'bot' if others == 1 else 'bots'}.")
        return rules, [str(name) for name in bots]

    def make(self, name: str, game: Game) -> Bot:
        """The bot of that name."""
        key = name, game.name
        if key in self._made:
            return self._made[key]
        bot = table_bot(name, game, self.extra)
        if not bot.learns:
            self._made[key] = bot
            if len(self._made) > KEPT:
                del self._made[next(iter(self._made))]
        return bot
