"""The sockets of all sessions: they receive messages, and send the state to all windows of a session."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from openfelt.core.errors import FeltError, MissingError
from openfelt.table.session.manager import SessionManager
from openfelt.table.web.preparation import BotPreparation
from openfelt.table.web.requests import read_json
from openfelt.table.web.worker import BackgroundWorker

NO_SESSION, CANNOT_OPEN = 4404, 1011  # codes with which a socket is closed
DISCONNECTED = (WebSocketDisconnect, RuntimeError, OSError)  # raised when sending to a closed window
SEND_TIMEOUT = 5.0  # seconds, after which a window is dropped


class SessionSockets:
    """The open windows, by session."""

    def __init__(self, sessions: BackgroundWorker[SessionManager], prepare: BotPreparation) -> None:
        self._sessions, self._prepare = sessions, prepare
        self._windows: defaultdict[str, set[WebSocket]] = defaultdict(set)
        self._closing: set[asyncio.Task[None]] = set()

    async def serve(self, socket: WebSocket) -> None:
        """Serve one window until it closes."""
        key = socket.path_params["key"]
        await socket.accept()
        try:
            about = await self._sessions(lambda sessions: sessions.about(key))
            bots = about["game"], list(about["bots"])
            is_new = await self._sessions(lambda sessions: sessions.is_new(key))
            await (self._prepare.deal if is_new else self._prepare)(*bots)
            state = await self._sessions(lambda sessions: sessions.state(key))
        except FeltError as error:
            code = NO_SESSION if isinstance(error, MissingError) else CANNOT_OPEN
            return await refuse(socket, code, str(error))
        self._windows[key].add(socket)
        try:
            await send(socket, {**state, "request": None})
            while True:
                await self._answer(socket, key, await next_text(socket), bots)
        except WebSocketDisconnect:
            pass
        except FeltError as error:
            await refuse(socket, CANNOT_OPEN, str(error))
        finally:
            self._windows[key].discard(socket)
            if not self._windows[key]:
                del self._windows[key]

    async def _answer(self, socket: WebSocket, key: str, text: str, bots: tuple[str, list[str]]) -> None:
        request: object = None
        try:
            message = read_json(text)
            request = echo(message.get("request"))
            if message.get("do") == "act":  # until then the bots take first actions only
                await self._prepare(*bots)
            await self._execute(socket, key, message, request)
        except FeltError as error:
            await send(socket, {"type": "error", "error": str(error), "request": request})

    async def _execute(self, socket: WebSocket, key: str, message: dict[str, Any], request: object) -> None:
        command, number = message.get("do"), message.get("hand")
        if command == "state":
            state = await self._sessions(lambda sessions: sessions.state(key))
            await send(socket, {**state, "request": request})
            return
        if command == "deal":
            state = await self._sessions(lambda sessions: sessions.deal(key, number, message.get("nonce")))
        elif command == "act":
            step, word = message.get("step"), message.get("action")
            state = await self._sessions(lambda sessions: sessions.act(key, number, step, word))
        else:
            raise FeltError('A message needs a "do": deal, act or state.')
        windows = list(self._windows[key])
        answers = [{**state, "request": request if window is socket else None} for window in windows]
        sent = await asyncio.gather(*map(send, windows, answers))
        for window in [window for window, done in zip(windows, sent, strict=True) if not done]:
            self._drop(key, window)

    def _drop(self, key: str, window: WebSocket) -> None:
        """Drop a window that does not read. It is closed once it reads again, and then reconnects."""
        self._windows[key].discard(window)
        closing = asyncio.create_task(close(window))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)


def echo(request: object) -> object:
    """The request id to return, if it is a short text."""
    return request if isinstance(request, str) and len(request) <= 100 else None


async def next_text(socket: WebSocket) -> str:
    """The next message; a binary one counts as empty."""
    try:
        message = await socket.receive()
    except (RuntimeError, OSError):  # closed meanwhile
        raise WebSocketDisconnect from None
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    return message.get("text") or ""


async def send(socket: WebSocket, message: dict[str, Any]) -> bool:
    """Send to a window that may be closed; False if it does not read."""
    if socket.client_state is not WebSocketState.CONNECTED:
        return True
    try:
        await asyncio.wait_for(socket.send_text(json.dumps(message, separators=(",", ":"))), SEND_TIMEOUT)
    except TimeoutError:
        return False
    except DISCONNECTED:
        pass
    return True


async def close(socket: WebSocket, code: int = 1000) -> None:
    """Close a socket that may be closed already."""
    with suppress(*DISCONNECTED):
        await socket.close(code)


async def refuse(socket: WebSocket, code: int, sentence: str) -> None:
    """Say why, and close a socket."""
    await send(socket, {"type": "error", "error": sentence, "request": None})
    await close(socket, code)
