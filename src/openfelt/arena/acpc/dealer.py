"""The dealer: plays a match between programs that join over the network, as the ACPC server does.

docs/acpc.md lists how it follows the server (`dealer.c` of project_acpc_server) and where it differs. In
short: a message that does not answer the current state is ignored; a missing or illegal action becomes a call
and is counted. Where the server ends the match (no answer in time, a lost connection, too many illegal
actions), here the player checks or folds, and the match continues.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType

from openfelt.arena.acpc.betting_line import BettingLine
from openfelt.arena.acpc.competition_game import CompetitionGame
from openfelt.arena.acpc.connection_lines import END
from openfelt.arena.acpc.listener import Listener
from openfelt.arena.acpc.log import LogWriter, check_names
from openfelt.arena.acpc.match_state import CALL, COMMENTS, CardNames, MatchState, read_answer
from openfelt.arena.acpc.player_connection import PlayerConnection
from openfelt.arena.acpc.protocol_game import card_names, dealt_words, first_line, protocol_game
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice, starts

CARD_DRAWS = 64  # random numbers reserved for the cards of a hand
GRACE = 1.0  # seconds for a player to read the last messages
SECONDS_PER_HAND = 7.0  # on average over a match


@dataclass(frozen=True)
class Limits:
    """Time limits in seconds; the defaults are those of the ACPC server."""

    action: float = 600.0  # for one action
    hand: float = 600.0  # for a player's actions in one hand
    match: float | None = None  # for those in the match; by default seven seconds per hand
    start: float | None = None  # for all players to join; None: no limit
    invalid: int | None = None  # illegal actions after which the dealer no longer waits for a player


@dataclass(frozen=True)
class DealerResult:
    """The result of a match; players are in the order of their ports."""

    hands: int
    names: tuple[str, ...]
    won: tuple[float, ...]  # in our chips
    score: tuple[float, ...]  # in those of the definition
    invalid: tuple[int, ...]  # missing or illegal actions, replaced by a call
    late: tuple[int, ...]  # actions that did not arrive in time, replaced by a check or fold
    ignored: tuple[int, ...]  # messages that answered no state
    left: tuple[int | None, ...]  # the first hand in which a player that had disconnected was missing


class Dealer:
    """Listens from its creation on; use it in a `with` statement, which closes all connections."""

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
                f"{rules.game.name} needs {players} ports, one per player; {len(ports)} were given."
            )
        self._listener = Listener(host, ports or [0] * players, self.names)
        protocol_game(rules.game).prepare()
        self._start = int(starts(seed, 1)[0])
        self._players: list[PlayerConnection] = []

    @property
    def ports(self) -> list[int]:
        """The ports at which players join, in the order of their names."""
        return self._listener.ports

    @property
    def match_limit(self) -> float:
        """Seconds for all actions of a player."""
        return self.limits.match or SECONDS_PER_HAND * self.hands

    def __enter__(self) -> Dealer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()

    def wait(self) -> None:
        """Wait until all players have joined."""
        self._players = self._listener.wait(self.limits.start)

    def play(
        self, log: LogWriter | None = None, progress: Callable[[int], None] = lambda done: None
    ) -> DealerResult:
        """Play the match; `progress` is called with the number of finished hands."""
        if not self._players:
            self.wait()
        players, won = len(self._players), [0.0] * len(self._players)
        for number in range(self.hands):
            # The player at the first port has position 0 in the first hand; then all move on by one.
            positions = [self._players[(position + number) % players] for position in range(players)]
            hole, board = self._deal(number)
            line = self._play_hand(number, positions, hole, board)
            table = board[: line.letters.count("/")]
            payoffs = line.payoffs(dealt_words(self.rules.game, hole, table))
            if log:
                log.hand(number, line.letters, hole, table, payoffs, [player.name for player in positions])
            for position, chips in enumerate(payoffs):
                won[(position + number) % players] += chips
            progress(number + 1)
        if log:
            log.score(won, self.names)
        for player in self._players:
            player.flush()
        for player in self._players:
            player.finish(time.monotonic() + GRACE)
        return self._result(won)

    def _deal(self, number: int) -> tuple[tuple[CardNames, ...], tuple[CardNames, ...]]:
        """Hole cards by position and board cards by round; they depend on the seed and the number alone."""
        definition = self.rules.definition
        deck, dice = list(card_names(self.rules.game)), Dice(self._start, number * CARD_DRAWS)
        counts = [definition.hole_cards] * definition.players + list(definition.board_cards[1:])
        hands = []
        for count in counts:
            hands.append(tuple(deck.pop(int(dice.uniform() * len(deck))) for _ in range(count)))
        return tuple(hands[: definition.players]), tuple(hands[definition.players :])

    def _play_hand(
        self,
        number: int,
        positions: Sequence[PlayerConnection],
        hole: tuple[CardNames, ...],
        board: tuple[CardNames, ...],
    ) -> BettingLine:
        for player in positions:
            player.hand_used = 0.0
        line = first_line(self.rules.game)
        while True:
            states = match_states(number, line, hole, board)
            texts = [state.text for state in states]
            for player, text in zip(positions, texts, strict=True):
                player.send((text + END).encode(), more=line.over)  # the next hand starts at once
            if line.over:
                return line
            turn = line.turn
            line = line.take(self._action(positions[turn], states[turn], texts[turn], line))

    def _action(self, player: PlayerConnection, state: MatchState, text: str, line: BettingLine) -> str:
        """The letter that a player chooses, or its replacement."""
        limits = self.limits
        if not (player.gone or (limits.invalid is not None and player.invalid > limits.invalid)):
            begun = time.monotonic()
            timeout = min(limits.action, limits.hand - player.hand_used, self.match_limit - player.match_used)
            letter = _answer(player, state, text, begun + timeout)
            used = time.monotonic() - begun
            player.hand_used += used
            player.match_used += used
            if letter is not None and letter in line.legal:
                return letter
            if letter is not None:
                player.invalid += 1
                return CALL
            player.late += not player.gone
        if player.gone and player.left is None:
            player.left = state.hand
        return line.check_or_fold

    def _result(self, won: Sequence[float]) -> DealerResult:
        connections = self._players
        return DealerResult(
            hands=self.hands,
            names=tuple(self.names),
            won=tuple(won),
            score=tuple(chips * float(self.rules.chip) for chips in won),
            invalid=tuple(player.invalid for player in connections),
            late=tuple(player.late for player in connections),
            ignored=tuple(player.ignored for player in connections),
            left=tuple(player.left for player in connections),
        )


def _answer(player: PlayerConnection, state: MatchState, text: str, until: float) -> str | None:
    """The letter of a player's answer ("" if it has none), or None if none arrives in time."""
    while (line := player.receive(until)) is not None:
        if line.startswith(COMMENTS):
            continue
        letter = read_answer(line, state, text)
        if letter is not None:
            return letter
        player.ignored += 1
    return None


def match_states(
    number: int, line: BettingLine, hole: tuple[CardNames, ...], board: tuple[CardNames, ...]
) -> list[MatchState]:
    """The message for each position: with its own cards, and at the end those that are shown."""
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
