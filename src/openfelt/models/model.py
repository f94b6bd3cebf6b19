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
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from openfelt.base.errors import FeltError
from openfelt.base.jit import Floats, Longs
from openfelt.models.ground import UNKNOWN, Ground, SmallGround, ground_of
from openfelt.models.public_tree import CLASSES
from openfelt.models.seen import Decisions, SeenHand, all_decisions, decisions_in, ending
from openfelt.policy.policy import Policy
from openfelt.rules.game import AnyGame

DRAWS = 4  # holdings that a hand counts for, where the cards were not shown
ROUNDS = 12  # of fitting and drawing; docs/studies/models-truth.md


class OpponentModel(ABC):
    """Of one player, in all seats."""

    kind: ClassVar[str]  # its name on the command line
    summary: ClassVar[str]

    def __init__(self, game: AnyGame) -> None:
        self.ground: Ground = ground_of(game)
        self.hands: list[SeenHand] = []  # all that it has learned from since it was made or loaded

    # What a kind of model does by itself

    @abstractmethod
    def shares(self, nodes: Longs, ranks: Longs, holdings: Longs) -> Floats:
        """[n, CLASSES] the chance of fold, call and bet at decisions of the public tree, with hands."""

    @abstractmethod
    def fit_to(self, decisions: Decisions) -> None:
        """Learn anew from decisions whose cards are all known, each with its weight."""

    @abstractmethod
    def for_search(self) -> Any:
        """The NamedTuple by which a search in hold'em asks it (traverse/others.py)."""

    @abstractmethod
    def to_save(self) -> tuple[Mapping[str, NDArray[Any]], Mapping[str, Any]]:
        """Arrays and facts that `restore` needs."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
        """Become what was saved."""

    @abstractmethod
    def describe(self) -> str:
        """What it has learned, to be read by people."""

    def draw(self, path: Path) -> None:
        """Draw what it has learned, where it can be drawn."""
        raise FeltError(f"There is no picture of a model of kind {self.kind}.")

    # What all do alike

    @property
    def fingerprint(self) -> str:
        """Equal for models that have learned the same."""
        arrays, facts = self.to_save()
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
        for name in sorted(arrays):
            digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
        return digest.hexdigest()[:12]

    def fit(self, hands: Sequence[SeenHand], *, seed: int = 0, rounds: int = ROUNDS) -> None:
        """Learn from hands; those without shown cards count for holdings that he may have had."""
        if not hands:
            raise FeltError("There are no hands to learn from.")
        self.hands = list(hands)
        generator = np.random.default_rng(seed)
        hidden = any(hand.holding == UNKNOWN for hand in hands)
        self.fit_to(imputed(self, hands, generator, first=True))
        for _ in range(rounds - 1 if hidden else 0):
            self.fit_to(imputed(self, hands, generator, first=False))

    def learn(self, hand: SeenHand) -> None:
        """See one more hand. By default it is learned anew whenever there are a quarter more of them."""
        self.hands.append(hand)
        if len(self.hands) >= self._next_fit:
            self.fit(self.hands, rounds=1)
            self._next_fit = len(self.hands) * 5 // 4

    _next_fit = 20

    def actions(self, board: Sequence[int], line: Sequence[int]) -> Floats:
        """[holdings, actions] P(action | what was seen, cards) at the decision after a line."""
        node = 0
        for way in line:
            node = int(self.ground.public.node[node, 2]) + way
        shares = self._all_shares(node, board)
        ways = len(self.ground.actions(node))
        first = 0 if self.ground.public.node[node, 1] >> 2 & 1 else 1
        return shares[:, first : first + ways]

    def cards(self, hand: SeenHand) -> Floats:
        """[holdings] P(cards | what was seen): the board, his actions so far, and cards that others have."""
        return self.bayes(hand)

    def bayes(self, hand: SeenHand) -> Floats:
        """The same, by Bayes' rule from the chances of his actions."""
        likely = self.ground.possible((*hand.board, *hand.dead))
        for node, _, street, action in decisions_in(self.ground.public, hand):
            board = hand.board[: self.ground.board_cards[street]]
            after = likely * self._all_shares(node, board)[:, action]
            if after.sum() > 0:  # else he did what the model holds for impossible: it says nothing
                likely = after / after.sum()
        return likely

    def _all_shares(self, node: int, board: Sequence[int]) -> Floats:
        count = self.ground.holdings
        return self.shares(np.full(count, node), self.ground.ranks(board), np.arange(count))

    def policy(self) -> Policy:
        """For an enumerated game: what it says of every row, whoever's."""
        ground = self.ground
        if not isinstance(ground, SmallGround):
            raise FeltError(f"{ground.game.name} is not enumerated: its models have no table of rows.")
        places = ground.rows()
        ranks = np.array([ground.ranks(place.board)[place.holding] for place in places])
        nodes = np.array([place.node for place in places])
        shares = self.shares(nodes, ranks, np.array([place.holding for place in places]))
        table = np.zeros(ground.tree.num_slots)
        for place, share in zip(places, shares, strict=True):
            slots = ground.tree.slots(place.row)
            first = 0 if ground.public.node[place.node, 1] >> 2 & 1 else 1
            table[slots] = share[first : first + slots.stop - slots.start]
        return Policy(ground.tree, table)


def imputed(
    model: OpponentModel, hands: Sequence[SeenHand], generator: np.random.Generator, *, first: bool
) -> Decisions:
    """All decisions with cards: as they were shown, or several draws of what they may have been."""
    copies: list[SeenHand] = []
    weights: list[float] = []
    for hand in hands:
        if hand.holding != UNKNOWN:
            copies.append(hand)
            weights.append(1.0)
            continue
        likely = guess(model.ground, hand) if first else model.bayes(hand)
        for holding in generator.choice(len(likely), DRAWS, p=likely):
            copies.append(hand._replace(holding=int(holding)))
            weights.append(1.0 / DRAWS)
    found = all_decisions(model.ground, copies)
    return found._replace(weight=np.array(weights)[found.hand])


def guess(ground: Ground, hand: SeenHand) -> Floats:
    """TAU's heuristic: bad cards if he folded, good ones if the others did; by how the board ranks them."""
    likely = ground.possible((*hand.board, *hand.dead))
    order = np.argsort(np.argsort(ground.ranks(hand.board), kind="stable")) / max(1, ground.holdings - 1)
    end = ending(ground.public, hand.line, hand.seat)
    likely = likely * (1.0 - order if end.folded else order + 1e-9)
    return np.asarray(likely / likely.sum())


assert len(CLASSES) == 3
