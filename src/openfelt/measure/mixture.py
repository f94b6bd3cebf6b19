"""Mixtures: one of several policies is drawn before each game; the draw is hidden from the opponents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from openfelt.core.errors import FeltError
from openfelt.policy.tabular import TabularPolicy
from openfelt.solve.realisation_plans import tabular_mixture

if TYPE_CHECKING:
    from openfelt.measure.exploitability import Measurable


def mixture(policies: Sequence[Measurable], weights: Sequence[float]) -> Measurable:
    """The policy of a player that draws one of several policies before each game and follows it.

    The draw is hidden; a best response must infer it from the actions.

    Parameters
    ----------
    policies : sequence of Policy
        All of the same game.
    weights : sequence of float
        One per policy, non-negative, at least one of them positive.

    Returns
    -------
    Policy
        In enumerated games an equivalent policy, by Kuhn's theorem; in hold'em a mixture that
        `exploitability` and `value` measure.

    Examples
    --------
    >>> rules = [felt.rule_policy("leduc", rule) for rule in ("always-call", "always-raise")]
    >>> felt.mixture(rules, [3, 1]).at(0, "K")
    {'check': 0.75, 'bet': 0.25}
    """
    from openfelt.measure.holdem.evaluator import as_player
    from openfelt.measure.holdem.player import Player, mixed

    if (
        not policies
        or len(policies) != len(weights)
        or min(weights) < 0
        or not 0 < sum(weights) < float("inf")
    ):
        raise FeltError("A mixture needs one non-negative weight per policy, at least one of them positive.")
    tabular = [policy for policy in policies if isinstance(policy, TabularPolicy)]
    if len(tabular) == len(policies):
        return tabular_mixture(tabular, weights)
    players = [player for player in map(as_player, policies) if isinstance(player, Player)]
    if len(players) < len(policies):
        raise FeltError("A mixture cannot contain another mixture, nor a network.")
    return mixed(players, weights)
