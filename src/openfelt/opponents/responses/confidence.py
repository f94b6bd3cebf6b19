"""How far a model is trusted at each row, by how often the player was seen there (Johanson & Bowling 2009).

The data-biased response binds a player to the model with this probability at each of his decisions, so that
the model counts little where it only guesses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from openfelt.cards.boards import PAIR_AS, find_board
from openfelt.core.errors import FeltError, unknown
from openfelt.core.jit import Floats
from openfelt.games.compile.betting_tree import BettingTree
from openfelt.games.compile.compiler import compile_game
from openfelt.games.compile.game_tree import GameTree
from openfelt.games.compile.tree import Tree
from openfelt.opponents.models.domain import UNKNOWN, OneCardDomain, model_domain
from openfelt.opponents.models.observed import ObservedHand, decisions_in

CONSTANT, LINEAR, S_CURVE = "constant", "0-10-linear", "s-curve"
FULL = 10  # observations from which the linear one trusts fully
HALF = 10.0  # observations at which the s-curve trusts half as much as it ever will

CONFIDENCES: dict[str, Callable[[Floats, float], Floats]] = {
    CONSTANT: lambda seen, half: np.ones_like(seen),
    LINEAR: lambda seen, half: np.minimum(seen, FULL) / FULL,
    S_CURVE: lambda seen, half: seen / (half + seen),
}


def confidence(kind: str, seen: Floats, most: float = 1.0, half: float = HALF) -> Floats:
    """From numbers of observations to probabilities of at most `most`; `half` is the s-curve's constant."""
    if kind not in CONFIDENCES:
        raise FeltError(unknown("confidence", kind, CONFIDENCES))
    if not 0 <= most <= 1:
        raise FeltError(f"The probability p must be from 0 to 1, not {most}.")
    if not (half > 0 and np.isfinite(half)):
        raise FeltError(f"The constant of the s-curve must be a number above 0, not {half}.")
    seen = np.asarray(seen, np.float64)
    if not ((seen >= 0) & np.isfinite(seen)).all():
        raise FeltError("Numbers of observations must be 0 or more.")
    return most * CONFIDENCES[kind](seen, half)


def observations(tree: Tree, hands: Sequence[ObservedHand]) -> Floats:
    """[slots] how often the player was seen to decide in each slot's row, in hands whose cards are known."""
    counts = np.zeros(tree.num_slots)
    slots_of = _holdem_slots(tree) if isinstance(tree, BettingTree) else _small_slots(compile_game(tree))
    domain = model_domain(tree.game)
    for hand in hands:
        if hand.holding != UNKNOWN:
            for node, _, street, _ in decisions_in(domain.public, hand):
                counts[slots_of(node, hand.holding, hand.board[: domain.board_cards[street]])] += 1.0
    return counts


SlotsOf = Callable[[int, int, tuple[int, ...]], slice]  # from a node of the public tree, a holding, a board


def _small_slots(tree: GameTree) -> SlotsOf:
    domain = model_domain(tree.game)
    assert isinstance(domain, OneCardDomain)
    row = {(place.node, place.holding, place.board): place.row for place in domain.rows()}
    return lambda node, holding, board: tree.slots(row[node, holding, board])


def _holdem_slots(tree: BettingTree) -> SlotsOf:
    tables = tree.abstraction.tables()
    found = lru_cache(maxsize=1024)(find_board)

    def slots(node: int, holding: int, board: tuple[int, ...]) -> slice:
        number, permutation = found(board)
        return tree.slots(node, int(tables[tree.street(node)][number, PAIR_AS[permutation, holding]]))

    return slots
