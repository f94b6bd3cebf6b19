"""The rules: golden playthroughs, invariants on random play, names and their faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from playthrough import PLAYTHROUGHS, playthrough

import openfelt as felt
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.registry import GAMES

EVERY = [
    "kuhn",
    "kuhn(pot=8)",
    "kuhn(players=3)",
    "one_card(6)",
    "leduc",
    "leduc(players=3)",
    "goofspiel(4)",
    "bluff(1,1,3)",
    "bluff(2,2,2)",
    "princess_monster(2,3,5)",
    "phantom_ttt(rows=1,line=2)",
    "dark_hex(2)",
    "dark_hex(2,abrupt=True)",
    "oshi_zumo(4,1)",
    "oshi_zumo(3,1,horizon=3,least=0)",
    "battleship(1,3,2,length=2)",
    "battleship(2,2,2)",
    "sheriff(bribe=2,rounds=2)",
]


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_golden_playthrough(name):
    """Stored as text; `python tests/playthrough.py` rewrites them after an intended change."""
    golden = (Path(__file__).parent / "playthroughs" / PLAYTHROUGHS[name]).read_text()
    assert playthrough(name) == golden


def test_every_game_has_a_playthrough():
    assert {felt.load_game(name).key for name in PLAYTHROUGHS} == set(GAMES)


@pytest.mark.parametrize("name", EVERY)
def test_check_game(name):
    check = felt.check_game(name)
    assert check.game == name
    assert check.infosets == felt.compile_game(name).num_rows


@settings(max_examples=60)
@given(name=st.sampled_from(EVERY), seed=st.integers(0, 10**6))
def test_random_play_keeps_the_promises(name, seed):
    """Zero-sum payoffs, chance sums to one, the game ends, and players observe their own actions."""
    game, generator = felt.load_game(name), np.random.default_rng(seed)
    state = game.start()
    for _ in range(200):
        mover = game.turn(state)
        if mover == TERMINAL:
            break
        actions = game.actions(state)
        assert len(set(actions)) == len(actions) > 0
        if mover == CHANCE:
            assert sum(game.chance(state)) == pytest.approx(1)
        action = actions[generator.integers(len(actions))]
        if mover >= 0:
            assert action in game.sees(state, action, mover).split()
        state = game.play(state, action)
    assert game.turn(state) == TERMINAL
    assert not game.is_zero_sum or sum(game.payoffs(state)) == pytest.approx(0)


@pytest.mark.parametrize(
    ("name", "rows", "nodes"),
    [
        ("kuhn", 12, 58),
        ("leduc", 288, 1939),
        ("kuhn(players=3)", 48, 617),
        ("bluff(1,1,6)", 24576, 294883),
        ("goofspiel(5)", 2124, 26931),
    ],
)
def test_sizes(name, rows, nodes):
    tree = felt.compile_game(name)
    assert (tree.num_rows, tree.num_nodes) == (rows, nodes)


def test_a_smuggler_that_is_caught_pays_no_fine_where_there_is_none():
    game = felt.load_game("sheriff(rounds=1,fine=0)")
    for loaded, won in (("load0", 3.0), ("load2", 0.0)):
        state = game.start()
        for action in (loaded, "offer1", "inspect"):
            state = game.play(state, action)
        assert [*game.payoffs(state)] == [won, -won]


def test_one_card_of_three_is_kuhn():
    kuhn, one = felt.compile_game("kuhn"), felt.compile_game("one_card(3)")
    assert kuhn.fingerprint == one.fingerprint
    for ours, theirs in zip(kuhn.nodes, one.nodes, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Kuhn", "kuhn"),
        ("kuhn(pot=2)", "kuhn"),
        (" kuhn ( pot = 8.0 ) ", "kuhn(pot=8)"),
        ("kuhn(pot=2.5)", "kuhn(pot=2.5)"),
        ("kuhn(players=3, pot=3)", "kuhn(players=3)"),
        ("one_card(500)", "one_card(500)"),
        ("one_card(cards=500)", "one_card(500)"),
        ("bluff(1,1,6)", "bluff(1,1,6)"),
        ("leduc(2)", "leduc"),
    ],
)
def test_names(written, name):
    assert felt.load_game(written).name == name
    assert felt.load_game(name) == felt.load_game(written)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("kuhn(pot=-1)", "pot must be more than 0"),
        ("kuhn(pot=0)", "pot must be more than 0"),
        ("kuhn(pot=1e999)", "pot must be a number"),
        ("kuhn(players=4)", "players must be 2 or 3"),
        ("goofspiel(0)", "from 2 to 13, not 0"),
        ("goofspiel", "needs a value for cards: write goofspiel(cards)"),
        ("goofspiel(4.5)", "whole number"),
        ("goofspiel('4')", "whole number"),
        ("ledoc", "did you mean 'leduc'?"),
        ("leduc(bet=3)", "no parameter 'bet'; write leduc(players=2, ranks=3)"),
        ("leduc(1,2,3)", "at most 2 parameters"),
        ("leduc(2, players=2)", "given twice"),
        ("leduc(", "not the name of a game"),
        ("leduc(__import__('os').system('true'))", "cannot be read"),
        ("", "not the name of a game"),
        ("one_card(1)", "from 2 to 1000"),
        ("bluff(0,1,6)", "dice1 must be"),
        ("princess_monster(1,1,3)", "two cells"),
        ("princess_monster(3,3,0)", "horizon"),
    ],
)
def test_bad_names_get_one_sentence(name, says):
    with pytest.raises(felt.GameError) as caught:
        felt.load_game(name)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@given(pot=st.floats(min_value=1e-6, max_value=1e3))
def test_a_name_is_the_whole_game(pot):
    game = felt.load_game(f"kuhn(pot={pot!r})")
    assert felt.load_game(game.name) == game
    assert game.ante == pot / 2


def test_leduc_ranks_are_in_the_order_of_poker():
    assert felt.load_game("leduc").deck == "JQK"
    assert felt.load_game("leduc(ranks=4)").deck == "JQKA"
    assert felt.load_game("leduc(ranks=13)").deck == "23456789TJQKA"


def test_kuhn_with_a_pot_of_eight_pays_the_pot():
    """Each antes 4: an uncalled bet wins the other's ante, a called one the ante and the bet."""
    game = felt.load_game("kuhn(pot=8)")
    state = game.start()
    for action in ("K", "Q", "bet", "bet"):
        state = game.play(state, action)
    assert list(game.payoffs(state)) == [5.0, -5.0]


def test_princess_monster_only_the_monsters_move_catches():
    game = felt.load_game("princess_monster(1,2,4)")
    state = game.start()
    for action in ("r0c0", "r0c0"):  # the same cell: no capture
        state = game.play(state, action)
    assert game.turn(state) == 0
    state = game.play(state, "right")
    caught = game.play(state, "right")  # the monster's first move captures the princess
    assert game.turn(caught) == TERMINAL
    assert list(game.payoffs(caught)) == [1.0, -1.0]
    state = game.start()
    for action in ("r0c0", "r0c1", "right"):  # the princess moves onto the monster: no capture
        state = game.play(state, action)
    assert game.turn(state) == 1


@pytest.mark.parametrize(
    ("game", "player", "row", "pot", "potential", "passive"),
    [
        ("kuhn", 0, "K", 2, 2, "pass"),
        ("kuhn(pot=8)", 1, "Q bet", 8, 2, "bet"),
        ("kuhn(players=3)", 2, "Q pass pass", 3, 3, "pass"),
        ("leduc", 0, "K", 2, 24, "check"),
        ("leduc", 1, "K bet", 2, 24, "call"),
        ("leduc", 0, "K check check Q", 2, 16, "check"),
        ("leduc", 0, "K bet call Q", 6, 16, "check"),
        ("leduc", 1, "K bet raise call Q bet", 10, 16, "call"),  # as the round began, not after the bet
        ("leduc", 0, "K bet raise call Q bet raise", 10, 16, "call"),
        ("leduc(players=3)", 0, "K bet fold call Q", 7, 16, "check"),  # two are left: 2 * 2 raises of 4
        ("leduc(players=3)", 2, "K bet call call Q bet fold", 9, 24, "call"),  # three were, as it began
    ],
)
def test_stakes(game, player, row, pot, potential, passive):
    """What HS14's exploration (5) needs, counted by hand."""
    tree = felt.compile_game(game)
    number = tree.find_row(player, row)
    betting = tree.betting
    assert (betting.pot[number], betting.potential[number]) == (pot, potential)
    assert tree.actions(number)[betting.passive[number]] == passive


def test_a_game_that_names_no_action_to_call():
    class Odd(type(felt.load_game("kuhn"))):
        def passive(self, state):
            return "check"

    with pytest.raises(felt.GameError, match=r"passive\(\) returned 'check', which is not an action"):
        felt.compile_game(Odd())
