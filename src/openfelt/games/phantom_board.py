"""Board games of two players who do not see each other's marks: phantom tic-tac-toe, Dark Hex."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from openfelt.games.game import TERMINAL, Game, require

MOST_CELLS = 9
TAKEN = " taken"  # after the name of a cell: what its player sees of an attempt that failed


class BoardState(NamedTuple):
    marks: tuple[int, int]  # the cells of each player, as bits
    tried: tuple[int, int]  # the cells that each player has tried: its own, and known ones of the opponent
    turn: int


class PhantomBoard(Game):
    """A player tries a cell that it does not know to be taken. It marks the cell, or learns that it is taken.

    After a failed attempt it tries again or, in the `abrupt` variant, loses the turn. The opponent sees
    nothing.
    """

    unit: ClassVar[str] = "points"
    players = 2
    if TYPE_CHECKING:  # subclasses have these as fields or properties

        @property
        def abrupt(self) -> bool:
            """Whether a failed attempt ends the turn."""

        @property
        def height(self) -> int:
            """Number of rows."""

        @property
        def width(self) -> int:
            """Number of columns."""

    @abstractmethod
    def wins(self, player: int, marks: int) -> bool:
        """Whether a player has won with these marks."""

    def require_size(self) -> None:
        """Raise GameError for a board that is too large."""
        for what, value in (("rows", self.height), ("columns", self.width)):
            require(1 <= value <= MOST_CELLS, self.key, what, "a whole number from 1 to 9", value)
        most = f"at most {MOST_CELLS}"
        require(self.cells <= MOST_CELLS, self.key, "the number of cells", most, self.cells)

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.height * self.width

    @property
    def is_factored(self) -> bool:
        return self.cells > 6

    def cell_name(self, cell: int) -> str:
        """The column as a letter, the row as a number from 1."""
        return f"{'abcdefghi'[cell % self.width]}{cell // self.width + 1}"

    def start(self) -> BoardState:
        return BoardState((0, 0), (0, 0), 0)

    def turn(self, state: BoardState) -> int:
        full = state.marks[0] | state.marks[1] == (1 << self.cells) - 1
        over = full or any(self.wins(player, state.marks[player]) for player in range(2))
        return TERMINAL if over else state.turn

    def actions(self, state: BoardState) -> Sequence[str]:
        return [self.cell_name(c) for c in range(self.cells) if not state.tried[state.turn] >> c & 1]

    def _bit(self, action: str) -> int:
        return int(1 << (int(action[1:]) - 1) * self.width + ord(action[0]) - ord("a"))

    def play(self, state: BoardState, action: str) -> BoardState:
        bit, mover = self._bit(action), state.turn
        taken = bool(state.marks[1 - mover] & bit)
        marks = state.marks if taken else _with(state.marks, mover, bit)
        stays = taken and not self.abrupt
        return BoardState(marks, _with(state.tried, mover, bit), mover if stays else 1 - mover)

    def sees(self, state: BoardState, action: str, player: int) -> str:
        if player != state.turn:
            return ""
        return action + TAKEN if state.marks[1 - player] & self._bit(action) else action

    def payoffs(self, state: BoardState) -> Sequence[float]:
        for player in range(2):
            if self.wins(player, state.marks[player]):
                return [1.0, -1.0] if player == 0 else [-1.0, 1.0]
        return [0.0, 0.0]


def _with(bits: tuple[int, int], player: int, bit: int) -> tuple[int, int]:
    return (bits[0] | bit, bits[1]) if player == 0 else (bits[0], bits[1] | bit)
