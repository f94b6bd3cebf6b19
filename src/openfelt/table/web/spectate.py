"""The routes of matches between bots (see docs/table.md)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openfelt.table.spectate.matches import Matches
from openfelt.table.web.requests import query_number, read_message
from openfelt.table.web.worker import BackgroundWorker


class SpectateRoutes:
    """One method per route."""

    def __init__(self, matches: BackgroundWorker[Matches]) -> None:
        self._matches = matches

    def routes(self) -> list[Route]:
        """All routes."""
        return [
            Route("/api/matches", self.begin, methods=["POST"]),
            Route("/api/matches/{key}/next", self.next, methods=["POST"]),
            Route("/api/matches/{key}/ranges", self.ranges),
        ]

    async def begin(self, request: Request) -> Response:
        wanted = await read_message(request)
        game, bots = wanted.get("game"), wanted.get("bots")
        return JSONResponse(await self._matches(lambda matches: matches.begin(game, bots)))

    async def next(self, request: Request) -> Response:
        key = request.path_params["key"]
        return JSONResponse(await self._matches(lambda matches: matches.next_hand(key)))

    async def ranges(self, request: Request) -> Response:
        key, number, step = (
            request.path_params["key"],
            query_number(request, "hand"),
            query_number(request, "step"),
        )
        return JSONResponse(await self._matches(lambda matches: matches.step_ranges(key, number, step)))
