"""The kernels of the CFR family: one update rule, at one infoset after the other.

`cfr_gpu.py` runs the same `update_row` on a GPU.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from openfelt.core.jit import Floats, kernel, part
from openfelt.core.rounding import product
from openfelt.games.compile.sequence_form import SequenceForm
from openfelt.solve.restriction import Binding
from openfelt.solve.traverse.sequence import Rows, spread_reach, sum_leaves


class UpdateRule(NamedTuple):
    """How regrets are discounted: before iteration t+1 they are multiplied by t^x / (t^x + 1).

    x is `alpha` for positive regrets and `beta` for negative ones; inf keeps them, -inf sets them to zero
    (the floor of CFR+). The average weights iteration t by t^gamma.
    """

    alpha: float = math.inf
    beta: float = math.inf
    gamma: float = 0.0
    predictive: bool = False  # act as if the last instantaneous regrets were added once more


class CFRTables(NamedTuple):
    """One number per slot; `reach` and `values` have one more per player, for the empty sequence.

    `reach` has further ones for groups of sequences.
    """

    regret: Floats
    instant: Floats  # instantaneous regrets of the last iteration
    average: Floats  # weighted sum of the reach of each sequence
    policy: Floats  # current policy
    reach: Floats
    values: Floats


class IterationWeights(NamedTuple):
    """What the rule gives for one iteration."""

    positive: float  # factor of positive regrets
    negative: float  # factor of negative regrets
    average: float  # weight of the iteration in the average


@kernel
def iterate(
    form: SequenceForm, rule: UpdateRule, bound: Binding, tables: CFRTables, done: int, iterations: int
) -> None:
    for iteration in range(done, done + iterations):
        for player in range(len(form.first_row) - 1):
            sum_leaves(form, player, tables.reach, tables.values)
            update(form, rule, bound, tables, player, iteration + 1)
            spread_reach(form, player, tables.policy, tables.reach)


@kernel
def update(
    form: SequenceForm, rule: UpdateRule, bound: Binding, tables: CFRTables, player: int, iteration: int
) -> None:
    """Add the policy of `player` to its average, update its regrets (last row first), then its policy."""
    weights = iteration_weights(rule, iteration)
    for row in range(form.first_row[player + 1] - 1, form.first_row[player] - 1, -1):
        tables.values[form.parent_slot[row]] += update_row(form, rule, bound, tables, weights, row)


@kernel
def iteration_weights(rule: UpdateRule, iteration: int) -> IterationWeights:
    """The weights of an iteration; the first is number 1."""
    positive, negative = _discount(rule.alpha, iteration - 1), _discount(rule.beta, iteration - 1)
    return IterationWeights(positive, negative, float(iteration) ** rule.gamma)


@kernel
def schedule_weights(rule: UpdateRule, done: int, schedule: Floats) -> None:
    """The weights of the iterations after the first `done` ones, [iterations, 3]."""
    for row in range(len(schedule)):
        weights = iteration_weights(rule, done + row + 1)
        schedule[row, 0], schedule[row, 1], schedule[row, 2] = weights


@part
def update_row(
    form: Rows, rule: UpdateRule, bound: Binding, tables: CFRTables, weights: IterationWeights, row: int
) -> float:
    """Average, regrets and next policy of one infoset; returns its value under the current policy."""
    first, last = form.first_slot[row], form.first_slot[row + 1]
    value = 0.0
    for slot in range(first, last):
        value += product(tables.policy[slot], tables.values[slot])
        tables.average[slot] += product(weights.average, tables.reach[slot])
    free = _free_value(bound, tables.values, first, last, value)
    for slot in range(first, last):
        regret = tables.regret[slot]
        instant = tables.values[slot] - free
        tables.instant[slot] = instant
        tables.regret[slot] = (
            product(regret, weights.positive if regret > 0.0 else weights.negative) + instant
        )
    match_row(rule, bound, tables, first, last)
    return value


@part
def match_row(rule: UpdateRule, bound: Binding, tables: CFRTables, first: int, last: int) -> None:
    """The policy of an infoset, from its regrets and its restriction."""
    _match_regrets(rule, tables, first, last)
    _bind(bound, tables.policy, first, last)


@part
def _match_regrets(rule: UpdateRule, tables: CFRTables, first: int, last: int) -> None:
    """Regret matching: in proportion to positive regrets; uniform where there are none."""
    total = 0.0
    for slot in range(first, last):
        regret = max(tables.regret[slot], 0.0)
        if rule.predictive:
            regret = max(regret + tables.instant[slot], 0.0)
        tables.policy[slot] = regret
        total += regret
    if total > 0.0:
        share = 1.0 / total
        for slot in range(first, last):
            tables.policy[slot] *= share
    else:
        for slot in range(first, last):
            tables.policy[slot] = 1.0 / (last - first)


@part
def _free_value(bound: Binding, values: Floats, first: int, last: int, value: float) -> float:
    """The value of a row by the free part of the player's policy alone."""
    if not bound.first <= first < bound.last or bound.share[first - bound.first] == 1.0:
        return value
    share, fixed = bound.share[first - bound.first], 0.0
    for slot in range(first, last):
        fixed += product(bound.fixed[slot - bound.first], values[slot])
    return (value - product(share, fixed)) / (1.0 - share)  # type: ignore[no-any-return]


@part
def _bind(bound: Binding, policy: Floats, first: int, last: int) -> None:
    """Mix in the fixed policy."""
    if bound.first <= first < bound.last:
        for slot in range(first, last):
            share = bound.share[slot - bound.first]
            own = product(1.0 - share, policy[slot])
            policy[slot] = product(share, bound.fixed[slot - bound.first]) + own


@kernel
def _discount(exponent: float, iteration: int) -> float:
    """t^x / (t^x + 1), without overflow; 0 before the first iteration."""
    if exponent == np.inf:
        return 1.0
    if exponent == -np.inf or iteration == 0:
        return 0.0
    return float(1.0 / (1.0 + float(iteration) ** -exponent))


@kernel
def restore_policy(form: SequenceForm, rule: UpdateRule, bound: Binding, tables: CFRTables) -> None:
    """Current policy and reach of all players, from the regrets."""
    for row in range(len(form.first_slot) - 1):
        match_row(rule, bound, tables, form.first_slot[row], form.first_slot[row + 1])
    for player in range(len(form.first_row) - 1):
        spread_reach(form, player, tables.policy, tables.reach)
