"""Match logs in the competition's format, written and read.

    # name/game/hands/seed match holdem.limit.2p.reverse_blinds.game 3000 1
    STATE:0:crrrc/rrc/rf:3s5d|Td2s/4d5c4s/Kd:60|-60:Alice|Bob
    ...
    SCORE:100|-100:Alice|Bob

A STATE line has all hole cards, what each position has won and who sat there; SCORE is by player. The chips
of a log are those of the game definition, those of a record are ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from openfelt.arena.acpc.betting import card_words, check_cards, dealt_words, first_line, follow
from openfelt.arena.acpc.game_definition import (
    NAMES,
    CompetitionGame,
    GameDefinition,
    definition_of,
    file_name,
    game_of,
)
from openfelt.arena.acpc.match_state import Hand, MessageError, parse_state, state_text
from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import not_written
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord

HEADER = "# name/game/hands/seed"
MOST_BYTES = 1 << 14  # of a line
ROUNDED = 1e-5  # winnings have six digits after the point
DIGITS = frozenset("0123456789.-")


class LogWriter:
    """Writes a log as the match goes on: what is finished is in the file."""

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
            raise FileError(f"{path} is there already; name another file for the log.") from None
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
        hole: tuple[Hand, ...],
        board: tuple[Hand, ...],
        won: Sequence[float],
        names: Sequence[str],
    ) -> None:
        """A hand that is over; winnings are in our chips, by position."""
        state = state_text(number, tuple(letters.split("/")), hole, board)
        self._write(f"STATE:{state}:{self._chips(won)}:{'|'.join(names)}")

    def score(self, won: Sequence[float], names: Sequence[str]) -> None:
        """The end of the match."""
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
    """Names that can stand in a log."""
    if len(names) != players:
        raise FeltError(f"There are {players} players, so as many names are needed, not {len(names)}.")
    for name in names:
        if not name or any(letter in ":|" or letter.isspace() or not letter.isprintable() for letter in name):
            raise FeltError(f"A player's name has no colon, bar or space, unlike '{name}'.")
    return list(names)


def write_log(path: Path, records: Iterable[HandRecord]) -> int:
    """Write finished hands of one game as a log, whose seed is told as 0; returns how many there are."""
    hands = list(records)
    if not hands:
        raise FeltError("There is no hand to write.")
    rules = definition_of(load_game(hands[0].game))
    states = [_state_of(rules, record) for record in hands]
    won: dict[str, float] = {}
    for record in hands:
        if record.game != hands[0].game:
            raise FeltError(f"A log has hands of one game, not of {hands[0].game} and {record.game}.")
        for name, chips in zip(check_names(record.names, rules.game.players), record.won, strict=True):
            won[name] = won.get(name, 0.0) + chips
    with LogWriter(path, rules, hands=len(hands), seed=0) as log:
        for record, (letters, hole, board) in zip(hands, states, strict=True):
            log.hand(record.number, letters, hole, board, record.won, record.names)
        if len(won) == rules.game.players:
            log.score(list(won.values()), list(won))
    return len(hands)


def _state_of(rules: CompetitionGame, record: HandRecord) -> tuple[str, tuple[Hand, ...], tuple[Hand, ...]]:
    """The letters and cards of a record."""
    definition, line = rules.definition, first_line(rules.game)
    for word in record.actions:
        if word not in line.menu.values():
            raise FeltError(f"In hand {record.number} nobody could {word} after '{line.letters}'.")
        line = line.take(line.letter(word))
    cards = {word: card for card, word in card_words(rules.game).items()}
    dealt = iter([cards.get(word, "") for word in record.dealt])  # a hidden card is no card
    hole = tuple(tuple(filter(None, islice(dealt, definition.hole_cards))) for _ in record.names)
    reached = definition.board_cards[1 : 1 + line.letters.count("/")]
    board = tuple(tuple(filter(None, islice(dealt, count))) for count in reached)
    if not line.over or dealt_words(rules.game, hole, board) != record.dealt:
        raise FeltError(f"Hand {record.number} is not a whole hand of {record.game}.")
    return line.letters, hole, board


def chips_text(won: Sequence[float]) -> str:
    """Winnings as a log has them: six digits after the point at most, without zeros at the end."""
    return "|".join(f"{value + 0.0:.6f}".rstrip("0").rstrip(".") for value in won)


def read_log(path: Path | str, definition: GameDefinition | None = None) -> Iterator[HandRecord]:
    """The hands of a log, one after the other.

    A line that is damaged ends them with a FileError that names it; all hands before it have been given. The
    game is that of the log's header if it is one of the server's own or of ours, else that of `definition`.
    """
    path = Path(path)
    reader = _LogReader(None if definition is None else game_of(definition))
    try:
        with path.open("rb") as file:
            for number, text in _lines(file, path):
                try:
                    record = reader.read(text)
                except FeltError as error:
                    raise FileError(f"{path}, line {number}: {error}") from None
                if record:
                    yield record
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror}).") from None


def _lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    while raw := file.readline(MOST_BYTES + 1):
        number += 1
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            raise FileError(f"{path}, line {number}: it is not a text.") from None
        if len(raw) > MOST_BYTES:
            raise FileError(f"{path}, line {number}: it has over {MOST_BYTES} bytes.")
        if not text.endswith("\n") and text.startswith("STATE"):
            raise FileError(f"{path}, line {number}: it was cut off.")
        yield number, text.strip()


class _LogReader:
    """Line by line; knows the game and what the hands so far sum to."""

    def __init__(self, rules: CompetitionGame | None) -> None:
        self._given = self._rules = rules
        self._won: dict[str, float] = {}
        self._hands = 0

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
        self._won, self._hands = {}, 0
        words = text.removeprefix(HEADER).split()
        if len(words) != 4:
            raise MessageError("the header has no name, game, hands and seed.")
        if self._given is None:
            name = os.path.basename(words[1])
            self._rules = definition_of(NAMES[name]) if name in NAMES else _by_our_name(words[1])

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
            if any(abs(own - given) > ROUNDED for own, given in zip(ours, won, strict=True)):
                raise MessageError(f"by the rules the winnings are {chips_text(ours)}, not {winnings}.")
        for name, value in zip(names, exact, strict=True):
            self._won[name] = self._won.get(name, 0.0) + value
        self._hands += 1
        return HandRecord(game.name, number, names, dealt, line.words, tuple(exact))

    def _score(self, winnings: str, who: str) -> None:
        if self._rules is None:
            return
        names = who.split("|")
        given = dict(zip(names, _numbers(winnings, len(names)), strict=True))
        chip, slack = float(self._rules.chip), ROUNDED * (1 + self._hands)
        if len(given) < len(names):  # namesakes cannot be told apart
            return
        for name, value in given.items():
            summed = self._won.get(name, 0.0) * chip
            if abs(summed - value) > slack:
                raise MessageError(
                    f"{name}'s hands sum to {chips_text([summed])}, not {chips_text([value])}."
                )


def _by_our_name(name: str) -> CompetitionGame:
    try:
        return definition_of(load_game(name))
    except FeltError:
        raise MessageError(f"the game '{name}' is none of ours by name; give its definition.") from None


def _numbers(text: str, count: int) -> list[float]:
    words = text.split("|")
    try:
        if len(words) != count or not DIGITS.issuperset(text.replace("|", "")):
            raise ValueError
        return [float(word) for word in words]
    except ValueError:
        raise MessageError(f"'{text[:60]}' are not the winnings of {count} players.") from None
