"""What is wrong with a spot, a line or a lock is said in one sentence, before any work."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, strategies as st

from openfelt.core.errors import FeltError
from openfelt.spots.betting import Street
from openfelt.spots.lines import find_place, parse_line
from openfelt.spots.locks import Lock
from openfelt.spots.solver import SpotSolver
from openfelt.spots.spot import Spot

GOOD = {"oop": "AA,QQ", "ip": "KK", "board": "2c3d4h8s9s", "pot": 100, "stack": 100, "bets": "50%,a"}
SPOT = Spot(**GOOD)
TURN = Spot(**{**GOOD, "board": "2c3d4h8s"})


def sentence(caught):
    """The message, which must be one sentence."""
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert message[0].isupper() or message[0] == "'"
    return message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"board": "2c3d"}, "three to five cards, not 2"),
        ({"board": ""}, "three to five cards, not 0"),
        ({"board": "2c3d4h8s9sTs"}, "three to five cards, not 6"),
        ({"board": "2c2c4h"}, "2c"),
        ({"board": "2c3d4"}, "'4' is not a card"),
        ({"board": "2c3dXh"}, "'Xh' is not a card"),
        ({"pot": 0}, "The pot is a whole number of chips from 1 to 1,000,000,000, not 0"),
        ({"pot": -5}, "not -5"),
        ({"pot": 99.5}, "not 99.5"),
        ({"pot": "100"}, "The pot is a whole number"),
        ({"pot": 10**9 + 1}, "The pot is a whole number"),
        ({"stack": -1}, "The stack is a whole number of chips from 0"),
        ({"stack": float("nan")}, "The stack is a whole number"),
        ({"big_blind": 0}, "The big blind is a whole number of chips from 1"),
        ({"rake": -0.1}, "The rake is a share"),
        ({"rake": 1.0}, "The rake is a share"),
        ({"rake": float("nan")}, "The rake is a share"),
        ({"rake_cap": -1}, "cap of at least 0 chips"),
        ({"rake_cap": float("nan")}, "cap of at least 0 chips"),
        ({"oop": ""}, "OOP"),
        ({"oop": "AA,XX"}, "The range of OOP"),
        ({"ip": "AA:-1"}, "The range of IP"),
        ({"ip": "2c2d,3d3h"}, "The board 2c3d4h8s9s blocks every hand of the range of IP"),
        ({"oop": "AhAd", "ip": "AhKd"}, "shares a card with every hand of the other"),
        ({"oop": np.zeros(1326)}, "OOP"),
        ({"oop": np.full(1326, np.nan)}, "[Ww]eight"),
        ({"ip": np.ones(1325)}, "1,?326"),
        ({"ip": np.full(1326, -0.5)}, "[Ww]eight"),
        ({"bets": "60%,z"}, "z"),
        ({"raises": "much"}, "much"),
        ({"bets": "2.5x"}, "2.5x"),
        ({"bets": {"preflop": "60%"}}, "'preflop' is not a street or player of bets"),
        ({"raises": {"ip  river": "a"}}, "'ip  river' is not a street or player of raises"),
        ({"bets": {"oop river": "60%%"}}, "60%%"),
    ],
)
def test_a_bad_spot_says_what_is_wrong(change, words, monkeypatch):
    monkeypatch.setattr(Street, "_grow", lambda *_: pytest.fail("a tree was built before the check"))
    with pytest.raises(FeltError, match=words) as caught:
        Spot(**{**GOOD, **change})
    sentence(caught)


def test_a_spot_as_json_values_makes_it_again():
    spot = Spot(**{**GOOD, "bets": {"oop": "50%"}, "rake": 0.05})
    again = Spot(**spot.as_dict())
    assert again.as_dict() == spot.as_dict()
    assert (again.ranges == spot.ranges).all()
    assert SpotSolver(again).values() == SpotSolver(spot).values()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("x b50 z", "'z' is neither an action"),
        ("x b", "'b' is neither an action"),
        ("xb50", "'xb50' is neither an action"),
        ("b12345678901", "neither an action"),
        ("x " * 201, "at most 200 actions and cards, not 201"),
    ],
)
def test_a_bad_line_says_what_is_wrong(line, words):
    with pytest.raises(FeltError, match=words) as caught:
        parse_line(line)
    sentence(caught)


@pytest.mark.parametrize(
    ("spot", "line", "words"),
    [
        (SPOT, "b70", "'b70' is not possible after 'at the beginning'; the actions are x, b50, a"),
        (SPOT, "x f", "'f' is not possible after 'x'; the actions are x, b50, a"),
        (SPOT, "x x x", "'x' is not possible after 'x x': the betting has ended"),
        (SPOT, "a f c", "the betting has ended"),
        (SPOT, "x 2h", "No card is dealt before '2h'"),
        (TURN, "Ts x", "No card is dealt before 'Ts'"),
        (TURN, "x x Ts Th", "No card is dealt before 'Th'"),
        (TURN, "x x Ts x Th", "No card is dealt before 'Th'"),
        (TURN, "a c Ts x", "the betting has ended"),
    ],
)
def test_a_line_that_the_spot_does_not_have(spot, line, words):
    with pytest.raises(FeltError, match=words) as caught:
        find_place(spot, parse_line(line))
    sentence(caught)


@pytest.mark.parametrize("line", ["x x Ts b50", "x, x - Ts / b50", " x  x|b50 ", "x\tx\nts\nb50"])
def test_separators_and_cards_are_optional(line):
    assert find_place(TURN, parse_line(line)) == find_place(TURN, parse_line("x x b50"))


def test_a_line_is_read_as_it_is_written():
    line = parse_line("x b50 c / Ts - a")
    assert str(line) == "x b50 c Ts a"
    assert parse_line(str(line)) == line
    assert line.actions == ("x", "b50", "c", "a")


TOKENS = st.sampled_from(
    ["f", "x", "c", "a", "b50", "b100", "r100", "2s", "Ts", "tS", "/", "-", "z", "\u0661"]
)


def answer(function, *arguments):
    """The result, or the message of a FeltError; anything else fails the test."""
    try:
        return function(*arguments)
    except FeltError as error:
        return str(error)


@given(st.text(max_size=40) | st.lists(TOKENS, max_size=8).map(" ".join))
def test_no_text_breaks_the_parser_of_lines(text):
    """A line is read, and read again as it is written, or refused with a sentence."""
    line = answer(parse_line, text)
    if isinstance(line, str):
        assert line.endswith(".")
        return
    assert parse_line(str(line)) == line
    for spot in (SPOT, TURN):
        found = answer(find_place, spot, line)
        if isinstance(found, str):
            assert re.search(r"is not possible after .*\.$|No card is dealt before .*\.$", found)
        else:
            street, place = found
            assert 0 <= place < len(spot.streets[street].places)


EVEN = np.full((3, 1326), 1 / 3)


@pytest.mark.parametrize(
    ("lock", "words"),
    [
        (Lock("b70", {"f": 1}), "'b70' is not possible"),
        (Lock("x x", {"x": 1}), "ends the betting"),
        (Lock("x x 2h", {"x": 1}), "has no cards"),
        (Lock("", {"x": 0.5, "b70": 0.5}), "no action 'b70' after ''; the actions are x, b50, a"),
        (Lock("", {"x": 0.5}), "sum of 1"),
        (Lock("", {"x": 1.5, "a": -0.5}), "between 0 and 1"),
        (Lock("", {"x": float("nan")}), "between 0 and 1"),
        (Lock("", {"x": float("inf")}), "between 0 and 1"),
        (Lock("", EVEN[:2]), r"shape \(2, 1326\) instead of \(3, 1326\)"),
        (Lock("", EVEN[:, :5]), r"shape \(3, 5\)"),
        (Lock("", EVEN / 2), "sum of 1"),
        (Lock("", np.zeros((3, 1326))), "sum of 1"),
    ],
)
def test_a_bad_lock_says_what_is_wrong(lock, words):
    with pytest.raises(FeltError, match=words) as caught:
        SpotSolver(SPOT, locks=(lock,))
    sentence(caught)


def test_a_spot_that_is_too_large_for_memory(monkeypatch):
    monkeypatch.setattr("openfelt.spots.solver.machine_memory", lambda: 1000)
    with pytest.raises(FeltError, match="GB of memory") as caught:
        SpotSolver(SPOT)
    sentence(caught)
