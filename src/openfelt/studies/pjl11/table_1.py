"""PJL11, section 3.3.2, Figure 4 (right) and Table 1: outcome-sampling MCCFR and MCTS in limit hold'em."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from openfelt.arena.holdem_value import holdem_value
from openfelt.policy.files import load_policy
from openfelt.policy.policy import Policy
from openfelt.solve.sampling.outcome_mccfr import OutcomeMCCFR
from openfelt.solve.sampling.uct import UCT
from openfelt.studies.findings import Finding, is_above, is_within
from openfelt.studies.learning_study import LearningCurves, LearningStudy, Panel, SolverConfig
from openfelt.studies.match_table import Cell, MatchTable, TableResults, wins_more
from openfelt.studies.study import Setting, spaced

PAPER = (
    'Ponsen, de Jong & Lanctot, "Computing Approximate Nash Equilibria and Robust Best-Responses Using '
    'Sampling" (2011), section 3.3.2, '
)
POLICIES, TRAINING_COMMAND = "runs/pjl11", "make pjl11-policies"
POKI, SPARBOT = "poki-like", "sparbot-like"
ERROR = 0.06  # sb/h: the paper's "estimated standard deviation" of 1e4 games
MCTS, MCCFR, FINE = "MCTS10", "MCCFR10", "MCCFR100"
_COLUMNS = {
    MCTS: "mcts10-5e9",
    f"{MCTS}, 5e8": "mcts10-5e8",
    f"{MCTS}, 5e7": "mcts10-5e7",
    f"{MCTS} greedy": "greedy@mcts10-5e9",
    f"{MCTS}, uniform": "mcts10-uniform",
    MCCFR: "mccfr10",
    FINE: "mccfr100",
}
_PUBLISHED = {
    POKI: {MCTS: 0.077, MCCFR: 0.059, FINE: 0.191},
    SPARBOT: {MCTS: -0.103, MCCFR: -0.091, FINE: 0.046},
}


def _cells() -> tuple[Cell, ...]:
    cells = []
    for row in (POKI, SPARBOT):
        for column, policy in _COLUMNS.items():
            kind, at, folder = policy.rpartition("@")
            number = _PUBLISHED[row].get(column)
            published = None if number is None else (number, ERROR)
            bot = f"{kind}{at}{POLICIES}/{folder}"
            cells.append(Cell(row, column, (bot, row), published, 40_000 * (row == POKI)))
    return tuple(cells)


def _judge_table(results: TableResults) -> list[Finding]:
    def judge_win(row: str, column: str) -> Finding:
        won = results[row, column]
        return Finding(f"{column} beats {row}", f"{won} sb/h", is_above(won.interval))

    found = [judge_win(POKI, MCTS), judge_win(POKI, MCCFR), judge_win(POKI, FINE)]
    for column in (MCTS, MCCFR):
        won, paper = results[SPARBOT, column], _PUBLISHED[SPARBOT][column]
        claim = f"{column} loses slightly to {SPARBOT}: no more than twice the paper's {-paper:g} sb/h"
        found.append(Finding(claim, f"{won} sb/h", is_within(won.interval, 2 * paper, 0.0)))
    found.append(judge_win(SPARBOT, FINE))
    for row in (POKI, SPARBOT):
        fine, coarse = results[row, FINE], results[row, MCCFR]
        claim = f"a hundred buckets do better against {row} than ten"
        found.append(Finding(claim, f"{fine} against {coarse} sb/h", wins_more(fine, coarse)))
    return found


TABLE_1 = MatchTable(
    name="pjl11-table-1",
    title="PJL11, Table 1: MCTS and outcome-sampling MCCFR against two programs",
    paper=PAPER + "Table 1. Poki and Sparbot are closed-source.",
    question=(
        "How strong are policies of MCTS and of outcome-sampling MCCFR, trained in a coarse abstraction of "
        "limit hold'em, against two programs? And does a finer abstraction help?"
    ),
    settings=(
        Setting("buckets", "EHS, ten or a hundred a street, equal width", "`ehs:10`, `ehs:100`"),
        Setting(
            "iterations",
            '"a large number"',
            "5e9 on a GPU; 1e10 with a hundred buckets; MCTS also 5e7 and 5e8",
        ),
        Setting(
            "policy of MCTS", "the visit counts (3.2.1)", "the same, its average; also its greedy policy"
        ),
        Setting("simulations of MCTS", "on-policy (3.2.1)", "the same; also uniform actions"),
        Setting("C of MCTS", "17, without a unit", "17 chips, 8.5 small bets"),
        Setting("epsilon of MCCFR", "0.6", "the same"),
        Setting("Poki, Sparbot", "those of Poker Academy", f"[`{POKI}`, `{SPARBOT}`](../bots.md): stand-ins"),
        Setting("games", "1e4 of each pairing", "40,000 against poki-like, 2,000,000 against sparbot-like"),
    ),
    setup="Each deal is played in both seats.",
    unit="sb/h",
    cells=_cells(),
    budget=2_000_000,
    quick_budget=2_000,
    findings=_judge_table,
    remarks=(
        "MCTS is behind MCCFR against both opponents; in the paper their differences are not significant. "
        "Longer training of MCTS helps against poki-like and hurts against sparbot-like, an equilibrium of a "
        "coarse abstraction; its greedy policy loses less there than the visit counts. Simulations with "
        "uniform actions make little difference. The paper gives no unit of C; in small bets instead of "
        "chips it would be twice as large.\n\n"
        "A hundred buckets win more than ten from poki-like, but not from sparbot-like; external-sampling "
        "equilibria with ten and a hundred buckets also differ little ([Table 2](pjl11-table-2.md)). The "
        "opponents are ours, so winnings against them say little about the originals."
    ),
    training_command=TRAINING_COMMAND,
    requires=f"its policies (`{TRAINING_COMMAND}`)",
)

GAME = "holdem(buckets='ehs:10')"
EQUILIBRIUM = Path(__file__).parent / "policies" / "mccfr10"
DEALS = 200_000  # of a measurement, each played in both seats; the paper has 1e5 games
LAST = 100_000_000
AVERAGE, GREEDY = "average", "greedy"
WON = "won"
SETTLED = 0.02  # sb/h: a curve that changes less has converged


@cache
def _equilibrium() -> Policy:
    return load_policy(EQUILIBRIUM)


def _winnings(policy: Policy) -> float:
    """Winnings against the equilibrium in sb/h."""
    return holdem_value(policy, _equilibrium(), deals=DEALS).mbb / 1000


def _judge_figure(curves: LearningCurves) -> list[Finding]:
    mcts, mccfr = f"MCTS (C=17) {AVERAGE}", "MCCFR (epsilon=0.6)"
    early, last = curves.at(0.1, mcts, WON), curves.end(mcts, WON)
    found = [
        Finding(
            "MCTS converges quickly",
            f"{early:+.3f} sb/h after a tenth of the iterations, {last:+.3f} at the end: a change of "
            f"{curves.change(mcts, WON, 0.1):+.3f}",
            is_within(curves.change(mcts, WON, 0.1), -SETTLED, SETTLED),
        )
    ]
    early, last = curves.at(0.1, mccfr, WON), curves.end(mccfr, WON)
    found.append(
        Finding(
            "MCCFR keeps improving",
            f"{early:+.3f}, then {last:+.3f} sb/h: a change of {curves.change(mccfr, WON, 0.1):+.3f}",
            is_above(curves.change(mccfr, WON, 0.1), 0.005),
        )
    )
    first_mcts, first_mccfr = curves.at(0.0, mcts, WON), curves.at(0.0, mccfr, WON)
    found.append(
        Finding(
            "MCTS is ahead at first",
            f"{first_mcts:+.3f} against {first_mccfr:+.3f} sb/h after {curves.episodes[0]:,} iterations",
            is_above(curves.apart(WON, mcts, mccfr, 0.0)),
        )
    )
    end_mcts, end_mccfr = curves.end(mcts, WON), curves.end(mccfr, WON)
    found.append(
        Finding(
            "MCCFR is ahead at the end",
            f"{end_mccfr:+.3f} against {end_mcts:+.3f} sb/h",
            is_above(curves.apart(WON, mccfr, mcts)),
        )
    )
    return found


FIGURE_4_HOLDEM = LearningStudy(
    name="pjl11-figure-4-holdem",
    title="PJL11, Figure 4 (right): MCTS and MCCFR against an equilibrium with ten buckets",
    paper=PAPER + "Figure 4. The paper prints its curves without numbers and states its findings in words.",
    question=(
        "How do MCTS and outcome-sampling MCCFR converge in an abstraction of limit hold'em? Both are "
        "measured by what they win from an equilibrium of the same abstraction; no policy wins from it in "
        "the long run."
    ),
    settings=(
        Setting("buckets", "EHS, ten a street, equal width", f"`{GAME}`"),
        Setting("opponent", "MCCFR in the same buckets", "the same, after 5e9 iterations; it is included"),
        Setting(
            "policy of MCTS", "the visit counts (3.2.1)", "the same, its average; also its greedy policy"
        ),
        Setting("simulations of MCTS", "on-policy (3.2.1)", "the same"),
        Setting("C of MCTS", "17, without a unit", "17 chips, 8.5 small bets"),
        Setting("epsilon of MCCFR", "0.6", "the same"),
        Setting("measured", "every 1e6 iterations, in 1e5 games", f"in {DEALS:,} deals, each in both seats"),
    ),
    setup="Winnings are in small bets a hand (sb/h). The same deals are used for all measurements.",
    solvers=(
        SolverConfig(
            "MCTS (C=17)",
            lambda seed: UCT(GAME, c=17, rollout="on-policy", seed=seed),
            lines={AVERAGE: lambda solver: solver.policy, GREEDY: lambda solver: solver.greedy},
        ),
        SolverConfig(
            "MCCFR (epsilon=0.6)",
            lambda seed: OutcomeMCCFR(GAME, epsilon=0.6, seed=seed),
            lines={"": lambda solver: solver.policy},
        ),
    ),
    panels=(Panel(WON, _winnings, "winnings against the equilibrium (sb/h)"),),
    episodes=spaced(1_000_000, LAST, 6),
    quick_episodes=spaced(100_000, 1_000_000, 3),
    findings=_judge_figure,
    runs=3,
    requires="half an hour",
)
