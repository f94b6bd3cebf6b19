"""The windows of all sessions: messages in; out, the state after each change, to all of a session."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from openfelt.core.errors import FeltError, MissingError
from openfelt.table.session.sessions import Tables
from openfelt.table.web.background import Desk

GONE, BROKEN = 4404, 1011  # with which a socket is closed: to no session, to one that cannot be opened
IS_GONE = (WebSocketDisconnect, RuntimeError, OSError)  # what it means to talk to such a window
PATIENCE = 5.0  # seconds that a window may take to read, before it is dropped


class Sockets:
    """Who looks at which session."""

    def __init__(self, tables: Desk[Tables]) -> None:
        self._ask = tables
        self._windows: defaultdict[str, set[WebSocket]] = defaultdict(set)
        self._closing: set[asyncio.Task[None]] = set()

    async def serve(self, socket: WebSocket) -> None:
        """One window, from its coming to its going."""
        key = socket.path_params["key"]
        await socket.accept()
        try:
            state = await self._ask(lambda tables: tables.state(key))
        except FeltError as error:
            await _send(socket, {"type": "error", "error": str(error), "request": None})
            await socket.close(GONE if isinstance(error, MissingError) else BROKEN)
            return
        self._windows[key].add(socket)
        try:
            await _send(socket, {**state, "request": None})
            while True:
                await self._answer(socket, key, await _text(socket))
        except WebSocketDisconnect:
            pass
        finally:
            self._windows[key].discard(socket)
            if not self._windows[key]:
                del self._windows[key]

    async def _answer(self, socket: WebSocket, key: str, text: str) -> None:
        request: object = None
        try:
            message = read_json(text)
            request = _echo(message.get("request"))
            await self._do(socket, key, message, request)
        except FeltError as error:
            await _send(socket, {"type": "error", "error": str(error), "request": request})

    async def _do(self, socket: WebSocket, key: str, message: dict[str, Any], request: object) -> None:
        wish, number = message.get("do"), message.get("hand")
        if wish == "state":
            state = await self._ask(lambda tables: tables.state(key))
            await _send(socket, {**state, "request": request})
            return
        if wish == "deal":
            state = await self._ask(lambda tables: tables.deal(key, number, message.get("nonce")))
        elif wish == "act":
            step, word = message.get("step"), message.get("action")
            state = await self._ask(lambda tables: tables.act(key, number, step, word))
        else:
            raise FeltError("A message says what to do: deal, act or state.")
        windows = list(self._windows[key])
        answers = [{**state, "request": request if window is socket else None} for window in windows]
        sent = await asyncio.gather(*map(_send, windows, answers))
        for window in [window for window, done in zip(windows, sent, strict=True) if not done]:
            self._drop(key, window)

    def _drop(self, key: str, window: WebSocket) -> None:
        """Wait no more for a window that does not read; it is closed once it does, and comes back."""
        self._windows[key].discard(window)
        closing = asyncio.create_task(_close(window))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)


def read_json(text: str) -> dict[str, Any]:
    """An object, or a sentence on what is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise FeltError("The message is no JSON.") from None
    if not isinstance(found, dict):
        raise FeltError("The message is no JSON object.")
    return found


def _echo(request: object) -> object:
    """What is given back of a request's mark."""
    return request if isinstance(request, str) and len(request) <= 100 else None


async def _text(socket: WebSocket) -> str:
    """The next message; one of bytes is taken as an empty one."""
    try:
        message = await socket.receive()
    except (RuntimeError, OSError):  # it was closed meanwhile
        raise WebSocketDisconnect from None
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    return message.get("text") or ""


async def _send(socket: WebSocket, message: dict[str, Any]) -> bool:
    """To a window that may be gone; False if it is stuck."""
    if socket.client_state is not WebSocketState.CONNECTED:
        return True
    try:
        await asyncio.wait_for(socket.send_text(json.dumps(message, separators=(",", ":"))), PATIENCE)
    except TimeoutError:
        return False
    except IS_GONE:
        pass
    return True


async def _close(socket: WebSocket) -> None:
    with suppress(*IS_GONE):
        await socket.close()
