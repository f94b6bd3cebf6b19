"""A decision of a solved spot: ranges, strategy, expected values and equities of all hands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from openfelt.cards.deck import PAIR_CARDS, PAIRS, cards_text
from openfelt.core.jit import Floats
from openfelt.spots.betting import Action
from openfelt.spots.spot import PLAYERS, compatible_weight

NEVER = 1e-9  # reach below this is a hand that does not come here


@dataclass(frozen=True, eq=False)
class Node:
    """A decision, or the end of a line, on one board. Arrays over hands are in the order of the 1,326 pairs.

    Attributes
    ----------
    line : str
        Actions and cards since the beginning of the spot.
    board : str
    player : int or None
        Who acts: 0 for OOP, 1 for IP, None at the end of a line.
    pot : int
        Chips in the pot, with the bets of this street.
    stacks : tuple of int
        Chips that OOP and IP have left.
    actions : tuple of Action
    ranges : array of shape (2, 1326)
        The weight of each hand: its weight at the beginning times the probability that its player's actions
        led here.
    strategy : array of shape (actions, 1326)
        Probabilities of the actions; NaN for hands that are not in the player's range at the beginning.
    ev : array of shape (2, 1326)
        What each hand gets of the pot from here on, in chips; NaN if it cannot be held.
    action_ev : array of shape (actions, 1326)
        The same after each action of the player to act.
    equity : array of shape (2, 1326)
        The probability of winning a showdown without further betting; a tie counts one half.
    """

    line: str
    board: str
    player: int | None
    pot: int
    stacks: tuple[int, int]
    actions: tuple[Action, ...]
    ranges: Floats
    strategy: Floats
    ev: Floats
    action_ev: Floats
    equity: Floats

    @cached_property
    def mass(self) -> Floats:
        """[2, 1326] the weight of each hand times that of the hands which it can meet."""
        met = np.array([compatible_weight(self.ranges[1 - player]) for player in (0, 1)])
        return np.asarray(self.ranges * met)

    @property
    def is_reached(self) -> bool:
        """Whether both players come here with some hand."""
        return bool(self.mass[0].sum() > NEVER)

    @property
    def frequencies(self) -> Floats:
        """[actions] how often the player to act takes each action."""
        return self._mean(self.strategy)

    @property
    def action_values(self) -> Floats:
        """[actions] the mean expected value of the hands that take each action, in chips."""
        if self.player is None:
            return np.zeros(0)
        weight = self.mass[self.player] * np.nan_to_num(self.strategy)
        total, values = weight.sum(axis=1), (weight * np.nan_to_num(self.action_ev)).sum(axis=1)
        return np.where(total > NEVER, values / np.maximum(total, NEVER), np.nan)

    @property
    def values(self) -> tuple[float, float]:
        """What OOP and IP get of the pot on average, in chips."""
        return self._average(0, self.ev[0]), self._average(1, self.ev[1])

    @property
    def equities(self) -> tuple[float, float]:
        """Mean equity of OOP and IP."""
        return self._average(0, self.equity[0]), self._average(1, self.equity[1])

    @property
    def realisation(self) -> Floats:
        """[2, 1326] expected value divided by the equity's share of the pot."""
        share = self.equity * self.pot
        return np.divide(self.ev, share, out=np.full_like(share, np.nan), where=share > 0)

    def hands(self, player: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield a dictionary for each hand of a player's range; by default that of the player to act."""
        who = self.player if player is None else player
        who = 0 if who is None else who
        realisation = self.realisation
        for pair in np.flatnonzero(self.ranges[who] > NEVER):
            row: dict[str, Any] = {
                "hand": hand_text(int(pair)),
                "weight": float(self.ranges[who, pair]),
                "ev": _number(self.ev[who, pair]),
                "equity": _number(self.equity[who, pair]),
                "realisation": _number(realisation[who, pair]),
            }
            if who == self.player:
                for action, chance, value in zip(
                    self.actions, self.strategy[:, pair], self.action_ev[:, pair], strict=True
                ):
                    row[action.code] = _number(chance)
                    row[f"ev {action.code}"] = _number(value)
            yield row

    def as_dict(self, *, hands: bool = True) -> dict[str, Any]:
        """The node as JSON values."""
        facts: dict[str, Any] = {
            "line": self.line,
            "board": self.board,
            "player": None if self.player is None else PLAYERS[self.player],
            "pot": self.pot,
            "stacks": list(self.stacks),
            "values": [_number(value) for value in self.values],
            "equities": [_number(value) for value in self.equities],
            "actions": [
                {"code": action.code, "name": str(action), "frequency": _number(often), "ev": _number(value)}
                for action, often, value in zip(
                    self.actions, self.frequencies, self.action_values, strict=True
                )
            ],
        }
        if hands:
            facts["hands"] = {name: list(self.hands(number)) for number, name in enumerate(PLAYERS)}
        return facts

    def _mean(self, rows: Floats) -> Floats:
        if self.player is None or not self.is_reached:
            return np.full(len(rows), np.nan)
        weight = self.mass[self.player]
        return np.asarray(np.nan_to_num(rows) @ weight / weight.sum())

    def _average(self, player: int, row: Floats) -> float:
        weight = self.mass[player]
        return float(np.nan_to_num(row) @ weight / weight.sum()) if weight.sum() > NEVER else float("nan")


def hand_text(pair: int) -> str:
    """The name of a pair of hole cards, the higher card first: "AhKd"."""
    low, high = PAIR_CARDS[pair]
    return cards_text([int(high), int(low)])


def empty_rows(rows: int) -> Floats:
    """[rows, 1326] of NaN."""
    return np.full((rows, PAIRS), np.nan)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 6)
