"""The dealer: a match of programs that join over the network, as the competition's server plays it.

What it follows of the server (`dealer.c` of the competition's project_acpc_server) and where it differs is in
docs/acpc.md. In short: a message that does not answer the current state is passed over; an action that is
none or is not possible becomes a call, and is counted; where the server ends the match (no answer in time, a
connection lost, too many such actions), here the player checks or folds, and the match goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType

from openfelt.arena.acpc.betting import BettingLine, card_words, dealt_words, first_line, prepare
from openfelt.arena.acpc.connection_lines import END
from openfelt.arena.acpc.game_definition import CompetitionGame
from openfelt.arena.acpc.listener import Door
from openfelt.arena.acpc.log import LogWriter, check_names
from openfelt.arena.acpc.match_state import CALL, COMMENTS, Hand, MatchState, read_answer
from openfelt.arena.acpc.seat import Seat
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice, starts

CARD_DRAWS = 64  # numbers set apart for the cards of a hand
GRACE = 1.0  # seconds that a player has at the end to read what he was sent
SECONDS_A_HAND = 7.0  # on average, of a match


@dataclass(frozen=True)
class Limits:
    """How patient the dealer is, in seconds; the defaults are the server's."""

    action: float = 600.0  # for one action
    hand: float = 600.0  # for a player's actions of one hand
    match: float | None = None  # for those of the match; by default seven seconds for each hand
    start: float | None = None  # for all players to join; None waits for ever
    invalid: int | None = (
        None  # impossible actions of a player before he is no longer asked; None: any number
    )


@dataclass(frozen=True)
class MatchResult:
    """A match that was played to its end; players are in the order of their ports."""

    hands: int
    names: tuple[str, ...]
    won: tuple[float, ...]  # in our chips
    score: tuple[float, ...]  # in those of the definition
    invalid: tuple[int, ...]  # actions that were none or not possible, replaced by a call
    late: tuple[int, ...]  # that did not come in time, replaced by a check or fold
    ignored: tuple[int, ...]  # messages that answered nothing
    left: tuple[int | None, ...]  # the hand in which a player was first missed who had closed his connection


class Dealer:
    """Listens as soon as it is made; used in a `with`, which closes all connections."""

    def __init__(
        self,
        rules: CompetitionGame,
        *,
        hands: int,
        seed: int = 0,
        names: Sequence[str] = (),
        ports: Sequence[int] = (),
        host: str = "127.0.0.1",
        limits: Limits | None = None,
    ) -> None:
        players = rules.game.players
        self.rules, self.hands, self.seed = rules, hands, seed
        self.names = check_names(names or [f"player{number + 1}" for number in range(players)], players)
        self.limits = limits or Limits()
        if ports and len(ports) != players:
            raise FeltError(
                f"{players} play {rules.game.name}, each at a port; {len(ports)} ports are named."
            )
        self._door = Door(host, ports or [0] * players, self.names)
        prepare(rules.game)
        self._start = int(starts(seed, 1)[0])
        self._seats: list[Seat] = []

    @property
    def ports(self) -> list[int]:
        """Where players join, in the order of their names."""
        return self._door.ports

    @property
    def match_limit(self) -> float:
        """Seconds that a player has for all his actions."""
        return self.limits.match or SECONDS_A_HAND * self.hands

    def __enter__(self) -> Dealer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._door.close()

    def wait(self) -> None:
        """Wait until all players have joined."""
        self._seats = self._door.wait(self.limits.start)

    def play(
        self, log: LogWriter | None = None, progress: Callable[[int], None] = lambda done: None
    ) -> MatchResult:
        """Play the match; `progress` is told the hands that are done."""
        if not self._seats:
            self.wait()
        players, won = len(self._seats), [0.0] * len(self._seats)
        for number in range(self.hands):
            # The one at the first port has position 0 in the first hand; then all move on by one.
            positions = [self._seats[(position + number) % players] for position in range(players)]
            hole, board = self._deal(number)
            line = self._play_hand(number, positions, hole, board)
            table = board[: line.letters.count("/")]
            payoffs = line.payoffs(dealt_words(self.rules.game, hole, table))
            if log:
                log.hand(number, line.letters, hole, table, payoffs, [seat.name for seat in positions])
            for position, chips in enumerate(payoffs):
                won[(position + number) % players] += chips
            progress(number + 1)
        if log:
            log.score(won, self.names)
        for seat in self._seats:
            seat.flush()
        for seat in self._seats:
            seat.finish(time.monotonic() + GRACE)
        return self._result(won)

    def _deal(self, number: int) -> tuple[tuple[Hand, ...], tuple[Hand, ...]]:
        """The cards of a hand, by the seed and its number alone: those of the positions, then the rounds'."""
        definition = self.rules.definition
        deck, dice = list(card_words(self.rules.game)), Dice(self._start, number * CARD_DRAWS)
        counts = [definition.hole_cards] * definition.players + list(definition.board_cards[1:])
        hands = []
        for count in counts:
            hands.append(tuple(deck.pop(int(dice.uniform() * len(deck))) for _ in range(count)))
        return tuple(hands[: definition.players]), tuple(hands[definition.players :])

    def _play_hand(
        self, number: int, positions: Sequence[Seat], hole: tuple[Hand, ...], board: tuple[Hand, ...]
    ) -> BettingLine:
        for seat in positions:
            seat.hand_used = 0.0
        line = first_line(self.rules.game)
        while True:
            states = views(number, line, hole, board)
            texts = [state.text for state in states]
            for seat, text in zip(positions, texts, strict=True):
                seat.send((text + END).encode(), more=line.over)  # the next hand begins at once
            if line.over:
                return line
            turn = line.turn
            line = line.take(self._ask(positions[turn], states[turn], texts[turn], line))

    def _ask(self, seat: Seat, state: MatchState, text: str, line: BettingLine) -> str:
        """The letter that a player chooses, or the one that stands in for it."""
        limits = self.limits
        if not (seat.gone or (limits.invalid is not None and seat.invalid > limits.invalid)):
            begun = time.monotonic()
            patience = min(limits.action, limits.hand - seat.hand_used, self.match_limit - seat.match_used)
            letter = _answer(seat, state, text, begun + patience)
            used = time.monotonic() - begun
            seat.hand_used += used
            seat.match_used += used
            if letter is not None and letter in line.menu:
                return letter
            if letter is not None:
                seat.invalid += 1
                return CALL
            seat.late += not seat.gone
        if seat.gone and seat.left is None:
            seat.left = state.hand
        return line.idle

    def _result(self, won: Sequence[float]) -> MatchResult:
        seats = self._seats
        return MatchResult(
            hands=self.hands,
            names=tuple(self.names),
            won=tuple(won),
            score=tuple(chips * float(self.rules.chip) for chips in won),
            invalid=tuple(seat.invalid for seat in seats),
            late=tuple(seat.late for seat in seats),
            ignored=tuple(seat.ignored for seat in seats),
            left=tuple(seat.left for seat in seats),
        )


def _answer(seat: Seat, state: MatchState, text: str, until: float) -> str | None:
    """The letter of a player's answer ("" if it has none), or None if it does not come in time."""
    while (line := seat.receive(until)) is not None:
        if line.startswith(COMMENTS):
            continue
        letter = read_answer(line, state, text)
        if letter is not None:
            return letter
        seat.ignored += 1
    return None


def views(
    number: int, line: BettingLine, hole: tuple[Hand, ...], board: tuple[Hand, ...]
) -> list[MatchState]:
    """What each position is told: its own cards, and in the end those that are shown."""
    betting, shown = tuple(line.letters.split("/")), line.shown
    table = board[: len(betting) - 1]
    return [
        MatchState(
            position,
            number,
            betting,
            tuple(cards if other == position or other in shown else () for other, cards in enumerate(hole)),
            table,
        )
        for position in range(len(hole))
    ]
