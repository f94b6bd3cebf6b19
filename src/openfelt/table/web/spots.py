"""The routes of the spot solver (see docs/spots-browser.md)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from openfelt.core.errors import FeltError
from openfelt.table.spots.form import range_json, read_form
from openfelt.table.spots.solves import BusyError, SpotSolves
from openfelt.table.web.requests import read_body, read_json, save_body
from openfelt.table.web.worker import BackgroundWorker

LARGEST_FORM = 200_000  # bytes: two ranges of 1,326 weighted combinations, and locks
LONGEST_LINE = 1_000  # characters
MOST_WAITING = 20  # requests


class SpotRoutes:
    """One method per route. Forms are checked in one thread, solutions are read in another."""

    def __init__(self, solves: SpotSolves) -> None:
        self._solves = solves
        self._forms = BackgroundWorker("spot-forms", lambda: solves)
        self._solutions = BackgroundWorker("spot-solutions", lambda: solves)
        self._waiting, self._is_loading = 0, False

    def routes(self) -> list[Route]:
        """All routes."""
        one = "/api/spot/solves/{key}"
        return [
            Route("/api/spot/range", self.range, methods=["POST"]),
            Route("/api/spot/check", self.check, methods=["POST"]),
            Route("/api/spot/solves", self.start, methods=["POST"]),
            Route("/api/spot/solutions", self.load, methods=["POST"]),
            Route(one, self.status),
            Route(f"{one}/solution.zip", self.save),
            Route(f"{one}/compare", self.compare),
            Route(f"{one}/stop", self.stop, methods=["POST"]),
            Route(f"{one}/position", self.position),
            Route(f"{one}/runouts", self.runouts),
        ]

    async def range(self, request: Request) -> Response:
        message = await _message(request)
        return await self._ask(self._forms, lambda _: range_json(message))

    async def check(self, request: Request) -> Response:
        message = await _message(request)
        return await self._ask(self._forms, lambda solves: solves.check(read_form(message)))

    async def start(self, request: Request) -> Response:
        message = await _message(request)
        return await self._ask(self._forms, lambda solves: {"solve": solves.start(read_form(message))})

    async def status(self, request: Request) -> Response:
        return JSONResponse(self._solves.status(request.path_params["key"]))

    async def stop(self, request: Request) -> Response:
        self._solves.stop(request.path_params["key"])
        return JSONResponse(self._solves.status(request.path_params["key"]))

    async def position(self, request: Request) -> Response:
        key, line = _key_and_line(request)
        return await self._ask(self._solutions, lambda solves: solves.position(key, line))

    async def runouts(self, request: Request) -> Response:
        key, line = _key_and_line(request)
        return await self._ask(self._solutions, lambda solves: solves.runouts(key, line))

    async def compare(self, request: Request) -> Response:
        key, line = _key_and_line(request)
        other = request.query_params.get("other", "")
        return await self._ask(self._solutions, lambda solves: solves.compare(key, other, line))

    async def save(self, request: Request) -> Response:
        """The solution as a file to download."""
        key = request.path_params["key"]
        path = _temporary_file()
        try:
            await self._ask(self._solutions, lambda solves: solves.save(key, path))
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return FileResponse(
            path,
            media_type="application/zip",
            filename="solution.zip",
            background=BackgroundTask(path.unlink, missing_ok=True),
        )

    async def load(self, request: Request) -> Response:
        """A file that was saved before; one at a time."""
        if self._is_loading:
            raise BusyError("Another solution is being loaded on this server; try again when it is done.")
        self._is_loading, path = True, _temporary_file()
        try:
            await save_body(request, path, int(self._solves.limits.memory))
            return await self._ask(self._forms, lambda solves: {"solve": solves.load(path)})
        finally:
            self._is_loading = False
            path.unlink(missing_ok=True)

    async def _ask(self, worker: BackgroundWorker[SpotSolves], call: Any) -> Response:
        if self._waiting >= MOST_WAITING:
            raise FeltError("Too many requests are waiting for the solver; try again in a moment.")
        self._waiting += 1
        try:
            return JSONResponse(await worker(call))
        finally:
            self._waiting -= 1


def _temporary_file() -> Path:
    with tempfile.NamedTemporaryFile(prefix="felt-", suffix=".zip", delete=False) as file:
        return Path(file.name)


def _key_and_line(request: Request) -> tuple[str, str]:
    line = request.query_params.get("line", "")
    if len(line) > LONGEST_LINE:
        raise FeltError(f"The line has {len(line):,} characters; at most {LONGEST_LINE:,} are allowed.")
    return request.path_params["key"], line


async def _message(request: Request) -> dict[str, Any]:
    return read_json((await read_body(request, LARGEST_FORM)).decode("utf-8", "replace"))
