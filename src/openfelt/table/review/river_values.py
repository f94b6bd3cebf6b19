"""Exact values of a decision on the river with two players: a best response to the bot's range and policy."""

from __future__ import annotations

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.bots.view import HoldemView, holdem_view
from openfelt.cards.deck import BOARD_CARDS, PAIR_CARDS, PAIRS, RIVER
from openfelt.cards.evaluator import hand_value, hand_values
from openfelt.core.jit import Floats
from openfelt.games.holdem import Betting, bet, betting_actions, is_over, players_in
from openfelt.table.review.ranges import DecisionPoint, action_shares


def river_values(at: DecisionPoint, bot: Bot) -> Floats | None:
    """[actions] expected winnings; None before the river, or if there is no one bot with a policy or rule."""
    if at.game.players != 2 or len(at.board) < BOARD_CARDS[RIVER] or not bot.plays_in_kernels:
        return None
    return _RiverValues(at, bot).of_actions()


class _RiverValues:
    def __init__(self, at: DecisionPoint, bot: Bot) -> None:
        self._at, self._bot = at, bot
        hands = np.concatenate([PAIR_CARDS, np.broadcast_to(at.board, (PAIRS, len(at.board)))], axis=1)
        behind = hand_value((*at.hole, *at.board)) - hand_values(hands.astype(np.uint8))
        self._share = (np.sign(behind) + 1) / 2  # [1326] of the pot, at a showdown

    def of_actions(self) -> Floats:
        at = self._at
        begun = HoldemView(at.game, at.seat, (), (), (), at.line).betting
        reach = at.ranges[1 - at.seat]
        return np.array([self._value(bet(begun, word), (*at.line, word), reach) for word in at.actions])

    def _value(self, betting: Betting, line: tuple[str, ...], reach: Floats) -> float:
        """What the person wins from the hands of the bot that get here, times their reach [1326]."""
        at = self._at
        if is_over(betting):
            inside = players_in(betting)
            share = self._share if len(inside) > 1 else float(at.seat in inside)
            return float((reach * (sum(betting.paid) * share - betting.paid[at.seat])).sum())
        words = betting_actions(betting)
        if betting.turn == at.seat:
            return max(self._value(bet(betting, word), (*line, word), reach) for word in words)
        shares = action_shares(self._bot, holdem_view(at.game, betting.turn, (), at.board, line), at.hole)
        assert shares is not None  # bots that play in kernels report them
        return sum(
            self._value(bet(betting, word), (*line, word), reach * likely)
            for word, likely in zip(words, shares, strict=True)
        )
