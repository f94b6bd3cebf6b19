"""The game definitions of the ACPC server: text files, as its README describes them.

    GAMEDEF
    limit
    numPlayers = 2
    ...
    END GAMEDEF

Case does not matter, `#` starts a comment, `=` is optional, and values beyond those needed are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from openfelt.core.errors import FileError

LIMIT, NO_LIMIT = "limit", "nolimit"
BEGIN, END = "GAMEDEF", "END GAMEDEF"
ONE, PLAYERS, ROUNDS = "one", "players", "rounds"  # how many values a key has
# The lines of a definition in the order of the server's own files: key, field, number of values.
KEYS = (
    ("numPlayers", "players", ONE),
    ("numRounds", "rounds", ONE),
    ("stack", "stacks", PLAYERS),
    ("blind", "blinds", PLAYERS),
    ("raiseSize", "raises", ROUNDS),
    ("firstPlayer", "first", ROUNDS),
    ("maxRaises", "most_raises", ROUNDS),
    ("numSuits", "suits", ONE),
    ("numRanks", "ranks", ONE),
    ("numHoleCards", "hole_cards", ONE),
    ("numBoardCards", "board_cards", ROUNDS),
)
MOST_BYTES = 1 << 16

Values: TypeAlias = "tuple[int, ...]"


@dataclass(frozen=True)
class GameDefinition:
    """A game in the terms of the protocol: positions are counted from the left of the button."""

    players: int
    rounds: int
    blinds: Values  # by position
    raises: Values  # what a bet or raise adds, by round; () in no-limit games
    suits: int
    ranks: int
    hole_cards: int
    board_cards: Values  # dealt in each round
    first: Values = ()  # first to act in each round, counted from 1; (): always position 1
    most_raises: Values = ()  # by round; (): no limit
    stacks: Values = ()  # by position; (): unlimited
    betting: str = LIMIT

    @property
    def text(self) -> str:
        """The definition as a file."""
        lines = [
            BEGIN,
            self.betting,
            *(self.line(key) for key, field, _ in KEYS if getattr(self, field) != ()),
        ]
        return "\n".join([*lines, END, ""])

    def line(self, key: str) -> str:
        """The line of a key: "maxRaises = 3 4 4 4"."""
        value = getattr(self, next(field for known, field, _ in KEYS if known == key))
        return f"{key} = {' '.join(map(str, value)) if isinstance(value, tuple) else value}"


def read_definition(path: Path) -> GameDefinition:
    """Read a definition from a file."""
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1).decode()
    except OSError as error:
        raise FileError(f"The game definition {path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not a game definition: it is not UTF-8 text.") from None
    if len(text) > MOST_BYTES:
        raise FileError(f"{path} is not a game definition: it has over {MOST_BYTES} characters.")
    return parse_definition(text, str(path))


def parse_definition(text: str, where: str = "The game definition") -> GameDefinition:
    """Parse a definition; `where` is named in error messages."""
    betting, found = "", dict[str, tuple[int, ...]]()
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].replace("=", " ").split()
        phrase = " ".join(words).lower()
        if phrase == END.lower():
            break
        if phrase in (LIMIT, NO_LIMIT):
            if betting not in ("", phrase):
                raise FileError(f"{where}, line {number}: the game is {LIMIT} and {NO_LIMIT}.")
            betting = phrase
        elif words and phrase != BEGIN.lower():
            field = next((field for key, field, _ in KEYS if key.lower() == words[0].lower()), None)
            if field is None:
                raise FileError(
                    f"{where}, line {number}: '{line.strip()[:60]}' is not a line of a game definition."
                )
            if field in found:
                raise FileError(f"{where}, line {number}: {words[0]} is given twice.")
            found[field] = _numbers(words[1:], f"{where}, line {number}: {words[0]}")
    else:
        raise FileError(f"{where} has no line '{END}'.")
    return _definition(found, betting or LIMIT, where)


def _numbers(words: Sequence[str], where: str) -> tuple[int, ...]:
    if not words or not all(word.isdecimal() and word.isascii() and len(word) < 10 for word in words):
        raise FileError(f"{where} takes whole numbers, not '{' '.join(words)[:60]}'.")
    return tuple(map(int, words))


def _definition(found: dict[str, tuple[int, ...]], betting: str, where: str) -> GameDefinition:
    """Each key has one value, or one per player or round."""
    fields: dict[str, int | tuple[int, ...]] = {}
    optional = {"stacks", "first", "most_raises", *(["raises"] if betting == NO_LIMIT else [])}
    for key, field, kind in KEYS:
        if field in found:
            count = 1 if kind == ONE else int(fields[kind])  # type: ignore[arg-type]
            if len(found[field]) < count:
                raise FileError(f"{where}: {key} needs {count} numbers, not {len(found[field])}.")
            if kind == ONE and found[field][0] == 0:
                raise FileError(f"{where}: {key} must be at least 1.")
            fields[field] = found[field][0] if kind == ONE else found[field][:count]
        elif field not in optional:
            raise FileError(f"{where} has no line '{key} = ...'.")
        else:
            fields[field] = ()
    return GameDefinition(**fields, betting=betting)  # type: ignore[arg-type]
