"""Games compiled without their histories are the games that their rules describe."""

from __future__ import annotations

import numpy as np
import pytest
from factored_games import slots_in

import openfelt as felt
from openfelt.games.compile import compiler, factored_tree
from openfelt.games.compile.bluff_tree import compile_bluff
from openfelt.games.compile.compiler import compile_infosets
from openfelt.games.compile.phantom_tree import compile_phantom
from openfelt.games.compile.sequence_form import sequence_form
from openfelt.games.phantom_board import PhantomBoard
from openfelt.solve.traverse.sequence import evaluate_profile

PHANTOM = [
    "dark_hex(1,3)",  # player 0 wins with its first stone
    "dark_hex(3,1)",
    "dark_hex(2)",
    "dark_hex(2,abrupt=True)",
    "dark_hex(2,3)",
    "dark_hex(2,3,abrupt=True)",
    "phantom_ttt(1,3,2)",
    "phantom_ttt(2,2,2,abrupt=True)",
    "phantom_ttt(2,3,2)",
]


@pytest.mark.parametrize("name", PHANTOM)
def test_the_form_of_a_phantom_game_is_that_of_its_histories(name):
    assert_same_game(compile_phantom(felt.load_game(name)), felt.compile_game(name))


@pytest.mark.parametrize("name", ["bluff(1,1,2)", "bluff(2,1,2)", "bluff(1,2,3)", "bluff(2,2,2)"])
def test_the_form_of_bluff_is_that_of_its_histories(name):
    assert_same_game(compile_bluff(felt.load_game(name)), felt.compile_game(name))


def assert_same_game(factored, tree):
    assert factored.num_nodes == tree.num_nodes
    assert (factored.num_rows, factored.num_slots) == (tree.num_rows, tree.num_slots)
    same = slots_in(tree, factored)
    assert sorted(same) == list(range(tree.num_slots))
    for seed in range(2):
        table = felt.random_policy(tree, seed).probabilities
        best, expected = np.empty((2, 2)), np.empty((2, 2))
        evaluate_profile(sequence_form(tree), table, np.empty(len(table)), best[0], expected[0])
        evaluate_profile(factored.form, table[same], np.empty(len(table)), best[1], expected[1])
        np.testing.assert_allclose(best[1], best[0], atol=1e-12)
        np.testing.assert_allclose(expected[1], expected[0], atol=1e-12)


def test_infosets_are_found_by_their_names():
    tree = compile_phantom(felt.load_game("dark_hex(2,3)"))
    for row in range(0, tree.num_rows, 97):
        assert tree.find_row(tree.row_player(row), tree.row_name(row)) == row
    assert tree.row_name(tree.find_row(1, "a1 taken b2")) == "a1 taken b2"
    for wrong in ("a9", "a1 taken a1", "a1 taken b2 b2", "taken"):
        with pytest.raises(felt.GameError, match="no infoset"):
            tree.find_row(1, wrong)


@pytest.fixture
def without_histories(monkeypatch):
    """Compile a small board as if it had too many histories to list."""
    monkeypatch.setattr(PhantomBoard, "is_factored", True)


def test_solvers_and_files_take_a_game_without_histories(without_histories, tmp_path):
    solver = felt.PCFRPlus("dark_hex(2)").run(until=1e-4)
    assert felt.expected_values(solver.policy)[0] == pytest.approx(1.0, abs=2e-4)
    solver.save(tmp_path / "checkpoint")
    again = felt.PCFRPlus("dark_hex(2)")
    again.resume(tmp_path / "checkpoint")
    assert (again.run(10).probabilities == solver.run(10).probabilities).all()
    felt.save_policy(solver.policy, tmp_path / "policy")
    policy = felt.load_policy(tmp_path / "policy")
    assert (policy.probabilities == solver.policy.probabilities).all()
    assert policy.at(0, "start") == solver.policy.at(0, "start")
    response = felt.best_response(felt.uniform_policy("dark_hex(2)"), 1)
    assert response.value == pytest.approx(felt.expected_values(response.policy)[1])


def test_what_needs_histories_says_so(without_histories):
    for needs_histories in (
        lambda: felt.compile_game("dark_hex(2)"),
        lambda: felt.check_game("dark_hex(2)"),
        lambda: felt.ChanceCFR("dark_hex(2)"),
        lambda: felt.SequenceLP("dark_hex(2)").run(),
        lambda: felt.match("random", "random", hands=10, game="dark_hex(2)"),
        lambda: felt.closest_equilibrium(felt.uniform_policy("dark_hex(2)")),
    ):
        with pytest.raises(felt.FeltError, match="histories"):
            needs_histories()


def test_memory_is_told_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(factored_tree, "machine_memory", lambda: 1e9)
    with pytest.raises(felt.GameError, match=r"needs 1\d\.\d GB to be compiled; this machine has 1\.0"):
        compile_phantom(felt.load_game("phantom_ttt(abrupt=True)"))


def test_a_cached_tree_is_the_compiled_one(without_histories, monkeypatch, tmp_path):
    monkeypatch.setattr(compiler, "LARGE", 10)
    built = compile_infosets("dark_hex(2,3)", cache=tmp_path)
    compiler._compile_factored.cache_clear()
    sources = compiler.FACTORED[PhantomBoard][1:]
    monkeypatch.setattr(compiler, "FACTORED", {PhantomBoard: (None, *sources)})  # cannot be compiled again
    loaded = compile_infosets("dark_hex(2,3)", cache=tmp_path)
    assert loaded is not built
    for ours, theirs in zip(loaded.form, built.form, strict=True):
        assert (ours == theirs).all()
    assert loaded.fingerprint == built.fingerprint
    assert loaded.row_name(loaded.num_rows - 1) == built.row_name(built.num_rows - 1)


def test_a_tree_that_takes_too_much_disk_is_not_stored(without_histories, monkeypatch, tmp_path):
    monkeypatch.setattr(compiler, "LARGE", 10)
    monkeypatch.setattr(compiler, "MOST_STORED", 100_000)
    assert compile_infosets("dark_hex(2,3)", cache=tmp_path).num_rows > 10
    assert not (tmp_path / "trees").exists()


@pytest.fixture
def no_large_trees_left():
    yield
    compiler._compile_factored.cache_clear()  # a gigabyte each


@pytest.mark.slow
@pytest.mark.usefixtures("no_large_trees_left")
@pytest.mark.parametrize(
    ("name", "infosets", "published", "iterations"),
    [("phantom_ttt", 5_990_669, 0.6667, 40), ("dark_hex(3)", 6_072_917, 1.0, 20)],
)
def test_published_values(name, infosets, published, iterations):
    """A value of the game lies between what each player can guarantee; published: Rudolph et al. 2025."""
    solver = felt.PCFRPlus(name, threads=2)
    assert solver.tree.num_rows == infosets
    solver.run(iterations)
    found = felt.exploitability(solver.policy, threads=2)
    assert found.exploitability < 0.015
    assert -found.best_responses[1] - 5e-5 <= published <= found.best_responses[0] + 5e-5


def test_a_subclass_is_not_compiled_by_the_rules_of_its_parent():
    class Other(type(felt.load_game("phantom_ttt"))):
        """May have other payoffs."""

    with pytest.raises(felt.FeltError, match="too many"):
        compile_infosets(Other())
