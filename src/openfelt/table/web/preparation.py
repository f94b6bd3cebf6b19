"""Prepares bots for a table before they are needed there, so that nobody at another table waits for them."""

from __future__ import annotations

from openfelt.table.lobby.bot_pool import parse_request
from openfelt.table.lobby.service import LobbyService
from openfelt.table.web.worker import BackgroundWorker


class BotPreparation:
    """Warms up bots in a thread of its own; bots that are ready do not wait for those that are not."""

    def __init__(self, worker: BackgroundWorker[LobbyService]) -> None:
        self._worker = worker
        self._ready: set[tuple[str, ...]] = set()  # game and bots

    async def __call__(self, game: object, bots: object) -> None:
        """Return once the bots are ready for this game; raises FeltError if they do not play it."""
        rules, names = parse_request(game, bots)
        key = rules.name, *names
        if key not in self._ready:
            await self._worker(lambda lobby: lobby.prepare(rules, names))
            self._ready.add(key)
