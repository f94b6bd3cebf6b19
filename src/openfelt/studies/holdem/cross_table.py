"""Cross table of all two-player hold'em bots: does the pretrained one beat the others?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from openfelt.arena.tournament import TournamentResult, tournament
from openfelt.core.workers import Workers
from openfelt.plots.cross_table import plot_cross_table
from openfelt.plots.intervals import Interval
from openfelt.policy.files import DEFAULT
from openfelt.policy.rules import RULES
from openfelt.studies.experiment import Experiment
from openfelt.studies.findings import Finding, is_above

FORMULAS = ("ace1", "chen", "poki-like")
EQUILIBRIA = ("sparbot-like", "fellomen-like")


@dataclass(frozen=True, kw_only=True)
class CrossTableStudy(Experiment):
    """A round-robin tournament; the budget is the hands of each match."""

    bots: tuple[str, ...]

    def planned_work(self, budget: int) -> int:
        return budget * len(self.bots) * (len(self.bots) - 1) // 2

    def run(
        self, *, budget: int, seed: int, processes: Workers, parts: Path, progress: Callable[[int], object]
    ) -> TournamentResult:
        return tournament(
            *self.bots, hands=budget, seed=seed, processes=processes, folder=parts, progress=progress
        )

    def csv(self, results: TournamentResult) -> str:
        return results.csv()

    def plot(self, results: TournamentResult, path: Path) -> None:
        plot_cross_table(results.cross_table, path, results.heading())

    def table(self, results: TournamentResult) -> list[str]:
        cross_table = results.cross_table
        return [
            "## Cross table",
            "",
            f"Winnings of the row's bot in {cross_table.unit}: on average, and against the bot with the "
            "column's number; ± half of the 95% interval. All matches share their deals.",
            "",
            cross_table.markdown(),
        ]


def _judge(result: TournamentResult) -> list[Finding]:
    findings = []
    for bot in (*RULES, *FORMULAS, *EQUILIBRIA):
        won = result.won(DEFAULT, bot)
        measured = f"{won.mean:+.1f} ± {won.interval:.1f} {result.unit}"
        findings.append(
            Finding(f"`{DEFAULT}` beats {bot}", measured, is_above(Interval(won.mean, won.interval)))
        )
    return findings


CROSS_TABLE = CrossTableStudy(
    name="bots-cross-table",
    title="Cross table of all two-player limit hold'em bots",
    paper="Not from a paper: how strong is each bot? The bots are described in [bots](../bots.md).",
    setup=(
        "A round-robin tournament. Each deal is played in both seats, and all pairs play the same deals. "
        "Bots named `-like` are stand-ins for programs of the papers, not the originals."
    ),
    bots=(*RULES, *FORMULAS, *EQUILIBRIA, DEFAULT),
    budget=20_000,
    quick_budget=400,
    findings=_judge,
    requires="ten minutes",
    own_claims=True,
)
