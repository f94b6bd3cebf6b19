"""Match logs of the ACPC, written and read.

    # name/game/hands/seed match holdem.limit.2p.reverse_blinds.game 3000 1
    STATE:0:crrrc/rrc/rf:3s5d|Td2s/4d5c4s/Kd:60|-60:Alice|Bob
    ...
    SCORE:100|-100:Alice|Bob

A STATE line has all hole cards, and the winnings and players by position; SCORE is by player. The chips of a
log are those of the game definition, those of a record are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, TypeAlias

from openfelt.arena.acpc.competition_game import CompetitionGame, definition_of, file_name, game_of
from openfelt.arena.acpc.game_definition import GameDefinition
from openfelt.arena.acpc.log_reader import HEADER, LogReader, chips_text
from openfelt.arena.acpc.match_state import CardNames, MessageError, state_text
from openfelt.arena.acpc.protocol_game import card_names, dealt_words, first_line
from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import not_written
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord

MOST_BYTES = 1 << 14  # of a line
_State: TypeAlias = "tuple[str, tuple[CardNames, ...], tuple[CardNames, ...]]"  # letters, hole cards, board


class LogWriter:
    """Writes a log during the match; finished hands are in the file at once."""

    def __init__(
        self,
        path: Path,
        rules: CompetitionGame,
        *,
        hands: int,
        seed: int,
        game_name: str = "",
        comments: Sequence[str] = (),
    ) -> None:
        self._path, self._chip = path, float(rules.chip)
        self._game_name = game_name or file_name(rules)
        try:
            self._file = path.open("x", encoding="utf-8", buffering=1)
        except FileExistsError:
            raise FileError(f"{path} exists already; choose another file for the log.") from None
        except OSError as error:
            raise not_written(path, error) from None
        self.begin(hands, seed)
        for comment in comments:
            self._write(f"#{comment}")

    def begin(self, hands: int, seed: int) -> None:
        """Write the header of a match of so many hands."""
        name = "".join("_" if letter.isspace() else letter for letter in self._path.stem)
        self._write(f"{HEADER} {name} {self._game_name} {hands} {seed}")

    def hand(
        self,
        number: int,
        letters: str,
        hole: tuple[CardNames, ...],
        board: tuple[CardNames, ...],
        won: Sequence[float],
        names: Sequence[str],
    ) -> None:
        """Write a finished hand; winnings are in our chips, by position."""
        state = state_text(number, tuple(letters.split("/")), hole, board)
        self._write(f"STATE:{state}:{self._chips(won)}:{'|'.join(names)}")

    def score(self, won: Sequence[float], names: Sequence[str]) -> None:
        """Write the last line of the match."""
        self._write(f"SCORE:{self._chips(won)}:{'|'.join(names)}")

    def _chips(self, won: Sequence[float]) -> str:
        return chips_text([value * self._chip for value in won])

    def _write(self, line: str) -> None:
        try:
            self._file.write(line + "\n")
        except OSError as error:
            raise not_written(self._path, error) from None

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def check_names(names: Sequence[str], players: int) -> list[str]:
    """Raise if the names cannot be written to a log."""
    if len(names) != players:
        raise FeltError(f"{players} names are needed, one per player; {len(names)} were given.")
    for name in names:
        if not name or any(letter in ":|" or letter.isspace() or not letter.isprintable() for letter in name):
            raise FeltError(f"A player's name must have no colon, bar or space, unlike '{name}'.")
    return list(names)


def write_log(path: Path, records: Iterable[HandRecord]) -> int:
    """Write finished hands of one game as a log with seed 0; returns their number.

    The numbers of a match are consecutive: where they are not, another match begins, with its own header.
    """
    hands = list(records)
    if not hands:
        raise FeltError("There is no hand to write.")
    rules = definition_of(load_game(hands[0].game))
    states = [_state_of(rules, record) for record in hands]
    for record in hands:
        if record.game != hands[0].game:
            raise FeltError(f"A log must have hands of one game, not of {hands[0].game} and {record.game}.")
        check_names(record.names, rules.game.players)
    gaps = [place for place in range(1, len(hands)) if hands[place].number != hands[place - 1].number + 1]
    bounds = [0, *gaps, len(hands)]
    with LogWriter(path, rules, hands=bounds[1], seed=0) as log:
        for begin, end in pairwise(bounds):
            if begin:
                log.begin(end - begin, seed=0)
            _write_match(log, hands[begin:end], states[begin:end])
    return len(hands)


def _write_match(log: LogWriter, hands: Sequence[HandRecord], states: Sequence[_State]) -> None:
    won: dict[str, float] = {}
    for record, (letters, hole, board) in zip(hands, states, strict=True):
        log.hand(record.number, letters, hole, board, record.won, record.names)
        for name, chips in zip(record.names, record.won, strict=True):
            won[name] = won.get(name, 0.0) + chips
    if len(won) == len(hands[0].names):
        log.score(list(won.values()), list(won))


def _state_of(rules: CompetitionGame, record: HandRecord) -> _State:
    """The letters and cards of a record."""
    definition, line = rules.definition, first_line(rules.game)
    for word in record.actions:
        if word not in line.legal.values():
            raise FeltError(f"In hand {record.number} the action {word} is not legal after '{line.letters}'.")
        line = line.take(line.letter(word))
    cards = {word: card for card, word in card_names(rules.game).items()}
    dealt = iter([cards.get(word, "") for word in record.dealt])  # "" for a hidden card
    hole = tuple(tuple(filter(None, islice(dealt, definition.hole_cards))) for _ in record.names)
    reached = definition.board_cards[1 : 1 + line.letters.count("/")]
    board = tuple(tuple(filter(None, islice(dealt, count))) for count in reached)
    if not line.over or dealt_words(rules.game, hole, board) != record.dealt:
        raise FeltError(f"Hand {record.number} is not a complete hand of {record.game}.")
    return line.letters, hole, board


def read_log(
    path: Path | str, definition: GameDefinition | None = None, *, partial: bool = False
) -> Iterator[HandRecord]:
    """The hands of a log, one by one.

    A damaged line raises a FileError that names it, after all hands before it were returned. So does a log
    with fewer hands than its header announces, unless `partial` allows it (a dealer that was stopped leaves
    such a log). The game is that of `definition` if it is given; otherwise the log's header must name one of
    the server's files or of our games.
    """
    path = Path(path)
    reader = LogReader(None if definition is None else game_of(definition), partial)
    try:
        with path.open("rb") as file:
            for number, text in _lines(file, path):
                try:
                    record = reader.read(text)
                except FeltError as error:
                    raise FileError(f"{path}, line {number}: {error}") from None
                if record:
                    yield record
        try:
            reader.finish()
        except MessageError as error:
            raise FileError(f"{path}: {error}") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}).") from None


def _lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    while raw := file.readline(MOST_BYTES + 1):
        number += 1
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            raise FileError(f"{path}, line {number}: it is not UTF-8 text.") from None
        if len(raw) > MOST_BYTES:
            raise FileError(f"{path}, line {number}: it has over {MOST_BYTES} bytes.")
        if not text.endswith("\n") and text.startswith("STATE"):
            raise FileError(f"{path}, line {number}: it was cut off.")
        yield number, text.strip()
