"""The verdict of a study: each claim, what was measured, and whether the claim holds.

A claim about means is decided by the 95% interval of the difference. If the interval
contains the value that separates true from false, the claim is undecided: `holds` is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from openfelt.arena.statistics.estimates import Estimate
from openfelt.core.jit import Floats
from openfelt.plots.intervals import Interval

WORDS = {True: "yes", False: "**no**", None: "undecided"}


@dataclass(frozen=True)
class Finding:
    """A claim, what we measured, and whether the claim holds."""

    claim: str
    measured: str
    holds: bool | None  # None: the measurements do not decide it
    ours: bool = False  # a claim of ours, not of the paper


def findings_table(findings: Sequence[Finding], *, own_claims: bool) -> list[str]:
    """The findings in Markdown, those of the paper first, and how many of each hold."""
    papers = [each for each in findings if not (each.ours or own_claims)]
    ours = [each for each in findings if each.ours or own_claims]
    lines = []
    for head, claims in (("claim of the paper", papers), ("our claim", ours)):
        if claims:
            lines += [f"| {head} | measured here | holds |", "|---|---|---|"]
            lines += [f"| {each.claim} | {each.measured} | {WORDS[each.holds]} |" for each in claims]
            whose = "our" if claims is ours else "the paper's"
            lines += ["", f"**Of {whose} {count_claims(claims)}.**", ""]
    return lines


def count_claims(findings: Sequence[Finding]) -> str:
    """For example "3 claims, 1 holds, 1 does not hold and 1 is undecided"."""
    counts = [sum(each.holds is verdict for each in findings) for verdict in WORDS]
    words = (("holds", "hold"), ("does not hold", "do not hold"), ("is undecided", "are undecided"))
    found = [(count, pair) for count, pair in zip(counts, words, strict=True) if count]
    parts = [f"{count} {one if count == 1 else many}" for count, (one, many) in found]
    total = f"{len(findings)} claim{'' if len(findings) == 1 else 's'}"
    return f"{total}, " + " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def mean_of_runs(values: Floats) -> Interval:
    """The mean over independent runs, with its interval by Student's t."""
    if len(values) < 2:
        return Interval(float(values.mean()), np.inf)
    error = values.std(ddof=1) / np.sqrt(len(values))
    return Interval(float(values.mean()), Estimate(0.0, float(error), len(values) - 1).interval())


def difference(first: Floats, second: Floats) -> Interval:
    """The difference of two means over independent runs, with its interval by Welch's t."""
    mean = float(first.mean() - second.mean())
    if min(len(first), len(second)) < 2:
        return Interval(mean, np.inf)
    parts = np.array([values.var(ddof=1) / len(values) for values in (first, second)])
    if not parts.any():
        return Interval(mean, 0.0)
    freedom = parts.sum() ** 2 / (parts**2 / (np.array([len(first), len(second)]) - 1)).sum()
    return Interval(mean, Estimate(0.0, float(np.sqrt(parts.sum())), freedom).interval())


def apart(first: Interval, second: Interval) -> Interval:
    """How far one mean is above another, as if they were independent."""
    return Interval(first.mean - second.mean, float(np.hypot(first.half, second.half)))


def is_above(value: Interval, limit: float = 0.0) -> bool | None:
    """Whether a mean is above a limit."""
    if value.mean - value.half > limit:
        return True
    return False if value.mean + value.half <= limit else None


def rate_is_above(interval: tuple[float, float], share: float) -> bool | None:
    """Whether a rate is above a share; None: its interval does not decide it."""
    low, high = interval
    return True if low > share else False if high <= share else None


def rate_is_below(interval: tuple[float, float], share: float) -> bool | None:
    """Whether a rate is below a share; None: its interval does not decide it."""
    low, high = interval
    return rate_is_above((-high, -low), -share)


def is_below(value: Interval, limit: float = 0.0) -> bool | None:
    """Whether a mean is below a limit."""
    return is_above(Interval(-value.mean, value.half), -limit)


def is_within(value: Interval, low: float, high: float) -> bool | None:
    """Whether a mean is between two limits: a test of equivalence."""
    return both(is_above(value, low), is_below(value, high))


def both(*verdicts: bool | None) -> bool | None:
    """Whether all parts of a claim hold."""
    if any(verdict is False for verdict in verdicts):
        return False
    return None if any(verdict is None for verdict in verdicts) else True


def some(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether a claim holds of at least one."""
    found = list(verdicts)
    if any(found):
        return True
    return None if any(verdict is None for verdict in found) else False
