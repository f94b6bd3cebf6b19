"""Dark Hex: Hex without seeing the opponent's stones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from openfelt.games.phantom_board import PhantomBoard

NEIGHBOURS = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))


@dataclass(frozen=True)
class DarkHex(PhantomBoard):
    """Dark Hex: Hex in which the players do not see each other's stones.

    `dark_hex(size)`, or `dark_hex(size, columns)` for a board of `size` rows. Player 0 connects the first row
    with the last, player 1 the first column with the last; who does so wins 1. A player that tries a taken
    cell learns so and tries again; with `abrupt=True` it loses the turn.
    """

    key: ClassVar[str] = "dark_hex"
    size: int
    columns: int = 0  # as many as rows
    abrupt: bool = False

    def __post_init__(self) -> None:
        self.require_size()

    @property
    def height(self) -> int:
        return self.size

    @property
    def width(self) -> int:
        return self.columns or self.size

    def wins(self, player: int, marks: int) -> bool:
        along = (self.height, self.width)[player] - 1  # the last row or column
        own = {divmod(cell, self.width) for cell in range(self.cells) if marks >> cell & 1}
        reached = [cell for cell in own if cell[player] == 0]
        for row, column in reached:  # grows while we go through it
            own.discard((row, column))
            near = {(row + down, column + right) for down, right in NEIGHBOURS} & own
            own -= near
            reached += near
        return any(cell[player] == along for cell in reached)
