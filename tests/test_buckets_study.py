"""The study of kinds and numbers of buckets with a small deck: runs, resuming, the time limit, claims."""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import openfelt as felt
from openfelt.cards.public_cards import Deck
from openfelt.cli.app import main
from openfelt.measure.holdem.exploitability import measure_exploit
from openfelt.measure.holdem.player import rule_player
from openfelt.policy.files import load_policy
from openfelt.studies.holdem import buckets
from openfelt.studies.holdem.buckets import ABSTRACTIONS, BUCKETS_STUDY, Trained
from openfelt.studies.holdem.exploitability_study import ExploitValue, Measuring, TimeLimit, ValueStore
from openfelt.studies.study import NO_MATCH

TWO, THREE = "ehs:2", "ehs:3"
HOW = {"budget": 1, "seed": 0, "processes": 1, "progress": lambda _: None}


@pytest.fixture
def _small(monkeypatch, strengths):
    for module in ("measure.holdem.exploitability", "solve.vector.vector_solver"):
        monkeypatch.setattr(f"openfelt.{module}.Deck", partial(Deck, 3, 3))


def study(**changes):
    return replace(BUCKETS_STUDY, abstractions=(TWO, THREE), flops=2, device="cpu", **changes)


@pytest.mark.slow
@pytest.mark.usefixtures("_small")
def test_policies_are_trained_measured_and_written(tmp_path):
    one = study()
    results = one.run(parts=tmp_path / "parts", **HOW)
    assert one.is_complete(results)
    assert list(results) == [TWO, THREE]
    assert all(each.iterations > 2 and each.seconds >= 1 for each in results.values())
    assert not list((tmp_path / "parts" / "policies").iterdir())
    page = one.write(results, tmp_path, full=True, provenance="Made here.").read_text()
    assert f"| `{TWO}` | {results[TWO].iterations:,} | {results[TWO].value} | estimate from 2 flops |" in page
    rows = list(csv.DictReader((tmp_path / "buckets.csv").read_text().splitlines()))
    assert [(row["abstraction"], row["kind"], row["flop"]) for row in rows] == [
        (TWO, "ehs", "2"),
        (THREE, "ehs", "3"),
    ]
    assert [float(row["exploitability"]) for row in rows] == pytest.approx(
        [results[name].value.mbb for name in (TWO, THREE)], rel=1e-6
    )
    assert (tmp_path / "buckets.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.usefixtures("_small")
def test_a_killed_study_keeps_the_policy_that_it_has_trained(tmp_path, monkeypatch):
    parts = tmp_path / "parts"

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("openfelt.studies.holdem.exploitability_study.measure_exploit", killed)
        with pytest.raises(KeyboardInterrupt):
            study().run(parts=parts, **HOW)
    (folder,) = (parts / "policies").iterdir()
    trained = load_policy(folder)
    with monkeypatch.context() as patched:
        patched.setattr(buckets.Run, "_train", killed)
        found = study(only=TWO).run(parts=parts, **HOW)
    assert list(found) == [TWO]
    assert found[TWO].value.mbb == pytest.approx(
        felt.exploitability(trained, flops=2, seed=0, device="cpu").exploitability, rel=1e-9
    )
    whole = study().run(parts=parts, **HOW)
    assert whole[TWO] == found[TWO]
    assert study(only=NO_MATCH).run(parts=parts, **HOW) == whole
    assert study(only=NO_MATCH).run(parts=tmp_path / "empty", **HOW) == {}


class Clock:
    """One that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def value(mbb, half=0.0):
    return ExploitValue(mbb, half, (mbb, mbb), 60 if half else 0, 0, 1.0, "cuda", "")


def test_nothing_is_begun_that_would_end_after_the_limit():
    clock = Clock()
    limit = TimeLimit(100.0, clock)

    def take(seconds):
        clock.now += seconds
        return value(1.0)

    assert limit.allows_another()
    limit.timed(lambda: take(40.0))
    assert limit.allows_another()  # until 80
    limit.timed(lambda: take(30.0))
    assert not limit.allows_another()  # 70, and 40 more
    clock.now = 1e6
    assert TimeLimit(None, clock).allows_another()


def test_out_of_time_stored_values_are_taken(tmp_path):
    clock, store = Clock(), ValueStore(tmp_path)
    limit = TimeLimit(10.0, clock)
    clock.now = 11.0
    facts = {**vars(value(5.0)), "flops": 20}
    store.save("known", facts)
    measuring = Measuring(store, tmp_path, 60, 0, "cpu", 1, lambda _: None, lambda _: None, limit)
    assert measuring.value("known", True, None).mbb == 5.0  # from fewer flops than asked for
    assert measuring.value("unknown", True, None) is None


def results(**exploitability):
    """By abstraction, with words for numbers."""
    words = {"few": "169/1000/1000/1000", "many": "169/5000/5000/5000"}
    found = {}
    for name, mbb in exploitability.items():
        kind, _, size = name.partition("_")
        found[f"{kind}:{words[size]}"] = Trained(100, 200.0, mbb)
    assert set(found) <= set(ABSTRACTIONS)
    return found


@pytest.mark.parametrize(
    ("found", "holds"),
    [
        (results(ochs_few=value(100)), []),
        (results(ehs2_few=value(150), percentile_few=value(140), ochs_few=value(100)), [True]),
        (results(kmeans_few=value(120), ochs_few=value(130), ochs_many=value(100)), [False, True]),
        (results(ochs_few=value(120), kmeans_many=value(100)), []),  # neither kind nor number is equal
        (results(kmeans_few=value(100, 5), kmeans_many=value(98, 5)), [None]),
        (results(ochs_few=value(100, 5), ochs_many=value(80, 5)), [True]),
    ],
)
def test_claims(found, holds):
    assert [finding.holds for finding in BUCKETS_STUDY.judge(found)] == holds


def by_flop(mbb, *parts):
    return replace(value(mbb, 20.0), by_flop=parts)


def test_values_from_the_same_flops_are_compared_flop_by_flop():
    """The flops differ by hundreds, but the policies on each by 9 to 11: t is 4.303 for three of them."""
    one, two = by_flop(100.0, 0.0, 100.0, 200.0), by_flop(90.0, -11.0, 91.0, 190.0)
    assert one.above(two).mean == 10.0
    assert one.above(two).half == pytest.approx(4.303 * 1 / 3**0.5, rel=1e-3)
    other_flops = replace(two, seed=1)
    assert one.above(other_flops).half == pytest.approx(800**0.5)
    found = {
        f"ochs:169/{size}/{size}/{size}": Trained(1, 1.0, each) for size, each in ((1000, one), (5000, two))
    }
    (finding,) = BUCKETS_STUDY.judge(found)
    assert finding.holds
    assert finding.measured.startswith("90.00 against 100.00 mbb/h: -10.00 ± 2.48")


@pytest.mark.usefixtures("_small")
def test_what_each_sampled_flop_gives_averages_to_the_estimate():
    found = measure_exploit(rule_player("always-call", 1), flops=5, seed=3)
    assert len(found.by_flop) == 5
    assert np.mean(found.by_flop) == pytest.approx(np.mean(found.won))
    assert np.std(found.by_flop, ddof=1) / 5**0.5 == pytest.approx(found.error)
    assert not measure_exploit(rule_player("always-call", 1)).by_flop


def test_all_claims_are_judged_after_a_full_run():
    every = {name: Trained(1, 1.0, value(100.0 - number)) for number, name in enumerate(ABSTRACTIONS)}
    findings = BUCKETS_STUDY.judge(every)
    assert len(findings) == 6 + 4  # kinds, numbers
    assert len({finding.claim for finding in findings}) == len(findings)
    assert not BUCKETS_STUDY.missing(every)


def test_the_figure_joins_points_of_a_kind(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        buckets, "plot_exploitability_by_buckets", lambda title, lines, path: drawn.extend(lines)
    )
    BUCKETS_STUDY.plot(
        results(ochs_many=value(80), ochs_few=value(100), ehs2_few=value(150)), tmp_path / "figure.png"
    )
    assert [(line.label, [*line.buckets]) for line in drawn] == [("ochs", [3_169, 15_169]), ("ehs2", [3_169])]
    assert [each.mean for each in drawn[0].exploitability] == [100, 80]


def test_the_time_limit_is_an_option_of_studies_of_exploitability_only(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["study", "run", "hs14-figure-1", "--time-limit", "60"]) == 2
    assert "--flops, --device and --time-limit are not options of hs14-figure-1" in capsys.readouterr().err
