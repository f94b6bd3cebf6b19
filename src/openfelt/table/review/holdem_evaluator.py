"""Evaluation of hands in hold'em: EV losses by rollouts, luck by the equity of the pot.

A best response to the bots is out of reach here. After the evaluated action the person therefore continues as
`default` would, or in games that `default` does not play as the bot in the next seat.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, singledispatch

from openfelt.bots.bot import Bot
from openfelt.bots.formula.ace1 import Ace1
from openfelt.bots.formula.chen import Chen
from openfelt.bots.policy_bot import policy_bot
from openfelt.core.jit import Floats
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem
from openfelt.policy.files import DEFAULT, load_policy
from openfelt.policy.policy import Policy
from openfelt.table.review.ev_loss import OFF_POLICY, UNAVAILABLE, EvLosses, HandEvaluator, decision_loss
from openfelt.table.review.luck_adjusted import HoldemLuck
from openfelt.table.review.ranges import decision_points
from openfelt.table.review.rollouts import bot_rollouts, kernel_rollouts

ROLLOUTS = 100_000  # per decision, in kernels
HALF_WIDTH = 1.96  # standard errors in half of a 95% interval
ESTIMATED = (
    "Estimated from {count:,} rollouts per action. The bots' cards are drawn from their ranges after their "
    "actions so far, and the bots continue with their policies; you continue as {substitute} would. ± is "
    "half of the 95% interval of the loss."
)


class HoldemEvaluator(HandEvaluator):
    """Uses the probabilities that the bots report: with their cards in the hand, and with all others."""

    def __init__(self, game: Holdem, hand: Hand, seat: int, bots: Mapping[int, Bot]) -> None:
        super().__init__(hand, seat, bots)
        self._game = game

    def _ev_losses(self) -> EvLosses:
        points = decision_points(self._game, self._hand, self._seat, self._bots)
        if points is None:
            return EvLosses(UNAVAILABLE, False, ())
        seats, substitute = self._seats()
        in_kernels = all(bot.plays_in_kernels for bot in seats)
        # Not limited by time, so that the result is always the same.
        count = ROLLOUTS if in_kernels else min(map(affordable_rollouts, seats)) // len(points)
        rollouts = kernel_rollouts if in_kernels else bot_rollouts
        decisions = [
            decision_loss(point.step, *means_and_intervals(rollouts(point, seats, count))) for point in points
        ]
        explain = ESTIMATED.format(count=count, substitute=substitute)
        is_off_policy = any(point.off_policy for point in points)
        return EvLosses(explain + OFF_POLICY * is_off_policy, False, tuple(decisions))

    def _seats(self) -> tuple[list[Bot], str]:
        """The bots that continue in each seat, and who continues for the person, in words."""
        game = self._game
        if game.unabstracted == Holdem():
            own: Bot = policy_bot(default_policy(), game)
            substitute = "the bot default"
        else:
            own, substitute = self._bots[(self._seat + 1) % game.players], "the bot in the next seat"
        seats = [own if player == self._seat else self._bots[player] for player in range(game.players)]
        for bot in seats:
            bot.use_tables()
        return seats, substitute

    def _luck_adjusted(self) -> float:
        return HoldemLuck(self._hand, self._game, self._seat).adjusted()


@cache
def default_policy() -> Policy:
    """The policy with which the person continues."""
    return load_policy(DEFAULT)


@singledispatch
def affordable_rollouts(bot: Bot) -> int:
    """How many rollouts of a hand take about two seconds; no limit for bots that play in kernels."""
    return ROLLOUTS if bot.plays_in_kernels else 2_000


@affordable_rollouts.register
def _(bot: Ace1) -> int:
    return 6_000


@affordable_rollouts.register
def _(bot: Chen) -> int:
    return 5_000


def means_and_intervals(won: Floats) -> tuple[Floats, Floats]:
    """From winnings [hands, actions]: the means, and the intervals of their differences to the best."""
    means = won.mean(axis=0)
    losses = won[:, [int(means.argmax())]] - won
    return means, HALF_WIDTH * losses.std(axis=0, ddof=1) / math.sqrt(len(won))
