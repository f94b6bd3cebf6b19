"""Reviewed decisions as columns: what was done, what was best, and what the difference costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from openfelt.core.jit import Floats, Longs
from openfelt.games.hand import Hand
from openfelt.table.presentation.presentation import RAISE
from openfelt.table.presentation.registry import presentation_of

SITUATIONS = ("no bet", "facing a bet", "facing a raise")  # by the bets and raises of the street so far


class Decision(NamedTuple):
    """One decision of a player."""

    hand: int  # index among the hands of the report
    street: str
    situation: str  # of SITUATIONS
    chosen: str  # fold, check, call, bet or raise
    best: str
    loss: float  # EV, in chips
    error: float  # standard error of the loss; 0 if it is exact


@dataclass(frozen=True)
class DecisionTable:
    """Many decisions; words are indices into `words`."""

    words: tuple[str, ...]
    hand: Longs  # [decisions]
    street: Longs
    situation: Longs
    chosen: Longs
    best: Longs
    loss: Floats
    error: Floats

    def __len__(self) -> int:
        return len(self.hand)

    def at(self, place: int) -> Decision:
        """One of the decisions."""
        street, situation, chosen, best = (
            self.words[int(column[place])] for column in (self.street, self.situation, self.chosen, self.best)
        )
        loss, error = float(self.loss[place]), float(self.error[place])
        return Decision(int(self.hand[place]), street, situation, chosen, best, loss, error)


def decision_table(decisions: Iterable[Decision]) -> DecisionTable:
    """Decisions as columns."""
    rows = list(decisions)
    texts = [(row.street, row.situation, row.chosen, row.best) for row in rows]
    words = tuple(dict.fromkeys(word for row in texts for word in row))
    number = {word: place for place, word in enumerate(words)}
    columns = np.array([[number[word] for word in row] for row in texts], np.int64).reshape(-1, 4).T
    hand = np.array([row.hand for row in rows], np.int64)
    loss, error = (np.array([row[place] for row in rows], np.float64) for place in (5, 6))
    return DecisionTable(words, hand, columns[0], columns[1], columns[2], columns[3], loss, error)


def hand_situations(hand: Hand) -> list[tuple[int, str, str]]:
    """The step, street and situation of each decision of a hand."""
    presentation, found = presentation_of(hand.game), list[tuple[int, str, str]]()
    street, raises = "", 0
    for place, (step, state) in enumerate(zip(hand.steps, hand.states, strict=True)):
        if step.mover < 0:
            continue
        now = presentation.chips(state).street
        street, raises = now, raises if now == street else 0
        found.append((place, street, situation_after(raises)))
        raises += presentation.action_kind(state, step.action) == RAISE
    return found


def situation_after(raises: int) -> str:
    """The situation after that many bets and raises on a street; before the flop blinds do not count."""
    return SITUATIONS[min(raises, 2)]
