"""How well a model predicts held-out hands.

Losses are in nats, lower is better: minus the log-probability of what happened. Where the player's cards are
known, each decision is scored with them, and so is the model's posterior of the cards; a hand whose cards are
not known is scored as a whole, over all possible cards. Standard errors are by hand, since the decisions of a
hand are dependent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs
from openfelt.opponents.models.domain import UNKNOWN
from openfelt.opponents.models.frequencies import FrequencyModel
from openfelt.opponents.models.model import OpponentModel
from openfelt.opponents.models.observed import ObservedHand, all_decisions, decisions_in
from openfelt.opponents.models.public_tree import CLASSES

BINS = 10  # of calibration
FLOOR = 1e-9  # of a probability: an event that a model excludes costs 21 nats
UNIFORM = "uniform"


class MeanWithError(NamedTuple):
    """A mean and its standard error."""

    mean: float
    error: float

    def __str__(self) -> str:
        return f"{round(self.mean, 4) + 0.0:.4f} ± {self.error:.4f}"


class Calibration(NamedTuple):
    """Calibration by class of action and bins of the predicted probability."""

    chances: Floats  # [CLASSES, BINS] number of predictions
    predicted: Floats  # [CLASSES, BINS] their mean
    observed: Floats  # [CLASSES, BINS] frequency of the action

    @property
    def error(self) -> float:
        """Expected calibration error: mean distance of predicted and observed, over all predictions."""
        return float(
            (self.chances * abs(self.predicted - self.observed)).sum() / max(1.0, self.chances.sum())
        )


@dataclass(frozen=True)
class ModelScore:
    """Scores of one model on some hands; None where no cards are known."""

    name: str
    hands: int
    decisions: int  # with known cards
    action_loss: MeanWithError | None  # per decision, given the cards
    hand_loss: MeanWithError  # per hand, over all cards where they are not known
    card_gain: MeanWithError | None  # log-probability of the true cards above that of the prior
    calibration: Calibration | None
    gain: MeanWithError | None = None  # per decision: loss of the frequencies minus its own

    def to_json(self) -> dict[str, Any]:
        """For JSON."""
        numbers = {
            name: list(found) if (found := getattr(self, name)) else None
            for name in ("action_loss", "hand_loss", "card_gain", "gain")
        }
        bins = self.calibration
        return {
            "model": self.name,
            "hands": self.hands,
            "decisions": self.decisions,
            **numbers,
            "calibration_error": bins.error if bins else None,
            "calibration": {name: table.tolist() for name, table in bins._asdict().items()} if bins else None,
        }


def compare(
    name: str,
    model: OpponentModel,
    habits: FrequencyModel,
    hands: Sequence[ObservedHand],
    progress: Callable[[float], object] = lambda _: None,
) -> list[ModelScore]:
    """The model, the frequencies in the hands that it learned from, and uniform actions."""
    uniform = FrequencyModel(model.domain.game)  # untrained: all counts are equal
    rivals = [(name, model), (habits.kind, habits), (UNIFORM, uniform)]
    losses = [_losses(each, hands, lambda share: progress(share / 3)) for _, each in rivals]
    scores = [_score(name, each) for (name, _), each in zip(rivals, losses, strict=True)]
    if len(losses[0].shares):
        own, theirs = losses[0], losses[1]
        gain = _by_hand(theirs.action - own.action, own.decisions)
        scores[0] = replace(scores[0], gain=gain)
    return scores


class _Losses(NamedTuple):
    """Losses by hand."""

    decisions: Floats  # [hands] number of those with known cards
    action: Floats  # [hands] sum of their losses
    whole: Floats  # [hands]
    card: Floats  # [hands with known cards] log-probability of the cards above the prior
    shares: Floats  # [decisions, CLASSES] predicted probabilities, with known cards
    came: Floats  # [decisions, CLASSES] 1 for the action taken


def _losses(
    model: OpponentModel, hands: Sequence[ObservedHand], progress: Callable[[float], object]
) -> _Losses:
    known = [place for place, hand in enumerate(hands) if hand.holding != UNKNOWN]
    found = all_decisions(model.domain, [hands[place] for place in known])
    shares = model.shares(found.node, found.rank, found.holding)
    taken = -np.log(np.maximum(shares[np.arange(len(shares)), found.action], FLOOR))
    at = np.array(known, np.int64)[found.hand] if known else found.hand
    count, action = _sums(at, np.ones(len(at)), len(hands)), _sums(at, taken, len(hands))
    whole = action.copy()
    card: list[float] = []
    for place, hand in enumerate(hands):
        if hand.holding == UNKNOWN:
            whole[place] = -marginal(model, hand)
        else:
            before = model.domain.possible((*hand.board, *hand.dead))[hand.holding]
            card.append(math.log(max(model.cards(hand)[hand.holding], FLOOR) / before))
        progress(1 / len(hands))
    came = np.zeros(shares.shape)
    came[np.arange(len(shares)), found.action] = 1.0
    return _Losses(count, action, whole, np.array(card), shares, came)


def marginal(model: OpponentModel, hand: ObservedHand) -> float:
    """Log-probability of the player's actions, over all holdings."""
    domain = model.domain
    likely = domain.possible((*hand.board, *hand.dead))
    everyone = np.arange(domain.holdings)
    for node, _, street, action in decisions_in(domain.public, hand):
        ranks = domain.ranks(hand.board[: domain.board_cards[street]])
        shares = model.shares(np.full(domain.holdings, node), ranks, everyone)
        likely = likely * np.maximum(shares[:, action], FLOOR)
    return math.log(likely.sum())


def _score(name: str, losses: _Losses) -> ModelScore:
    some = bool(len(losses.shares))
    every_hand = np.ones(len(losses.whole))
    return ModelScore(
        name=name,
        hands=len(losses.whole),
        decisions=int(losses.decisions.sum()),
        action_loss=_by_hand(losses.action, losses.decisions) if some else None,
        hand_loss=_by_hand(losses.whole, every_hand),
        card_gain=_by_hand(losses.card, np.ones(len(losses.card))) if some else None,
        calibration=_calibration(losses.shares, losses.came) if some else None,
    )


def _by_hand(total: Floats, count: Floats) -> MeanWithError:
    """A ratio of two sums over hands, with its standard error."""
    mean, hands = total.sum() / count.sum(), len(total)
    spread = ((total - mean * count) ** 2).sum() * hands / max(1, hands - 1)
    return MeanWithError(float(mean), float(math.sqrt(spread) / count.sum()))


def _sums(place: Longs, weights: Floats, length: int) -> Floats:
    return np.asarray(np.bincount(place, weights, minlength=length), np.float64)


def _calibration(shares: Floats, came: Floats) -> Calibration:
    can = (shares > 0) | (came > 0)
    klass = np.nonzero(can)[1]
    chance, seen = shares[can], came[can]
    place = klass * BINS + np.minimum((chance * BINS).astype(int), BINS - 1)
    count, given, took = (
        _sums(place, weights, len(CLASSES) * BINS).reshape(len(CLASSES), BINS)
        for weights in (np.ones(len(chance)), chance, seen)
    )
    some = np.maximum(count, 1.0)
    return Calibration(count, given / some, took / some)


def split(hands: Sequence[ObservedHand], held_out: float) -> tuple[list[ObservedHand], list[ObservedHand]]:
    """The first hands to learn from, and the last `held_out` share of them to score on."""
    if not 0 < held_out < 1:
        raise FeltError(f"The held-out share of hands must be between 0 and 1, not {held_out:g}.")
    first = len(hands) - round(held_out * len(hands))
    if not 0 < first < len(hands):
        raise FeltError(f"{len(hands)} hands are too few to be split into training and held-out hands.")
    return list(hands[:first]), list(hands[first:])


def table(scores: Sequence[ModelScore]) -> str:
    """Scores as a table of text."""
    width = max(len(score.name) for score in scores)
    lines = [f"{'':<{width}}  {'a decision':>17}  {'a hand':>17}  {'cards':>17}  {'calibration':>11}"]
    for score in scores:
        cells = [str(cell or "-") for cell in (score.action_loss, score.hand_loss, score.card_gain)]
        texts = "  ".join(f"{cell:>17}" for cell in cells)
        bins = f"{score.calibration.error:.4f}" if score.calibration else "-"
        lines.append(f"{score.name:<{width}}  {texts}  {bins:>11}")
    return "\n".join(lines)
