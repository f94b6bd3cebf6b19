"""What each action of a player is worth against the others' policies, if he plays on as well as can be."""

from __future__ import annotations

import dataclasses
from functools import lru_cache

import numpy as np

from openfelt.core.jit import Floats
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.sequence_form import SequenceForm, sequence_form
from openfelt.solve.traverse.sequence import best_response, follow_policy, spread_reach, sum_leaves


def action_values(tree: GameTree, profile: Floats, player: int) -> Floats:
    """[slots] the mean of what `player` wins with each action, given that he is in its row.

    The others play `profile` [slots]; he plays a best response after the action. NaN in rows that the others
    never let him reach, and in rows of others.
    """
    form, alike = sequence_form(tree), _paying_one(tree)
    size = form.num_slots + form.num_players
    reach, values, chance = np.empty(size), np.empty(size), np.empty(size)
    for other in range(form.num_players):
        spread_reach(form, other, profile, reach)
    sum_leaves(form, player, reach, values)
    best_response(form, player, values, np.empty(form.num_slots))
    sum_leaves(alike, player, reach, chance)
    follow_policy(alike, player, profile, chance)
    first, last = form.first_slot[form.first_row[player : player + 2]]
    found = np.full(form.num_slots, np.nan)
    reached = first + np.flatnonzero(chance[first:last] > 0)
    found[reached] = values[reached] / chance[reached]
    return found


@lru_cache(maxsize=4)
def _paying_one(tree: GameTree) -> SequenceForm:
    """Of the game in which every leaf pays 1: values there are the chance that a row is reached."""
    payoffs = np.ones_like(tree.nodes.payoffs)
    return sequence_form(dataclasses.replace(tree, nodes=tree.nodes._replace(payoffs=payoffs)))
