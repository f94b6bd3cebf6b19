"""Neural players in Kuhn poker and Leduc hold'em, until they are close to an equilibrium."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from openfelt.studies.findings import Finding, is_below
from openfelt.studies.learning_study import LearningCurves
from openfelt.studies.neural.deep_methods import DEEP, METRIC, Contest, DeepMethods, contest_parts
from openfelt.studies.study import spaced


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


def _study(contest: Convergence, iterations: int, **parts: Any) -> DeepMethods:
    return DeepMethods(
        quick_contests=(contest,),
        **contest_parts((contest,)),
        **parts,
        episodes=spaced(5, iterations),
        quick_episodes=spaced(5, 100),
        work="iterations",
        by_clock=False,
    )


GRADIENTS = {method: DEEP[method] for method in ("PPO", "MMD")}
GRADIENTS_PAPER = (
    "Sokota et al. 2023 and Rudolph et al. 2025 report that policy gradients with regularisation "
    "approach equilibria in self-play. The claims are ours; their bounds were set before the runs."
)

GRADIENTS_KUHN = _study(
    Convergence("kuhn", "Kuhn poker", "chips", {}, GRADIENTS, bound=0.02),
    4_000,
    name="policy-gradients-kuhn",
    title="Policy gradients in Kuhn poker",
    paper=GRADIENTS_PAPER,
    question="Do PPO and magnetic mirror descent converge in Kuhn poker?",
    setup=(
        "nash_conv of the mean network is exact. All settings are the defaults, chosen in Leduc: an "
        "iteration is one update after 16 decisions in each of 4,096 games (PPO) or 1,024 games (MMD)."
    ),
    requires="PyTorch, ten minutes",
)
GRADIENTS_LEDUC = _study(
    Convergence("leduc", "Leduc hold'em", "chips", {}, GRADIENTS, bound=0.1),
    12_000,
    name="policy-gradients-leduc",
    title="Policy gradients in Leduc hold'em",
    paper=GRADIENTS_PAPER,
    question="Do PPO and magnetic mirror descent converge in Leduc hold'em?",
    setup=(
        "nash_conv of the mean network is exact. All settings are the defaults: an iteration is one update "
        "after 16 decisions in each of 4,096 games (PPO) or 1,024 games (MMD). Settings, the number of "
        "iterations and details of the update were chosen in several dozen runs with seeds 1 to 6, 11 to 13, "
        "21 and 22, which are not among the runs here."
    ),
    requires="PyTorch, 45 minutes",
)
DEEP_CFR_LEDUC = _study(
    Convergence(
        "leduc",
        "Leduc hold'em",
        "chips",
        {"Deep CFR": {"reservoir": 8_000_000}},
        {"Deep CFR": DEEP["Deep CFR"]},
        bound=0.1,
    ),
    4_000,
    name="deep-cfr-leduc",
    title="Deep CFR in Leduc hold'em",
    paper=(
        "Brown et al. 2019 and Steinberger 2019 report that Deep CFR approaches equilibria. The claims are "
        "ours; the bound was set before the runs."
    ),
    question="How close does Deep CFR come to an equilibrium of Leduc hold'em?",
    setup=(
        "nash_conv of the average of all iterations' policies is exact. An iteration is 1,000 traversals for "
        "each player and 20 training steps on the whole reservoir. The settings are the defaults except "
        "`--reservoir 8000000`, which was chosen with seed 2: after 2,500 iterations that run has 0.063, and "
        "0.095 with the default of a million. With the default, runs with seeds 31 and 32 ended at 0.089 and "
        "0.102 after 4,000 iterations."
    ),
    requires="PyTorch, a quarter of an hour",
)
