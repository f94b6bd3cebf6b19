"""Merged boards give the values of all boards; boards that a range or a lock tells apart are not merged."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from openfelt.spots.locks import Lock
from openfelt.spots.runouts import build_runouts, suit_symmetry
from openfelt.spots.solver import SpotSolver
from openfelt.spots.spot import Spot
from openfelt.spots.traversal import BEST_RESPONSE, EXPECTED

# (board, ranges, permutations of suits, distinct boards by street)
CASES = {
    "turn, rainbow": ("Td9s6h2d", "QQ,87s", "A9s,KK", 1, [1, 48]),
    "turn, one suit pair": ("ThTs6h2s", "QcQd,AKo", "9c8c,9d8d,JJ", 2, [1, 35]),
    "turn, monotone": ("Th9h6h2h", "QQ,AhKd,AhKc,AhKs", "A9s", 6, None),
    "turn, asymmetric": ("ThTs6h2s", "AcKc", "QQ", 1, [1, 48]),
    "flop, monotone": ("Th9h6h", "QcQd,QcQs,QdQs", "AcKc,AdKd,AsKs", 6, None),
    "flop, two-tone": ("Th9h6s", "QcQd", "AcKc,AdKd", 2, None),
    "flop, rainbow": ("Td9s6h", "QcQd", "AcKc", 1, [1, 49, 49 * 48]),
}


def build(name):
    board, oop, ip, *_ = CASES[name]
    stack = 100 if len(board) == 6 else 250
    return Spot(oop=oop, ip=ip, board=board, pot=100, stack=stack, bets="100%", raises="3x")


def solved(spot, runouts, iterations=2, locks=()):
    """The solver of a spot whose boards are those of `runouts`."""
    fresh = replace(spot)
    fresh.__dict__["runouts"] = runouts
    solver = SpotSolver(fresh, locks=locks)
    solver.run(iterations)
    return solver


@pytest.mark.parametrize("name", CASES)
def test_merged_boards_give_the_same_solution(name):
    spot = build(name)
    both = [solved(spot, build_runouts(spot.cards, spot.ranges, merge=merge)) for merge in (True, False)]
    boards = [[len(runouts.card) for runouts in solver.spot.runouts] for solver in both]
    permutations = len(suit_symmetry(spot.cards, spot.ranges))
    assert permutations == CASES[name][3]
    assert (sum(boards[0]) < sum(boards[1])) == (permutations > 1)
    if CASES[name][4]:
        assert boards[0] == CASES[name][4]
    for player in (0, 1):
        for mode in (EXPECTED, BEST_RESPONSE):
            merged, each = (solver.engine.passes().run(player, mode) for solver in both)
            np.testing.assert_allclose(merged, each, atol=1e-5 * abs(each).max())
    # Rounding decides between equal actions, so later strategies may differ; the value does not.
    for solver in both:
        solver.run(until=0.1)
    assert both[0].values() == pytest.approx(both[1].values(), abs=4 * 0.1 / 100 * spot.pot)


@pytest.mark.parametrize("name", CASES)
def test_orbits_cover_every_card_once(name):
    spot = build(name)
    streets = build_runouts(spot.cards, spot.ranges)
    for before, after in pairwise(streets):
        for board in range(len(before.card)):
            first, last = (after.image[child] for child in before.children[board : board + 2])
            dealt = sorted(after.image_card[first:last].tolist())
            assert dealt == [card for card in range(52) if card not in before.cards[board]]


@pytest.mark.parametrize("name", ["turn, one suit pair", "flop, monotone"])
def test_a_lock_that_tells_suits_apart(name):
    """The lock is no symmetry of the spot: each board has its own values."""
    spot = build(name)
    actions = len(spot.streets[0].places[0].actions)
    random = np.random.default_rng(5)
    lock = Lock("", random.dirichlet(np.ones(actions), 1326).T)

    merged = SpotSolver(spot, locks=(lock,))
    merged.run(60)
    each = solved(spot, build_runouts(spot.cards, spot.ranges, merge=False), 60, (lock,))
    assert merged.values() == pytest.approx(each.values(), rel=1e-4)
    assert merged.best_responses() == pytest.approx(each.best_responses(), rel=1e-4)
