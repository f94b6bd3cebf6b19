"""How strong each bot of three-player limit hold'em is: what it wins from two of the strongest we have."""

from __future__ import annotations

from dataclasses import dataclass

from openfelt.policy.rules import RULES
from openfelt.studies.holdem.cross_table import FORMULAS
from openfelt.studies.match_table import Cell, MatchTable, Results
from openfelt.studies.study import Finding

YARDSTICK = "poki-like"
COLUMN = f"2x {YARDSTICK}"


@dataclass(frozen=True, kw_only=True)
class YardstickTable(MatchTable):
    """Every bot of the rows against the same two others."""

    def table(self, results: Results) -> list[str]:
        ranked = sorted(self.cells, key=lambda cell: -results[cell.row, cell.column].mean)
        lines = [
            "## All matches",
            "",
            f"Won by the bot of the row from two {YARDSTICK}, with 95% intervals.",
            "",
            f"| bot | won ({self.unit}) | hands |",
            "|---|---:|---:|",
        ]
        for cell in ranked:
            measured = results[cell.row, cell.column]
            lines.append(f"| {cell.row} | {measured} | {measured.hands:,} |")
        return lines


def _findings(results: Results) -> list[Finding]:
    found = []
    for (row, _), measured in results.items():
        if row == YARDSTICK:
            text, holds = f"a third {YARDSTICK} breaks even", abs(measured.mean) <= measured.half_95
        else:
            text, holds = f"{row} loses to two {YARDSTICK}", measured.mean < -measured.half_95
        found.append(Finding(text, f"{measured} mbb/h", holds))
    return found


THREE_HANDED = YardstickTable(
    name="bots-three-handed",
    title=f"All bots of three-player limit hold'em against two {YARDSTICK}",
    paper="Ours: who is how strong with three at the table. [What each bot is](../bots.md).",
    setting=(
        "A new deal for each hand, seats permuted, the luck of the cards regressed out. All matches share "
        f"their deals. By symmetry a third {YARDSTICK} must break even, which checks the intervals."
    ),
    unit="mbb/h",
    cells=tuple(Cell(bot, COLUMN, (bot, YARDSTICK, YARDSTICK)) for bot in (*RULES, *FORMULAS)),
    hands=12_000,
    quick_hands=600,
    findings=_findings,
    needs="four minutes",
    own_claims=True,
)
