"""The study of CFR-BR with a small deck: runs, results, matches, claims."""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import partial

import pytest

from openfelt.cards.public_cards import Deck
from openfelt.policy.files import load_policy
from openfelt.studies.holdem import cfr_br, cfr_br_runs
from openfelt.studies.holdem.cfr_br import CFR_BR_STUDY, Results
from openfelt.studies.holdem.cfr_br_runs import CFR_BR, EXTERNAL, LARGE, MEDIUM, SMALL, Trained, Training
from openfelt.studies.holdem.exploitability_study import ExploitValue
from openfelt.studies.match_table import Winnings
from openfelt.studies.study import NO_MATCH

TWO, THREE = "ehs:2", "ehs:3"
HOW = {"budget": 100, "seed": 0, "processes": 1, "progress": lambda _: None}


@pytest.fixture
def _small(monkeypatch, tmp_path, strengths):
    for module in ("measure.holdem.exploitability", "solve.vector.vector_solver"):
        monkeypatch.setattr(f"openfelt.{module}.Deck", partial(Deck, 3, 3))
    monkeypatch.setattr(cfr_br_runs, "RUNS", tmp_path / "runs")
    for module in (cfr_br_runs, cfr_br):
        monkeypatch.setitem(module.SIZES, TWO, "two")
        monkeypatch.setitem(module.SIZES, THREE, "three")
    monkeypatch.setitem(cfr_br.MARKERS, TWO, "o")
    monkeypatch.setitem(cfr_br.MARKERS, THREE, "s")


def study(**changes):
    runs = Training(EXTERNAL, THREE, (200, 400)), Training(CFR_BR, TWO, (4, 8, 12), exact=True)
    return replace(CFR_BR_STUDY, trainings=runs, hands=2_000, flops=2, device="cpu", **changes)


@pytest.mark.slow
@pytest.mark.usefixtures("_small")
def test_runs_are_measured_saved_and_play_each_other(tmp_path):
    one = study()
    results = one.run(parts=tmp_path / "parts", **HOW)
    assert one.is_complete(results)
    learned = results.trained["CFR-BR, two"]
    assert [point.iterations for point in learned.points] == [4, 8, 12]
    assert [point.seconds for point in learned.points] == sorted(point.seconds for point in learned.points)
    saved = load_policy(learned.training.folder)
    assert saved.is_compact
    assert learned.result.by_seat == learned.rounded.by_seat  # here both are from the same two flops
    assert learned.self_play.by_seat[0] == pytest.approx(-learned.self_play.by_seat[1])
    assert results.trained["external sampling, three"].self_play is None
    assert results.won["CFR-BR, two", "external sampling, three"].mean == pytest.approx(
        -results.won["external sampling, three", "CFR-BR, two"].mean
    )
    page = one.write(results, tmp_path, full=True, provenance="Made here.").read_text()
    assert f"| CFR-BR, two | `{TWO}` | {learned.result} |" in page
    first, matches = (tmp_path / "cfr-br.csv").read_text().split("\n\n")
    rows = list(csv.DictReader(first.splitlines()))
    assert [row["iterations"] for row in rows if row["run"] == "CFR-BR, two"] == ["4", "8", "12", "", "", ""]
    assert len(list(csv.DictReader(matches.splitlines()))) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("_small")
def test_stored_values_are_not_measured_again(tmp_path, monkeypatch):
    results = study().run(parts=tmp_path / "parts", **HOW)
    monkeypatch.setattr(cfr_br_runs.Run, "_start", None)
    again = study(only=NO_MATCH).run(parts=tmp_path / "parts", **HOW)
    assert again == results
    assert study(only=NO_MATCH).run(parts=tmp_path / "empty", **HOW).trained == {}


def value(mbb, interval=0.0):
    return ExploitValue(mbb, interval, (mbb, mbb), 60 if interval else 0, 0, 1.0, "cuda", "")


def made_up(**exploitability):
    """Results by method and size."""
    sizes = {"small": SMALL, "medium": MEDIUM, "large": LARGE}
    trained = {}
    for name, found in exploitability.items():
        method, _, size = name.rpartition("_")
        training = Training({"cfr_br": CFR_BR, "external": EXTERNAL}[method], sizes[size], (1,))
        trained[training.label] = Trained(training, [], found, found, None)
    return Results(trained, {})


@pytest.mark.parametrize(
    ("results", "holds"),
    [
        (made_up(cfr_br_medium=value(80), external_medium=value(300)), [True]),
        (made_up(cfr_br_medium=value(80, 30), external_medium=value(100, 30)), [None]),
        (
            made_up(cfr_br_small=value(120), cfr_br_medium=value(80), cfr_br_large=value(60)),
            [True, True, True],
        ),
        (made_up(cfr_br_medium=value(80), cfr_br_large=value(90)), [False, False]),
        (made_up(cfr_br_large=value(60, 10)), [None]),
    ],
)
def test_claims(results, holds):
    assert [finding.holds for finding in CFR_BR_STUDY.judge(results)] == holds


def test_the_mean_of_independent_matches():
    trained = dict.fromkeys("abc")
    won = {("a", "b"): Winnings(10.0, 3.0, 6.0, 100), ("a", "c"): Winnings(20.0, 4.0, 8.0, 300)}
    results = Results(trained, won | {("b", "a"): won["a", "b"]})
    assert results.mean_won("a") == Winnings(15.0, 2.5, 5.0, 400)
    assert results.mean_won("b") is None  # b has not met c
    assert results.mean_won("c") is None
