"""The messages of the protocol: MATCHSTATE lines, parsed and written, and the answers of players.

    MATCHSTATE:position:hand:betting:cards
    MATCHSTATE:0:7:rrc/r:TdAs|/2c8c3h

Rounds of betting are separated by `/`, and so are the cards dealt in each round; the hole cards of the
positions by `|`, empty for those that are not seen. An answer is the same line followed by `:` and an action.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from openfelt.cards.deck import RANKS, SUITS
from openfelt.core.errors import FeltError

VERSION = "VERSION:2.0.0"
COMMENTS = ("#", ";")  # start of a line that is a comment or meant for a graphical interface
FOLD, CALL, RAISE = "f", "c", "r"
# The server accepts these letters too, in upper or lower case.
LETTERS = {FOLD: FOLD, CALL: CALL, RAISE: RAISE, "k": CALL, "b": RAISE}
ROUND = re.compile(r"(?:[fc]|r[0-9]{0,9})*")
SIZED_RAISE = re.compile(r"r[0-9]+")  # of no-limit games
ACTION = re.compile(r"[fcr]")
NUMBER = re.compile(r"[0-9]{1,18}")
CARDS = {rank + suit for rank in RANKS for suit in SUITS}

CardNames: TypeAlias = "tuple[str, ...]"  # in the protocol's notation: ("Td", "As"); () if not seen


class MessageError(FeltError):
    """A message that violates the protocol, with the reason."""


@dataclass(frozen=True, slots=True)
class MatchState:
    """The message that a player gets after every action."""

    position: int  # of the player, counted from the left of the button
    hand: int  # number of the hand
    betting: tuple[str, ...]  # the letters of each round so far: ("rrc", "r")
    hole: tuple[CardNames, ...]  # by position
    board: tuple[CardNames, ...] = ()  # dealt in each round after the first

    @property
    def text(self) -> str:
        """The line, without its line ending."""
        return f"MATCHSTATE:{self.position}:{state_text(self.hand, self.betting, self.hole, self.board)}"

    @property
    def actions(self) -> list[str]:
        """The letters of all actions, in order."""
        return ACTION.findall("".join(self.betting))


def state_text(
    hand: int, betting: tuple[str, ...], hole: tuple[CardNames, ...], board: tuple[CardNames, ...]
) -> str:
    """The fields that MATCHSTATE lines share with the STATE lines of a log."""
    cards = "/".join(["|".join(map("".join, hole)), *map("".join, board)])
    return f"{hand}:{'/'.join(betting)}:{cards}"


def parse_match_state(line: str) -> MatchState:
    """Parse a MATCHSTATE line without its line ending; raises MessageError."""
    parts = line.split(":")
    if len(parts) != 5 or parts[0] != "MATCHSTATE":
        raise MessageError("A state must be MATCHSTATE and four fields, separated by colons.")
    position = parse_number(parts[1], "position")
    hand, betting, hole, board = parse_state(parts[2], parts[3], parts[4])
    if position >= len(hole):
        raise MessageError(f"There is no position {position} among {len(hole)} players.")
    if not hole[position]:
        raise MessageError(f"The player's own cards, of position {position}, are missing.")
    return MatchState(position, hand, betting, hole, board)


def parse_state(
    hand: str, betting: str, cards: str
) -> tuple[int, tuple[str, ...], tuple[CardNames, ...], tuple[CardNames, ...]]:
    """Parse the fields that MATCHSTATE and STATE lines share."""
    number = parse_number(hand, "hand")
    rounds = tuple(betting.split("/"))
    if not all(map(ROUND.fullmatch, rounds)):
        raise MessageError(
            f"'{betting[:60]}' is not a betting line: actions are f, c and r, rounds are separated by /."
        )
    first, *later = cards.split("/")
    hole, board = tuple(map(_cards, first.split("|"))), tuple(map(_cards, later))
    if len(board) != len(rounds) - 1:
        raise MessageError(f"There are {len(rounds)} rounds of betting, but cards for {1 + len(board)}.")
    if len({len(some) for some in hole if some}) > 1:
        raise MessageError("The players have different numbers of cards.")
    seen = [card for some in (*hole, *board) for card in some]
    if len(set(seen)) < len(seen):
        raise MessageError(f"A card occurs twice in '{cards[:60]}'.")
    return number, rounds, hole, board


def parse_number(text: str, what: str) -> int:
    """Parse a whole number of 0 or more."""
    if not NUMBER.fullmatch(text):
        raise MessageError(f"The {what} must be a whole number, not '{text[:20]}'.")
    return int(text)


def _cards(text: str) -> CardNames:
    cards = tuple(text[place : place + 2] for place in range(0, len(text), 2))
    if not CARDS.issuperset(cards):
        raise MessageError(f"'{text[:20]}' is not a list of cards.")
    return cards


def read_answer(line: str, state: MatchState, text: str) -> str | None:
    """The letter with which a player answers a state (`text` is its line).

    None for another message or the answer to another state, which the ACPC server ignores; "" if the action
    is missing or invalid. As in the server, anything after the letter is ignored.
    """
    if line.startswith(text):
        rest = line[len(text) :]
    else:  # the same state may be written differently
        fields, _, action = line.rpartition(":")
        try:
            if parse_match_state(fields) != state:
                return None
        except MessageError:
            return None
        rest = ":" + action
    return LETTERS.get(rest[1:2].lower(), "") if rest.startswith(":") else ""
