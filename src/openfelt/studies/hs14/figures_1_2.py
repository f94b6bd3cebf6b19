"""Heinrich & Silver 2014, Figures 1 and 2: IS-UCT and Smooth IS-UCT in Kuhn poker."""

from __future__ import annotations

from openfelt.solve.sampling.smooth_uct import SmoothUCT
from openfelt.solve.sampling.uct import UCT
from openfelt.studies.findings import Finding, is_above, is_below
from openfelt.studies.learning_study import LearningCurves, LearningStudy, Panel, SolverConfig
from openfelt.studies.metrics import dominated_error, mean_squared_error
from openfelt.studies.study import every

PAPER = (
    'Heinrich & Silver, "Self-Play Monte-Carlo Tree Search in Computer Poker" (2014), section "Kuhn Poker". '
    "The paper prints its curves without numbers and states its findings in words."
)
UCT_LABEL, SMOOTH_LABEL = "IS-UCT (c=2)", "Smooth IS-UCT (c=1.75)"
WIDE_UCT, WIDE_SMOOTH = "IS-UCT (c=5)", "Smooth IS-UCT (c=4.375)"
CLOSE = 0.005  # SQ-ERR
STEP, LAST, QUICK_LAST = 10_000, 1_000_000, 100_000
PANELS = (
    Panel("sq_err", mean_squared_error, "SQ-ERR (mean squared error)", logarithmic=True),
    Panel("dom_err", dominated_error, "DOM-ERR (summed probability)", logarithmic=True),
)


def _uct(game: str, label: str, c: float) -> SolverConfig:
    return SolverConfig(label, lambda seed: UCT(game, c=c, seed=seed))


def _smooth(game: str, label: str, c: float) -> SolverConfig:
    return SolverConfig(label, lambda seed: SmoothUCT(game, c=c, schedule="max-average", seed=seed))


def _compare(curves: LearningCurves, metric: str, first: str, second: str) -> str:
    apart = curves.apart(metric, first, second)
    means = f"{curves.end(first, metric):.2g} against {curves.end(second, metric):.2g}"
    return f"{means} (difference {apart.mean:+.2g} ± {apart.half:.2g})"


def _judge_figure_1(curves: LearningCurves) -> list[Finding]:
    return [
        Finding(
            f"Smooth IS-UCT ends with the smaller {word}",
            _compare(curves, metric, SMOOTH_LABEL, UCT_LABEL),
            is_below(curves.apart(metric, SMOOTH_LABEL, UCT_LABEL)),
        )
        for word, metric in (("squared error", "sq_err"), ("dominated error", "dom_err"))
    ]


def _judge_figure_2(curves: LearningCurves) -> list[Finding]:
    findings = []
    for smooth, plain, note in (
        (SMOOTH_LABEL, UCT_LABEL, "with the paper's c"),
        (WIDE_SMOOTH, WIDE_UCT, "with c scaled to the payoffs"),
    ):
        findings += [
            Finding(
                f"Smooth IS-UCT comes close to an equilibrium: a squared error below {CLOSE} ({note})",
                f"squared error {curves.ends(smooth, 'sq_err'):.2g}; of IS-UCT "
                f"{curves.ends(plain, 'sq_err'):.2g}",
                is_below(curves.ends(smooth, "sq_err"), CLOSE),
            ),
            Finding(
                f"Smooth IS-UCT has the larger dominated error ({note})",
                _compare(curves, "dom_err", smooth, plain),
                is_above(curves.apart("dom_err", smooth, plain)),
            ),
        ]
    return findings


FIGURE_1 = LearningStudy(
    name="hs14-figure-1",
    title="HS14, Figure 1: IS-UCT and Smooth IS-UCT in Kuhn poker",
    paper=PAPER,
    setup=(
        "Kuhn poker with the standard pot of 2. Smooth IS-UCT uses mixing schedule (3): eta is the largest "
        "probability of the average policy. The average policies are measured every 10,000 episodes."
    ),
    solvers=(_uct("kuhn", UCT_LABEL, 2.0), _smooth("kuhn", SMOOTH_LABEL, 1.75)),
    panels=PANELS,
    episodes=every(STEP, LAST),
    quick_episodes=every(STEP, QUICK_LAST),
    findings=_judge_figure_1,
)

FIGURE_2 = LearningStudy(
    name="hs14-figure-2",
    title="HS14, Figure 2: Kuhn poker with an initial pot of 8",
    paper=PAPER,
    setup=(
        "Kuhn poker in which each player antes 4 chips and a bet is still 1 chip. The solvers of Figure 1, "
        "and the same solvers with c multiplied by 2.5, the factor by which the range of payoffs grows (10 "
        "instead of 4 chips)."
    ),
    solvers=(
        _uct("kuhn(pot=8)", UCT_LABEL, 2.0),
        _smooth("kuhn(pot=8)", SMOOTH_LABEL, 1.75),
        _uct("kuhn(pot=8)", WIDE_UCT, 5.0),
        _smooth("kuhn(pot=8)", WIDE_SMOOTH, 4.375),
    ),
    panels=PANELS,
    episodes=every(STEP, LAST),
    quick_episodes=every(STEP, QUICK_LAST),
    findings=_judge_figure_2,
    remarks=(
        "The paper calibrated c once and does not say whether it did so again for this pot. With the paper's "
        "c some of our runs of both solvers stay far from equilibrium for a long time; they cause the wide "
        "bands. An action whose first few payoffs were bad (-4 or -5 chips) is left with the exploration "
        "bonus c sqrt(log N / n), which is too small to select it again for any practical N. With c scaled "
        "to the payoffs, as Ponsen et al. advise, no run gets stuck."
    ),
)
