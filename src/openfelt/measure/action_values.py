"""Action values against the opponents' policies, if the player best-responds afterwards."""

from __future__ import annotations

import dataclasses
from functools import lru_cache

import numpy as np

from openfelt.core.jit import Floats
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.sequence_form import SequenceForm, sequence_form
from openfelt.solve.traverse.sequence import best_response, follow_policy, spread_reach, sum_leaves


def action_values(tree: GameTree, profile: Floats, player: int) -> Floats:
    """[slots] the expected payoff of `player` for each action, given its infoset.

    The opponents play `profile` [slots]; the player best-responds after the action. NaN at infosets that the
    opponents' policies do not reach, and at infosets of the opponents.
    """
    form, counting = sequence_form(tree), _with_unit_payoffs(tree)
    size = form.num_slots + form.num_players
    reach, values, chance = np.empty(size), np.empty(size), np.empty(size)
    for other in range(form.num_players):
        spread_reach(form, other, profile, reach)
    sum_leaves(form, player, reach, values)
    best_response(form, player, values, np.empty(form.num_slots))
    sum_leaves(counting, player, reach, chance)
    follow_policy(counting, player, profile, chance)
    first, last = form.first_slot[form.first_row[player : player + 2]]
    result = np.full(form.num_slots, np.nan)
    reached = first + np.flatnonzero(chance[first:last] > 0)
    result[reached] = values[reached] / chance[reached]
    return result


@lru_cache(maxsize=4)
def _with_unit_payoffs(tree: GameTree) -> SequenceForm:
    """The sequence form with a payoff of 1 at every leaf: its values are probabilities of being reached."""
    payoffs = np.ones_like(tree.nodes.payoffs)
    return sequence_form(dataclasses.replace(tree, nodes=tree.nodes._replace(payoffs=payoffs)))
