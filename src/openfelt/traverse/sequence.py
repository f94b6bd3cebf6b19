"""Passes over the sequence form: reach downwards, leaves summed up, values upwards.

A *table* has one number per slot; arrays called `reach` and `values` have `num_players` more entries, for
the empty sequences. A player's value of the game is `values[num_slots + player]` after an upward pass.
"""

from __future__ import annotations

import numpy as np

from openfelt.base.jit import kernel


@kernel
def spread_reach(form, player, policy, reach):  # type: ignore[no-untyped-def]
    """reach[slot]: the probability that `player` plays all of the sequence, if chance and others let him."""
    reach[form.first_slot[-1] + player] = 1.0
    for row in range(form.first_row[player], form.first_row[player + 1]):
        above = reach[form.parent_slot[row]]
        for slot in range(form.first_slot[row], form.first_slot[row + 1]):
            reach[slot] = above * policy[slot]


@kernel
def sum_leaves(form, player, reach, values):  # type: ignore[no-untyped-def]
    """values[slot]: payoff of the leaves just after the sequence, weighed by the reach of all others."""
    first, last = form.first_slot[form.first_row[player]], form.first_slot[form.first_row[player + 1]]
    sum_slots(form, first, last, reach, values)
    empty = form.first_slot[-1] + player
    sum_slots(form, empty, empty + 1, reach, values)


@kernel
def sum_slots(form, first, last, reach, values):  # type: ignore[no-untyped-def]
    """`sum_leaves` for the slots from `first` up to `last`, so that threads can share the work."""
    others = form.leaf_others.shape[1]
    for slot in range(first, last):
        total = 0.0
        for leaf in range(form.first_leaf[slot], form.first_leaf[slot + 1]):
            weight = form.leaf_weight[leaf]
            for other in range(others):
                weight *= reach[form.leaf_others[leaf, other]]
            total += weight
        values[slot] = total


@kernel
def follow_policy(form, player, policy, values):  # type: ignore[no-untyped-def]
    """Pass values upwards where `player` follows his policy; returns his value of the game."""
    for row in range(form.first_row[player + 1] - 1, form.first_row[player] - 1, -1):
        value = 0.0
        for slot in range(form.first_slot[row], form.first_slot[row + 1]):
            value += policy[slot] * values[slot]
        values[form.parent_slot[row]] += value
    return values[form.first_slot[-1] + player]


@kernel
def best_response(form, player, values, response):  # type: ignore[no-untyped-def]
    """Pass values upwards where `player` takes the best action; returns his value of the game.

    `response` becomes the pure policy that reaches it (the first of equal actions).
    """
    for row in range(form.first_row[player + 1] - 1, form.first_row[player] - 1, -1):
        best = form.first_slot[row]
        response[best] = 0.0
        for slot in range(form.first_slot[row] + 1, form.first_slot[row + 1]):
            response[slot] = 0.0
            if values[slot] > values[best]:
                best = slot
        response[best] = 1.0
        values[form.parent_slot[row]] += values[best]
    return values[form.first_slot[-1] + player]


@kernel
def evaluate_profile(form, policy, response, best, expected):  # type: ignore[no-untyped-def]
    """For each player the value of a best response to the others, and of his own policy.

    Fills best[player], expected[player] and the table `response` of pure best responses.
    """
    size = form.first_slot[-1] + len(form.first_row) - 1
    reach, values = np.empty(size), np.empty(size)
    for player in range(len(best)):
        spread_reach(form, player, policy, reach)
    for player in range(len(best)):
        sum_leaves(form, player, reach, values)
        best[player] = best_response(form, player, values.copy(), response)
        expected[player] = follow_policy(form, player, policy, values)
