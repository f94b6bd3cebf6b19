"""Evaluation of hands in hold'em: EV losses by best responses or rollouts, luck by the equity of the pot.

Against one bot that follows a policy or a rule the person continues with a best response
(`best_response.py`). Against others that is out of reach. After the evaluated action the person then
continues in the best of a few ways: as a strong bot, or by always folding, calling or raising. Every action
has its own best way, so its value is at least that of giving up the hand afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, singledispatch

import numpy as np

from openfelt.arena.hand_kernels import random_streams
from openfelt.bots.bot import Bot
from openfelt.bots.formula.ace1 import Ace1
from openfelt.bots.formula.chen import Chen
from openfelt.bots.policy_bot import policy_bot
from openfelt.bots.registry import load_bot
from openfelt.bots.resolver import Resolver
from openfelt.bots.rule_bot import RuleBot
from openfelt.core.jit import Floats
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem
from openfelt.policy.files import DEFAULT, load_policy
from openfelt.policy.policy import Policy
from openfelt.table.lobby.characters import title_of
from openfelt.table.review.best_response import best_response_losses
from openfelt.table.review.board_sample import SAMPLED_BOARDS, board_sample
from openfelt.table.review.estimates import best_way, fair_losses, means_and_intervals
from openfelt.table.review.ev_loss import (
    OFF_POLICY,
    UNAVAILABLE,
    DecisionLoss,
    EvLosses,
    HandEvaluator,
    decision_loss,
)
from openfelt.table.review.fixed_play import fixed_play
from openfelt.table.review.luck_adjusted import HoldemLuck
from openfelt.table.review.ranges import DecisionPoint, decision_points
from openfelt.table.review.rollouts import bot_rollouts, draw_deals, kernel_rollouts

Rollouts = Callable[..., Floats]  # kernel_rollouts or bot_rollouts
ROLLOUTS = 24_000  # per decision, in kernels
LEAST_ROLLOUTS = 16
QUICK_BOARDS = 48  # that may follow a flop, with less than the whole effort
RULES = {  # ways to continue
    "folding to the next bet": "always-fold",
    "calling": "always-call",
    "raising": "always-raise",
}
THREE_HANDED = "poki-like"  # the strong bot with three players
ESTIMATED = (
    "Estimated from {count:,} rollouts per action. The bots' cards are drawn from their ranges after their "
    "actions so far, and the bots continue with their policies; you continue in the best of these ways: "
    "{ways}. ± is half of the 95% interval."
)
BEST_RESPONSE = (
    "Expected winnings if you continue with a best response to the bot: its cards are weighted by its range "
    "after its actions so far, and it continues with its policy. Values without ± are exact; the others are "
    "estimated from sampled cards, and ± is half of the 95% interval."
)
BLUEPRINT = (
    " This bot re-solves late streets while it plays; the review evaluates its blueprint policy instead."
)
ROUGH = f" Before the flop only {SAMPLED_BOARDS} boards are drawn, so these intervals are wide."


class HoldemEvaluator(HandEvaluator):
    """Uses the probabilities that the bots report: with their cards in the hand, and with all others."""

    def __init__(
        self, game: Holdem, hand: Hand, seat: int, bots: Mapping[int, Bot], effort: float = 1.0
    ) -> None:
        super().__init__(hand, seat, {place: without_search(bot) for place, bot in bots.items()})
        self._game, self._effort = game, effort
        self._notes = BLUEPRINT * any(isinstance(bot, Resolver) for bot in bots.values())

    def _ev_losses(self, first: int) -> EvLosses:
        points = decision_points(self._game, self._hand, self._seat, self._bots)
        if points is None:
            return EvLosses(UNAVAILABLE, False, ())
        points = [point for point in points if point.step >= first]
        play = fixed_play(self._bots[1 - self._seat], self._game.bets) if len(self._bots) == 1 else None
        if play is None:
            decisions, explain = self._by_rollouts(points)
        else:
            decisions = best_response_losses(points, play, self._effort)
            explain = BEST_RESPONSE
        exact = not any(any(decision.value_intervals) for decision in decisions)
        explain += self._notes + OFF_POLICY * any(point.off_policy for point in points)
        return EvLosses(explain, exact, tuple(decisions))

    def _by_rollouts(self, points: Sequence[DecisionPoint]) -> tuple[list[DecisionLoss], str]:
        ways = self._ways()
        in_kernels = all(bot.plays_in_kernels for bot in (*ways.values(), *self._bots.values()))
        # Not limited by time, so that the result is always the same.
        cost = min(map(affordable_rollouts, (*ways.values(), *self._bots.values())))
        count = ROLLOUTS if in_kernels else cost // (len(points) * len(ways))
        count = max(LEAST_ROLLOUTS, int(self._effort * count))
        rollouts = kernel_rollouts if in_kernels else bot_rollouts
        decisions = [self._decision(point, ways, rollouts, count) for point in points]
        explain = ESTIMATED.format(count=count, ways=", ".join(ways))
        return decisions, explain + ROUGH * (not points[0].board)

    def _decision(
        self, at: DecisionPoint, ways: Mapping[str, Bot], rollouts: Rollouts, count: int
    ) -> DecisionLoss:
        sample = board_sample(at.hole, at.board, None if self._effort >= 1 else QUICK_BOARDS)
        won = []
        for way in ways.values():
            bots = {**self._bots, self._seat: way}
            won.append(rollouts(at, [bots[seat] for seat in range(self._game.players)], count, sample=sample))
        _, picked = draw_deals(at, count, random_streams(0), sample)
        groups = picked if not sample.is_complete else np.arange(count, dtype=np.int32)
        found = best_way(np.stack(won), groups)
        shared = None if sample.is_complete else picked
        return decision_loss(at.step, *means_and_intervals(found, shared), fair_losses(found, groups))

    def _ways(self) -> dict[str, Bot]:
        """How the person may continue, in words; by rules alone where no strong bot plays in kernels too."""
        game = self._game
        ways: dict[str, Bot] = {name: RuleBot(rule, game) for name, rule in RULES.items()}
        if game.unabstracted == Holdem():
            return {f"as {title_of(DEFAULT)}": policy_bot(default_policy(), game), **ways}
        if game.players == 2 or all(bot.plays_in_kernels for bot in self._bots.values()):
            return ways
        return {f"as {title_of(THREE_HANDED)}": load_bot(THREE_HANDED, game), **ways}

    def _luck_adjusted(self) -> float:
        return HoldemLuck(self._hand, self._game, self._seat).adjusted()


def without_search(bot: Bot) -> Bot:
    """The bot itself, or the blueprint of one that re-solves: its every decision would take seconds."""
    return policy_bot(bot.policy, bot.game) if isinstance(bot, Resolver) else bot


@cache
def default_policy() -> Policy:
    """The policy with which the person continues."""
    return load_policy(DEFAULT)


@singledispatch
def affordable_rollouts(bot: Bot) -> int:
    """How many rollouts of a hand take about a second and a half; no limit for bots that play in kernels."""
    return ROLLOUTS if bot.plays_in_kernels else 1_000


@affordable_rollouts.register
def _(bot: Ace1) -> int:
    return 3_000


@affordable_rollouts.register
def _(bot: Chen) -> int:
    return 2_500
