"""A hand in few bytes, as it is stored: cards as bytes, actions as letters, winnings in half chips."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from openfelt.core.errors import FeltError
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.hands.check import DECK
from openfelt.hands.record import HIDDEN, HandRecord

UNKNOWN = 255  # a card that is hidden or was not dealt, an action that did not come
ACTIONS = ("fold", "check", "call", "bet", "raise")  # the numbers in `line` and `action`
LETTERS = "fkcbr"  # the same, in a store
BYTE_OF = {**DECK, HIDDEN: UNKNOWN}
CARD_OF = {byte: card for card, byte in BYTE_OF.items()}
LETTER_OF = dict(zip(ACTIONS, LETTERS, strict=True))
ACTION_OF = dict(zip(LETTERS, ACTIONS, strict=True))
SMALL = 1 << 15  # half chips


@dataclass(frozen=True, eq=False)
class Sitting:
    """Who played which game in which match."""

    match: str
    game: str
    names: tuple[str, ...]  # by seat

    @cached_property
    def is_holdem(self) -> bool:
        """Whether cards are bytes and actions letters; of other games both are JSON lists of words."""
        return self.game.partition("(")[0] == Holdem.key

    def is_played_by(self, rules: Holdem) -> bool:
        """Whether these are the rules, whatever the abstraction."""
        game = load_game(self.game) if self.is_holdem else None
        return isinstance(game, Holdem) and (game.players, game.bets) == (rules.players, rules.bets)

    @cached_property
    def seal(self) -> int:
        """A checksum."""
        return zlib.crc32(repr((self.match, self.game, self.names)).encode())

    @property
    def key(self) -> tuple[str, str, str]:
        """As it is stored."""
        return self.match, self.game, json.dumps(self.names)


class Row(NamedTuple):
    """A hand as it is stored."""

    number: int
    dealt: bytes
    actions: str
    won: bytes


def new_sitting(match: str, game: str, names: tuple[str, ...]) -> Sitting:
    """A sitting that makes sense."""
    sitting = Sitting(match, game, names)
    players = load_game(game).players if sitting.is_holdem else len(names)
    if players != len(names):
        raise FeltError(f"{game} has {players} players, but there are {len(names)} names.")
    return sitting


def pack(sitting: Sitting, record: HandRecord) -> Row:
    """The hand in few bytes."""
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
        raise FeltError(f"Hand {record.number}: {error} is no card or action of hold'em.") from None
    return Row(record.number, dealt, actions, _won(record.won))


def unpack(sitting: Sitting, row: Row) -> HandRecord:
    """The hand again."""
    if sitting.is_holdem:
        dealt = tuple([CARD_OF[byte] for byte in row.dealt])
        actions = tuple([ACTION_OF[letter] for letter in row.actions])
    else:
        dealt, actions = tuple(json.loads(row.dealt)), tuple(json.loads(row.actions))
    won = chips_of(row.won, len(sitting.names))
    return HandRecord(sitting.game, row.number, sitting.names, dealt, actions, won)


def _won(chips: Sequence[float]) -> bytes:
    """Two bytes a seat where they are whole numbers of half chips, and eight otherwise."""
    halves = [2.0 * each for each in chips]
    if all(half.is_integer() and -SMALL < half < SMALL for half in halves):
        return struct.pack(f"<{len(halves)}h", *map(int, halves))
    return struct.pack(f"<{len(halves)}d", *chips)


def chips_of(won: bytes, players: int) -> tuple[float, ...]:
    """The winnings by seat."""
    if len(won) == 8 * players:
        return struct.unpack(f"<{players}d", won)
    return tuple([half / 2 for half in struct.unpack(f"<{players}h", won)])


def seal_of(sitting: Sitting, row: Row) -> int:
    """A checksum of a hand and of where it belongs."""
    number, dealt, actions, won = row
    return zlib.crc32(b"%d %b %b %b" % (number, dealt, actions.encode(), won), sitting.seal) >> 1


def is_sealed(seal: int, sitting: Sitting, row: Row) -> bool:
    """Whether it is as it was stored."""
    try:
        return seal == seal_of(sitting, row)
    except (TypeError, ValueError, AttributeError):  # a column is not even of its type
        return False
