"""Princess and Monster, pursuit in the dark: PAM(R, C, H) in PJL11 2.2 (after Isaacs 1965)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from openfelt.games.game import CHANCE, TERMINAL, Game, require

PRINCESS, MONSTER = 0, 1
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}

Cell = tuple[int, int]


class PursuitState(NamedTuple):
    cells: tuple[Cell, ...]  # where the princess and the monster are, as far as placed
    moves: int  # taken so far by both players
    caught: bool


@dataclass(frozen=True)
class PrincessMonster(Game):
    """Princess and Monster: pursuit in the dark on a grid; the princess is paid the steps she stays free.

    `princess_monster(R,C,H)`: on a grid of R rows and C columns both start on random cells and in turn
    move to a neighbouring cell (up, down, left or right; standing still is not allowed), the princess
    (player 0) first. Neither ever observes the other's position. The game ends when the monster moves onto
    the princess's cell, or after H moves in total. The monster pays the princess the number of moves before
    the capture; H if there was none.

    The paper leaves some details open. Here only *the monster's move* captures:
    - the two starting cells are independent and uniform, and starting on the same cell is no capture;
    - the princess moving onto the monster's cell is no capture;
    - the princess moves first.
    """

    key: ClassVar[str] = "princess_monster"
    unit: ClassVar[str] = "steps"
    players = 2
    rows: int
    columns: int
    horizon: int

    def __post_init__(self) -> None:
        for field in ("rows", "columns"):
            cells = getattr(self, field)
            require(1 <= cells <= 10, self.key, field, "a whole number from 1 to 10", cells)
        size = f"{self.rows}x{self.columns}"
        require(self.rows * self.columns > 1, self.key, "the grid", "at least two cells", size)
        require(1 <= self.horizon <= 30, self.key, "horizon", "from 1 to 30 moves", self.horizon)

    def start(self) -> PursuitState:
        return PursuitState((), moves=0, caught=False)

    def turn(self, state: PursuitState) -> int:
        if len(state.cells) < self.players:
            return CHANCE
        return TERMINAL if state.caught or state.moves == self.horizon else state.moves % 2

    def actions(self, state: PursuitState) -> Sequence[str]:
        if self.turn(state) == CHANCE:
            return [f"r{row}c{column}" for row in range(self.rows) for column in range(self.columns)]
        here = state.cells[self.turn(state)]
        return [word for word in STEPS if self._inside(_moved(here, word))]

    def _inside(self, cell: Cell) -> bool:
        return 0 <= cell[0] < self.rows and 0 <= cell[1] < self.columns

    def play(self, state: PursuitState, action: str) -> PursuitState:
        mover = self.turn(state)
        if mover == CHANCE:
            row, column = map(int, action[1:].split("c"))
            return state._replace(cells=(*state.cells, (row, column)))
        princess, monster = state.cells
        if mover == PRINCESS:
            return PursuitState((_moved(princess, action), monster), state.moves + 1, caught=False)
        monster = _moved(monster, action)
        return PursuitState((princess, monster), state.moves + 1, caught=monster == princess)

    def sees(self, state: PursuitState, action: str, player: int) -> str:
        mover = self.turn(state)
        return action if player == (len(state.cells) if mover == CHANCE else mover) else ""

    def payoffs(self, state: PursuitState) -> Sequence[float]:
        free = float(state.moves - state.caught)
        return [free, -free]


def _moved(cell: Cell, word: str) -> Cell:
    return cell[0] + STEPS[word][0], cell[1] + STEPS[word][1]
