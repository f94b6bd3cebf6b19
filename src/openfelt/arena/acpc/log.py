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
from itertools import islice, pairwise
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, TypeAlias

from openfelt.arena.acpc.competition_game import NAMES, CompetitionGame, definition_of, file_name, game_of
from openfelt.arena.acpc.game_definition import GameDefinition
from openfelt.arena.acpc.match_state import CardNames, MessageError, parse_number, parse_state, state_text
from openfelt.arena.acpc.protocol_game import card_names, check_cards, dealt_words, first_line, follow
from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import not_written
from openfelt.games.registry import load_game
from openfelt.hands.record import HandRecord

HEADER = "# name/game/hands/seed"
MOST_BYTES = 1 << 14  # of a line
TOLERANCE = 1e-5  # winnings have six digits after the decimal point
DIGITS = frozenset("0123456789.-")

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
    begins = [
        place for place, record in enumerate(hands) if not place or not _follows(hands[place - 1], record)
    ]
    with LogWriter(path, rules, hands=[*begins, len(hands)][1], seed=0) as log:
        for begin, end in pairwise([*begins, len(hands)]):
            if begin:
                log.begin(end - begin, seed=0)
            _write_match(log, hands[begin:end], states[begin:end])
    return len(hands)


def _follows(before: HandRecord, record: HandRecord) -> bool:
    return record.number == before.number + 1


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


def chips_text(won: Sequence[float]) -> str:
    """Winnings as in a log: at most six digits after the decimal point, without trailing zeros."""
    return "|".join(f"{value + 0.0:.6f}".rstrip("0").rstrip(".") for value in won)


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
    reader = _LogReader(None if definition is None else game_of(definition), partial)
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


class _LogReader:
    """Reads a log line by line, with the game, the winnings and the hands so far."""

    def __init__(self, rules: CompetitionGame | None, partial: bool) -> None:
        self._fixed_rules = self._rules = rules
        self._partial = partial
        self._won: dict[str, float] = {}
        self._hands = 0  # of the current match
        self._last = -1  # the number of the last one
        self._announced: int | None = None  # by the match's header

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
        if self._announced is not None or self._hands:
            self.finish()
        words = text.removeprefix(HEADER).split()
        if len(words) != 4:
            raise MessageError("the header must have a name, a game, the number of hands and a seed.")
        self._won, self._hands, self._announced = {}, 0, parse_number(words[2], "number of hands")
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
        self._count(number)
        for name, value in zip(names, exact, strict=True):
            self._won[name] = self._won.get(name, 0.0) + value
        return HandRecord(game.name, number, names, dealt, line.actions, tuple(exact))

    def _count(self, number: int) -> None:
        if self._hands and number != self._last + 1:
            raise MessageError(f"hand {number} follows hand {self._last}: the numbers must be consecutive.")
        if self._hands == self._announced:
            raise MessageError(f"the header announces {self._announced:,} hands, and this is one more.")
        self._hands, self._last = self._hands + 1, number

    def finish(self) -> None:
        """Raise if the match has fewer hands than announced."""
        if self._partial:
            return
        if self._announced is not None and self._hands < self._announced:
            raise MessageError(
                f"the header announces {self._announced:,} hands, but the match has {self._hands:,}."
            )
        if not self._hands:
            raise MessageError("the log has no hand.")

    def _score(self, winnings: str, who: str) -> None:
        self.finish()
        if self._rules is None:
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
