"""Deals of hold'em from a public state: hands by their weights, the rest of the board by chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from openfelt.cards.deck import CARDS, PAIR_CARDS
from openfelt.core.jit import Floats, Ints, part
from openfelt.core.random import Stream, uniform
from openfelt.core.sampling import search_sums
from openfelt.solve.traverse.holdem import DRAWN, OUT, Deal, clear


def pairs_without(dead: Sequence[int]) -> Floats:
    """[1326] 1 for pairs that hold none of these cards, else 0."""
    free = np.ones(CARDS)
    free[list(dead)] = 0.0
    return np.asarray(free[PAIR_CARDS[:, 0]] * free[PAIR_CARDS[:, 1]])


@part
def draw_hands(summed: Floats, board: Ints, deal: Deal, stream: Stream) -> None:
    """A pair for each player by the running sums of its weights [players, 1326], none sharing a card."""
    while not _try_hands(summed, deal, stream):
        pass
    first = 2 * len(deal.value)
    for place in range(len(board)):
        deal.cards[first + place] = board[place]
        deal.at[OUT] |= 1 << board[place]
    deal.at[DRAWN] = first + len(board)


@part
def _try_hands(summed: Floats, deal: Deal, stream: Stream) -> bool:
    clear(deal)
    for player in range(len(deal.value)):
        pair = search_sums(summed[player], uniform(stream))
        for place in range(2):
            card = int(PAIR_CARDS[pair, place])
            if deal.at[OUT] >> card & 1:
                return False
            deal.cards[2 * player + place] = card
            deal.at[OUT] |= 1 << card
    return True
