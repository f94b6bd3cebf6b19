"""Programs at the server: the documented client, hidden cards, refusals, limits, lost connections."""

from __future__ import annotations

import json
import random
import re
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from typing import Any

import pytest
from doc_blocks import BLOCK, DOCS
from speed import slow
from table_player import (
    HIDDEN,
    PATIENCE,
    SIGNS,
    Server,
    plain_commitment,
    plain_deck,
    plain_shuffle,
    process_server,
    thread_server,
    until,
)
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from openfelt.hands.check import check_record
from openfelt.table.session.session_store import SessionStore
from openfelt.table.web import bot_api

pytestmark = pytest.mark.usefixtures("no_lobby")

MATCHES = [
    ("kuhn", ["random"]),
    ("leduc", ["random"]),
    ("holdem", ["random"]),
    ("holdem(players=3)", ["random", "always-call"]),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with thread_server(tmp_path_factory.mktemp("bots") / "table.db") as found:
        yield found


@pytest.fixture(autouse=True)
def _unpaced(monkeypatch):
    """Tests need not wait."""
    monkeypatch.setattr(bot_api, "MOST_PER_SECOND", 1e9)


class Program:
    """A connection; everything that came is kept, as it came."""

    def __init__(self, server: Server, path: str = "/bot/v1", *, name: str = "", **options: Any) -> None:
        self.came: list[str] = []
        self.state: dict[str, Any] = {}
        self._stack = ExitStack()
        to = socket.create_connection((server.host, server.port), PATIENCE)
        address = f"ws://{name or server.host}:{server.port}{path}"
        self.socket = self._stack.enter_context(connect(address, sock=to, **options))

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def next(self) -> dict[str, Any]:
        text = self.socket.recv(PATIENCE)
        assert isinstance(text, str)
        self.came.append(text)
        found: dict[str, Any] = json.loads(text)
        if found["type"] == "state":
            self.state = found
        return found

    def send(self, message: str | bytes | dict[str, Any]) -> dict[str, Any]:
        self.socket.send(message if isinstance(message, str | bytes) else json.dumps(message))
        return self.next()

    def ask(self, **message: Any) -> dict[str, Any]:
        return self.send(message)

    def deal(self) -> dict[str, Any]:
        return self.ask(do="deal", hand=self.state["next"]["hand"], nonce=f"{random.getrandbits(128):032x}")

    def act(self, dice: random.Random) -> dict[str, Any]:
        hand = self.state["hand"]
        words = (
            hand["actions"][1:] if hand["actions"][0] == "fold" and dice.random() < 0.8 else hand["actions"]
        )
        return self.ask(do="act", hand=hand["number"], step=hand["step"], action=dice.choice(words))

    def play(self, dice: random.Random) -> dict[str, Any]:
        """The hand that is on, to its end."""
        while not self.state["hand"]["over"]:
            assert self.act(dice)["type"] == "state"
        return self.state["hand"]


def error_of(answer: dict[str, Any]) -> str:
    assert answer["type"] == "error", answer
    assert re.fullmatch(r"\S[^\n]*\.", answer["error"])
    return str(answer["error"])


# Matches


def the_client() -> str:
    (body,) = (text for kind, text in BLOCK.findall((DOCS / "bot-api.md").read_text()) if kind == "py")
    return body


def test_the_documented_client_has_twenty_lines():
    lines = [line for line in the_client().splitlines() if line.strip()]
    assert len(lines) <= 21


def test_the_documented_client_plays(server):
    client = the_client().replace("< 100", "< 12")
    client = client.replace("holdem", "leduc").replace('"default"', '"random"')  # without kernels to compile
    address = f"ws://{server.host}:{server.port}/bot/v1"
    done = subprocess.run([sys.executable, "-c", client, address], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    match, _, score = done.stdout.partition(" ")
    assert "'hands': 12" in score
    assert server.get(f"/api/sessions/{match}")[1]["hands"] == 12


def test_the_documented_client_says_why_it_stops(server):
    client = the_client().replace('"default"', '"nobody"')
    address = f"ws://{server.host}:{server.port}/bot/v1"
    done = subprocess.run([sys.executable, "-c", client, address], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "'nobody'" in done.stderr.strip()
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(("game", "bots"), [each if each[0] == "holdem" else slow(*each) for each in MATCHES])
def test_no_hidden_card_is_sent_before_the_end(server, game, bots):
    """Every byte that came during a hand is searched for what only its end revealed."""
    dice, hole = random.Random(1), 2 if game.startswith("holdem") else 1
    with Program(server) as program:
        program.ask(do="begin", game=game, bots=bots)
        won = 0.0
        for number in range(1, 16):
            promised, first = program.state["next"]["commitment"], len(program.came)
            program.deal()
            hand = program.play(dice)
            sent = program.came[first:-1]
            others = [seat for seat in range(len(bots) + 1) if seat != hand["seat"]]
            for text in sent:
                found = json.loads(text)["hand"]
                assert {card for seat in others for card in found["cards"][seat]} == {HIDDEN}
                assert found["seed"] is found["link"] is found["won"] is None
                rest = json.dumps({**found, "cards": found["cards"][hand["seat"]]})
                for card in [card for seat in others for card in hand["cards"][seat] if hole == 2]:
                    assert f'"{card}"' not in rest
                    assert card[0] + SIGNS[card[1]] not in text
                assert hand["seed"] not in text
                assert hand["link"] not in text
            deck = plain_shuffle(plain_deck(game), hand["seed"], hand["nonce"])
            assert plain_commitment(hand["seed"]) == hand["commitment"] == promised
            assert [card for cards in hand["cards"] for card in cards] == deck[: hole * len(hand["cards"])]
            assert sum(hand["won"]) == 0
            won += hand["won"][hand["seat"]]
            assert (program.state["score"]["hands"], program.state["score"]["won"]) == (number, won)
            assert program.state["score"]["luck_adjusted"] is not None
            assert server.get(f"/api/hands/{hand['link']}")[0] == 200


def test_a_state_says_whose_turn_it_is_and_what_was_done(server):
    dice = random.Random(2)
    with Program(server) as program:
        assert program.ask(do="begin", game="leduc", bots=["always-raise"])["hand"] is None
        for _ in range(6):
            program.deal()
            while not program.state["hand"]["over"]:
                hand = program.state["hand"]
                assert program.state["next"] is None
                assert hand["actions"]
                assert len(hand["line"]) == hand["step"]
                own = hand["seat"]
                program.act(dice)
                assert program.state["hand"]["line"][hand["step"]]["seat"] == own
            hand = program.state["hand"]
            assert hand["actions"] == []
            assert program.state["next"]["hand"] == hand["number"] + 1
            assert hand["names"][hand["seat"]] == "you"


def test_a_match_is_a_session_of_the_table(server):
    dice = random.Random(3)
    with Program(server) as program:
        match = program.ask(do="begin", game="holdem", bots=["random"])["match"]
        for _ in range(3):
            program.deal()
            program.play(dice)
    rows = server.ask("GET", f"/api/sessions/{match}/hands.jsonl")[2].splitlines()
    assert len(rows) == 3
    assert server.get(f"/api/sessions/{match}/hands")[1]["hands"][0]["link"] == program.state["hand"]["link"]


# Refusals and limits


def test_messages_that_are_refused_change_nothing(server):
    with Program(server) as program:
        for message in ({"do": "deal", "hand": 1}, {"do": "act"}, {"do": "state"}):
            assert "begin or resume" in error_of(program.send(message))
        program.ask(do="begin", game="leduc", bots=["always-call"])
        program.deal()
        hand = program.state["hand"]
        act = {"do": "act", "hand": hand["number"], "step": hand["step"], "action": hand["actions"][0]}
        messages = [
            *("", "x", "[]", "null", "7", "{", "[" * 5_000, '{"a":' * 1_500, b"", b"x", "\x00", "\ud7ff"),
            json.dumps(act)[:-1],
            json.dumps(act).encode(),
            *({"do": do} for do in (None, "", "Act", 7, [], {}, "close", "play", "_begin", "__init__")),
            *({**act, "hand": value} for value in (None, 0, 2, "1", 1.0, True, [1], 10**40)),
            *({**act, "step": value} for value in (None, -1, 9, "0", 0.5, False, {})),
            *({**act, "action": value} for value in (None, "", 0, ["call"], "dance", "\ud800", "x" * 5_000)),
            *({"do": "deal", "hand": value} for value in (None, 1, 2, "2")),
            *(
                {"do": "begin", "game": game, "bots": ["random"]}
                for game in (None, 7, "\ud800", "goofspiel(4)")
            ),
            *(
                {"do": "begin", "game": "leduc", "bots": bots}
                for bots in (None, "random", [], [[]], ["a", "b"])
            ),
            *(
                {"do": "begin", "game": "holdem", "bots": [bot]}
                for bot in ("/etc/passwd", "x.py:Bot", "\ud800")
            ),
            *({"do": "resume", "match": match} for match in (None, 7, "", "nothing", "../x", "\ud800", [])),
        ]
        before = program.ask(do="state")
        for message in messages:
            error_of(program.send(message))
            assert program.ask(do="state") == before, message
        assert program.send(act)["type"] == "state"
        error_of(program.send(act))  # the same once more
        program.play(random.Random(4))
        for nonce in ("", "0" * 31, "G" * 32, 5, None):
            error_of(program.ask(do="deal", hand=2, nonce=nonce))
        assert program.ask(do="deal", hand=2, request="mark")["request"] == "mark"
        assert program.ask(do="state", request=["mark"])["request"] is None


@pytest.mark.parametrize("message", ["x" * 10_001, b"\x00" * 50_000])
def test_a_huge_message_closes_the_connection_and_changes_nothing(server, message):
    with Program(server) as program:
        match = program.ask(do="begin", game="leduc", bots=["always-call"])["match"]
        before = program.deal()
        with pytest.raises(ConnectionClosed):
            program.send(message)
        assert program.socket.protocol.close_code == 1009
    with Program(server) as program:
        assert program.ask(do="resume", match=match)["hand"] == before["hand"]


@pytest.mark.parametrize("version", ["v0", "v2", "1", "V1"])
def test_a_version_that_is_not_spoken_gets_a_sentence(server, version):
    with Program(server, f"/bot/{version}") as program:
        assert "/bot/v1" in error_of(program.next())
        with pytest.raises(ConnectionClosed):
            program.next()
        assert program.socket.protocol.close_code == bot_api.BAD_VERSION


def test_a_program_that_is_silent_is_disconnected_and_resumes(server, monkeypatch):
    with Program(server) as program:
        match = program.ask(do="begin", game="leduc", bots=["always-call"])["match"]
        monkeypatch.setattr(bot_api, "LONGEST_PAUSE", 0.05)
        before = program.deal()
        assert "resume" in error_of(program.next())
        with pytest.raises(ConnectionClosed):
            program.next()
        assert program.socket.protocol.close_code == bot_api.IDLE
    monkeypatch.undo()
    with Program(server) as program:
        assert program.ask(do="resume", match=match)["hand"] == before["hand"]


def test_too_many_programs_get_a_sentence(server, monkeypatch):
    monkeypatch.setattr(bot_api, "MOST_PROGRAMS", 2)
    with Program(server) as one, Program(server) as two:
        one.ask(do="begin", game="kuhn", bots=["random"])
        two.ask(do="begin", game="kuhn", bots=["random"])
        with Program(server) as three:
            assert "try again" in error_of(three.next())
            with pytest.raises(ConnectionClosed):
                three.next()
            assert three.socket.protocol.close_code == bot_api.TOO_MANY
        assert one.deal()["type"] == "state"

    def has_room() -> bool:
        with Program(server) as program:
            return program.ask(do="begin", game="kuhn", bots=["random"])["type"] == "state"

    until(has_room)  # those who left make room


def test_answers_are_paced(server, monkeypatch):
    """The pauses are counted, not timed."""
    paused: list[float] = []
    sleep = bot_api.asyncio.sleep

    async def record(seconds: float) -> None:
        paused.append(seconds)
        await sleep(0)

    monkeypatch.setattr(bot_api, "MOST_PER_SECOND", 0.001)
    monkeypatch.setattr(bot_api.asyncio, "sleep", record)
    with Program(server) as program:
        for _ in range(3):
            program.ask(do="state")
    waits = [seconds for seconds in paused if seconds > 500]
    assert len(waits) == 2  # before the second and the third answer


# Connections


def test_a_connection_that_drops_in_mid_hand_resumes_it(server):
    dice = random.Random(5)
    with Program(server) as program:
        state = program.ask(do="begin", game="holdem", bots=["random"])
    for _ in range(20):
        with Program(server) as program:
            resumed = program.ask(do="resume", match=state["match"])
            assert {**resumed, "request": None} == {**state, "request": None}
            state = program.deal() if state["next"] else program.act(dice)
            program.socket.socket.close()  # without a word


def test_two_connections_to_one_match_take_one_action(server):
    with Program(server) as one, Program(server) as two:
        match = one.ask(do="begin", game="leduc", bots=["always-call"])["match"]
        one.deal()
        hand = two.ask(do="resume", match=match)["hand"]
        act = {"do": "act", "hand": hand["number"], "step": hand["step"], "action": hand["actions"][-1]}
        assert one.send(act)["type"] == "state"
        assert "moved on" in error_of(two.send(act)) or two.ask(do="state")["hand"]["over"]


@pytest.mark.slow
def test_a_kill_in_mid_hand_costs_nothing(tmp_path):
    dice, database = random.Random(6), tmp_path / "table.db"
    with process_server(database, lobby=False) as server, Program(server) as program:
        state = program.ask(do="begin", game="holdem", bots=["always-call"])
        while state["score"]["hands"] < 2 or state["next"]:
            state = program.deal() if state["next"] else program.act(dice)
        server.kill()
    with process_server(database, lobby=False) as server, Program(server) as program:
        resumed = program.ask(do="resume", match=state["match"])
        assert resumed["hand"] == state["hand"]
        assert "continues where it was" in resumed["notice"]
        program.play(dice)


@pytest.mark.parametrize("programs", [8, slow(60)])
def test_many_programs_at_once_lose_no_chip(tmp_path, programs):
    matches: dict[str, float] = {}

    def play(server: Server, place: int) -> None:
        game, bots = MATCHES[place % (len(MATCHES) if programs > 8 else 3)]
        dice = random.Random(place)
        with Program(server) as program:
            program.ask(do="begin", game=game, bots=bots)
            for _ in range(3):
                program.deal()
                program.play(dice)
            matches[program.state["match"]] = program.state["score"]["won"]

    database = tmp_path / "table.db"
    with thread_server(database) as server:
        threads = [threading.Thread(target=play, args=(server, place)) for place in range(programs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(matches) == programs
    with SessionStore(database) as store:
        for match, won in matches.items():
            assert sum(row.won for row in store.table_hands(match)) == won
            records = list(store.records(match))
            assert len(records) == 3
            assert all(check_record(record) is None and sum(record.won) == 0 for record in records)


# Who may connect


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "file://", ""])
def test_pages_of_others_are_refused(server, origin):
    with pytest.raises(InvalidStatus) as refused:
        Program(server, origin=origin)
    assert refused.value.response.status_code == 403


def test_its_own_pages_and_programs_are_not_refused(server):
    for options in ({}, {"origin": f"http://{server.host}:{server.port}"}):
        with Program(server, **options) as program:
            assert program.ask(do="begin", game="kuhn", bots=["random"])["type"] == "state"


def test_other_names_for_this_machine_are_refused(server):
    with pytest.raises(InvalidStatus) as refused:
        Program(server, name="evil.example")
    assert refused.value.response.status_code == 403


def test_programs_need_the_token(tmp_path):
    with thread_server(tmp_path / "table.db", token="open sesame 12") as server:
        with Program(server, "/bot/v1?token=open+sesame+12") as program:
            assert program.ask(do="begin", game="kuhn", bots=["random"])["type"] == "state"
        for path in ("/bot/v1", "/bot/v1?token=", "/bot/v1?token=open", "/bot/v1?other=open+sesame+12"):
            with pytest.raises(InvalidStatus) as refused:
                Program(server, path)
            assert refused.value.response.status_code == 403
        with pytest.raises(InvalidStatus):
            Program(server, "/bot/v1?token=open+sesame+12", origin="http://evil.example")
        for guess in range(12):
            with pytest.raises(InvalidStatus):
                Program(server, f"/bot/v1?token=guess{guess}")
        with pytest.raises(InvalidStatus):  # too many guesses: even the right one has to wait
            Program(server, "/bot/v1?token=open+sesame+12")
