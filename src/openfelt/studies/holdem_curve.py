"""How Smooth UCT learns two-player limit hold'em, in the small abstraction of HS14 (2p S)."""

from __future__ import annotations

from typing import NamedTuple

from openfelt.evaluate.holdem_value import HoldemValue, holdem_value
from openfelt.policy.any_policy import AnyPolicy
from openfelt.policy.holdem_policy import HoldemPolicy, rule_policy
from openfelt.solvers.smooth_uct import SmoothUCT
from openfelt.solvers.solver import Solver
from openfelt.studies.study import Contender, Curves, Finding, Panel, Study, spaced

GAME = "holdem"  # its abstraction is HS14's 2p S
THREADS = 2
LAST = 6_000_000_000  # an hour on two cores
STEPS = 6  # "itself as it was" is after at most a sixth of the episodes: the hour against ten minutes
DEALS = 500_000  # a measurement, each played in both seats
RULES = ("always-raise", "always-call", "random")
ITSELF = "itself after a sixth of the episodes"
LABEL, AVERAGE, GREEDY = "Smooth UCT", "average", "greedy"


class Learned(NamedTuple):
    """One of the two policies that the learner has at a moment."""

    kind: str
    episodes: int
    policy: HoldemPolicy


class Against:
    """What a policy wins against a rule, or against itself as it was; keeps the last measurement."""

    def __init__(self, opponent: str) -> None:
        self.opponent = opponent
        self.last: dict[str, HoldemValue] = {}
        self._earlier: dict[str, list[Learned]] = {}  # in the order of episodes

    def __call__(self, learned: Learned) -> float:
        if self.opponent in RULES:
            opponent = rule_policy(learned.policy.tree, self.opponent)
        else:
            known = self._earlier.setdefault(learned.kind, [])
            known.append(learned)
            before = [each for each in known if STEPS * each.episodes <= learned.episodes]
            opponent = (before or known)[-1 if before else 0].policy
        self.last[learned.kind] = holdem_value(learned.policy, opponent, deals=DEALS, threads=THREADS)
        return self.last[learned.kind].mbb

    def findings(self, curves: Curves) -> list[Finding]:
        """Whether it won at the end, with 95% confidence."""
        found = []
        for kind, value in self.last.items():
            ours = f"{value.mbb:+.0f} ± {value.interval():.0f} mbb/h after {curves.episodes[-1]:,} episodes"
            claim = f"the {kind} policy beats {self.opponent}"
            found.append(Finding(claim, ours, value.mbb > value.interval()))
        return found


def _learned(kind: str, solver: Solver) -> Learned:
    policy: AnyPolicy = solver.policy if kind == AVERAGE else solver.greedy
    assert isinstance(policy, HoldemPolicy)
    return Learned(kind, solver.iterations, policy)


_METRICS = [Against(opponent) for opponent in (*RULES, ITSELF)]

HOLDEM_CURVE = Study(
    name="holdem-learning-curve",
    title="Smooth UCT learns two-player limit hold'em",
    paper="The setting of Heinrich & Silver 2014 (2p S, k = 0.5); the curve and its claims are ours.",
    setting=(
        f"Self-play in `{GAME}` (E[HS2] grid 169/100/100/100, 638,352 rows), two threads. Winnings in "
        f"thousandths of a big blind a hand (mbb/h) over {DEALS:,} deals, each played in both seats with the "
        "same cards. The average policy is by visits; the greedy one takes the action of highest value, as "
        "the paper's frozen policies do."
    ),
    contenders=(
        Contender(
            LABEL,
            lambda seed: SmoothUCT(GAME, k=0.5, seed=seed, threads=THREADS),
            lines={
                AVERAGE: lambda solver: _learned(AVERAGE, solver),
                GREEDY: lambda solver: _learned(GREEDY, solver),
            },
        ),
    ),
    panels=tuple(Panel(metric.opponent, metric, f"vs {metric.opponent}, mbb/h") for metric in _METRICS),
    episodes=tuple(sorted({*spaced(1_000_000, LAST, 8), LAST // STEPS})),
    quick_episodes=spaced(1_000_000, 16_000_000, 4),
    findings=lambda curves: [found for metric in _METRICS for found in metric.findings(curves)],
    runs=1,
    own_claims=True,
    in_all=False,
)
