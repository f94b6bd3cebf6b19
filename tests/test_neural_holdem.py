"""Neural players of hold'em: what they see, resumed runs, and policies that play without PyTorch."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import openfelt as felt
from openfelt.cli.app import main
from openfelt.core.pytorch import torch
from openfelt.solve.registry import SOLVERS
from openfelt.solve.run_folder import RunFolder

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("pytorch")]

SMALL = {"hidden": 16, "games": 64, "steps": 4}
TRAINED = ("ppo", "mmd", "r-nad")


@pytest.fixture(scope="module")
def pytorch():
    pytest.importorskip("torch")


def winnings(one, two, hands: int) -> tuple[float, float]:
    """What a network wins from another, in chips per hand, and the standard error."""
    env, won = felt.VectorEnv("holdem", 1_000, seed=9), []
    seat = np.arange(1_000) % 2  # of the first network
    while sum(map(len, won)) < hands:
        own, other = one(env.features, env.masks), two(env.features, env.masks)
        env.step(env.sample(np.where((env.players == seat)[:, None], own, other)))
        won.append(env.rewards[env.dones, seat[env.dones]])
    every = np.concatenate(won)
    return float(every.mean()), float(every.std() / np.sqrt(len(every)))


@pytest.mark.parametrize("layers", [1, 2])
def test_the_saved_network_is_that_of_torch(layers, tmp_path):
    solver = felt.PPO("holdem", seed=1, layers=layers, **SMALL).run(5)
    felt.save_policy(solver.policy, tmp_path / "network")
    loaded, env = felt.load_policy(tmp_path / "network"), solver.env
    with torch.no_grad():
        wanted = solver._mean_policy(torch.from_numpy(env.features), torch.from_numpy(env.masks)).numpy()
    found = loaded.network(env.features, env.masks)
    np.testing.assert_allclose(found / found.sum(1, keepdims=True), wanted, rtol=1e-4, atol=1e-6)


def test_decisions_are_remembered_until_their_game_is_used():
    solver = felt.PPO("holdem", seed=2, **SMALL)
    seen = {}  # by number, when it was last noted

    class Watched(type(solver.inputs)):
        def note(self, env):
            numbers = super().note(env)
            for number, vector, mask in zip(numbers.tolist(), env.features, env.masks, strict=True):
                seen[number] = vector.copy(), mask.copy(), env.players.copy()
            return numbers

    solver.inputs.__class__ = Watched
    for _ in range(20):
        played = solver._play()
        assert len(np.unique(played.infoset)) == len(played.infoset)
        vectors, masks = solver.inputs.tensors(played.infoset)
        for place, number in enumerate(played.infoset.tolist()):
            np.testing.assert_array_equal(vectors[place].numpy(), seen[number][0])
            np.testing.assert_array_equal(masks[place].numpy(), seen[number][1])
            assert vectors[place, played.player[place]] == 1.0  # the column of the seat
            assert masks[place, played.action[place]]


@pytest.mark.parametrize("name", TRAINED)
def test_a_resumed_run_is_the_same_to_the_bit(name, tmp_path):
    whole = SOLVERS[name]("holdem", seed=5, **SMALL).run(12)
    SOLVERS[name]("holdem", seed=5, **SMALL).run(7).save(tmp_path / "checkpoint")
    resumed = SOLVERS[name]("holdem", seed=4, **SMALL)
    resumed.resume(tmp_path / "checkpoint")
    assert resumed.run(5).policy.fingerprint == whole.policy.fingerprint
    for key, table in whole.tables().items():
        np.testing.assert_array_equal(table, resumed.tables()[key], key)
    assert SOLVERS[name]("holdem", seed=6, **SMALL).run(12).policy.fingerprint != whole.policy.fingerprint


@pytest.mark.parametrize(
    ("table", "number"), [("env.at", 3), ("env.cards", 52), ("env.line", 99), ("env.node", -1)]
)
def test_games_of_a_checkpoint_must_be_possible(table, number, tmp_path):
    solver = felt.PPO("holdem", seed=5, **SMALL).run(2)
    solver.tables()[table].reshape(-1)[0] = number
    solver.save(tmp_path / "checkpoint")
    with pytest.raises(felt.FileError, match="games in progress are impossible"):
        felt.PPO("holdem", **SMALL).resume(tmp_path / "checkpoint")


def test_a_run_that_has_diverged_says_so(tmp_path):
    solver = felt.PPO("holdem", seed=5, **SMALL).run(1)
    with torch.no_grad():
        solver.mean.vector[0] = torch.inf
    with pytest.raises(felt.FeltError, match="diverged"):
        RunFolder(tmp_path / "run").save(solver)
    assert not (tmp_path / "run" / "checkpoint").exists()
    with pytest.raises(felt.FeltError, match="no weights"):
        _ = solver.weights


@pytest.mark.parametrize("name", ["nfsp", "deep-cfr"])
def test_solvers_that_number_infosets_refuse_holdem(name):
    with pytest.raises(felt.FeltError, match="too many to enumerate"):
        SOLVERS[name]("holdem")


@pytest.mark.parametrize("name", TRAINED)
def test_training_beats_the_network_it_began_with(name):
    solver = SOLVERS[name]("holdem", seed=1, hidden=32, games=512, steps=8)
    first = solver.policy.network
    trained = solver.run(60).policy.network
    mean, error = winnings(trained, first, 40_000)
    assert mean > 5 * error
    again, own_error = winnings(first, first, 40_000)
    assert abs(again) < 4 * own_error


def test_a_trained_network_is_a_policy_like_any_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["--hidden", "16", "--games", "64", "--steps", "4"]
    train = ["train", "holdem", "--solver", "mmd", "--iterations", "4", "--out", "net", *options]
    assert main([*train, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["game"], facts["iterations"], sorted(facts["against"])) == (
        *("holdem", 4),
        ["always-call", "always-raise", "random"],
    )
    assert main([*train, "--resume", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == 8
    measured = [*("--flops", "2", "--turns", "2", "--rivers", "2"), "--json"]
    assert main(["exploit", "net", *measured]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["solver"], facts["unit"]) == ("mmd", "mbb/h")
    assert facts["exploitability"] > 100
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "from openfelt.cli.app import main\n"
        "assert main(['match', 'net', 'default', '--hands', '20']) == 0\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300, capture_output=True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--solver", "deep-cfr", "--seconds", "1"], "too many to enumerate"),
        (["--solver", "ppo", "--until", "1"], "not computed during training"),
        (["--solver", "ppo", "--iterations", "1", "--compact"], "it is a network"),
    ],
)
def test_what_networks_of_holdem_do_not_have_gets_a_sentence(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "holdem", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("game", ["holdem(players=3)", "holdem(buckets='ehs2:169/10/10/10')"])
def test_networks_train_two_player_holdem_without_buckets(game):
    with pytest.raises(felt.FeltError, match="two players, without buckets"):
        felt.PPO(game)
