"""What the lobby and the policy pages show: games, bots, their strengths and policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from openfelt.bots.bot import Bot
from openfelt.bots.registry import BOTS
from openfelt.bots.rule_bot import RuleBot
from openfelt.core.version import VERSION
from openfelt.games.game import Game
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.lobby.lobby import TABLE_GAMES, bots_for, table_game
from openfelt.table.lobby.policy_grid import policy_grid
from openfelt.table.lobby.preflop_matrix import preflop_matrix
from openfelt.table.lobby.strength import strength
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.review.evaluator import hand_evaluator
from openfelt.table.session.table_hand import NO_SEAT, TableHand

WARM_UP_HANDS = 5


class LobbyService:
    """For one thread. Results are ready for JSON."""

    def __init__(self, bots: BotPool) -> None:
        self._bots = bots
        self._warm: set[tuple[str, str]] = set()

    def lobby(self) -> dict[str, Any]:
        """The games and their bots."""
        return {"version": VERSION, "games": [self._game(name) for name in TABLE_GAMES]}

    def _game(self, name: str) -> dict[str, Any]:
        game = table_game(name)
        presentation = presentation_of(game)
        facts: dict[str, Any] = {"name": game.name, "title": presentation.title, "summary": TABLE_GAMES[name]}
        facts |= {
            "streets": presentation.streets,
            "positions": list(map(presentation.position, range(game.players))),
        }
        bots = [asdict(bot) for bot in bots_for(game, self._bots.extra)]
        return {**facts, "players": game.players, "bots": bots}

    def prepare_deal(self, game: Game, names: Sequence[str]) -> None:
        """Let included bots take their first actions: enough to deal hands until there is a decision."""
        for bot in {self._bots.get(name, game) for name in names if name in BOTS}:
            for seat in range(game.players):
                others = dict.fromkeys(set(range(game.players)) - {seat}, bot)
                TableHand(game, others, seat, f"{seat:064x}", "").advance()
        for seat in range(game.players):
            folding = dict.fromkeys(set(range(game.players)) - {seat}, RuleBot("always-fold", game))
            live = TableHand(game, folding, seat, f"{seat:064x}", "")
            live.advance()
            if live.over:
                hand_evaluator(live.hand, seat, live.bots).luck_adjusted()

    def prepare(self, game: Game, names: Sequence[str]) -> None:
        """Warm up included bots: some train, and some compile kernels, at their first decision."""
        for name in names:
            bot = self._bots.get(name, game)
            if name in BOTS and (name, game.name) not in self._warm:
                _warm_up(bot, game)
                self._warm.add((name, game.name))

    def grid(self, game: str, bot: str) -> dict[str, Any]:
        """The whole policy of a bot in a small game."""
        rules = table_game(game)
        return {**policy_grid(rules, self._bots.get(bot, rules)), **_about(bot, rules)}

    def matrix(self, game: str, bot: str, line: Sequence[str]) -> dict[str, Any]:
        """The policy of a bot with the 169 starting hands of hold'em, after a betting line."""
        rules = table_game(game)
        return {**preflop_matrix(rules, self._bots.get(bot, rules), line), **_about(bot, rules)}


def _about(bot: str, game: Game) -> dict[str, str]:
    return {"bot": bot, "strength": strength(bot, game)}


def _warm_up(bot: Bot, game: Game) -> None:
    """Play some hands of a bot against itself, with everything that is computed after a hand."""
    for number in range(WARM_UP_HANDS):
        live = TableHand(game, dict.fromkeys(range(game.players), bot), NO_SEAT, f"{number:064x}", "")
        live.advance()
        hand_evaluator(live.hand, 0, live.bots).luck_adjusted()
