"""Spots whose equilibrium is known: the nuts or nothing against a bluff catcher, and plain equity."""

from __future__ import annotations

import pytest
from spot_tables import TableReader

import openfelt as felt
from openfelt.cards.deck import pair_number
from openfelt.spots.lines import find_place, parse_line
from openfelt.spots.solver import SpotSolver
from openfelt.spots.spot import Spot

POT = 100


def strategy(solver, line, hand, cards=()):
    """The probability of each action of a hand, by code."""
    street, place = find_place(solver.spot, parse_line(line))
    codes = [action.code for action in solver.spot.streets[street].places[place].actions]
    chances = TableReader(solver.engine).strategy(street, place, cards, pair_number(hand))
    return dict(zip(codes, chances, strict=True))


def polarised(bet, air, **settings):
    """Aces (weight 1 each) or air against kings; the stack is one bet."""
    solver = SpotSolver(
        Spot(
            oop=f"AA,QQ:{air}",
            ip="KK",
            board="2c3d4h8s9s",
            pot=POT,
            stack=bet,
            bets=f"{bet}c",
            **settings,
        )
    )
    solver.run(until=0.01)
    return solver


@pytest.mark.parametrize("bet", [30, 100, 250])
def test_the_nuts_or_air_against_a_bluff_catcher(bet):
    """Bluffs are b / (P + b) of the value bets, and P / (P + b) of the bets are called."""
    solver = polarised(bet, air=1)
    bluffs, calls = bet / (POT + bet), POT / (POT + bet)
    # Bets win the pot on average, as calling is worth nothing to the kings; everything else loses it.
    assert solver.values()[0] == pytest.approx(POT * (1 + bluffs) / 2, abs=0.01)
    assert strategy(solver, "", "AhAd")["a"] == pytest.approx(1, abs=0.01)
    bluffing = [strategy(solver, "", hand)["a"] for hand in ("QhQd", "QcQs", "QcQd", "QhQs", "QcQh", "QdQs")]
    assert sum(bluffing) / 6 == pytest.approx(bluffs, abs=0.01)
    calling = [strategy(solver, "a", hand)["c"] for hand in ("KhKd", "KcKs", "KcKd", "KhKs", "KcKh", "KdKs")]
    assert sum(calling) / 6 == pytest.approx(calls, abs=0.01)


def test_too_little_air():
    """With fewer bluffs than b / (P + b) of the value bets, everything bets and the kings fold."""
    solver = polarised(100, air=0.25)
    assert solver.values()[0] == pytest.approx(POT, abs=0.01)
    assert strategy(solver, "", "QhQd")["a"] == pytest.approx(1, abs=0.02)
    assert strategy(solver, "a", "KhKd")["c"] == pytest.approx(0, abs=0.02)


def test_rake_on_a_bluff_catcher():
    """Calls pay the rake r: b / (P + b - r) bluffs, and calls that leave a bluff no gain: P / (P + b).

    A fold to a bet is raked on the starting pot, which does not change what the kings compare; a bluff gains
    P less that rake if it is not called.
    """
    share, bet = 0.05, 100
    solver = polarised(bet, air=1, rake=share)
    after_fold, after_call = share * POT, share * (POT + 2 * bet)
    bluffs = bet / (POT + bet - after_call)
    calls = (POT - after_fold) / (POT - after_fold + bet)
    assert strategy(solver, "", "QhQd")["a"] == pytest.approx(bluffs, abs=0.01)
    assert strategy(solver, "a", "KhKd")["c"] == pytest.approx(calls, abs=0.01)
    nuts = POT - after_fold + calls * (bet + after_fold - after_call)
    kings = (1 - bluffs) * (POT - after_fold)
    assert solver.values() == pytest.approx((nuts / 2, kings / 2), abs=0.02)


# Four aces, or air, against four kings: no river changes who wins, but those that OOP would hold show which
# of the two it has. NEUTRAL is the probability of the others.
TWO_STREETS = {"oop": "AcAd:0.5,7c6d", "ip": "KsKh", "board": "AsAhKdKc", "pot": POT, "raises": ""}
NEUTRAL = 42 / 44
TURN_BLUFFS = 1 / 2 + 3 / 4 * NEUTRAL  # for each bet with the nuts


def test_geometric_bets_over_two_streets():
    """A bet of the pot P on both streets.

    On a neutral river there is half a bluff for each value bet (V), so that a call on the turn with B bluffs
    wins 3 P (B - V / 2); on the others it wins 3 P B. Both together are worth the P that each call costs.
    Without card removal B is (3 / 2)^2 - 1 = 5 / 4 of V.
    """
    solver = SpotSolver(Spot(stack=400, bets={"oop": "e", "ip": ""}, **TWO_STREETS))  # 100, then 300
    solver.run(until=0.01)
    assert solver.values()[0] == pytest.approx(POT * (1 + TURN_BLUFFS) / 3, abs=0.01)
    assert strategy(solver, "", "AcAd")["b100"] == pytest.approx(1, abs=0.01)
    assert strategy(solver, "", "7c6d")["b100"] == pytest.approx(TURN_BLUFFS / 2, abs=0.01)
    assert strategy(solver, "b100", "KsKh")["c"] == pytest.approx(1 / 2, abs=0.01)
    deuce = (0,)
    assert strategy(solver, "b100 c", "7c6d", deuce)["a"] == pytest.approx(1 / 2 / TURN_BLUFFS, abs=0.02)
    assert strategy(solver, "b100 c / a", "KsKh", deuce)["c"] == pytest.approx(1 / 2, abs=0.02)


def test_one_bet_instead_of_two():
    """All-in at once, four times the pot, the nuts carry 4/5 bluffs; the geometric size is better."""
    values = []
    for sizes in ("a", "e, a"):
        solver = SpotSolver(Spot(stack=400, bets={"oop turn": sizes, "oop": "e"}, **TWO_STREETS))
        solver.run(until=0.005)
        values.append(solver.values()[0])
    assert values == pytest.approx([POT * (1 + 4 / 5) / 3, POT * (1 + TURN_BLUFFS) / 3], abs=0.02)


@pytest.mark.parametrize("board", ["Td9s6h2c2s", "Td9s6h2c", "Td9s6h"])
def test_without_chips_behind_the_value_is_equity(board):
    """One hand each: `felt.equity` counts runouts one by one."""
    solver = SpotSolver(Spot(oop="9h8h", ip="AcAs", board=board, pot=POT, stack=0))
    share = felt.equity("9h8h", "AcAs", board)
    assert solver.values() == pytest.approx((POT * share, POT * (1 - share)), abs=1e-5 * POT)
    assert solver.exploitability() == pytest.approx(0, abs=1e-5)


def test_the_scale_of_weights_does_not_matter():
    """Ranges count up to a factor."""
    spots = [
        Spot(oop=f"AA:{scale},QQ:{scale / 2},JTs:{scale}", ip="KK,TT", board="2c3d4h8s", pot=POT, stack=300)
        for scale in (1, 0.01)
    ]
    values = []
    for spot in spots:
        solver = SpotSolver(spot)
        solver.run(until=0.05)
        values.append(solver.values()[0])
    assert values[1] == pytest.approx(values[0], abs=2 * 0.05 / 100 * POT)
