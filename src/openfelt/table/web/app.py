"""The application: pages, the API beside them, and a socket for each window (see docs/table.md)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles

from openfelt.core.errors import FeltError, FileError, MissingError
from openfelt.table.lobby.bots import Bots
from openfelt.table.lobby.guide import Guide
from openfelt.table.review.analyst import Analyst
from openfelt.table.session.session_store import SessionStore
from openfelt.table.session.sessions import Tables
from openfelt.table.web.background import Desk
from openfelt.table.web.guard import Guard
from openfelt.table.web.sockets import Sockets, read_json

STATIC = Path(__file__).parent / "static"
PAGES = {"/": "index.html", "/play/{key}": "play.html", "/hand/{link}": "hand.html", "/policy": "policy.html"}
BODY = 10_000  # bytes that a request may have
Handler = Callable[[Request], Awaitable[Response]]


def make_app(database: Path, *, extra: tuple[str, ...] = (), token: str | None = None) -> Guard:
    """The application on a database; `extra` are bots that may be played besides our own."""
    tables = Desk("tables", lambda: Tables(SessionStore(database), Bots(extra)))
    guide, analyst = Desk("guide", lambda: Guide(Bots(extra))), Desk("analyst", lambda: Analyst(Bots(extra)))
    api, sockets = _Api(tables, guide, analyst), Sockets(tables)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        first_lobby = asyncio.create_task(guide(Guide.lobby))  # so that nobody waits for it
        yield
        first_lobby.cancel()
        await tables(Tables.close)

    routes = [
        *(Route(path, _page(STATIC / name)) for path, name in PAGES.items()),
        Route("/api/lobby", api.lobby),
        Route("/api/sessions", api.begin, methods=["POST"]),
        Route("/api/sessions/{key}", api.about),
        Route("/api/sessions/{key}/hands", api.hands),
        Route("/api/sessions/{key}/hands.phhs", api.all_phh),
        Route("/api/sessions/{key}/hands.jsonl", api.all_lines),
        Route("/api/hands/{link}", api.review),
        Route("/api/hands/{link}/losses", api.losses),
        Route("/api/hands/{link}/hand.phh", api.phh),
        Route("/api/policy", api.grid),
        Route("/api/policy/preflop", api.matrix),
        WebSocketRoute("/ws/{key}", sockets.serve),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    faults: Any = {FeltError: _told, 404: _not_found, 405: _not_so, 500: _broken}
    app = Starlette(routes=routes, exception_handlers=faults, lifespan=lifespan)
    return Guard(app, token=token, ask=STATIC / "token.html")


class _Api:
    """One method a route."""

    def __init__(self, tables: Desk[Tables], guide: Desk[Guide], analyst: Desk[Analyst]) -> None:
        self._table, self._guide, self._analyst = tables, guide, analyst

    async def lobby(self, _: Request) -> Response:
        return JSONResponse(await self._guide(Guide.lobby))

    async def begin(self, request: Request) -> Response:
        asked = read_json((await _body(request)).decode("utf-8", "replace"))
        game, bots = asked.get("game"), asked.get("bots")
        await self._guide(lambda guide: guide.prepare(game, bots))
        return JSONResponse({"session": await self._table(lambda tables: tables.begin(game, bots))})

    async def about(self, request: Request) -> Response:
        key = request.path_params["key"]
        return JSONResponse(await self._table(lambda tables: tables.about(key)))

    async def hands(self, request: Request) -> Response:
        key, text = request.path_params["key"], request.query_params.get("before", "")
        before = int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else 1 << 60
        return JSONResponse(await self._table(lambda tables: tables.hands(key, before)))

    async def all_phh(self, request: Request) -> Response:
        key = request.path_params["key"]
        return _download(await self._table(lambda tables: tables.all_phh(key)), "hands.phhs")

    async def all_lines(self, request: Request) -> Response:
        key = request.path_params["key"]
        return _download(await self._table(lambda tables: tables.all_lines(key)), "hands.jsonl")

    async def review(self, request: Request) -> Response:
        link = request.path_params["link"]
        return JSONResponse(await self._table(lambda tables: tables.review(link)))

    async def losses(self, request: Request) -> Response:
        link = request.path_params["link"]
        row, record = await self._table(lambda tables: tables.linked(link))
        return JSONResponse(await self._analyst(lambda analyst: analyst.losses(row, record)))

    async def phh(self, request: Request) -> Response:
        link = request.path_params["link"]
        return _download(await self._table(lambda tables: tables.phh(link)), "hand.phh")

    async def grid(self, request: Request) -> Response:
        game, bot = _named(request)
        return JSONResponse(await self._guide(lambda guide: guide.grid(game, bot)))

    async def matrix(self, request: Request) -> Response:
        game, bot = _named(request)
        line = [word for word in request.query_params.get("line", "").split(",") if word]
        return JSONResponse(await self._guide(lambda guide: guide.matrix(game, bot, line)))


def _named(request: Request) -> tuple[str, str]:
    return request.query_params.get("game", ""), request.query_params.get("bot", "")


async def _body(request: Request) -> bytes:
    """Of a request that is not too large."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > BODY:
            raise FeltError("The request is too large.")
    return body


def _page(path: Path) -> Handler:
    async def page(_: Request) -> Response:
        return FileResponse(path)

    return page


def _download(text: str, name: str) -> Response:
    return PlainTextResponse(text, headers={"Content-Disposition": f'attachment; filename="{name}"'})


async def _told(_: Request, error: Exception) -> Response:
    status = 500 if isinstance(error, FileError) else 404 if isinstance(error, MissingError) else 400
    sentence = str(error).encode("utf-8", "replace").decode()  # halves of characters may be in a request
    return JSONResponse({"error": sentence}, status_code=status)


async def _not_found(request: Request, _: Exception) -> Response:
    return JSONResponse({"error": f"There is nothing at {request.url.path}."}, status_code=404)


async def _not_so(request: Request, _: Exception) -> Response:
    sentence = f"{request.url.path} cannot be asked for by {request.method}."
    return JSONResponse({"error": sentence}, status_code=405)


async def _broken(_: Request, error: Exception) -> Response:
    """What nobody foresaw; it is told on the server's screen, and here without what it may hold."""
    return JSONResponse({"error": "Something went wrong in the server."}, status_code=500)
