"""Bet sizes: worked examples, the rules of postflop-solver, and errors."""

from __future__ import annotations

import doctest
import math

import pytest
from hypothesis import given, strategies as st

from openfelt.core.errors import FeltError
from openfelt.games import bet_sizes
from openfelt.games.bet_size_kinds import AllIn, BetSpot, Chips, Geometric, LastBetMultiple, PotShare
from openfelt.games.bet_sizes import BetSizes, Thresholds, parse_sizes

FIRST = BetSpot(pot=200, stack=900)


def amounts(text, spot=FIRST, **thresholds):
    return parse_sizes(text).amounts(spot, Thresholds(**thresholds))


def test_every_kind_of_size_is_read():
    assert parse_sizes(" 60%,60, .5% ,2.5X,120C,e, 2e,3E200%,e75%,A,AllIn").sizes == (
        PotShare(60),
        PotShare(60),
        PotShare(0.5),
        LastBetMultiple(2.5),
        Chips(120),
        Geometric(),
        Geometric(2),
        Geometric(3, 200),
        Geometric(None, 75),
        AllIn(),
        AllIn(),
    )
    for text in ("", "  ", "none", "None"):
        assert parse_sizes(text) == BetSizes()
        assert amounts(text) == []


def test_written_sizes_are_read_again():
    text = "60%, 33.3%, 2.5x, 120c, e, 2e, 3e200%, e75%, a"
    assert str(parse_sizes(text)) == text
    assert parse_sizes(str(parse_sizes(""))) == BetSizes()


# Worked examples: pot 200, stack 900.


@pytest.mark.parametrize(
    ("text", "spot", "expected"),
    [
        ("60%", FIRST, [120]),
        ("2.5x", FIRST._replace(last_bet=120), [300]),
        ("2.5x", FIRST._replace(last_bet=300, committed=120, raises=1), [750]),
        ("2.5x", FIRST._replace(last_bet=750, committed=300, raises=2), [900]),
        ("2.5x,60%,a", FIRST._replace(last_bet=900, committed=120, raises=2), []),  # the opponent is all-in
        ("50%", FIRST._replace(last_bet=120), [340]),  # 120 + 440 / 2
        ("a,150%,33%,33", FIRST, [66, 300, 900]),
        ("120c,400c", FIRST._replace(last_bet=120), [240, 400]),  # the least raise is to 240
        ("1.1x", FIRST._replace(last_bet=300, committed=120, raises=1), [480]),  # by 180 again
        ("1%", FIRST, [2]),
        ("0.1%", FIRST, [1]),
        ("1%", FIRST._replace(min_bet=10), [10]),
        ("1%", FIRST._replace(stack=1), [1]),
        ("1000%", FIRST, [900]),
        ("1.5x", BetSpot(pot=10, stack=100, last_bet=80), [100]),  # less than a full raise is all-in
        ("29%", BetSpot(pot=50, stack=900), [15]),  # 14.5
    ],
)
def test_worked_examples(text, spot, expected):
    assert amounts(text, spot) == expected


def test_a_geometric_size_over_two_streets_puts_the_stack_in():
    # 1 + 2 * 900 / 200 = 10; the share is (sqrt(10) - 1) / 2 = 1.0811 of the pot.
    assert amounts("2e") == amounts("e", FIRST._replace(streets=2)) == [216]
    pot = 200 + 2 * 216
    assert amounts("60%,e", BetSpot(pot=pot, stack=900 - 216)) == [379, 684]
    assert 684 / pot == pytest.approx(1.0811, abs=0.002)
    assert amounts("e") == amounts("1e") == [900]
    assert amounts("2e100%") == [200]
    assert amounts("2e200%") == [216]


@given(st.integers(100, 5_000), st.integers(1_000, 50_000), st.integers(1, 4))
def test_geometric_bets_are_the_same_share_on_every_street(pot, stack, streets):
    shares = []
    for left in range(streets, 0, -1):
        (bet,) = amounts("e", BetSpot(pot, stack, streets=left))
        shares.append(bet / pot)
        pot, stack = pot + 2 * bet, stack - bet
    assert stack == 0
    assert shares == pytest.approx([shares[0]] * streets, rel=0.1, abs=0.05)


def test_a_geometric_raise_counts_raises_as_streets():
    spot = FIRST._replace(last_bet=100, streets=3)
    ratio = ((1 + 2 * 800 / 400) ** (1 / 3) - 1) / 2
    assert amounts("e", spot) == amounts("3e", spot) == [100 + round(400 * ratio)]
    raised = FIRST._replace(last_bet=300, committed=100, raises=1, streets=3)
    ratio = ((1 + 2 * 600 / 800) ** (1 / 2) - 1) / 2
    assert amounts("e", raised) == [max(300 + round(800 * ratio), 500)]
    assert amounts("e", raised._replace(raises=5)) == [900]


# Thresholds.


def test_all_in_is_added_if_it_is_at_most_a_multiple_of_the_pot():
    assert amounts("60%", add_allin=4.5) == [120, 900]
    assert amounts("60%", add_allin=4.49) == [120]
    assert amounts("", add_allin=4.5) == [900]
    facing = FIRST._replace(last_bet=300)  # 600 more into 800
    assert amounts("2x", facing, add_allin=0.75) == [600, 900]
    assert amounts("2x", facing, add_allin=0.74) == [600]


def test_all_in_is_forced_if_little_is_left_after_a_call():
    # A bet of 700 leaves 200 with a pot of 1,600: 0.125.
    assert amounts("350%", force_allin=0.125) == [900]
    assert amounts("350%", force_allin=0.12) == [700]
    assert amounts("60%,350%", force_allin=0.2) == [120, 900]


def test_close_sizes_are_merged_into_the_largest():
    # (100 + 75) / (100 + 66) = 1.054, (100 + 75) / (100 + 50) = 1.167
    assert amounts("50%,66%,75%", merging=0.1) == [100, 150]
    assert amounts("50%,66%,75%", merging=0.05) == [100, 132, 150]
    assert amounts("50%,66%,75%", merging=0.17) == [150]
    assert amounts("50%,100%", merging=1 / 3) == [200]  # 2 / 1.5 is exactly the threshold
    # A dropped size drops no other one: 66% is far enough from 100% although 75% was dropped between them.
    assert amounts("66%,75%,100%", merging=0.15) == [132, 200]


# Properties.

SIZES = st.lists(
    st.sampled_from(["1%", "33", "75%", "150%", "2x", "2.5x", "7c", "500c", "e", "2e", "3e50%", "a"]),
    max_size=6,
)


@given(
    SIZES,
    st.integers(1, 10_000),
    st.lists(st.integers(0, 10_000), min_size=3, max_size=3).map(sorted),
    st.integers(1, 3),
    st.builds(Thresholds, *3 * [st.sampled_from([0.0, 0.1, 0.5, 2.0])]),
)
def test_amounts_increase_strictly_from_the_least_to_the_all_in(sizes, pot, chips, streets, thresholds):
    committed, last_bet, stack = chips[0], chips[1], chips[2] + 1
    if not last_bet:
        sizes = [size for size in sizes if not size.endswith("x")]
    spot = BetSpot(pot, stack, last_bet, committed, streets)
    found = parse_sizes(",".join(sizes)).amounts(spot, thresholds)
    assert found == sorted(set(found))
    least = min(stack, max(2 * last_bet - committed, last_bet + 1))
    assert all(least <= total <= stack for total in found)
    if "a" in sizes and last_bet < stack:
        assert found[-1] == stack
    if not any(thresholds):
        assert len(found) <= len(sizes)
        assert bool(found) == bool(sizes and last_bet < stack)


# Errors.

WRONG = {
    "120%%": "'120%%' is not a bet size",
    "-5%": "'-5%' is not a bet size",
    "x": "'x' is not a bet size",
    "0": "'0' must be more than 0",
    "0%": "'0%' must be more than 0",
    "0c": "'0c' must be more than 0",
    "0e": "'0e' must be more than 0",
    "e0%": "'e0%' must be more than 0",
    "101e": "more than 100 streets",
    "1x": "write a factor above 1",
    "0.5x": "write a factor above 1",
    "nan": "'nan' is not a bet size",
    "inf%": "'inf%' is not a bet size",
    "1e5": "'1e5' is not a bet size",
    "2.5c": "'2.5c' is not a bet size",
    "60%,,a": "'' is not a bet size",
    "60% 75%": "'60% 75%' is not a bet size",
    "٣%": "is not a bet size",
    "9" * 5_000: "at most 1,000",
    "9" * 500: "is not a bet size",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_size_is_refused_with_one_sentence(text):
    with pytest.raises(FeltError) as caught:
        parse_sizes(text)
    assert WRONG[text] in str(caught.value)
    assert str(caught.value).endswith(".")
    assert str(caught.value).isascii()


def test_a_bet_is_no_multiple_of_the_last_bet():
    with pytest.raises(FeltError, match="multiple of the last bet"):
        parse_sizes("60%,2.5x", first_bet=True)
    with pytest.raises(FeltError, match="nobody has bet"):
        amounts("2.5x")


@pytest.mark.parametrize(
    "wrong",
    [
        {"pot": 0},
        {"stack": 0},
        {"streets": 0},
        {"raises": -1},
        {"last_bet": 901},
        {"last_bet": 10, "committed": 20},
        {"committed": -1},
    ],
)
def test_impossible_betting_is_refused(wrong):
    with pytest.raises(FeltError):
        amounts("60%", FIRST._replace(**wrong))


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
@pytest.mark.parametrize("name", Thresholds._fields)
def test_impossible_thresholds_are_refused(name, value):
    with pytest.raises(FeltError, match=f"threshold {name}"):
        amounts("60%", **{name: value})


def test_the_examples_run():
    found = doctest.testmod(bet_sizes)
    assert found.attempted
    assert not found.failed
