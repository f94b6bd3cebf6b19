"""A little client of the table, and servers to play at: what the tests of the table share."""

from __future__ import annotations

import hashlib
import http.client
import itertools
import json
import random
import secrets
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from websockets.sync.client import connect

from openfelt.table.web.app import make_app
from openfelt.table.web.server import LARGEST_MESSAGE, bind

PATIENCE = 60.0  # seconds, for what should come at once
HIDDEN = "??"
SIGNS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}


# Fair dealing in the words of the documentation; shares no code with the product.


def new_nonce():
    """What a browser draws."""
    return secrets.token_hex(16)


def plain_deck(game: str) -> list[str]:
    """Of the games with the usual cards."""
    if game.startswith("holdem"):
        return [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    if game.startswith("kuhn"):
        return list("JQKA" if "players=3" in game else "JQK")
    return list("JJQQKKAA" if "ranks=4" in game else "JJQQKK")


def plain_shuffle(deck: list[str], seed: str, nonce: str) -> list[str]:
    """The shuffle by seed and nonce."""
    words: list[int] = []
    blocks = itertools.count()

    def draw(n: int) -> int:
        while True:
            if not words:
                block = hashlib.sha256(f"{seed}:{nonce}:{next(blocks)}".encode()).digest()
                words.extend(struct.unpack(">8I", block))
            word = words.pop(0)
            if word < 2**32 - 2**32 % n:
                return word % n

    cards = list(deck)
    for place in range(len(cards) - 1):
        other = place + draw(len(cards) - place)
        cards[place], cards[other] = cards[other], cards[place]
    return cards


def plain_commitment(seed: str) -> str:
    return hashlib.sha256(bytes.fromhex(seed)).hexdigest()


def fair_cards(game: str, seats: list[dict[str, Any]], board: list[str], seed: str, nonce: str) -> bool:
    """Whether all cards on a table are those of the shuffle."""
    deck = plain_shuffle(plain_deck(game), seed, nonce)
    hole = 2 if game.startswith("holdem") else 1
    hands = [deck[hole * seat : hole * (seat + 1)] for seat in range(len(seats))]
    rest = deck[hole * len(seats) :]
    return [seat["cards"] for seat in seats] == hands and board == rest[: len(board)]


def secrets_of(state: dict[str, Any]) -> list[str]:
    """What only the server may know before this end of a hand: texts to look for in what it sent before."""
    hand = state["hand"]
    texts = [hand["seed"], hand["link"]]
    for seat in hand["seats"]:
        if not seat["you"] and len(seat["cards"][0]) == 2:  # ranks alone are everywhere
            for card in seat["cards"]:
                sign = card[0] + SIGNS[card[1]]
                texts += [f'"{card}"', sign, json.dumps(sign)[1:-1]]
    return texts


# Servers


def _heed_ctrl_c() -> None:
    """Whoever runs the tests in the background ignores it, and so would the server."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Server:
    """Where a table is."""

    def __init__(
        self, url: str, process: subprocess.Popen[bytes] | None = None, log: Path | None = None
    ) -> None:
        self.url, self.process, self.log = url, process, log
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "", parts.port or 0

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """One request, as it stands: status, headers by their names in lower case, body."""
        given = {"Host": f"{self.host}:{self.port}", **(headers or {})}
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in given.items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read()
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> tuple[int, Any]:
        """Status, and what the JSON says."""
        status, _, body = self.ask("GET", path, headers=headers)
        return status, json.loads(body)

    def begin(self, game: str, *bots: str) -> str:
        """A new session."""
        status, _, body = self.ask("POST", "/api/sessions", json.dumps({"game": game, "bots": bots}).encode())
        assert status == 200, body
        return str(json.loads(body)["session"])

    def said(self) -> bytes:
        """All that the process has printed."""
        return self.log.read_bytes() if self.log else b""

    def kill(self) -> None:
        """Without a warning."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def thread_server(database: Path, **options: Any) -> Iterator[Server]:
    """The server in this process, so that tests can reach into it."""
    listening = bind("127.0.0.1", 0)
    app = make_app(database, **options)
    config = uvicorn.Config(app, log_level="critical", access_log=False, ws_max_size=LARGEST_MESSAGE)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{listening.getsockname()[1]}")
    finally:
        server.should_exit = True
        thread.join()


def felt_play(database: Path, *words: str) -> list[str]:
    """The command line of a server."""
    begin = [sys.executable, "-m", "openfelt", "play", "--no-browser", "--json"]
    return [*begin, "--database", str(database), *(words if "--port" in words else ("--port", "0", *words))]


WITHOUT_LOBBY = """
import sys
from openfelt.cli.app import main
from openfelt.table.lobby.service import LobbyService
from openfelt.table.web.preparation import BotPreparation
LobbyService.lobby = lambda _: {"games": []}
BotPreparation.begin = lambda *_: False
sys.exit(main())
"""


@contextmanager
def process_server(database: Path, *more: str, lobby: bool = True) -> Iterator[Server]:
    """The server as its users start it; what it prints goes to a file beside the database.

    The lobby and the bots that are prepared ahead take seconds, in which nobody need wait who does not use
    them.
    """
    log, words = database.with_suffix(f".{time.time_ns()}.log"), felt_play(database, *more)
    if not lobby:
        words[1:3] = ["-c", WITHOUT_LOBBY]
    with log.open("wb") as out:
        process = subprocess.Popen(words, stdout=out, stderr=out, preexec_fn=_heed_ctrl_c)
    try:
        until(lambda: log.read_bytes().endswith(b"}\n") or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield Server(json.loads(log.read_text())["url"], process, log)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(PATIENCE)


def until(met: Callable[[], bool]) -> None:
    """Wait for it."""
    end = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)


# Playing


class Window:
    """A window of a session: everything that came is kept, as it came."""

    def __init__(self, server: Server, session: str, **options: Any) -> None:
        self.session, self.came = session, list[str]()
        self._requests = itertools.count()
        self._stack = ExitStack()
        address = f"ws://{server.host}:{server.port}/ws/{session}"
        self.socket = self._stack.enter_context(connect(address, **options))
        self.state = self.next()

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def hand(self) -> dict[str, Any]:
        return dict(self.state["hand"])

    def next(self) -> dict[str, Any]:
        """The next message."""
        text = self.socket.recv(PATIENCE)
        assert isinstance(text, str)
        self.came.append(text)
        found: dict[str, Any] = json.loads(text)
        if found["type"] == "state":
            self.state = found
        return found

    def send(self, message: str | bytes | dict[str, Any]) -> None:
        self.socket.send(message if isinstance(message, str | bytes) else json.dumps(message))

    def ask(self, **message: Any) -> dict[str, Any]:
        """A message, and the answer to it."""
        mark = f"r{next(self._requests)}"
        self.send({**message, "request": mark})
        while (answer := self.next())["request"] != mark:
            pass
        return answer

    def deal(self, nonce: str | None = None) -> dict[str, Any]:
        """The next hand."""
        number = self.state["next"]["number"]
        return self.ask(do="deal", hand=number, nonce=nonce or new_nonce())

    def act(self, word: str) -> dict[str, Any]:
        return self.ask(do="act", hand=self.hand["number"], step=self.hand["step"], action=word)

    def act_somehow(self, dice: random.Random) -> dict[str, Any]:
        """Any action; folding is made rare, so that hands get long."""
        words = [action["word"] for action in self.hand["actions"]]
        if words[0] == "fold" and dice.random() < 0.8:
            words = words[1:]
        return self.act(dice.choice(words))

    def play_on(self, dice: random.Random) -> dict[str, Any]:
        """The hand that is on, to its end."""
        while not self.hand["over"]:
            assert self.act_somehow(dice)["type"] == "state"
        return self.state
