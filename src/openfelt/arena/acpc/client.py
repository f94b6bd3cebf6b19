"""A client that plays a bot at a dealer's table: MATCHSTATE lines become views, actions become answers.

A line that is not a state is ignored and counted. A state that contradicts the game or the order of the hands
stops the client: the dealer deals another game, and winnings computed by our rules would be wrong.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass

from openfelt.arena.acpc.betting_line import BettingLine
from openfelt.arena.acpc.connection_lines import END, LineReader
from openfelt.arena.acpc.match_state import COMMENTS, VERSION, MatchState, MessageError, parse_match_state
from openfelt.arena.acpc.protocol_game import dealt_words, match_line, protocol_game
from openfelt.arena.decision_stats import ERROR, ILLEGAL, DecisionStats
from openfelt.bots.bot import Bot, Clock
from openfelt.core.errors import FeltError
from openfelt.core.random import ITERATION_DRAWS, Dice, starts
from openfelt.games.game import Game

DECISION_DRAWS = 1 << 12  # random numbers reserved for one decision; a hand has fewer than 256
CHUNK = 1 << 16  # bytes read at once
CONNECT_TIMEOUT = 10.0  # seconds


@dataclass(frozen=True)
class ClientResult:
    """The result of a bot at a dealer's table."""

    hands: int  # played to the end
    won: float  # in our chips
    faults: int  # calls of the bot that failed or chose an illegal action; it then checked or folded
    malformed: int  # lines of the dealer that were ignored
    stats: DecisionStats  # what the faults were


class ProtocolPlayer:
    """A bot that answers the dealer's lines, without a connection."""

    def __init__(
        self, bot: Bot, game: Game, *, seed: int = 0, seconds: float = float("inf"), strict: bool = False
    ) -> None:
        """With `strict` the first fault of the bot raises BotFaultError."""
        self._protocol = protocol_game(game)
        self._protocol.prepare()
        self.bot, self.game, self.seconds, self.strict = bot, game, seconds, strict
        self.hands, self.won, self.malformed = 0, 0.0, 0
        self.stats = DecisionStats()
        self._start = int(starts(seed, 1)[0])
        self._hand = -1  # the last hand of which there was a state
        self._is_over = True  # whether it was played to the end

    @property
    def result(self) -> ClientResult:
        """The result so far."""
        faults = sum(self.stats.faults.values())
        return ClientResult(self.hands, self.won, faults, self.malformed, self.stats)

    @property
    def open_hand(self) -> int | None:
        """The number of the hand that is not over yet; None between hands."""
        return None if self._is_over else self._hand

    def answer(self, text: str) -> str | None:
        """The answer to a line, or None if it needs none; raises FeltError for a state of another game."""
        if text.startswith(COMMENTS):
            return None
        try:
            state = parse_match_state(text)
        except MessageError:
            self.malformed += 1
            return None
        try:
            line = match_line(self.game, state)
        except MessageError as error:
            raise FeltError(
                f"The dealer deals another game than {self.game.name}, and the bot has left. {error} "
                f"The dealer's message was '{text[:100]}'."
            ) from None
        self._check_order(state)
        if line.turn == state.position:
            return f"{text}:{line.letter(self._choose(state, line))}"
        if line.over and not self._is_over:
            self._end(state, line)
        return None

    def _check_order(self, state: MatchState) -> None:
        """Hands follow each other; the end of a hand may be told twice."""
        if state.hand == self._hand:
            return
        if state.hand < self._hand:
            raise FeltError(f"The dealer went back from hand {self._hand} to hand {state.hand}.")
        if not self._is_over:
            raise FeltError(f"The dealer began hand {state.hand} before hand {self._hand} was over.")
        self._hand, self._is_over = state.hand, False

    def _choose(self, state: MatchState, line: BettingLine) -> str:
        """The bot's action, or a check or fold if it fails."""
        view = self._protocol.view(state, line)
        place = state.hand * ITERATION_DRAWS + len(line.actions) * DECISION_DRAWS
        try:
            action = self.bot.act(view, Dice(self._start, place), Clock(self.seconds))
        except (Exception, SystemExit) as error:  # of a user's bot: it costs this decision, not the match
            self._count(ERROR, error)
            return view.actions[0]
        if isinstance(action, str) and action in view.actions:
            return action
        self._count(ILLEGAL, action)
        return view.actions[0]

    def _end(self, state: MatchState, line: BettingLine) -> None:
        self._is_over = True
        won = float(line.payoffs(dealt_words(self.game, state.hole, state.board))[state.position])
        self.hands, self.won = self.hands + 1, self.won + won
        try:
            self.bot.end_hand(self._protocol.view(state, line), won)
        except (Exception, SystemExit) as error:
            self._count(ERROR, error)

    def _count(self, fault: str, cause: object) -> None:
        self.stats.note_fault(fault, cause, __file__)
        if self.strict:
            self.stats.require_faultless(type(self.bot).__name__)


def join(
    host: str,
    port: int,
    player: ProtocolPlayer,
    *,
    hands: int | None = None,
    joined: Callable[[], None] = lambda: None,
) -> ClientResult:
    """Play at a dealer's table until the dealer closes the connection.

    The protocol does not announce the number of hands; if `hands` is given, a match of another length raises
    FeltError. So does a connection that is closed in the middle of a hand.
    """
    address = f"{host}:{port}"
    try:
        connection = socket.create_connection((host, port), CONNECT_TIMEOUT)
    except (OSError, UnicodeError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FeltError(f"There is no dealer at {address} ({reason}).") from None
    with connection:
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        joined()
        was_closed = _answer_all(connection, player)
    _require_complete(player, address, hands, was_closed)
    return player.result


def _answer_all(connection: socket.socket, player: ProtocolPlayer) -> bool:
    """Answer all lines until the dealer closes the connection; False if it breaks off (data may be lost)."""
    reader, dropped = LineReader(), 0
    try:
        connection.sendall((VERSION + END).encode())
        while data := connection.recv(CHUNK):
            for text in reader.feed(data):
                answer = player.answer(text)
                if answer is not None:
                    connection.sendall((answer + END).encode("latin-1"))
            player.malformed += reader.dropped - dropped
            dropped = reader.dropped
    except OSError:
        return False
    return True


def _require_complete(player: ProtocolPlayer, address: str, hands: int | None, was_closed: bool) -> None:
    """Raise if the match was not over when the connection ended."""
    played = f"{player.hands:,} hand{'s' * (player.hands != 1)}"
    so_far = f"until then the bot had won {player.won:+g} {player.game.unit} in {played}"
    if player.open_hand is not None:
        raise FeltError(f"The dealer at {address} left in the middle of hand {player.open_hand}; {so_far}.")
    if not player.hands:
        raise FeltError(f"The dealer at {address} closed the connection before the first hand.")
    if hands is None and not was_closed:
        raise FeltError(f"The connection to the dealer at {address} broke off; {so_far}.")
    if hands is not None and player.hands != hands:
        raise FeltError(
            f"The dealer at {address} closed the connection after {played}, not {hands:,}; {so_far}."
        )
