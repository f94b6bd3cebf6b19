"""Games compiled without their histories are sampled and played as with them, to the bit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from factored_games import slots_in
from speed import slow

import openfelt as felt
from openfelt.games.bluff import Bluff
from openfelt.games.compile.bluff_tree import compile_bluff
from openfelt.games.compile.compiler import state_graph
from openfelt.games.compile.factored_tree import FactoredTree
from openfelt.games.compile.observation_lists import observation_lists
from openfelt.games.compile.phantom_tree import compile_phantom
from openfelt.games.features.enumerated import EnumeratedFeatures
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.hand import Hand
from openfelt.games.phantom_board import PhantomBoard
from openfelt.policy.files import policy_from_weights
from openfelt.solve.registry import SOLVERS
from openfelt.solve.restriction import Restriction
from openfelt.solve.traverse.open_tree import most_decisions

GAMES = ["phantom_ttt(2,3,2)", "dark_hex(2,2,abrupt=True)", "bluff(2,1,2)", slow("dark_hex(2,3)")]
NEURAL = {
    "ppo": {"games": 16, "steps": 4, "hidden": 8},
    "nfsp": {"games": 16, "steps": 4, "hidden": 8, "window": 500, "reservoir": 500, "batch": 32},
    "deep-cfr": {"hidden": 8, "traversals": 5, "reservoir": 500, "updates": 3, "batch": 32},
}


def factored(name: str) -> FactoredTree:
    game = felt.load_game(name)
    return (compile_bluff if isinstance(game, Bluff) else compile_phantom)(game)


@pytest.fixture
def all_factored(monkeypatch):
    """Compile small games as if they had too many histories to list."""
    for kind in (PhantomBoard, Bluff):
        monkeypatch.setattr(kind, "is_factored", property(lambda _: True))


@pytest.fixture
def new_layouts(monkeypatch):
    """Make each layout anew, from the tree as it is compiled now."""
    for module in ("environments.vector_env", "neural.neural_solver"):
        monkeypatch.setattr(f"openfelt.solve.{module}.features", lambda game: EnumeratedFeatures(game))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(
    "name", ["external-mccfr", *map(slow, ["uct", "smooth-uct", "outcome-mccfr", "sampled-fictitious-play"])]
)
def test_sampling_solvers_learn_what_they_learn_from_histories(game, name):
    tree, without = felt.compile_game(game), factored(game)
    listed, states = (SOLVERS[name](each, seed=3).run(2_000) for each in (tree, without))
    assert listed.weights.max() > 1
    np.testing.assert_array_equal(states.weights, listed.weights[slots_in(tree, without)])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["external-mccfr", "outcome-mccfr"])
def test_restricted_games_are_sampled_alike(name):
    tree, without = felt.compile_game("phantom_ttt(2,3,2)"), factored("phantom_ttt(2,3,2)")
    same, weights = slots_in(tree, without), []
    for each, order in ((tree, np.arange(len(same))), (without, same)):
        fixed = policy_from_weights(each, felt.random_policy(tree, 1).probabilities[order])
        restriction = Restriction(1, fixed, 0.5)
        weights.append(SOLVERS[name](each, seed=3, restriction=restriction).run(500).weights)
    np.testing.assert_array_equal(weights[1], weights[0][same])


@pytest.mark.parametrize("game", GAMES)
def test_lists_of_observations_are_the_names_of_infosets(game):
    tree = factored(game)
    lists = observation_lists(tree)
    for row in range(0, tree.num_rows, 7):
        words, at = [], int(lists.of_row[row])
        while lists.before[at] >= 0:
            words.append(lists.labels[lists.label[at]])
            at = int(lists.before[at])
        assert at == tree.row_player(row)
        assert (" ".join(reversed(words)) or "start") == tree.row_name(row)


@pytest.mark.parametrize("game", GAMES)
def test_the_longest_play_is_that_of_the_histories(game):
    assert most_decisions(factored(game)) == most_decisions(felt.compile_game(game))


@pytest.mark.parametrize("game", GAMES)
def test_vectors_are_those_of_the_histories(game, all_factored):
    with pytest.MonkeyPatch.context() as listing:
        for kind in (PhantomBoard, Bluff):
            listing.setattr(kind, "is_factored", property(lambda _: False))
        listed = EnumeratedFeatures(felt.load_game(game))
    layout, tree = EnumeratedFeatures(felt.load_game(game)), listed.tree
    assert isinstance(layout.tree, FactoredTree)
    assert (layout.names, layout.actions) == (listed.names, listed.actions)
    names = [(layout.tree.row_player(row), layout.tree.row_name(row)) for row in range(tree.num_rows)]
    same = [tree.find_row(*name) for name in names]
    np.testing.assert_array_equal(layout.table(), listed.table()[same])
    np.testing.assert_array_equal(layout.masks(), listed.masks()[same])


@pytest.mark.parametrize("game", GAMES)
def test_every_step_of_many_games_is_that_of_the_rules(game, all_factored, new_layouts):
    env = felt.VectorEnv(game, 6, seed=2)
    tree, ended = env.layout.tree, 0
    assert isinstance(tree, FactoredTree)
    hands = [begun(env, each) for each in range(env.count)]
    for _ in range(60):
        for each, hand in enumerate(hands):
            assert env.players[each] == hand.mover
            np.testing.assert_array_equal(env.features[each], env.layout.infoset(hand))
            np.testing.assert_array_equal(env.masks[each], env.layout.mask(hand.actions))
            seen = [word for step in hand.steps if (word := step.seen[hand.mover])]
            assert tree.row_name(int(env.infosets[each])) == (" ".join(seen) or "start")
        actions = env.sample().copy()
        env.step(actions)
        for each, hand in enumerate(hands):
            legal = [env.layout.number(word) for word in hand.actions]
            hand.act(legal.index(int(actions[each])))
            assert env.dones[each] == (hand.mover == TERMINAL)
            if env.dones[each]:
                np.testing.assert_array_equal(env.rewards[each], hand.payoffs)
                hands[each] = begun(env, each)
        ended += int(env.dones.sum())
    assert ended > 20


def begun(env: felt.VectorEnv, game: int) -> Hand:
    """The hand that a game of an environment has just begun: chance's outcomes are those that players saw."""
    lists, hand = observation_lists(env.layout.tree), Hand(env.game)
    while hand.mover == CHANCE:
        player = len(hand.steps)
        word = lists.labels[lists.label[env._games.cards[game, player]]]
        hand.act(hand.actions.index(word))
    return hand


@pytest.mark.slow
@pytest.mark.parametrize("name", NEURAL)
def test_neural_players_train_and_resume_to_the_bit(name, all_factored, new_layouts, tmp_path):
    def new():
        return SOLVERS[name]("phantom_ttt(2,3,2)", seed=5, **NEURAL[name])

    whole, first = new().run(6), new().run(2)
    assert isinstance(whole.tree, FactoredTree)
    first.save(tmp_path / "checkpoint")
    resumed = new()
    resumed.resume(tmp_path / "checkpoint")
    resumed.run(4)
    assert resumed.weights.tobytes() == whole.weights.tobytes()
    assert 0 < whole.measure().nash_conv < 2


@pytest.mark.slow
@pytest.mark.parametrize(("row", "number"), [(0, 10**6), (0, -1), (1, -2), (1, 10**6), (0, 5)])
def test_a_checkpoint_with_impossible_lists_is_refused(row, number, all_factored, new_layouts, tmp_path):
    solver = SOLVERS["ppo"]("phantom_ttt(2,3,2)", seed=5, **NEURAL["ppo"]).run(2)
    mover = int(solver.env.players[0])
    solver.env.state()["cards"][0, mover if row == 0 else 1 - mover] = number
    solver.save(tmp_path / "checkpoint")
    with pytest.raises(felt.FileError, match="impossible"):
        SOLVERS["ppo"]("phantom_ttt(2,3,2)", **NEURAL["ppo"]).resume(tmp_path / "checkpoint")


def test_states_are_cached_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("openfelt.games.compile.compiler.cache_folder", lambda: tmp_path)
    monkeypatch.setattr("openfelt.games.compile.compiler.LARGE_GRAPH", 0)
    built = state_graph.__wrapped__("dark_hex(2)")
    assert list(tmp_path.glob("graphs/*/manifest.json"))
    monkeypatch.setattr("openfelt.games.compile.compiler.explore", None)
    loaded = state_graph.__wrapped__("dark_hex(2)")
    for field in dataclasses.fields(built):
        np.testing.assert_array_equal(getattr(loaded, field.name), getattr(built, field.name))


def test_chance_sampling_needs_all_histories():
    with pytest.raises(felt.FeltError, match="too many histories to list"):
        felt.ChanceCFR(factored("phantom_ttt(2,3,2)"))


def test_the_mean_reward_is_the_exact_value(all_factored, new_layouts):
    env, total = felt.VectorEnv("bluff(2,1,2)", 2_000, seed=1), np.zeros(2)
    for _ in range(60):
        env.step(env.sample())
        total += np.array([env.rewards[:, 0].sum(), env.dones.sum()])
    exact = felt.expected_values(felt.uniform_policy(env.layout.tree))[0]
    assert total[0] / total[1] == pytest.approx(exact, abs=0.02)
