"""Evaluation of hands in hold'em: EV losses exactly or by rollouts, luck by the equity of the pot.

On the river against one bot values are exact (`river_values.py`). Elsewhere a best response to the bots is
out of reach. After the evaluated action the person therefore continues in the best of a few ways: as a strong
bot, or by always folding, calling or raising. Every action has its own best way, so its value is at least
that of giving up the hand afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, singledispatch

import numpy as np

from openfelt.arena.hand_kernels import random_streams
from openfelt.bots.bot import Bot
from openfelt.bots.formula.ace1 import Ace1
from openfelt.bots.formula.chen import Chen
from openfelt.bots.policy_bot import policy_bot
from openfelt.bots.registry import load_bot
from openfelt.bots.rule_bot import RuleBot
from openfelt.core.jit import Floats, Ints
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem
from openfelt.policy.files import DEFAULT, load_policy
from openfelt.policy.policy import Policy
from openfelt.table.lobby.characters import title_of
from openfelt.table.review.board_sample import SAMPLED_BOARDS, board_sample
from openfelt.table.review.ev_loss import (
    OFF_POLICY,
    UNAVAILABLE,
    DecisionLoss,
    EvLosses,
    HandEvaluator,
    decision_loss,
)
from openfelt.table.review.luck_adjusted import HoldemLuck
from openfelt.table.review.ranges import DecisionPoint, decision_points
from openfelt.table.review.river_values import river_values
from openfelt.table.review.rollouts import bot_rollouts, draw_deals, kernel_rollouts

Rollouts = Callable[..., Floats]  # kernel_rollouts or bot_rollouts
ROLLOUTS = 24_000  # per decision, in kernels
LEAST_ROLLOUTS = 16
QUICK_BOARDS = 48  # that may follow a flop, with less than the whole effort
HALF_WIDTH = 1.96  # standard errors in half of a 95% interval
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
EXACT = (
    "Exact: the bot's cards are weighted by its range after its actions so far, it continues with its "
    "policy, and you continue with a best response."
)
ON_RIVER = " On the river values are exact, and you continue with a best response."
ROUGH = f" Before the flop only {SAMPLED_BOARDS} boards are drawn, so these intervals are wide."


class HoldemEvaluator(HandEvaluator):
    """Uses the probabilities that the bots report: with their cards in the hand, and with all others."""

    def __init__(
        self, game: Holdem, hand: Hand, seat: int, bots: Mapping[int, Bot], effort: float = 1.0
    ) -> None:
        super().__init__(hand, seat, bots)
        self._game, self._effort = game, effort

    def _ev_losses(self, first: int) -> EvLosses:
        points = decision_points(self._game, self._hand, self._seat, self._bots)
        if points is None:
            return EvLosses(UNAVAILABLE, False, ())
        points = [point for point in points if point.step >= first]
        ways = self._ways()
        in_kernels = all(bot.plays_in_kernels for bot in (*ways.values(), *self._bots.values()))
        # Not limited by time, so that the result is always the same.
        cost = min(map(affordable_rollouts, (*ways.values(), *self._bots.values())))
        count = ROLLOUTS if in_kernels else cost // (len(points) * len(ways))
        count = max(LEAST_ROLLOUTS, int(self._effort * count))
        rollouts = kernel_rollouts if in_kernels else bot_rollouts
        exact = [self._exact_decision(point) for point in points]
        decisions = [
            found or self._decision(point, ways, rollouts, count)
            for point, found in zip(points, exact, strict=True)
        ]
        explain = EXACT
        if not all(exact):
            explain = ESTIMATED.format(count=count, ways=", ".join(ways)) + ON_RIVER * any(map(bool, exact))
        notes = ROUGH * (not points[0].board) + OFF_POLICY * any(point.off_policy for point in points)
        return EvLosses(explain + notes, all(map(bool, exact)), tuple(decisions))

    def _exact_decision(self, at: DecisionPoint) -> DecisionLoss | None:
        values = None if len(self._bots) > 1 else river_values(at, self._bots[1 - self._seat])
        if values is None:
            return None
        return decision_loss(at.step, values, np.zeros_like(values), np.zeros_like(values))

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


def best_way(won: Floats, groups: Ints) -> Floats:
    """[hands, actions] winnings in the best way of each action, from all ways [ways, hands, actions].

    The best way of one half of the groups of hands is the one of the highest mean in the other half, so that
    means stay unbiased.
    """
    found = np.empty(won.shape[1:])
    half = groups % 2 == 0
    for own, other in ((half, ~half), (~half, half)):
        source = other if other.any() else own
        best = won[:, source].mean(axis=1).argmax(axis=0)  # [actions]
        for action, way in enumerate(best.tolist()):
            found[own, action] = won[way, own, action]
    return found


def means_and_intervals(won: Floats, groups: Ints | None = None) -> tuple[Floats, Floats, Floats]:
    """From winnings [hands, actions]: means, intervals of their differences to the best, and of the means.

    Hands of a group share their board, and are not independent of each other.
    """
    means = won.mean(axis=0)
    losses = won[:, [int(means.argmax())]] - won
    return means, _half_widths(losses, groups), _half_widths(won, groups)


def fair_losses(won: Floats, groups: Ints) -> tuple[Floats, Floats]:
    """EV losses of all actions, and their standard errors, that can be summed over decisions.

    The highest of noisy means is too high on average. So the best action is chosen on one half of the groups
    and, if it is better by more than a standard error there, its gain is measured on the other half: on
    average this loss is at most the true loss.
    """
    half, gains = groups % 2 == 0, np.zeros_like(won)
    for own, other in ((half, ~half), (~half, half)):
        rest = won[other if other.any() else own]
        best = int(rest.mean(axis=0).argmax())
        tried = rest[:, [best]] - rest
        is_clear = tried.mean(axis=0) > tried.std(axis=0) / len(tried) ** 0.5
        gains[own] = (won[own, best][:, None] - won[own]) * is_clear
    return gains.mean(axis=0), _half_widths(gains, groups) / HALF_WIDTH


def _half_widths(values: Floats, groups: Ints | None) -> Floats:
    rest = values - values.mean(axis=0)
    if groups is not None:
        count = int(groups.max()) + 1
        rest = np.stack([np.bincount(groups, column, count) for column in rest.T], axis=1)
    count = len(rest)
    return np.asarray(HALF_WIDTH * np.sqrt((rest**2).sum(axis=0) * count / max(1, count - 1)) / len(values))
