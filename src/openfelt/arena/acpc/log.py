"""Match logs of the ACPC, written and read.

    # name/game/hands/seed match holdem.limit.2p.reverse_blinds.game 3000 1
    STATE:0:crrrc/rrc/rf:3s5d|Td2s/4d5c4s/Kd:60|-60:Alice|Bob
    ...
    SCORE:100|-100:Alice|Bob

A STATE line has all hole cards, and the winnings and players by position; SCORE is by player. The chips of a
log are those of the game definition, those of a record are ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from openfelt.arena.acpc.competition_game import NAMES, CompetitionGame, definition_of, file_name, game_of
from openfelt.arena.acpc.game_definition import GameDefinition
from openfelt.arena.acpc.match_state import CardNames, MessageError, parse_state, state_text
from openfelt.arena.acpc.protocol_game import card_names, check_cards, dealt_words, first_line, follow
from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import not_written
from openfelt.games.registry import load_game
from openfelt.hands.bad_hand import BadHandError, Skip, refuse
from openfelt.hands.check import check_record
from openfelt.hands.record import HIDDEN, HandRecord

HEADER = "# name/game/hands/seed"
MOST_BYTES = 1 << 14  # of a line
TOLERANCE = 1e-5  # winnings have six digits after the decimal point
DIGITS = frozenset("0123456789.-")


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
        try:
            self._file = path.open("x", encoding="utf-8", buffering=1)
        except FileExistsError:
            raise FileError(f"{path} exists already; choose another file for the log.") from None
        except OSError as error:
            raise not_written(path, error) from None
        name = "".join("_" if letter.isspace() else letter for letter in path.stem)
        self._write(f"{HEADER} {name} {game_name or file_name(rules)} {hands} {seed}")
        for comment in comments:
            self._write(f"#{comment}")

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
    """Write finished hands of one game as a log with seed 0; returns their number."""
    hands = list(records)
    if not hands:
        raise FeltError("There is no hand to write.")
    rules = definition_of(load_game(hands[0].game))
    states = [_state_of(rules, record) for record in hands]
    won: dict[str, float] = {}
    for record in hands:
        if record.game != hands[0].game:
            raise FeltError(f"A log must have hands of one game, not of {hands[0].game} and {record.game}.")
        for name, chips in zip(check_names(record.names, rules.game.players), record.won, strict=True):
            won[name] = won.get(name, 0.0) + chips
    with LogWriter(path, rules, hands=len(hands), seed=0) as log:
        for record, (letters, hole, board) in zip(hands, states, strict=True):
            log.hand(record.number, letters, hole, board, record.won, record.names)
        if len(won) == rules.game.players:
            log.score(list(won.values()), list(won))
    return len(hands)


def _state_of(
    rules: CompetitionGame, record: HandRecord
) -> tuple[str, tuple[CardNames, ...], tuple[CardNames, ...]]:
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


def chips_text(won: Sequence[float]) -> str:
    """Winnings as in a log: at most six digits after the decimal point, without trailing zeros."""
    return "|".join(f"{value + 0.0:.6f}".rstrip("0").rstrip(".") for value in won)


def read_log(
    path: Path | str, definition: GameDefinition | None = None, *, skip: Skip | None = None
) -> Iterator[HandRecord]:
    """The hands of a log, one by one.

    A damaged line raises a FileError that names it, after all hands before it were returned; or it is skipped
    and `skip` is called with the error. The game is that of `definition` if it is given; otherwise the log's
    header must name one of the server's files or of our games.
    """
    path = Path(path)
    reader = _LogReader(None if definition is None else game_of(definition))
    try:
        with path.open("rb") as file:
            for number, raw in _lines(file, path):
                try:
                    record = reader.read(_text(raw))
                except FeltError as error:
                    fault = BadHandError(path, f"line {number}", str(error))
                    refuse(fault, skip if reader.is_hand(raw) else None)
                    reader.lost_line = True
                    continue
                if record:
                    yield record
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}).") from None


def _lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, bytes]]:
    number = 0
    while raw := file.readline(MOST_BYTES + 1):
        number += 1
        if len(raw) > MOST_BYTES:
            raise FileError(f"{path}, line {number}: it has over {MOST_BYTES} bytes.")
        yield number, raw


def _text(raw: bytes) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise MessageError("it is not UTF-8 text.") from None
    if not text.endswith("\n") and text.startswith("STATE"):
        raise MessageError("it was cut off.")
    return text.strip()


class _LogReader:
    """Reads a log line by line, with the game and the winnings so far."""

    def __init__(self, rules: CompetitionGame | None) -> None:
        self._fixed_rules = self._rules = rules
        self._won: dict[str, float] = {}
        self._hands = 0
        self.lost_line = False  # a line of the match was skipped, so its hands may not be all

    def is_hand(self, raw: bytes) -> bool:
        """Whether a line that cannot be read may be a hand of a game that is known."""
        return self._rules is not None and not raw.startswith((HEADER.encode(), b"SCORE"))

    def read(self, text: str) -> HandRecord | None:
        if text.startswith(HEADER):
            self._header(text)
            return None
        if not text or text.startswith("#"):
            return None
        kind, *fields = text.split(":")
        if kind == "STATE" and len(fields) == 5:
            return self._hand(*fields)
        if kind == "SCORE" and len(fields) == 2:
            self._score(*fields)
            return None
        raise MessageError("it is neither a comment nor STATE with five fields nor SCORE with two.")

    def _header(self, text: str) -> None:
        self._won, self._hands, self.lost_line = {}, 0, False
        words = text.removeprefix(HEADER).split()
        if len(words) != 4:
            raise MessageError("the header must have a name, a game, the number of hands and a seed.")
        if self._fixed_rules is None:
            name = os.path.basename(words[1])
            self._rules = definition_of(NAMES[name]) if name in NAMES else _game_by_name(words[1])

    def _hand(self, hand: str, betting: str, cards: str, winnings: str, who: str) -> HandRecord:
        if self._rules is None:
            raise MessageError("the log has no header that names the game; give its definition.")
        game, _, chip = self._rules
        number, rounds, hole, board = parse_state(hand, betting, cards)
        line = follow(game, rounds)
        if not line.over:
            raise MessageError(f"the hand is not over after '{line.letters}'.")
        check_cards(game, hole, board)
        won, names = _numbers(winnings, game.players), tuple(who.split("|"))
        if len(names) != game.players:
            raise MessageError(f"there are {len(names)} names for {game.players} players.")
        dealt = dealt_words(game, hole, board)
        if any(not hole[position] for position in line.shown):
            exact = [value / float(chip) for value in won]
        else:
            exact = list(line.payoffs(dealt))
            ours = [value * float(chip) for value in exact]
            if any(abs(own - given) > TOLERANCE for own, given in zip(ours, won, strict=True)):
                raise MessageError(f"by the rules the winnings are {chips_text(ours)}, not {winnings}.")
        for name, value in zip(names, exact, strict=True):
            self._won[name] = self._won.get(name, 0.0) + value
        self._hands += 1
        record = HandRecord(game.name, number, names, dealt, line.actions, tuple(exact))
        if HIDDEN in dealt and (fault := check_record(record)):
            raise MessageError(fault)
        return record

    def _score(self, winnings: str, who: str) -> None:
        if self._rules is None or self.lost_line:
            return
        names = who.split("|")
        given = dict(zip(names, _numbers(winnings, len(names)), strict=True))
        chip, slack = float(self._rules.chip), TOLERANCE * (1 + self._hands)
        if len(given) < len(names):  # players with the same name cannot be distinguished
            return
        for name, value in given.items():
            summed = self._won.get(name, 0.0) * chip
            if abs(summed - value) > slack:
                raise MessageError(
                    f"{name}'s hands sum to {chips_text([summed])}, not {chips_text([value])}."
                )


def _game_by_name(name: str) -> CompetitionGame:
    try:
        return definition_of(load_game(name))
    except FeltError:
        raise MessageError(f"the game '{name}' is not known by that name; give its definition.") from None


def _numbers(text: str, count: int) -> list[float]:
    words = text.split("|")
    try:
        if len(words) != count or not DIGITS.issuperset(text.replace("|", "")):
            raise ValueError
        return [float(word) for word in words]
    except ValueError:
        raise MessageError(f"'{text[:60]}' are not the winnings of {count} players.") from None
