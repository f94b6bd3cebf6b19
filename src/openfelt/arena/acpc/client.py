"""A bot of ours at a dealer's table: from each MATCHSTATE to what the bot sees, and its action back."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass

from openfelt.arena.acpc.betting import (
    NUMBERS,
    BettingLine,
    card_words,
    check_cards,
    dealt_words,
    first_line,
    follow,
    prepare,
)
from openfelt.arena.acpc.connection_lines import END, LineReader
from openfelt.arena.acpc.match_state import COMMENTS, VERSION, MatchState, MessageError, parse_match_state
from openfelt.bots.bot import Bot, Clock
from openfelt.bots.view import HoldemView, TreeView, View
from openfelt.core.errors import FeltError
from openfelt.core.random import ITERATION_DRAWS, Dice, starts
from openfelt.games.compile.compiler import compile_game
from openfelt.games.game import Game
from openfelt.games.holdem import Holdem

DECISION_DRAWS = 1 << 12  # numbers set apart for one decision; a hand has fewer than 256
CHUNK = 1 << 16  # bytes read at once
CONNECTING = 10.0  # seconds


@dataclass(frozen=True)
class Session:
    """What a bot did at a dealer's table."""

    hands: int  # played to their end
    won: float  # in our chips
    faults: int  # decisions in which the bot failed or named no possible action: it then checked or folded
    malformed: int  # lines of the dealer that were passed over


class Player:
    """A bot that hears the dealer's lines and answers them; knows nothing of connections."""

    def __init__(self, bot: Bot, game: Game, *, seed: int = 0, seconds: float = float("inf")) -> None:
        first_line(game)  # refuses a game that is not the protocol's
        prepare(game)
        self.bot, self.game, self.seconds = bot, game, seconds
        self.hands, self.won, self.faults, self.malformed = 0, 0.0, 0, 0
        self._start = int(starts(seed, 1)[0])
        self._ended = -1  # the hand that was last played to its end

    @property
    def session(self) -> Session:
        """What was played so far."""
        return Session(self.hands, self.won, self.faults, self.malformed)

    def hear(self, text: str) -> str | None:
        """The answer to a line, or None where there is nothing to say."""
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
        """The bot's word, or the check or fold that stands in for it."""
        view = view_of_state(self.game, state, line)
        place = state.hand * ITERATION_DRAWS + len(line.words) * DECISION_DRAWS
        try:
            word = self.bot.act(view, Dice(self._start, place), Clock(self.seconds))
            if word in view.actions:
                return word
        except Exception:  # a bot may be anybody's; a fault of its own costs it this decision, not the match
            pass
        self.faults += 1
        return view.actions[0]

    def _end(self, state: MatchState, line: BettingLine) -> None:
        self._ended = state.hand
        won = float(line.payoffs(dealt_words(self.game, state.hole, state.board))[state.position])
        self.hands, self.won = self.hands + 1, self.won + won
        try:
            self.bot.end_hand(view_of_state(self.game, state, line), won)
        except Exception:
            self.faults += 1


def view_of_state(game: Game, state: MatchState, line: BettingLine) -> View:
    """What a bot is given to see of a message."""
    seat = state.position
    # In the order of the rules, which is that of the letters f, c, r in hold'em and of c, r and f, c in Kuhn.
    actions = tuple(line.menu.values()) if line.turn == seat else ()
    if isinstance(game, Holdem):
        hole = [tuple(NUMBERS[card] for card in cards) for cards in state.hole]
        board = tuple(NUMBERS[card] for cards in state.board for card in cards)
        shown = {position: hole[position] for position in line.shown}
        return HoldemView(game, seat, actions, hole[seat], board, line.words, shown)
    tree = compile_game(game)
    seen = " ".join([card_words(game)[state.hole[seat][0]], *line.words])
    dealt = dealt_words(game, state.hole, state.board)
    return TreeView(
        game, seat, actions, tree, tree.find_row(seat, seen) if actions else -1, dealt, line.words
    )


def join(host: str, port: int, player: Player, *, joined: Callable[[], None] = lambda: None) -> Session:
    """Play at a dealer's table until it closes the connection."""
    where = f"{host}:{port}"
    try:
        connection = socket.create_connection((host, port), CONNECTING)
    except (OSError, UnicodeError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FeltError(f"There is no dealer at {where} ({reason}).") from None
    with connection:
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        joined()
        heard = _converse(connection, player)
    if not heard:
        raise FeltError(f"The dealer at {where} closed the connection before it had said anything.")
    return player.session


def _converse(connection: socket.socket, player: Player) -> bool:
    """Answer all that comes; whether anything did."""
    reader, heard, dropped = LineReader(), False, 0
    try:
        connection.sendall((VERSION + END).encode())
        while data := connection.recv(CHUNK):
            heard = True
            for text in reader.feed(data):
                answer = player.hear(text)
                if answer is not None:
                    connection.sendall((answer + END).encode("latin-1"))
            player.malformed += reader.dropped - dropped
            dropped = reader.dropped
    except OSError:  # the dealer has gone
        pass
    return heard
