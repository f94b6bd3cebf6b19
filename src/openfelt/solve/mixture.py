"""Mixtures of policies and realisation plans, by Kuhn's theorem."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.sequence_form import SequenceForm, sequence_form
from openfelt.policy.tabular import Policy, normalised
from openfelt.solve.traverse.sequence import spread_reach


def mixture(policies: Sequence[Policy], weights: Sequence[float]) -> Policy:
    """The policy of someone who draws one of the policies before the game and keeps to it.

    By Kuhn's theorem it is a behaviour policy again: at each row the policies count with the probability
    that they reach it, which is not the same as averaging the probabilities.
    """
    if not policies or len(policies) != len(weights) or min(weights) < 0 or sum(weights) <= 0:
        raise FeltError("A mixture needs policies and as many weights, none negative and not all zero.")
    tree = policies[0].tree
    if not isinstance(tree, GameTree):
        raise FeltError(f"{tree.game} is too large for mixtures, which need every history.")
    if any(policy.tree.fingerprint != tree.fingerprint for policy in policies):
        raise FeltError("A mixture needs policies of one game.")
    form = sequence_form(tree)
    plans = [
        weight * realisation_plan(form, policy.probabilities)
        for policy, weight in zip(policies, weights, strict=True)
    ]
    return Policy(tree, normalised(tree, np.sum(plans, axis=0)))


def realisation_plan(form: SequenceForm, probabilities: Floats) -> Floats:
    """For each slot the probability that its player plays the sequence that ends with it."""
    reach = np.empty(form.num_slots + form.num_players)
    for player in range(form.num_players):
        spread_reach(form, player, probabilities, reach)
    return reach[: form.num_slots]
