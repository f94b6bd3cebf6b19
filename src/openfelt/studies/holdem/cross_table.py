"""A cross table of all bots of limit hold'em, and whether the one that comes along beats the simple ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from openfelt.arena.tournament import TournamentResult, tournament
from openfelt.plots.cross_table import plot_cross_table
from openfelt.policy.files import DEFAULT
from openfelt.policy.rules import RULES
from openfelt.studies.match_study import MatchStudy
from openfelt.studies.study import Finding

FORMULAS = ("ace1", "chen", "poki-like")
EQUILIBRIA = ("sparbot-like", "fellomen-like")


@dataclass(frozen=True, kw_only=True)
class CrossTableStudy(MatchStudy):
    """Everybody against everybody."""

    bots: tuple[str, ...]

    def planned(self, hands: int) -> int:
        return hands * len(self.bots) * (len(self.bots) - 1) // 2

    def play(
        self, *, hands: int, seed: int, processes: int, parts: Path, progress: Callable[[int], object]
    ) -> TournamentResult:
        return tournament(
            *self.bots, hands=hands, seed=seed, processes=processes, folder=parts, progress=progress
        )

    def csv(self, results: TournamentResult) -> str:
        return results.csv()

    def plot(self, results: TournamentResult, path: Path) -> None:
        plot_cross_table(results.cross_table, path, results.heading())

    def table(self, results: TournamentResult) -> list[str]:
        cross_table = results.cross_table
        return [
            "## Everybody against everybody",
            "",
            f"In {cross_table.unit}, won by the bot of the row, in the mean and against the bot with the "
            "column's number; ± half the 95% interval. All matches share their deals.",
            "",
            cross_table.markdown(),
        ]


def _findings(result: TournamentResult) -> list[Finding]:
    found = []
    for bot in (*RULES, *FORMULAS, *EQUILIBRIA):
        won = result.won(DEFAULT, bot)
        ours = f"{won.mean:+.1f} ± {won.interval:.1f} {result.unit}"
        found.append(Finding(f"`{DEFAULT}` beats {bot}", ours, won.mean > won.interval))
    return found


CROSS_TABLE = CrossTableStudy(
    name="bots-cross-table",
    title="All bots of two-player limit hold'em against each other",
    paper="Ours: who is how strong. [What each bot is](../bots.md).",
    setting=(
        "Each deal is played in both seats, and all pairs play the same deals. Bots that are stand-ins for "
        "programs of the papers are named so that nobody takes them for the originals."
    ),
    bots=(*RULES, *FORMULAS, *EQUILIBRIA, DEFAULT),
    hands=20_000,
    quick_hands=400,
    findings=_findings,
    needs="half an hour",
    own_claims=True,
)
