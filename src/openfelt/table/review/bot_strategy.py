"""What a bot plays in a spot that a hand of limit hold'em came to, for all hands at once."""

from __future__ import annotations

from threading import Lock

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.bots.resolve.blueprint import Blueprint
from openfelt.bots.view import holdem_view
from openfelt.cards.deck import PAIRS
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.holdem import Holdem
from openfelt.spots.lines import parse_line
from openfelt.table.review.bot_policies import kernel_policy, probabilities

WORDS = {"f": "fold", "x": "check", "c": "call", "b": "bet", "r": "raise"}  # in the order of a spot's actions


def has_strategy(bot: Bot) -> bool:
    """Whether a bot plays a known policy, or plays all hands alike."""
    return not bot.learns and (kernel_policy(bot) is not None or bool(bot.plays_in_kernels and bot.rule))


class BotStrategy:
    """The strategy of a bot after the actions `before` the spot; may be asked from several threads."""

    def __init__(self, bot: Bot, game: Holdem, seat: int, before: tuple[str, ...]) -> None:
        self._bot, self._game, self._seat, self._before = bot, game, seat, before
        policy = kernel_policy(bot)
        self._blueprint = None if policy is None else Blueprint(policy)
        self._lock = Lock()

    def strategy(self, line: str, board: tuple[int, ...]) -> Floats:
        """[actions, 1326] after a line of the spot, on a board."""
        words = tuple(WORDS.get(token[0], token) for token in parse_line(line).actions)
        view = holdem_view(self._game, self._seat, (), board, (*self._before, *words))
        order = sorted(range(len(view.actions)), key=lambda each: [*WORDS.values()].index(view.actions[each]))
        if self._blueprint is not None:
            with self._lock:
                node = self._blueprint.tree.find_node(view.line)
                return self._blueprint.at(node, board)[order]
        shares = probabilities(self._bot, view)
        if shares is None:
            raise FeltError("The action probabilities of this bot are not known.")
        return np.repeat(np.array(shares)[order, None], PAIRS, axis=1)
