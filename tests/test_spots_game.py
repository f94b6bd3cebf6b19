"""Spots equal a game that is written from the rules of poker, compiled, and solved by other algorithms."""

from __future__ import annotations

import pytest
from speed import slow
from spot_game import SpotGame
from spot_tables import policy_of

import openfelt as felt
from openfelt.spots.solver import SpotSolver
from openfelt.spots.spot import Spot

# Weighted ranges with hands that block each other, hands that both players hold, and ties.
RIVER = SpotGame(
    oop=(("AhAd", 1.0), ("KsKd", 0.4), ("QhQs", 1.0), ("9h8h", 0.7), ("Th7h", 1.0), ("5c4c", 0.25)),
    ip=(("AcAs", 0.6), ("KhQh", 1.0), ("KsKd", 1.0), ("9d8d", 0.5), ("TcTh", 0.9), ("AhKc", 0.2)),
    board="Td9s6h2c2s",
    pot=100,
    stack=300,
    bets=(0.5, 1.0),
    raises=(2.5,),
)
# The suits of clubs and diamonds are isomorphic on this board and in these ranges.
TURN = SpotGame(
    oop=(("AcAd", 1.0), ("KhQh", 0.5), ("7c7d", 1.0)),
    ip=(("KcKd", 1.0), ("AhQh", 0.8), ("8h7h", 1.0)),
    board="ThTs6h2s",
    pot=100,
    stack=100,
    bets=(1.0,),
)
TURN_WITH_RAISES = SpotGame(
    oop=(("AhAd", 1.0), ("KsQs", 0.5), ("9h8h", 1.0), ("TcTh", 0.3)),
    ip=(("AcKc", 1.0), ("QdQs", 0.8), ("AhTh", 1.0), ("8c7c", 0.6)),
    board="Td9s6h2c",
    pot=100,
    stack=400,
    bets=(0.5,),
    raises=(3.0,),
)
GAMES = [RIVER, TURN, slow(TURN_WITH_RAISES)]


def spot_of(game):
    ranges = {
        name: ",".join(f"{hand}:{weight}" for hand, weight in getattr(game, name)) for name in ("oop", "ip")
    }
    bets = ",".join(f"{share:.0%}" for share in game.bets)
    raises = ",".join(f"{factor}x" for factor in game.raises)
    return Spot(board=game.board, pot=game.pot, stack=game.stack, bets=bets, raises=raises, **ranges)


@pytest.mark.parametrize("game", GAMES, ids=["river", "turn", "turn with raises"])
def test_values_and_exploitability_in_the_compiled_game(game):
    tree = felt.compile_game(game)
    solver = SpotSolver(spot_of(game))
    solver.run(until=0.005)
    policy = policy_of(solver, tree)

    close = 1e-4 * game.pot
    exact = felt.expected_values(felt.SequenceLP(tree).run().policy)[0] + game.pot / 2
    learned = felt.PCFRPlus(tree).run(until=close / 2)
    assert felt.expected_values(learned.policy)[0] + game.pot / 2 == pytest.approx(exact, abs=close)
    assert solver.values()[0] == pytest.approx(exact, abs=close)
    assert sum(solver.values()) == pytest.approx(game.pot, abs=1e-6 * game.pot)

    measured = felt.exploitability(policy)
    assert measured.exploitability <= close
    assert solver.exploitability() / 100 * game.pot == pytest.approx(
        measured.exploitability, abs=1e-5 * game.pot
    )
    for of_spot, of_game in zip(solver.best_responses(), measured.best_responses, strict=True):
        assert of_spot == pytest.approx(of_game + game.pot / 2, abs=1e-5 * game.pot)
    for player, value in enumerate(felt.expected_values(policy)):
        assert solver.values()[player] == pytest.approx(value + game.pot / 2, abs=1e-5 * game.pot)


@pytest.mark.parametrize("game", [RIVER, TURN], ids=["river", "turn"])
def test_the_measured_exploitability_of_an_early_strategy(game):
    """After two iterations strategies are far from an equilibrium; the measurement is exact there, too."""
    solver = SpotSolver(spot_of(game))
    solver.run(2)
    measured = felt.exploitability(policy_of(solver, felt.compile_game(game)))
    assert measured.exploitability > 0.01 * game.pot
    assert solver.exploitability() / 100 * game.pot == pytest.approx(
        measured.exploitability, abs=1e-5 * game.pot
    )


def test_the_game_is_well_formed():
    felt.check_game(RIVER)
