"""The one protocol of opponent models: what the player does with any cards, and what cards he may have.

A model is made for a game, learns from hands as they are seen, and answers for all holdings at once. From
what he does with any cards, Bayes' rule through the whole hand gives what he may hold, with the cards removed
that are known to be elsewhere. Where his cards were not shown, a hand counts for several holdings that he may
have had, drawn by how likely the model itself finds them; fitting and drawing take turns (EM). TAU's guess
comes first: one who folded had bad cards, and one to whom others folded good ones.
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
DRAWS = 4  # holdings that a hand counts for, where the cards were not shown
ROUNDS = 12  # of fitting and drawing; docs/studies/models-truth.md


class EarlierTraining(NamedTuple):
    """What a model that was loaded had learned from."""

    hands: int = 0
    habits: Floats | None = None  # the counts of FrequencyModel
    decisions: Decisions | None = None  # with cards as they were shown or drawn; None for kinds that count


class OpponentModel(ABC):
    """Of one player, in all seats."""

    kind: ClassVar[str]  # its name on the command line
    summary: ClassVar[str]

    def __init__(self, game: AnyGame) -> None:
        self.domain: ModelDomain = model_domain(game)
        self.hands: list[ObservedHand] = []  # all that it has learned from since it was made or loaded
        self.before = EarlierTraining()  # what it had learned from when it was loaded
        self._latest: Decisions | None = None  # what it was last fitted to, of these hands
        self._next_fit = FIRST_FIT

    # What a kind of model does by itself

    @abstractmethod
    def shares(self, nodes: Longs, ranks: Longs, holdings: Longs) -> Floats:
        """[n, CLASSES] the chance of fold, call and bet at decisions of the public tree, with hands."""

    @abstractmethod
    def fit_to(self, decisions: Decisions) -> None:
        """Learn anew from decisions whose cards are all known, each with its weight."""

    @abstractmethod
    def for_search(self) -> Any:
        """The NamedTuple by which a search in hold'em asks it (solve/traverse/opponent_hooks.py)."""

    @abstractmethod
    def to_save(self) -> tuple[Mapping[str, NDArray[Any]], Mapping[str, Any]]:
        """Arrays and facts that `restore` needs."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
        """Become what was saved."""

    @abstractmethod
    def describe(self) -> str:
        """What it has learned, to be read by people."""

    # What all do alike

    @property
    def fingerprint(self) -> str:
        """Equal for models that have learned the same."""
        arrays, facts = self.to_save()
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
        for name in sorted(arrays):
            digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
        return digest.hexdigest()[:12]

    def fit(self, hands: Sequence[ObservedHand], *, seed: int = 0, rounds: int = ROUNDS) -> None:
        """Learn from hands; those without shown cards count for holdings that he may have had."""
        if not hands:
            raise FeltError("There are no hands to learn from.")
        self.hands, self.before, self._latest = list(hands), EarlierTraining(), None
        self._next_fit = len(hands) * 5 // 4
        generator = np.random.default_rng(seed)
        hidden = any(hand.holding == UNKNOWN for hand in hands)
        for _ in range(rounds if hidden else 1):
            self._fit_again(generator)

    def learn(self, hand: ObservedHand) -> None:
        """See one more hand. By default it is learned anew whenever there are a quarter more of them.

        Cards that were not shown are then drawn anew by what is known by now: a round of EM.
        """
        self.hands.append(hand)
        if len(self.hands) >= self._next_fit:
            self._next_fit = max(len(self.hands) + 1, (self.before.hands + len(self.hands)) * 5 // 4)
            self._next_fit -= self.before.hands
            self._fit_again(np.random.default_rng(len(self.hands)))

    def _fit_again(self, generator: np.random.Generator) -> None:
        guessing = self._latest is None and self.before.decisions is None
        self._latest = imputed(self, self.hands, generator, first=guessing)
        found = self.learned_from()
        assert found is not None
        self.fit_to(found)

    def learned_from(self) -> Decisions | None:
        """All decisions that it was fitted to, those from before it was loaded too; None if it counts."""
        parts = [part for part in (self.before.decisions, self._latest) if part is not None]
        return concatenate(parts) if parts else None

    def resume_from(self, before: EarlierTraining) -> None:
        """It was loaded: what it learns now comes on top of that."""
        self.before = before
        self._next_fit = max(FIRST_FIT, before.hands // 4)

    def actions(self, board: Sequence[int], line: Sequence[int]) -> Floats:
        """[holdings, actions] P(action | what was seen, cards) at the decision after a line."""
        node = 0
        for way in line:
            node = int(self.domain.public.node[node, CHILD]) + way
        shares = self._all_shares(node, board)
        first = self.domain.first_class(node)
        return shares[:, first : first + len(self.domain.actions(node))]

    def cards(self, hand: ObservedHand) -> Floats:
        """[holdings] P(cards | what was seen): the board, his actions so far, and cards that others have."""
        return self.bayes(hand)

    def bayes(self, hand: ObservedHand) -> Floats:
        """The same, by Bayes' rule from the chances of his actions."""
        likely = self.domain.possible((*hand.board, *hand.dead))
        for node, _, street, action in decisions_in(self.domain.public, hand):
            board = hand.board[: self.domain.board_cards[street]]
            after = likely * self._all_shares(node, board)[:, action]
            if after.sum() > 0:  # else he did what the model holds for impossible: it says nothing
                likely = after / after.sum()
        return likely

    def _all_shares(self, node: int, board: Sequence[int]) -> Floats:
        count = self.domain.holdings
        return self.shares(np.full(count, node), self.domain.ranks(board), np.arange(count))

    def policy(self) -> TabularPolicy:
        """For an enumerated game: what it says of every row, whoever's."""
        infosets = self.domain.infoset_table
        shares = self.shares(infosets.node, infosets.rank, infosets.holding)
        return TabularPolicy(infosets.tree, shares[infosets.row_of_slot, infosets.class_of_slot])


def imputed(
    model: OpponentModel, hands: Sequence[ObservedHand], generator: np.random.Generator, *, first: bool
) -> Decisions:
    """All decisions with cards: as they were shown, or several draws of what they may have been."""
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
    """TAU's heuristic: bad cards if he folded, good ones if the others did; by how the board ranks them."""
    likely = domain.possible((*hand.board, *hand.dead))
    order = np.argsort(np.argsort(domain.ranks(hand.board), kind="stable")) / max(1, domain.holdings - 1)
    end = ending(domain.public, hand.line, hand.seat)
    likely = likely * (1.0 - order if end.folded else order + 1e-9)
    return np.asarray(likely / likely.sum())
