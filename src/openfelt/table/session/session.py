"""A person's session: hand after hand against the same bots, every change kept before it is told."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

from openfelt.bots.bot import Bot
from openfelt.core.errors import FeltError
from openfelt.games.game import Game
from openfelt.games.registry import load_game
from openfelt.table.review.luck_adjusted import luck_free
from openfelt.table.session.chips import furniture
from openfelt.table.session.fair_dealing import commitment, new_seed, require_nonce
from openfelt.table.session.score import Score
from openfelt.table.session.session_store import FINISHED, ON, RETURNED, HandRow, SessionRow, SessionStore
from openfelt.table.session.table_hand import TableHand
from openfelt.table.session.wording import YOU

MakeBot = Callable[[str, Game], Bot]
BUY_IN = 10  # times what one can lose in a hand


class Session:
    """What has happened, and the hand that is on, if one is."""

    def __init__(self, store: SessionStore, row: SessionRow, make_bot: MakeBot) -> None:
        self.id, self.bot_names = row.id, row.bots
        self.game = load_game(row.game)
        self.begun = row.begun
        self._store, self._seed = store, row.seed  # that of the next hand
        self._bots = [make_bot(name, self.game) for name in row.bots]
        self.score = Score(furniture(self.game).unit_bet)
        self.stacks = Stacks(self.game)
        self.notice: str | None = None
        self.row: HandRow | None = None  # the last hand
        self.live: TableHand | None = None  # the same, at the table
        for hand in store.table_hands(row.id):
            self._remember(hand)

    @property
    def on(self) -> bool:
        """Whether a hand is on."""
        return self.row is not None and self.row.status == ON

    @property
    def next_number(self) -> int:
        return self.row.number + 1 if self.row else 1

    @property
    def commitment(self) -> str:
        """To the seed of the next hand."""
        return commitment(self._seed)

    def names(self, seat: int) -> tuple[str, ...]:
        """By seat of the rules, where the person has this one; bots sit clockwise from him."""
        names = (YOU, *self.bot_names)
        return tuple(names[(each - seat) % len(names)] for each in range(len(names)))

    def deal(self, number: object, nonce: object) -> None:
        """Begin the next hand."""
        if self.on:
            raise FeltError(f"Hand {self.next_number - 1} is not over yet.")
        if type(number) is not int or number != self.next_number:
            raise FeltError(f"The next hand is number {self.next_number}.")
        seat, drawn = seat_in(self.next_number, self.game), require_nonce(nonce)
        link = secrets.token_urlsafe(16)
        row = HandRow(self.id, self.next_number, seat, self._seed, drawn, link, ON, (), None, 0.0, None)
        live = self.table_hand(row)
        live.go_on()
        self._store.begin_hand(replace(row, actions=live.actions))
        self.row, self.live, self.notice = row, live, None
        self.stacks.deal()
        self._end_if_over()

    def act(self, number: object, step: object, word: object) -> None:
        """What the person does in a hand that he saw after `step` actions."""
        if self.row is None or self.live is None or not self.on:
            raise FeltError("No hand is on; deal the next one.")
        if type(number) is not int or number != self.row.number:
            raise FeltError(f"Hand {self.row.number} is on, not that one.")
        if type(step) is not int or step != len(self.live.actions):
            raise FeltError("The hand has gone on since then.")
        if not isinstance(word, str):
            raise FeltError("An action is a word.")
        self.live.act(word)
        self._store.act(self.id, self.row.number, self.live.actions)
        self._end_if_over()

    def table_hand(self, row: HandRow) -> TableHand:
        """A hand of the session from its start."""
        players = self.game.players
        bots = {(row.seat + 1 + place) % players: bot for place, bot in enumerate(self._bots)}
        return TableHand(self.game, bots, row.seat, row.seed, row.nonce)

    def _end_if_over(self) -> None:
        if self.row is None or self.live is None or not self.live.over:
            return
        seat, hand = self.row.seat, self.live.hand
        record = self.live.record(self.row.number, self.names(seat))
        won, free = hand.payoffs[seat], luck_free(hand, seat, self.live.bots)
        seed = new_seed()
        self._store.finish(self.id, record, won=won, luck_free=free, next_seed=seed)
        self.row, self._seed = replace(self.row, status=FINISHED, won=won, luck_free=free), seed
        self.live.end()
        self._count(self.row, hand.payoffs)

    def _count(self, row: HandRow, payoffs: Sequence[float]) -> None:
        self.score.add(row.won, row.luck_free)
        self.stacks.add(row.seat, payoffs)

    def _remember(self, row: HandRow) -> None:
        """A hand that was kept: it counts, or it is still on."""
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
            live.repeat(row.actions)
        except FeltError:
            seed = new_seed()
            self._store.give_back(self.id, row.number, seed)
            self.row, self._seed = replace(row, status=RETURNED), seed
            self.notice = (
                f"The server was restarted, and hand {row.number} could not go on: all chips were returned."
            )
            return
        self.live = live
        self.notice = f"The server was restarted; hand {row.number} goes on where it was."
        live.go_on()
        self._end_if_over()


def _require_sound(row: HandRow, game: Game) -> None:
    """Refuse a hand that was not kept as it was dealt."""
    commitment(row.seed)
    require_nonce(row.nonce)
    if row.seat != seat_in(row.number, game):
        raise FeltError(f"Nobody has seat {row.seat} in hand {row.number}.")


def seat_in(number: int, game: Game) -> int:
    """The person's seat, which goes round."""
    return (number - 1) % game.players


class Stacks:
    """The chips in front of everybody as the last hand began; who has too few for one tops up before it."""

    def __init__(self, game: Game) -> None:
        self._players, self._most = game.players, furniture(game).most
        self._buy_in = BUY_IN * self._most
        self._before = [self._buy_in] * game.players  # of the person, then the bots clockwise
        self._after = list(self._before)

    def deal(self) -> None:
        """A hand begins."""
        self._before = [chips + (self._buy_in if chips < self._most else 0) for chips in self._after]

    def at(self, seat: int) -> list[float]:
        """By seat of the rules, where the person has this one."""
        return [self._before[(each - seat) % self._players] for each in range(self._players)]

    def add(self, seat: int, payoffs: Sequence[float]) -> None:
        """It is over."""
        ends = [payoffs[(seat + place) % self._players] for place in range(self._players)]
        self._after = [chips + won for chips, won in zip(self._before, ends, strict=True)]
