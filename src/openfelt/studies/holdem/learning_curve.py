"""Learning curve of Smooth UCT in two-player limit hold'em, in HS14's small abstraction (2p S)."""

from __future__ import annotations

import math
from typing import NamedTuple

from openfelt.arena.holdem_value import HoldemValue, holdem_value
from openfelt.plots.intervals import Interval
from openfelt.policy.policy import Policy
from openfelt.policy.rules import rule_policy
from openfelt.solve.sampling.smooth_uct import SmoothUCT
from openfelt.solve.solver import Solver
from openfelt.studies.findings import Finding, is_above
from openfelt.studies.learning_study import LearningCurves, LearningStudy, Panel, SolverConfig
from openfelt.studies.study import HOUR, spaced

GAME = "holdem"  # its abstraction is HS14's 2p S
THREADS = 2
LAST = 6_000_000_000  # an hour on two cores
EARLIER = 6  # "itself" is its policy after at most a sixth of the episodes: an hour against ten minutes
DEALS = 500_000  # of each measurement, played in both seats
RULES = ("always-raise", "always-call", "random")
ITSELF = "itself after a sixth of the episodes"
LABEL, AVERAGE, GREEDY = "Smooth UCT", "average", "greedy"


class PolicySnapshot(NamedTuple):
    """The average or greedy policy of a solver at some moment."""

    kind: str
    run: int  # a different number for each solver
    episodes: int
    policy: Policy


class WinningsAgainst:
    """The metric: winnings against a rule, or against its own earlier policy; remembers its measurements."""

    def __init__(self, opponent: str) -> None:
        self.opponent = opponent
        self._values: dict[tuple[str, int], list[HoldemValue]] = {}  # by kind and episodes: one a run
        self._snapshots: dict[tuple[str, int], list[PolicySnapshot]] = {}  # by kind and run: in order

    def __call__(self, snapshot: PolicySnapshot) -> float:
        if self.opponent in RULES:
            opponent = rule_policy(snapshot.policy.tree, self.opponent)
        else:
            snapshots = self._snapshots.setdefault((snapshot.kind, snapshot.run), [])
            snapshots.append(snapshot)
            earlier = [each for each in snapshots if EARLIER * each.episodes <= snapshot.episodes]
            opponent = (earlier[-1] if earlier else snapshots[0]).policy
        value = holdem_value(snapshot.policy, opponent, deals=DEALS, threads=THREADS)
        self._values.setdefault((snapshot.kind, snapshot.episodes), []).append(value)
        return value.mbb

    def judge(self, curves: LearningCurves) -> list[Finding]:
        """Whether each policy wins at the end, with 95% confidence."""
        findings, last = [], curves.episodes[-1]
        for kind in (AVERAGE, GREEDY):
            values, won = self._values.get((kind, last), []), curves.end(f"{LABEL} {kind}", self.opponent)
            error = math.hypot(*(value.interval() for value in values)) / max(1, len(values))
            # Runs that an earlier command has finished are stored without intervals.
            width = f"± {error:.0f}" if values else "(without an interval)"
            measured = f"{won:+.0f} {width} mbb/h after {last:,} episodes"
            findings.append(
                Finding(
                    f"the {kind} policy beats {self.opponent}",
                    measured,
                    is_above(Interval(won, error if values else math.inf)),
                )
            )
        return findings


def _snapshot(kind: str, solver: Solver) -> PolicySnapshot:
    policy: Policy = solver.policy if kind == AVERAGE else solver.greedy
    return PolicySnapshot(kind, id(solver), solver.iterations, policy)


_METRICS = [WinningsAgainst(opponent) for opponent in (*RULES, ITSELF)]

HOLDEM_CURVE = LearningStudy(
    name="holdem-learning-curve",
    title="Learning curve of Smooth UCT in two-player limit hold'em",
    paper=(
        "The abstraction and exploration are those of Heinrich & Silver 2014 (2p S, k = 0.5); the mixing "
        "schedule is that of Mac Manus 2019 (2.11) instead of their (3). The curve and its claims are ours."
    ),
    setup=(
        f"Self-play in `{GAME}` (E[HS2] grid 169/100/100/100, 638,352 infosets) on two threads. Winnings in "
        f"mbb/h (thousandths of a big blind a hand) over {DEALS:,} duplicate deals, each played in both "
        "seats. The average policy is weighted by visits; the greedy policy takes the action of the highest "
        "value, as the paper's policies do."
    ),
    solvers=(
        SolverConfig(
            LABEL,
            lambda seed: SmoothUCT(GAME, k=0.5, seed=seed, threads=THREADS),
            lines={
                AVERAGE: lambda solver: _snapshot(AVERAGE, solver),
                GREEDY: lambda solver: _snapshot(GREEDY, solver),
            },
        ),
    ),
    panels=tuple(Panel(metric.opponent, metric, f"against {metric.opponent} (mbb/h)") for metric in _METRICS),
    episodes=tuple(sorted({*spaced(1_000_000, LAST, 8), LAST // EARLIER})),
    quick_episodes=spaced(1_000_000, 16_000_000, 4),
    findings=lambda curves: [finding for metric in _METRICS for finding in metric.judge(curves)],
    runs=1,
    own_claims=True,
    requires=HOUR,
)
