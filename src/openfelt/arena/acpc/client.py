"""A client that plays a bot at a dealer's table: MATCHSTATE lines become views, actions become answers."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass

from openfelt.arena.acpc.betting_line import BettingLine
from openfelt.arena.acpc.connection_lines import END, LineReader
from openfelt.arena.acpc.match_state import COMMENTS, VERSION, MatchState, MessageError, parse_match_state
from openfelt.arena.acpc.protocol_game import check_cards, dealt_words, follow, protocol_game
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
    faults: int  # decisions in which the bot failed or chose an illegal action; it then checked or folded
    malformed: int  # lines of the dealer that were ignored


class ProtocolPlayer:
    """A bot that answers the dealer's lines, without a connection."""

    def __init__(self, bot: Bot, game: Game, *, seed: int = 0, seconds: float = float("inf")) -> None:
        self._protocol = protocol_game(game)
        self._protocol.prepare()
        self.bot, self.game, self.seconds = bot, game, seconds
        self.hands, self.won, self.faults, self.malformed = 0, 0.0, 0, 0
        self._start = int(starts(seed, 1)[0])
        self._ended = -1  # the last hand that was played to the end

    @property
    def result(self) -> ClientResult:
        """The result so far."""
        return ClientResult(self.hands, self.won, self.faults, self.malformed)

    def answer(self, text: str) -> str | None:
        """The answer to a line, or None if it needs none."""
        if text.startswith(COMMENTS):
            return None
        try:
            state = parse_match_state(text)
            line = follow(self.game, state.betting)
            check_cards(self.game, state.hole, state.board)
            if any(not state.hole[position] for position in line.shown):
                raise MessageError("The cards of a showdown are missing.")
        except MessageError:
            self.malformed += 1
            return None
        if line.turn == state.position:
            return f"{text}:{line.letter(self._choose(state, line))}"
        if line.over and state.hand != self._ended:
            self._end(state, line)
        return None

    def _choose(self, state: MatchState, line: BettingLine) -> str:
        """The bot's action, or a check or fold if it fails."""
        view = self._protocol.view(state, line)
        place = state.hand * ITERATION_DRAWS + len(line.actions) * DECISION_DRAWS
        try:
            action = self.bot.act(view, Dice(self._start, place), Clock(self.seconds))
            if action in view.actions:
                return action
        except Exception:  # the bot may be a user's own: an error costs it this decision, not the match
            pass
        self.faults += 1
        return view.actions[0]

    def _end(self, state: MatchState, line: BettingLine) -> None:
        self._ended = state.hand
        won = float(line.payoffs(dealt_words(self.game, state.hole, state.board))[state.position])
        self.hands, self.won = self.hands + 1, self.won + won
        try:
            self.bot.end_hand(self._protocol.view(state, line), won)
        except Exception:
            self.faults += 1


def join(
    host: str, port: int, player: ProtocolPlayer, *, joined: Callable[[], None] = lambda: None
) -> ClientResult:
    """Play at a dealer's table until the dealer closes the connection."""
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
        received = _answer_all(connection, player)
    if not received:
        raise FeltError(f"The dealer at {address} closed the connection without sending anything.")
    return player.result


def _answer_all(connection: socket.socket, player: ProtocolPlayer) -> bool:
    """Answer all lines until the connection is closed; returns whether any data were received."""
    reader, received, dropped = LineReader(), False, 0
    try:
        connection.sendall((VERSION + END).encode())
        while data := connection.recv(CHUNK):
            received = True
            for text in reader.feed(data):
                answer = player.answer(text)
                if answer is not None:
                    connection.sendall((answer + END).encode("latin-1"))
            player.malformed += reader.dropped - dropped
            dropped = reader.dropped
    except OSError:  # the dealer has closed the connection
        pass
    return received
