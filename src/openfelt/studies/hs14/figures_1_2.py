"""Heinrich & Silver 2014, Figures 1 and 2: IS-UCT and Smooth IS-UCT in Kuhn poker."""

from __future__ import annotations

import dataclasses

import numpy as np

from openfelt.arena.statistics.estimates import wilson
from openfelt.solve.sampling.smooth_uct import SmoothUCT
from openfelt.solve.sampling.uct import UCT
from openfelt.studies.findings import Finding, is_above, is_below, rate_is_above
from openfelt.studies.learning_study import LearningCurves, LearningStudy, Panel, SolverConfig
from openfelt.studies.metrics import dominated_error, mean_squared_error
from openfelt.studies.study import Setting, every

PAPER = (
    'Heinrich & Silver, "Self-Play Monte-Carlo Tree Search in Computer Poker" (2014), section "Kuhn Poker". '
    "The paper prints its curves without numbers and states its findings in words."
)
QUESTION = (
    "Does tree search in self-play find an equilibrium of Kuhn poker? Two measures: the mean squared "
    "difference to the closest equilibrium (SQ-ERR), and the summed probability of dominated actions "
    "(DOM-ERR)."
)
UCT_LABEL, SMOOTH_LABEL = "IS-UCT (c=2)", "Smooth IS-UCT (c=1.75)"
WIDE_UCT, WIDE_SMOOTH = "IS-UCT (c=5)", "Smooth IS-UCT (c=4.375)"
CLOSE = 0.005  # SQ-ERR
STEP, LAST, QUICK_LAST = 10_000, 1_000_000, 100_000
PANELS = (
    Panel("sq_err", mean_squared_error, "SQ-ERR (mean squared error)", logarithmic=True),
    Panel("dom_err", dominated_error, "DOM-ERR (summed probability)", logarithmic=True),
)


def _settings(runs: str, ours: str, c: str = "the same") -> tuple[Setting, ...]:
    return (
        Setting("exploration constant c", "2 (IS-UCT), 1.75 (Smooth IS-UCT)", c),
        Setting("mixing", "schedule (3): eta is the largest probability of the average policy", "the same"),
        Setting("runs", runs, ours),
        Setting("measured", "average policies, every 10,000 episodes", "the same"),
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
    for smooth, plain, note, ours in (
        (SMOOTH_LABEL, UCT_LABEL, "with the paper's c", False),
        (WIDE_SMOOTH, WIDE_UCT, "with c scaled to the payoffs", True),
    ):
        findings += [
            Finding(
                f"Smooth IS-UCT comes close to an equilibrium: a squared error below {CLOSE} ({note})",
                f"squared error {curves.ends(smooth, 'sq_err'):.2g}; of IS-UCT "
                f"{curves.ends(plain, 'sq_err'):.2g}",
                is_below(curves.ends(smooth, "sq_err"), CLOSE),
                ours,
            ),
            Finding(
                f"Smooth IS-UCT has the larger dominated error ({note})",
                _compare(curves, "dom_err", smooth, plain),
                is_above(curves.apart("dom_err", smooth, plain)),
                ours,
            ),
        ]
    close = curves.values[SMOOTH_LABEL, "sq_err"][:, -1] < CLOSE
    low, high = wilson(int(close.sum()), len(close))
    findings.append(
        Finding(
            f"most runs of Smooth IS-UCT with the paper's c come close: a squared error below {CLOSE}",
            f"{close.sum()} of {len(close)} runs ({low:.0%} to {high:.0%}); median "
            f"{np.median(curves.values[SMOOTH_LABEL, 'sq_err'][:, -1]):.2g}",
            rate_is_above((low, high), 0.5),
            ours=True,
        )
    )
    return findings


FIGURE_1 = LearningStudy(
    name="hs14-figure-1",
    title="HS14, Figure 1: IS-UCT and Smooth IS-UCT in Kuhn poker",
    paper=PAPER,
    question=QUESTION,
    settings=(
        Setting("game", "Kuhn poker", "the same, with its pot of 2"),
        *_settings("10, of unknown length", f"10, of {LAST:,} episodes"),
    ),
    setup="",
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
    question=QUESTION,
    settings=(
        Setting("game", "Kuhn poker with an initial pot of 8", "each player antes 4 chips; a bet is 1 chip"),
        *_settings("10, of unknown length", f"50, of {LAST:,} episodes", "the same, and 2.5 times as much"),
    ),
    setup=(
        "The range of payoffs is 2.5 times that of the standard game (10 instead of 4 chips); c is "
        "multiplied by that in a second pair of solvers."
    ),
    solvers=(
        _uct("kuhn(pot=8)", UCT_LABEL, 2.0),
        _smooth("kuhn(pot=8)", SMOOTH_LABEL, 1.75),
        _uct("kuhn(pot=8)", WIDE_UCT, 5.0),
        _smooth("kuhn(pot=8)", WIDE_SMOOTH, 4.375),
    ),
    panels=tuple(
        dataclasses.replace(panel, labels=labels, single_runs=True)
        for labels in ((UCT_LABEL, SMOOTH_LABEL), (WIDE_UCT, WIDE_SMOOTH))
        for panel in PANELS
    ),
    episodes=every(STEP, LAST),
    quick_episodes=every(STEP, QUICK_LAST),
    findings=_judge_figure_2,
    runs=50,
    remarks=(
        "The paper calibrated c once and does not say whether it did so again for this pot. With the paper's "
        "c many of our runs of both solvers stay far from equilibrium for a long time, so a mean of ten runs "
        "depends on how many of the ten get stuck. An action whose first few payoffs were bad (-4 or -5 "
        "chips) is left with the exploration bonus c sqrt(log N / n), which is too small to select it again "
        "for any practical N. With c scaled to the payoffs, as Ponsen et al. advise, no run gets stuck."
    ),
)
