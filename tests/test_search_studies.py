"""Studies of searching bots: PGC10's table and TAU's games, with small numbers and simple players."""

from __future__ import annotations

import csv
import dataclasses
import json

import numpy as np
import pytest
import scipy.stats

import openfelt as felt
from openfelt.arena.decision_stats import DecisionStats
from openfelt.arena.freeze_out.freeze_out import freeze_out
from openfelt.arena.freeze_out.result import FreezeOutGame, FreezeOutResult
from openfelt.arena.result import Style
from openfelt.bots.registry import load_bot
from openfelt.bots.search_bot import TallyBot
from openfelt.games.holdem import Holdem
from openfelt.hands.store import HandStore
from openfelt.opponents.models.files import load_model, new_model
from openfelt.opponents.models.observed import observed_hands
from openfelt.plots.intervals import Interval
from openfelt.studies.freeze_out_study import chips_per_hand, pairing_key, pairing_result
from openfelt.studies.match_table import Winnings
from openfelt.studies.pgc10 import table_1 as pgc10_match
from openfelt.studies.pgc10.table_1 import (
    ACE1,
    MODEL,
    OPPONENTS,
    PGC10_TABLE_1,
    PLAIN,
    POKI,
    SEARCHES,
    SearchMatch,
)
from openfelt.studies.registry import STUDIES
from openfelt.studies.tau import figures_2_4 as tau_matches
from openfelt.studies.tau.figures_2_4 import TAU_MATCHES, dollars

STACK = 10_000


def games_of(won, hands):
    """Games in which the first won so many dollars."""
    pairs = enumerate(zip(won, hands, strict=True))
    nobody = (DecisionStats(), DecisionStats())
    return [
        FreezeOutGame(number, length, (STACK + each, STACK - each), nobody)
        for number, (each, length) in pairs
    ]


def test_chips_a_hand_in_games_of_one_length():
    won, length = np.array([100, -250, 40, 910, -30]), 50
    found = chips_per_hand(games_of(won.tolist(), [length] * len(won)), STACK)
    each = won / 10 / length  # ten dollars are a chip
    low, high = scipy.stats.t.interval(0.95, len(won) - 1, each.mean(), scipy.stats.sem(each))
    assert found.mean == pytest.approx(each.mean())
    assert (found.mean - found.interval(), found.mean + found.interval()) == pytest.approx((low, high))


def test_chips_a_hand_in_games_of_different_lengths():
    """Against the jackknife, which needs no formula for the error of a ratio."""
    generator = np.random.default_rng(3)
    hands = generator.integers(50, 500, 200)
    won = (10 * (0.4 * hands + generator.normal(0, np.sqrt(hands) * 6))).round().astype(int)
    found = chips_per_hand(games_of(won.tolist(), hands.tolist()), STACK)
    assert found.mean == pytest.approx(won.sum() / 10 / hands.sum())
    without = (won.sum() - won) / 10 / (hands.sum() - hands)
    error = np.sqrt((len(won) - 1) * np.mean((without - without.mean()) ** 2))
    assert found.error == pytest.approx(error, rel=0.03)


def test_tau_exploration_is_in_chips():
    """A chip is 10 dollars: blinds are 1 and 2 chips, and 10 and 20 dollars."""
    first, second = (load_bot(name, Holdem()) for name in tau_matches.FIGURE_2.pairings[0].bots)
    assert (first.settings.c, second.settings.c) == (10.0, 0.1)
    assert first.iterations == second.iterations == 200
    last = tau_matches.FIGURE_3.pairings[-1]
    assert [load_bot(name, Holdem()).settings.c for name in last.bots] == [5.0, 500.0]
    taurus = load_bot(tau_matches.RESULTS.pairings[0].bots[0], Holdem())
    assert isinstance(taurus, TallyBot)
    assert taurus.learns
    for study in TAU_MATCHES:
        for pairing in study.pairings:
            assert pairing.bots[0] != pairing.bots[1]
            assert study._sizes(pairing, study.budget) == (pairing.games, pairing.length)


@pytest.mark.slow
@pytest.mark.parametrize("name", [study.name for study in TAU_MATCHES])
def test_freeze_outs_are_played_and_written(name, tmp_path):
    """With simple players in place of those that search."""
    study = STUDIES[name]
    bots = [("always-raise", "random"), ("always-call", "always-raise")]
    pairings = tuple(pairing._replace(bots=bots[place % 2]) for place, pairing in enumerate(study.pairings))
    study = dataclasses.replace(study, pairings=pairings)
    reported: list[int] = []
    options = {"budget": 120, "seed": 5, "processes": 1, "parts": tmp_path / "parts"}
    results = study.run(**options, progress=reported.append)
    again = study.run(**options, progress=print)
    assert repr(again) == repr(results)  # stored, and not played again
    assert sum(reported) == study.planned_work(120) == 120 * len(pairings)
    page = study.write(results, tmp_path, full=False, provenance="Made by a test.").read_text()
    for found in study.findings(results):
        assert f"| {found.claim} | {found.measured} |" in page
    assert (tmp_path / f"{name}-quick.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / f"{name}-quick.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 1 + len(pairings)
    for row, pairing in zip(rows[1:], pairings, strict=True):
        direct = freeze_out(*pairing.bots, games=2, hands=60, seed=5, limit=np.inf).scores[0]
        cells = dict(zip(rows[0], row, strict=True))
        assert float(cells["win_rate"]) == pytest.approx(direct.rate)
        assert float(cells["low_95"]) == pytest.approx(direct.interval[0], abs=1e-5)
        assert float(cells["dollars_per_game"]) == pytest.approx(direct.won.mean)
        assert cells["paper_win_rate"] == ("" if pairing.published is None else str(pairing.published))


def outcome(rate, games=100, **changes):
    """Of games of 500 hands of which the first won that share, by 100 dollars each."""
    won = [100] * round(games * rate) + [-100] * round(games * (1 - rate))
    result = FreezeOutResult(("first", "second"), STACK, 500, np.inf, tuple(games_of(won, [500] * games)))
    return dataclasses.replace(pairing_result(result), **changes)


def holding(study, results):
    """Which of the findings hold, in their order."""
    return [found.holds for found in study.findings(results)]


def test_findings_of_freeze_outs():
    def taus(label):
        return pairing_key(label, tau_matches.TAUS)

    even = {pairing.key: outcome(0.5) for pairing in tau_matches.FIGURE_2.pairings}
    as_paper = dict.fromkeys(even, outcome(0.8)) | {taus(dollars(50)): outcome(0.4)}
    assert holding(tau_matches.FIGURE_2, as_paper) == [True] * 4
    assert holding(tau_matches.FIGURE_2, even) == [None] * 4
    assert holding(tau_matches.FIGURE_2, even | {taus(dollars(5)): outcome(0.3)})[-1] is False
    assert holding(tau_matches.FIGURE_2, even | {taus(dollars(1)): outcome(0.3)})[0] is False
    close = {pairing.key: outcome(0.5) for pairing in tau_matches.FIGURE_4.pairings}
    assert holding(tau_matches.FIGURE_4, close) == [True, True, None]
    strong = dict.fromkeys(close, outcome(0.9, dollars=Interval(1_200.0, 10.0)))
    assert holding(tau_matches.FIGURE_4, strong) == [False, False, None]
    ahead = close | {taus(dollars(20)): outcome(0.9)}
    assert holding(tau_matches.FIGURE_4, ahead) == [True, True, True]
    wide = {pairing.key: outcome(0.8) for pairing in tau_matches.FIGURE_3.pairings}
    assert all(holding(tau_matches.FIGURE_3, wide))
    assert holding(tau_matches.FIGURE_3, dict.fromkeys(wide, outcome(0.5))) == [None] * 8
    assert holding(tau_matches.FIGURE_3, dict.fromkeys(wide, outcome(0.2))) == [False] * 8
    assert outcome(0.6).rate == 0.6
    assert outcome(0.55).wins_more_than() is None  # the interval of 55 of 100 games holds one half
    assert outcome(0.62).wins_more_than()
    duels = {pairing.key: outcome(0.7) for pairing in tau_matches.RESULTS.pairings}
    assert holding(tau_matches.RESULTS, duels) == [True, True, False, False]
    ruin = dict.fromkeys(duels, outcome(1.0, bankruptcies=80, hands_to_bankruptcy=250.0))
    assert holding(tau_matches.RESULTS, ruin) == [True] * 4
    late = dict.fromkeys(duels, outcome(1.0, bankruptcies=80, hands_to_bankruptcy=350.0))
    assert holding(tau_matches.RESULTS, late) == [True, True, True, False]


def test_difference_of_win_rates():
    """Newcombe 1998, Table II, example (a): 56 of 70 against 48 of 80, method 10: 0.0524 to 0.3339."""
    first, second = outcome(48 / 80, games=80), outcome(56 / 70, games=70)
    assert first.wins_fewer_than(second) is True
    assert second.wins_fewer_than(first) is False
    assert second.apart(first) == pytest.approx((0.0524, 0.3339), abs=1e-4)


def line(won, half, early=1.0, late=1.0):
    return SearchMatch(Winnings(won, half / 2, half, 1_000), Style(0.9, early, late))


def test_findings_of_the_table():
    as_paper = {(opponent, label): line(0.0, 0.1) for opponent in OPPONENTS for label in SEARCHES}
    as_paper |= {
        (ACE1, PLAIN): line(1.09, 0.1, 0.5, 4.7),
        (ACE1, MODEL): line(1.67, 0.1, 7311, 8.3),
        (POKI, PLAIN): line(-0.5, 0.03),
        (POKI, MODEL): line(0.06, 0.04),
    }
    assert holding(PGC10_TABLE_1, as_paper) == [True] * 7 + [None] * 5
    text = "\n".join(PGC10_TABLE_1.table(as_paper))
    assert f"| {ACE1} | {MODEL} | +0.580 ± 0.141 (+0.58) |" in text
    assert f"| {POKI} | {MODEL} | +0.560 ± 0.050 (+0.56) |" in text
    # 0.13 more is less than both intervals leave open: sqrt(0.1^2 + 0.1^2) = 0.141.
    near = as_paper | {(ACE1, MODEL): line(1.22, 0.1, 0.4, 4.7), (POKI, MODEL): line(-0.5, 0.03)}
    assert holding(PGC10_TABLE_1, near)[:7] == [True, True, True, False, None, None, False]


def test_searches_with_a_model_are_compared_with_the_same_tree_and_c():
    for label, player in SEARCHES.items():
        assert SEARCHES[pgc10_match.without_model(label)] == player._replace(kind="", cards="known")


PLAYED = [
    label for label, player in SEARCHES.items() if player.c == pgc10_match.C
]  # these differ in model, cards and tree


@pytest.mark.slow
def test_the_table_is_played_and_written(tmp_path, monkeypatch):
    """With few iterations; models are learned of the opponent, from other hands than are played."""
    monkeypatch.setattr(pgc10_match, "ITERATIONS", 20)
    monkeypatch.setattr(pgc10_match, "SEARCHES", {label: SEARCHES[label] for label in PLAYED})
    monkeypatch.setattr(pgc10_match, "OPPONENTS", OPPONENTS[:1])
    study = dataclasses.replace(PGC10_TABLE_1, quick_training=60)
    reported: list[int] = []
    options = {"budget": 40, "seed": 0, "processes": 1, "parts": tmp_path / "parts"}
    results = study.run(**options, progress=reported.append)
    assert sum(reported) == study.planned_work(40) == 60 + 2 * 40 + 2 * 10 + 3 * 4
    assert repr(study.run(**options, progress=print)) == repr(results)  # stored, and not played again
    for player in pgc10_match.SEARCHES.values():
        if player.kind:
            folder = pgc10_match.model_folder(tmp_path / "parts", ACE1, player)
            facts = json.loads((folder / "manifest.json").read_text())
            assert load_model(folder).kind == player.kind
            assert (facts["player"], facts["learned"]) == (ACE1, 60)
    for label, player in pgc10_match.SEARCHES.items():
        bot = player.name(pgc10_match.model_folder(tmp_path / "parts", ACE1, player))
        direct = felt.match(bot, ACE1, hands=pgc10_match._hands(label, 40)).scores[0]
        assert results[ACE1, label].won.mean == pytest.approx(direct.won.mean / 2)  # a small bet is 2 chips
        assert results[ACE1, label].won.half_95 == pytest.approx(direct.won.interval() / 2)
        style = dataclasses.astuple(direct.style)
        assert dataclasses.astuple(results[ACE1, label].style) == pytest.approx(style, nan_ok=True)
    require_training(tmp_path)
    text = study.csv(results)
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["player"] for row in rows] == list(pgc10_match.SEARCHES)
    assert [row["paper_won_sb/h"] for row in rows] == ["1.09", "1.67", *[""] * 5]
    assert study.csv(study.read_csv(text)) == text


def require_training(tmp_path):
    """Models are of the opponent, with the cards that they should know; their hands are not those played."""
    with HandStore(tmp_path / "parts" / f"{ACE1}-training.db") as store:
        learned = list(store.hands())
    felt.match("always-call", ACE1, hands=20, history=tmp_path / "played.db")
    with HandStore(tmp_path / "played.db") as store:
        played = {hand.dealt[:4] for hand in store.hands()}
    assert not played & {hand.dealt[:4] for hand in learned}
    for cards in ("known", "shown"):
        model = new_model("tally", "holdem")
        model.fit(observed_hands(learned, ACE1, "holdem", cards))
        kept = load_model(tmp_path / "parts" / f"{ACE1}-tally-{cards}").to_save()[0]
        for key, table in model.to_save()[0].items():
            np.testing.assert_array_equal(kept[key], table)


def test_the_page_of_the_table(tmp_path):
    results = {(opponent, label): line(0.1, 0.05) for opponent in OPPONENTS for label in SEARCHES}
    page = PGC10_TABLE_1.write(results, tmp_path, full=False, provenance="Made by a test.").read_text()
    for found in PGC10_TABLE_1.findings(results):
        assert f"| {found.claim} | {found.measured} |" in page
    assert "Made by a test." in page
    assert (tmp_path / "pgc10-table-1-quick.png").read_bytes().startswith(b"\x89PNG")
