"""Messages and requests to the table's server, through the whole application."""

from __future__ import annotations

import asyncio
import itertools
import json
from random import Random
from typing import Any
from unittest.mock import patch

from fuzz.json_mutations import dump, mutate_json
from fuzz.mutations import mutate_any
from fuzz.target import Finding, Mutant, Target
from openfelt.core.errors import FeltError
from openfelt.games.registry import load_game
from openfelt.table.web.app import make_app

HOST = (b"host", b"127.0.0.1:8000"), (b"origin", b"http://127.0.0.1:8000")
NONCE = "0123456789abcdef" * 2
DEAL = {"do": "deal", "hand": 1, "nonce": NONCE, "request": "a"}
ACT = {"do": "act", "hand": 1, "step": 0, "action": "bet", "request": "b"}
END = json.dumps({"do": "state", "request": "end"})
PATHS = ("/api/sessions/", "/api/hands/", "/api/policy", "/play/", "/hand/", "/policy", "/static/")
WORDS = (
    b"do",
    b"deal",
    b"act",
    b"state",
    b"hand",
    b"step",
    b"action",
    b"bet",
    b"pass",
    b"nonce",
    b"null",
    b"{",
    b"[",
)


class Server:
    """The application without a network."""

    def __init__(self, target: Target) -> None:
        self.app = make_app(target.folder / "sessions.db")
        self.loop = asyncio.new_event_loop()

    def request(
        self, method: str, path: bytes, query: bytes, body: bytes, headers: Any = HOST
    ) -> tuple[int, bytes]:
        """The status and the body of an answer."""
        sent: list[dict[str, Any]] = []
        asked = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            return asked.pop() if asked else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            **{
                "type": "http",
                "http_version": "1.1",
                "method": method,
                "scheme": "http",
                "headers": list(headers),
            },
            **{"path": path.decode("latin-1"), "raw_path": path, "query_string": query, "root_path": ""},
            **{"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000)},
        }
        self.loop.run_until_complete(self.app(scope, receive, send))
        return sent[0]["status"], b"".join(each.get("body", b"") for each in sent[1:])

    def talk(self, key: str, texts: list[str | bytes]) -> list[dict[str, Any]]:
        """What the server sends to a window that sends these messages."""
        sent: list[dict[str, Any]] = []
        asked: list[dict[str, Any]] = [{"type": "websocket.connect"}]
        for text in texts:
            kind = "bytes" if isinstance(text, bytes) else "text"
            asked.append({"type": "websocket.receive", kind: text})
        asked.append({"type": "websocket.disconnect", "code": 1000})

        async def receive() -> dict[str, Any]:
            return asked.pop(0)

        async def send(message: Any) -> None:
            if message["type"] == "websocket.send":
                sent.append(json.loads(message["text"]))

        path = f"/ws/{key}"
        scope = {
            **{"type": "websocket", "scheme": "ws", "headers": list(HOST), "subprotocols": []},
            **{"path": path, "raw_path": path.encode(), "query_string": b"", "root_path": ""},
            **{"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000)},
        }
        self.loop.run_until_complete(self.app(scope, receive, send))
        return sent

    def begin(self) -> str:
        """A new session of Kuhn poker."""
        status, body = self.request(
            "POST", b"/api/sessions", b"", b'{"game": "kuhn", "bots": ["always-call"]}'
        )
        assert status == 200, body
        return str(json.loads(body)["session"])


class TableMessagesTarget(Target):
    """A message of a window is changed: the first deal, or the first action."""

    name = "table-messages"

    def prepare(self) -> None:
        self.server = Server(self)
        for message in (DEAL, ACT):
            self.add({"message": json.dumps(message).encode()})

    def mutate(self, random: Random, number: int) -> Mutant:
        data = self.samples[number]["message"]
        if random.random() < 0.6:
            document, how = mutate_json(random, json.loads(data))
            return Mutant({"message": dump(document)}, how, number)
        data, how = mutate_any(random, data, WORDS)
        return Mutant({"message": data}, how, number)

    def read(self, mutant: Mutant) -> Any:
        text = mutant.files["message"].decode("utf-8", "replace")
        before = [json.dumps(DEAL)] if mutant.sample else []
        key = self.server.begin()
        first, *answers = self.server.talk(key, [*before, text, END])
        for answer in answers:
            if answer.get("type") == "error" and not answer.get("error"):
                raise Finding("an error without a sentence")
        if len(answers) != len(before) + 2:
            raise Finding(f"{len(answers)} answers to {len(before) + 2} messages")
        told, end = answers[-2], answers[-1]
        state = _state_of(end)
        if told.get("type") == "error":
            if state != (_state_of(answers[0]) if before else _state_of(first)):
                raise Finding("a refused message has changed the session")
            raise FeltError(told["error"])
        return state

    def rule(self, mutant: Mutant, content: Any) -> str:
        message = json.loads(mutant.files["message"])
        if message.get("do") == "state":
            return "a question for the state"
        if mutant.sample == 0:
            valid = (
                message.get("do") == "deal"
                and message.get("hand") == 1
                and isinstance(message.get("nonce"), str)
            )
        else:
            valid = message.get("do") == "act" and message.get("hand") == 1 and message.get("step") == 0
            valid = valid and message.get("action") in ("bet", "pass")
        if not valid:
            raise Finding(f"an invalid message was accepted: {content}")
        return "another valid deal or action"


class TableRequestsTarget(Target):
    """An HTTP request is changed: its method, path, query, body or origin."""

    name = "table-requests"
    share = 0.7

    def prepare(self) -> None:
        self.server = Server(self)
        numbers = itertools.count(1)
        with (
            patch("secrets.token_hex", lambda size: f"{next(numbers):0{2 * size}x}"),
            patch("secrets.token_urlsafe", lambda size: f"key{next(numbers)}"),
        ):
            key = self.server.begin()
            end = self.server.talk(key, [json.dumps(DEAL), json.dumps(ACT)])[-1]
        session, hand = f"/api/sessions/{key}", f"/api/hands/{end['hand']['link']}"
        for path in (session, f"{session}/hands", f"{session}/hands.jsonl", hand, "/api/policy", "/"):
            query = b"game=kuhn&bot=always-call" if path == "/api/policy" else b"before=3"
            self.add(
                {"method": b"GET", "path": path.encode(), "query": query, "body": b"", "host": HOST[0][1]}
            )
        self.add(
            {
                **{"method": b"POST", "path": b"/api/sessions", "query": b"", "host": HOST[0][1]},
                "body": b'{"game": "kuhn", "bots": ["always-call"]}',
            }
        )

    def mutate(self, random: Random, number: int) -> Mutant:
        files = dict(self.samples[number])
        part = random.choice([name for name in files if files[name]])
        files[part], how = mutate_any(random, files[part], WORDS)
        return Mutant(files, f"{part}: {how}", number)

    def read(self, mutant: Mutant) -> Any:
        method, path, query, body, host = (
            mutant.files[part] for part in ("method", "path", "query", "body", "host")
        )
        headers = (b"host", host), (b"origin", b"http://" + host)
        status, answer = self.server.request(method.decode("latin-1"), path, query, body, headers)
        if status >= 500:
            raise Finding(f"the server failed with status {status}: {answer[:200]!r}")
        if status >= 400:
            sentence = json.loads(answer or b"{}").get("error") if answer[:1] == b"{" else answer.decode()
            raise FeltError(sentence or f"status {status}")
        if status >= 300:
            raise FeltError("The browser is sent to another page.")
        if method != b"POST":
            return answer
        key = json.loads(answer)["session"]
        about = json.loads(self.server.request("GET", f"/api/sessions/{key}".encode(), b"", b"")[1])
        return about["game"], about["bots"]

    def rule(self, mutant: Mutant, content: Any) -> str:
        path = mutant.files["path"].decode("latin-1")
        if mutant.files["method"] == b"POST":
            wanted = json.loads(mutant.files["body"])
            if content != (load_game(wanted["game"]).name, wanted["bots"]):
                raise Finding("the session is not that of the request")
            return "another session, as requested"
        if path not in ("", "/") and not path.startswith(PATHS):
            raise Finding("the server documents no such path")
        return "another documented page, or another part of the same session"


def _state_of(answer: dict[str, Any]) -> Any:
    """What a window shows, without cards and seeds, which are drawn anew."""
    hand, upcoming = answer["hand"] or {}, answer["next"] or {}
    paid = tuple(seat["paid"] for seat in hand.get("seats", ()))
    return upcoming.get("number"), hand.get("number"), hand.get("step"), hand.get("over"), paid
