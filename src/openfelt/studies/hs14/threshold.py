"""Heinrich & Silver 2014, three players: readings of the threshold of Smooth IS-UCT, tried on Leduc."""

from __future__ import annotations

from openfelt.solve.sampling.smooth_uct import BY_AVERAGE, BY_UCB, SmoothUCT
from openfelt.studies.findings import Finding, is_above, is_below, is_within
from openfelt.studies.hs14.tables_2_3 import PAPER
from openfelt.studies.learning_study import LearningCurves, LearningStudy, Panel, SolverConfig
from openfelt.studies.metrics import greedy_nash_conv, nash_conv
from openfelt.studies.study import Setting, spaced

THRESHOLD = 10_000  # visits
NONE, LITERAL, UCB_BELOW = "no threshold", "average below it (literal)", "UCB below it"
EQUAL = 0.1  # chips


def _smooth(label: str, threshold: int, below: str = BY_AVERAGE) -> SolverConfig:
    return SolverConfig(
        label,
        lambda seed: SmoothUCT(
            "leduc", c=18.0, schedule="max-average", threshold=threshold, below=below, seed=seed
        ),
    )


def _judge(curves: LearningCurves) -> list[Finding]:
    def compare(metric: str, first: str, second: str) -> str:
        values = f"{curves.end(first, metric):.2f} against {curves.end(second, metric):.2f} chips"
        return f"{values} (difference {curves.apart(metric, first, second):+.2f})"

    return [
        Finding(
            "read literally, the threshold prevents learning: the average stays far from equilibrium",
            compare("nash_conv", LITERAL, NONE),
            is_above(curves.apart("nash_conv", LITERAL, NONE), 1.0),
        ),
        Finding(
            f"with UCB below it, the average is as good as without a threshold (within {EQUAL:g} chips)",
            compare("nash_conv", UCB_BELOW, NONE),
            is_within(curves.apart("nash_conv", UCB_BELOW, NONE), -EQUAL, EQUAL),
        ),
        Finding(
            "with UCB below it, the greedy policy is better than without a threshold",
            compare("greedy_nash_conv", UCB_BELOW, NONE),
            is_below(curves.apart("greedy_nash_conv", UCB_BELOW, NONE)),
        ),
    ]


HS14_THRESHOLD = LearningStudy(
    name="hs14-threshold",
    title="HS14: two readings of the threshold of Smooth IS-UCT, in Leduc hold'em",
    paper=PAPER + 'section "Limit Texas Hold\'em".',
    question=(
        "With three players the paper sets eta, the probability of UCB, to 0 at infosets with fewer than "
        f"{THRESHOLD:,} visits, to avoid disproportionate exploration there. Read literally, such an infoset "
        "plays its average policy only: an action is drawn in proportion to how often it was drawn before, "
        "so the average does not improve. The paper's Definition 4 asks for an eta that is bounded from "
        "below, so the sentence may instead mean plain UCB below the threshold. [Table 3](hs14-table-3.md) "
        "depends on the answer. Here both readings are compared with no threshold, in a game in which "
        "exploitability can be computed exactly."
    ),
    settings=(
        Setting("game", "three-player limit hold'em", "Leduc hold'em, two players"),
        Setting("threshold", f"{THRESHOLD:,} visits", "the same"),
        Setting("mixing", "schedule (3): the largest probability of the average policy", "the same"),
        Setting("exploration", "schedule (5), k = 0.5", "c = 18 (MM19)"),
        Setting("episodes", "12e9", "1,000,000, ten runs"),
    ),
    setup="nash_conv is the summed gain of the best responses in both seats, in chips a game.",
    solvers=(
        _smooth(NONE, 0),
        _smooth(LITERAL, THRESHOLD),
        _smooth(UCB_BELOW, THRESHOLD, BY_UCB),
    ),
    panels=(
        Panel("nash_conv", nash_conv, "nash_conv of the average policy (chips)"),
        Panel("greedy_nash_conv", greedy_nash_conv, "nash_conv of the greedy policy (chips)"),
    ),
    episodes=spaced(1_000, 1_000_000, per_decade=20),
    quick_episodes=spaced(1_000, 100_000),
    findings=_judge,
    own_claims=True,
)
