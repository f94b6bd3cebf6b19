"""Oshi-Zumo: push a wrestler over the edge by simultaneous bids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from openfelt.games.game import TERMINAL, Game, require


class OshiZumoState(NamedTuple):
    coins: tuple[int, int]
    position: int  # of the wrestler; 0 in the middle, positive on player 1's side
    rounds: int
    bid: int | None  # of player 0 in this round


@dataclass(frozen=True)
class OshiZumo(Game):
    """Oshi-Zumo: the higher of two simultaneous bids pushes the wrestler towards the opponent.

    `oshi_zumo(coins, size)`: both players start with `coins` and pay every bid, which both see afterwards.
    Who pushes the wrestler over the edge, `size` + 1 fields from the middle, wins 1. After `horizon` rounds,
    or when nobody has coins left, the player on whose side the wrestler stands loses 1. The lowest bid is
    `least`; a player that cannot afford it bids 0.
    """

    key: ClassVar[str] = "oshi_zumo"
    unit: ClassVar[str] = "points"
    players = 2
    coins: int
    size: int
    horizon: int = 1000
    least: int = 1

    def __post_init__(self) -> None:
        for field, low, high in (("coins", 1, 50), ("size", 0, 10), ("horizon", 1, 1000), ("least", 0, 50)):
            value = getattr(self, field)
            require(low <= value <= high, self.key, field, f"a whole number from {low} to {high}", value)

    def start(self) -> OshiZumoState:
        return OshiZumoState((self.coins, self.coins), 0, 0, None)

    def turn(self, state: OshiZumoState) -> int:
        if state.bid is not None:
            return 1
        spent = state.coins == (0, 0) or state.rounds == self.horizon
        return TERMINAL if spent or abs(state.position) > self.size else 0

    def actions(self, state: OshiZumoState) -> Sequence[str]:
        coins = state.coins[self.turn(state)]
        return [str(bid) for bid in range(self.least, coins + 1)] or ["0"]

    def play(self, state: OshiZumoState, action: str) -> OshiZumoState:
        bid = int(action)
        if state.bid is None:
            return state._replace(bid=bid)
        coins = (state.coins[0] - state.bid, state.coins[1] - bid)
        push = (state.bid > bid) - (state.bid < bid)
        return OshiZumoState(coins, state.position + push, state.rounds + 1, None)

    def sees(self, state: OshiZumoState, action: str, player: int) -> str:
        if state.bid is None:
            return action if player == 0 else ""
        return action if player == 0 else f"{action} {state.bid}"

    def payoffs(self, state: OshiZumoState) -> Sequence[float]:
        won = float((state.position > 0) - (state.position < 0))
        return [won, -won]
