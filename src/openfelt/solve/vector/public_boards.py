"""All flops and turns up to suits, to be drawn from, with the rivers that can follow."""

from __future__ import annotations

import numpy as np

from openfelt.cards.boards import PERMUTED_CARD, PERMUTED_PAIR, board_set
from openfelt.cards.deck import CARDS, PAIR_CARDS, PAIRS
from openfelt.cards.public_cards import Deck, Plan, plan_flop
from openfelt.core.jit import Ints, Longs


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


def flop_hands() -> tuple[Ints, int]:
    """[canonical flops, 1326] a number for each hand up to suits, and how many there are: 1,286,792."""
    cards = board_set(3).cards()
    rows, count = np.zeros((len(cards), PAIRS), np.int32), 0
    for number, board in enumerate(cards):
        held = np.zeros(CARDS, np.bool_)
        held[board] = True
        keeping = [order for order, seen in enumerate(PERMUTED_CARD) if held[seen[board]].all()]
        least = PERMUTED_PAIR[keeping].min(axis=0)
        off = ~held[PAIR_CARDS].any(axis=1)
        different, kind = np.unique(least[off], return_inverse=True)
        rows[number, off] = count + kind
        count += len(different)
    return rows, count
