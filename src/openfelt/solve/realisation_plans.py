"""Mixtures of policies and realisation plans, by Kuhn's theorem."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.compile.sequence_form import SequenceForm, sequence_form
from openfelt.policy.tabular import TabularPolicy, normalised
from openfelt.solve.traverse.sequence import spread_reach


def tabular_mixture(policies: Sequence[TabularPolicy], weights: Sequence[float]) -> TabularPolicy:
    """The behaviour policy that is equivalent to drawing one of the policies before each game.

    By Kuhn's theorem, the weight of a policy at an infoset is proportional to its reach; averaging the
    probabilities would be wrong.
    """
    tree = policies[0].tree
    if any(policy.tree.fingerprint != tree.fingerprint for policy in policies):
        raise FeltError("A mixture needs policies of one game.")
    form = sequence_form(tree)
    plans = [
        weight * realisation_plan(form, policy.probabilities)
        for policy, weight in zip(policies, weights, strict=True)
    ]
    return TabularPolicy(tree, normalised(tree, np.sum(plans, axis=0)))


def realisation_plan(form: SequenceForm, probabilities: Floats) -> Floats:
    """[slots] the probability that a player plays the sequence that ends with the slot."""
    return full_reach(form, probabilities)[: form.num_slots]


def full_reach(form: SequenceForm, probabilities: Floats) -> Floats:
    """[slots, empty sequences, groups] the reach of every player."""
    reach = np.empty(form.num_reaches)
    for player in range(form.num_players):
        spread_reach(form, player, probabilities, reach)
    return reach
