"""Sheriff: a smuggler bribes a sheriff not to inspect the cargo. The one game here that is not zero-sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from openfelt.games.game import TERMINAL, Game, require

PASS, INSPECT = "pass", "inspect"
NOT_YET = -1


class SheriffState(NamedTuple):
    items: int  # illegal ones in the cargo; NOT_YET before it is loaded
    rounds: int  # in which the sheriff has answered
    bribe: int  # offered in this round; NOT_YET before
    inspects: bool  # the answer of the last round; False before it


@dataclass(frozen=True)
class Sheriff(Game):
    """Sheriff: player 0 loads illegal items in secret and offers bribes; player 1 says if it will inspect.

    `sheriff(items, bribe, rounds)`: up to `items` items and bribes up to `bribe`. Of the `rounds` offers and
    answers only the last count. If the sheriff inspects, the smuggler pays it `fine` for each item, or is
    paid `compensation` if there is none. Otherwise the smuggler wins `worth` for each item and pays the
    bribe. Payoffs do not sum to zero.
    """

    key: ClassVar[str] = "sheriff"
    unit: ClassVar[str] = "points"
    is_zero_sum: ClassVar[bool] = False
    players = 2
    items: int = 3
    bribe: int = 3
    rounds: int = 4
    fine: float = 2.0
    worth: float = 1.0
    compensation: float = 3.0

    def __post_init__(self) -> None:
        for field, low, high in (("items", 1, 100), ("bribe", 0, 100), ("rounds", 1, 10)):
            value = getattr(self, field)
            require(low <= value <= high, self.key, field, f"a whole number from {low} to {high}", value)
        for field in ("fine", "worth", "compensation"):
            value = getattr(self, field)
            require(0 <= value <= 1000, self.key, field, "a number from 0 to 1000", value)

    def start(self) -> SheriffState:
        return SheriffState(NOT_YET, 0, NOT_YET, False)

    def turn(self, state: SheriffState) -> int:
        if state.rounds < self.rounds:
            return int(state.bribe != NOT_YET)
        return TERMINAL

    def actions(self, state: SheriffState) -> Sequence[str]:
        if state.bribe != NOT_YET:
            return [PASS, INSPECT]
        if state.items == NOT_YET:
            return [f"load{items}" for items in range(self.items + 1)]
        return [f"offer{bribe}" for bribe in range(self.bribe + 1)]

    def play(self, state: SheriffState, action: str) -> SheriffState:
        if state.bribe != NOT_YET:
            rounds = state.rounds + 1
            if rounds < self.rounds:
                return SheriffState(state.items, rounds, NOT_YET, False)
            return state._replace(rounds=rounds, inspects=action == INSPECT)
        if state.items == NOT_YET:
            return state._replace(items=int(action.removeprefix("load")))
        return state._replace(bribe=int(action.removeprefix("offer")))

    def sees(self, state: SheriffState, action: str, player: int) -> str:
        return action if player == 0 or state.items != NOT_YET else ""

    def payoffs(self, state: SheriffState) -> Sequence[float]:
        if not state.inspects:
            return [self.worth * state.items - state.bribe, state.bribe]
        paid = self.fine * state.items if state.items else -self.compensation
        return [-paid, paid]
