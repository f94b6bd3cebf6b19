"""Who works out what the decisions of a person cost. It takes seconds, so it is for a thread of its own."""

from __future__ import annotations

from typing import Any

from openfelt.hands.record import HandRecord
from openfelt.table.lobby.bots import Bots
from openfelt.table.review.ev_loss import Losses, losses
from openfelt.table.review.replay import hand_again, losses_shown
from openfelt.table.session.session_store import HandRow

KEPT = 500  # hands


class Analyst:
    """Remembers what it has found."""

    def __init__(self, bots: Bots) -> None:
        self._bots = bots
        self._found: dict[str, dict[str, Any]] = {}  # by the link of a hand

    def losses(self, row: HandRow, record: HandRecord) -> dict[str, Any]:
        """What each action of the person in a finished hand was worth."""
        if row.link not in self._found:
            live = hand_again(row, record, self._bots.make)
            try:
                found = losses(live.hand, row.seat, live.bots)
            except (Exception, SystemExit) as error:
                if all(type(bot).__module__.startswith("openfelt.") for bot in live.bots.values()):
                    raise
                why = f"A bot failed as it was asked about the hand ({type(error).__name__}: {error})."
                found = Losses(why, False, ())
            if len(self._found) >= KEPT:
                del self._found[next(iter(self._found))]
            self._found[row.link] = losses_shown(live.hand, row.seat, record.names, found)
        return self._found[row.link]
