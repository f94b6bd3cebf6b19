"""EV losses of a person's decisions, and the interface of what evaluates a hand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.core.jit import Floats
from openfelt.games.hand import Hand

UNAVAILABLE = (
    "EV losses are not available: a bot decides by search, learns from hand to hand, or does not report its "
    "action probabilities."
)
NO_DECISION = "You had no decision in this hand."
OFF_POLICY = " A bot took an action that its policy never takes; this action was not used to infer its cards."


@dataclass(frozen=True)
class DecisionLoss:
    """EV loss of one decision; by action, in the order of the rules."""

    step: int  # position among the steps of the hand
    values: tuple[float, ...]  # expected winnings of the hand, in chips
    losses: tuple[float, ...]  # difference to the best action
    intervals: tuple[float, ...]  # half-width of the loss's 95% interval; 0 if it is exact
    value_intervals: tuple[float, ...]  # the same of the values
    fair_losses: tuple[float, ...]  # without the bias of taking the highest of noisy values, for sums
    fair_errors: tuple[float, ...]  # their standard errors


@dataclass(frozen=True)
class EvLosses:
    """EV losses of all decisions of a person in a hand."""

    explain: str
    exact: bool
    decisions: tuple[DecisionLoss, ...]


class HandEvaluator(ABC):
    """Evaluates the decisions and the luck of the person in `seat` in a finished hand.

    It asks the bots about hands other than the one played, so they must not be playing meanwhile.
    """

    def __init__(self, hand: Hand, seat: int, bots: Mapping[int, Bot]) -> None:
        self._hand, self._seat, self._bots = hand, seat, bots  # bots by seat

    def ev_losses(self, first: int = 0) -> EvLosses:
        """The expected value and the EV loss of each action that the person had, from step `first` on."""
        if not any(step.mover == self._seat for step in self._hand.steps[first:]):
            return EvLosses(NO_DECISION, False, ())
        return self._ev_losses(first)

    def luck_adjusted(self) -> float:
        """Winnings of the person without luck (AIVAT); their expected value is that of the winnings.

        The luck of a bot's choices stays in them where its action probabilities are not known.
        """
        return self._luck_adjusted()

    @abstractmethod
    def _ev_losses(self, first: int) -> EvLosses: ...

    @abstractmethod
    def _luck_adjusted(self) -> float: ...


def decision_loss(
    step: int,
    values: Floats,
    intervals: Floats,
    value_intervals: Floats,
    fair: tuple[Floats, Floats] | None = None,
) -> DecisionLoss:
    """The EV losses of a decision from the values of its actions; without `fair` they are exact."""
    losses = values.max() - values
    columns = (values, losses, intervals, value_intervals, *(fair or (losses, np.zeros_like(losses))))
    return DecisionLoss(step, *(tuple(column.tolist()) for column in columns))
