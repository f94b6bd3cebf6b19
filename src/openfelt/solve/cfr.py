"""Counterfactual regret minimisation: CFR, CFR+, DCFR and PCFR+ as one traversal and one update rule.

CFR: Zinkevich, Johanson, Bowling & Piccione 2007. CFR+: Tammelin 2014. DCFR: Brown & Sandholm 2019.
PCFR+: Farina, Kroer & Sandholm 2021. All four here update the players in turn, and average the policies
that were played, with the weight that the rule gives to the iteration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from openfelt.core.devices import AUTO, CPU
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.solve.cfr_gpu import GpuCFR
from openfelt.solve.cfr_kernels import CFRTables, UpdateRule, iterate, restore_policy, update
from openfelt.solve.restriction import ONCE, binding
from openfelt.solve.solver import Settings, Solver, setting
from openfelt.solve.traverse.sequence_gpu import work_of
from openfelt.solve.traverse.threaded_leaf_sums import LeafSummer, threads_help

GPU_TRAINS_FROM = 100_000  # numbers in a pass; below, launches on a GPU take longer than the work on the CPU


class CFR(Solver):
    """Counterfactual regret minimisation (Zinkevich et al. 2007), with alternating updates.

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game.
    **options
        `threads`, `device` and `restriction`, as in `Solver`.

    Examples
    --------
    >>> solver = felt.CFR("kuhn").run(1_000)
    >>> solver.measure().exploitability < 0.02
    True
    """

    name: ClassVar[str] = "cfr"
    runs_on_gpu: ClassVar[bool] = True
    binds_each: ClassVar[bool] = True
    summary: ClassVar[str] = "counterfactual regret minimisation (Zinkevich et al. 2007)"

    def _rule(self) -> UpdateRule:
        return UpdateRule()

    def _start(self) -> None:
        slots, players = self.tree.num_slots, self.tree.players
        sizes = (slots, slots, slots, slots, self.form.num_reaches, slots + players)
        self._tables = CFRTables(*(np.zeros(size) for size in sizes))
        self._update_rule, self._binding = self._rule(), binding(self.form, self.restriction)
        self._gpu = self._if_it_fits(self._new_gpu)
        self._summer = LeafSummer(self.form, self.threads) if threads_help(self.form, self.threads) else None
        self._resumed()

    def _new_gpu(self) -> GpuCFR | None:
        if self.device_asked == AUTO and work_of(self.form) < GPU_TRAINS_FROM:
            self.device, self.why_cpu = CPU, f"{self.tree.game} is too small for a GPU to be faster."
            return None
        what = f"{self.name} of {self.tree.game}"
        return GpuCFR(self.form, self._update_rule, self._binding, self._tables, what)

    def _resumed(self) -> None:
        if self._gpu:
            self._gpu.resume()
            return
        restore_policy(self.form, self._update_rule, self._binding, self._tables)

    def _advance(self, iterations: int) -> None:
        if self._gpu:
            self._gpu.iterate(self.iterations, iterations)
            return
        form, rule, bound, tables = self.form, self._update_rule, self._binding, self._tables
        if self._summer is None:
            iterate(form, rule, bound, tables, self.iterations, iterations)
            return
        for iteration in range(self.iterations, self.iterations + iterations):
            for player in range(self.tree.players):
                self._summer.sum_leaves(player, tables.reach, tables.values)
                update(form, rule, bound, tables, player, iteration + 1)
                self._summer.spread_reach(player, tables.policy, tables.reach)

    @property
    def weights(self) -> Floats:
        return self._learned.average

    @property
    def current(self) -> Floats:
        """[slots] the policy of the next iteration; `probabilities` is the average, which converges."""
        return self._learned.policy

    def tables(self) -> dict[str, NDArray[Any]]:
        learned = self._learned
        tables = {"regret": learned.regret, "average": learned.average}
        return {**tables, "instant": learned.instant} if self._update_rule.predictive else tables

    @property
    def _learned(self) -> CFRTables:
        return self._gpu.fetch() if self._gpu else self._tables

    def _evaluate(self) -> tuple[Floats, Floats]:
        if self._gpu and (self.restriction is None or self.restriction.toss == ONCE):
            found = self._gpu.evaluate()
            if np.isfinite(found).all():
                return found
        return super()._evaluate()  # which has an error for tables that have overflowed


class CFRPlus(CFR):
    """CFR+: regrets are floored at zero, averaging is linear (Tammelin 2014).

    Parameters
    ----------
    game : Game, str or Path
        An enumerated game.
    **options
        `threads`, `device` and `restriction`, as in `Solver`.

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
        `threads`, `device` and `restriction`, as in `Solver`.

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
        `threads`, `device` and `restriction`, as in `Solver`.

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
