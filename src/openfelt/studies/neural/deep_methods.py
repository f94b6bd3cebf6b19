"""Five deep methods in Leduc hold'em, measured exactly."""

from __future__ import annotations

from openfelt.solve.registry import solver_type
from openfelt.studies.findings import Finding, is_below
from openfelt.studies.learning_study import LearningCurves, LearningStudy, Panel, SolverConfig
from openfelt.studies.metrics import nash_conv
from openfelt.studies.study import spaced

METHODS = {"NFSP": "nfsp", "Deep CFR": "deep-cfr", "PPO": "ppo", "MMD": "mmd", "R-NaD": "r-nad"}


def _config(label: str, name: str) -> SolverConfig:
    return SolverConfig(label, lambda seed: solver_type(name)("leduc", seed=seed))


def _judge(curves: LearningCurves) -> list[Finding]:
    return [
        Finding(
            f"nash_conv of {label} falls, and is still falling in the second half",
            f"{curves.ends(label, 'nash_conv'):.3f} chips at the end, "
            f"{curves.change(label, 'nash_conv', 0.5):+.3f} in the second half",
            is_below(curves.change(label, "nash_conv", 0.5)),
        )
        for label in METHODS
    ]


DEEP_METHODS = LearningStudy(
    name="deep-methods",
    title="Deep methods in Leduc",
    paper="A question of our own; Rudolph et al. 2025 compare such methods in larger games.",
    question="Which deep methods approach an equilibrium, with their default settings here?",
    setup=(
        "nash_conv is exact. An iteration is 16,384 decisions in 1,024 games, for Deep CFR 1,000 traversals "
        "for each player. PPO, MMD and R-NaD are measured by their mean networks."
    ),
    solvers=tuple(_config(label, name) for label, name in METHODS.items()),
    panels=(Panel("nash_conv", nash_conv, "nash_conv (chips)", logarithmic=True),),
    episodes=spaced(10, 2_500),
    quick_episodes=spaced(10, 100),
    findings=_judge,
    runs=3,
    work="iterations",
    own_claims=True,
    requires="PyTorch, 12 minutes",
)
