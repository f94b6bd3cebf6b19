"""PettingZoo and Gymnasium: their own tests pass, and rewards are those of the rules."""

from __future__ import annotations

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test
from speed import fast_only

import openfelt as felt
from openfelt.interop import gymnasium as felt_gymnasium, pettingzoo as felt_pettingzoo

GAMES = ["kuhn", "leduc", "holdem", "holdem(players=3)", "goofspiel(4)", "bluff(1,1,6)"]
games = pytest.mark.parametrize("game", fast_only(["kuhn"], GAMES))


@games
def test_pettingzoos_own_tests_pass(game):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*observation.*")  # of an all-zero mask at the end
        api_test(felt_pettingzoo.env(game), num_cycles=200)
        seed_test(lambda: felt_pettingzoo.env(game), num_cycles=50)


@pytest.mark.parametrize("name", fast_only(["Kuhn"], felt_gymnasium.REGISTERED))
def test_gymnasiums_own_test_passes(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(f"OpenFelt/{name}-v0").unwrapped)


@pytest.mark.parametrize("name", fast_only(["Kuhn"], felt_gymnasium.REGISTERED))
def test_registered_environments_are_made(name):
    env = gymnasium.make(f"OpenFelt/{name}-v0", opponents="always-call" if "oldem" in name else "random")
    observation, info = env.reset(seed=3)
    assert observation in env.observation_space
    total, steps, done = 0.0, 0, False
    while not done:
        action = int(np.flatnonzero(info["action_mask"])[0])
        observation, reward, done, truncated, info = env.step(action)
        assert (truncated, info["illegal"]) == (False, False)
        total, steps = total + reward, steps + 1
    assert steps > 0
    assert total != 0 or name in ("LimitHoldem", "Goofspiel")


@pytest.mark.parametrize("seat", [0, 1, None])
def test_the_mean_reward_against_a_bot_is_the_exact_value(seat):
    env = felt_gymnasium.FeltEnv("kuhn", opponents="always-call", seat=seat)
    generator, won, hands = np.random.default_rng(1), 0.0, 3_000
    env.reset(seed=5)
    for _ in range(hands):
        _, info = env.reset()
        done = False
        while not done:
            action = generator.choice(np.flatnonzero(info["action_mask"]))
            _, reward, done, _, info = env.step(int(action))
        won += reward
    exact = felt.value(felt.uniform_policy("kuhn"), felt.rule_policy("kuhn", "always-call")).by_seat
    assert won / hands == pytest.approx(np.mean(exact) if seat is None else exact[seat], abs=0.1)


def test_bots_take_seats_in_pettingzoo():
    env = felt_pettingzoo.FeltAEC("leduc", bots={0: "always-raise"}, render_mode="ansi")
    assert env.possible_agents == ["player_1"]
    env.reset(seed=1)
    fold = felt.features("leduc").number("fold")
    assert env.observe("player_1")["action_mask"][fold]
    env.step(fold)
    assert env.rewards == {"player_1": -1.0}
    assert env.terminations == {"player_1": True}
    assert env.render().endswith("bet fold")


def test_an_agent_that_waits_sees_its_own_cards_only():
    env = felt_pettingzoo.FeltAEC("kuhn")
    env.reset(seed=1)
    layout, seen = felt.features("kuhn"), {}
    for agent in env.agents:
        vector = env.observe(agent)["observation"]
        seen[agent] = [name for name, column in zip(layout.names, vector, strict=True) if column]
    assert [len(names) for names in seen.values()] == [2, 2]
    assert seen["player_0"] != seen["player_1"]
    assert not env.observe("player_1")["action_mask"].any()


def test_illegal_actions():
    env = felt_gymnasium.FeltEnv("leduc", opponents="always-call", seat=0)
    env.reset(seed=1)
    fold = felt.features("leduc").number("fold")
    *_, info = env.step(fold)
    assert info["illegal"]
    assert " check" in env.render()
    wrapped = felt_pettingzoo.env("leduc")
    wrapped.reset(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrapped.step(fold)
    assert wrapped.rewards == {"player_0": -1.0, "player_1": 0}
    assert all(wrapped.terminations.values())


def test_what_is_wrong_is_said():
    with pytest.raises(felt.FeltError, match="one learner and 1 opponents"):
        felt_gymnasium.FeltEnv("leduc", opponents=["random", "random"])
    with pytest.raises(felt.FeltError, match="seats 0 to 1"):
        felt_gymnasium.FeltEnv("leduc", seat=2)
    with pytest.raises(felt.FeltError, match="some of the seats 0 to 1"):
        felt_pettingzoo.FeltAEC("leduc", bots={0: "random", 1: "random"})
    env = felt_gymnasium.FeltEnv("holdem", opponents="always-fold", seat=0)
    with pytest.raises(felt.FeltError, match="before anybody else acts"):
        env.reset(seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("package", ["gymnasium", "pettingzoo"])
def test_without_the_extra_there_is_one_sentence(package):
    hide = f"import sys; sys.modules['{package}'] = None; import openfelt.interop.{package}"
    found = subprocess.run([sys.executable, "-c", hide], capture_output=True, text=True)
    assert f"pip install 'openfelt[{package}]'" in found.stderr.splitlines()[-1]
