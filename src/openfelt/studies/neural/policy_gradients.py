"""PPO and magnetic mirror descent in Kuhn poker and Leduc hold'em, until they are close to an equilibrium."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openfelt.studies.findings import Finding, is_below
from openfelt.studies.learning_study import LearningCurves
from openfelt.studies.neural.deep_methods import DEEP, METRIC, Contest, DeepMethods, contest_parts
from openfelt.studies.study import spaced

METHODS = {method: DEEP[method] for method in ("PPO", "MMD")}
KUHN: dict[str, Mapping[str, Any]] = {"PPO": {"step": 0.25}}  # otherwise the defaults
LEDUC: dict[str, Mapping[str, Any]] = {"PPO": {"games": 4096}, "MMD": {"games": 4096, "alpha": 0.03}}


@dataclass(frozen=True, kw_only=True)
class Convergence(Contest):
    """A game in which nash_conv should fall below a bound, and go on falling."""

    bound: float

    def judge(self, curves: LearningCurves) -> list[Finding]:
        return [finding for method in self.methods for finding in self._judge(curves, method)]

    def _judge(self, curves: LearningCurves, method: str) -> list[Finding]:
        label = self.label(method)
        end, change = curves.ends(label, METRIC), curves.change(label, METRIC, 0.5)
        return [
            Finding(
                f"{self.title}: {method} ends below {self.bound:g} {self.unit}",
                f"{end:.3g}",
                is_below(end, self.bound),
            ),
            Finding(
                f"{self.title}: {method} still improves in the second half",
                f"{change:+.3g}",
                is_below(change),
            ),
        ]


CONTESTS = (
    Convergence("kuhn", "Kuhn poker", "chips", KUHN, METHODS, bound=0.02),
    Convergence("leduc", "Leduc hold'em", "chips", LEDUC, METHODS, bound=0.1),
)

POLICY_GRADIENTS = DeepMethods(
    quick_contests=CONTESTS,
    **contest_parts(CONTESTS),
    name="policy-gradients",
    title="Policy gradients in Kuhn poker and Leduc hold'em",
    paper=(
        "Sokota et al. 2023 and Rudolph et al. 2025 report that policy gradients with regularisation "
        "approach equilibria in self-play. The claims are ours; their bounds were set before the runs."
    ),
    question="Do PPO and magnetic mirror descent converge in small games?",
    setup=(
        "nash_conv of the mean network is exact. In Kuhn poker PPO has `--step 0.25`. In Leduc hold'em an "
        "iteration has four times the default decisions, 65,536 in 4,096 games (`--games 4096`), and MMD has "
        "`--alpha 0.03`. All other settings are the defaults. These settings were chosen with seed 1, which "
        "is not among the runs, from six of each method in Leduc hold'em and two of PPO in Kuhn poker."
    ),
    episodes=spaced(5, 6_000),
    quick_episodes=spaced(5, 100),
    work="iterations",
    by_clock=False,
    requires="PyTorch, half an hour",
)
