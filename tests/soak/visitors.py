"""The visitors: they begin sessions, play, leave, come back, and keep what they were told."""

from __future__ import annotations

import asyncio
import http.client
import json
import random
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from soak.clock import SimulatedClock, WallClock
from soak.ledger import Ledger, Table
from soak.server import PATIENCE, Server

THINK, STAY, AWAY = 6.0, 1_500.0, 3_600.0  # seconds in the mean: a decision, a visit, between visits
RETURNS = 0.4  # share of visits that continue an earlier session
DOUBLE_CLICKS = 0.03  # share of messages that are sent twice
DOWNLOADS = 0.2  # share of visits that end with a download of all hands
AFTER_ERROR = 30.0  # seconds until a visitor tries again
STORAGE = {"was deleted or replaced": "file deleted", "could not be used": "disk full"}
GAMES = (
    ("kuhn", ("equilibrium",)),
    ("leduc", ("random",)),
    ("kuhn(players=3)", ("always-raise", "random")),
    ("holdem", ("default",)),
    ("holdem", ("always-call",)),
    ("holdem(players=3)", ("chen", "random")),
)
LOST = (OSError, WebSocketException, http.client.HTTPException)  # the server is gone or refuses
INTRUSIONS: tuple[tuple[str, str, dict[str, str], int], ...] = (
    ("GET", "/api/lobby", {"Sec-Fetch-Site": "cross-site"}, 403),
    ("GET", "/api/policy?game=leduc&bot=equilibrium", {"Sec-Fetch-Site": "same-site"}, 403),
    ("GET", "/", {"Host": "elsewhere.example"}, 403),
    ("POST", "/api/sessions", {"Origin": "http://elsewhere.example"}, 403),
    ("POST", "/api/sessions", {}, 400),
    ("GET", "/api/sessions/none", {}, 404),
)


class StorageError(Exception):
    """The server said that it cannot save; nothing was done."""


class Visitor:
    """One person, who plays one session at a time."""

    def __init__(
        self, server: Server, clock: SimulatedClock, wall: WallClock, ledger: Ledger, seed: str
    ) -> None:
        self._server, self._clock, self._wall, self._ledger = server, clock, wall, ledger
        self._dice = random.Random(seed)
        self._sessions: list[str] = []
        self._nonces: dict[tuple[str, int], str] = {}
        self._messages = 0

    async def visit(self) -> None:
        """Come, play and leave, again and again."""
        await self._clock.sleep(self._dice.uniform(0, AWAY / 2))
        while True:
            try:
                returns = self._sessions and self._dice.random() < RETURNS
                session = self._dice.choice(self._sessions) if returns else await self._begin()
            except (*LOST, StorageError):
                await self._clock.sleep(AFTER_ERROR)
                continue
            self._ledger.traffic["visits"] += 1
            await self._sit(session, self._clock.now + self._dice.expovariate(1 / STAY))
            if self._dice.random() < DOWNLOADS:
                await self._download(session)
            await self._clock.sleep(self._dice.expovariate(1 / AWAY))

    async def _begin(self) -> str:
        game, bots = self._dice.choice(GAMES)
        before, deleted = self._wall.now, self._server.deleted_at
        body = json.dumps({"game": game, "bots": bots}).encode()
        status, answer = await request(self._server, "POST", "/api/sessions", body)
        if status != 200:
            self._storage_error(json.loads(answer)["error"])
        session = str(json.loads(answer)["session"])
        if deleted is not None:
            self._ledger.violation(f"{session} was begun after a file was deleted")
        self._ledger.tables[session] = Table(game)
        self._ledger.begun[session] = (before, self._wall.now)
        self._sessions.append(session)
        self._ledger.traffic["sessions"] += 1
        return session

    async def _sit(self, session: str, leaves: float) -> None:
        address = f"ws://127.0.0.1:{self._server.port}/ws/{session}"
        while self._clock.now < leaves:
            try:
                async with connect(address, compression=None, open_timeout=PATIENCE) as socket:
                    await self._play(socket, session, leaves)
            except TimeoutError:
                self._ledger.violation(f"{session}: no answer within {PATIENCE:.0f} seconds")
                await self._clock.sleep(AFTER_ERROR)
            except StorageError:
                await self._clock.sleep(AFTER_ERROR)
            except LOST:
                self._ledger.traffic["connections lost"] += 1
                await self._clock.sleep(self._dice.uniform(1, 10))

    async def _play(self, socket: ClientConnection, session: str, leaves: float) -> None:
        state = self._taken(session, await _message(socket))
        self._ledger.playing += 1
        try:
            while self._clock.now < leaves:
                await self._clock.sleep(self._dice.expovariate(1 / THINK))
                try:
                    state = await self._ask(socket, session, self._wish(session, state))
                except StorageError:
                    await self._clock.sleep(AFTER_ERROR)
                    state = await self._ask(socket, session, {"do": "state"})
        finally:
            self._ledger.playing -= 1

    def _wish(self, session: str, state: dict[str, Any]) -> dict[str, Any]:
        if state["next"]:
            number = state["next"]["number"]
            nonce = self._nonces.setdefault((session, number), f"{self._dice.getrandbits(128):032x}")
            return {"do": "deal", "hand": number, "nonce": nonce}
        hand = state["hand"]
        words = [action["word"] for action in hand["actions"]]
        if words[0] == "fold" and self._dice.random() < 0.7:
            words = words[1:]  # longer hands
        word = self._dice.choice(words)
        return {"do": "act", "hand": hand["number"], "step": hand["step"], "action": word}

    async def _ask(self, socket: ClientConnection, session: str, wish: dict[str, Any]) -> dict[str, Any]:
        """Send a message, now and then twice; the state that came back."""
        is_change, deleted = wish["do"] != "state", self._server.deleted_at
        times = 2 if is_change and self._dice.random() < DOUBLE_CLICKS else 1
        marks = [f"{self._messages + place}" for place in range(times)]
        self._messages += times
        for mark in marks:
            await socket.send(json.dumps({**wish, "request": mark}))
        answers = {}
        while len(answers) < times:
            answer = await _message(socket)
            answers[answer["request"]] = answer
        self._ledger.traffic["messages"] += times
        states = [answer for answer in answers.values() if answer["type"] == "state"]
        if is_change and len(states) > 1:
            self._ledger.violation(f"{session}: a message sent twice counted twice")
        if is_change and states and deleted is not None:
            self._ledger.violation(f"{session}: acknowledged after a file was deleted")
        if times == 2 and states:
            self._ledger.refusals["message sent twice"] += 1
        return self._taken(session, states[0] if states else answers[marks[0]])

    def _taken(self, session: str, answer: dict[str, Any]) -> dict[str, Any]:
        """A state that came; raises StorageError if it is an error of the file."""
        if answer["type"] == "error":
            self._storage_error(answer["error"])
        self._ledger.told(session, answer)
        return answer

    def _storage_error(self, sentence: str) -> None:
        """Raise; any other error was not deserved."""
        kind = next((kind for words, kind in STORAGE.items() if words in sentence), None)
        if kind is None:
            self._ledger.violation(f"unexpected error: {sentence}")
        self._ledger.refusals[kind or "unexpected"] += 1
        raise StorageError(sentence)

    async def _download(self, session: str) -> None:
        try:
            status, text = await request(self._server, "GET", f"/api/sessions/{session}/hands.jsonl")
        except LOST:
            return
        if status != 200:
            return self._ledger.violation(f"{session}: a download failed ({text.decode()})")
        found = {hand["number"]: tuple(hand["won"]) for hand in map(json.loads, text.splitlines())}
        for number, end in self._ledger.tables[session].ends.items():
            if found.get(number) != end.won:
                self._ledger.violation(f"{session}, hand {number}: not as told in the download")
        self._ledger.traffic["downloads"] += 1


async def intrude(server: Server, clock: SimulatedClock, ledger: Ledger, dice: random.Random) -> None:
    """Requests of foreign pages and other programs, which must be refused."""
    while True:
        await clock.sleep(dice.expovariate(1 / 600))
        method, path, headers, expected = dice.choice(INTRUSIONS)
        try:
            status, _ = await request(server, method, path, b"{}" if method == "POST" else None, headers)
        except LOST:
            continue
        if status != expected:
            ledger.violation(f"{method} {path} with {headers} was answered with {status}")
        ledger.refusals["foreign or invalid request"] += 1


async def request(
    server: Server, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    """One HTTP request: status and body."""

    def ask() -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    return await asyncio.to_thread(ask)


async def _message(socket: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        found: dict[str, Any] = json.loads(await socket.recv())
    return found
