"""The rating: a ladder by match results, a posterior against closed forms, streaks, and its route."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
import scipy.stats
from table_player import Window, thread_server

from openfelt.table.lobby.strength import heads_up_results
from openfelt.table.report.rating import (
    CAP,
    PRIOR,
    TOP,
    PlayedSession,
    day_streak,
    hand_streaks,
    ladder,
    rate,
    rating_report,
)

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def session(bot, mbb, *, days=0.0):
    chips = [value / 500 for value in mbb]
    return PlayedSession(bot, (NOW - timedelta(days=days)).timestamp(), chips, chips)


def test_the_ladder_is_what_bots_lose_to_the_strongest():
    rungs = ladder()
    assert rungs["default"] == TOP
    assert rungs["chen"] == TOP + heads_up_results()["chen"]["default"].mean
    assert list(rungs.values()) == sorted(rungs.values(), reverse=True)


def test_without_hands_the_rating_is_the_prior():
    found = rate([])
    assert (found.points, found.interval) == pytest.approx((PRIOR[0], 1.96 * PRIOR[1]), rel=1e-3)
    assert rate([session("mcts", [100.0] * 50)]) == found  # no rung


def test_the_posterior_is_that_of_a_normal_mean():
    """Precisions add up; the interval settles in hundreds of hands."""
    won = np.random.default_rng(1).normal(-100, 2_500, 600)
    won += -100 - won.mean()
    found = rate([session("default", won)])
    error = np.sqrt((((won + 100) ** 2).sum() + 20 * 2_500**2) / 620 / 600)
    weights = np.array([PRIOR[1], error]) ** -2.0
    mean = weights @ [PRIOR[0], TOP - 100] / weights.sum()
    assert found.points == pytest.approx(mean, abs=0.5)
    assert found.interval == pytest.approx(1.96 * weights.sum() ** -0.5, rel=1e-3)
    assert found.interval < 200


def test_a_rout_of_a_weak_bot_says_only_that_one_is_better():
    """More winnings from it change nothing, and the strong bot decides."""
    often = [3_000.0, 2_000.0] * 500
    weak = rate([session("always-raise", often)])
    assert rate([session("always-raise", [2 * won for won in often])]).points == pytest.approx(
        weak.points, abs=8
    )
    rung = ladder()["always-raise"]
    cut = (rung + CAP - PRIOR[0]) / PRIOR[1]
    wanted = scipy.stats.truncnorm.mean(cut, np.inf, *PRIOR)
    assert weak.points == pytest.approx(wanted, abs=25)
    both = rate([session("always-raise", often), session("default", [-50.0, 50.0] * 2_000)])
    assert both.points == pytest.approx(TOP, abs=30)


def test_streaks():
    sessions = [session("default", [1, 1, -1, 1, 0, 1], days=2), session("chen", [1, 2], days=1)]
    assert hand_streaks(sessions) == {"hands": 4, "longest": 4}
    assert day_streak(sessions, NOW) == 2
    assert day_streak(sessions, NOW + timedelta(days=1)) == 0
    report = rating_report(sessions, NOW)
    assert report["streaks"] == {"hands": 4, "longest": 4, "days": 2}
    assert (
        report["next"]
        == [rung["title"] for rung in report["ladder"] if rung["points"] > report["points"]][-1]
    )
    json.dumps(report)


def post(server, body, **headers):
    status, _, answer = server.ask("POST", "/api/rating", json.dumps(body).encode(), headers)
    return status, json.loads(answer)


@pytest.mark.slow
def test_the_route(database, monkeypatch):
    """Ids are needed; a hand that is on does not count; nothing but lists of ids is accepted."""
    monkeypatch.setattr("openfelt.table.lobby.service.LobbyService.lobby", lambda _: {"games": []})
    with thread_server(database) as server:
        with Window(server, server.begin("holdem", "always-call")) as window:
            window.deal()
            assert post(server, {"sessions": [window.session]})[1]["hands"] == 0
            window.play_on(random.Random(1))
            status, found = post(server, {"sessions": [window.session, window.session, "none"]})
            assert (status, found["hands"]) == (200, 1)
        kuhn = server.begin("kuhn", "random")
        assert post(server, {"sessions": [kuhn]})[1]["hands"] == 0
        for bad in ({}, {"sessions": "x"}, {"sessions": [1]}, {"sessions": ["x"] * 51}):
            status, answer = post(server, bad)
            assert (status, answer["error"]) == (400, "Give a list of at most 50 ids of sessions.")
        assert post(server, {"sessions": []}, Origin="http://evil.example")[0] == 403
        assert server.ask("GET", "/api/rating")[0] == 405
