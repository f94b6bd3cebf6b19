"""Networks in numpy: saved, loaded, damaged, and as policies of hold'em like any other."""

from __future__ import annotations

import shutil
from itertools import pairwise

import numpy as np
import pytest

import openfelt as felt
from openfelt.cli.app import main
from openfelt.core.files import load_folder, save_folder
from openfelt.games.holdem import Holdem
from openfelt.policy import perceptron
from openfelt.policy.network import NetworkPolicy
from openfelt.policy.perceptron import Perceptron

SIZE, ACTIONS = felt.features("holdem").size, 3


def random_network(*hidden: int, seed: int = 1) -> Perceptron:
    draw, sizes = np.random.default_rng(seed), (SIZE, *hidden, ACTIONS)
    weights = [draw.normal(0, 0.4, shape).astype(np.float32) for shape in pairwise(sizes)]
    return Perceptron(
        tuple(weights), tuple(draw.normal(0, 0.4, w.shape[1]).astype(np.float32) for w in weights)
    )


def policy_of(network: Perceptron) -> NetworkPolicy:
    return NetworkPolicy(Holdem(), network)


def plain(network: Perceptron, vector, mask):
    """The probabilities at one infoset, from the definition."""
    for place, (weights, biases) in enumerate(zip(network.weights, network.biases, strict=True)):
        vector = (np.maximum(vector, 0) if place else vector) @ weights.astype(float) + biases
    weights = np.where(mask, np.exp(vector), 0)
    return weights / weights.sum()


@pytest.mark.parametrize("hidden", [(), (7,), (8, 5)])
def test_a_network_is_the_function_of_its_layers(hidden):
    network, draw = random_network(*hidden), np.random.default_rng(3)
    vectors, masks = (
        draw.integers(0, 2, (40, SIZE)).astype(np.float32),
        draw.integers(0, 2, (40, ACTIONS)) > 0,
    )
    masks[:, 1] = True
    found = network(vectors, masks)
    for row in range(len(found)):
        wanted = plain(network, vectors[row].astype(float), masks[row])
        np.testing.assert_allclose(found[row] / found[row].sum(), wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("hidden", [(7,), (8, 5)])
def test_betting_lines_and_hands_apart_give_the_same(hidden, monkeypatch):
    network, draw = random_network(*hidden), np.random.default_rng(2)
    betting, cards = (
        draw.integers(0, 2, (count, size)).astype(np.float32) for count, size in ((6, 54), (9, 208))
    )
    masks = np.array([[True, True, True], [False, True, True], [True, True, False]] * 2)
    rows = np.concatenate([np.repeat(betting, 9, axis=0), np.tile(cards, (6, 1))], axis=1)
    wanted = network(rows, np.repeat(masks, 9, axis=0)).reshape(6, 9, 3)
    assert betting.shape[1] + cards.shape[1] == SIZE
    np.testing.assert_allclose(network.on_board(betting, cards, masks), wanted, rtol=1e-4)
    monkeypatch.setattr(perceptron, "MANY", 0)  # by the kernel, here as plain Python
    monkeypatch.setattr(perceptron, "_one_hidden_layer", perceptron._one_hidden_layer.py_func)
    np.testing.assert_allclose(network.on_board(betting, cards, masks), wanted, rtol=1e-4)


def test_a_saved_network_is_the_same(tmp_path):
    policy = policy_of(random_network(6))
    felt.save_policy(policy, tmp_path / "network")
    loaded = felt.load_policy(tmp_path / "network")
    assert isinstance(loaded, NetworkPolicy)
    assert loaded.game == "holdem"
    assert loaded.fingerprint == policy.fingerprint != policy_of(random_network(6, seed=2)).fingerprint
    for name, array in policy.arrays().items():
        np.testing.assert_array_equal(loaded.arrays()[name], array)
    assert not list((tmp_path / "network").glob("*.pkl"))


def test_a_network_is_a_policy(tmp_path):
    network = random_network(6)
    policy = policy_of(network)
    infoset = "AhKh raise call Qh7h2s check bet"
    at = policy.at(0, infoset)
    assert sorted(at) == ["call", "fold", "raise"]
    vector = policy.layout.encode(0, (50, 46), (42, 22, 3), ["raise", "call", "check", "bet"])
    np.testing.assert_allclose(list(at.values()), plain(network, vector.astype(float), True), rtol=1e-4)
    assert policy.greedy().at(0, infoset) == {word: float(at[word] == max(at.values())) for word in at}
    assert policy.sample(0, infoset, np.random.default_rng(1)) in at
    for player, wrong in ((1, infoset), (0, "AhKh raise call check"), (0, "AhKh check"), (1, "AhKh fold")):
        with pytest.raises(felt.FeltError, match=r"not to act|no betting line"):
            policy.at(player, wrong)
    with pytest.raises(felt.FeltError, match="plays by a network"):
        felt.join_seats([policy, policy])
    with pytest.raises(felt.FeltError, match="only networks that were trained"):
        felt.save_policy(felt.network_policy("holdem", lambda features, masks: masks), tmp_path / "other")


@pytest.mark.slow
def test_saved_networks_play_matches(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    felt.save_policy(policy_of(random_network(6)), tmp_path / "one")
    assert main(["match", "one", "greedy@one", "--hands", "20"]) == 0
    assert "one" in capsys.readouterr().out
    assert felt.load_bot("one", "holdem").fingerprint != felt.load_bot("greedy@one", "holdem").fingerprint
    assert main(["value", "one", "always-call", "--deals", "10"]) == 0
    assert main(["respond", "one"]) == 2
    assert main(["match", "one", "always-call", "--game", "holdem(players=3)", "--hands", "20"]) == 2


DAMAGE = {
    "other inputs": (
        lambda arrays: {**arrays, "network.0.weights": arrays["network.0.weights"][1:].copy()},
        "261 inputs and 3 outputs, not 262 and 3",
    ),
    "other outputs": (
        lambda arrays: {
            **arrays,
            "network.1.weights": arrays["network.1.weights"][:, :2].copy(),
            "network.1.biases": arrays["network.1.biases"][:2].copy(),
        },
        "262 inputs and 2 outputs",
    ),
    "layers that do not fit": (
        lambda arrays: {**arrays, "network.1.weights": arrays["network.1.weights"][1:].copy()},
        "must fit together",
    ),
    "other numbers": (
        lambda arrays: {**arrays, "network.0.biases": arrays["network.0.biases"].astype(np.int32)},
        "must fit together",
    ),
    "no numbers": (
        lambda arrays: {**arrays, "network.1.biases": np.full(3, np.nan, np.float32)},
        "must be finite",
    ),
    "a missing layer": (
        lambda arrays: {name: array for name, array in arrays.items() if name != "network.1.weights"},
        "must fit|missing|inputs",
    ),
    "one number": (lambda arrays: {**arrays, "network.0.weights": np.float32(1).reshape(())}, "must fit"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_malformed_network_gets_a_sentence(kind, tmp_path):
    change, message = DAMAGE[kind]
    felt.save_policy(policy_of(random_network(6)), tmp_path / "network")
    arrays, facts = load_folder(tmp_path / "network", "policy")
    shutil.rmtree(tmp_path / "network")
    save_folder(
        tmp_path / "network", "policy", change(arrays), {key: facts[key] for key in ("game", "fingerprint")}
    )
    with pytest.raises(felt.FileError, match=f"is damaged: .*({message})"):
        felt.load_policy(tmp_path / "network")


def test_a_network_of_another_game_is_refused(tmp_path):
    felt.save_policy(policy_of(random_network(6)), tmp_path / "network")
    with pytest.raises(felt.FileError, match="does not match"):
        felt.load_policy(tmp_path / "network", "leduc")
    with pytest.raises(felt.FileError, match="does not match"):
        felt.load_policy(tmp_path / "network", "holdem(bets=3)")
