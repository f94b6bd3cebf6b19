"""Every kernel equals its slow plain-Python twin on small games."""

from __future__ import annotations

import numpy as np
import pytest
from bridge import as_profile
from slow_twin import SlowCFR, SlowGame, slow_fictitious_play

import openfelt as felt
from openfelt.games.compile.sequence_form import sequence_form
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.solve.realisation_plans import realisation_plan
from openfelt.solve.traverse.sequence import sum_leaves
from openfelt.solve.traverse.threaded_leaf_sums import LeafSummer

SMALL = [
    "kuhn",
    "kuhn(pot=8)",
    "kuhn(players=3)",
    "one_card(5)",
    "goofspiel(3)",
    "bluff(1,1,2)",
    "bluff(2,1,2)",
    "princess_monster(2,2,4)",
    "princess_monster(1,3,5)",
]


@pytest.mark.parametrize("name", [*SMALL, "leduc"])
def test_the_tree_is_the_list_of_histories(name):
    slow, tree = SlowGame(felt.load_game(name)), felt.compile_game(name)
    rows: dict[int, object] = {}
    following = 1
    count = 0
    for node, history in enumerate(slow.breadth_first()):
        count += 1
        mover = slow.mover(history)
        row = int(tree.nodes.row[node])
        assert tree.nodes.player[node] == mover
        children = 0 if mover == TERMINAL else len(slow.actions(history))
        assert tree.nodes.num_children[node] == children
        if children:
            assert tree.nodes.first_child[node] == following
            following += children
        if mover == TERMINAL:
            assert tree.nodes.payoffs[row].tolist() == slow.payoffs(history)
        elif mover == CHANCE:
            assert tree.nodes.chance[row : row + children].tolist() == slow.chance(history)
        else:
            information = slow.information(history)
            assert rows.setdefault(row, information) == information
            assert tree.row_player(row) == mover
            assert tree.actions(row) == tuple(slow.actions(history))
            assert tree.row_name(row) == (" ".join(information[1]) or "start")
            assert tree.find_row(mover, tree.row_name(row)) == row
    assert count == tree.num_nodes
    assert len(rows) == len(set(rows.values())) == tree.num_rows


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("seed", [1, 2])
def test_values_and_best_responses(name, seed):
    policy = felt.random_policy(name, seed)
    slow, profile = SlowGame(felt.load_game(name)), as_profile(policy)
    ours = felt.exploitability(policy)
    np.testing.assert_allclose(ours.values, slow.values(slow.root, profile), atol=1e-12)
    for player in range(policy.tree.players):
        assert ours.best_responses[player] == pytest.approx(slow.best_response(profile, player), abs=1e-12)
        response = felt.best_response(policy, player)
        reached = slow.values(slow.root, as_profile(response.policy))[player]
        assert reached == pytest.approx(response.value, abs=1e-12)


@pytest.mark.slow
def test_values_of_three_player_leduc():
    policy = felt.random_policy("leduc(players=3)", 1)
    slow, profile = SlowGame(felt.load_game("leduc(players=3)")), as_profile(policy)
    ours = felt.exploitability(policy)
    np.testing.assert_allclose(ours.values, slow.values(slow.root, profile), atol=1e-12)
    assert ours.best_responses[1] == pytest.approx(slow.best_response(profile, 1), abs=1e-12)


@pytest.mark.parametrize("rule", ["cfr", "cfr+", "dcfr", "pcfr+"])
@pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)", "goofspiel(3)", "bluff(1,1,2)"])
def test_cfr(name, rule):
    solver = {"cfr": felt.CFR, "cfr+": felt.CFRPlus, "dcfr": felt.DCFR, "pcfr+": felt.PCFRPlus}[rule](name)
    slow = SlowCFR(felt.load_game(name), rule)
    for iterations in (1, 1, 5):
        solver.run(iterations)
        for _ in range(iterations):
            slow.iterate()
        found = as_profile(solver.policy)
        for information, probabilities in slow.profile().items():
            np.testing.assert_allclose(found[information], probabilities, atol=1e-9, err_msg=str(information))


@pytest.mark.parametrize(
    "exponents", [(1.5, -1.0, 2.0), (0.5, 0.5, 0.0), (400.0, -400.0, 3.0), (2.0, 1.0, 1.0)]
)
def test_dcfr_with_other_exponents(exponents):
    alpha, beta, gamma = exponents
    game = felt.load_game("kuhn(pot=2.7)")
    solver = felt.DCFR(game, alpha=alpha, beta=beta, gamma=gamma)
    slow = SlowCFR(game, "dcfr", exponents)
    solver.run(3)  # later a regret cancels to zero but for rounding, and the last digit decides the play
    for _ in range(3):
        slow.iterate()
    found = as_profile(solver.policy)
    for information, probabilities in slow.profile().items():
        np.testing.assert_allclose(found[information], probabilities, atol=1e-9, err_msg=str(information))


@pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)", "bluff(1,1,2)"])
def test_fictitious_play(name):
    solver = felt.FictitiousPlay(name).run(12)
    found = as_profile(solver.policy)
    for information, probabilities in slow_fictitious_play(felt.load_game(name), 12).items():
        np.testing.assert_allclose(found[information], probabilities, atol=1e-9, err_msg=str(information))


@pytest.mark.parametrize("name", ["kuhn", "leduc", "kuhn(players=3)"])
def test_leaves_summed_by_threads_are_the_same_to_the_bit(name):
    tree = felt.compile_game(name)
    form = sequence_form(tree)
    plan = realisation_plan(form, felt.random_policy(name, 5).probabilities)
    reach = np.append(plan, np.ones(tree.players))
    for player in range(tree.players):
        alone, shared = np.zeros_like(reach), np.zeros_like(reach)
        sum_leaves(form, player, reach, alone)
        LeafSummer(form, 3).sum_leaves(player, reach, shared)
        assert alone.tobytes() == shared.tobytes()
