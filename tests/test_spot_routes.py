"""The routes of the spot solver: forms are checked, limits hold, solutions are those of the library."""

from __future__ import annotations

import json
import math
import time
from random import Random
from threading import Event
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from table_player import PATIENCE, Server, Window, thread_server, until

from openfelt.bots.view import holdem_view
from openfelt.cards.deck import BOARD_CARDS, PAIR_CARDS, parse_cards
from openfelt.cards.ranges import parse_range
from openfelt.core.errors import FeltError
from openfelt.games.registry import load_game
from openfelt.spots.spot import Spot
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.review.ranges import likelihood
from openfelt.table.spots import solves as solves_module
from openfelt.table.spots.form import read_form
from openfelt.table.spots.solves import Limits, SpotSolves

pytestmark = [pytest.mark.true_board_buckets, pytest.mark.usefixtures("no_lobby")]

RIVER = {
    **{"oop": "AA,QQ", "ip": "KK", "board": "2c3d4h8s9s", "pot": 100, "stack": 100},
    **{"bets": "100%", "raises": "none", "until": 0.1},
}
TURN = {**RIVER, "board": "2c3d4h8s", "oop": "AA,QQ,T9s", "ip": "KK,JJ,98s", "bets": "50%"}
SLOW = {**TURN, "until": 0.01}
FOREIGN = {"Sec-Fetch-Site": "cross-site"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with thread_server(tmp_path_factory.mktemp("spots") / "table.db") as found:
        yield found


def post(server: Server, path: str, message: Any, **headers: str) -> tuple[int, Any]:
    status, _, body = server.ask("POST", f"/api/spot/{path}", json.dumps(message).encode(), headers)
    return status, json.loads(body)


def solved(server: Server, form: dict[str, Any]) -> str:
    """The key of a solve that is done."""
    status, answer = post(server, "solves", form)
    assert status == 200, answer
    address = f"/api/spot/solves/{answer['solve']}"
    end = time.monotonic() + 10 * PATIENCE  # kernels may have to be compiled
    while server.get(address)[1]["state"] in ("compiling", "solving", "stopping"):
        assert time.monotonic() < end
        time.sleep(0.05)
    return str(answer["solve"])


@pytest.fixture(scope="module")
def river(server):
    return solved(server, RIVER)


@pytest.fixture(scope="module")
def turn(server):
    return solved(server, TURN)


# Ranges and forms


def test_ranges_are_written_in_their_shortest_notation(server):
    status, answer = post(server, "range", {"text": "AA, KK QQ; AKs:0.5"})
    assert (status, answer["text"], answer["combinations"]) == (200, "QQ+, AKs:0.5", 20)
    assert answer["cells"][:2] == [1, 0.5]
    assert answer["cells"][13:16] == [0, 1, 0]
    painted = post(server, "range", {"text": f"{answer['text']}, KK:0, AKo:0.25"})[1]
    assert painted["text"] == "AA, QQ, AKs:0.5, AKo:0.25"


@pytest.mark.parametrize("message", [{}, {"text": 5}, {"text": "AB"}, {"text": "A" * 40_000}, {"text": "é"}])
def test_bad_ranges_get_a_sentence(message, server):
    status, answer = post(server, "range", message)
    assert status == 400
    assert_sentence(answer)


def assert_sentence(answer: dict[str, Any]) -> None:
    assert list(answer) == ["error"]
    assert answer["error"][0].isupper() or answer["error"][0] == "'"
    assert answer["error"].endswith(".")
    assert "Traceback" not in answer["error"]


BAD = [
    {"oop": "A"},
    {"oop": None},
    {"ip": ["AA"]},
    {"board": "2c3d"},
    {"board": "2c2c3d"},
    {"board": 7},
    {"pot": 0},
    {"pot": True},
    {"pot": 10.5},
    {"pot": "100"},
    {"pot": 10**30},
    {"stack": -1},
    {"stack": None},
    {"bets": "x"},
    {"bets": 5},
    {"bets": {"preflop": "50%"}},
    {"bets": {"flop": 5}},
    {"bets": {str(key): "50%" for key in range(40)}},
    {"raises": "50%" * 300},
    {"rake": 2},
    {"rake": float("nan")},
    {"rake": 10**400},
    {"rake_cap": -1},
    {"until": 0},
    {"until": float("inf")},
    {"until": "0.5"},
    {"big_blind": 0},
]


@pytest.mark.parametrize("change", BAD, ids=lambda change: json.dumps(change)[:40])
@pytest.mark.parametrize("path", ["check", "solves"])
def test_bad_forms_get_a_sentence(path, change, server):
    status, answer = post(server, path, {**RIVER, **change})
    assert status == 400, answer
    assert_sentence(answer)


def test_bad_bodies_get_a_sentence(server):
    for body in (b"", b"[]", b"{", b"\xff", b"[" * 50_000, b'"' + b"a" * 100_000 + b'"'):
        for path in ("range", "check", "solves"):
            status, _, answer = server.ask("POST", f"/api/spot/{path}", body)
            assert status == 400
            assert_sentence(json.loads(answer))


def test_the_check_reports_the_memory_of_the_library(server):
    from openfelt.spots.solver import memory_needed

    fields = {name: value for name, value in TURN.items() if name != "until"}
    answer = post(server, "check", TURN)[1]
    assert answer["memory"] == round(memory_needed(Spot(**fields)))
    assert answer["allowed"] is True
    assert answer["limit"] == 2_000_000_000


def test_a_spot_above_the_memory_limit_is_refused(tmp_path):
    with thread_server(tmp_path / "table.db", limits=Limits(memory=1000.0)) as server:
        answer = post(server, "check", TURN)[1]
        assert answer["allowed"] is False
        status, refused = post(server, "solves", TURN)
        assert (status, refused["error"]) == (400, answer["sentence"])
        assert "of memory and this server allows" in refused["error"]


def test_betting_trees_are_limited_while_they_are_built(monkeypatch):
    monkeypatch.setattr("openfelt.spots.betting.MOST_PLACES", 50)
    flop = {"oop": "AA", "ip": "KK", "board": "2c3d4h", "pot": 10, "stack": 100}
    form = read_form({**flop, "bets": "50%,100%", "raises": "2x,3x"})
    with pytest.raises(FeltError, match="The betting tree has more than 50 "):
        SpotSolves().check(form)


def test_betting_trees_that_are_too_deep_get_a_sentence(server):
    deep = {**RIVER, "pot": 1, "stack": 10**9, "bets": "1c", "raises": "1c"}
    status, answer = post(server, "check", deep)
    assert (status, answer["error"]) == (
        400,
        "The betting tree is too deep; give larger raises or a smaller stack.",
    )


# Solutions


def test_a_solution_is_that_of_the_library(server, river):
    fields = {name: value for name, value in RIVER.items() if name != "until"}
    solution = Spot(**fields).solve(RIVER["until"])
    status = server.get(f"/api/spot/solves/{river}")[1]
    assert (status["state"], status["iterations"]) == ("done", solution.iterations)
    assert status["exploitability"] == pytest.approx(solution.exploitability, abs=1e-4)
    assert status["values"] == pytest.approx(solution.values, abs=1e-4)
    assert read_form(status["form"]).spot.ranges.tolist() == solution.spot.ranges.tolist()
    for line in ("", "x", "a", "a f", "a c"):
        node = solution.node(line)
        sent = server.get(f"/api/spot/solves/{river}/position?line={quote(line)}")[1]
        assert sent["kind"] == ("end" if node.player is None else "decision")
        assert [each["code"] for each in sent["actions"]] == [action.code for action in node.actions]
        frequencies = [each["frequency"] for each in sent["actions"]]
        assert frequencies == pytest.approx(node.frequencies.tolist(), abs=1e-5)
        for number, name in enumerate(("oop", "ip")):
            rows = {row["hand"]: row for row in node.hands(number)}
            columns = sent["hands"][name]
            assert sorted(columns["names"]) == sorted(rows)
            for place, hand in enumerate(columns["names"]):
                for quantity in ("weight", "ev", "equity", "realisation"):
                    wanted = rows[hand][quantity]
                    if wanted is None:
                        assert columns[quantity][place] is None
                    else:
                        assert columns[quantity][place] == pytest.approx(wanted, abs=1e-4)


def test_cards_are_dealt_at_the_end_of_a_street(server, turn):
    address = f"/api/spot/solves/{turn}"
    sent = server.get(f"{address}/position?line=x%20x")[1]
    assert (sent["kind"], sent["street"], sent["pot"]) == ("card", "river", 100)
    runouts = server.get(f"{address}/runouts?line=x%20x")[1]
    assert len(runouts["cards"]) == 48
    for each in runouts["cards"][::12]:
        node = server.get(f"{address}/position?line=x%20x%20{each['card']}")[1]
        assert [action["frequency"] for action in node["actions"]] == pytest.approx(
            each["frequencies"], abs=1e-4
        )
        assert node["values"] == pytest.approx(each["values"], abs=1e-4)


@pytest.mark.parametrize("line", ["x b5", "hello", "f", "a f f", "x x 2s", "é", "x" * 2000, "c"])
@pytest.mark.parametrize("what", ["position", "runouts"])
def test_bad_lines_get_a_sentence(what, line, server, river):
    status, answer = server.get(f"/api/spot/solves/{river}/{what}?line={quote(line)}")
    assert status == 400
    assert_sentence(answer)


@pytest.mark.parametrize("board", ["2c3d4h8s9s", "2c3d4h8s"])
def test_a_player_who_may_not_bet_has_one_action(board):
    """Such decisions have a single action, a check; without any bets the values are those of the equities."""
    spot = Spot(oop="AA,QQ", ip="KK", board=board, pot=100, stack=100, bets="none")
    solution = spot.solve(0.01)
    assert solution.exploitability == pytest.approx(0, abs=1e-3)
    assert solution.values == pytest.approx([100 * share for share in solution.node().equities], abs=1e-3)
    one_sided = Spot(oop="AA,QQ", ip="KK", board=board, pot=100, stack=100, bets={"": "100%", "ip": "none"})
    assert one_sided.solve(0.3, iterations=2000).exploitability <= 0.3


# Access and limits


def test_solutions_are_found_by_their_key_only(server, river, turn):
    assert river != turn
    assert len(river) >= 24
    for key in ("x", river[:-1], river + "x", river.swapcase(), "..", "%00"):
        for what in ("", "/position", "/runouts?line=x%20x"):
            status, _, _ = server.ask("GET", f"/api/spot/solves/{key}{what}")
            assert status in (404, 405)
    for path in ("/api/spot/solves", "/api/spot", "/spot", "/api/lobby"):
        assert river.encode() not in server.ask("GET", path)[2]


def test_foreign_pages_and_visitors_without_the_token_are_refused(server, river, tmp_path):
    for path in ("range", "check", "solves", f"solves/{river}/stop"):
        assert post(server, path, RIVER, **FOREIGN)[0] == 403
    for path in (river, f"{river}/position", f"{river}/runouts"):
        assert server.get(f"/api/spot/solves/{path}", **FOREIGN)[0] == 403
    with thread_server(tmp_path / "table.db", token="a long token") as other:
        for path in ("range", "check", "solves"):
            assert post(other, path, RIVER)[0] == 401
        assert other.ask("GET", "/spot")[0] == 401


def test_one_spot_at_a_time(server, turn, monkeypatch):
    may_go_on = Event()
    monkeypatch.setattr(
        solves_module.SpotSolves, "_report", lambda *_: may_go_on.wait(PATIENCE) or True, raising=True
    )
    status, first = post(server, "solves", SLOW)
    assert status == 200
    status, answer = post(server, "solves", RIVER)
    assert (status, answer["error"]) == (
        409,
        "Another spot is being solved on this server; try again when it is done.",
    )
    assert server.get(f"/api/spot/solves/{first['solve']}/position")[0] == 400
    assert server.get(f"/api/spot/solves/{turn}/position")[0] == 200  # earlier solutions can still be read
    may_go_on.set()
    until(lambda: server.get(f"/api/spot/solves/{first['solve']}")[1]["state"] == "done")


def test_a_stopped_solve_keeps_its_solution(server, turn, monkeypatch):
    reported, checked = Event(), SpotSolves._report

    def report(solves: SpotSolves, solve: Any, measured: Any) -> bool:
        solve.measured = measured
        reported.wait(PATIENCE)
        return checked(solves, solve, measured)

    monkeypatch.setattr(SpotSolves, "_report", report)
    key = post(server, "solves", SLOW)[1]["solve"]
    status, answer = post(server, f"solves/{key}/stop", {})
    assert (status, answer["state"]) == (200, "stopping")
    reported.set()
    until(lambda: server.get(f"/api/spot/solves/{key}")[1]["state"] == "done")
    assert server.get(f"/api/spot/solves/{key}")[1]["iterations"] == 10
    assert server.get(f"/api/spot/solves/{key}/position")[1]["kind"] == "decision"


def finished(solves: SpotSolves, key: str) -> dict[str, Any]:
    until(lambda: not solves._solves[key].is_running)
    return solves.status(key)


def test_a_solve_ends_when_its_time_is_used_up_or_nobody_asks(turn):
    form = read_form(SLOW)
    brief = SpotSolves(Limits(cpu_seconds=1e-6))
    assert finished(brief, brief.start(form))["iterations"] <= 10
    clock = iter(range(0, 10**6, 1000))
    alone = SpotSolves(Limits(unattended=120.0), now=lambda: float(next(clock)))
    assert finished(alone, alone.start(form))["iterations"] == 10


def test_the_oldest_solutions_are_forgotten(turn):
    solves = SpotSolves(Limits(solutions=2))
    keys = []
    for _ in range(3):
        keys.append(solves.start(read_form(RIVER)))
        assert finished(solves, keys[-1])["state"] == "done"
    with pytest.raises(FeltError, match="no longer kept"):
        solves.status(keys[0])
    assert solves.position(keys[1], "")["kind"] == "decision"
    small = SpotSolves(Limits(kept=1.5 * solves.status(keys[1])["memory"]))
    first = small.start(read_form(RIVER))
    finished(small, first)
    finished(small, small.start(read_form(RIVER)))
    with pytest.raises(FeltError, match="no longer kept"):
        small.status(first)


def test_an_error_in_the_solver_is_not_shown(turn, monkeypatch, capsys):
    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("secret")

    monkeypatch.setattr(Spot, "solve", fail)
    solves = SpotSolves()
    solves._is_compiled = True
    status = finished(solves, solves.start(read_form(RIVER)))
    assert (status["state"], status["error"]) == ("failed", "Internal error of the server; see its output.")
    assert "secret" in capsys.readouterr().err


# Spots of finished hands


@pytest.fixture(scope="module")
def called_hands(server):
    """Links of two hands that were called down, with the person in either seat, and the session."""
    with Window(server, server.begin("holdem", "always-call")) as window:
        links = []
        for _ in range(2):
            window.deal()
            while not window.hand["over"]:
                window.act(next(each["word"] for each in window.hand["actions"] if each["key"] == "c"))
            links.append(window.hand["link"])
        return window.session, links


def test_the_spot_of_a_finished_hand(server, called_hands):
    for seat, link in enumerate(called_hands[1]):
        steps = server.get(f"/api/hands/{link}")[1]["steps"]
        for place, step in enumerate(steps):
            status, spot = server.get(f"/api/hands/{link}/spot?step={place}")
            board = step["table"]["board"]
            if len(board) < 3:
                assert (status, spot["error"].split(";")[0]) == (
                    400,
                    "A spot begins on the flop, turn or river",
                )
                continue
            assert status == 200
            assert splits(spot["board"]) == board
            assert (spot["pot"], spot["bets"]) == (4, "limit")
            bot = "ip" if seat == 0 else "oop"  # seat 0 is the big blind, which acts first after the flop
            others = parse_range(spot[bot])
            assert {0.0, 1.0} == set(others.tolist())  # it calls with every hand
            assert others.sum() == math.comb(52 - len(board), 2)
            assert spot["notice"].endswith(f"You are {'OOP' if seat == 0 else 'IP'}.")
            read_form({**spot, "until": 1})


def splits(board: str) -> list[str]:
    return [board[place : place + 2] for place in range(0, len(board), 2)]


def test_limit_betting_of_a_hand_is_that_of_the_table(server, called_hands):
    """The river of a hand has its bets of 4 chips, four a street, and nobody is all-in."""
    steps = server.get(f"/api/hands/{called_hands[1][0]}")[1]["steps"]
    spot = server.get(f"/api/hands/{called_hands[1][0]}/spot?step={len(steps) - 1}")[1]
    street = read_form({**spot, "until": 1}).spot.streets[0]
    lines = {" ".join(action.code for action in place.line) for place in street.places}
    assert "b4 r8 r12 r16 c" in lines
    assert not [line for line in lines if "a" in line or "r20" in line]


def test_only_finished_hands_of_two_player_holdem_become_spots(server, called_hands):
    link = called_hands[1][0]
    for step in ("", "-1", "999", "x", "1.5", "9" * 50):
        status, answer = server.get(f"/api/hands/{link}/spot?step={step}")
        assert status == 400
        assert_sentence(answer)
    assert server.get(f"/api/hands/{link}/spot?step=9", **FOREIGN)[0] == 403
    assert server.get("/api/hands/unknown/spot?step=9")[0] == 404
    with Window(server, server.begin("kuhn", "random")) as window:
        window.deal()
        window.play_on(Random(1))
        status, answer = server.get(f"/api/hands/{window.hand['link']}/spot?step=1")
    assert (status, answer["error"]) == (
        400,
        "Only hands of two-player limit hold'em with four bets a street can be solved.",
    )


def test_a_bot_keeps_the_hands_with_which_it_acts(server):
    """Its range equals the one of the review: the product of its action probabilities."""
    game, bots = load_game("holdem"), BotPool(())
    bot = bots.get("default", game)
    rows = Random(3)
    with Window(server, server.begin("holdem", "default")) as window:
        for _ in range(20):
            window.deal()
            window.play_on(rows)
            link = window.hand["link"]
            review = server.get(f"/api/hands/{link}")[1]
            reached = [
                place for place, step in enumerate(review["steps"]) if len(step["table"]["board"]) >= 4
            ]
            if reached and review["seat"] == 0:
                break
    spot = server.get(f"/api/hands/{link}/spot?step={reached[0]}")[1]
    cards = parse_cards("".join(spot["board"]))
    words = [step["word"] for step in review["steps"] if step["mover"] >= 0]
    movers = [step["mover"] for step in review["steps"] if step["mover"] >= 0]
    count = sum(step["mover"] >= 0 for step in review["steps"][: reached[0]])
    wanted = np.ones(1326)
    for number in range(count):
        if movers[number] == review["seat"]:
            continue
        board = board_before(game, cards, words[:number])
        view = holdem_view(game, movers[number], (), board, words[:number])
        wanted *= likelihood(bot, view, (), view.actions.index(words[number]))
    wanted[np.isin(PAIR_CARDS, cards).any(axis=1)] = 0
    assert parse_range(spot["ip"]) == pytest.approx(wanted / wanted.max(), abs=6e-4)


def board_before(game: Any, cards: Any, line: list[str]) -> Any:
    return cards[: BOARD_CARDS[holdem_view(game, 0, (), (), line).betting.street]]
