"""All flops and turns up to suits, to be drawn from, with the rivers that can follow."""

from __future__ import annotations

import numpy as np

from openfelt.cards.boards import PERMUTED_CARD
from openfelt.cards.deck import CARDS
from openfelt.cards.public_cards import Deck, Plan, plan_flop
from openfelt.core.jit import Floats, Ints, Longs


class PublicBoards:
    """The boards of four cards of a deck, one for each class of isomorphic ones."""

    def __init__(self, deck: Deck) -> None:
        self.deck = deck
        self.plans: list[Plan] = [plan_flop(deck, flop) for flop in deck.flops]
        weights, places = [], []
        for number, (flop, plan) in enumerate(zip(deck.flops, self.plans, strict=True)):
            weights.append(flop.multiplicity * np.diff(plan.turn_first))
            places.append(np.stack([np.full(plan.turns, number), np.arange(plan.turns)], axis=1))
        self.places: Longs = np.concatenate(places)  # [boards, 2] the flop, and the turn in its plan
        total = np.cumsum(np.concatenate(weights))
        self._bounds = total / total[-1]

    @property
    def rivers(self) -> int:
        """The most rivers that can follow a board."""
        return self.deck.size - 4

    def find(self, uniform: float) -> int:
        """The board that a uniform number from 0 to 1 draws, each with its probability."""
        return int(np.searchsorted(self._bounds, uniform, side="right"))

    def cards(self, board: int) -> Ints:
        """The four cards of a board."""
        flop, turn = self.places[board]
        return np.array([*self.deck.flops[flop].cards, self.plans[flop].turn[turn]], np.int32)

    def sampled_rivers(self, board: int, step: int, offset: int) -> Floats:
        """[52] the weight of each river if every `step`th one up to suits is sampled, from `offset` on.

        Rivers that are not sampled have the weight 0.
        """
        flop, turn = self.places[board]
        plan, weight = self.plans[flop], np.zeros(CARDS)
        for river in range(plan.of_turn[turn] + offset, plan.of_turn[turn + 1], step):
            images = plan.river_as[plan.river_first[river] : plan.river_first[river + 1]]
            weight[PERMUTED_CARD[images, plan.river[river]]] = step
        return weight
