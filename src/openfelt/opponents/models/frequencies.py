"""How often a player folds, calls and bets, by street and whether it faces a bet, whatever its cards.

The baseline of `score`: a model that takes cards into account should do better.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs, part
from openfelt.games.compile.betting_tree import FACING_SHIFT, KIND, STREET_SHIFT
from openfelt.games.game import AnyGame
from openfelt.opponents.models.model import EarlierTraining, OpponentModel
from openfelt.opponents.models.observed import Decisions, ObservedHand, decisions_in
from openfelt.opponents.models.public_tree import CLASSES
from openfelt.opponents.models.tree_arrays import draw_class
from openfelt.solve.traverse.episode import implements
from openfelt.solve.traverse.holdem import Deal, HoldemTree
from openfelt.solve.traverse.opponent_hooks import answer, is_known

PRIOR = 1.0  # initial count of each action (Laplace)


class FrequencySearchModel(NamedTuple):
    """The model for search in hold'em."""

    table: Floats  # [2 * streets, CLASSES]


class CountingModel(OpponentModel):
    """A model that learns by counting, each hand at once, whether its cards were shown or not."""

    @abstractmethod
    def reset(self) -> None:
        """Set all counts to zero."""

    @abstractmethod
    def count(self, hand: ObservedHand) -> None:
        """Count a hand."""

    def fit(self, hands: Sequence[ObservedHand], *, seed: int = 0, rounds: int = 1) -> None:
        """Count all hands, from zero; `seed` and `rounds` have no effect."""
        if not hands:
            raise FeltError("There are no hands to learn from.")
        self.reset()
        self.hands, self.earlier = [], EarlierTraining()
        for hand in hands:
            self.learn(hand)

    def learn(self, hand: ObservedHand) -> None:
        """Count one more hand."""
        self.hands.append(hand)
        self.count(hand)


class FrequencyModel(CountingModel):
    """Counts of actions by street, with and without a bet to call."""

    kind = "frequencies"
    summary = "frequencies of actions by street, whatever the cards"

    def __init__(self, game: AnyGame) -> None:
        super().__init__(game)
        self.reset()

    def reset(self) -> None:
        self.counts = np.zeros((2 * len(self.domain.streets), len(CLASSES)))

    def shares(self, nodes: Longs, ranks: Longs, holdings: Longs) -> Floats:
        kinds = self.domain.public.node[nodes, KIND]
        return over_possible(self.counts[spot_of(kinds)] + PRIOR, kinds)

    def fit_to(self, decisions: Decisions) -> None:
        self.reset()
        kinds = self.domain.public.node[decisions.node, KIND]
        np.add.at(self.counts, (spot_of(kinds), decisions.action), decisions.weight)

    def count(self, hand: ObservedHand) -> None:
        for node, _, _, action in decisions_in(self.domain.public, hand):
            self.counts[spot_of(int(self.domain.public.node[node, KIND])), action] += 1.0

    def bayes(self, hand: ObservedHand) -> Floats:
        """Uniform: actions do not depend on the cards."""
        return self.domain.possible((*hand.board, *hand.dead))

    def for_search(self) -> FrequencySearchModel:
        return FrequencySearchModel(self.counts + PRIOR)

    def to_save(self) -> tuple[Mapping[str, NDArray[Any]], Mapping[str, Any]]:
        return {"counts": self.counts}, {}

    def restore(self, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
        counts = np.array(arrays["counts"], np.float64)
        if counts.shape != self.counts.shape or not (np.isfinite(counts) & (counts >= 0)).all():
            raise ValueError("counts")
        self.counts = counts

    def describe(self) -> str:
        lines = [f"{'':<24}{'decisions':>10}" + "".join(f"{name:>8}" for name in CLASSES)]
        for spot, counts in enumerate(self.counts):
            street, facing = self.domain.streets[spot // 2], spot % 2
            shown = (counts + PRIOR) * (1.0 if facing else np.array([0.0, 1.0, 1.0]))
            shares = "".join(f"{share:>8.2f}" for share in shown / shown.sum())
            where = f"{street}, {'facing a bet' if facing else 'free'}"
            lines.append(f"{where:<24}{counts.sum():>10.0f}{shares}")
        return "\n".join(lines)


def spot_of(kinds: Any) -> Any:
    """The row of counts of a street, with or without a bet to call."""
    return 2 * (kinds >> STREET_SHIFT & 3) + (kinds >> FACING_SHIFT & 1)


def over_possible(weights: Floats, kinds: NDArray[Any]) -> Floats:
    """[n, CLASSES] weights of actions as probabilities of the legal ones."""
    first = 1 - (kinds >> FACING_SHIFT & 1)
    klass, num_actions = np.arange(len(CLASSES)), kinds & 3
    can = (klass >= first[:, None]) & (klass < (first + num_actions)[:, None])
    weights = np.where(can, weights, 0.0)
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, can)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@part
def _spot(kind: int) -> int:
    return 2 * (kind >> STREET_SHIFT & 3) + (kind >> FACING_SHIFT & 1)


@implements(is_known, FrequencySearchModel)
def _known(model: FrequencySearchModel) -> bool:
    return True


@implements(answer, FrequencySearchModel)
def _answer(model: FrequencySearchModel, tree: HoldemTree, deal: Deal, node: int, place: float) -> int:
    kind = tree.node[node, KIND]
    return draw_class(model.table, _spot(kind), kind, place)
