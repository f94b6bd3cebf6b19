"""The verdict of a study: each claim, what was measured, and whether it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A claim, what we measured, and whether the claim holds."""

    claim: str
    measured: str
    holds: bool


def findings_table(findings: Sequence[Finding], *, own_claims: bool) -> list[str]:
    """The findings in Markdown, and how many of them hold."""
    if not findings:
        return []
    holding = sum(each.holds for each in findings)
    verdict = "1 holds" if holding == 1 else f"{holding} hold"
    return [
        f"| {'our claim' if own_claims else 'claim of the paper'} | measured here | holds |",
        "|---|---|---|",
        *(f"| {each.claim} | {each.measured} | {'yes' if each.holds else '**no**'} |" for each in findings),
        "",
        f"**Of {'our' if own_claims else 'these'} {len(findings)} claims, {verdict}.**",
        "",
    ]
