"""Threads, locks and the gadget of re-solving."""

from __future__ import annotations

import numpy as np
import pytest
from slow_spot import BEST, SlowSpot

from openfelt.spots.locks import Lock
from openfelt.spots.solver import SpotSolver
from openfelt.spots.spot import Spot, total_weight
from openfelt.spots.traversal import BEST_RESPONSE

RIVER = Spot(
    oop="AA,KQs,T9s,87s:0.5,55",
    ip="KK,AT,QJs,99:0.3,65s",
    board="Td9s6h2c2s",
    pot=100,
    stack=200,
    bets="50%,a",
    raises="a",
)
TURN = Spot(
    oop="AhAd,9h8h,KsQs,JhTh:0.5",
    ip="AcKc,TcTs,7s7c,QhJh",
    board="Td9s6h2c",
    pot=100,
    stack=150,
    bets="75%",
    raises="a",
)
FLOP = Spot(oop="AhAd,9h8h", ip="AcKc,7s7c", board="Td9s6h", pot=100, stack=75, bets="75%")


def tables(solver):
    return [table for level in solver.engine.levels for table in level.tables[1:3]]


@pytest.mark.parametrize("spot", [RIVER, TURN, FLOP], ids=["river", "turn", "flop"])
def test_the_number_of_threads_does_not_change_a_bit(spot):
    solvers = [SpotSolver(spot, threads=threads) for threads in (1, 2, 3)]
    for solver in solvers:
        solver.run(12)
    for other in solvers[1:]:
        assert other.values() == solvers[0].values()
        assert other.best_responses() == solvers[0].best_responses()
        for mine, first in zip(tables(other), tables(solvers[0]), strict=True):
            assert mine.tobytes() == first.tobytes()
    assert any(table.any() for table in tables(solvers[0]))


@pytest.mark.parametrize("spot", [RIVER, TURN], ids=["river", "turn"])
def test_runs_in_parts_are_one_run(spot):
    whole, parts = SpotSolver(spot), SpotSolver(spot)
    whole.run(25)
    parts.run(7)
    parts.run(18)
    for mine, other in zip(tables(parts), tables(whole), strict=True):
        assert mine.tobytes() == other.tobytes()
    assert parts.iterations == whole.iterations == 25


# Locks.


def every_decision(spot, player):
    """The lines of all decisions of a player, without cards, with their actions."""
    for street in spot.streets:
        for place in street.places:
            if place.kind == player:
                lines = (*street.roots[place.root].lines, place.line)
                text = " / ".join(" ".join(action.code for action in line) for line in lines)
                yield text, [action.code for action in place.actions]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("spot", [RIVER, TURN], ids=["river", "turn"])
def test_a_best_response_to_a_player_who_is_locked_everywhere(spot, player):
    lines = list(every_decision(spot, player))
    locks = tuple(Lock(line, {code: 1 / len(codes) for code in codes}) for line, codes in lines)
    solver = SpotSolver(spot, locks=locks)
    before = [table.copy() for table in tables(solver)]
    assert sum(level.tables.locked.any(axis=0).sum() for level in solver.engine.levels) == len(lines)
    solver.run(until=0.005, iterations=2000)
    assert solver.exploitability() <= 0.005

    other = 1 - player
    twin = SlowSpot(spot, solver.engine)
    best = twin.values(other, BEST)
    total = sum(spot.ranges[other][pair] * value for pair, value in best.items()) / total_weight(spot.ranges)
    assert solver.values()[other] == pytest.approx(spot.pot / 2 + total, abs=1e-4 * spot.pot)
    for level, *both in zip(solver.engine.levels, before[::2], before[1::2], strict=True):
        for now, then in zip(level.tables[1:3], both, strict=True):
            locked = then != 0  # the uniform strategies that were written
            assert (now[locked] == then[locked]).all()

    free = SpotSolver(spot)
    free.run(until=0.1)
    assert solver.values()[other] > free.values()[other] + 0.01 * spot.pot  # uniform play loses


def test_locks_at_the_equilibrium_change_nothing():
    """The strategies of one player are locked to those of a solution: its value stays."""
    free = SpotSolver(RIVER)
    free.run(until=0.005)
    level = free.engine.levels[0]
    locks, runouts = [], level.runouts
    for place, at in enumerate(RIVER.streets[0].places):
        if at.kind != 0:
            continue
        size, first = int(runouts.size[0, 0]), int(runouts.hands[0, 0])
        row = int(level.tables.first[0, 0]) + int(level.betting.entry[place]) * size
        rows = level.tables.average[row : row + len(at.actions) * size].reshape(-1, size).astype(np.float64)
        strategy = np.full((len(at.actions), 1326), 1 / len(at.actions))
        strategy[:, runouts.pair[first : first + size]] = rows / rows.sum(axis=0)
        locks.append(Lock(" ".join(action.code for action in at.line), strategy))
    solver = SpotSolver(RIVER, locks=tuple(locks))
    solver.run(until=0.005)
    assert solver.values() == pytest.approx(free.values(), abs=2e-4 * RIVER.pot)


# The gadget of re-solving.


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("spot", [RIVER, TURN], ids=["river", "turn"])
def test_resolving_with_the_values_of_the_equilibrium(spot, player):
    """No hand of the gadget's player gets more against the new strategy than it could have taken."""
    free = SpotSolver(spot)
    free.run(until=0.01)
    passes = free.engine.passes()
    alternative = passes.run(player, BEST_RESPONSE)
    solver = SpotSolver(spot, gadget=(player, alternative))
    solver.run(3000 if spot is RIVER else 1000)
    again = solver.engine.passes().run(player, BEST_RESPONSE)
    most = 5e-3 * spot.pot * spot.ranges[1 - player].sum()
    assert (again <= alternative + most).all()
    assert solver.best_responses()[player] == pytest.approx(free.values()[player], abs=1e-3 * spot.pot)
    # What is measured are the ranges of the spot, not the hands that play on.
    assert sum(solver.values()) == pytest.approx(spot.pot, abs=1e-4 * spot.pot)


def test_a_player_who_can_take_more_never_plays_on():
    everything = np.full((RIVER.ranges[1] > 0).sum(), 1e5)
    solver = SpotSolver(RIVER, gadget=(1, everything))
    solver.run(20)
    play, leave = solver.gadget.regret
    assert (play == 0).all()
    assert (leave > 0).all()


def test_a_player_who_can_only_take_less_always_plays_on():
    spot = Spot(oop="AA,KQs,T9s", ip="KK,AT,QJs", board="Td9s6h2c2s", pot=100, stack=200)
    nothing = np.full((spot.ranges[1] > 0).sum(), -1e5)
    solver, free = SpotSolver(spot, gadget=(1, nothing)), SpotSolver(spot)
    for each in (solver, free):
        each.run(until=0.01)
    play, leave = solver.gadget.regret
    assert (play > 0).all()
    assert (leave == 0).all()
    assert solver.values() == pytest.approx(free.values(), abs=2e-4 * spot.pot)
