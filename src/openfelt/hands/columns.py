"""What a player of hold'em saw and did, as arrays: what models of opponents learn from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from openfelt.cards.deck import BOARD_CARDS, Bytes
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs
from openfelt.games.holdem import bet, betting_actions, first_betting, is_over
from openfelt.hands.packed import ACTIONS, LETTERS, UNKNOWN, Row

_ACTION_OF = np.full(256, UNKNOWN, np.uint8)
_ACTION_OF[np.frombuffer(LETTERS.encode(), np.uint8)] = np.arange(len(LETTERS))


class Columns(NamedTuple):
    """Hands that a player played, and his decisions in them.

    What he had seen at a decision: his `hole` cards, the first BOARD_CARDS[street] of the `board` (which are
    `seen_board`), and the first `place` actions of the `line`.
    """

    number: Longs  # [hands] in its match
    seat: Bytes  # [hands] his
    hole: Bytes  # [hands, 2] his cards, as numbers (cards/deck.py)
    board: Bytes  # [hands, 5] as far as it came
    line: Bytes  # [hands, longest] what everybody did, in ACTIONS
    won: Floats  # [hands] his chips
    hand: Longs  # [decisions] which of the hands
    place: Bytes  # [decisions] in the line
    street: Bytes  # [decisions]

    @property
    def action(self) -> Bytes:
        """[decisions] what he did, in ACTIONS."""
        return self.line[self.hand, self.place]

    @property
    def seen_board(self) -> Bytes:
        """[decisions, 5] the board at that time."""
        shown = np.arange(5) < np.array(BOARD_CARDS)[self.street][:, None]
        return np.where(shown, self.board[self.hand], np.uint8(UNKNOWN))


def columns_of(players: int, seats: Sequence[int], rows: Sequence[Row], won: Sequence[float]) -> Columns:
    """The arrays for these hands, of the player who sat and won there."""
    count, wide, nothing = len(rows), 2 * players + 5, bytes([UNKNOWN])
    longest = max(1, max(len(row.actions) for row in rows))
    if any(len(row.dealt) > wide for row in rows):
        raise FeltError(f"A hand of hold'em for {players} has more than {wide} cards.")
    cards = _matrix([row.dealt.ljust(wide, nothing) for row in rows], wide)
    line = _matrix(["".join([row.actions.ljust(longest) for row in rows]).encode()], longest)
    his = [_decisions(players, row.actions)[seat] for seat, row in zip(seats, rows, strict=True)]
    seat = np.array(seats, np.uint8)
    return Columns(
        number=np.array([row.number for row in rows], np.int64),
        seat=seat,
        hole=cards[np.arange(count)[:, None], 2 * seat[:, None] + np.arange(2)],
        board=cards[:, 2 * players :].copy(),
        line=_ACTION_OF[line],
        won=np.array(won, np.float64),
        hand=np.repeat(np.arange(count), [len(places) for places, _ in his]),
        place=np.frombuffer(b"".join([places for places, _ in his]), np.uint8),
        street=np.frombuffer(b"".join([streets for _, streets in his]), np.uint8),
    )


def _matrix(rows: list[bytes], wide: int) -> Bytes:
    return np.frombuffer(b"".join(rows), np.uint8).reshape(-1, wide)


@lru_cache(maxsize=1 << 18)
def _decisions(players: int, letters: str) -> list[tuple[bytes, bytes]]:
    """For each seat the places of its decisions in a line, and their streets; hands share few lines."""
    betting, places, streets = first_betting(players), *([bytearray() for _ in range(players)] for _ in "ab")
    for place, letter in enumerate(letters):
        action = ACTIONS[LETTERS.index(letter)]
        if is_over(betting) or action not in betting_actions(betting):
            raise FeltError(f"A hand was not played by the rules: its actions are {letters}.")
        places[betting.turn].append(place)
        streets[betting.turn].append(betting.street)
        betting = bet(betting, action)
    return [(bytes(mine), bytes(when)) for mine, when in zip(places, streets, strict=True)]
