"""People who share a server: names, sessions that nobody else opens, links to hands."""

from __future__ import annotations

import json
import random
import sqlite3
from typing import Any

import pytest
from table_player import PATIENCE, Server, Window, thread_server
from test_bot_api import Program, error_of
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from openfelt.core.errors import FeltError, FileError, MissingError
from openfelt.table.session import player_store
from openfelt.table.session.player_store import player_id, require_name
from openfelt.table.session.session_store import SessionStore
from openfelt.table.web.players import COOKIE, MOST_NEW_NAMES, TOO_MANY_NAMES

pytestmark = pytest.mark.usefixtures("no_lobby")

SESSION_ROUTES = ["", "/hands", "/hands?before=2", "/report", "/hands.phhs", "/hands.jsonl"]


class Person:
    """A browser with its cookie."""

    def __init__(self, server: Server, name: str | None = None) -> None:
        self.server, self.headers = server, dict[str, str]()
        if name is not None:
            status, answer = self.take(name)
            assert (status, answer["name"]) == (200, name)

    def ask(self, method: str, path: str, message: object = None) -> tuple[int, bytes]:
        body = None if message is None else json.dumps(message).encode()
        status, headers, answer = self.server.ask(method, path, body, self.headers)
        if "set-cookie" in headers:
            assert "httponly" in headers["set-cookie"].lower()
            assert "samesite=strict" in headers["set-cookie"].lower()
            self.headers = {"Cookie": headers["set-cookie"].partition(";")[0]}
        return status, answer

    def take(self, name: object) -> tuple[int, Any]:
        status, answer = self.ask("POST", "/api/player", {"name": name})
        return status, json.loads(answer)

    def get(self, path: str) -> tuple[int, Any]:
        status, answer = self.ask("GET", path)
        return status, json.loads(answer)

    def begin(self, game: str = "leduc", bot: str = "always-call") -> str:
        status, answer = self.ask("POST", "/api/sessions", {"game": game, "bots": [bot]})
        assert status == 200
        return str(json.loads(answer)["session"])

    def window(self, key: str) -> Window:
        return Window(self.server, key, additional_headers=self.headers)


# Names


@pytest.mark.parametrize(
    "name", ["Ann", "ann lee", "Łukasz", "O'Neil", "J.-P.", "李雷", "नेहा", "x_1", "7", "A" * 24, "Ａｎｎ２"]
)
def test_names_of_all_languages(name):
    assert require_name(f" {name} ")


@pytest.mark.parametrize(
    "name",
    [
        *(
            None,
            7,
            ["Ann"],
            "",
            " ",
            "A" * 25,
            "a  b",
            "-a",
            "<b>x</b>",
            "a\nb",
            "a\x00",
            "a\u202eb",
            "a\u200bb",
        ),
        *(
            "\ud800",
            "a/b",
            "a&b",
            '"',
            "a;b",
            "\u0301a",
            "a\u0316\u0316\u0316",
            "😀",
            "a%20b",
            "${x}",
            "a\u00adb",
        ),
        *("you", "You", "Y.O.U", "you there", "The Professor", "the-professor", "default", "Ｙｏｕ"),
    ],
)
def test_names_that_are_refused(server, name):
    with pytest.raises(FeltError):
        require_name(name)
    person = Person(server)
    status, answer = person.take(name)
    assert status == 400
    assert answer["error"].endswith(".")
    assert not person.headers
    assert person.get("/api/player")[1]["name"] is None


def test_a_name_belongs_to_one_person(server):
    ann, other = Person(server, "Ann"), Person(server)
    for name in ("Ann", "ANN", " a.n-n", "Ａnn"):
        assert other.take(name) == (
            400,
            {"error": f"The name {require_name(name)} is taken; choose another one."},
        )
    assert other.take("Bo")[0] == 200
    assert ann.take("Ann")[0] == 200  # its own
    assert ann.take("Anna")[1]["name"] == "Anna"
    assert other.take("Ann")[1]["name"] == "Ann"  # free again
    assert (ann.get("/api/player")[1]["name"], other.get("/api/player")[1]["name"]) == ("Anna", "Ann")


def test_a_key_of_another_form_is_not_a_key(server):
    for key in ("", "x", "a" * 42, "a" * 44, "a" * 42 + "!", "../" + "a" * 40):
        person = Person(server)
        person.headers = {"Cookie": f"{COOKIE}={key}"}
        assert person.get("/api/player")[1]["name"] is None
    keys = set()
    for number in range(3):
        person = Person(server, f"Key {number}")
        keys.add(person.headers["Cookie"])
    assert len(keys) == 3


def test_there_is_an_end_to_names(tmp_path, monkeypatch):
    monkeypatch.setattr(player_store, "MOST_NAMES", 1)
    with SessionStore(tmp_path / "table.db") as store:
        store.take_name("a", "Ann")
        with pytest.raises(FeltError, match="play without one"):
            store.take_name("b", "Bo")
        assert store.take_name("a", "Bo") == "Bo"


def test_one_address_takes_few_names(tmp_path):
    """Somebody who drops its cookies; who has a name can still change it."""
    with thread_server(tmp_path / "own.db") as server:
        people = [Person(server, f"name {number}") for number in range(MOST_NEW_NAMES)]
        status, answer = Person(server).take("one more")
        assert (status, answer["error"]) == (429, TOO_MANY_NAMES)
        assert people[0].take("another name")[0] == 200
        assert people[1].get("/api/player")[1]["name"] == "name 1"


def test_the_file_holds_no_key(tmp_path):
    database = tmp_path / "table.db"
    with thread_server(database) as server:
        person = Person(server, "Ann")
        key = person.headers["Cookie"].partition("=")[2]
        session = person.begin()
    text = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert key.encode() not in text
    with SessionStore(database) as store:
        assert store.owner(session) == player_id(key)


# Sessions


def test_nobody_else_opens_the_sessions_of_a_name(server):
    ann, bo, nobody = Person(server, "Owner"), Person(server, "Other"), Person(server)
    key = ann.begin()
    with ann.window(key) as window:
        window.deal()
        window.play_on(random.Random(1))
        window.deal()
        before = window.ask(do="state")
        for person in (bo, nobody):
            for route in SESSION_ROUTES:
                status, answer = person.get(f"/api/sessions/{key}{route}")
                assert (status, list(answer)) == (404, ["error"])
                assert "another player" in answer["error"]
            address = f"ws://{server.host}:{server.port}/ws/{key}"
            with connect(address, additional_headers=person.headers) as stream:
                assert "another player" in json.loads(stream.recv(PATIENCE))["error"]
                with pytest.raises(ConnectionClosed):
                    stream.recv(PATIENCE)
                assert stream.protocol.close_code == 4404
            assert key not in json.dumps(person.get("/api/player"))
        assert {**window.ask(do="state"), "request": None} == {**before, "request": None}
    assert ann.get(f"/api/sessions/{key}/hands")[0] == 200
    assert ann.get("/api/player")[1]["sessions"] == [key]


def test_sessions_without_a_name_belong_to_who_has_their_id(server):
    nobody, ann = Person(server), Person(server, "Later")
    key = nobody.begin()
    assert ann.get(f"/api/sessions/{key}")[0] == 200
    assert ann.get("/api/player")[1]["sessions"] == []


def test_a_rating_counts_only_own_sessions(server):
    ann, bo = Person(server, "Rated"), Person(server, "Unrated")
    key = ann.begin("holdem", "always-call")
    with ann.window(key) as window:
        window.deal()
        window.play_on(random.Random(2))
    hands = [json.loads(who.ask("POST", "/api/rating", {"sessions": [key]})[1])["hands"] for who in (ann, bo)]
    assert hands == [1, 0]


def test_programs_do_not_resume_the_sessions_of_a_name(server):
    key = Person(server, "Not a program").begin()
    with Program(server) as program:
        assert "another player" in error_of(program.ask(do="resume", match=key))
        assert "begin or resume" in error_of(program.ask(do="deal", hand=1))


# Links


def test_a_link_shows_a_finished_hand_to_others_with_the_name_of_its_player(server, database):
    ann, bo = Person(server, "Ann 3"), Person(server, "Looks on")
    key = ann.begin("holdem", "always-call")
    with ann.window(key) as window:
        window.deal()
        window.play_on(random.Random(3))
        link = window.hand["link"]
        while window.state["next"]:
            window.deal()
        secret = window.ask(do="state")["hand"]["link"]
        assert secret is None
        status, shown = bo.get(f"/api/hands/{link}")
        texts = json.dumps(shown)
        assert (status, shown["player"]) == (200, "Ann 3")
        assert shown["names"][shown["seat"]] == "Ann 3"
        assert key not in texts
        assert "You " not in texts
        assert '"you"' not in texts.replace('"you": ', "")
        assert any(step["text"].startswith("Ann 3 ") for step in shown["steps"])
        own = ann.get(f"/api/hands/{link}")[1]
        assert own["player"] is None
        assert own["names"][own["seat"]] == "you"
        query = "SELECT link FROM table_hands WHERE session = ? AND status = 0"
        on = sqlite3.connect(database).execute(query, (key,)).fetchone()[0]  # as nobody at the table can
        for who in (ann, bo):
            for route in ("", "/losses", "/hand.phh", "/ranges?step=0", "/spot?step=0"):
                assert who.ask("GET", f"/api/hands/{on}{route}")[0] == 404


# The file


def test_owners_survive_a_restart(tmp_path):
    database = tmp_path / "table.db"
    with thread_server(database) as server:
        ann = Person(server, "Ann")
        key = ann.begin()
    with thread_server(database) as server:
        ann.server = server
        assert ann.get("/api/player")[1]["name"] == "Ann"
        assert ann.get(f"/api/sessions/{key}")[0] == 200
        assert Person(server).get(f"/api/sessions/{key}")[0] == 404


def test_a_file_whose_owners_cannot_be_read_opens_no_session(tmp_path):
    database = tmp_path / "table.db"
    with thread_server(database) as server:
        ann = Person(server, "Ann")
        key = ann.begin()
        base = sqlite3.connect(database)
        base.execute("DROP TABLE session_players")
        base.commit()
        base.close()
        status, answer = ann.get(f"/api/sessions/{key}")
        assert (status, list(answer)) == (500, ["error"])


def test_a_file_of_the_earlier_version_has_no_players(tmp_path):
    path = tmp_path / "table.db"
    with SessionStore(path) as store:
        row = store.begin("kuhn", ["random"], "7" * 64)
        store._base.execute("DROP TABLE players")
        store._base.execute("DROP TABLE session_players")
    with SessionStore(path) as store:
        store.require_own(row.id, None)
        assert store.owned("a") == []
        store.take_name("a", "Ann")
        store.own(row.id, "a")
        with pytest.raises(MissingError):
            store.require_own(row.id, "b")
        with pytest.raises(FileError):
            store.own(row.id, "b")  # a session has one owner


def test_mistakes_to_drill_are_of_ones_own_sessions(server):
    cy, di = Person(server, "Cy"), Person(server, "Di")
    key, dice = cy.begin("kuhn"), random.Random(3)
    with cy.window(key) as window:
        for _ in range(12):
            window.deal()
            window.play_on(dice)
    for person, is_own in ((di, False), (Person(server), False), (cy, True)):
        deck = json.loads(person.ask("POST", "/api/drills", {})[1])["deck"]
        wanted, found = {"kind": "mistakes", "sessions": [key]}, {"drill": None, "left": 1}
        while found["drill"] is None and found["left"]:  # an answer may say that the search goes on
            status, answer = person.ask("POST", f"/api/drills/{deck}/next", wanted)
            assert status == 200
            found = json.loads(answer)
        assert (found["drill"] is not None) == is_own
