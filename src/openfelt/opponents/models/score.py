"""How well a model predicts hands that it has not seen.

Losses are in nats, and less is better: minus the logarithm of the chance that the model gave to what came.
Where the player's cards are known, each decision is scored with them, and so is what the model thinks of his
cards; a hand whose cards are not known is scored as a whole, over all cards that he may have had. Standard
errors are by hand, as the decisions of a hand go together.
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
FLOOR = 1e-9  # of a chance: what a model holds for impossible, and comes, costs 21 nats
UNIFORM = "uniform"


class MeanWithError(NamedTuple):
    """A mean and its standard error."""

    mean: float
    error: float

    def __str__(self) -> str:
        return f"{round(self.mean, 4) + 0.0:.4f} ± {self.error:.4f}"


class Calibration(NamedTuple):
    """By class of action, and bins of the chance that was given to it."""

    chances: Floats  # [CLASSES, BINS] how many fell there
    predicted: Floats  # [CLASSES, BINS] their mean
    observed: Floats  # [CLASSES, BINS] how often the action came

    @property
    def error(self) -> float:
        """The expected calibration error: how far both are apart, in the mean over all chances."""
        return float(
            (self.chances * abs(self.predicted - self.observed)).sum() / max(1.0, self.chances.sum())
        )


@dataclass(frozen=True)
class ModelScore:
    """Of one model on some hands; None where no cards are known."""

    name: str
    hands: int
    decisions: int  # with known cards
    action_loss: MeanWithError | None  # a decision, given the cards
    hand_loss: MeanWithError  # a hand, over all cards where they are not known
    card_gain: MeanWithError | None  # how much likelier the true cards were than among all that were possible
    calibration: Calibration | None
    gain: MeanWithError | None = None  # of a decision, over the frequencies: what they lose more

    def to_json(self) -> dict[str, Any]:
        """For machines."""
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
    """The model beside the frequencies of the hands that it learned from, and beside all actions alike."""
    nothing = FrequencyModel(model.domain.game)  # which has seen no hands: Laplace's counts are all alike
    rivals = [(name, model), (habits.kind, habits), (UNIFORM, nothing)]
    losses = [_losses(each, hands, lambda share: progress(share / 3)) for _, each in rivals]
    scores = [_score(name, each) for (name, _), each in zip(rivals, losses, strict=True)]
    if len(losses[0].shares):
        own, theirs = losses[0], losses[1]
        gain = _by_hand(theirs.action - own.action, own.decisions)
        scores[0] = replace(scores[0], gain=gain)
    return scores


class _Losses(NamedTuple):
    """What came, hand by hand."""

    decisions: Floats  # [hands] with known cards
    action: Floats  # [hands] the loss in them
    whole: Floats  # [hands]
    card: Floats  # [hands of known cards] log chance of the true cards, over that among all possible
    shares: Floats  # [decisions, CLASSES] the chances that were given, where the cards are known
    came: Floats  # [decisions, CLASSES] 1 for what he did


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
    """The log of how likely his actions were, whatever he held."""
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
    """The mean of what was counted, with its error as a ratio of two sums over hands."""
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
    """The first hands to learn from, and that share of them at the end to be scored on."""
    if not 0 < held_out < 1:
        raise FeltError(f"The share of hands that are held out is between 0 and 1, not {held_out:g}.")
    first = len(hands) - round(held_out * len(hands))
    if not 0 < first < len(hands):
        raise FeltError(f"{len(hands)} hands are too few to learn from some and score on others.")
    return list(hands[:first]), list(hands[first:])


def table(scores: Sequence[ModelScore]) -> str:
    """For the screen."""
    width = max(len(score.name) for score in scores)
    lines = [f"{'':<{width}}  {'a decision':>17}  {'a hand':>17}  {'cards':>17}  {'calibration':>11}"]
    for score in scores:
        cells = [str(cell or "-") for cell in (score.action_loss, score.hand_loss, score.card_gain)]
        texts = "  ".join(f"{cell:>17}" for cell in cells)
        bins = f"{score.calibration.error:.4f}" if score.calibration else "-"
        lines.append(f"{score.name:<{width}}  {texts}  {bins:>11}")
    return "\n".join(lines)
