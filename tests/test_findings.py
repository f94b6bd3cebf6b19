"""Verdicts of studies: intervals against scipy's tests, three outcomes, what the pages say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from openfelt.plots.intervals import Interval
from openfelt.studies.findings import (
    Finding,
    apart,
    both,
    count_claims,
    difference,
    findings_table,
    is_above,
    is_below,
    is_within,
    mean_of_runs,
    some,
)


@pytest.mark.parametrize("sizes", [(3, 3), (10, 4), (2, 30)])
def test_intervals_of_differences_are_those_of_welchs_test(sizes):
    draw = np.random.default_rng(sum(sizes))
    first, second = draw.normal(1.0, 2.0, sizes[0]), draw.normal(0.0, 0.5, sizes[1])
    wanted = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    found = difference(first, second)
    assert (found.mean - found.half, found.mean + found.half) == pytest.approx(tuple(wanted))


def test_intervals_of_means_are_those_of_students_test():
    values = np.random.default_rng(1).normal(3.0, 1.0, 7)
    wanted = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    found = mean_of_runs(values)
    assert (found.mean - found.half, found.mean + found.half) == pytest.approx(tuple(wanted))


def test_a_single_run_decides_nothing_and_equal_runs_everything():
    one, two = np.array([1.0]), np.array([2.0, 2.0])
    assert is_above(mean_of_runs(one)) is None
    assert is_above(difference(two, one)) is None
    assert is_above(difference(two, np.array([1.0, 1.0]))) is True


@pytest.mark.parametrize(
    ("value", "above", "below", "within"),
    [
        (Interval(2.0, 1.0), True, False, False),  # the limits: 0.5; from -0.5 to 0.5
        (Interval(-2.0, 1.0), False, True, False),
        (Interval(0.4, 0.3), None, None, None),
        (Interval(0.0, 0.2), False, True, True),
    ],
)
def test_a_claim_is_undecided_if_the_interval_contains_the_limit(value, above, below, within):
    assert (is_above(value, 0.5), is_below(value, 0.5), is_within(value, -0.5, 0.5)) == (above, below, within)


def test_the_difference_of_independent_means():
    assert apart(Interval(5.0, 3.0), Interval(2.0, 4.0)) == Interval(3.0, 5.0)


def test_a_claim_of_several_parts():
    assert both(True, True) is True
    assert both(True, None) is None
    assert both(None, False, True) is False
    assert some([False, None, True]) is True
    assert some([False, None]) is None
    assert some([False, False]) is False


def test_pages_count_the_claims_of_the_paper_and_ours_apart():
    found = [
        Finding("it falls", "1 to 0", True),
        Finding("it rises", "0.1 ± 0.3", None),
        Finding("it is new", "yes", False, ours=True),
    ]
    page = "\n".join(findings_table(found, own_claims=False))
    assert "**Of the paper's 2 claims, 1 holds and 1 is undecided.**" in page
    assert "**Of our 1 claim, 1 does not hold.**" in page
    assert "| it rises | 0.1 ± 0.3 | undecided |" in page
    assert page.index("claim of the paper") < page.index("it rises") < page.index("our claim")
    assert "**Of our 3 claims, 1 holds, 1 does not hold and 1 is undecided.**" in "\n".join(
        findings_table(found, own_claims=True)
    )
    assert findings_table([], own_claims=True) == []
    assert count_claims(found[:1]) == "1 claim, 1 holds"
