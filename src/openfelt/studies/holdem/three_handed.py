"""Winnings of each three-player hold'em bot against two copies of one of the strongest."""

from __future__ import annotations

from dataclasses import dataclass

from openfelt.policy.rules import RULES
from openfelt.studies.findings import Finding, is_below
from openfelt.studies.holdem.cross_table import FORMULAS
from openfelt.studies.match_table import Cell, MatchTable, TableResults

REFERENCE = "poki-like"
COLUMN = f"2x {REFERENCE}"


@dataclass(frozen=True, kw_only=True)
class ReferenceTable(MatchTable):
    """Every bot of the rows against the same two opponents."""

    def table(self, results: TableResults) -> list[str]:
        ranked = sorted(self.cells, key=lambda cell: -results[cell.row, cell.column].mean)
        lines = [
            "## All matches",
            "",
            f"Winnings against two {REFERENCE}, with 95% intervals.",
            "",
            f"| bot | winnings ({self.unit}) | hands |",
            "|---|---:|---:|",
        ]
        for cell in ranked:
            won = results[cell.row, cell.column]
            lines.append(f"| {cell.row} | {won} | {won.hands:,} |")
        return lines


def _judge(results: TableResults) -> list[Finding]:
    findings = []
    verdict: bool | None
    for (row, _), won in results.items():
        if row == REFERENCE:
            claim, verdict = f"a third {REFERENCE} breaks even", bool(abs(won.mean) <= won.half_95)
        else:
            claim, verdict = f"{row} loses to two {REFERENCE}", is_below(won.interval)
        findings.append(Finding(claim, f"{won} mbb/h", verdict))
    return findings


THREE_HANDED = ReferenceTable(
    name="bots-three-handed",
    title=f"All three-player limit hold'em bots against two {REFERENCE}",
    paper=(
        "Not from a paper: how strong is each bot at a table of three? The bots are described in "
        "[bots](../bots.md)."
    ),
    setup=(
        "Each hand has a new deal, the seats are permuted, and the luck of the cards is regressed out. All "
        f"matches share their deals. By symmetry a third {REFERENCE} must break even; this checks the "
        "intervals."
    ),
    unit="mbb/h",
    cells=tuple(Cell(bot, COLUMN, (bot, REFERENCE, REFERENCE)) for bot in (*RULES, *FORMULAS)),
    budget=12_000,
    quick_budget=600,
    findings=_judge,
    requires="four minutes",
    own_claims=True,
)
