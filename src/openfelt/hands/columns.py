"""The decisions of one hold'em player as arrays, for opponent models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from openfelt.cards.deck import BOARD_CARDS, Bytes
from openfelt.core.jit import Floats, Longs
from openfelt.games.holdem import bet, first_betting
from openfelt.hands.packed import ACTIONS, LETTERS, UNKNOWN, Row

_ACTION_OF = np.full(256, UNKNOWN, np.uint8)
_ACTION_OF[np.frombuffer(LETTERS.encode(), np.uint8)] = np.arange(len(LETTERS))


class DecisionColumns(NamedTuple):
    """The hands of a player, and its decisions in them.

    At a decision the player has observed its `hole` cards, the first BOARD_CARDS[street] cards of the `board`
    (`seen_board`) and the first `place` actions of the `line`.
    """

    number: Longs  # [hands] in the match
    seat: Bytes  # [hands] of the player
    hole: Bytes  # [hands, 2] its cards, as numbers (cards/deck.py)
    board: Bytes  # [hands, 5] UNKNOWN where not dealt
    line: Bytes  # [hands, longest] actions of all players, as indices into ACTIONS
    won: Floats  # [hands] chips
    hand: Longs  # [decisions] index of the hand
    place: Bytes  # [decisions] index in the line
    street: Bytes  # [decisions]

    @property
    def action(self) -> Bytes:
        """[decisions] the action taken, as an index into ACTIONS."""
        return self.line[self.hand, self.place]

    @property
    def seen_board(self) -> Bytes:
        """[decisions, 5] the board at the time."""
        shown = np.arange(5) < np.array(BOARD_CARDS)[self.street][:, None]
        return np.where(shown, self.board[self.hand], np.uint8(UNKNOWN))


def decision_columns(
    players: int, seats: Sequence[int], rows: Sequence[Row], won: Sequence[float]
) -> DecisionColumns:
    """The decisions of a player in stored hands by the rules, given its seat and winnings in each."""
    count, wide, nothing = len(rows), 2 * players + 5, bytes([UNKNOWN])
    longest = max(1, max(len(row.actions) for row in rows))
    cards = _matrix([row.dealt.ljust(wide, nothing) for row in rows], wide)
    line = _matrix(["".join([row.actions.ljust(longest) for row in rows]).encode()], longest)
    own = [_decisions(players, row.actions)[seat] for seat, row in zip(seats, rows, strict=True)]
    seat = np.array(seats, np.uint8)
    return DecisionColumns(
        number=np.array([row.number for row in rows], np.int64),
        seat=seat,
        hole=cards[np.arange(count)[:, None], 2 * seat[:, None] + np.arange(2)],
        board=cards[:, 2 * players :].copy(),
        line=_ACTION_OF[line],
        won=np.array(won, np.float64),
        hand=np.repeat(np.arange(count), [len(places) for places, _ in own]),
        place=np.frombuffer(b"".join([places for places, _ in own]), np.uint8),
        street=np.frombuffer(b"".join([streets for _, streets in own]), np.uint8),
    )


def _matrix(rows: list[bytes], wide: int) -> Bytes:
    return np.frombuffer(b"".join(rows), np.uint8).reshape(-1, wide)


@lru_cache(maxsize=1 << 18)
def _decisions(players: int, letters: str) -> list[tuple[bytes, bytes]]:
    """For each seat the places of its decisions in a line, and their streets. Many hands share a line."""
    betting, places, streets = first_betting(players), *([bytearray() for _ in range(players)] for _ in "ab")
    for place, letter in enumerate(letters):
        places[betting.turn].append(place)
        streets[betting.turn].append(betting.street)
        betting = bet(betting, ACTIONS[LETTERS.index(letter)])
    return [(bytes(own), bytes(when)) for own, when in zip(places, streets, strict=True)]
