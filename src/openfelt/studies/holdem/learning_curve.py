"""How Smooth UCT learns two-player limit hold'em, in the small abstraction of HS14 (2p S)."""

from __future__ import annotations

import math
from typing import NamedTuple

from openfelt.arena.holdem_value import HoldemValue, holdem_value
from openfelt.policy.holdem import HoldemPolicy
from openfelt.policy.policy import Policy
from openfelt.policy.rules import rule_policy
from openfelt.solve.sampling.smooth_uct import SmoothUCT
from openfelt.solve.solver import Solver
from openfelt.studies.study import AN_HOUR, Contender, Curves, Finding, Panel, Study, spaced

GAME = "holdem"  # its abstraction is HS14's 2p S
THREADS = 2
LAST = 6_000_000_000  # an hour on two cores
EARLIER = 6  # "itself as it was" is after at most a sixth of the episodes: the hour against ten minutes
DEALS = 500_000  # a measurement, each played in both seats
RULES = ("always-raise", "always-call", "random")
ITSELF = "itself after a sixth of the episodes"
LABEL, AVERAGE, GREEDY = "Smooth UCT", "average", "greedy"


class Learned(NamedTuple):
    """One of the two policies that the learner has at a moment."""

    kind: str
    run: int  # a number apart for each learner
    episodes: int
    policy: HoldemPolicy


class Against:
    """What a policy wins against a rule, or against itself as it was; keeps what it measured."""

    def __init__(self, opponent: str) -> None:
        self.opponent = opponent
        self._found: dict[tuple[str, int], list[HoldemValue]] = {}  # by kind and episodes, one a run
        self._earlier: dict[tuple[str, int], list[Learned]] = {}  # by kind and run, in the order of episodes

    def __call__(self, learned: Learned) -> float:
        if self.opponent in RULES:
            opponent = rule_policy(learned.policy.tree, self.opponent)
        else:
            known = self._earlier.setdefault((learned.kind, learned.run), [])
            known.append(learned)
            before = [each for each in known if EARLIER * each.episodes <= learned.episodes]
            opponent = (before or known)[-1 if before else 0].policy
        value = holdem_value(learned.policy, opponent, deals=DEALS, threads=THREADS)
        self._found.setdefault((learned.kind, learned.episodes), []).append(value)
        return value.mbb

    def findings(self, curves: Curves) -> list[Finding]:
        """Whether it won at the end, with 95% confidence."""
        found, last = [], curves.episodes[-1]
        for kind in (AVERAGE, GREEDY):
            values, won = self._found.get((kind, last), []), curves.end(f"{LABEL} {kind}", self.opponent)
            error = math.hypot(*(value.interval() for value in values)) / max(1, len(values))
            # The intervals are not kept with runs that an earlier command has finished.
            width = f"± {error:.0f}" if values else "(without an interval)"
            ours = f"{won:+.0f} {width} mbb/h after {last:,} episodes"
            found.append(Finding(f"the {kind} policy beats {self.opponent}", ours, won > error))
        return found


def _learned(kind: str, solver: Solver) -> Learned:
    policy: Policy = solver.policy if kind == AVERAGE else solver.greedy
    assert isinstance(policy, HoldemPolicy)
    return Learned(kind, id(solver), solver.iterations, policy)


_METRICS = [Against(opponent) for opponent in (*RULES, ITSELF)]

HOLDEM_CURVE = Study(
    name="holdem-learning-curve",
    title="Smooth UCT learns two-player limit hold'em",
    paper=(
        "The abstraction and exploration of Heinrich & Silver 2014 (2p S, k = 0.5), with the mixing schedule "
        "of Mac Manus 2019 (2.11) in place of their (3); the curve and its claims are ours."
    ),
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
    episodes=tuple(sorted({*spaced(1_000_000, LAST, 8), LAST // EARLIER})),
    quick_episodes=spaced(1_000_000, 16_000_000, 4),
    findings=lambda curves: [found for metric in _METRICS for found in metric.findings(curves)],
    runs=1,
    own_claims=True,
    needs=AN_HOUR,
)
