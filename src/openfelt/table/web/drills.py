"""The routes of drills (see docs/table.md)."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openfelt.core.errors import FeltError
from openfelt.table.drills.coach import DrillCoach
from openfelt.table.drills.drill import Drill
from openfelt.table.session.manager import SessionManager
from openfelt.table.web.players import player_of
from openfelt.table.web.requests import read_message
from openfelt.table.web.worker import BackgroundWorker

PATIENCE = 1.5  # seconds of a request in which hands are searched for mistakes
MOST_OPEN = 2_000  # drills that wait for an answer
KINDS = ("random", "spot", "mistakes", "repeat")


class DrillRoutes:
    """One method per route."""

    def __init__(
        self, sessions: BackgroundWorker[SessionManager], coach: BackgroundWorker[DrillCoach]
    ) -> None:
        self._sessions, self._coach = sessions, coach
        self._open: OrderedDict[tuple[str, str], Drill] = OrderedDict()  # by deck and key
        self._shown: OrderedDict[str, str] = OrderedDict()  # the key of the latest drill, by deck
        self._evaluating: set[asyncio.Task[None]] = set()  # held, so that they are not collected

    def routes(self) -> list[Route]:
        """All routes."""
        return [
            Route("/api/drills", self.begin, methods=["POST"]),
            Route("/api/drills/{deck}", self.summary),
            Route("/api/drills/{deck}/next", self.next, methods=["POST"]),
            Route("/api/drills/{deck}/answer", self.answer, methods=["POST"]),
        ]

    async def begin(self, _: Request) -> Response:
        return JSONResponse(
            {"deck": await self._sessions(lambda sessions: sessions.drills.begin(time.time()))}
        )

    async def summary(self, request: Request) -> Response:
        return JSONResponse(await self._summary(request.path_params["deck"]))

    async def next(self, request: Request) -> Response:
        """The next drill of a kind; without one, how far the search is, or why there is none."""
        deck, wanted = request.path_params["deck"], await read_message(request)
        kind = wanted.get("kind")
        if kind not in KINDS:
            raise FeltError(f"The kind of a drill must be one of: {', '.join(KINDS)}.")
        drill, progress = None, dict[str, Any]()
        if kind == "repeat":
            drill = await self._sessions(lambda sessions: sessions.drills.due(deck, time.time()))
        elif kind == "mistakes":
            drill, progress = await self._mistake(deck, wanted.get("sessions"), player_of(request.headers))
        else:
            await self._sessions(lambda sessions: sessions.drills.require(deck))
            fields = wanted if kind == "spot" else {name: wanted.get(name) for name in ("game", "bot")}
            drill = await self._coach(lambda coach: coach.sample(fields))
        if drill is None:
            return JSONResponse({"drill": None, **progress})
        try:
            return JSONResponse(await self._show(deck, drill))
        except FeltError:  # such as a bot that is not offered any more; other drills must not wait for it
            if kind in ("mistakes", "repeat"):
                await self._sessions(lambda sessions: sessions.drills.postpone(deck, drill, time.time()))
            raise

    async def answer(self, request: Request) -> Response:
        """The verdict on an answer, and the score after it; an answer counts once."""
        deck, wanted = request.path_params["deck"], await read_message(request)
        drill = self._open.get((deck, str(wanted.get("drill"))))
        if drill is None:
            raise FeltError("This drill is not open; take the next one.")
        found, verdict = await self._coach(lambda coach: coach.judge(drill, wanted.get("action")))
        if self._open.pop((deck, drill.key), None) is None:
            raise FeltError("This drill was answered already; take the next one.")
        box = await self._sessions(lambda sessions: sessions.drills.answer(deck, drill, found, time.time()))
        return JSONResponse({**verdict, "box": box, "summary": await self._summary(deck)})

    async def _summary(self, deck: str) -> dict[str, Any]:
        return await self._sessions(lambda sessions: sessions.drills.summary(deck, time.time()))

    async def _show(self, deck: str, drill: Drill) -> dict[str, Any]:
        shown = await self._coach(lambda coach: coach.show(drill))
        self._open[deck, drill.key] = drill
        while len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        self._shown[deck] = drill.key
        self._shown.move_to_end(deck)
        while len(self._shown) > MOST_OPEN:
            self._shown.popitem(last=False)
        task = asyncio.create_task(self._evaluate(deck, drill))  # while the person thinks
        self._evaluating.add(task)
        task.add_done_callback(self._evaluating.discard)
        return shown

    async def _evaluate(self, deck: str, drill: Drill) -> None:
        def evaluate(coach: DrillCoach) -> None:
            if self._shown.get(deck) == drill.key:  # no later drill was taken meanwhile
                coach.evaluate(drill)

        with suppress(Exception, SystemExit):  # the answer tells
            await self._coach(evaluate)

    async def _mistake(
        self, deck: str, keys: object, player: str | None
    ) -> tuple[Drill | None, dict[str, Any]]:
        """The worst known mistake that was not drilled; if there is none, hands are searched for a while."""
        end = time.monotonic() + PATIENCE
        drill = await self._sessions(lambda sessions: sessions.drills.worst_mistake(deck))
        if drill is not None:
            return drill, {}
        links = await self._sessions(lambda sessions: sessions.unreviewed(deck, keys, player))
        reviewed = 0
        while True:
            drill = await self._sessions(lambda sessions: sessions.drills.worst_mistake(deck))
            left = len(links) - reviewed
            if drill is not None or not left or time.monotonic() > end:
                return drill, {"left": left}
            await self._review(deck, links[reviewed])
            reviewed += 1

    async def _review(self, deck: str, link: str) -> None:
        """Add the mistakes of a hand to the deck."""
        row, record = await self._sessions(lambda sessions: sessions.linked(link))
        found = await self._coach(lambda coach: coach.mistakes(row, record))
        await self._sessions(lambda sessions: sessions.drills.add_mistakes(deck, link, found))
