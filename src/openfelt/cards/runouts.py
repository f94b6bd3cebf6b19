"""The turns and rivers that can follow a flop, up to suits: all of them, or a sample.

A sample is drawn as cards, uniformly and without replacement, and each card stands for all cards that are
isomorphic to it: if `k` of `n` drawn cards are among `m` isomorphic ones of all `N`, each of these has the
weight k / n * N / m. Its mean over samples is 1, so weighted sums are unbiased.

A sample consists of two *halves*, drawn independently of each other, so that a response that is fitted to one
half can be evaluated on the other.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from openfelt.cards.public_cards import Deck, Flop, Plan, plan_flop
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats, Ints


class River(NamedTuple):
    """A river that stands for all isomorphic rivers."""

    card: int
    seen_as: Ints  # for each isomorphic river, a permutation of suits that leads to it
    weights: tuple[float, ...]  # in each half


class Turn(NamedTuple):
    """A turn that stands for all isomorphic turns, and its rivers."""

    card: int
    seen_as: Ints
    weight: float
    rivers: list[River]


class Runouts(NamedTuple):
    """How many turns of each flop, and rivers of each turn, to sample; 0: all."""

    turns: int = 0
    rivers: int = 0
    seed: int = 0

    def check(self) -> None:
        """Raise if a sample cannot be halved."""
        if any(number and number < 2 for number in (self.turns, self.rivers)):
            raise FeltError("An estimate needs two turns of each flop and two rivers of each turn, or more.")

    def within(self, deck: Deck) -> Runouts:
        """The same, with 0 for numbers that take all cards of the deck."""
        turns = self.turns if self.turns < deck.size - 3 else 0
        rivers = self.rivers if self.rivers < deck.size - 4 else 0
        return Runouts(turns, rivers, self.seed)

    @property
    def is_sample(self) -> bool:
        """Whether anything is sampled."""
        return self.turns > 0 or self.rivers > 0

    def after(self, deck: Deck, flop: Flop) -> list[list[Turn]]:
        """The turns after a flop, in two halves; without sampling only one, which has all of them."""
        plan, draw = plan_flop(deck, flop), np.random.default_rng([self.seed, *flop.cards])
        sizes = np.diff(plan.turn_first)
        halves = []
        for turns in _halves(self.turns) if self.is_sample else [0]:
            weights = _weights(sizes, turns, draw)
            halves.append(
                [
                    Turn(
                        int(plan.turn[turn]),
                        plan.turn_as[plan.turn_first[turn] : plan.turn_first[turn + 1]],
                        float(weights[turn]),
                        self._rivers(plan, turn, draw),
                    )
                    for turn in np.flatnonzero(weights).tolist()
                ]
            )
        return halves

    def _rivers(self, plan: Plan, turn: int, draw: np.random.Generator) -> list[River]:
        places = slice(plan.of_turn[turn], plan.of_turn[turn + 1])
        spans = list(pairwise(plan.river_first[places.start : places.stop + 1].tolist()))
        sizes = np.array([end - first for first, end in spans])
        halves = [_weights(sizes, rivers, draw) for rivers in (_halves(self.rivers) if self.rivers else [0])]
        listed = zip(plan.river[places].tolist(), spans, np.array(halves).T.tolist(), strict=True)
        return [
            River(card, plan.river_as[first:end], tuple(weights))
            for card, (first, end), weights in listed
            if any(weights)
        ]


def _halves(cards: int) -> tuple[int, int]:
    return cards // 2, cards - cards // 2


def _weights(sizes: Ints, cards: int, draw: np.random.Generator) -> Floats:
    """The weights of orbits with these sizes in a sample of some cards; 0: all."""
    if not cards:
        return np.ones(len(sizes))
    drawn = draw.multivariate_hypergeometric(sizes, cards)
    return np.asarray(drawn / cards * (sizes.sum() / sizes))
