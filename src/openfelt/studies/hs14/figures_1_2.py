"""Heinrich & Silver 2014, Figures 1 and 2: IS-UCT and Smooth IS-UCT in Kuhn poker."""

from __future__ import annotations

from openfelt.solve.sampling.smooth_uct import SmoothUCT
from openfelt.solve.sampling.uct import UCT
from openfelt.studies.metrics import dominated_error, mean_squared_error
from openfelt.studies.study import Contender, Curves, Finding, Panel, Study, every

PAPER = (
    'Heinrich & Silver, "Self-Play Monte-Carlo Tree Search in Computer Poker" (2014), section "Kuhn Poker". '
    "The paper prints its curves without numbers; its findings are given in words."
)
UCT_LABEL, SMOOTH_LABEL = "IS-UCT (c=2)", "Smooth IS-UCT (c=1.75)"
WIDE_UCT, WIDE_SMOOTH = "IS-UCT (c=5)", "Smooth IS-UCT (c=4.375)"
STEP, LAST, QUICK_LAST = 10_000, 1_000_000, 100_000
PANELS = (
    Panel("sq_err", mean_squared_error, "SQ-ERR (mean squared error)", logarithmic=True),
    Panel("dom_err", dominated_error, "DOM-ERR (summed probability)", logarithmic=True),
)


def _uct(game: str, label: str, c: float) -> Contender:
    return Contender(label, lambda seed: UCT(game, c=c, seed=seed))


def _smooth(game: str, label: str, c: float) -> Contender:
    return Contender(label, lambda seed: SmoothUCT(game, c=c, schedule="max-average", seed=seed))


def _compare(curves: Curves, metric: str, first: str, second: str) -> str:
    return f"{curves.end(first, metric):.2g} against {curves.end(second, metric):.2g}"


def _figure_1(curves: Curves) -> list[Finding]:
    return [
        Finding(
            f"Smooth IS-UCT ends with the smaller {word}",
            _compare(curves, metric, SMOOTH_LABEL, UCT_LABEL),
            curves.end(SMOOTH_LABEL, metric) < curves.end(UCT_LABEL, metric),
        )
        for word, metric in (("squared error", "sq_err"), ("dominated error", "dom_err"))
    ]


def _figure_2(curves: Curves) -> list[Finding]:
    found = []
    for smooth, plain, note in (
        (SMOOTH_LABEL, UCT_LABEL, "with the paper's c"),
        (WIDE_SMOOTH, WIDE_UCT, "with c in proportion to the payoffs"),
    ):
        found += [
            Finding(
                f"Smooth IS-UCT comes close to an equilibrium ({note})",
                f"squared error {_compare(curves, 'sq_err', smooth, plain)} of IS-UCT",
                curves.end(smooth, "sq_err") < 0.005,
            ),
            Finding(
                f"Smooth IS-UCT has the larger dominated error ({note})",
                _compare(curves, "dom_err", smooth, plain),
                curves.end(smooth, "dom_err") > curves.end(plain, "dom_err"),
            ),
        ]
    return found


FIGURE_1 = Study(
    name="hs14-figure-1",
    title="HS14, Figure 1: IS-UCT and Smooth IS-UCT in Kuhn poker",
    paper=PAPER,
    setting=(
        "Kuhn poker with the standard pot of 2. Smooth IS-UCT mixes by schedule (3), eta = the largest "
        "probability of the average policy; the average policies are measured every 10,000 episodes."
    ),
    contenders=(_uct("kuhn", UCT_LABEL, 2.0), _smooth("kuhn", SMOOTH_LABEL, 1.75)),
    panels=PANELS,
    episodes=every(STEP, LAST),
    quick_episodes=every(STEP, QUICK_LAST),
    findings=_figure_1,
)

FIGURE_2 = Study(
    name="hs14-figure-2",
    title="HS14, Figure 2: Kuhn poker with an initial pot of 8",
    paper=PAPER,
    setting=(
        "Kuhn poker in which each player antes 4 chips, a bet is still 1. The same learners as in Figure 1, "
        "and beside them the same with c multiplied by 2.5, as much as the range of payoffs (10 instead of 4 "
        "chips)."
    ),
    contenders=(
        _uct("kuhn(pot=8)", UCT_LABEL, 2.0),
        _smooth("kuhn(pot=8)", SMOOTH_LABEL, 1.75),
        _uct("kuhn(pot=8)", WIDE_UCT, 5.0),
        _smooth("kuhn(pot=8)", WIDE_SMOOTH, 4.375),
    ),
    panels=PANELS,
    episodes=every(STEP, LAST),
    quick_episodes=every(STEP, QUICK_LAST),
    findings=_figure_2,
    remarks=(
        "The paper calibrated c once and does not say whether for this pot too. With its c some of our runs "
        "of both learners stay far from equilibrium for a long time, which makes the wide bands: an action "
        "whose first few payoffs were bad (-4 or -5 chips) has a bonus of c sqrt(log N / n), which is too "
        "small to try it again before N has grown beyond any practical number. With c in proportion to the "
        "payoffs, as Ponsen et al. advise, no run gets stuck."
    ),
)
