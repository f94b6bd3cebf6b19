"""The bot API: programs play matches against the server's bots over a socket (see docs/bot-api.md)."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from openfelt.core.errors import FeltError
from openfelt.table.session.fair_dealing import NONCE_BYTES
from openfelt.table.session.manager import SessionManager, is_id
from openfelt.table.session.program_state import program_state
from openfelt.table.web.preparation import BotPreparation
from openfelt.table.web.requests import read_json
from openfelt.table.web.sockets import echo, next_text, refuse, send
from openfelt.table.web.worker import BackgroundWorker

VERSION = "v1"
MOST_PROGRAMS = 100  # connected at once
MOST_PER_SECOND = 100  # answers to one program; more requests wait
LONGEST_PAUSE = 600.0  # seconds without a request, after which a program is disconnected
BAD_VERSION, TOO_MANY, IDLE = 4400, 4429, 4408  # codes with which a socket is closed


class BotApi:
    """Serves programs. Every request is answered once, in order."""

    def __init__(self, sessions: BackgroundWorker[SessionManager], prepare: BotPreparation) -> None:
        self._sessions, self._prepare = sessions, prepare
        self._programs = 0

    async def serve(self, socket: WebSocket) -> None:
        """Serve one program until it leaves."""
        await socket.accept()
        version = socket.path_params["version"]
        if version != VERSION:
            sentence = f"This server speaks version {VERSION[1:]} of the bot API; connect to /bot/{VERSION}."
            return await refuse(socket, BAD_VERSION, sentence)
        if self._programs >= MOST_PROGRAMS:
            sentence = f"{MOST_PROGRAMS} programs are connected already; try again later."
            return await refuse(socket, TOO_MANY, sentence)
        self._programs += 1
        try:
            await _Match(socket, self._sessions, self._prepare).play()
        except WebSocketDisconnect:
            pass
        except TimeoutError:
            sentence = f"No request came for {LONGEST_PAUSE:g} seconds; connect again and resume the match."
            await refuse(socket, IDLE, sentence)
        finally:
            self._programs -= 1


class _Match:
    """The requests of one connection, and the match that it plays."""

    def __init__(
        self, socket: WebSocket, sessions: BackgroundWorker[SessionManager], prepare: BotPreparation
    ) -> None:
        self._socket, self._sessions, self._prepare = socket, sessions, prepare
        self._key: str | None = None  # of the session that is played

    async def play(self) -> None:
        """Answer until the program leaves; raises TimeoutError if it sends nothing for long."""
        now = asyncio.get_running_loop().time
        free = now()  # when the next answer may be sent
        while True:
            text = await asyncio.wait_for(next_text(self._socket), LONGEST_PAUSE)
            await asyncio.sleep(free - now())
            answer = await self._answer(text)
            free = now() + 1 / MOST_PER_SECOND
            if not await send(self._socket, answer):
                raise WebSocketDisconnect  # it does not read

    async def _answer(self, text: str) -> dict[str, Any]:
        request: object = None
        try:
            message = read_json(text)
            request = echo(message.get("request"))
            command = message.get("do")
            if command == "begin":
                found = await self._begin(message)
            elif command == "resume":
                found = await self._resume(message)
            elif command in ("deal", "act", "state"):
                found = await self._play(command, message)
            else:
                raise FeltError('A message needs a "do": begin, resume, deal, act or state.')
        except FeltError as error:
            return {"type": "error", "error": str(error), "request": request}
        return {**found, "request": request}

    async def _begin(self, message: dict[str, Any]) -> dict[str, Any]:
        game, bots = message.get("game"), message.get("bots")
        await self._prepare(game, bots)
        self._key = key = await self._sessions(lambda sessions: sessions.begin(game, bots))
        return await self._sessions(lambda sessions: sessions.state(key, program_state))

    async def _resume(self, message: dict[str, Any]) -> dict[str, Any]:
        key = message.get("match")
        if not is_id(key):
            raise FeltError('To resume, give the id of the match: {"do": "resume", "match": ID}.')
        await self._sessions(lambda sessions: sessions.require_own(key, None))
        about = await self._sessions(lambda sessions: sessions.about(key))
        await self._prepare(about["game"], list(about["bots"]))
        found = await self._sessions(lambda sessions: sessions.state(key, program_state))
        self._key = key
        return found

    async def _play(self, command: str, message: dict[str, Any]) -> dict[str, Any]:
        key, number = self._key, message.get("hand")
        if key is None:
            raise FeltError("No match is being played; begin or resume one.")
        if command == "deal":
            nonce = message.get("nonce", secrets.token_hex(NONCE_BYTES))
            return await self._sessions(lambda sessions: sessions.deal(key, number, nonce, program_state))
        if command == "act":
            step, word = message.get("step"), message.get("action")
            return await self._sessions(lambda sessions: sessions.act(key, number, step, word, program_state))
        return await self._sessions(lambda sessions: sessions.state(key, program_state))
