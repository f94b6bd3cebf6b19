"""Many games at once: equal to the rules and features step by step, and to exact values on average."""

from __future__ import annotations

import numpy as np
import pytest
from slow_env import SlowEnv
from speed import slow

import openfelt as felt
from openfelt.games.game import TERMINAL

GAMES = ["kuhn", "leduc", "goofspiel(4)", "bluff(1,1,3)", slow("holdem"), slow("kuhn(players=3)")]
GAMES += [slow("leduc(players=3)"), slow("princess_monster(3,3,5)"), slow("holdem(bets=3)")]


def played(env: felt.VectorEnv, steps: int) -> int:
    """Compare an environment in self-play with its twin; returns the number of finished games."""
    twin, ended = SlowEnv(env), 0
    for _ in range(steps):
        hands, actions = twin.compare(), env.sample().copy()
        before = [len(hand.steps) for hand in hands]
        env.step(actions)
        for game, hand in enumerate(hands):
            twin.act(hand, int(actions[game]))
            assert env.dones[game] == (hand.mover == TERMINAL)
            won = hand.payoffs if env.dones[game] else (0.0,) * env.game.players
            np.testing.assert_allclose(env.rewards[game], won, atol=1e-6)
            if not env.dones[game]:  # the same hand goes on
                after = twin.hand(game)
                assert [step.action for step in after.steps[: before[game] + 1]] == [
                    step.action for step in hand.steps
                ]
        ended += int(env.dones.sum())
    return ended


@pytest.mark.parametrize("game", GAMES)
def test_every_step_is_that_of_the_rules(game):
    assert played(felt.VectorEnv(game, 6, seed=2), steps=40) > 20


@pytest.mark.slow
def test_every_step_of_three_handed_holdem():
    env = felt.VectorEnv("holdem(players=3)", 2, seed=3)
    twin = SlowEnv(env)
    for _ in range(8):
        twin.compare()
        env.step(env.sample())


@pytest.mark.parametrize("game", ["kuhn", "leduc", "bluff(1,1,3)"])
def test_the_mean_reward_is_the_exact_value(game):
    env, uniform = felt.VectorEnv(game, 2_000, seed=1), felt.uniform_policy(game)
    assert mean_reward(env, steps=60) == pytest.approx(felt.expected_values(uniform)[0], abs=0.02)


@pytest.mark.parametrize("seat", [0, 1, None])
def test_an_opponent_plays_its_policy(seat):
    opponent = felt.rule_policy("leduc", "always-raise")
    env = felt.VectorEnv("leduc", 2_000, seed=4, opponent=opponent, seat=seat)
    exact = felt.value(felt.uniform_policy("leduc"), opponent).by_seat
    if seat is None:
        assert set(env.players) == {0, 1}
        assert mean_reward(env, 60, by_learner=True) == pytest.approx(np.mean(exact), abs=0.06)
    else:
        assert set(env.players) == {seat}
        assert mean_reward(env, 60, seat) == pytest.approx(exact[seat], abs=0.08)


def mean_reward(env, steps: int, seat: int = 0, *, by_learner: bool = False) -> float:
    """What a uniform player wins a game."""
    won, games = 0.0, 0
    for _ in range(steps):
        seats = env.players.copy() if by_learner else np.full(env.count, seat)
        env.step(env.sample())
        won += float(env.rewards[np.arange(env.count), seats].sum())
        games += int(env.dones.sum())
    return won / games


@pytest.mark.slow
def test_an_opponent_in_holdem_calls():
    opponent = felt.rule_policy("holdem", "always-call")
    env = felt.VectorEnv("holdem", 8, seed=5, opponent=opponent, seat=1)
    twin = SlowEnv(env)
    for _ in range(20):
        for hand in twin.compare():
            theirs = [step.action for step in hand.steps if step.mover == 0]
            assert set(theirs) <= {"check", "call"}
        env.step(env.sample())


def test_a_seed_repeats_everything():
    first, again, other = (felt.VectorEnv("leduc", 50, seed=seed) for seed in (7, 7, 8))
    differs = False
    for _ in range(30):
        for env in (first, again, other):
            env.step(env.sample())
        np.testing.assert_array_equal(first.features, again.features)
        np.testing.assert_array_equal(first.rewards, again.rewards)
        differs |= bool((first.features != other.features).any())
    assert differs
    again.reset(8)
    np.testing.assert_array_equal(again.dones, False)
    np.testing.assert_array_equal(again.features, felt.VectorEnv("leduc", 50, seed=8).features)


@pytest.mark.slow
def test_a_copy_goes_on_with_the_same_chance():
    env = felt.VectorEnv("holdem", 4, seed=1)
    env.step(np.array([1, 1, 2, 2]))
    env.copy(np.array([0, 0]), np.array([2, 3]))
    np.testing.assert_array_equal(env.features[[2, 3]], env.features[[0, 0]])
    for _ in range(3):  # to the flop and further: the same cards
        env.step(np.array([1, 1, 1, 1]))
    np.testing.assert_array_equal(env.features[[2, 3]], env.features[[0, 0]])
    assert (env.features[1] != env.features[0]).any()


def test_probabilities_are_followed_and_masked():
    env = felt.VectorEnv("leduc", 3_000, seed=1)
    weights = np.tile(np.float32([0.25, 0.75, 5.0, 0.0, 0.0]), (3_000, 1))  # fold is illegal at the start
    assert np.bincount(env.sample(weights), minlength=5) / 3_000 == pytest.approx(
        [0.25, 0.75, 0, 0, 0], abs=0.03
    )


def test_what_is_wrong_is_said():
    env = felt.VectorEnv("leduc", 2)
    before = env.features.copy()
    with pytest.raises(felt.FeltError, match="Action 3 is not legal in game 1"):
        env.step(np.array([0, 3]))
    np.testing.assert_array_equal(env.features, before)
    for wrong in (np.array([0]), np.array([0.0, 1.0]), np.array([[0, 1]])):
        with pytest.raises(felt.FeltError, match="needs 2 whole numbers"):
            env.step(wrong)
    for action in (-1, 99):
        with pytest.raises(felt.FeltError, match="not legal"):
            env.step(np.array([0, action]))
    with pytest.raises(felt.FeltError, match="must have the shape"):
        env.sample(np.ones((2, 2)))
    with pytest.raises(felt.FeltError, match="at least one game"):
        felt.VectorEnv("kuhn", 0)
    with pytest.raises(felt.FeltError, match="seat needs an opponent"):
        felt.VectorEnv("kuhn", 1, seat=0)
    with pytest.raises(felt.FeltError, match="plays kuhn, not leduc"):
        felt.VectorEnv("leduc", 1, opponent=felt.uniform_policy("kuhn"))


@pytest.mark.slow
def test_games_that_never_reach_the_learner_are_refused():
    opponent = felt.rule_policy("holdem", "always-fold")
    with pytest.raises(felt.FeltError, match="before the learner acts"):
        felt.VectorEnv("holdem", 1, opponent=opponent, seat=0)
    assert set(felt.VectorEnv("holdem", 3, opponent=opponent, seat=1).players) == {1}
