"""The report on a session at the table: its sums, and that it tells nothing of a hand that is on."""

from __future__ import annotations

import random

import numpy as np
import pytest
from speed import slow
from table_player import Window, thread_server


@pytest.fixture
def server(database, monkeypatch):
    monkeypatch.setattr("openfelt.table.lobby.service.LobbyService.lobby", lambda _: {"games": []})
    with thread_server(database) as found:
        yield found


def whole_report(server, session):
    while True:
        status, report = server.get(f"/api/sessions/{session}/report")
        assert status == 200
        if report["reviewed"] == report["all_hands"]:
            return report


@pytest.mark.parametrize(
    ("game", "bots"), [slow("leduc", ["equilibrium"]), ("kuhn(players=3)", ["random"] * 2)]
)
def test_a_report_is_the_sum_of_the_reviews(server, game, bots):
    """EV lost, worst decisions, luck-adjusted winnings: those of the single hands."""
    with Window(server, server.begin(game, *bots)) as window:
        dice = random.Random(4)
        for _ in range(12):
            window.deal()
            window.play_on(dice)
        report = whole_report(server, window.session)
        hands = server.get(f"/api/sessions/{window.session}/hands")[1]["hands"][::-1]
    losses, worst = [], []
    for hand in hands:
        review = server.get(f"/api/hands/{hand['link']}")[1]
        found = server.get(f"/api/hands/{hand['link']}/losses")[1]["decisions"]
        own = [each["actions"][review["steps"][each["step"]]["chosen"]]["loss"] for each in found]
        losses.append(sum(own))
        worst += [(loss, hand["link"]) for loss in own if loss > 0]
    assert report["hands"] == 12
    assert report["lost"]["mean"] == pytest.approx(100 * np.mean(losses))
    assert report["adjusted"]["mean"] == pytest.approx(100 * np.mean([hand["luck_free"] for hand in hands]))
    assert report["chart"][-1] == pytest.approx(
        [12, sum(hand["won"] for hand in hands), sum(hand["luck_free"] for hand in hands), -sum(losses)]
    )
    shown = [each["loss"] for each in report["worst"]]
    assert shown == pytest.approx(sorted((loss for loss, _ in worst), reverse=True)[:5])
    assert all((pytest.approx(each["loss"]), each["link"]) in worst for each in report["worst"])


def test_a_report_says_nothing_of_a_hand_that_is_on(server):
    with Window(server, server.begin("kuhn", "random")) as window:
        assert whole_report(server, window.session)["all_hands"] == 0
        window.deal()
        window.play_on(random.Random(2))
        before = whole_report(server, window.session)
        window.deal()
        while window.hand["over"]:  # the bot may have folded at once
            before = whole_report(server, window.session)
            window.deal()
        assert whole_report(server, window.session) == before
        assert window.hand["number"] > before["hands"]


def test_search_bots_leave_results_without_losses(server):
    with Window(server, server.begin("kuhn", "mcts")) as window:
        window.deal()
        window.play_on(random.Random(2))
        report = whole_report(server, window.session)
    assert report["lost"] is None
    assert report["explain"].startswith("EV losses are not available")
    assert (report["worst"], report["leaks"]) == ([], [])
