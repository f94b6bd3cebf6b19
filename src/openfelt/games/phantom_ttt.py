"""Phantom tic-tac-toe: tic-tac-toe without seeing the opponent's marks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from openfelt.games.game import require
from openfelt.games.phantom_board import PhantomBoard


@dataclass(frozen=True)
class PhantomTicTacToe(PhantomBoard):
    """Phantom tic-tac-toe: the players do not see each other's marks.

    `phantom_ttt(rows, columns, line)`: who first has `line` marks in a row, column or diagonal wins 1; a full
    board is a draw. A player that tries a taken cell learns so and tries again; with `abrupt=True` it loses
    the turn.
    """

    key: ClassVar[str] = "phantom_ttt"
    rows: int = 3
    columns: int = 3
    line: int = 3
    abrupt: bool = False

    def __post_init__(self) -> None:
        self.require_size()
        require(1 <= self.line <= 9, self.key, "line", "a whole number from 1 to 9", self.line)

    @property
    def height(self) -> int:
        return self.rows

    @property
    def width(self) -> int:
        return self.columns

    def wins(self, player: int, marks: int) -> bool:
        return any(marks & line == line for line in _lines(self.rows, self.columns, self.line))


@lru_cache
def _lines(rows: int, columns: int, length: int) -> tuple[int, ...]:
    """The cells of each line, as bits."""
    lines = []
    for row in range(rows):
        for column in range(columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + down * step, column + right * step) for step in range(length)]
                if all(0 <= r < rows and 0 <= c < columns for r, c in cells):
                    lines.append(sum({1 << r * columns + c for r, c in cells}))
    return tuple(lines)
