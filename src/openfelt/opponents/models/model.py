"""The protocol of opponent models: what a player does with any holding, and what it may hold.

A model learns from observed hands and predicts for all holdings at once. Bayes' rule over the actions of a
hand gives the probability of each holding, given the cards that are elsewhere. A hand whose cards were not
shown counts for several holdings, drawn from the model's own posterior; fitting and drawing alternate (EM).
The first draw is by TAU's heuristic: bad cards if the player folded, good ones if its opponents did.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Longs
from openfelt.games.compile.betting_tree import CHILD
from openfelt.games.game import AnyGame
from openfelt.opponents.models.domain import UNKNOWN, ModelDomain, model_domain
from openfelt.opponents.models.observed import (
    Decisions,
    ObservedHand,
    all_decisions,
    concatenate,
    decisions_in,
    ending,
)
from openfelt.policy.tabular import TabularPolicy

FIRST_FIT = 20  # hands
DRAWS = 4  # holdings drawn for a hand whose cards were not shown
ROUNDS = 12  # of EM; docs/studies/models-truth.md


class EarlierTraining(NamedTuple):
    """What a loaded model had learned from."""

    hands: int = 0
    habits: Floats | None = None  # the counts of FrequencyModel
    decisions: Decisions | None = None  # with shown or drawn cards; None for models that count


class OpponentModel(ABC):
    """A model of one player's strategy, in all seats; `fit_model` and `load_model` return one.

    Parameters
    ----------
    game : Game, str or Path
        The poker game.

    Examples
    --------
    >>> result = felt.match("probe", "random", game="leduc", hands=200, history=folder / "hands.db")
    >>> model = felt.fit_model(felt.read_hands(folder / "hands.db"), "probe", kind="frequencies")
    >>> isinstance(model, felt.OpponentModel)
    True
    >>> print(model.describe())
               decisions    fold    call     bet
    preflop, free    ...
    """

    kind: ClassVar[str]  # its name on the command line
    summary: ClassVar[str]

    def __init__(self, game: AnyGame) -> None:
        self.domain: ModelDomain = model_domain(game)
        self.hands: list[ObservedHand] = []  # learned from since it was created or loaded
        self.earlier = EarlierTraining()  # before it was loaded
        self._latest: Decisions | None = None  # the decisions of these hands that it was last fitted to
        self._next_fit = FIRST_FIT

    # Differs by kind

    @abstractmethod
    def shares(self, nodes: Longs, ranks: Longs, holdings: Longs) -> Floats:
        """[n, CLASSES] probability of fold, call and bet at nodes of the public tree, with holdings."""

    @abstractmethod
    def fit_to(self, decisions: Decisions) -> None:
        """Fit from scratch to weighted decisions with known cards."""

    @abstractmethod
    def for_search(self) -> Any:
        """The model for search in hold'em, with the hooks of solve/traverse/opponent_hooks.py."""

    @abstractmethod
    def to_save(self) -> tuple[Mapping[str, NDArray[Any]], Mapping[str, Any]]:
        """Arrays and facts from which `restore` rebuilds the model."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
        """Take over a saved state."""

    @abstractmethod
    def describe(self) -> str:
        """What the model has learned, as text."""

    # Common to all kinds

    @property
    def fingerprint(self) -> str:
        """Equal for models with the same saved state."""
        arrays, facts = self.to_save()
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
        for name in sorted(arrays):
            digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
        return digest.hexdigest()[:12]

    def fit(self, hands: Sequence[ObservedHand], *, seed: int = 0, rounds: int = ROUNDS) -> None:
        """Learn from hands; for cards that were not shown, holdings are drawn in `rounds` of EM."""
        if not hands:
            raise FeltError("There are no hands to learn from.")
        self.hands, self.earlier, self._latest = list(hands), EarlierTraining(), None
        self._next_fit = len(hands) * 5 // 4
        generator = np.random.default_rng(seed)
        hidden = any(hand.holding == UNKNOWN for hand in hands)
        for _ in range(rounds if hidden else 1):
            self._fit_again(generator)

    def learn(self, hand: ObservedHand) -> None:
        """Observe one more hand. By default the model is refitted whenever there are a quarter more hands.

        Cards that were not shown are then drawn again from the current model: a round of EM.
        """
        self.hands.append(hand)
        if len(self.hands) >= self._next_fit:
            self._next_fit = max(len(self.hands) + 1, (self.earlier.hands + len(self.hands)) * 5 // 4)
            self._next_fit -= self.earlier.hands
            self._fit_again(np.random.default_rng(len(self.hands)))

    def _fit_again(self, generator: np.random.Generator) -> None:
        guessing = self._latest is None and self.earlier.decisions is None
        self._latest = impute_holdings(self, self.hands, generator, first=guessing)
        found = self.learned_from()
        assert found is not None
        self.fit_to(found)

    def learned_from(self) -> Decisions | None:
        """All decisions that it was fitted to, also before it was loaded; None for models that count."""
        parts = [part for part in (self.earlier.decisions, self._latest) if part is not None]
        return concatenate(parts) if parts else None

    def resume_from(self, earlier: EarlierTraining) -> None:
        """Continue learning after loading."""
        self.earlier = earlier
        self._next_fit = max(FIRST_FIT, earlier.hands // 4)

    def actions(self, board: Sequence[int], line: Sequence[int]) -> Floats:
        """[holdings, actions] P(action | observations, cards) at the decision after a line."""
        node = 0
        for action in line:
            node = int(self.domain.public.node[node, CHILD]) + action
        shares = self._all_shares(node, board)
        first = self.domain.first_class(node)
        return shares[:, first : first + len(self.domain.actions(node))]

    def cards(self, hand: ObservedHand) -> Floats:
        """[holdings] P(cards | observations): board, actions so far, and cards held by others."""
        return self.bayes(hand)

    def bayes(self, hand: ObservedHand) -> Floats:
        """The same, by Bayes' rule from the probabilities of the actions."""
        likely = self.domain.possible((*hand.board, *hand.dead))
        for node, _, street, action in decisions_in(self.domain.public, hand):
            board = hand.board[: self.domain.board_cards[street]]
            after = likely * self._all_shares(node, board)[:, action]
            if after.sum() > 0:  # else the model excluded the action: ignore it
                likely = after / after.sum()
        return likely

    def _all_shares(self, node: int, board: Sequence[int]) -> Floats:
        count = self.domain.holdings
        return self.shares(np.full(count, node), self.domain.ranks(board), np.arange(count))

    def policy(self) -> TabularPolicy:
        """In an enumerated game: the predicted policy at every infoset of every player."""
        infosets = self.domain.infoset_table
        shares = self.shares(infosets.node, infosets.rank, infosets.holding)
        return TabularPolicy(infosets.tree, shares[infosets.row_of_slot, infosets.class_of_slot])


def impute_holdings(
    model: OpponentModel, hands: Sequence[ObservedHand], generator: np.random.Generator, *, first: bool
) -> Decisions:
    """All decisions with holdings: those shown, or several draws from what they may have been."""
    copies: list[ObservedHand] = []
    weights: list[float] = []
    for hand in hands:
        if hand.holding != UNKNOWN:
            copies.append(hand)
            weights.append(1.0)
            continue
        likely = guess(model.domain, hand) if first else model.bayes(hand)
        for holding in generator.choice(len(likely), DRAWS, p=likely):
            copies.append(hand._replace(holding=int(holding)))
            weights.append(1.0 / DRAWS)
    found = all_decisions(model.domain, copies)
    return found._replace(weight=np.array(weights)[found.hand])


def guess(domain: ModelDomain, hand: ObservedHand) -> Floats:
    """TAU's heuristic: bad cards if the player folded, good ones if its opponents did."""
    likely = domain.possible((*hand.board, *hand.dead))
    order = np.argsort(np.argsort(domain.ranks(hand.board), kind="stable")) / max(1, domain.holdings - 1)
    end = ending(domain.public, hand.line, hand.seat)
    likely = likely * (1.0 - order if end.folded else order + 1e-9)
    return np.asarray(likely / likely.sum())
