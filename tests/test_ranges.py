"""Range notation, against PokerKit's reader and counts by hand, and its round trip."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from pokerkit import parse_range as pokerkit_range

import openfelt as felt
from openfelt.cards import hand_classes, ranges
from openfelt.cards.deck import PAIR_CARDS, PAIRS, RANKS, cards_text, pair_class, pair_number
from openfelt.cards.hand_classes import CELL_CLASS, CELL_PAIRS, PAIR_CELL, SIZE
from openfelt.cards.ranges import check_weights, format_range, parse_range, range_matrix
from openfelt.core.errors import FeltError

CLASSES = [pair_class(cards) for cards in PAIR_CARDS.tolist()]
NON_PAIRS = [(high, low) for high in RANKS for low in RANKS if RANKS.index(low) < RANKS.index(high)]


def pokerkit_hands(text):
    """The numbers of the hands that PokerKit reads."""
    return {pair_number("".join(map(repr, hand))) for hand in pokerkit_range(text)}


def hands(text):
    """The numbers of the hands of a range without weights."""
    weights = parse_range(text)
    assert set(weights) <= {0.0, 1.0}
    return set(np.flatnonzero(weights).tolist())


def classes(text):
    """The classes of which a range has every hand; it has no others."""
    found = {CLASSES[pair] for pair in hands(text)}
    assert len(hands(text)) == sum(CLASSES.count(name) for name in found)
    return found


# Against PokerKit. The conventions differ in three places: PokerKit has no weights, accepts "AAo", and
# refuses intervals with a fixed high card (A5s-A2s); those are differences of two of its ranges.


@pytest.mark.parametrize("suits", ["", "s", "o"])
def test_hands_of_two_ranks_with_and_without_plus_are_those_of_pokerkit(suits):
    for high, low in NON_PAIRS:
        for text in (f"{high}{low}{suits}", f"{high}{low}{suits}+"):
            assert hands(text) == pokerkit_hands(text), text


def test_pairs_are_those_of_pokerkit():
    for first in RANKS:
        assert hands(first * 2) == pokerkit_hands(first * 2)
        assert hands(f"{first * 2}+") == pokerkit_hands(f"{first * 2}+")
        for last in RANKS:
            text = f"{first * 2}-{last * 2}"
            assert hands(text) == pokerkit_hands(text), text


@pytest.mark.parametrize("suits", ["", "s", "o"])
def test_intervals_with_equal_gaps_are_those_of_pokerkit_in_both_orders(suits):
    for gap in range(1, 12):
        lines = [f"{RANKS[low + gap]}{RANKS[low]}{suits}" for low in range(13 - gap)]
        for first in lines:
            for last in lines[:: max(1, len(lines) // 3)]:
                assert hands(f"{first}-{last}") == pokerkit_hands(f"{first}-{last}")


@pytest.mark.parametrize("suits", ["", "s", "o"])
def test_intervals_of_kickers_are_differences_of_pokerkits_ranges(suits):
    for high, low in NON_PAIRS:
        for top in range(RANKS.index(low), RANKS.index(high)):
            expected = pokerkit_hands(f"{high}{low}{suits}+")
            if top + 1 < RANKS.index(high):
                expected -= pokerkit_hands(f"{high}{RANKS[top + 1]}{suits}+")
            first, last = f"{high}{RANKS[top]}{suits}", f"{high}{low}{suits}"
            assert hands(f"{first}-{last}") == hands(f"{last}-{first}") == expected


def test_every_combination_is_read_in_both_orders():
    for pair, cards in enumerate(PAIR_CARDS.tolist()):
        assert hands(cards_text(cards)) == hands(cards_text(cards[::-1])) == {pair}


# Worked examples.


@pytest.mark.parametrize(
    ("text", "combinations"),
    [
        # 54 + 24 + 8 + 36 + 16 + 12 + 8 + 4 + 12 + 12 + 8 + 4 + 4
        ("66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s", 202),
        # 66 + 44 + 48 + 32 + 24 + 16 + 12 + 12 + 12 + 8 + 8 + 8 + 8
        ("QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+", 298),
        ("22+", 78),
        ("A2s+", 48),
        ("AK", 16),
        ("random", 1326),
    ],
)
def test_known_ranges_have_known_numbers_of_combinations(text, combinations):
    assert parse_range(text).sum() == combinations


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("96s+", {"96s", "97s", "98s"}),
        ("JTs+", {"JTs"}),  # the high card is fixed; postflop-solver adds QJs, KQs and AKs
        ("98s-54s", {"98s", "87s", "76s", "65s", "54s"}),
        ("77-99", {"77", "88", "99"}),
        ("ATo+", {"ATo", "AJo", "AQo", "AKo"}),
        ("KAs", {"AKs"}),
        ("none", set()),
    ],
)
def test_terms_mean_what_players_mean(text, expected):
    assert classes(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "qq+,aKs,AHkd",
        "QQ+ AKs AhKd",
        "QQ +;AKs ; ahkd;",
        "\nQQ+\n\tAKs\r\n AhKd\n",
        ",QQ+,,AKs,AhKd,",
        "AhKd AKs QQ+",
    ],
)
def test_case_spaces_and_separators_mean_nothing(text):
    assert np.array_equal(parse_range(text), parse_range("QQ+,AKs,AhKd"))


def test_weights_belong_to_their_term_and_the_last_term_wins():
    weights = parse_range("QQ+, KK:0.5, AKs : .25, AhKh:0")
    assert range_matrix(weights)[0, 0] == 1
    assert range_matrix(weights)[1, 1] == 0.5
    assert weights[pair_number("AsKs")] == 0.25
    assert weights[pair_number("AhKh")] == 0
    assert weights.sum() == 6 + 6 + 3 + 0.75
    assert parse_range("KK:0.5, QQ+").sum() == 18
    assert parse_range("random, 72o:0").sum() == 1314
    for word in ("any", "full", "*", "Random"):
        assert np.array_equal(parse_range(f"{word}:0.5"), np.full(PAIRS, 0.5))


def test_weight_brackets_are_percentages():
    assert np.array_equal(
        parse_range("AA,[50]AKs,AQs[/50],[12.5]KK[/12.5] QQ"), parse_range("AA, AKs:.5, AQs:.5, KK:.125, QQ")
    )


# Errors.

WRONG = {
    "": "is empty",
    " ,;\n": "is empty",
    "AKs, hello": "'hello' is not a term",
    "AKx": "'AKx' is not a term",
    "10s9s": "'10s9s' is not a term",
    "AhKh+": "'AhKh+' is not a term",
    "QQ-": "'QQ-' is not a term",
    "QQ-JJ-TT": "'QQ-JJ-TT' is not a term",
    "AKs:1.5": "'AKs:1.5' is not a number from 0 to 1",
    "AKs:-0.5": "'AKs:-0.5' is not a number from 0 to 1",
    "AKs:nan": "'AKs:nan' is not a number from 0 to 1",
    "AKs:inf": "'AKs:inf' is not a number from 0 to 1",
    "AKs:": "'AKs:' is not a number from 0 to 1",
    ":0.5": "a weight without a hand",
    "AhAh": "'AhAh' has the same card twice",
    "ahAH": "'ahAH' has the same card twice",
    "AAs": "write AA",
    "AKs-QJo": "'AKs-QJo' does not join",
    "AKs-QTs": "'AKs-QTs' does not join",
    "QQ-JTs": "'QQ-JTs' does not join",
    "QQ-JT": "'QQ-JT' does not join",
    "50%": "top-percent ranges are not supported",
    "A♥K♥": "not printable ASCII",
    "AKs\x00": "not printable ASCII",
    "A" * 100_001: "at most 100,000",
    "[50]AKs": "end it with [/50]",
    "[50]AKs[/40]": "closes no bracket of this weight",
    "AKs[/50]": "closes no bracket of this weight",
    "[50][40]AKs[/40][/50]": "inside another one",
    "[150]AKs[/150]": "from 0 to 100",
    "[50AKs": "not complete",
    "[50]AKs:0.5[/50]": "use one of the two",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_range_is_refused_with_one_sentence(text):
    with pytest.raises(FeltError) as caught:
        parse_range(text)
    message = str(caught.value)
    assert WRONG[text] in message
    assert message.endswith(".")
    assert len(message) < 250


def test_weights_that_are_no_range_are_refused():
    for wrong in (
        np.zeros(1325),
        np.zeros((2, 663)),
        np.full(PAIRS, np.nan),
        np.full(PAIRS, 1.01),
        -np.ones(PAIRS),
    ):
        for function in (format_range, range_matrix, check_weights):
            with pytest.raises(FeltError):
                function(wrong)


# Writing.


@pytest.mark.parametrize(
    "text",
    [
        "QQ+, AKs, A5s-A2s:0.5",
        "66+, A8s+, A5s-A4s, K9s+, QTs+, JTs, 96s+, 85s+, 75s+, 65s, 54s, AJo+, KQo",
        "QQ-22, AQ+, KJs+, 98s-54s, KQo:0.25",
        "AKs:0.3333, AhKd, KcJs:0.1",
        "random",
        "random:0.5",
        "none",
    ],
)
def test_usual_ranges_are_written_as_players_write_them(text):
    assert format_range(parse_range(text)) == text


@settings(max_examples=150)
@given(data=st.data())
def test_a_written_range_is_read_again(data):
    """Random grids with few different weights, and some single combinations."""
    levels = data.draw(st.lists(st.floats(0, 1), min_size=1, max_size=4))
    grid = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0, *levels]), min_size=169, max_size=169)))
    weights = grid[PAIR_CELL]
    for pair, level in data.draw(st.lists(st.tuples(st.integers(0, PAIRS - 1), st.floats(0, 1)), max_size=5)):
        weights[pair] = level
    assert np.abs(parse_range(format_range(weights)) - weights).max() < 1e-4


def test_a_range_of_unequal_weights_is_read_again():
    weights = np.random.default_rng(7).random(PAIRS)
    assert np.abs(parse_range(format_range(weights)) - weights).max() < 1e-4


def test_no_term_of_a_written_range_overrides_another():
    weights = np.random.default_rng(8).integers(0, 3, 169)[PAIR_CELL] / 2
    weights[::97] = 0.25
    terms = format_range(weights).split(", ")
    assert np.array_equal(parse_range(",".join(terms[::-1])), weights)
    assert sum(parse_range(term) for term in terms) == pytest.approx(weights)


# The grid.


def test_the_grid_has_aces_first_and_suited_hands_above_the_diagonal():
    assert CELL_CLASS[:2] == ("AA", "AKs")
    assert CELL_CLASS[SIZE] == "AKo"
    assert CELL_CLASS[-1] == "22"
    assert [CELL_CLASS[cell] for cell in PAIR_CELL] == CLASSES
    assert CELL_PAIRS.reshape(SIZE, SIZE).sum(axis=1)[0] == 6 + 12 * 4
    assert CELL_PAIRS.sum() == PAIRS


def test_the_matrix_of_a_range_holds_mean_weights():
    matrix = range_matrix(parse_range("AKs, KAo:0.5, AcAd, 22:0.25"))
    assert matrix[0, 1] == 1
    assert matrix[1, 0] == 0.5
    assert matrix[0, 0] == pytest.approx(1 / 6)
    assert matrix[12, 12] == 0.25
    assert (matrix > 0).sum() == 4


@pytest.mark.parametrize("module", [ranges, hand_classes])
def test_the_examples_run(module):
    found = doctest.testmod(module, extraglobs={"felt": felt})
    assert found.attempted
    assert not found.failed
