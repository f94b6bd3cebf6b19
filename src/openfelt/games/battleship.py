"""Battleship with one ship each, on a small board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from openfelt.games.game import TERMINAL, Game, require


class BattleshipState(NamedTuple):
    ships: tuple[int, ...]  # the cells of the players' ships, as bits, as far as placed
    shots: tuple[int, int]  # the cells that each player has shot at
    turn: int


@dataclass(frozen=True)
class Battleship(Game):
    """Battleship: place a ship in secret, then shoot at the opponent's in turn.

    `battleship(rows, columns, shots, length)`: each player places one ship of `length` cells in a row or
    column, then has up to `shots` shots, each at another cell. The shooter learns whether it missed, hit or
    sank. Who sinks the ship wins 1; if nobody does, both get 0.
    """

    key: ClassVar[str] = "battleship"
    unit: ClassVar[str] = "points"
    players = 2
    rows: int
    columns: int
    shots: int
    length: int = 1

    def __post_init__(self) -> None:
        for field in ("rows", "columns"):
            value = getattr(self, field)
            require(1 <= value <= 9, self.key, field, "a whole number from 1 to 9", value)
        longest = max(self.rows, self.columns)
        require(1 <= self.length <= longest, self.key, "length", f"from 1 to {longest}", self.length)
        cells = self.rows * self.columns
        require(1 <= self.shots <= cells, self.key, "shots", f"from 1 to {cells}", self.shots)

    def start(self) -> BattleshipState:
        return BattleshipState((), (0, 0), 0)

    def turn(self, state: BattleshipState) -> int:
        if len(state.ships) == 2 and (self._loser(state) is not None or self._is_spent(state)):
            return TERMINAL
        return state.turn

    def _is_spent(self, state: BattleshipState) -> bool:
        return min(shots.bit_count() for shots in state.shots) == self.shots

    def _loser(self, state: BattleshipState) -> int | None:
        """The player whose ship is sunk."""
        for player, ship in enumerate(state.ships):
            if ship & state.shots[1 - player] == ship:
                return player
        return None

    def _cell(self, row: int, column: int) -> str:
        return f"{'abcdefghi'[column]}{row + 1}"

    def _places(self) -> dict[str, int]:
        """The places of a ship, named by its first and last cell, and their cells."""
        places = {}
        for row in range(self.rows):
            for column in range(self.columns):
                for down, right in ((0, 1), (1, 0)):
                    last = row + down * (self.length - 1), column + right * (self.length - 1)
                    if last[0] < self.rows and last[1] < self.columns:
                        cells = [
                            (row + down * step) * self.columns + column + right * step
                            for step in range(self.length)
                        ]
                        places[f"{self._cell(row, column)}-{self._cell(*last)}"] = sum(
                            1 << cell for cell in cells
                        )
        return places

    def actions(self, state: BattleshipState) -> Sequence[str]:
        if len(state.ships) < 2:
            return list(self._places())
        return [
            self._cell(*divmod(cell, self.columns))
            for cell in range(self.rows * self.columns)
            if not state.shots[state.turn] >> cell & 1
        ]

    def _bit(self, cell: str) -> int:
        return int(1 << (int(cell[1:]) - 1) * self.columns + ord(cell[0]) - ord("a"))

    def play(self, state: BattleshipState, action: str) -> BattleshipState:
        if len(state.ships) < 2:
            return state._replace(ships=(*state.ships, self._places()[action]), turn=1 - state.turn)
        shots = list(state.shots)
        shots[state.turn] |= self._bit(action)
        return state._replace(shots=(shots[0], shots[1]), turn=1 - state.turn)

    def sees(self, state: BattleshipState, action: str, player: int) -> str:
        if len(state.ships) < 2:
            return action if player == state.turn else ""
        if player != state.turn:
            return action
        after = self.play(state, action)
        hit = state.ships[1 - player] & self._bit(action)
        return f"{action} {'sunk' if self._loser(after) is not None else 'hit' if hit else 'missed'}"

    def payoffs(self, state: BattleshipState) -> Sequence[float]:
        loser = self._loser(state)
        return [0.0, 0.0] if loser is None else [-1.0, 1.0] if loser == 0 else [1.0, -1.0]
