"""People who share a server: each can take a name, and nobody else opens the sessions of a name."""

from __future__ import annotations

import re
import secrets

from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from openfelt.core.errors import FeltError, MissingError
from openfelt.table.session.manager import SessionManager
from openfelt.table.session.player_store import player_id
from openfelt.table.web.guesses import AddressLimit
from openfelt.table.web.requests import read_body, read_json
from openfelt.table.web.sockets import CANNOT_OPEN, NO_SESSION, refuse
from openfelt.table.web.worker import BackgroundWorker

COOKIE = "felt_player"
KEY_BYTES = 32
MAX_AGE = 5 * 365 * 24 * 3600  # seconds
MOST_NEW_NAMES, NAMES_PERIOD = 20, 3600.0  # of one address; seconds
TOO_MANY_NAMES = f"There were {MOST_NEW_NAMES} new names from this address within an hour; try again later."
KEY = re.compile(r"[A-Za-z0-9_-]{43}")
OF_SESSION = re.compile(r"/(?:api/sessions|ws)/([^/]+)")  # what only the player may request


def player_of(headers: Headers) -> str | None:
    """The player whose key a request has; it may have no name yet."""
    key = _key(headers)
    return player_id(key) if key else None


def _key(headers: Headers) -> str | None:
    key = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
    return key if KEY.fullmatch(key) else None


class PlayerControl:
    """Wraps the application: what is requested of a session must be requested by its player."""

    def __init__(self, app: ASGIApp, sessions: BackgroundWorker[SessionManager]) -> None:
        self._app, self._sessions = app, sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = OF_SESSION.match(scope["path"]) if scope["type"] in ("http", "websocket") else None
        if found:
            key, player = found[1], player_of(Headers(scope=scope))
            try:
                await self._sessions(lambda sessions: sessions.require_own(key, player))
            except FeltError as error:
                is_missing = isinstance(error, MissingError)  # otherwise the file cannot be read
                if scope["type"] == "http":
                    answer = JSONResponse({"error": str(error)}, 404 if is_missing else 500)
                    return await answer(scope, receive, send)
                socket = WebSocket(scope, receive, send)
                await socket.accept()
                return await refuse(socket, NO_SESSION if is_missing else CANNOT_OPEN, str(error))
        await self._app(scope, receive, send)


class PlayerRoutes:
    """Who is asking, and taking a name."""

    def __init__(
        self, sessions: BackgroundWorker[SessionManager], *, shared: bool, address: str | None
    ) -> None:
        self._sessions = sessions
        self._facts = {"shared": shared, "address": address}
        self._new_names = AddressLimit(most=MOST_NEW_NAMES, period=NAMES_PERIOD)

    def routes(self) -> list[Route]:
        return [
            Route("/api/player", self.player),
            Route("/api/player", self.take_name, methods=["POST"]),
        ]

    async def player(self, request: Request) -> Response:
        found = player_of(request.headers)
        return JSONResponse({**self._facts, **await self._sessions(lambda sessions: sessions.player(found))})

    async def take_name(self, request: Request) -> Response:
        """Take a name. It belongs to the key in the answer's cookie; a player that has a name is renamed.

        New names are limited for each address, since a client that drops its cookies could otherwise take all
        names of the server.
        """
        wanted = read_json((await read_body(request)).decode("utf-8", "replace")).get("name")
        key = _key(request.headers) or secrets.token_urlsafe(KEY_BYTES)
        player, client = player_id(key), request.client.host if request.client else ""

        def take(sessions: SessionManager) -> bool:  # at once: no other request comes between
            is_new = not sessions.player(player)["name"]
            if is_new and self._new_names.is_reached(client):
                return False
            sessions.take_name(player, wanted)
            if is_new:
                self._new_names.add(client, player)
            return True

        if not await self._sessions(take):
            return JSONResponse({"error": TOO_MANY_NAMES}, 429)
        found = await self._sessions(lambda sessions: sessions.player(player))
        answer = JSONResponse({**self._facts, **found})
        answer.set_cookie(COOKIE, key, httponly=True, samesite="strict", max_age=MAX_AGE)
        return answer
