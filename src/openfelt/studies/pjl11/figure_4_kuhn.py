"""Ponsen, de Jong & Lanctot 2011, Figure 4 (left): MCTS and MCCFR in Kuhn poker."""

from __future__ import annotations

from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.solve.sampling.uct import UCT
from openfelt.studies.findings import Finding, both, is_above, is_below
from openfelt.studies.learning_study import LearningCurves, LearningStudy, Panel, SolverConfig
from openfelt.studies.metrics import dominated_error, squared_error
from openfelt.studies.study import Setting, every

MCTS, MCCFR = "MCTS (C=2)", "MCCFR (epsilon=0.6)"


def _judge(curves: LearningCurves) -> list[Finding]:
    dominated = curves.values[MCTS, "dom_e"].mean(axis=0)
    early, late = dominated[max(0, len(dominated) // 10 - 1)], dominated[-1]
    return [
        Finding(
            "MCCFR learns an equilibrium: squared and dominated error approach zero",
            f"{curves.end(MCCFR, 'sqre'):.2g} and {curves.end(MCCFR, 'dom_e'):.2g}",
            both(is_below(curves.ends(MCCFR, "sqre"), 0.01), is_below(curves.ends(MCCFR, "dom_e"), 0.05)),
        ),
        Finding(
            "MCTS ends in a balanced situation slightly off the equilibrium",
            f"squared error {curves.end(MCTS, 'sqre'):.2g}, "
            f"{curves.end(MCTS, 'sqre') / curves.end(MCCFR, 'sqre'):.0f} times that of MCCFR",
            is_above(curves.ends(MCTS, "sqre"), 3 * curves.end(MCCFR, "sqre")),
        ),
        Finding(
            "MCTS plays dominated actions, less often as training continues",
            f"dominated error {early:.2g} after a tenth of the episodes, {late:.2g} at the end",
            both(is_above(curves.ends(MCTS, "dom_e")), is_below(curves.change(MCTS, "dom_e", 0.1))),
        ),
    ]


FIGURE_4_KUHN = LearningStudy(
    name="pjl11-figure-4-kuhn",
    title="PJL11, Figure 4 (left): MCTS and MCCFR in Kuhn poker",
    paper=(
        'Ponsen, de Jong & Lanctot, "Computing Approximate Nash Equilibria and Robust Best-Responses Using '
        'Sampling" (2011), section 3.3.1. The paper prints its curves without numbers.'
    ),
    question=(
        "Do MCTS and outcome-sampling MCCFR find an equilibrium of Kuhn poker? Two measures: the summed "
        "squared difference to the closest equilibrium (SQRE), and the summed probability of dominated "
        "actions (DOM-E)."
    ),
    settings=(
        Setting("C of MCTS", "2", "2 chips"),
        Setting("simulations of MCTS", "on-policy (3.2.1)", "the same"),
        Setting("policy of MCTS", "the visit counts (3.2.1)", "the same, its average"),
        Setting("MCCFR", "outcome sampling, optimistic averaging", "the same (Algorithm 1), epsilon 0.6"),
        Setting("measured", "every 10,000 iterations", "the same, up to 1,000,000, ten runs"),
    ),
    setup="",
    solvers=(
        SolverConfig(MCTS, lambda seed: UCT("kuhn", c=2.0, rollout="on-policy", seed=seed)),
        SolverConfig(MCCFR, lambda seed: OutcomeMCCFR("kuhn", epsilon=0.6, seed=seed)),
    ),
    panels=(
        Panel("sqre", squared_error, "SQRE (summed squared error)", logarithmic=True),
        Panel("dom_e", dominated_error, "DOM-E (summed probability)", logarithmic=True),
    ),
    episodes=every(10_000, 1_000_000),
    quick_episodes=every(10_000, 100_000),
    findings=_judge,
)
