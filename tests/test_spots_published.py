"""Values that postflop-solver gets for spots of its examples."""

from __future__ import annotations

import pytest
from speed import slow

from openfelt.spots.solver import SpotSolver
from openfelt.spots.spot import Spot

OOP = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
IP = "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"


@pytest.mark.parametrize(
    ("board", "value", "exploitability"),
    [("Td9d6hQc2s", 92.757, 0.093), slow("Td9d6hQc", 92.679, 0.180)],
    ids=["river", "turn"],
)
def test_the_value_of_postflop_solver(board, value, exploitability):
    """Both values are at most the exploitability (percent of the pot) away from that of the spot."""
    ours = 0.02 if len(board) == 10 else 0.1
    solver = SpotSolver(Spot(oop=OOP, ip=IP, board=board, pot=200, stack=900, bets="60%,a", raises="2.5x"))
    assert solver.run(until=ours).exploitability <= ours
    # A profile's value differs from the game's by at most the sum of both players' gains.
    assert solver.values()[0] == pytest.approx(value, abs=2 * (ours + exploitability) / 100 * 200)
