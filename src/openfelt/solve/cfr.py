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
from openfelt.solve.traverse.threaded_leaf_sums import LeafSummer, threads_help


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


class CFR(Solver):
    """Counterfactual regret minimisation (Zinkevich et al. 2007), with alternating updates.

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game.
    **options
        `threads` and `restriction`, as in `Solver`.

    Examples
    --------
    >>> solver = felt.CFR("kuhn").run(1_000)
    >>> solver.measure().exploitability < 0.02
    True
    """

    name: ClassVar[str] = "cfr"
    binds_each: ClassVar[bool] = True
    summary: ClassVar[str] = "counterfactual regret minimisation (Zinkevich et al. 2007)"

    def _rule(self) -> UpdateRule:
        return UpdateRule()

    def _start(self) -> None:
        slots, players = self.tree.num_slots, self.tree.players
        sizes = (slots, slots, slots, slots, self.form.num_reaches, slots + players)
        self._tables = CFRTables(*(np.zeros(size) for size in sizes))
        self._update_rule, self._binding = self._rule(), binding(self.form, self.restriction)
        self._summer = LeafSummer(self.form, self.threads) if threads_help(self.form, self.threads) else None
        self._resumed()

    def _resumed(self) -> None:
        _restore_policy(self.form, self._update_rule, self._binding, self._tables)

    def _advance(self, iterations: int) -> None:
        form, rule, bound, tables = self.form, self._update_rule, self._binding, self._tables
        if self._summer is None:
            _iterate(form, rule, bound, tables, self.iterations, iterations)
            return
        for iteration in range(self.iterations, self.iterations + iterations):
            for player in range(self.tree.players):
                self._summer.sum_leaves(player, tables.reach, tables.values)
                _update(form, rule, bound, tables, player, iteration + 1)
                self._summer.spread_reach(player, tables.policy, tables.reach)

    @property
    def weights(self) -> Floats:
        return self._tables.average

    @property
    def current(self) -> Floats:
        """[slots] the policy of the next iteration; `probabilities` is the average, which converges."""
        return self._tables.policy

    def tables(self) -> dict[str, NDArray[Any]]:
        tables = {"regret": self._tables.regret, "average": self._tables.average}
        return {**tables, "instant": self._tables.instant} if self._update_rule.predictive else tables


class CFRPlus(CFR):
    """CFR+: regrets are floored at zero, averaging is linear (Tammelin 2014).

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game.
    **options
        `threads` and `restriction`, as in `Solver`.

    Examples
    --------
    >>> policy = felt.CFRPlus("kuhn").run(until=1e-4).policy
    >>> round(policy.at(1, "K bet")["bet"], 3)
    1.0
    """

    name: ClassVar[str] = "cfr+"
    summary: ClassVar[str] = "CFR with regrets floored at zero and linear averaging (Tammelin 2014)"

    def _rule(self) -> UpdateRule:
        return UpdateRule(beta=-math.inf, gamma=1.0)


@dataclass(frozen=True)
class DCFRSettings(Settings):
    """The three exponents of DCFR; defaults as its paper recommends."""

    alpha: float = setting(1.5, "discount positive regrets by t^alpha / (t^alpha + 1)")
    beta: float = setting(0.0, "discount negative regrets by t^beta / (t^beta + 1)")
    gamma: float = setting(2.0, "weight iteration t of the average by t^gamma")

    def __post_init__(self) -> None:
        if any(math.isnan(value) for value in (self.alpha, self.beta, self.gamma)):
            raise FeltError("dcfr: alpha, beta and gamma must be numbers.")
        if not 0 <= self.gamma <= 10:
            raise FeltError(f"dcfr: gamma must be from 0 to 10, not {self.gamma}.")


class DCFR(CFR):
    """Discounted CFR: old regrets and old policies count less (Brown & Sandholm 2019).

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game.
    alpha : float
        Discount positive regrets by t^alpha / (t^alpha + 1).
    beta : float
        Discount negative regrets by t^beta / (t^beta + 1).
    gamma : float
        Weight iteration t of the average by t^gamma.
    **options
        `threads` and `restriction`, as in `Solver`.

    Examples
    --------
    >>> felt.DCFR("kuhn", beta=0.5).run(until=1e-3).measure().exploitability < 1e-3
    True
    """

    name: ClassVar[str] = "dcfr"
    summary: ClassVar[str] = "CFR with discounted regrets (Brown & Sandholm 2019)"
    settings_type: ClassVar[type[Settings]] = DCFRSettings
    settings: DCFRSettings

    def _rule(self) -> UpdateRule:
        return UpdateRule(self.settings.alpha, self.settings.beta, self.settings.gamma)


class PCFRPlus(CFR):
    """Predictive CFR+, with quadratic averaging (Farina, Kroer & Sandholm 2021).

    It predicts that the next instantaneous regrets equal the last ones. Usually the fastest solver here.

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game.
    **options
        `threads` and `restriction`, as in `Solver`.

    Examples
    --------
    >>> solver = felt.PCFRPlus("leduc").run(until=0.01)
    >>> felt.exploitability(solver.policy).exploitability < 0.01
    True
    """

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
            spread_reach(form, player, tables.policy, tables.reach)


@kernel
def _update(
    form: SequenceForm, rule: UpdateRule, bound: Binding, tables: CFRTables, player: int, iteration: int
) -> None:
    """Add the policy of `player` to its average, update its regrets (last row first), then its policy."""
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


@kernel
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


@kernel
def _free_value(bound: Binding, values: Floats, first: int, last: int, value: float) -> float:
    """The value of a row by the free part of the player's policy alone."""
    if not bound.first <= first < bound.last or bound.share[first - bound.first] == 1.0:
        return value
    share, fixed = bound.share[first - bound.first], 0.0
    for slot in range(first, last):
        fixed += bound.fixed[slot - bound.first] * values[slot]
    return float((value - share * fixed) / (1.0 - share))


@kernel
def _bind(bound: Binding, policy: Floats, first: int, last: int) -> None:
    """Mix in the fixed policy."""
    if bound.first <= first < bound.last:
        for slot in range(first, last):
            share = bound.share[slot - bound.first]
            policy[slot] = share * bound.fixed[slot - bound.first] + (1.0 - share) * policy[slot]


@kernel
def _discount(exponent: float, iteration: int) -> float:
    """t^x / (t^x + 1), without overflow; 0 before the first iteration."""
    if exponent == np.inf:
        return 1.0
    if exponent == -np.inf or iteration == 0:
        return 0.0
    return float(1.0 / (1.0 + float(iteration) ** -exponent))


@kernel
def _restore_policy(form: SequenceForm, rule: UpdateRule, bound: Binding, tables: CFRTables) -> None:
    """Current policy and reach of all players, from the regrets."""
    for row in range(len(form.first_slot) - 1):
        _match_regrets(rule, tables, form.first_slot[row], form.first_slot[row + 1])
        _bind(bound, tables.policy, form.first_slot[row], form.first_slot[row + 1])
    for player in range(len(form.first_row) - 1):
        spread_reach(form, player, tables.policy, tables.reach)
