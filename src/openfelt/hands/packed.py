"""The compact form in which hands are stored: cards as bytes, actions as letters, winnings in half chips."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from openfelt.core.errors import FeltError
from openfelt.games.holdem import CARD_NUMBERS, Holdem, is_holdem_name
from openfelt.games.registry import load_game
from openfelt.hands.record import HIDDEN, HandRecord

UNKNOWN = 255  # a card that is hidden or was not dealt; the end of a betting line
ACTIONS = ("fold", "check", "call", "bet", "raise")  # in the order of their numbers
LETTERS = "fkcbr"  # the same in a store
BYTE_OF = {**CARD_NUMBERS, HIDDEN: UNKNOWN}
CARD_OF = {byte: card for card, byte in BYTE_OF.items()}
LETTER_OF = dict(zip(ACTIONS, LETTERS, strict=True))
ACTION_OF = dict(zip(LETTERS, ACTIONS, strict=True))
SMALL = 1 << 15  # half chips that fit in two bytes


@dataclass(frozen=True, eq=False)
class Sitting:
    """A match, its game and the players by seat."""

    match: str
    game: str
    names: tuple[str, ...]  # by seat

    @cached_property
    def is_holdem(self) -> bool:
        """Whether cards are bytes and actions letters; in other games both are JSON lists of words."""
        return is_holdem_name(self.game)

    def is_played_by(self, rules: Holdem) -> bool:
        """Whether the game has these rules, with any abstraction."""
        return self.is_holdem and load_game(self.game).unabstracted == rules.unabstracted

    @cached_property
    def seal(self) -> int:
        """A checksum."""
        return zlib.crc32(repr((self.match, self.game, self.names)).encode())

    @property
    def key(self) -> tuple[str, str, str]:
        """The columns that identify it in a store."""
        return self.match, self.game, json.dumps(self.names)


class Row(NamedTuple):
    """A stored hand."""

    number: int
    dealt: bytes
    actions: str
    won: bytes


def new_sitting(match: str, game: str, names: tuple[str, ...]) -> Sitting:
    """A sitting, after a check of the number of names."""
    sitting = Sitting(match, game, names)
    players = load_game(game).players if sitting.is_holdem else len(names)
    if players != len(names):
        raise FeltError(f"{game} has {players} players, but {len(names)} names were given.")
    return sitting


def pack(sitting: Sitting, record: HandRecord) -> Row:
    """The compact form of a hand."""
    if len(record.won) != len(sitting.names):
        raise FeltError(
            f"Hand {record.number} has {len(record.won)} winnings for {len(sitting.names)} players."
        )
    if not sitting.is_holdem:
        dealt, actions = json.dumps(record.dealt).encode(), json.dumps(record.actions)
        return Row(record.number, dealt, actions, _won(record.won))
    try:
        dealt = bytes([BYTE_OF[card] for card in record.dealt])
        actions = "".join([LETTER_OF[word] for word in record.actions])
    except KeyError as error:
        raise FeltError(f"Hand {record.number}: {error} is not a card or action of hold'em.") from None
    return Row(record.number, dealt, actions, _won(record.won))


def unpack(sitting: Sitting, row: Row) -> HandRecord:
    """The inverse of `pack`; raises FeltError for what `pack` never writes."""
    try:
        if sitting.is_holdem:
            dealt = tuple([CARD_OF[byte] for byte in row.dealt])
            actions = tuple([ACTION_OF[letter] for letter in row.actions])
        else:
            dealt, actions = words_of(row.dealt), words_of(row.actions)
        won = chips_of(row.won, len(sitting.names))
    except (KeyError, ValueError, RecursionError, struct.error):
        raise FeltError("its cards, actions or winnings cannot be read.") from None
    return HandRecord(sitting.game, row.number, sitting.names, dealt, actions, won)


def words_of(text: str | bytes) -> tuple[str, ...]:
    """The words of a JSON list; raises ValueError for any other text."""
    words = json.loads(text)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError("not a list of words")
    return tuple(words)


def _won(chips: Sequence[float]) -> bytes:
    """Two bytes per seat if all are whole numbers of half chips, else eight."""
    halves = [2.0 * each for each in chips]
    if all(half.is_integer() and -SMALL < half < SMALL for half in halves):
        return struct.pack(f"<{len(halves)}h", *map(int, halves))
    return struct.pack(f"<{len(halves)}d", *chips)


def chips_of(won: bytes, players: int) -> tuple[float, ...]:
    """The winnings by seat, in chips."""
    if len(won) == 8 * players:
        return struct.unpack(f"<{players}d", won)
    return tuple([half / 2 for half in struct.unpack(f"<{players}h", won)])


def seal_of(sitting: Sitting, row: Row) -> int:
    """A checksum of a hand and its sitting."""
    number, dealt, actions, won = row
    return zlib.crc32(b"%d %b %b %b" % (number, dealt, actions.encode(), won), sitting.seal) >> 1


def is_sealed(seal: int, sitting: Sitting, row: Row) -> bool:
    """Whether a stored hand is unchanged."""
    try:
        return type(row.number) is int and seal == seal_of(sitting, row)
    except (TypeError, ValueError, AttributeError):  # a column has the wrong type
        return False
