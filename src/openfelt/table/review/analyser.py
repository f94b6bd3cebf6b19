"""Computes the EV losses and the ranges of finished hands, in a thread of its own: this takes seconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from openfelt.core.errors import FeltError
from openfelt.games.game import CHANCE, Game
from openfelt.hands.record import HandRecord
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.lobby.characters import title_of
from openfelt.table.review.ev_loss import EvLosses
from openfelt.table.review.evaluator import hand_evaluator
from openfelt.table.review.hand_spots import HandSpot, hand_spot
from openfelt.table.review.replay import losses_json, replay_hand
from openfelt.table.review.step_ranges import step_ranges
from openfelt.table.session.hand_log import distinct_names, events
from openfelt.table.session.session_store import HandRow
from openfelt.table.session.table_hand import TableHand

CACHED_HANDS = 500
WARM_UP_EFFORT = 0.1  # compiles the same kernels


class HandAnalyser:
    """Caches its results."""

    def __init__(self, bots: BotPool) -> None:
        self._bots = bots
        self._cache: dict[str, dict[str, Any]] = {}  # by the link of a hand
        self._warm: set[tuple[str, ...]] = set()  # game and bots

    def warm_up(self, game: Game, bots: Sequence[str]) -> None:
        """Evaluate a hand of these bots, so that the first review need not wait for kernels to compile."""
        if (game.name, *bots) in self._warm:
            return
        self._warm.add((game.name, *bots))
        seated = {seat: self._bots.get(bot, game) for seat, bot in enumerate(bots, 1)}
        live = TableHand(game, seated, 0, "0" * 64, "")
        live.advance()
        while not live.over:
            live.act(str(game.passive(live.hand.state)))
        with suppress(Exception, SystemExit):  # of a user's own bot; a review tells
            hand_evaluator(live.hand, 0, seated, WARM_UP_EFFORT).ev_losses()

    def losses(self, row: HandRow, record: HandRecord) -> dict[str, Any]:
        """The EV losses of the person in a finished hand, ready for JSON."""
        if row.link not in self._cache:
            live = replay_hand(row, record, self._bots.get)
            try:
                losses = hand_evaluator(live.hand, row.seat, live.bots).ev_losses()
            except (Exception, SystemExit) as error:
                if all(type(bot).__module__.startswith("openfelt.") for bot in live.bots.values()):
                    raise
                explain = f"A bot failed during the analysis ({type(error).__name__}: {error})."
                losses = EvLosses(explain, False, ())
            if len(self._cache) >= CACHED_HANDS:
                del self._cache[next(iter(self._cache))]
            self._cache[row.link] = losses_json(live.hand, row.seat, record.names, losses)
        return self._cache[row.link]

    def spot(self, row: HandRow, record: HandRecord, place: int) -> HandSpot:
        """The spot of a step of the review."""
        live = replay_hand(row, record, self._bots.get)
        _, end = _step_bounds(live, record, place)
        name = title_of(record.names[1 - row.seat])
        with _faults_of_bots(live):  # the review shows the table after each step
            return hand_spot(live.hand, row.seat, live.bots, end, name)

    def ranges(self, row: HandRow, record: HandRecord, place: int) -> dict[str, Any]:
        """The ranges at a step of the review, ready for JSON: before a decision, after a deal."""
        live = replay_hand(row, record, self._bots.get)
        first, end = _step_bounds(live, record, place)
        names = distinct_names(tuple(map(title_of, record.names)), row.seat)
        step = end if live.hand.steps[first].mover == CHANCE else first
        with _faults_of_bots(live):
            return step_ranges(live.hand, row.seat, live.bots, step, names)


def _step_bounds(live: TableHand, record: HandRecord, place: int) -> tuple[int, int]:
    """The first step of the hand that belongs to a step of the review, and the one after its last."""
    steps = [first for first, _ in events(live.hand, live.seat, record.names)]
    if not 0 <= place < len(steps):
        raise FeltError(f"The hand has no step {place}.")
    return steps[place], [*steps[1:], len(live.hand.steps)][place]


@contextmanager
def _faults_of_bots(live: TableHand) -> Iterator[None]:
    """What a user's own bot raises becomes a sentence."""
    try:
        yield
    except FeltError:
        raise
    except (Exception, SystemExit) as error:
        if all(type(bot).__module__.startswith("openfelt.") for bot in live.bots.values()):
            raise
        raise FeltError(f"A bot failed while its range was computed ({type(error).__name__}).") from None
