"""Matches between bots: whole hands with all cards and strategies, and nothing of a person's hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from speed import slow
from table_player import Window, thread_server

from openfelt.core.errors import FeltError, MissingError
from openfelt.games.registry import load_game
from openfelt.hands.check import check_record
from openfelt.hands.record import HandRecord
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.spectate import matches as module
from openfelt.table.spectate.matches import Matches

pytestmark = pytest.mark.usefixtures("no_lobby")

PAIRINGS = [
    ("kuhn", ["random", "always-call"]),
    ("leduc", ["random", "random"]),
    slow("holdem", ["random", "always-call"]),
    ("kuhn(players=3)", ["random", "always-raise", "random"]),
]


@pytest.fixture
def matches():
    return Matches(BotPool())


@pytest.mark.parametrize(("name", "bots"), PAIRINGS)
def test_hands_follow_the_rules_and_the_totals_are_their_sums(matches, name, bots):
    game, key = load_game(name), matches.begin(name, bots)["match"]
    size, won = 2 if name == "holdem" else 1, np.zeros(game.players)
    for number in range(1, 7):
        hand = matches.next_hand(key)
        assert hand["number"] == number
        seats = hand["end"]["seats"]
        dealt = [card for seat in seats for card in seat["cards"]]
        assert len(dealt) == size * game.players
        words = tuple(step["word"] for step in hand["steps"] if step["mover"] >= 0)
        payoffs = tuple(seat["won"] for seat in seats)
        record = HandRecord(name, number, hand["names"], (*dealt, *hand["end"]["board"]), words, payoffs)
        check_record(record)
        won += [payoffs[(hand["bottom"] + bot) % game.players] for bot in range(game.players)]
        assert hand["won"] == pytest.approx(won)
        assert hand["names"][hand["bottom"]] == hand["bots"][0]
        assert hand["bottom"] == (number - 1) % game.players
        assert len(set(hand["names"])) == game.players
        assert not any(seat["you"] for seat in seats)


def test_both_strategies_are_shown_at_every_decision(matches):
    key = matches.begin("kuhn", ["random", "always-call"])["match"]
    for _ in range(5):
        hand = matches.next_hand(key)
        for step in hand["steps"]:
            if step["mover"] < 0:
                continue
            own, other = step["thoughts"]
            assert (own["own"], other["own"]) == (True, False)
            assert own["by"] == hand["names"][step["mover"]]
            chances = {each["by"]: each["probabilities"] for each in (own, other)}
            assert chances[hand["bots"][0]] == (0.5, 0.5)
            assert sorted(chances[hand["bots"][1]]) == [0.0, 1.0]


@pytest.mark.slow
def test_ranges_of_both_bots_in_holdem(matches):
    key = matches.begin("holdem", ["always-raise", "always-call"])["match"]
    hand = matches.next_hand(key)
    for place, step in enumerate(hand["steps"]):
        found = matches.step_ranges(key, 1, place)
        assert [player["name"] for player in found["players"]] == list(hand["names"])
        assert [player["share"] for player in found["players"]] == pytest.approx([1.0, 1.0])  # by rules alone
        acting = [player["name"] for player in found["players"] if player.get("overall")]
        if step["mover"] >= 0:
            assert acting == [hand["names"][step["mover"]]]
    for number, place in ((1, -1), (1, 99), (2, 0), (-1, 0)):
        with pytest.raises(FeltError):
            matches.step_ranges(key, number, place)
    matches.next_hand(key)
    matches.step_ranges(key, 1, 0)  # the hand before is kept
    matches.next_hand(key)
    with pytest.raises(FeltError, match="moved on"):
        matches.step_ranges(key, 1, 0)


def test_matches_that_are_not_begun_and_those_that_are_forgotten(matches, monkeypatch):
    for game, bots in (
        (None, ["random", "random"]),
        ("kuhn", ["random"]),
        ("kuhn", "random"),
        ("kuhn", ["random", "../x"]),
        ("chess", ["random", "random"]),
        ("kuhn", ["random"] * 3),
    ):
        with pytest.raises(FeltError):
            matches.begin(game, bots)
    monkeypatch.setattr(module, "MOST_MATCHES", 2)
    keys = [matches.begin("kuhn", ["random", "random"])["match"] for _ in range(3)]
    with pytest.raises(MissingError, match="begin another one"):
        matches.next_hand(keys[0])
    assert matches.next_hand(keys[2])["number"] == 1


def test_a_hand_that_a_person_plays_cannot_be_looked_at(tmp_path):
    """The id of a session is not that of a match, and the next hand of a match is always a new one."""
    with thread_server(tmp_path / "table.db") as server:
        key = server.begin("holdem", "always-call")
        with Window(server, key) as window:
            window.deal()
            for path in (f"/api/matches/{key}/next", f"/api/matches/{key}/ranges?hand=1&step=0"):
                method = "POST" if path.endswith("next") else "GET"
                status, _, body = server.ask(method, path, b"{}" if method == "POST" else None)
                assert (status, json.loads(body)["error"]) == (404, "This match is over; begin another one.")
