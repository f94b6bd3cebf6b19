"""The bots of a server, created once per name and game. Clients can choose only from the listed ones."""

from __future__ import annotations

from collections.abc import Sequence

from openfelt.bots.bot import Bot
from openfelt.core.errors import FeltError
from openfelt.games.game import Game
from openfelt.table.lobby.lobby import table_bot, table_game
from openfelt.table.presentation.registry import presentation_of

MOST_BOTS = 100


def parse_request(game: object, bots: object) -> tuple[Game, list[str]]:
    """The game and the bots' names in a client's request for a session."""
    if not isinstance(game, str):
        raise FeltError("A session needs the name of a game.")
    rules = table_game(game)
    opponents = rules.players - 1
    if not isinstance(bots, list) or len(bots) != opponents:
        title = presentation_of(rules).title
        raise FeltError(f"{title} needs {opponents} {'bot' if opponents == 1 else 'bots'}.")
    return rules, [str(name) for name in bots]


class BotPool:
    """For one thread. A bot that learns is created anew for each session."""

    def __init__(self, extra: Sequence[str] = ()) -> None:
        self.extra = tuple(extra)  # allowed on the command line besides the included bots
        self._bots: dict[tuple[str, str], Bot] = {}

    def get(self, name: str, game: Game) -> Bot:
        """The bot of that name."""
        key = name, game.name
        if key in self._bots:
            return self._bots[key]
        bot = table_bot(name, game, self.extra)
        if not bot.learns:
            self._bots[key] = bot
            if len(self._bots) > MOST_BOTS:
                del self._bots[next(iter(self._bots))]
        return bot
