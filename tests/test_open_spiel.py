"""Rules, best responses, values and CFR agree with open_spiel, on the same policies, to 1e-9."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pyspiel
import pytest
from bridge import OPEN_SPIEL, OpenSpielTwin, open_spiel_twin
from speed import slow

import openfelt as felt

TWINS = [name for name in OPEN_SPIEL if name != "leduc(players=3,ranks=4)"]


@cache
def twin_of(name: str) -> OpenSpielTwin:
    return open_spiel_twin(name).walk()


def their_numbers(twin: OpenSpielTwin, tables: list[dict]) -> Iterator[tuple[list[float], list[float]]]:
    """For each policy; open_spiel builds its tree for best responses once, which takes it seconds."""
    root = twin.theirs.new_initial_state()
    responders = [
        pyspiel.TabularBestResponse(twin.theirs, player, tables[0])
        for player in range(twin.theirs.num_players())
    ]
    for table in tables:
        for responder in responders:
            responder.set_policy(table)
        expected = pyspiel.expected_returns(root, pyspiel.TabularPolicy(table), -1, False)
        yield [responder.value_from_state(root) for responder in responders], expected


LARGE = ("bluff(1,1,5)", "bluff(1,1,6)", "goofspiel(5)")


def policies(name: str):
    yield felt.uniform_policy(name)
    yield felt.random_policy(name, seed=3)
    yield felt.CFRPlus(name).run(20).policy
    if name != "bluff(1,1,6)":  # for which open_spiel takes 10 seconds each
        yield felt.random_policy(name, seed=4).greedy()


@pytest.mark.parametrize(
    "name",
    [slow(name) if name in ("bluff(1,1,5)", "bluff(1,1,6)", "goofspiel(5)") else name for name in TWINS],
)
def test_values_and_best_responses(name):
    twin = twin_of(name)  # walks all histories: turns, actions, chances and payoffs are compared there
    played = list(policies(name))
    tables = [twin.policy(policy) for policy in played]
    for policy, (best, expected) in zip(played, their_numbers(twin, tables), strict=True):
        ours = felt.exploitability(policy)
        np.testing.assert_allclose(ours.values, expected, atol=1e-9, rtol=0)
        np.testing.assert_allclose(ours.best_responses, best, atol=1e-9, rtol=0)


@pytest.mark.slow
def test_rules_of_three_player_leduc():
    """Three-player Leduc has four ranks in open_spiel."""
    twin = open_spiel_twin("leduc(players=3,ranks=4)")
    generator = np.random.default_rng(1)
    for _ in range(3_000):
        twin.play(generator)
    assert len(twin.rows) > 1_000


PHANTOM = {
    "phantom_ttt": "phantom_ttt",
    "phantom_ttt(abrupt=True)": "phantom_ttt(gameversion=abrupt)",
    "dark_hex(3)": "dark_hex(num_rows=3,num_cols=3)",
    "dark_hex(3,abrupt=True)": "dark_hex(num_rows=3,num_cols=3,gameversion=adh)",
    "dark_hex(2,3)": "dark_hex(num_rows=2,num_cols=3)",
}


@pytest.mark.parametrize("name", PHANTOM)
def test_rules_and_infosets_of_phantom_games(name):
    """Along random plays. open_spiel tells a player the number of all attempts too, which is left out."""
    game, theirs = felt.load_game(name), pyspiel.load_game(PHANTOM[name])
    generator, names = np.random.default_rng(1), {}
    for _ in range(300):
        state, other, seen = game.start(), theirs.new_initial_state(), [[], []]
        while (mover := game.turn(state)) >= 0:
            assert other.current_player() == mover
            actions = list(game.actions(state))
            numbers = [(int(word[1:]) - 1) * game.width + ord(word[0]) - ord("a") for word in actions]
            assert numbers == other.legal_actions()
            lines = other.information_state_string().splitlines()
            board = tuple(line for line in lines if not line.isdigit())
            assert names.setdefault((mover, *seen[mover]), board) == board
            place = int(generator.integers(len(actions)))
            seen[mover].append(game.sees(state, actions[place], mover))
            state = game.play(state, actions[place])
            other.apply_action(numbers[place])
        assert other.is_terminal()
        assert other.returns() == list(game.payoffs(state))
    assert len({(key[0], value) for key, value in names.items()}) == len(names)


@pytest.mark.parametrize("solver", ["CFR", "CFRPlus"])
@pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)", "leduc"])
def test_cfr_iterations_are_the_same(name, solver):
    """The average policy after 10 iterations, row by row."""
    twin = twin_of(name)
    theirs = {"CFR": pyspiel.CFRSolver, "CFRPlus": pyspiel.CFRPlusSolver}[solver](twin.theirs)
    for _ in range(10):
        theirs.evaluate_and_update_policy()
    ours = getattr(felt, solver)(name).run(10).policy
    average = theirs.average_policy()
    for row, names in twin.rows.items():
        for information in names:
            found = dict(average.get_state_policy(information))
            np.testing.assert_allclose(ours.row(row), [found[a] for a in twin.order[row]], atol=1e-9)
