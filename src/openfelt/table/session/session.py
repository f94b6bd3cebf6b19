"""A session: one person plays hand after hand against the same bots; every change is saved first."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

from openfelt.bots.bot import Bot
from openfelt.core.errors import FeltError
from openfelt.games.game import Game
from openfelt.games.registry import load_game
from openfelt.table.lobby.characters import title_of
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.presentation.text import YOU
from openfelt.table.review.evaluator import hand_evaluator
from openfelt.table.session.fair_dealing import commitment, new_seed, require_nonce
from openfelt.table.session.score import Score
from openfelt.table.session.session_store import CANCELLED, FINISHED, ON, HandRow, SessionRow, SessionStore
from openfelt.table.session.table_hand import TableHand

BotSource = Callable[[str, Game], Bot]
BUY_IN = 10  # times the largest loss of a hand


class Session:
    """The score, the stacks, and the current or last hand."""

    def __init__(self, store: SessionStore, row: SessionRow, get_bot: BotSource) -> None:
        self.id, self.bot_names = row.id, row.bots
        self.game = load_game(row.game)
        self.begun = row.begun
        self._store, self._seed = store, row.seed  # seed of the next hand
        self._bots = [get_bot(name, self.game) for name in row.bots]
        self.score = Score(presentation_of(self.game).big_blind)
        self.stacks = Stacks(self.game)
        self.notice: str | None = None
        self.row: HandRow | None = None  # the last hand
        self.live: TableHand | None = None  # the same hand, as it is played
        for hand in store.table_hands(row.id):
            self._restore(hand)

    @property
    def hand_is_on(self) -> bool:
        """Whether a hand is in progress."""
        return self.row is not None and self.row.status == ON

    @property
    def next_number(self) -> int:
        return self.row.number + 1 if self.row else 1

    @property
    def commitment(self) -> str:
        """To the seed of the next hand."""
        return commitment(self._seed)

    def titles(self, seat: int) -> tuple[str, ...]:
        """The names of the players as the table shows them, by seat."""
        return tuple(map(title_of, self.names(seat)))

    def names(self, seat: int) -> tuple[str, ...]:
        """Names by seat, with the person in `seat` and the bots clockwise from there."""
        names = (YOU, *self.bot_names)
        return tuple(names[(each - seat) % len(names)] for each in range(len(names)))

    def deal(self, number: object, nonce: object) -> None:
        """Deal the next hand."""
        if self.hand_is_on:
            raise FeltError(f"Hand {self.next_number - 1} is still in progress; finish it first.")
        if type(number) is not int or number != self.next_number:
            raise FeltError(f"The next hand is number {self.next_number}.")
        seat, drawn = seat_in(self.next_number, self.game), require_nonce(nonce)
        link = secrets.token_urlsafe(16)
        row = HandRow(self.id, self.next_number, seat, self._seed, drawn, link, ON, (), None, 0.0, None)
        live = self.table_hand(row)
        live.advance()
        self._store.begin_hand(replace(row, actions=live.actions))
        self.row, self.live, self.notice = row, live, None
        self.stacks.deal()
        self._end_if_over()

    def act(self, number: object, step: object, word: object) -> None:
        """Take an action of the person, who has seen the first `step` actions of the hand."""
        if self.row is None or self.live is None or not self.hand_is_on:
            raise FeltError("No hand is in progress; deal the next one.")
        if type(number) is not int or number != self.row.number:
            raise FeltError(f"The hand in progress is number {self.row.number}.")
        if type(step) is not int or step != len(self.live.actions):
            raise FeltError("The hand has moved on since that step.")
        if not isinstance(word, str):
            raise FeltError("An action must be a word.")
        self.live.act(word)
        self._store.act(self.id, self.row.number, self.live.actions)
        self._end_if_over()

    def table_hand(self, row: HandRow) -> TableHand:
        """A hand of the session, before the deal."""
        players = self.game.players
        bots = {(row.seat + 1 + place) % players: bot for place, bot in enumerate(self._bots)}
        return TableHand(self.game, bots, row.seat, row.seed, row.nonce)

    def _end_if_over(self) -> None:
        if self.row is None or self.live is None or not self.live.over:
            return
        seat, hand = self.row.seat, self.live.hand
        record = self.live.record(self.row.number, self.names(seat))
        won, adjusted = hand.payoffs[seat], hand_evaluator(hand, seat, self.live.bots).luck_adjusted()
        seed = new_seed()
        self._store.finish(self.id, record, won=won, luck_free=adjusted, next_seed=seed)
        self.row, self._seed = replace(self.row, status=FINISHED, won=won, luck_free=adjusted), seed
        self.live.end()
        self._count(self.row, hand.payoffs)

    def _count(self, row: HandRow, payoffs: Sequence[float]) -> None:
        self.score.add(row.won, row.luck_free)
        self.stacks.add(row.seat, payoffs)

    def _restore(self, row: HandRow) -> None:
        """Restore a saved hand: count it if it is finished, or resume it."""
        self.row = row
        self.stacks.deal()
        if row.status == FINISHED:
            self._count(row, self._store.record(row).won)
        elif row.status == ON:
            self._resume(row)

    def _resume(self, row: HandRow) -> None:
        live = self.table_hand(row)
        try:
            _require_sound(row, self.game)
            live.replay(row.actions)
        except FeltError:
            seed = new_seed()
            self._store.cancel_hand(self.id, row.number, seed)
            self.row, self._seed = replace(row, status=CANCELLED), seed
            self.notice = (
                f"The server was restarted and hand {row.number} could not be restored; it does not count."
            )
            return
        self.live = live
        self.notice = f"The server was restarted; hand {row.number} continues where it was."
        live.advance()
        self._end_if_over()


def _require_sound(row: HandRow, game: Game) -> None:
    """Raise if a saved hand was changed, or cannot have been dealt like this."""
    if not row.intact:
        raise FeltError(f"Hand {row.number} was changed after it was saved.")
    commitment(row.seed)
    require_nonce(row.nonce)
    if row.seat != seat_in(row.number, game):
        raise FeltError(f"The person does not have seat {row.seat} in hand {row.number}.")


def seat_in(number: int, game: Game) -> int:
    """The person's seat in a hand; seats rotate."""
    return (number - 1) % game.players


class Stacks:
    """Stacks at the start of the last hand; one that does not cover a hand is topped up before it."""

    def __init__(self, game: Game) -> None:
        self._players, self._largest_loss = game.players, presentation_of(game).largest_loss
        self._buy_in = BUY_IN * self._largest_loss
        self._before = [self._buy_in] * game.players  # the person's, then the bots' clockwise
        self._after = list(self._before)

    def deal(self) -> None:
        """Top up for the next hand."""
        self._before = [chips + (self._buy_in if chips < self._largest_loss else 0) for chips in self._after]

    def at(self, seat: int) -> list[float]:
        """Stacks by seat, with the person in `seat`."""
        return [self._before[(each - seat) % self._players] for each in range(self._players)]

    def add(self, seat: int, payoffs: Sequence[float]) -> None:
        """Count a finished hand."""
        ends = [payoffs[(seat + place) % self._players] for place in range(self._players)]
        self._after = [chips + won for chips, won in zip(self._before, ends, strict=True)]
