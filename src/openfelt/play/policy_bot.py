"""A policy at the table: from what its seat has seen to an action. It needs no tables of cards."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from openfelt.cards.deck import BOARD_CARDS, STREETS, cards_text
from openfelt.play.hand import Hand, Step, Thought
from openfelt.policy.any_policy import AnyPolicy
from openfelt.policy.holdem_policy import WHOLE, HoldemPolicy
from openfelt.policy.policy import Policy
from openfelt.rules.game import CHANCE
from openfelt.rules.holdem import Holdem


class PolicyBot(ABC):
    """Plays any seat by a policy."""

    def act(self, hand: Hand, generator: np.random.Generator) -> Step:
        """Move, where it is this bot's turn."""
        thought = self.think(hand)
        chances = np.array(thought.probabilities)
        return hand.act(int(generator.choice(len(chances), p=chances / chances.sum())), thought)

    @abstractmethod
    def think(self, hand: Hand) -> Thought:
        """What the policy says for the player who is to move."""


def policy_bot(policy: AnyPolicy) -> PolicyBot:
    """The bot that plays a policy."""
    return HoldemBot(policy) if isinstance(policy, HoldemPolicy) else TreeBot(policy)


class TreeBot(PolicyBot):
    """By a policy of an enumerated game."""

    def __init__(self, policy: Policy) -> None:
        self._policy, self._tree = policy, policy.tree

    def think(self, hand: Hand) -> Thought:
        node = 0
        for step in hand.steps:
            node = int(self._tree.nodes.first_child[node]) + step.number
        row = int(self._tree.nodes.row[node])
        return Thought(self._tree.row_name(row), tuple(self._policy.row(row).tolist()))


class HoldemBot(PolicyBot):
    """By a policy of hold'em: it buckets its own hand."""

    def __init__(self, policy: HoldemPolicy) -> None:
        self._policy, self._tree = policy, policy.tree

    def think(self, hand: Hand) -> Thought:
        assert isinstance(hand.game, Holdem)
        node, words = 0, []
        for step in hand.steps:
            if step.mover != CHANCE:
                node = self._tree.child(node, step.number)
                words.append(step.action)
        hole = hand.game.hole(hand.state, hand.mover)
        board = hand.game.board(hand.state)
        bucket = self._tree.abstraction.bucket(hole, board)
        street = BOARD_CARDS.index(len(board))
        cards = " ".join(cards_text(some) for some in (hole, board) if some)
        place = f"bucket {bucket} of {self._tree.abstraction.counts[street]} on the {STREETS[street]}"
        knew = f"{cards}: {' '.join(words) or 'first to act'} ({place})"
        weights = self._policy.weights[self._tree.slots(node, bucket)]
        return Thought(knew, tuple((weights / WHOLE).tolist()))
