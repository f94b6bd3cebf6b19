"""The study of networks in hold'em, with made-up values: what it measures, stores, reads back and claims."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from openfelt.measure.results import Origin
from openfelt.studies.findings import WORDS
from openfelt.studies.neural import deep_holdem
from openfelt.studies.neural.deep_holdem import DEEP_HOLDEM, Bounds, Point, _judge

BUDGET = DEEP_HOLDEM.budget


@pytest.fixture
def measured(monkeypatch):
    """Every player that is measured, with a value that depends on it."""
    players = []

    def exploitability(player, *, folder, progress, **options):
        players.append(player)
        progress(1.0)
        value = 4000.0 / (1 + player.iterations / 100)
        return SimpleNamespace(exploitability=value, origin=Origin(6, 10.0, held_out=(value - 30.0, 20.0)))

    monkeypatch.setattr(deep_holdem, "exploitability", exploitability)
    monkeypatch.setattr(deep_holdem, "_player", lambda point, seed, training: point)
    return players


def run(parts, budget, work):
    return DEEP_HOLDEM.run(budget=budget, seed=1, processes=1, parts=parts, progress=work.append)


@pytest.mark.parametrize("budget", [BUDGET, DEEP_HOLDEM.quick_budget])
def test_points_are_measured_once_and_stored(budget, measured, tmp_path):
    work: list[float] = []
    results = run(tmp_path, budget, work)
    assert measured == list(results) == DEEP_HOLDEM.points(budget)
    assert sum(work) == DEEP_HOLDEM.planned_work(budget) == (9 if budget == BUDGET else 4)
    assert run(tmp_path, budget, work) == results
    assert len(measured) == len(results)
    assert sum(work) == 2 * DEEP_HOLDEM.planned_work(budget)


def test_the_page_has_all_values_and_is_read_back(measured, tmp_path):
    results = run(tmp_path / "parts", BUDGET, [])
    page = DEEP_HOLDEM.write(results, tmp_path, full=True, provenance="Made by a test.").read_text()
    for found in _judge(results):
        assert f"| {found.claim} | {found.measured} | {WORDS[found.holds]} |" in page
    assert "| untrained network |  | 4000 ± 10 | 3970 ± 20 | 3950 to 4010 |" in page
    assert (tmp_path / "deep-holdem.png").read_bytes().startswith(b"\x89PNG")
    again = DEEP_HOLDEM.read_csv((tmp_path / "deep-holdem.csv").read_text())
    assert again.keys() == results.keys()
    for point, bounds in again.items():
        assert bounds == pytest.approx(results[point], rel=1e-5)


def test_claims_are_decided_only_by_intervals_that_are_apart():
    below, above, across = Bounds(90, 10, 110, 10), Bounds(200, 10, 220, 10), Bounds(100, 10, 210, 10)
    assert below.is_below(above) is True
    assert above.is_below(below) is False
    assert below.is_below(across) is None
    results = {
        Point("untrained network"): above,
        Point("PPO", 10): above,
        Point("PPO", 40): below,
        Point("MMD", 10): below,
        Point("MMD", 40): across,
        Point("always-call"): above,
    }
    verdicts = {found.claim: found.holds for found in _judge(results)}
    assert verdicts["PPO is less exploitable than before its training"] is True
    assert verdicts["PPO improves in the last three quarters"] is True
    assert verdicts["MMD is less exploitable than before its training"] is None
    assert verdicts["MMD improves in the last three quarters"] is None
    assert verdicts["MMD is less exploitable than always-call"] is True  # 1,163 mbb/h, exactly
    assert len(verdicts) == 6
