"""PJL11's Figure 7: speedups from made-up curves, their verdicts, and training by CPU time."""

from __future__ import annotations

from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import ttest_ind

from openfelt.plots.intervals import Interval
from openfelt.studies import cpu_time
from openfelt.studies.cpu_time import train_for
from openfelt.studies.pjl11.figure_6 import MCRNR
from openfelt.studies.pjl11.figure_7 import METHODS
from openfelt.studies.pjl11.figure_7_findings import HISTORY_RNR, PAPERS, findings
from openfelt.studies.pjl11.figure_7_speedups import (
    NODES,
    ConvergenceCurve,
    GameConvergence,
    Speedup,
    Work,
    describe_work,
    speedup,
    work_to,
)

START = 3.0
JITTER = (0.95, 1.0, 1.05)
FLAGS = list(product((False, True), repeat=2))


def curve(scale, power=1.0, first=0.01, last=100.0):
    """A run that is at 1/f of the initial distance after scale * f**power seconds, ten nodes each."""
    seconds = np.geomspace(first, last, 12)
    distance = START * (scale / seconds) ** (1 / power)
    return ConvergenceCurve(*(list(each) for each in (seconds, 10 * seconds, distance, distance)))


def runs(scale, **how):
    return [curve(scale * each, **how) for each in JITTER]


def game(**methods):
    """MCRNR (`sampled`) and RNR over all histories (`full`); all other methods as the latter."""
    curves = dict.fromkeys(METHODS, methods["full"])
    return GameConvergence(curves | {MCRNR: methods["sampled"]}, limit=0.1, start=START)


def to(convergence, fraction=4, axis="seconds"):
    return speedup(*(work_to(convergence, method, fraction, axis) for method in (HISTORY_RNR, MCRNR)))


def test_work_is_interpolated_and_speedups_have_the_interval_of_welch():
    sampled, full = [curve(each) for each in (0.5, 0.7, 0.6)], [curve(each) for each in (1.0, 2.5, 2.0)]
    both = game(sampled=sampled, full=full)
    for fraction, (axis, unit) in product((2, 10), (("seconds", 1.0), (NODES, 10.0))):
        work = work_to(both, HISTORY_RNR, fraction, axis)
        assert np.exp(work.logs) == pytest.approx(unit * fraction * np.array([1.0, 2.5, 2.0]))
        assert not work.may_be_less
        assert not work.may_be_more
        found = to(both, fraction, axis)
        logs = np.log([1.0, 2.5, 2.0]), np.log([0.5, 0.7, 0.6])
        low, high = ttest_ind(*logs, equal_var=False).confidence_interval()
        mean, half = found.log
        assert (mean - half, mean + half) == pytest.approx((low, high))
    assert str(found) == f"2.9 ({np.exp(low):.2g} to {np.exp(high):.2g})"


def test_faster_slower_and_undecided():
    assert to(game(sampled=runs(1), full=runs(3))).above_one() is True
    assert to(game(sampled=runs(3), full=runs(1))).above_one() is False
    assert to(game(sampled=runs(1), full=runs(1.05))).above_one() is None
    assert to(game(sampled=[curve(1)], full=[curve(3)])).above_one() is None  # one run has no interval


def test_runs_that_do_not_get_there_bound_the_speedup():
    never, late = runs(1, last=2.0), [*runs(1)[:2], curve(1, last=2.0)]
    for unfinished in (never, late):
        work = work_to(game(sampled=runs(1), full=unfinished), HISTORY_RNR, 4)
        assert work.logs[-1] == pytest.approx(np.log(2.0))
        assert work.may_be_more
        assert describe_work(work).startswith("> ")
    ahead = to(game(sampled=runs(0.25), full=never))  # one second, at most, against more than two
    assert ahead.above_one() is True
    assert str(ahead).startswith("> 1.")
    behind = to(game(sampled=never, full=runs(0.25)))
    assert behind.above_one() is False
    assert str(behind).startswith("< 0.")
    neither = to(game(sampled=runs(1, last=2.0), full=runs(1, last=3.0)))
    assert neither.above_one() is None
    assert str(neither) == "-"
    # Those that do not get there have trained for less: the numbers alone would speak for them.
    assert to(game(sampled=never, full=runs(5))).above_one() is None
    assert to(game(sampled=runs(5), full=never)).above_one() is None


def test_runs_that_are_there_at_once_bound_the_speedup():
    at_once = runs(0.001, first=0.1)
    assert describe_work(work_to(game(sampled=at_once, full=runs(1)), MCRNR, 4)) == "< 0.1"
    assert to(game(sampled=at_once, full=runs(1))).above_one() is True
    assert to(game(sampled=runs(1), full=at_once)).above_one() is False
    assert to(game(sampled=at_once, full=at_once)).above_one() is None
    assert to(game(sampled=runs(0.001, first=0.1), full=runs(0.001, first=0.5))).above_one() is None


@pytest.mark.parametrize("of_first", FLAGS)
@pytest.mark.parametrize("of_second", FLAGS)
def test_a_ratio_is_open_where_its_parts_are(of_first, of_second):
    """It may be less if the first may be less or the second more, and the other way round."""
    works = [Work(np.zeros(3), *each) for each in (of_first, of_second)]
    speedups = [Speedup(Interval(0.0, 1.0), *each) for each in (of_first, of_second)]
    want = (of_first[0] or of_second[1], of_first[1] or of_second[0])
    for ratio in (works[0].after(works[1]), speedup(*works), speedups[0].over(speedups[1])):
        assert (ratio.may_be_less, ratio.may_be_more) == want


def verdicts(results):
    return {each.claim: each.holds for each in findings(results)}


def test_a_claim_about_all_games_needs_each_of_them():
    faster, slower = game(sampled=runs(1), full=runs(3)), game(sampled=runs(3), full=runs(1))
    alike = game(sampled=runs(1), full=runs(1.01))
    assert verdicts({"a": faster, "b": faster})[PAPERS.claim] is True
    assert verdicts({"a": faster, "b": alike})[PAPERS.claim] is None
    results = {"a": faster, "b": slower, "c": alike}
    found = next(each for each in findings(results) if each.claim == PAPERS.claim)
    assert found.holds is False
    counts = "ahead in 1, behind in 1, undecided in 1"
    assert found.measured == f"of 3 games, to 1/2: {counts}; to 1/4: {counts}; to 1/10: {counts}"
    assert not found.ours


def test_early_means_that_the_lead_shrinks():
    claim = "especially in the early iterations"
    shrinks = game(sampled=runs(0.3, power=1.5), full=runs(3))
    grows = game(sampled=runs(1), full=runs(3, power=1.5))
    behind = game(sampled=runs(3, power=1.5), full=runs(1))
    stops = game(sampled=runs(0.3, last=0.8), full=runs(3))  # after 1/2; the other goes on to 1/10
    assert verdicts({"a": shrinks})[claim] is True
    assert verdicts({"a": grows})[claim] is False
    assert verdicts({"a": behind})[claim] is False
    assert verdicts({"a": stops})[claim] is None
    assert verdicts({"a": shrinks, "b": grows})[claim] is False
    assert verdicts({"a": game(sampled=runs(0.3, power=1.5, last=20.0), full=runs(3))})[claim] is True


def test_growth_compares_the_speedups_of_two_sizes():
    claim = "the speedup of MCRNR over that RNR grows with the size of the game"
    by_two, by_six = (game(sampled=runs(1), full=runs(each)) for each in (2, 6))
    never = game(sampled=runs(1), full=runs(6, last=5.0))
    for small, large, holds in (
        (by_two, by_six, True),
        (by_six, by_two, False),
        (by_two, by_two, None),
        (by_two, never, True),  # it is larger still
        (never, by_two, False),
        (never, by_six, None),
    ):
        results = {"bluff(1,1,6)": small, "bluff(1,1,8)": large}
        assert verdicts(results)[claim] is holds
    assert claim not in verdicts({"bluff(1,1,6)": by_two})


def test_training_counts_cpu_time_of_a_busy_machine(monkeypatch):
    """A third of the seconds by the clock."""
    now, asked = [5.0], []

    def run(*, seconds, measure):
        asked.append(seconds)
        now[0] += seconds / 3 + 0.001

    monkeypatch.setattr(cpu_time.time, "thread_time", lambda: now[0])
    used = train_for(SimpleNamespace(run=run), 2.0)
    assert used == pytest.approx(now[0] - 5.0)
    assert 2.0 <= used < 2.001
    assert asked[0] == pytest.approx(2.0)
    assert all(later < earlier for earlier, later in pairwise(asked))
