"""Prepares bots for a table before they are needed there, so that nobody at another table waits for them."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from openfelt.core.errors import FeltError
from openfelt.table.lobby.bot_pool import parse_request
from openfelt.table.lobby.service import LobbyService
from openfelt.table.web.worker import BackgroundWorker


class BotPreparation:
    """Warms up bots in threads of their own; bots that are ready do not wait for those that are not.

    Games that nobody plays yet are prepared in a separate thread, `ahead`, so that no table waits for them.
    """

    def __init__(self, worker: BackgroundWorker[LobbyService], ahead: BackgroundWorker[LobbyService]) -> None:
        self._worker, self._ahead = worker, ahead
        self._ready: set[tuple[str, ...]] = set()  # game and bots
        self._can_deal: set[tuple[str, ...]] = set()
        self._rest: set[asyncio.Task[None]] = set()  # held, so that they are not collected
        self._begun: asyncio.Task[None] | None = None  # what was begun ahead, one at a time
        self._begun_key: tuple[str, ...] = ()

    async def __call__(self, game: object, bots: object) -> None:
        """Return once the bots are ready for this game; raises FeltError if they do not play it."""
        rules, names = parse_request(game, bots)
        key = rules.name, *names
        if key not in self._ready:
            await self._worker_of(key)(lambda lobby: lobby.prepare(rules, names))
            self._ready.add(key)

    async def deal(self, game: object, bots: object) -> None:
        """Return once the bots are ready to deal a first hand; the rest follows while it is played."""
        rules, names = parse_request(game, bots)
        key = rules.name, *names
        if key not in self._ready | self._can_deal:
            await self._worker_of(key)(lambda lobby: lobby.prepare_deal(rules, names))
            self._can_deal.add(key)
            rest = asyncio.create_task(self._prepare_quietly(game, bots))
            self._rest.add(rest)
            rest.add_done_callback(self._rest.discard)

    def begin(self, game: object, bots: object) -> bool:
        """Begin to prepare bots unless others are being prepared; returns whether these are ready."""
        rules, names = parse_request(game, bots)
        key = rules.name, *names
        if key not in self._ready and (self._begun is None or self._begun.done()):
            self._begun_key = key
            self._begun = asyncio.create_task(self._prepare_quietly(game, bots))
        return key in self._ready

    def _worker_of(self, key: tuple[str, ...]) -> BackgroundWorker[LobbyService]:
        return self._ahead if key == self._begun_key else self._worker

    async def _prepare_quietly(self, game: object, bots: object) -> None:
        with suppress(FeltError):  # whoever sits down is told
            await self.deal(game, bots)
            await self(game, bots)
