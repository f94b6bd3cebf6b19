"""OpenSpiel both ways: exploitability agrees to 1e-9, policies and bots keep their probabilities."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy as spiel_policies, rl_environment
from open_spiel.python.algorithms import cfr, evaluate_bots, exploitability
from open_spiel.python.bots import uniform_random
from speed import fast_only, slow

import openfelt as felt
from openfelt.interop import open_spiel

THEIRS = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "liars_dice(dice_sides=3)",
    "liars_dice(dice_sides=4)",
    "liars_dice(numdice=2,dice_sides=2)",
    "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    "goofspiel(num_cards=3,returns_type=total_points)",
    "matrix_rps",
    "matrix_pd",
    "matching_pennies_3p",
    "tiny_hanabi",
    "first_sealed_auction(max_value=4)",
    "oshi_zumo(coins=4,size=1,horizon=4)",
    "nim(pile_sizes=1;2)",
    "lewis_signaling",
    "blotto(players=2,coins=4,fields=3)",
    "coordinated_mp",
    "dark_hex(board_size=2)",
    "trade_comm(num_items=2)",
]
OURS = [
    "kuhn",
    "kuhn(pot=8)",
    "kuhn(players=3)",
    "one_card(4)",
    "one_card(8)",
    "one_card(13)",
    "leduc",
    "leduc(ranks=4)",
    "goofspiel(2)",
    "goofspiel(3)",
    "goofspiel(4)",
    "bluff(1,1,2)",
    "bluff(1,1,3)",
    "bluff(1,2,2)",
    "bluff(2,1,2)",
    "princess_monster(2,2,3)",
    "princess_monster(3,3,4)",
]


def agree(game: str, policy: felt.TabularPolicy) -> None:
    ours = felt.exploitability(policy)
    theirs = exploitability.nash_conv(
        open_spiel.to_spiel(game), open_spiel.to_spiel_policy(policy), return_only_nash_conv=False
    )
    assert ours.nash_conv == pytest.approx(theirs.nash_conv, abs=1e-9)
    gains = np.subtract(ours.best_responses, ours.values)
    np.testing.assert_allclose(gains, theirs.player_improvements, atol=1e-9, rtol=0)


@pytest.mark.parametrize("game", fast_only(["kuhn_poker", "tiny_hanabi", "matrix_rps"], THEIRS))
def test_their_games_are_as_exploitable_here(game):
    name = f"openspiel:{game}"
    agree(name, felt.uniform_policy(name))
    agree(name, felt.random_policy(name, seed=1))
    agree(name, felt.CFRPlus(name).run(5).policy)


@pytest.mark.parametrize("game", fast_only(["kuhn", "goofspiel(2)"], OURS))
def test_our_games_are_as_exploitable_there(game):
    for policy in (felt.random_policy(game, seed=1), felt.random_policy(game, seed=2).greedy()):
        agree(game, policy)


def test_at_least_fifteen_games_each_way():
    assert min(len(set(THEIRS)), len(set(OURS))) >= 15


@pytest.mark.parametrize("game", fast_only(["kuhn"], ["kuhn", "openspiel:leduc_poker", "goofspiel(4)"]))
def test_their_policies_become_ours_and_ours_theirs(game):
    policy = felt.random_policy(game, seed=3)
    for theirs in (open_spiel.to_pyspiel_policy(policy), open_spiel.to_spiel_policy(policy)):
        again = open_spiel.from_spiel_policy(theirs, game)
        np.testing.assert_allclose(again.probabilities, policy.probabilities, atol=1e-12)
    uniform = spiel_policies.UniformRandomPolicy(open_spiel.to_spiel(game))
    np.testing.assert_allclose(
        open_spiel.from_spiel_policy(uniform, game).probabilities, felt.uniform_policy(game).probabilities
    )


def test_their_solver_solves_our_game():
    solver = cfr.CFRSolver(open_spiel.to_spiel("kuhn"))
    for _ in range(20):
        solver.evaluate_and_update_policy()
    found = open_spiel.from_spiel_policy(solver.average_policy(), "kuhn")
    np.testing.assert_allclose(found.probabilities, felt.CFR("kuhn").run(20).policy.probabilities, atol=1e-9)


def test_our_solver_solves_their_game(tmp_path):
    policy = felt.PCFRPlus("openspiel:kuhn_poker").run(until=1e-6).policy
    assert felt.exploitability(policy).values[0] == pytest.approx(-1 / 18, abs=1e-5)
    felt.save_policy(policy, tmp_path / "kuhn")
    assert felt.load_policy(tmp_path / "kuhn").game == "openspiel:kuhn_poker"


def test_a_policy_of_another_game_is_refused():
    theirs = pyspiel.TabularPolicy({"0": [(0, 0.5), (1, 0.5)]})
    with pytest.raises(felt.FeltError, match="no distribution over the actions"):
        open_spiel.from_spiel_policy(theirs, "openspiel:kuhn_poker")


def test_our_games_have_names_there():
    game = pyspiel.load_game("openfelt_leduc(players=3)")
    assert game.rules == felt.load_game("leduc(players=3)")
    assert (game.num_players(), game.num_distinct_actions()) == (3, 5)
    environment = rl_environment.Environment("openfelt_bluff(faces=3)")
    step = environment.reset()
    assert environment.observation_spec()["info_state"] == (felt.features("bluff(1,1,3)").size,)
    assert step.observations["legal_actions"][0] == list(range(6))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["openfelt_kuhn", "openfelt_leduc", "openfelt_goofspiel", "openfelt_bluff"])
def test_their_own_simulation_test_passes(name):
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=10, serialize=False, verbose=False)


@pytest.mark.slow
def test_holdem_is_played_there():
    game = open_spiel.to_spiel("holdem")
    bots = [open_spiel.FeltBot(felt.load_bot("always-call", "holdem"), player) for player in (0, 1)]
    won = evaluate_bots.evaluate_bots(game.new_initial_state(), bots, np.random.RandomState(1))
    assert won in ([2.0, -2.0], [-2.0, 2.0], [0.0, 0.0])


def test_our_bots_play_there():
    game = open_spiel.to_spiel("leduc")
    bots = [
        open_spiel.FeltBot(felt.load_bot("always-raise", "leduc"), 0),
        open_spiel.FeltBot(felt.load_bot("always-fold", "leduc"), 1),
    ]
    for seed in (1, 2):
        won = evaluate_bots.evaluate_bots(game.new_initial_state(), bots, np.random.RandomState(seed))
        assert won == [1.0, -1.0]


def test_their_bots_play_here():
    theirs = [uniform_random.UniformRandomBot(player, np.random.RandomState(player)) for player in (0, 1)]
    bots = open_spiel.SpielBot(felt.load_game("kuhn"), theirs), felt.load_bot("always-call", "kuhn")
    result = felt.match(*bots, game="kuhn", hands=1_000, strict=True)
    exact = np.mean(felt.value(felt.uniform_policy("kuhn"), felt.rule_policy("kuhn", "always-call")).by_seat)
    assert result.scores[0].won.mean == pytest.approx(exact, abs=0.15)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("liars_dice(numdice=2)", "at most 3e\\+06 can be compiled"),
        slow("chess", "plays without end"),
        ("kuhn_pokr", "did you mean 'kuhn_poker'"),
        ("kuhn_poker(player=3)", "Unknown parameter 'player'"),
        ("kuhn_poker(players=3", "OpenSpiel cannot load"),
        ("negotiation", "probabilities of chance"),
        ("mfg_garnet", "mean-field"),
        ("phantom_ttt_ir", "histories"),
    ],
)
def test_what_cannot_be_compiled_is_said(name, reason):
    with pytest.raises(felt.GameError, match=reason):
        felt.load_game(f"openspiel:{name}")


@pytest.mark.slow
def test_imperfect_recall_is_refused():
    with pytest.raises(felt.GameError, match="imperfect recall"):
        felt.compile_game("openspiel:liars_dice_ir(dice_sides=3)")


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", ["felt.load_game('openspiel:kuhn_poker')", "import openfelt.interop.open_spiel"]
)
def test_without_open_spiel_there_is_one_sentence(command):
    hide = "import sys; sys.modules['pyspiel'] = None; import openfelt as felt\n"
    found = subprocess.run([sys.executable, "-c", hide + command], capture_output=True, text=True)
    assert "pip install 'openfelt[open-spiel]'" in found.stderr.splitlines()[-1]


@pytest.mark.slow
def test_a_process_that_registered_our_games_ends_well():
    code = "import openfelt.interop.open_spiel as o; o.to_spiel('kuhn').new_initial_state()"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
