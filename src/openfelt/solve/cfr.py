"""Counterfactual regret minimisation: CFR, CFR+, DCFR and PCFR+ as one traversal and one update rule.

CFR: Zinkevich, Johanson, Bowling & Piccione 2007. CFR+: Tammelin 2014. DCFR: Brown & Sandholm 2019.
PCFR+: Farina, Kroer & Sandholm 2021. All four here update the players in turn, and average the policies
that were played, with the weight that the rule gives to the iteration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, kernel
from openfelt.games.compile.sequence_form import SequenceForm
from openfelt.solve.restriction import Binding, binding
from openfelt.solve.solver import Settings, Solver, setting
from openfelt.solve.traverse.sequence import spread_reach, sum_leaves
from openfelt.solve.traverse.threads import LeafSummer, threads_help


class UpdateRule(NamedTuple):
    """How regrets are kept: before iteration t+1 they are multiplied by t^x / (t^x + 1).

    x is `alpha` for positive regrets and `beta` for negative ones; inf keeps them as they are, -inf
    forgets them (which is CFR+'s floor at zero). The average weighs iteration t with t^gamma.
    """

    alpha: float = math.inf
    beta: float = math.inf
    gamma: float = 0.0
    predictive: bool = False  # choose as if the last regrets came once more


class CFRTables(NamedTuple):
    """One number per slot; `reach` and `values` have one more per player, for his empty sequence."""

    regret: Floats
    instant: Floats  # the regrets of the last iteration alone
    average: Floats  # weighed sum of the reach of each sequence
    policy: Floats  # what is played now
    reach: Floats
    values: Floats


class CFR(Solver):
    """Counterfactual regret minimisation."""

    name: ClassVar[str] = "cfr"
    binds_each: ClassVar[bool] = True
    summary: ClassVar[str] = "counterfactual regret minimisation (Zinkevich et al. 2007)"

    def _rule(self) -> UpdateRule:
        return UpdateRule()

    def _start(self) -> None:
        slots, players = self.tree.num_slots, self.tree.players
        self._tables = CFRTables(
            *(np.zeros(slots) for _ in range(4)), *(np.zeros(slots + players) for _ in range(2))
        )
        self._update_rule, self._binding = self._rule(), binding(self.form, self.restriction)
        self._summer = LeafSummer(self.form, self.threads) if threads_help(self.form, self.threads) else None
        self._resumed()

    def _resumed(self) -> None:
        _play_regrets(self.form, self._update_rule, self._binding, self._tables)

    def _advance(self, iterations: int) -> None:
        form, rule, bound, tables = self.form, self._update_rule, self._binding, self._tables
        if self._summer is None:
            _iterate(form, rule, bound, tables, self.iterations, iterations)
            return
        for iteration in range(self.iterations, self.iterations + iterations):
            for player in range(self.tree.players):
                self._summer.sum_leaves(player, tables.reach, tables.values)
                _update(form, rule, bound, tables, player, iteration + 1)

    @property
    def weights(self) -> Floats:
        return self._tables.average

    @property
    def current(self) -> Floats:
        """What is played in the next iteration, per slot; `probabilities` is the average that converges."""
        return self._tables.policy

    def tables(self) -> dict[str, NDArray[Any]]:
        kept = {"regret": self._tables.regret, "average": self._tables.average}
        return {**kept, "instant": self._tables.instant} if self._update_rule.predictive else kept


class CFRPlus(CFR):
    """CFR with regrets floored at zero and linear averaging."""

    name: ClassVar[str] = "cfr+"
    summary: ClassVar[str] = "CFR with regrets floored at zero and linear averaging (Tammelin 2014)"

    def _rule(self) -> UpdateRule:
        return UpdateRule(beta=-math.inf, gamma=1.0)


@dataclass(frozen=True)
class DCFRSettings(Settings):
    """The three exponents of DCFR; the defaults are those that its paper recommends."""

    alpha: float = setting(1.5, "discount positive regrets by t^alpha / (t^alpha + 1)")
    beta: float = setting(0.0, "discount negative regrets by t^beta / (t^beta + 1)")
    gamma: float = setting(2.0, "weigh iteration t of the average by t^gamma")

    def __post_init__(self) -> None:
        if any(math.isnan(value) for value in (self.alpha, self.beta, self.gamma)):
            raise FeltError("dcfr: alpha, beta and gamma must be numbers.")
        if not 0 <= self.gamma <= 10:
            raise FeltError(f"dcfr: gamma must be from 0 to 10, not {self.gamma}.")


class DCFR(CFR):
    """CFR in which old regrets and old policies fade."""

    name: ClassVar[str] = "dcfr"
    summary: ClassVar[str] = "CFR in which old regrets fade (Brown & Sandholm 2019)"
    settings_type: ClassVar[type[Settings]] = DCFRSettings
    settings: DCFRSettings

    def _rule(self) -> UpdateRule:
        return UpdateRule(self.settings.alpha, self.settings.beta, self.settings.gamma)


class PCFRPlus(CFR):
    """CFR+ that predicts the next regrets to be the last, with quadratic averaging."""

    name: ClassVar[str] = "pcfr+"
    summary: ClassVar[str] = "predictive CFR+ with quadratic averaging (Farina et al. 2021)"

    def _rule(self) -> UpdateRule:
        return UpdateRule(beta=-math.inf, gamma=2.0, predictive=True)


@kernel
def _iterate(
    form: SequenceForm, rule: UpdateRule, bound: Binding, tables: CFRTables, done: int, iterations: int
) -> None:
    for iteration in range(done, done + iterations):
        for player in range(len(form.first_row) - 1):
            sum_leaves(form, player, tables.reach, tables.values)
            _update(form, rule, bound, tables, player, iteration + 1)


@kernel
def _update(
    form: SequenceForm, rule: UpdateRule, bound: Binding, tables: CFRTables, player: int, iteration: int
) -> None:
    """Add what `player` played to his average, update his regrets (rows last to first), then his play."""
    keep_positive = _discount(rule.alpha, iteration - 1)
    keep_negative = _discount(rule.beta, iteration - 1)
    weight = float(iteration) ** rule.gamma
    for row in range(form.first_row[player + 1] - 1, form.first_row[player] - 1, -1):
        first, last = form.first_slot[row], form.first_slot[row + 1]
        value = 0.0
        for slot in range(first, last):
            value += tables.policy[slot] * tables.values[slot]
            tables.average[slot] += weight * tables.reach[slot]
        tables.values[form.parent_slot[row]] += value
        value = _free_value(bound, tables.values, first, last, value)
        for slot in range(first, last):
            regret = tables.regret[slot]
            instant = tables.values[slot] - value
            tables.instant[slot] = instant
            tables.regret[slot] = regret * (keep_positive if regret > 0.0 else keep_negative) + instant
        _match_regrets(rule, tables, first, last)
        _bind(bound, tables.policy, first, last)
    spread_reach(form, player, tables.policy, tables.reach)


@kernel
def _match_regrets(rule: UpdateRule, tables: CFRTables, first: int, last: int) -> None:
    """Play in proportion to positive regret; evenly where there is none."""
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


@kernel
def _free_value(bound: Binding, values: Floats, first: int, last: int, value: float) -> float:
    """What the row is worth by his own choice alone, where he is bound in part."""
    if not bound.first <= first < bound.last or bound.share[first - bound.first] == 1.0:
        return value
    share, fixed = bound.share[first - bound.first], 0.0
    for slot in range(first, last):
        fixed += bound.fixed[slot - bound.first] * values[slot]
    return float((value - share * fixed) / (1.0 - share))


@kernel
def _bind(bound: Binding, policy: Floats, first: int, last: int) -> None:
    """Mix the fixed policy in."""
    if bound.first <= first < bound.last:
        for slot in range(first, last):
            share = bound.share[slot - bound.first]
            policy[slot] = share * bound.fixed[slot - bound.first] + (1.0 - share) * policy[slot]


@kernel
def _discount(exponent: float, iteration: int) -> float:
    """t^x / (t^x + 1), written so that no x overflows; there is nothing to keep before the first."""
    if exponent == np.inf:
        return 1.0
    if exponent == -np.inf or iteration == 0:
        return 0.0
    return float(1.0 / (1.0 + float(iteration) ** -exponent))


@kernel
def _play_regrets(form: SequenceForm, rule: UpdateRule, bound: Binding, tables: CFRTables) -> None:
    """Play and reach of all players, from the regrets."""
    for row in range(len(form.first_slot) - 1):
        _match_regrets(rule, tables, form.first_slot[row], form.first_slot[row + 1])
        _bind(bound, tables.policy, form.first_slot[row], form.first_slot[row + 1])
    for player in range(len(form.first_row) - 1):
        spread_reach(form, player, tables.policy, tables.reach)
