"""Confidence in a model at each infoset, by the number of observations there (Johanson & Bowling 2009).

In a data-biased response the opponent follows the model with this probability at each decision, so that the
model counts little where it was learned from few observations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, singledispatch

import numpy as np

from openfelt.cards.boards import PERMUTED_PAIR, find_board
from openfelt.core.errors import FeltError, unknown
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.tree import Tree, too_many_histories
from openfelt.opponents.models.domain import UNKNOWN, model_domain
from openfelt.opponents.models.observed import ObservedHand, decisions_in

CONSTANT, LINEAR, S_CURVE = "constant", "0-10-linear", "s-curve"
FULL = 10  # observations from which the linear confidence is full
HALF = 10.0  # observations at which the s-curve is at half of its limit

CONFIDENCES: dict[str, Callable[[Floats, float], Floats]] = {
    CONSTANT: lambda n, half: np.ones_like(n),
    LINEAR: lambda n, half: np.minimum(n, FULL) / FULL,
    S_CURVE: lambda n, half: n / (half + n),
}


def confidence(kind: str, observed: Floats, most: float = 1.0, half: float = HALF) -> Floats:
    """From numbers of observations to probabilities of at most `most`; `half` is the s-curve's constant."""
    if kind not in CONFIDENCES:
        raise FeltError(unknown("confidence", kind, CONFIDENCES))
    if not 0 <= most <= 1:
        raise FeltError(f"The probability p must be from 0 to 1, not {most}.")
    if not (half > 0 and np.isfinite(half)):
        raise FeltError(f"The constant of the s-curve must be a number above 0, not {half}.")
    counts = np.asarray(observed, np.float64)
    if not ((counts >= 0) & np.isfinite(counts)).all():
        raise FeltError("Numbers of observations must be 0 or more.")
    return most * CONFIDENCES[kind](counts, half)


def observations(tree: Tree, hands: Sequence[ObservedHand]) -> Floats:
    """[slots] how often the player was observed at each slot's infoset, in hands whose cards are known."""
    counts = np.zeros(tree.num_slots)
    slots_of, domain = _slots_of(tree), model_domain(tree.game)
    for hand in hands:
        if hand.holding != UNKNOWN:
            for node, _, street, _ in decisions_in(domain.public, hand):
                counts[slots_of(node, hand.holding, hand.board[: domain.board_cards[street]])] += 1.0
    return counts


SlotsOf = Callable[[int, int, tuple[int, ...]], slice]  # from a node of the public tree, a holding, a board


@singledispatch
def _slots_of(tree: Tree) -> SlotsOf:
    """The function that finds the slots of an infoset."""
    raise too_many_histories(tree.game)


@_slots_of.register
def _(tree: GameTree) -> SlotsOf:
    places = model_domain(tree.game).infosets()
    row = {(place.node, place.holding, place.board): place.row for place in places}
    return lambda node, holding, board: tree.slots(row[node, holding, board])


@_slots_of.register
def _(tree: BettingTree) -> SlotsOf:
    tables = tree.abstraction.tables()
    canonical = lru_cache(maxsize=1024)(find_board)

    def slots(node: int, holding: int, board: tuple[int, ...]) -> slice:
        number, permutation = canonical(board)
        return tree.slots(node, int(tables[tree.street(node)][number, PERMUTED_PAIR[permutation, holding]]))

    return slots
