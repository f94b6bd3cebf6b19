"""Public functions that join several packages: hand histories of any format, opponent models, search."""

from __future__ import annotations

import math

import numpy as np
import pytest

import openfelt as felt
from openfelt.games.holdem import Holdem, require_holdem


@pytest.fixture(scope="module")
def holdem_hands(tmp_path_factory):
    path = tmp_path_factory.mktemp("hands") / "hands.db"
    felt.match("probe", "random", hands=20, history=path)
    return list(felt.read_hands(path))


@pytest.fixture(scope="module")
def leduc_hands(tmp_path_factory):
    path = tmp_path_factory.mktemp("hands") / "hands.db"
    felt.match("always-raise", "random", game="leduc", hands=600, history=path)
    return list(felt.read_hands(path))


@pytest.mark.parametrize("ending", [".phhs", ".log", ".db"])
def test_hands_are_read_as_they_were_written(ending, holdem_hands, tmp_path):
    path = tmp_path / f"hands{ending}"
    assert felt.write_hands(path, holdem_hands, match="first") == len(holdem_hands) == 20
    again = list(felt.read_hands(path))
    assert [hand.actions for hand in again] == [hand.actions for hand in holdem_hands]
    assert [hand.won for hand in again] == [hand.won for hand in holdem_hands]
    assert [hand.names for hand in again] == [hand.names for hand in holdem_hands]
    assert all(felt.check_record(hand) is None for hand in again)


def test_a_folder_of_histories_is_read_file_by_file(holdem_hands, tmp_path):
    felt.write_hands(tmp_path / "a.phhs", holdem_hands[:5])
    felt.write_hands(tmp_path / "b.log", holdem_hands[5:8])
    (tmp_path / "readme.txt").write_text("no hands")
    assert [hand.actions for hand in felt.read_hands(tmp_path)] == [hand.actions for hand in holdem_hands[:8]]


def test_files_that_cannot_be_hands_are_named(holdem_hands, tmp_path):
    with pytest.raises(felt.FeltError, match=r"hands\.csv does not"):
        felt.write_hands(tmp_path / "hands.csv", holdem_hands)
    with pytest.raises(felt.FileError, match="There is no file"):
        next(felt.read_hands(tmp_path / "none.db"))
    with pytest.raises(felt.FileError, match="has no hand histories"):
        next(felt.read_hands(tmp_path))
    felt.write_hands(tmp_path / "hands.phhs", holdem_hands)
    with pytest.raises(felt.FileError, match="exists already"):
        felt.write_hands(tmp_path / "hands.phhs", holdem_hands)


def test_a_model_finds_a_player_that_always_raises(leduc_hands):
    model = felt.fit_model(leduc_hands, "always-raise", kind="frequencies")
    policy = model.policy()
    assert policy.game == "leduc"
    assert policy.at(0, "J")["bet"] > 0.98
    facing = policy.at(1, "Q bet")  # frequencies count the calls at the cap of raises as well
    assert facing["fold"] < 0.02 < facing["call"] < facing["raise"] + facing["call"]
    scores = felt.score_model(model, leduc_hands, "always-raise")
    assert scores[0].action_loss.mean == pytest.approx(scores[1].action_loss.mean)  # it is the frequencies
    assert scores[0].action_loss.mean < math.log(2) < scores[2].action_loss.mean < math.log(3)


def test_a_model_needs_hands_of_its_player(leduc_hands):
    with pytest.raises(felt.FeltError, match=r"There is no player 'randon' .* did you mean 'random'"):
        felt.fit_model(leduc_hands, "randon")
    with pytest.raises(felt.FeltError, match="There are no hands"):
        felt.fit_model([], "random")
    with pytest.raises(felt.FeltError, match="no hands of random in kuhn, only of leduc"):
        felt.fit_model(leduc_hands, "random", game="kuhn")


@pytest.mark.slow  # builds the bucket tables of all hands
def test_search_in_holdem_finds_the_nuts():
    """With a royal flush on the river, facing a bet: folding loses what was paid, raising wins more."""
    infoset = "AhKh call check QhJhTh check check 2c check check 3d bet"
    found = felt.search("holdem(buckets='ehs2:169/20/20/20')", 1, infoset, iterations=2_000, seed=1)
    assert found.values.keys() == {"fold", "call", "raise"}
    assert found.values["fold"] == -2
    assert found.values["raise"] > found.values["call"] == 6
    assert found.action == max(found.visits, key=found.visits.__getitem__) == "raise"
    assert found.iterations == 2_000


def test_search_against_a_policy_approaches_its_best_response():
    opponent = felt.rule_policy("kuhn", "always-call")
    best = felt.best_response(opponent, 0).policy
    for card in "JQK":
        found = felt.search("kuhn", 0, card, iterations=20_000, opponent=opponent, seed=2)
        assert best.at(0, card)[found.action] == 1.0
    king = felt.search("kuhn", 0, "K", iterations=20_000, opponent=opponent, seed=2)
    assert king.values["bet"] == 2.0


def test_search_says_what_it_cannot_do():
    with pytest.raises(felt.GameError, match="no infoset 'Z' for player 0"):
        felt.search("kuhn", 0, "Z")
    with pytest.raises(felt.FeltError, match="with a model of the opponent"):
        felt.search("holdem", 1, "AhKh", opponent=felt.uniform_policy("kuhn"))


def test_who_needs_holdem_says_so():
    assert require_holdem(Holdem(), "chen") == Holdem()
    with pytest.raises(felt.FeltError, match="chen plays limit hold'em, not kuhn"):
        require_holdem(felt.load_game("kuhn"), "chen")


def test_a_seeded_example_is_the_same_again():
    first, again = (felt.search("leduc", 1, "K bet", iterations=500, seed=7) for _ in range(2))
    np.testing.assert_equal(first.values, again.values)
    assert first.visits == again.visits
