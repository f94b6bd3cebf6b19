"""Who tells newcomers what there is: games, bots and their strengths, and how a bot plays as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from openfelt.bots.bot import Bot
from openfelt.bots.registry import BOTS
from openfelt.core.version import VERSION
from openfelt.games.game import Game
from openfelt.table.lobby.bots import Bots
from openfelt.table.lobby.lobby import TABLE_GAMES, bots_for, table_game, title
from openfelt.table.lobby.policy_views import policy_grid, preflop_matrix
from openfelt.table.lobby.strength import strength
from openfelt.table.review.luck_adjusted import luck_free
from openfelt.table.session.table_hand import TableHand

WARM_UP = 5  # hands
NOBODY = -9  # the seat of a person who is not there


class Guide:
    """What the lobby asks; answers are ready for JSON."""

    def __init__(self, bots: Bots) -> None:
        self._bots = bots
        self._ready: set[tuple[str, str]] = set()

    def lobby(self) -> dict[str, Any]:
        """The games, and who can be played."""
        return {"version": VERSION, "games": [self._game(name) for name in TABLE_GAMES]}

    def _game(self, name: str) -> dict[str, Any]:
        game = table_game(name)
        facts = {"name": game.name, "title": title(game), "summary": TABLE_GAMES[name]}
        bots = [asdict(bot) for bot in bots_for(game, self._bots.extra)]
        return {**facts, "players": game.players, "bots": bots}

    def prepare(self, game: object, bots: object) -> None:
        """Have our own bots ready: some learn, and compile what they need, when they are first asked."""
        rules, names = self._bots.named(game, bots)
        for name in names:
            bot = self._bots.make(name, rules)
            if name in BOTS and (name, rules.name) not in self._ready and not bot.learns:
                _play_alone(bot, rules)
                self._ready.add((name, rules.name))

    def grid(self, game: str, bot: str) -> dict[str, Any]:
        """The whole policy of a bot in a small game."""
        rules = table_game(game)
        found = policy_grid(rules, self._bots.make(bot, rules))
        return {**found, "bot": bot, "strength": strength(bot, rules)}

    def matrix(self, game: str, bot: str, line: Sequence[str]) -> dict[str, Any]:
        """What a bot does with the 169 starting hands."""
        rules = table_game(game)
        found = preflop_matrix(rules, self._bots.make(bot, rules), line)
        return {**found, "bot": bot, "strength": strength(bot, rules)}


def _play_alone(bot: Bot, game: Game) -> None:
    """Some hands of a bot with itself, with all that is worked out after a hand."""
    for number in range(WARM_UP):
        live = TableHand(game, dict.fromkeys(range(game.players), bot), NOBODY, f"{number:064x}", "")
        live.go_on()
        luck_free(live.hand, 0, live.bots)
