"""Studies of responses in hold'em: PJL11's Table 2 and Figure 8, with few games and iterations."""

from __future__ import annotations

import csv
import dataclasses

import numpy as np
import pytest
import scipy.stats

import openfelt as felt
from openfelt.arena.holdem_value import holdem_value
from openfelt.cli.app import main
from openfelt.games.compile.compiler import compile_any
from openfelt.hands.store import HandStore
from openfelt.opponents.models.files import new_model
from openfelt.opponents.models.observed import KNOWN, SHOWN, observed_hands
from openfelt.policy.rules import rule_policy
from openfelt.solve.restriction import ONCE
from openfelt.studies.match_table import Winnings
from openfelt.studies.pjl11 import figure_8 as pjl11_figure_8, table_2 as pjl11_table_2
from openfelt.studies.pjl11.figure_8 import FIGURE_8, mean_of
from openfelt.studies.pjl11.observed_opponent import ObservedOpponent, ResponseConfig, train
from openfelt.studies.pjl11.table_2 import (
    ABSTRACTIONS,
    EXTERNAL,
    OPPONENTS,
    PLAYERS,
    TABLE_2,
    equilibrium_label,
    response_label,
)

FOE = "chen"  # a quick one


@pytest.fixture
def quick(monkeypatch, strengths):
    """One opponent, few rows, and a bot by rule in place of the policy that takes a GPU to train."""
    for module in (pjl11_table_2, pjl11_figure_8):
        monkeypatch.setattr(module, "POKI", FOE)
    monkeypatch.setattr(pjl11_table_2, "OPPONENTS", (FOE,))
    monkeypatch.setattr(pjl11_table_2, "PUBLISHED", {FOE: {response_label(10): 0.369}})
    monkeypatch.setattr(pjl11_table_2, "EQUILIBRIA", {10: "always-call", 100: "always-call"})
    rows = {equilibrium_label(10): "always-call"}
    chosen = response_label(10), equilibrium_label(10, EXTERNAL), response_label(10, EXTERNAL)
    rows |= {label: PLAYERS[label] for label in chosen}
    monkeypatch.setattr(pjl11_table_2, "PLAYERS", rows)
    return rows


@pytest.mark.slow
def test_the_table_is_played_and_written(quick, tmp_path):
    study = dataclasses.replace(TABLE_2, quick_games=60, findings=lambda results: [])
    study.check()
    reported: list[int] = []
    options = {"budget": 40, "seed": 0, "processes": 2, "parts": tmp_path / "parts"}
    results = study.run(**options, progress=reported.append)
    assert sum(reported) == study.planned_work(40) == 60 + 40 * len(quick)
    assert repr(study.run(**options, progress=print)) == repr(results)  # stored, and not played again
    page = study.write(results, tmp_path, full=False, provenance="Made by a test.").read_text()
    assert "Made by a test." in page
    assert (tmp_path / "pjl11-table-2-quick.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader((tmp_path / "pjl11-table-2-quick.csv").open(newline="")))
    assert [row["row"] for row in rows] == list(quick)
    assert [row["paper"] for row in rows] == ["", "0.369", "", ""]
    folders = {
        equilibrium_label(10): "always-call",
        equilibrium_label(10, EXTERNAL): str(
            tmp_path / "parts" / "MCCFR10-external-sampling"
        ),  # for all opponents
        response_label(10, EXTERNAL): str(tmp_path / "parts" / f"{FOE}-MCRNR10-external-sampling"),
    }
    for label, folder in folders.items():
        direct = felt.match(folder, FOE, hands=40, aivat=True).scores[0].won
        assert results[label, FOE].mean == pytest.approx(direct.mean / 2)  # a small bet is 2 chips
        assert results[label, FOE].half_95 == pytest.approx(direct.interval() / 2)


def test_the_observed_opponent(tmp_path, strengths):
    """The model is of the opponent, from other deals than those of the matches; so is the fixed policy."""
    observed = ObservedOpponent(FOE, tmp_path, deals=300)
    observed.observe("always-call", 80, 0, 1, lambda _: None)
    with HandStore(tmp_path / f"{FOE}.db") as store:
        records = list(store.hands())
    for cards in (KNOWN, SHOWN):
        assert observed.hands(cards) == observed_hands(records, FOE, "holdem", cards)
    assert len(observed.hands(KNOWN)) == 80
    assert observed.hands(KNOWN) != observed.hands(SHOWN)
    felt.match("always-call", FOE, hands=80, history=tmp_path / "played.db")
    with HandStore(tmp_path / "played.db") as store:
        assert not {hand.dealt[:4] for hand in store.hands()} & {hand.dealt[:4] for hand in records}
    model = new_model("trees", "holdem")
    model.fit(observed.hands(KNOWN))
    np.testing.assert_array_equal(observed.model("trees", KNOWN).leaves, model.leaves)
    config = ResponseConfig(2, 1_000)
    fixed = observed.fixed_policy(config)
    for solver, free in zip(observed.solvers(config, 0), range(2), strict=True):
        assert (solver.restriction.seat, solver.restriction.bound) == (1 - free, 0.75)
        np.testing.assert_array_equal(solver.restriction.fixed.weights, fixed.weights)
    by_data = observed.solvers(config._replace(trust="s-curve"), 0)[0].restriction
    assert 0 == by_data.bound.min() < by_data.bound.max() < 0.75
    assert observed.solvers(config._replace(toss=ONCE), 0)[0].restriction.toss == ONCE
    (alone,) = observed.solvers(config._replace(p=0.0), 0)
    assert alone.restriction is None


@pytest.mark.slow
def test_policies_do_not_depend_on_threads(tmp_path, strengths):
    """And the response to always-raise wins a lot from it."""
    tree = compile_any("holdem(buckets='ehs:2')")

    class AlwaysRaise(ObservedOpponent):
        def fixed_policy(self, config):
            return rule_policy(tree, "always-raise")

    opponent, config = AlwaysRaise("always-raise", tmp_path), ResponseConfig(2, 20_000)
    policies = [train(opponent.solvers(config, 3), config.iterations, threads) for threads in (1, 2)]
    np.testing.assert_array_equal(policies[0].weights, policies[1].weights)
    won = holdem_value(policies[0], rule_policy(tree, "always-raise"), deals=20_000)
    assert won.mbb - won.interval() > 300


def cell(mean, half):
    return Winnings(mean, half / 2, half, 1_000)


def holding(study, results):
    return [found.holds for found in study.findings(results)]


def test_findings_of_the_table():
    """The paper's own numbers, were they as precise as ours, and numbers that show nothing."""
    as_paper = {}
    for opponent, printed in pjl11_table_2.PUBLISHED.items():
        for label in PLAYERS:
            number = printed[label.partition(",")[0]]
            as_paper[label, opponent] = cell(number, 0.02)
    # 0.061 against 0.046 is not enough for these intervals.
    close = [found.claim for found in TABLE_2.findings(as_paper) if found.holds is None]
    assert all(text.startswith("MCRNR100") and "not worse" in text for text in close)
    assert False not in holding(TABLE_2, as_paper)
    assert sum(not found.ours for found in TABLE_2.findings(as_paper)) == 5
    level = {(label, opponent): cell(0.0, 0.02) for label in PLAYERS for opponent in OPPONENTS}
    worse = {key: cell(-0.1, 0.02) if key[0].startswith("MCRNR") else won for key, won in level.items()}
    texts = [found.claim for found in TABLE_2.findings(level)]
    assert {*holding(TABLE_2, level)} == {None}
    assert {*holding(TABLE_2, worse)} == {False}
    assert sum("not worse" in text for text in texts) >= 2 * len(ABSTRACTIONS)


@pytest.mark.slow
def test_the_curve_is_played_and_written(quick, tmp_path, monkeypatch):
    curves = {label: config._replace(iterations=400) for label, config in pjl11_figure_8.CURVES.items()}
    monkeypatch.setattr(pjl11_figure_8, "CURVES", curves)
    study = dataclasses.replace(FIGURE_8, quick_games=60)
    study.check()
    reported: list[int] = []
    options = {"budget": 20, "seed": 0, "processes": 2, "parts": tmp_path / "parts"}
    results = study.run(**options, progress=reported.append)
    assert sum(reported) == study.planned_work(20) == 60 + 20 * (10 + 2 * 2 * 3)
    assert repr(study.run(**options, progress=print)) == repr(results)
    page = study.write(results, tmp_path, full=False, provenance="Made by a test.").read_text()
    for found in study.findings(results):
        assert f"| {found.claim} | {found.measured} |" in page
    assert (tmp_path / "pjl11-figure-8-quick.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader((tmp_path / "pjl11-figure-8-quick.csv").open(newline="")))
    assert len(rows) == 2 * 2 * 3 + 1
    own = [row for row in rows if row["player"] == "MCRNR10" and row["run"] == "1"]
    assert [(row["games"], row["iterations"]) for row in own] == [("0", "0"), ("500", "400"), ("1000", "800")]
    last = felt.match(str(tmp_path / "parts" / "0-1-2"), FOE, hands=20, seed=1, aivat=True).scores[0].won
    assert float(own[-1]["won_sb/h"]) == pytest.approx(last.mean / 2, rel=1e-4)


def test_the_mean_of_runs_is_students():
    won = np.array([0.1, 0.3, 0.25, 0.4, 0.2])
    found = mean_of(won)
    low, high = scipy.stats.t.interval(0.95, 4, won.mean(), scipy.stats.sem(won))
    assert (found.mean - found.half_95, found.mean + found.half_95) == pytest.approx((low, high))


def test_findings_of_the_curve():
    games = [0, 500, 1_000]
    rising = np.array([[-0.5, 0.2, 0.3], [-0.6, 0.2, 0.32], [-0.55, 0.25, 0.28]])
    flat = np.array([[0.1, 0.0, 0.1], [0.2, 0.1, 0.15], [0.15, 0.0, 0.2]])
    for won, holds in ((rising, [True] * 4), (flat, [None] * 4), (rising[:, ::-1], [False] * 4)):
        results = pjl11_figure_8.OnlineResults(
            games, dict.fromkeys(pjl11_figure_8.CURVES, won), cell(0.1, 0.01)
        )
        assert holding(FIGURE_8, results) == holds


def test_the_table_says_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["study", "run", "pjl11-table-2", "--quick"]) == 2
    error = capsys.readouterr().err
    assert "needs the policy runs/pjl11/mccfr100" in error
    assert "make pjl11-policies" in error
