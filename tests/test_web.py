"""The server of the table: nothing hidden leaves it, nothing foreign gets in, no kill costs a hand."""

from __future__ import annotations

import asyncio
import importlib
import json
import random
import re
import signal
import socket
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from speed import slow
from table_player import (
    HIDDEN,
    PATIENCE,
    Server,
    Window,
    fair_cards,
    felt_play,
    new_nonce,
    plain_commitment,
    plain_deck,
    plain_shuffle,
    process_server,
    secrets_of,
    thread_server,
    until,
)
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from openfelt.cli.app import main
from openfelt.core.errors import FileError
from openfelt.hands.check import check_record
from openfelt.hands.record import HandRecord
from openfelt.hands.store import HandStore
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.lobby.service import LobbyService
from openfelt.table.review.analyser import HandAnalyser
from openfelt.table.session.manager import SessionManager
from openfelt.table.session.session_store import SessionStore
from openfelt.table.web import app as app_module, sockets
from openfelt.table.web.guesses import MOST_ADDRESSES, MOST_GUESSES, PERIOD, AddressLimit
from openfelt.table.web.server import bind

pytestmark = pytest.mark.usefixtures("no_lobby")

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
SITTINGS = [
    ("kuhn", ["random"]),
    ("leduc", ["random"]),
    ("holdem", ["random"]),
    ("holdem(players=3)", ["random", "always-call"]),
    ("leduc(players=3)", ["always-raise", "random"]),
]
PAGES = [
    "/",
    "/play/{key}",
    "/hand/{link}",
    "/policy",
    "/spot",
    "/drill",
    "/spectate",
    "/static/verify.js",
    "/static/play.js",
    "/static/base.css",
]
ROUTES = [
    *("/api/sessions/{key}", "/api/sessions/{key}/hands", "/api/sessions/{key}/hands?before=2"),
    *("/api/sessions/{key}/hands.phhs", "/api/sessions/{key}/hands.jsonl"),
    *("/api/hands/{link}", "/api/hands/{link}/losses", "/api/hands/{link}/hand.phh", "/api/player"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with thread_server(tmp_path_factory.mktemp("web") / "table.db") as found:
        yield found


# No hidden card leaves the server


@pytest.mark.parametrize(
    ("name", "bots"), [each if each[0].startswith("holdem") else slow(*each) for each in SITTINGS]
)
def test_no_hidden_card_is_sent_before_the_end(name, bots, server):
    """Every byte that came during a hand is searched once it is known what was to be hidden."""
    dice, long_ago = random.Random(1), list[bytes]()
    with Window(server, server.begin(name, *bots)) as window:
        links = ["none-yet"]
        for number in range(1, 13):
            promised, first = window.state["next"]["commitment"], len(window.came)
            window.deal()
            while not window.hand["over"]:
                if number % 4 == 0:
                    status, listed = server.get(f"/api/sessions/{window.session}/hands")
                    assert (status, len(listed["hands"])) == (200, number - 1)
                    long_ago += [text for _, text in everything(server, window.session, links[-1])]
                window.act_somehow(dice)
            sent = [text.encode() for text in window.came[first:-1]]
            for text in secrets_of(window.state):
                assert not [message for message in sent if text.encode() in message]
            for text in (window.hand["seed"], window.hand["link"]):
                assert not [message for message in long_ago if text.encode() in message]
            assert not [
                1
                for message in sent
                for seat in seats_of(message)
                if not seat["you"] and set(seat["cards"]) != {HIDDEN}
            ]
            assert plain_commitment(window.hand["seed"]) == promised
            assert fair_cards(
                name, window.hand["seats"], window.hand["board"], window.hand["seed"], window.hand["nonce"]
            )
            links.append(window.hand["link"])
        _, listed = server.get(f"/api/sessions/{window.session}/hands")
        assert [hand["link"] for hand in listed["hands"]] == links[:0:-1]
        for link in links[1:]:
            assert server.get(f"/api/hands/{link}")[0] == 200


def seats_of(message: bytes) -> list[dict]:
    return list(json.loads(message)["hand"]["seats"])


def everything(server: Server, key: str, link: str) -> list[tuple[int, bytes]]:
    """All that can be had without a socket."""
    paths = [path.format(key=key, link=link) for path in (*ROUTES, *PAGES) if "losses" not in path]
    answers = [server.ask("GET", path) for path in paths]
    return [(status, body + repr({**head, "date": ""}).encode()) for status, head, body in answers]


@pytest.mark.parametrize("bot", ["always-call", slow("random")])
@pytest.mark.parametrize("name", [slow("kuhn"), slow("leduc"), "holdem", slow("holdem(players=3)")])
def test_two_worlds_that_differ_in_hidden_cards_are_alike(name, bot, tmp_path, monkeypatch):
    """One person at two servers whose decks differ only in hidden cards: the same bytes, until the end."""
    players, hole = (3 if "3" in name else 2), (2 if "holdem" in name else 1)
    board = {"kuhn": 0, "leduc": 1}.get(name, 5)
    marks = iter(range(10_000))
    monkeypatch.setattr("openfelt.table.session.session.new_seed", lambda: "7" * 64)
    monkeypatch.setattr("openfelt.table.session.manager.new_seed", lambda: "7" * 64)
    monkeypatch.setattr(
        "openfelt.table.session.session.secrets.token_urlsafe", lambda _: f"mark-{next(marks) // 2}"
    )
    monkeypatch.setattr("openfelt.table.session.session_store.time.time", lambda: 1e9)
    decks = [plain_deck(name)]
    monkeypatch.setattr("openfelt.table.session.table_hand.shuffled", lambda *_: decks[-1])
    dice, compared = random.Random(2), 0
    with thread_server(tmp_path / "a.db") as one, thread_server(tmp_path / "b.db") as other:
        worlds = [one, other]
        for number in range(5):
            keys = [server.begin(name, *[bot] * (players - 1)) for server in worlds]
            assert keys[0] == keys[1]
            deck = plain_shuffle(plain_deck(name), "", str(number))
            hidden = [
                *range(hole, hole * players),
                *range(hole * players + board, len(deck)),
            ]  # seen from seat 0
            twin = list(deck)
            while twin[: hole * players] == deck[: hole * players]:
                mixed = dice.sample([deck[place] for place in hidden], len(hidden))
                for place, card in zip(hidden, mixed, strict=True):
                    twin[place] = card
            pair = [Window(server, key) for server, key in zip(worlds, keys, strict=True)]
            nonce = f"{dice.getrandbits(128):032x}"
            for window, cards in zip(pair, (deck, twin), strict=True):
                decks.append(cards)
                window.deal(nonce)
            while not pair[0].hand["over"]:
                assert pair[0].came == pair[1].came
                assert everything(one, keys[0], "mark-0") == everything(other, keys[1], "mark-0")
                assert everything(one, keys[0], f"mark-{2 * number + 1}")[5][0] == 404
                compared += 1
                word = dice.choice(pair[0].hand["actions"][-2:])["word"]
                for window in pair:
                    window.act(word)
            assert pair[0].came[:-1] == pair[1].came[:-1]
            assert pair[0].came[-1] != pair[1].came[-1]
            for window in pair:
                window.socket.close()
    assert compared > 2


# Refusals


def test_messages_that_are_refused_change_nothing(server):
    dice = random.Random(3)
    with Window(server, server.begin("leduc", "random")) as window:
        window.deal()
        while window.hand["over"]:
            window.deal()
        number, step = window.hand["number"], window.hand["step"]
        word = window.hand["actions"][0]["word"]
        act = {"do": "act", "hand": number, "step": step, "action": word}
        good = json.dumps(act)
        messages = [
            *(
                "",
                "x",
                "[]",
                "null",
                "7",
                '"deal"',
                "{",
                '{"do": }',
                "[" * 5_000,
                '{"a":' * 1_500,
                good[:-1],
                b"",
                b"x",
            ),
            *(good.encode(), f'{{"do": "act", "hand": {"9" * 5_000}}}', good + good, "\u2028", "\x00"),
            *({"do": do} for do in (None, "", "fold", "Deal", 7, [], {}, "close", "state ")),
            *({**act, "hand": value} for value in bad_numbers(number)),
            *({**act, "step": value} for value in bad_numbers(step)),
            *(
                {**act, "action": value}
                for value in (None, "", 0, True, [word], {"word": word}, "dance", "\ud800", "x" * 5_000)
            ),
            {"do": "act", "hand": number, "step": step},
            {"do": "act"},
            *({"do": "deal", "hand": value, "nonce": "0" * 32} for value in (number, number + 1, None, True)),
            {"do": "deal"},
        ]
        for message in messages:
            before = window.ask(do="state")
            window.send(message)
            answer = window.next()
            assert (answer["type"], answer["request"]) == ("error", None), message
            assert re.fullmatch(r"[A-Z'][^\n]*\.", answer["error"], re.DOTALL)
            after = window.ask(do="state")
            assert {**after, "request": None} == {**before, "request": None}
        assert window.act(word)["type"] == "state"
        again = window.ask(**act)  # the same message once more
        assert again["type"] == "error"
        window.play_on(dice)
        for bad in ("", "0" * 31, "G" * 32, 5, None, ["0" * 32]):
            before = window.ask(do="state")
            assert window.ask(do="deal", hand=number + 1, nonce=bad)["type"] == "error"
            assert {**window.ask(do="state"), "request": None} == {**before, "request": None}
        assert window.ask(**act)["type"] == "error"  # no hand is on
        assert window.deal()["hand"]["number"] == number + 1


def bad_numbers(number: int) -> list[object]:
    nan = float("nan")
    return [
        float(number),
        str(number),
        number == 1,
        None,
        [number],
        number + 1,
        number - 1,
        -1,
        0.5,
        nan,
        10**40,
    ]


def test_marks_of_requests_come_back_if_they_are_short_texts(server):
    with Window(server, server.begin("kuhn", "random")) as window:
        for mark in ("a", "", "\ud800", "x" * 100):
            window.send({"do": "state", "request": mark})
            assert window.next()["request"] == mark
        for mark in ("x" * 101, 5, None, ["a"], {}):
            window.send({"do": "state", "request": mark})
            assert window.next()["request"] is None


@pytest.mark.parametrize(
    "message", ["x" * 10_001, json.dumps({"do": "state", "x": "y" * 200_000}), b"\x00" * 50_000]
)
def test_a_huge_message_closes_the_window_and_changes_nothing(server, message):
    key = server.begin("leduc", "always-call")
    with Window(server, key) as window:
        before = window.deal()
        window.send(message)
        with pytest.raises(ConnectionClosed):
            window.next()
    with Window(server, key) as window:
        assert window.hand == before["hand"]
        window.play_on(random.Random(4))


BAD_BODIES = [
    *(
        b"",
        b"x",
        b"[]",
        b"null",
        b"{}",
        b"\xff\xfe",
        b"[" * 9_000,
        b'{"game": "kuhn"}',
        b'{"game": 7, "bots": ["random"]}',
    ),
    *(
        b'{"game": "kuhn", "bots": "random"}',
        b'{"game": "kuhn", "bots": []}',
        b'{"game": "kuhn", "bots": ["a", "b"]}',
    ),
    *(b'{"game": "goofspiel(4)", "bots": ["random"]}', b'{"game": "kuhn", "bots": [["random"]]}'),
    *(b'{"game": "\\ud800", "bots": ["random"]}', b'{"game": "kuhn", "bots": ["\\ud800"]}'),
    *(b'{"game": "holdem", "bots": ["/etc/passwd"]}', b'{"game": "holdem", "bots": ["x.py:Bot"]}'),
    *(b'{"game": "../x.efg", "bots": ["random"]}', b" " * 20_000),
]


def test_bots_are_prepared_before_one_sits_down(server):
    body = b'{"game": "leduc", "bots": ["smooth-uct"]}'
    assert server.ask("POST", "/api/prepare", body)[0] == 200
    until(lambda: json.loads(server.ask("POST", "/api/prepare", body)[2])["ready"])


@pytest.mark.parametrize("path", ["/api/sessions", "/api/prepare"])
@pytest.mark.parametrize("body", BAD_BODIES)
def test_sessions_that_are_not_begun(server, path, body):
    status, _, answer = server.ask("POST", path, body)
    if path == "/api/prepare" and status == 200:  # names of bots are looked up when they are prepared
        assert json.loads(answer) == {"ready": False}
        return
    assert status in (400, 404)
    sentence = json.loads(answer)["error"]
    assert re.fullmatch(r"\w[^\n]*[.?]", sentence)
    assert len(sentence) < 400


BAD_PATHS = [
    *("/api/sessions/none", "/api/sessions/none/hands", "/api/sessions/none/hands.phhs", "/api/hands/none"),
    *(
        "/api/hands/none/losses",
        "/api/hands/none/hand.phh",
        "/api/sessions/none/report",
        "/api/hands/none/ranges?step=1",
        "/api/drills/none",
        "/api/drills/%00",
        "/api/matches/none/ranges?hand=1&step=1",
        "/api/matches/none",
        "/api/sessions/%00/report",
        "/api/sessions/%00",
        "/api/hands/%ff",
        "/api/none",
    ),
    *(
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/....//app.py",
        "/static//etc/passwd",
    ),
    *("/static/", "/static/%00", "/static/..%5capp.py", "/none", "/play", "//", "/api/policy?game=x&bot=y"),
    *(
        "/api/policy?game=kuhn&bot=none",
        "/api/policy/preflop?game=holdem&bot=none",
        "/api/policy?game=%ed%a0%80&bot=x",
    ),
    *("/api/policy/preflop?game=holdem&bot=../x", "/api/policy"),
]


@pytest.mark.parametrize("path", BAD_PATHS)
def test_what_is_not_there_is_reported_in_one_sentence(server, path):
    status, _, answer = server.ask("GET", path)
    assert status in (400, 404)
    assert re.fullmatch(r"[A-Z][^\n]*\.", json.loads(answer)["error"])


def test_what_may_not_be_done_is_reported_in_one_sentence(server):
    for method, path in (
        ("DELETE", "/api/sessions"),
        ("PUT", "/"),
        ("POST", "/api/lobby"),
        ("GET", "/api/sessions"),
        ("GET", "/api/drills"),
        ("GET", "/api/drills/x/next"),
        ("GET", "/api/drills/x/answer"),
        ("POST", "/api/drills/x"),
        ("GET", "/api/matches"),
        ("GET", "/api/matches/x/next"),
        ("POST", "/api/matches/x/ranges"),
    ):
        status, _, answer = server.ask(method, path)
        assert (status, json.loads(answer)["error"]) == (405, f"The path {path} does not support {method}.")
    kuhn = server.begin("kuhn", "random")
    with Window(server, kuhn) as window:
        window.deal()
        window.play_on(random.Random(1))
        for path in (f"/api/sessions/{kuhn}/hands.phhs", f"/api/hands/{window.hand['link']}/hand.phh"):
            status, answer = server.get(path)
            assert (status, answer["error"]) == (
                400,
                "PHH has no variant for kuhn; keep its hands in a store (.db).",
            )


def test_headers_keep_others_out(server):
    for path in (
        "/",
        "/play/x",
        "/hand/x",
        "/report/x",
        "/drill",
        "/spectate",
        "/policy",
        "/api/drills/x",
        "/api/matches/x/ranges",
        "/static/verify.js",
        "/api/sessions/x",
        "/none",
    ):
        _, headers, _ = server.ask("GET", path)
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


# Who may come


FOREIGN = [
    "http://evil.example",
    "null",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "http://[",
    "file://",
    "",
    "http://localhost.evil.example",
]


@pytest.mark.parametrize("origin", FOREIGN)
def test_pages_of_others_are_refused(server, origin):
    body = json.dumps({"game": "kuhn", "bots": ["random"]}).encode()
    changes = (
        "/api/drills",
        "/api/drills/x/next",
        "/api/drills/x/answer",
        "/api/matches",
        "/api/matches/x/next",
    )
    for path in ("/api/sessions", *changes):
        status, headers, answer = server.ask("POST", path, body, {"Origin": origin})
        assert (status, json.loads(answer)["error"]) == (
            403,
            "Pages of other sites are not allowed to do this.",
        )
        assert "content-security-policy" in headers
    key = server.begin("kuhn", "random")
    with pytest.raises(InvalidStatus, match="403"):
        Window(server, key, origin=origin)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything"])
def test_pages_of_others_may_not_even_read(server, site):
    """A page of another site, or of another port of this machine, could start long work by a GET."""
    key = server.begin("kuhn", "random")
    for path in (
        "/api/lobby",
        "/api/policy?game=leduc&bot=equilibrium",
        f"/api/sessions/{key}/report",
        "/api/drills/x",
        "/api/matches/x/ranges",
        "/api/none",
    ):
        for method in ("GET", "HEAD"):
            status = server.ask(method, path, headers={"Sec-Fetch-Site": site})[0]
            assert status == 403
        assert server.get(path, Origin="http://evil.example")[0] == 403
        assert b" 403 " in upgrade(server, key, **{"Host": "127.0.0.1", "Sec-Fetch-Site": site})
    for path in ("/", "/policy", "/static/base.css"):  # links to pages are not refused
        assert server.ask("GET", path, headers={"Sec-Fetch-Site": site})[0] == 200
    status, headers, _ = server.ask("GET", "/?game=kuhn&bot=random", headers={"Sec-Fetch-Site": site})
    assert (status, headers["location"]) == (303, "/")  # but they start no session
    for own in ("same-origin", "none"):
        assert server.ask("GET", f"/api/sessions/{key}", headers={"Sec-Fetch-Site": own})[0] == 200


def test_its_own_pages_are_not_refused(server):
    own = f"http://127.0.0.1:{server.port}"
    body = json.dumps({"game": "kuhn", "bots": ["random"]}).encode()
    status, _, answer = server.ask("POST", "/api/sessions", body, {"Origin": own})
    assert status == 200
    with Window(server, json.loads(answer)["session"], origin=own) as window:
        assert window.deal()["type"] == "state"


NAMES = [
    *(
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.evil.example:{port}",
        "localhost.evil.example",
        "",
        "192.168.0.7",
    ),
    *(
        "0.0.0.0:{port}",
        "[::1",
        "localhost@evil.example",
        "127.1.evil",
        "[::ffff:8.8.8.8]",
        "8.8.8.8",
        "xn--n3h",
    ),
]


@pytest.mark.parametrize("name", NAMES)
def test_other_names_for_this_machine_are_refused(server, name):
    """A page elsewhere may have its own name point here (DNS rebinding)."""
    host = name.format(port=server.port)
    for path in ("/", "/api/lobby", "/static/play.js"):
        status, _, answer = server.ask("GET", path, headers={"Host": host})
        assert (status, json.loads(answer)["error"]) == (
            403,
            "This table accepts connections from its own machine only.",
        )
    key, body = server.begin("kuhn", "random"), b'{"game": "kuhn", "bots": ["random"]}'
    own = {"Host": host, "Origin": f"http://{host}"}
    assert server.ask("POST", "/api/sessions", body, own)[0] == 403
    assert b" 403 " in upgrade(server, key, **own)


@pytest.mark.parametrize(
    "name", ["localhost:{port}", "LocalHost:{port}", "127.0.0.1", "127.9.9.9:{port}", "[::1]:{port}"]
)
def test_names_that_mean_this_machine_are_not_refused(server, name):
    host = name.format(port=server.port)
    assert server.ask("GET", "/", headers={"Host": host})[0] == 200
    assert b" 101 " in upgrade(server, server.begin("kuhn", "random"), Host=host, Origin=f"http://{host}")


def upgrade(server: Server, key: str, **headers: str) -> bytes:
    """The first line of the answer to who asks for a socket."""
    lines = [
        f"GET /ws/{key} HTTP/1.1",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
    ]
    lines += [
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    with socket.create_connection((server.host, server.port), PATIENCE) as stream:
        stream.sendall("\r\n".join([*lines, "", ""]).encode())
        return stream.recv(1_000).partition(b"\r\n")[0]


@pytest.mark.parametrize("token", ["secret", 'a b;c=d"&', "Łódź"])
def test_a_token_opens_the_table(token, tmp_path):
    with thread_server(tmp_path / "table.db", token=token) as server:
        body = b'{"game": "kuhn", "bots": ["random"]}'
        for query in ("", "?token=", "?token=wrong", f"?token={quote(token)}x", "?Token=" + quote(token)):
            status, headers, answer = server.ask("GET", f"/api/lobby{query}")
            assert (status, json.loads(answer)["error"]) == (401, "This table needs a token.")
            assert "set-cookie" not in headers
            assert server.ask("POST", f"/api/sessions{query}", body)[0] == 401
        status, _, answer = server.ask("GET", "/", headers={"Accept": "text/html"})
        assert status == 401
        assert b'name="token"' in answer
        status, headers, _ = server.ask("GET", f"/?game=kuhn&bot=random&token={quote(token)}")
        assert (status, headers["location"]) == (303, "/?game=kuhn&bot=random")
        kind, cookie = headers["set-cookie"].lower(), headers["set-cookie"].partition(";")[0]
        assert "httponly" in kind
        assert "samesite=lax" in kind
        for given in (cookie, f"theme=dark; {cookie}", f'a={{"x": [1, "2"]}}; {cookie}; b'):
            assert server.ask("GET", "/api/lobby", headers={"Cookie": given})[0] == 200
        status, _, answer = server.ask("POST", "/api/sessions", body, {"Cookie": cookie})
        assert status == 200
        key = json.loads(answer)["session"]
        for given in (None, "felt_token=wrong", "felt_token=", cookie[:-1]):
            with pytest.raises(InvalidStatus, match="403"):
                Window(server, key, additional_headers={"Cookie": given} if given else {})
        with pytest.raises(
            InvalidStatus, match="403"
        ):  # the token itself in the address, as a page elsewhere might
            Window(server, f"{key}?token={quote(token)}")
        with pytest.raises(InvalidStatus, match="403"):
            Window(server, key, origin="http://evil.example", additional_headers={"Cookie": cookie})
        with Window(server, key, additional_headers={"Cookie": cookie}) as window:
            assert window.deal()["type"] == "state"
        status, headers, _ = server.ask("GET", f"//evil.example/?token={quote(token)}")
        assert not headers["location"].startswith("//")


def test_tokens_cannot_be_tried_one_after_the_other(tmp_path):
    token, html = "a long token", {"Accept": "text/html"}
    with thread_server(tmp_path / "table.db", token=token) as server:
        _, headers, _ = server.ask("GET", f"/?token={quote(token)}")
        cookie = {"Cookie": headers["set-cookie"].partition(";")[0]}
        stale = {"Cookie": "felt_token=of-an-earlier-server"}
        for _ in range(20):
            assert server.ask("GET", "/api/lobby", headers=stale)[0] == 401
        for guess in range(MOST_GUESSES - 1):
            wrong = {"Cookie": f"felt_token={guess}"} if guess % 2 else {}
            assert server.ask("GET", "/" if guess % 2 else f"/?token={guess}", headers=wrong)[0] == 401
        for path in (f"/?token={quote(token)}", "/?token=another", "/api/lobby"):
            status, headers, answer = server.ask("GET", path)
            assert (status, "set-cookie" in headers) == (429, False)
            assert json.loads(answer)["error"].startswith("There were too many wrong tokens")
            assert b"There were too many wrong tokens" in server.ask("GET", path, headers=html)[2]
        assert server.ask("GET", "/api/lobby", headers=cookie)[0] == 200  # who is in stays in


def test_guesses_are_counted_by_address_and_forgotten():
    now = [0.0]
    limit = AddressLimit(lambda: now[0])
    for guess in range(MOST_GUESSES):
        assert not limit.is_reached("2001:db8::1")
        limit.add(f"2001:db8::{guess}", str(guess))  # one network
        limit.add("::ffff:192.0.2.1", str(guess))  # IPv4 at a socket of both
        limit.add("192.0.2.3", "the same")
        now[0] += 1
    assert limit.is_reached("2001:db8::77")
    assert limit.is_reached("::ffff:192.0.2.1")
    for other in ("2001:db8:0:1::1", "::ffff:192.0.2.2", "192.0.2.3", "", "unknown"):
        assert not limit.is_reached(other)
    now[0] = PERIOD + 0.5
    assert not limit.is_reached("2001:db8::1")
    for number in range(MOST_ADDRESSES + 5):
        limit.add(f"address {number}", "x")
    assert len(limit._texts) == MOST_ADDRESSES


def test_others_need_a_token_unless_they_are_this_machine(tmp_path):
    with process_server(tmp_path / "table.db", "--host", "0.0.0.0", lobby=False) as server:
        assert server.host == "127.0.0.1"  # what a browser can open
        path = server.url.partition(f":{server.port}")[2]
        elsewhere = Server(json.loads(server.said())["network_url"])
        assert elsewhere.host not in ("0.0.0.0", "127.0.0.1")
        assert (elsewhere.port, elsewhere.url.partition(f":{server.port}")[2]) == (server.port, path)
        assert elsewhere.ask("GET", path)[0] == 303  # it can be opened
        token = path.removeprefix("/?token=")
        assert len(token) >= 16
        for host in ("127.0.0.1", "table.example:80"):
            assert server.ask("GET", "/api/lobby", headers={"Host": host})[0] == 401
        with pytest.raises(InvalidStatus, match="403"):
            Window(server, "none")
        status, headers, _ = server.ask("GET", path, headers={"Host": "table.example"})
        assert (status, headers["location"]) == (303, "/")
        cookie = {"Cookie": headers["set-cookie"].partition(";")[0], "Host": "table.example"}
        assert server.ask("GET", "/", headers=cookie)[0] == 200
        said = server.said().replace(server.url.encode(), b"").replace(elsewhere.url.encode(), b"")
        assert token.encode() not in said


# Sessions are apart, windows are together


def test_sessions_are_apart(server):
    dice = random.Random(5)
    with (
        Window(server, server.begin("leduc", "always-call")) as one,
        Window(server, server.begin("leduc", "always-call")) as two,
    ):
        one.deal()
        before = two.ask(do="state")
        answer = two.ask(
            do="act", hand=one.hand["number"], step=one.hand["step"], action=one.hand["actions"][0]["word"]
        )
        assert answer["error"] == "No hand is in progress; deal the next one."
        one.play_on(dice)
        assert {**two.ask(do="state"), "request": None} == {**before, "request": None}
        assert len([text for text in two.came if '"state"' in text]) == 3  # nothing of the other's came
        status, found = server.get(f"/api/sessions/{two.session}/hands")
        assert (status, found["hands"]) == (200, [])
        status, found = server.get(f"/api/sessions/{one.session}")
        assert (status, found["hands"], found["bots"], found["game"]) == (200, 1, ["always-call"], "leduc")


def test_a_socket_to_no_session_is_reported_and_closed(server):
    with connect(f"ws://{server.host}:{server.port}/ws/none") as stream:
        answer = json.loads(stream.recv(PATIENCE))
        assert answer == {"type": "error", "error": "This session does not exist.", "request": None}
        with pytest.raises(ConnectionClosed):
            stream.recv(PATIENCE)
        assert stream.protocol.close_code == 4404


def test_all_windows_of_a_session_see_each_state(server):
    dice, key = random.Random(6), server.begin("holdem", "random")
    with Window(server, key) as one, Window(server, key) as two:
        for _ in range(5):
            for mine, theirs in ((one, two), (two, one)):
                mine.deal() if mine.state["next"] else mine.act_somehow(dice)
                seen = theirs.next()
                assert seen["request"] is None
                assert {**mine.state, "request": None} == seen
        assert two.ask(do="act", hand=one.hand["number"], step=99, action="call")["type"] == "error"
        with pytest.raises(TimeoutError):
            one.socket.recv(0.2)  # a refusal is sent only to the window that asked


def test_a_connection_that_drops_comes_back_to_the_same_hand(server):
    dice, key = random.Random(7), server.begin("holdem", "random")
    state = None
    for _ in range(30):
        with Window(server, key) as window:
            if state is not None:
                assert window.hand == state["hand"]
                assert window.state["next"] == state["next"]
                assert window.state["notice"] is None
            state = window.deal() if window.state["next"] else window.act_somehow(dice)
            window.socket.socket.close()  # without a word


def test_two_windows_that_act_at_once_take_one_action(server):
    """Of two clicks on what both saw, one counts."""
    dice, key = random.Random(8), server.begin("holdem", "always-call")
    with Window(server, key) as one, Window(server, key) as two:
        one.deal()
        two.next()
        for _ in range(40):
            hand = one.hand
            if hand["over"]:
                message = {"do": "deal", "hand": hand["number"] + 1, "nonce": new_nonce()}
            else:
                word = dice.choice(hand["actions"])["word"]
                message = {"do": "act", "hand": hand["number"], "step": hand["step"], "action": word}
            marks = [len(window.came) for window in (one, two)]
            at_once(lambda window, message=message: window.send(message), one, two)
            for window in (one, two):
                window.ask(do="state")
            since = [
                json.loads(text)
                for window, mark in zip((one, two), marks, strict=True)
                for text in window.came[mark:]
            ]
            assert [answer["type"] for answer in since].count("error") == 1
            assert one.hand == two.hand
            assert one.hand["number"] == hand["number"] + hand["over"]
    assert all(check_record(record) is None for record in records_of(server, key))


def at_once(do: Callable[[Window], None], *windows: Window) -> None:
    threads = [threading.Thread(target=do, args=(window,)) for window in windows]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def records_of(server: Server, key: str) -> list:
    lines = server.ask("GET", f"/api/sessions/{key}/hands.jsonl")[2].decode().splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        HandRecord(
            **{name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
        )
        for row in rows
    ]


def test_a_window_that_does_not_read_is_dropped(monkeypatch):
    """Nobody else waits for it more than once."""
    monkeypatch.setattr(sockets, "SEND_TIMEOUT", 0.05)

    class Stuck:
        client_state = sockets.WebSocketState.CONNECTED
        sent = closed = 0

        async def send_text(self, _):
            self.sent += 1
            await asyncio.sleep(PATIENCE)

        async def close(self, _):
            self.closed += 1

    class Reading(Stuck):
        async def send_text(self, _):
            self.sent += 1

    async def play():
        async def ask(_):
            return {"type": "state"}

        found, stuck, reading = sockets.SessionSockets(ask, ask), Stuck(), Reading()
        found._windows["key"] = {stuck, reading}
        for _ in range(5):
            await found._answer(reading, "key", '{"do": "deal"}', ("kuhn", ["random"]))
        await asyncio.sleep(0)
        assert (stuck.sent, stuck.closed) == (1, 1)
        assert (reading.sent, reading.closed) == (5, 0)

    asyncio.run(play())


# Kills


def prepared(database: Path, sittings: list[tuple[str, list[str]]]) -> list[str]:
    """Sessions that are there before a server is."""
    tables = SessionManager(SessionStore(database), BotPool())
    keys = [tables.begin(name, bots) for name, bots in sittings]
    tables.close()
    return keys


@pytest.mark.slow
def test_a_kill_in_mid_hand_costs_nothing(tmp_path):
    """Several games at once; the server is killed, comes back, and every hand goes on with the same cards."""
    database, dice = tmp_path / "table.db", random.Random(9)
    keys = prepared(database, SITTINGS)
    before, ends, outputs = {}, {key: [] for key in keys}, []
    with process_server(database, lobby=False) as server:
        for key in keys:
            with Window(server, key) as window:
                while len(ends[key]) < 3 or window.state["next"] is not None:
                    promised = window.state["next"]["commitment"]
                    window.deal()
                    while not window.hand["over"] and (len(ends[key]) < 3 or dice.random() < 0.5):
                        window.act_somehow(dice)
                    if window.hand["over"]:
                        ends[key].append(window.hand)
                    before[key] = (window.state, promised)
        outputs.append(server)
        server.kill()
    with process_server(database, lobby=False) as server:
        outputs.append(server)
        for key, (name, _) in zip(keys, SITTINGS, strict=True):
            (state, promised), number = before[key], before[key][0]["hand"]["number"]
            with Window(server, key) as window:
                assert window.hand == state["hand"]
                assert (
                    window.state["notice"]
                    == f"The server was restarted; hand {number} continues where it was."
                )
                assert window.state["score"]["won"] == sum(end["won"] for end in ends[key])
                window.play_on(dice)
                hand = window.hand
                assert plain_commitment(hand["seed"]) == promised == hand["commitment"]
                assert fair_cards(name, hand["seats"], hand["board"], hand["seed"], hand["nonce"])
                ends[key].append(hand)
                window.deal()
                assert window.state["notice"] is None
            listed = server.get(f"/api/sessions/{key}/hands")[1]["hands"]
            assert [(each["link"], each["won"]) for each in listed if each["number"] <= number] == [
                (end["link"], end["won"]) for end in reversed(ends[key])
            ]
            assert all(check_record(record) is None for record in records_of(server, key))
    for each in outputs:  # nothing but the address was said
        assert json.loads(each.said())["database"] == str(database)


@pytest.mark.slow
def test_kills_at_random_moments_lose_no_hand_that_was_over(tmp_path):
    database, dice = tmp_path / "table.db", random.Random(10)
    (key,) = prepared(database, [("leduc", ["random"])])
    seen = dict[int, float]()
    for _ in range(3):
        with process_server(database, lobby=False) as server:
            window = Window(server, key)
            assert window.state["score"]["hands"] >= len(seen)
            timer = threading.Timer(0.3 + dice.random(), server.kill)
            timer.start()
            try:
                while True:
                    window.deal() if window.state["next"] else window.act_somehow(dice)
                    if window.hand["over"]:
                        seen[window.hand["number"]] = window.hand["won"]
            except (ConnectionClosed, OSError):
                timer.join()
        with SessionStore(database) as store:
            rows = {row.number: row for row in store.table_hands(key)}
            assert list(rows) == list(range(1, len(rows) + 1))
            for number, won in seen.items():
                assert (rows[number].status, rows[number].won) == (1, won)
            found = {record.number: record for record in store.records(key)}
            assert all(check_record(record) is None for record in found.values())
            assert found.keys() == {number for number, row in rows.items() if row.status == 1}
            assert len(found) in (len(rows), len(rows) - 1)
    assert len(seen) > 20
    tables = SessionManager(SessionStore(database), BotPool())
    state = tables.state(key)
    over = {number: record.won[rows[number].seat] for number, record in found.items()}
    late = state["hand"] is not None and state["hand"]["over"]  # killed between the last action and its entry
    assert state["score"]["hands"] == len(over) + late
    assert state["score"]["won"] == sum(over.values()) + (state["hand"]["won"] if late else 0)
    tables.close()


def test_a_hand_that_cannot_go_on_is_returned(tmp_path):
    database = tmp_path / "table.db"
    tables = SessionManager(SessionStore(database), BotPool())
    key = tables.begin("leduc", ["always-call"])
    tables.deal(key, 1, new_nonce())
    tables.close()
    base = sqlite3.connect(database)
    base.execute("UPDATE table_hands SET actions = 'raise raise raise'")
    base.commit()
    base.close()
    with thread_server(database) as server, Window(server, key) as window:
        assert window.state["hand"] is None
        assert "hand 1 could not be restored; it does not count." in window.state["notice"]
        assert server.get(f"/api/sessions/{key}/hands")[1]["hands"][0]["returned"] is True
        window.deal()
        window.play_on(random.Random(1))
        assert (window.hand["number"], window.state["score"]["hands"]) == (2, 1)


# What the command says


def said_by(*words: str, **options: object) -> tuple[int, str, str]:
    """A server that should not come up."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, **options)
    return done.returncode, done.stdout, done.stderr


def is_one_sentence(answer: tuple[int, str, str], says: str) -> None:
    code, out, err = answer
    assert (code, out) == (2, ""), answer
    assert says in err
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err


def test_a_port_that_is_taken_is_reported(tmp_path):
    with bind("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        answer = said_by(*felt_play(tmp_path / "table.db", "--port", port))
        is_one_sentence(answer, f"The table cannot listen on 127.0.0.1, port {port} (Address already in use)")
    assert not (tmp_path / "table.db").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["khun"], "did you mean 'kuhn'"),
        (["goofspiel(4)"], "goofspiel(4) is not played at the table"),
        (["kuhn", "--bot", "nobody"], "nobody"),
        (["kuhn", "--bot", "random", "--bot", "random"], "kuhn has one opponent; 2 bots were given."),
        (["--host", "no.such.host.invalid"], "The table cannot listen on no.such.host.invalid"),
        (["--port", "70000"], "a port must be a number from 0 to 65535"),
        (["--hands", "3"], "--hands is for the terminal"),
        (["--token", "eleven char"], "The token has 11 characters and could be guessed; give at least 12,"),
    ],
)
def test_bad_words_are_reported(words, says, tmp_path, capsys):
    command = felt_play(tmp_path / "table.db", *words)[3:]
    try:
        code = main(command)
    except SystemExit as error:  # argparse's own
        code = error.code
    found = capsys.readouterr()
    assert code == 2
    assert says in found.err
    assert found.out == ""
    assert "Traceback" not in found.err
    assert not (tmp_path / "table.db").exists()


def damaged(path: Path, how: str) -> str:
    """A file of sessions with something wrong; what should be said of it."""
    keys = prepared(path, [("kuhn", ["random"])] * 60)
    assert keys
    base = sqlite3.connect(path)
    statement, says = {
        "newer": ("PRAGMA user_version = 9", "was written by a newer OpenFelt (format 9"),
        "newer sessions": (
            "UPDATE table_version SET version = 9",
            "was written by a newer OpenFelt (sessions 9",
        ),
        "another program": ("PRAGMA application_id = 9", "is a database of another program"),
    }.get(how, ("PRAGMA wal_checkpoint(TRUNCATE)", "is damaged"))
    base.execute(statement)
    base.commit()
    base.close()
    data = path.read_bytes()
    if how == "truncated":
        path.write_bytes(data[: len(data) // 2 + 100])
    elif how == "overwritten":
        path.write_bytes(data[:4096] + random.Random(1).randbytes(3 * 4096) + data[4 * 4096 :])
    elif how == "no database":
        path.write_bytes(b"Some text that somebody wrote." * 300)
        says = "is not a store of hands"
    return says


@pytest.mark.parametrize(
    "how", ["newer", "newer sessions", "another program", "truncated", "overwritten", "no database"]
)
def test_a_file_that_cannot_be_used_is_reported_and_left_as_it_is(how, tmp_path, capsys):
    path = tmp_path / "table.db"
    says = damaged(path, how)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    code = main(felt_play(path)[3:])
    found = capsys.readouterr()
    is_one_sentence((code, found.out, found.err), says)
    assert str(path) in found.err
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


def test_a_folder_in_the_place_of_the_file_is_reported(tmp_path, capsys):
    (tmp_path / "table.db").mkdir()
    code = main(felt_play(tmp_path / "table.db")[3:])
    found = capsys.readouterr()
    is_one_sentence((code, found.out, found.err), "unable to open database file")
    code = main(felt_play(tmp_path / "none" / "table.db")[3:])
    found = capsys.readouterr()
    is_one_sentence((code, found.out, found.err), "unable to open database file")


def test_a_file_that_may_not_be_written_is_reported(tmp_path, monkeypatch):
    """Root may write anything, so SQLite itself is made read-only."""
    path = tmp_path / "table.db"
    prepared(path, [("kuhn", ["random"])])
    before = path.read_bytes()
    whole = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda path, **rest: whole(f"file:{path}?mode=ro", uri=True, **rest)
    )
    with pytest.raises(FileError, match="readonly"):
        SessionStore(path)
    assert path.read_bytes() == before


@pytest.mark.slow
def test_ctrl_c_closes_the_table_without_a_word(tmp_path):
    with process_server(tmp_path / "table.db", lobby=False) as server:
        assert server.process is not None
        assert server.ask("GET", "/")[0] == 200
        server.process.send_signal(signal.SIGINT)
        server.process.wait(PATIENCE)
        assert server.said().endswith(b"}\nfelt: stopped.\n")
        assert server.process.returncode == 130


# Nobody waits for others


@contextmanager
def held(
    monkeypatch, owner: object, name: str, which: Callable[..., bool] = lambda *_: True
) -> Iterator[threading.Event]:
    """Whoever calls it, with arguments that `which` accepts, waits until the end; says when that begins."""
    begun, release, whole = threading.Event(), threading.Event(), getattr(owner, name)

    def wait(*words, **more):
        if which(*words):
            begun.set()
            assert release.wait(PATIENCE)
        return whole(*words, **more)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, wait)
        try:
            yield begun
        finally:
            release.set()


@pytest.mark.parametrize(
    ("owner", "name", "method", "path", "status"),
    [
        (LobbyService, "prepare_deal", "POST", "/api/sessions", 200),
        (LobbyService, "grid", "GET", "/api/policy?game=kuhn&bot=random", 200),
        (LobbyService, "matrix", "GET", "/api/policy/preflop?game=holdem&bot=random", 200),
        (app_module, "session_lines", "GET", "/api/sessions/{key}/hands.jsonl", 200),
        (HandAnalyser, "losses", "GET", "/api/hands/{link}/losses", 200),
    ],
)
def test_a_slow_request_of_one_visitor_blocks_no_other(
    server, monkeypatch, owner, name, method, path, status
):
    key, body = server.begin("kuhn", "random"), b'{"game": "kuhn", "bots": ["always-raise"]}'
    with Window(server, key) as window:
        window.deal()
        window.play_on(random.Random(1))
        where, found = path.format(key=key, link=window.hand["link"]), list[int]()
        with held(monkeypatch, owner, name) as begun:
            slow_one = threading.Thread(
                target=lambda: found.append(server.ask(method, where, body if method == "POST" else None)[0])
            )
            slow_one.start()
            assert begun.wait(PATIENCE)
            assert server.get("/api/lobby")[0] == 200
            assert server.get(f"/api/sessions/{key}")[0] == 200
            with Window(server, server.begin("kuhn", "random")) as other:
                assert other.deal()["type"] == "state"
            assert found == []
        slow_one.join()
        assert found == [status]


@pytest.mark.parametrize(("step", "is_new"), [("prepare_deal", True), ("prepare", False)])
def test_a_session_that_is_opened_again_waits_for_its_bots_elsewhere(step, is_new, tmp_path, monkeypatch):
    """After a restart no bot is ready; the tables of others do not wait for the training of one."""
    keys = prepared(tmp_path / "table.db", [("kuhn", ["always-call"]), ("kuhn", ["random"])])
    if not is_new:
        with thread_server(tmp_path / "table.db") as server, Window(server, keys[0]) as window:
            window.deal()
    with thread_server(tmp_path / "table.db") as server:
        with Window(server, keys[1]) as other:
            other.deal()
            other.act("pass")  # which waits for all that its bots need
        found = list[str]()
        with held(monkeypatch, LobbyService, step) as begun:

            def play() -> None:
                with Window(server, keys[0]) as window:
                    found.append(window.state["type"])

            slow_one = threading.Thread(target=play)
            slow_one.start()
            assert begun.wait(PATIENCE)
            with Window(server, keys[1]) as other:
                assert other.ask(do="state")["type"] == "state"
            assert server.get(f"/api/sessions/{keys[0]}")[0] == 200
            assert found == []
        slow_one.join()
        assert found == ["state"]


def test_a_table_does_not_wait_for_what_is_prepared_ahead(tmp_path, monkeypatch):
    ahead = "leduc", ["random"]
    with (
        held(monkeypatch, LobbyService, "prepare_deal", lambda _, game, __: game.name == ahead[0]) as begun,
        thread_server(tmp_path / "table.db", first=ahead) as server,
    ):
        assert begun.wait(PATIENCE)
        with Window(server, server.begin("kuhn", "random")) as window:
            window.deal()
            assert window.act("pass")["type"] == "state"


def test_hands_without_a_decision_do_not_wait_for_what_later_actions_need(tmp_path, monkeypatch):
    with (
        thread_server(tmp_path / "table.db") as server,
        held(monkeypatch, LobbyService, "prepare") as begun,
        Window(server, server.begin("holdem", "always-fold")) as window,
    ):
        assert window.deal()["hand"]["over"]
        assert begun.wait(PATIENCE)
        assert window.deal()["hand"]["actions"]


# Files that are deleted, and servers that meet


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", ".lock"])
@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_file_that_is_deleted_under_the_server_is_told_to_the_player(tmp_path, suffix, how):
    path = tmp_path / "table.db"
    file = Path(f"{path}{suffix}")
    with thread_server(path) as server, Window(server, server.begin("leduc", "always-call")) as window:
        before = window.deal()
        (tmp_path / "kept").hardlink_to(file)
        file.unlink()
        if how == "replaced":
            file.write_bytes((tmp_path / "kept").read_bytes())
        says = f"{file} was deleted or replaced while the server was running, so nothing can be saved;"
        assert says in window.act(before["hand"]["actions"][0]["word"])["error"]
        body = b'{"game": "kuhn", "bots": ["random"]}'
        status, _, answer = server.ask("POST", "/api/sessions", body)
        assert status == 500
        assert says in json.loads(answer)["error"]
        assert window.ask(do="state")["hand"] == before["hand"]  # nothing was done
        (tmp_path / "kept").rename(file)  # put back in time
        window.play_on(random.Random(1))
        assert window.state["score"]["hands"] == 1
    with SessionStore(path) as store:
        assert store.finished_hands(window.session) == 1


def test_a_second_server_on_the_same_file_is_refused(tmp_path):
    path = tmp_path / "table.db"
    (tmp_path / "link.db").symlink_to(path)
    says = "is in use by another felt play; stop it, or choose another file with --database."
    with thread_server(path) as server, Window(server, server.begin("leduc", "always-call")) as window:
        window.deal()
        for name in ("table.db", "link.db"):
            with pytest.raises(FileError, match=re.escape(f"{tmp_path / name} {says}")):
                app_module.make_app(tmp_path / name)
        window.play_on(random.Random(1))
        with HandStore(path) as store:  # others may read
            assert store.count() == 1
    SessionStore(path).close()


# Many tables at once


@pytest.mark.slow
def test_twenty_tables_at_once_lose_no_chip_and_show_no_card(monkeypatch):
    """The short form of `felt bench table`."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    benchmark = importlib.import_module("table")
    load = benchmark.play(20, 3.0, SITTINGS, wait_for_lobby=False)
    assert load.faults == []
    assert load.said == ""
    assert load.ended == load.stored > 20
    assert len(load.times) > load.hands > 0
