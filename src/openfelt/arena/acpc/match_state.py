"""The messages of the protocol: MATCHSTATE lines, parsed and written, and what a player answers them with.

    MATCHSTATE:position:hand:betting:cards
    MATCHSTATE:0:7:rrc/r:TdAs|/2c8c3h

Rounds of betting are separated by `/`, and so are the cards that each round brings; hole cards of the
positions by `|`, with nothing for those that are not seen. An answer is the same line with `:` and an action
after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from openfelt.cards.deck import RANKS, SUITS
from openfelt.core.errors import FeltError

VERSION = "VERSION:2.0.0"
COMMENTS = ("#", ";")  # what a line begins with that is a comment or meant for a graphical interface
FOLD, CALL, RAISE = "f", "c", "r"
# The server reads these letters too, in either case.
LETTERS = {FOLD: FOLD, CALL: CALL, RAISE: RAISE, "k": CALL, "b": RAISE}
ROUND = re.compile(r"(?:[fc]|r[0-9]{0,9})*")
ACTION = re.compile(r"[fcr]")
NUMBER = re.compile(r"[0-9]{1,18}")
CARDS = {rank + suit for rank in RANKS for suit in SUITS}

Hand: TypeAlias = (
    "tuple[str, ...]"  # cards as the competition writes them: ("Td", "As"); () if they are not seen
)


class MessageError(FeltError):
    """A message that is not of the protocol, with the reason."""


@dataclass(frozen=True, slots=True)
class MatchState:
    """What a player is told after every action."""

    position: int  # his own, counted from the button's left
    hand: int  # its number
    betting: tuple[str, ...]  # the letters of each round that was begun: ("rrc", "r")
    hole: tuple[Hand, ...]  # by position
    board: tuple[Hand, ...] = ()  # what each round after the first has brought

    @property
    def text(self) -> str:
        """The line, without its end."""
        return f"MATCHSTATE:{self.position}:{state_text(self.hand, self.betting, self.hole, self.board)}"

    @property
    def actions(self) -> list[str]:
        """The letters of all actions, one after the other."""
        return ACTION.findall("".join(self.betting))


def state_text(hand: int, betting: tuple[str, ...], hole: tuple[Hand, ...], board: tuple[Hand, ...]) -> str:
    """What MATCHSTATE lines and the STATE lines of a log have in common."""
    cards = "/".join(["|".join(map("".join, hole)), *map("".join, board)])
    return f"{hand}:{'/'.join(betting)}:{cards}"


def parse_match_state(line: str) -> MatchState:
    """A MATCHSTATE line, without its end; MessageError says why it is none."""
    parts = line.split(":")
    if len(parts) != 5 or parts[0] != "MATCHSTATE":
        raise MessageError("A state is MATCHSTATE and four fields, separated by colons.")
    position = parse_number(parts[1], "position")
    hand, betting, hole, board = parse_state(parts[2], parts[3], parts[4])
    if position >= len(hole):
        raise MessageError(f"There is no position {position} among {len(hole)} players.")
    if not hole[position]:
        raise MessageError(f"The player's own cards, of position {position}, are missing.")
    return MatchState(position, hand, betting, hole, board)


def parse_state(
    hand: str, betting: str, cards: str
) -> tuple[int, tuple[str, ...], tuple[Hand, ...], tuple[Hand, ...]]:
    """The fields that MATCHSTATE and STATE lines have in common."""
    number = parse_number(hand, "hand")
    rounds = tuple(betting.split("/"))
    if not all(map(ROUND.fullmatch, rounds)):
        raise MessageError(
            f"'{betting[:60]}' is no betting: actions are f, c and r, rounds are separated by /."
        )
    first, *later = cards.split("/")
    hole, board = tuple(map(_cards, first.split("|"))), tuple(map(_cards, later))
    if len(board) != len(rounds) - 1:
        raise MessageError(f"There are {len(rounds)} rounds of betting, but cards for {1 + len(board)}.")
    if len({len(some) for some in hole if some}) > 1:
        raise MessageError("Not all players have equally many cards.")
    seen = [card for some in (*hole, *board) for card in some]
    if len(set(seen)) < len(seen):
        raise MessageError(f"A card is there twice in '{cards[:60]}'.")
    return number, rounds, hole, board


def parse_number(text: str, what: str) -> int:
    """A whole number of 0 or more."""
    if not NUMBER.fullmatch(text):
        raise MessageError(f"The {what} must be a whole number, not '{text[:20]}'.")
    return int(text)


def _cards(text: str) -> Hand:
    cards = tuple(text[place : place + 2] for place in range(0, len(text), 2))
    if not CARDS.issuperset(cards):
        raise MessageError(f"'{text[:20]}' are no cards.")
    return cards


def read_answer(line: str, state: MatchState, text: str) -> str | None:
    """The letter that a player answers a state with (`text` is its line).

    None if he says something else or answers another state, which the competition's server ignores; "" if the
    action is missing or is none. As in the server, what comes after the letter does not matter.
    """
    if line.startswith(text):
        rest = line[len(text) :]
    else:  # the same state may be written in another way
        fields, _, action = line.rpartition(":")
        try:
            if parse_match_state(fields) != state:
                return None
        except MessageError:
            return None
        rest = ":" + action
    return LETTERS.get(rest[1:2].lower(), "") if rest.startswith(":") else ""
