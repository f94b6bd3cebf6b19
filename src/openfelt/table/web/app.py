"""The application: pages, the HTTP API, and the sockets of sessions (see docs/table.md)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles

from openfelt.core.errors import FeltError, FileError, MissingError
from openfelt.hands.record import HandRecord
from openfelt.hands.store import HandStore
from openfelt.table.drills.coach import DrillCoach
from openfelt.table.lobby.bot_pool import BotPool, parse_request
from openfelt.table.lobby.service import LobbyService
from openfelt.table.report.rating import rating_report
from openfelt.table.report.session_report import SessionReports
from openfelt.table.review.analyser import HandAnalyser
from openfelt.table.review.hand_spots import HandSpot
from openfelt.table.session.export import session_lines, session_phh
from openfelt.table.session.manager import SessionManager
from openfelt.table.session.session_store import HandRow, SessionStore
from openfelt.table.spectate.matches import Matches
from openfelt.table.spots.solves import BusyError, Limits, SpotSolves
from openfelt.table.web.access import AccessControl
from openfelt.table.web.bot_api import BotApi
from openfelt.table.web.drills import DrillRoutes
from openfelt.table.web.page_frame import PAGES, Page
from openfelt.table.web.players import PlayerControl, PlayerRoutes, player_of
from openfelt.table.web.preparation import BotPreparation
from openfelt.table.web.requests import query_number, read_message
from openfelt.table.web.sockets import SessionSockets
from openfelt.table.web.spectate import SpectateRoutes
from openfelt.table.web.spots import SpotRoutes
from openfelt.table.web.worker import BackgroundWorker

STATIC = Path(__file__).parent / "static"
STATUS = {FileError: 500, MissingError: 404, BusyError: 409}  # of a FeltError; 400 for all others
Handler = Callable[[Request], Awaitable[Response]]
StepAnswer = Callable[[HandAnalyser, HandRow, HandRecord, int], Any]


def make_app(
    database: Path,
    *,
    extra: tuple[str, ...] = (),
    token: str | None = None,
    limits: Limits | None = None,
    warm_up: bool = False,
    first: tuple[str, list[str]] | None = None,
    address: str | None = None,
) -> AccessControl:
    """The application on a session file.

    `extra` are bots that are offered besides the included ones; `limits` are those of the spot solver. With
    `warm_up` kernels of the review are compiled while the first hand of a session is played. `first` is the
    game and the bots that are prepared at once, before anyone asks. Other machines find the server at
    `address`.
    """
    sessions = BackgroundWorker("sessions", lambda: SessionManager(SessionStore(database), BotPool(extra)))
    lobby, policies, preparing, ahead = (
        BackgroundWorker(name, lambda: LobbyService(BotPool(extra)))
        for name in ("lobby", "policies", "warm-up", "ahead")  # apart, since only the lobby answers at once
    )
    analyser = BackgroundWorker("analyser", lambda: HandAnalyser(BotPool(extra)))
    reports = BackgroundWorker("reports", lambda: SessionReports(BotPool(extra)))
    coach = BackgroundWorker("drills", lambda: DrillCoach(BotPool(extra)))
    matches = BackgroundWorker("matches", lambda: Matches(BotPool(extra)))
    exports = BackgroundWorker("exports", lambda: HandStore(database))
    prepare = BotPreparation(preparing, ahead)
    sockets, solves = SessionSockets(sessions, prepare), SpotSolves(limits)
    api = _Api(sessions, lobby, policies, analyser, reports, exports, prepare, solves, warm_up=warm_up)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        first_lobby = asyncio.create_task(
            lobby(LobbyService.lobby)
        )  # so that the first visitor need not wait
        if first:
            prepare.begin(*first)
        yield
        first_lobby.cancel()
        solves.close()
        await exports(HandStore.close)
        await sessions(SessionManager.close)

    routes = [
        *(Route(page.path, _answer(page)) for page in PAGES),
        Route("/api/lobby", api.lobby),
        Route("/api/prepare", api.prepare, methods=["POST"]),
        Route("/api/sessions", api.begin, methods=["POST"]),
        Route("/api/rating", api.rating, methods=["POST"]),
        Route("/api/sessions/{key}", api.about),
        Route("/api/sessions/{key}/hands", api.hands),
        Route("/api/sessions/{key}/report", api.report),
        Route("/api/sessions/{key}/hands.phhs", api.all_phh),
        Route("/api/sessions/{key}/hands.jsonl", api.all_lines),
        Route("/api/hands/{link}", api.review),
        Route("/api/hands/{link}/losses", api.losses),
        Route("/api/hands/{link}/hand.phh", api.phh),
        Route("/api/hands/{link}/spot", api.spot),
        Route("/api/hands/{link}/ranges", api.ranges),
        Route("/api/policy", api.grid),
        Route("/api/policy/preflop", api.matrix),
        *SpotRoutes(solves).routes(),
        *DrillRoutes(sessions, coach).routes(),
        *SpectateRoutes(matches).routes(),
        *PlayerRoutes(sessions, shared=token is not None, address=address).routes(),
        WebSocketRoute("/ws/{key}", sockets.serve),
        WebSocketRoute("/bot/{version}", BotApi(sessions, prepare).serve),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    handlers: Any = {FeltError: _felt_error, 404: _not_found, 405: _not_allowed, 500: _server_error}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    return AccessControl(PlayerControl(app, sessions), token=token, token_page=STATIC / "token.html")


class _Api:
    """One method per route."""

    def __init__(
        self,
        sessions: BackgroundWorker[SessionManager],
        lobby: BackgroundWorker[LobbyService],
        policies: BackgroundWorker[LobbyService],
        analyser: BackgroundWorker[HandAnalyser],
        reports: BackgroundWorker[SessionReports],
        exports: BackgroundWorker[HandStore],
        prepare: BotPreparation,
        solves: SpotSolves,
        *,
        warm_up: bool,
    ) -> None:
        self._sessions, self._lobby, self._policies = sessions, lobby, policies
        self._analyser, self._exports, self._prepare = analyser, exports, prepare
        self._reports, self._solves, self._warm_up = reports, solves, warm_up
        self._warming: asyncio.Task[None] | None = None  # held, so that it is not collected

    async def lobby(self, _: Request) -> Response:
        return JSONResponse(await self._lobby(LobbyService.lobby))

    async def prepare(self, request: Request) -> Response:
        """Begin to prepare bots that were chosen in the lobby, without waiting for them."""
        wanted = await read_message(request)
        return JSONResponse({"ready": self._prepare.begin(wanted.get("game"), wanted.get("bots"))})

    async def begin(self, request: Request) -> Response:
        wanted = await read_message(request)
        game, bots = wanted.get("game"), wanted.get("bots")
        await self._prepare.deal(game, bots)
        player = player_of(request.headers)
        session = await self._sessions(lambda sessions: sessions.begin(game, bots, player))
        if self._warm_up:
            rules, names = parse_request(game, bots)
            warming = self._analyser(lambda analyser: analyser.warm_up(rules, names))
            self._warming = asyncio.create_task(warming)
        return JSONResponse({"session": session})

    async def about(self, request: Request) -> Response:
        key = request.path_params["key"]
        return JSONResponse(await self._sessions(lambda sessions: sessions.about(key)))

    async def hands(self, request: Request) -> Response:
        key, text = request.path_params["key"], request.query_params.get("before", "")
        before = int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else 1 << 60
        return JSONResponse(await self._sessions(lambda sessions: sessions.hands(key, before)))

    async def rating(self, request: Request) -> Response:
        """The rating of a person by the sessions whose ids it has."""
        wanted, player = await read_message(request), player_of(request.headers)
        played = await self._sessions(lambda sessions: sessions.played(wanted.get("sessions"), player))
        return JSONResponse(await self._reports(lambda _: rating_report(played, datetime.now(UTC))))

    async def report(self, request: Request) -> Response:
        key = request.path_params["key"]
        hands = await self._sessions(lambda sessions: sessions.finished(key))
        return JSONResponse(await self._reports(lambda reports: reports.report(hands)))

    async def all_phh(self, request: Request) -> Response:
        return _download(await self._export(request, session_phh), "hands.phhs")

    async def all_lines(self, request: Request) -> Response:
        return _download(await self._export(request, session_lines), "hands.jsonl")

    async def _export(self, request: Request, text: Callable[[HandStore, str], str]) -> str:
        key = request.path_params["key"]
        await self._sessions(lambda sessions: sessions.about(key))  # raises if there is no such session
        return await self._exports(lambda store: text(store, key))

    async def review(self, request: Request) -> Response:
        link, player = request.path_params["link"], player_of(request.headers)
        return JSONResponse(await self._sessions(lambda sessions: sessions.review(link, player)))

    async def losses(self, request: Request) -> Response:
        link = request.path_params["link"]
        row, record = await self._sessions(lambda sessions: sessions.linked(link))
        return JSONResponse(await self._analyser(lambda analyser: analyser.losses(row, record)))

    async def spot(self, request: Request) -> Response:
        found: HandSpot = await self._at_step(request, HandAnalyser.spot)
        key = None if found.strategy is None else self._solves.offer(found.strategy)
        bot = {"source": key, "player": found.player, "name": found.name}
        return JSONResponse({**found.form, "bot": bot if key else None})

    async def ranges(self, request: Request) -> Response:
        return JSONResponse(await self._at_step(request, HandAnalyser.ranges))

    async def _at_step(self, request: Request, answer: StepAnswer) -> Any:
        """What the analyser says of a step of a finished hand."""
        link, place = request.path_params["link"], query_number(request, "step")
        row, record = await self._sessions(lambda sessions: sessions.linked(link))
        return await self._analyser(lambda analyser: answer(analyser, row, record, place))

    async def phh(self, request: Request) -> Response:
        link = request.path_params["link"]
        return _download(await self._sessions(lambda sessions: sessions.phh(link)), "hand.phh")

    async def grid(self, request: Request) -> Response:
        game, bot = _game_and_bot(request)
        return JSONResponse(await self._policies(lambda policies: policies.grid(game, bot)))

    async def matrix(self, request: Request) -> Response:
        game, bot = _game_and_bot(request)
        line = [word for word in request.query_params.get("line", "").split(",") if word]
        return JSONResponse(await self._policies(lambda policies: policies.matrix(game, bot, line)))


def _game_and_bot(request: Request) -> tuple[str, str]:
    return request.query_params.get("game", ""), request.query_params.get("bot", "")


def _answer(page: Page) -> Handler:
    html = page.html()

    async def answer(_: Request) -> Response:
        return HTMLResponse(html)

    return answer


def _download(text: str, name: str) -> Response:
    return PlainTextResponse(text, headers={"Content-Disposition": f'attachment; filename="{name}"'})


async def _felt_error(_: Request, error: Exception) -> Response:
    status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 400)
    sentence = str(error).encode("utf-8", "replace").decode()  # a request may contain half a character
    return JSONResponse({"error": sentence}, status_code=status)


async def _not_found(request: Request, _: Exception) -> Response:
    return JSONResponse({"error": f"The path {request.url.path} does not exist."}, status_code=404)


async def _not_allowed(request: Request, _: Exception) -> Response:
    sentence = f"The path {request.url.path} does not support {request.method}."
    return JSONResponse({"error": sentence}, status_code=405)


async def _server_error(_: Request, error: Exception) -> Response:
    """An unexpected error; its details are printed by the server and not sent."""
    return JSONResponse({"error": "Internal error of the server; see its output."}, status_code=500)
