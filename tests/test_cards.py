"""Cards, hand values, boards up to suits and exact strengths, against phevaluator and plain enumeration."""

from __future__ import annotations

import errno
import itertools
import math
import os
import warnings
from collections import Counter
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from phevaluator import evaluate_cards
from speed import slow

import openfelt as felt
from openfelt.cards.abstraction import abstraction
from openfelt.cards.boards import (
    COMPOSED,
    PERMUTATIONS,
    PERMUTED_CARD,
    PERMUTED_PAIR,
    board_set,
    count_hands,
    find_board,
    hole_class,
)
from openfelt.cards.deck import (
    PAIR,
    PAIR_CARDS,
    PAIRS,
    card_text,
    cards_text,
    pair_class,
    pair_number,
    parse_cards,
    parse_hand,
)
from openfelt.cards.evaluator import CATEGORIES, CATEGORY_SHIFT, hand_category, hand_value, hand_values
from openfelt.cards.strength import PREFLOP_FILE, RIVER_SCALE, RUNOUTS, hand_strength, river_strengths
from openfelt.cards.strength_tables import NO_HAND, StreetStrength, StrengthTables, preflop_lines
from openfelt.core import files
from openfelt.core.disk_cache import cache_name, load_or_build

pytestmark = pytest.mark.true_buckets
RANKS_OF_HANDS = 7462  # different values of five cards


def deal(generator, *sizes):
    """Different random cards, in groups of these sizes."""
    cards = generator.permutation(52)[: sum(sizes)].tolist()
    ends = list(itertools.accumulate(sizes))
    return [tuple(cards[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def test_every_card_has_a_name_that_leads_back():
    names = [card_text(card) for card in range(52)]
    assert len(set(names)) == 52
    assert names[0] == "2c"
    assert names[51] == "As"
    assert parse_cards("".join(names)) == tuple(range(52))
    assert cards_text(parse_cards("AhKd")) == "AhKd"


def test_cards_are_read_as_people_write_them():
    assert parse_cards("Ah Kd") == parse_cards("AhKd") == parse_cards("ah,KD") == (50, 45)
    assert parse_cards([50, 45]) == parse_cards(np.array([50, 45])) == (50, 45)
    assert parse_cards("") == parse_cards(()) == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1x", r"'1x' is not a card; write a rank \(2-9, T, J, Q, K, A\) and a suit \(c, d, h, s\)\."),
        ("Ax", "'Ax' is not a card"),
        ("1h", "'1h' is not a card"),
        ("hA", "'hA' is not a card"),
        ("10h", "'10' is not a card"),
        ("AhK", "'K' is not a card"),
        ("AhAh", "The card Ah appears twice"),
        ("Kd Ah kD", "The card Kd appears twice"),
        ((7, 7), "The card 3s appears twice"),
        ((0, 52), "The number of a card is from 0 to 51, not 52"),
        ((-1, 3), "The number of a card is from 0 to 51, not -1"),
    ],
)
def test_what_is_no_card(text, says):
    with pytest.raises(felt.FeltError, match=says):
        parse_cards(text)


@pytest.mark.parametrize(
    ("hole", "board", "says"),
    [
        ("1x", "", "'1x' is not a card"),
        ("AhAh", "", "The card Ah appears twice"),
        ("AhKd", "2c3cAh", "The card Ah appears twice"),
        ("AhKd", "2c3c2c", "The card 2c appears twice"),
        ("Ah", "", "A hand has two hole cards, not 1"),
        ("AhKdQc", "", "A hand has two hole cards, not 3"),
        ("", "", "A hand has two hole cards, not 0"),
        ("AhKd", "2c", "A board has 0, 3, 4 or 5 cards, not 1"),
        ("AhKd", "2c3c", "A board has 0, 3, 4 or 5 cards, not 2"),
        ("AhKd", "2c3c4c5c6c7c", "A board has 0, 3, 4 or 5 cards, not 6"),
        ((50, 99), "", "The number of a card is from 0 to 51, not 99"),
    ],
)
def test_what_is_no_hand(hole, board, says):
    for asked in (parse_hand, hand_strength):
        with pytest.raises(felt.FeltError, match=says):
            asked(hole, board)


def test_pairs_are_numbered_there_and_back():
    assert [pair_number(cards.tolist()) for cards in PAIR_CARDS] == list(range(PAIRS))
    for pair, (low, high) in enumerate(PAIR_CARDS.tolist()):
        assert low < high
        assert PAIR[low, high] == PAIR[high, low] == pair == high * (high - 1) // 2 + low


def test_there_are_169_kinds_of_hole_cards():
    kinds = Counter(pair_class(cards) for cards in PAIR_CARDS.tolist())
    assert Counter(kinds.values()) == {4: 78, 6: 13, 12: 78}  # suited, pairs, offsuit
    assert [pair_class(hole) for hole in ("AhKh", "KdAh", "2c7d", "TsTc")] == ["AKs", "AKo", "72o", "TT"]
    named = {(kind, pair_class(cards.tolist())) for kind, cards in zip(hole_class(), PAIR_CARDS, strict=True)}
    assert len(named) == len(kinds) == 169


@pytest.fixture(scope="module")
def five_cards():
    """All hands of five cards, and the different values that they have, ascending."""
    hands = np.array(list(itertools.combinations(range(52), 5)), np.uint8)
    return hands, np.unique(hand_values(hands))


def their_ranks(hands):
    return np.array([evaluate_cards(*hand) for hand in hands.tolist()])


def our_ranks(hands, known):
    values = hand_values(hands)
    place = np.searchsorted(known, values)
    np.testing.assert_array_equal(known[place], values)
    return len(known) - place


@pytest.mark.slow
def test_all_hands_of_five_cards_rank_as_in_phevaluator(five_cards):
    hands, known = five_cards
    assert len(hands) == math.comb(52, 5)
    assert len(known) == RANKS_OF_HANDS
    np.testing.assert_array_equal(our_ranks(hands, known), their_ranks(hands))


@pytest.mark.parametrize(("size", "count"), [(6, 20_000), (7, 100_000), slow(7, 1_000_000)])
def test_hands_of_more_cards_rank_as_in_phevaluator(size, count, five_cards):
    generator = np.random.default_rng(size)
    decks = (generator.random((20_000, 52)).argsort(axis=1)[:, :size] for _ in range(count // 20_000))
    hands = np.concatenate(list(decks)).astype(np.uint8)
    np.testing.assert_array_equal(our_ranks(hands, five_cards[1]), their_ranks(hands))


def test_categories_are_as_frequent_as_known(five_cards):
    counts = np.bincount(hand_values(five_cards[0]) >> CATEGORY_SHIFT, minlength=len(CATEGORIES))
    expected = [1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40]
    assert counts.tolist() == expected


@pytest.mark.parametrize(
    ("cards", "category"),
    [
        ("AhKdQc9s7h", "high card"),
        ("AhAdQc9s7h5d2c", "pair"),
        ("AhAdQcQs7h7d2c", "two pair"),
        ("AhAdAcQs7h5d2c", "three of a kind"),
        ("Ah2d3c4s5hKdQc", "straight"),
        ("AhKdQcJsTh", "straight"),
        ("AhKdQc2s3h4c", "high card"),
        ("Ah2h3h4h6h5d7c", "flush"),
        ("AhAdAcQsQhQd2c", "full house"),
        ("AhAdAcAsQhQdQc", "four of a kind"),
        ("Ah2h3h4h5hAdAc", "straight flush"),
        ("AsKsQsJsTs9s8s", "straight flush"),
    ],
)
def test_categories(cards, category):
    assert hand_category(cards) == category


def test_hands_in_order():
    hands = [
        "7h5d4c3s2h",
        "AhKdQcJs9h",
        "2h2dAcKsQh",
        "2h2d3c3s4h",
        "2h2d3c3sAh",
        "2h2d2c3s4h",
        "Ah2d3c4s5h",
        "2h3d4c5s6h",
        "AhKdQcJsTh",
        "7h5h4h3h2h",
        "2h2d2c3s3h",
        "2h2d2c2s3h",
        "5h4h3h2hAh",
        "AhKhQhJhTh",
    ]
    values = [hand_value(hand) for hand in hands]
    assert values == sorted(set(values))
    assert hand_value("AhKdQcJs9h3c2c") == hand_value("AdKcQsJh9d4s2d")


@pytest.mark.parametrize(
    ("size", "boards"), [(0, 1), (1, 13), (2, 169), (3, 1_755), (4, 16_432), (5, 134_459)]
)
def test_boards_up_to_suits(size, boards):
    found = board_set(size)
    assert len(found.key) == len(found.cards()) == boards
    assert found.multiplicity.sum() == math.comb(52, size)
    assert len(np.unique(found.cards(), axis=0)) == boards


@pytest.mark.parametrize(("size", "hands"), [(0, 169), (3, 1_286_792), (4, 13_960_050), (5, 123_156_254)])
def test_hands_up_to_suits(size, hands):
    assert count_hands(size) == hands


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_a_board_is_found_whatever_its_suits_and_order(size):
    generator = np.random.default_rng(size)
    canonical = board_set(size).cards()
    for _ in range(40):
        (cards,) = deal(generator, size)
        number, _ = find_board(cards)
        for suits in itertools.permutations(range(4)):
            other = [4 * (card // 4) + suits[card % 4] for card in generator.permutation(cards).tolist()]
            found, permutation = find_board(other)
            assert found == number
            seen = sorted(PERMUTED_CARD[permutation, other].tolist())
            assert seen == canonical[number].tolist()


def test_every_flop_is_found():
    flops = itertools.combinations(range(52), 3)
    found = np.bincount([find_board(flop)[0] for flop in flops], minlength=1_755)
    np.testing.assert_array_equal(found, board_set(3).multiplicity)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5])
def test_canonical_boards_find_themselves(size):
    cards = board_set(size).cards()
    for number in range(0, len(cards), max(1, len(cards) // 500)):
        found, permutation = find_board(cards[number].tolist())
        assert found == number
        assert sorted(PERMUTED_CARD[permutation, cards[number]].tolist()) == cards[number].tolist()


def test_permutations_of_suits():
    """One after the other, of cards and of pairs."""
    assert len({tuple(order) for order in PERMUTATIONS.tolist()}) == 24
    for first, after in itertools.product(range(24), repeat=2):
        np.testing.assert_array_equal(
            PERMUTED_CARD[COMPOSED[first, after]], PERMUTED_CARD[after][PERMUTED_CARD[first]]
        )
    for order in range(24):
        seen = PERMUTED_CARD[order][PAIR_CARDS]
        np.testing.assert_array_equal(PERMUTED_PAIR[order], PAIR[seen[:, 0], seen[:, 1]])


def slow_strength(hole, board):
    """HS, PPot, NPot, EHS and E[HS^2] from their definitions, with phevaluator (in which lower is better)."""
    rest = [card for card in range(52) if card not in hole + board]

    def standing(opponent, table):
        mine, theirs = evaluate_cards(*hole, *table), evaluate_cards(*opponent, *table)
        return "ahead" if mine < theirs else "tied" if mine == theirs else "behind"

    now = {pair: standing(pair, board) for pair in itertools.combinations(rest, 2)}
    hs = sum({"ahead": 1.0, "tied": 0.5, "behind": 0.0}[where] for where in now.values()) / len(now)
    times = Counter()
    squares = []
    for runout in itertools.combinations(rest, 5 - len(board)):
        table = board + runout
        mine = evaluate_cards(*hole, *table)
        score = 0.0
        left = [card for card in rest if card not in runout]
        for pair in itertools.combinations(left, 2):
            theirs = evaluate_cards(*pair, *table)
            if mine < theirs:
                times[now[pair], "ahead"] += 1
                score += 1.0
            elif mine == theirs:
                times[now[pair], "tied"] += 1
                score += 0.5
            else:
                times[now[pair], "behind"] += 1
        squares.append((score / math.comb(len(left), 2)) ** 2)

    def potential(here, there):
        passing = times[here, there] + times[here, "tied"] / 2 + times["tied", there] / 2
        whole = sum(count * {here: 1.0, "tied": 0.5}.get(start, 0.0) for (start, _), count in times.items())
        return passing / whole if whole else 0.0

    ppot, npot = potential("behind", "ahead"), potential("ahead", "behind")
    return hs, ppot, npot, hs * (1 - npot) + (1 - hs) * ppot, sum(squares) / len(squares)


def hands_to_check(counts):
    """Random hands on river, turn and flop; then some with ties, and without anyone ahead."""
    generator = np.random.default_rng(12)
    for size, count in zip((5, 4, 3), counts, strict=True):
        for _ in range(count):
            yield deal(generator, 2, size)
    for hole, board in (
        ("2c3d", "AhKhQhJhTh"),
        ("AhKh", "QhJhTh2c3d"),
        ("AhKh", "QhJhTh2c"),
        ("AhKd", "AsKcQdQh"),
        ("2c7d", "AhAdKcKd"),
    ):
        yield parse_hand(hole, board)


@pytest.mark.parametrize("counts", [(20, 2, 0), slow((40, 8, 2))])
def test_strengths_are_what_enumeration_gives(counts, strengths):
    for hole, board in hands_to_check(counts):
        hs, ppot, npot, ehs, ehs2 = slow_strength(hole, board)
        found = hand_strength(hole, board)
        seen = (found.hs, found.ppot, found.npot, found.ehs, found.ehs2)
        assert seen == pytest.approx((hs, ppot, npot, ehs, ehs2), abs=1e-12, rel=0), (hole, board)
        assert strengths.at(hole, board) == pytest.approx((hs, ehs, ehs2), abs=1e-12, rel=0), (hole, board)


@pytest.mark.parametrize("size", [0, 3, 4, 5])
def test_tables_are_what_single_hands_give(size, strengths):
    generator = np.random.default_rng(size)
    for _ in range(100):
        hole, board = deal(generator, 2, size)
        one = hand_strength(hole, board)
        assert strengths.at(hole, board) == pytest.approx((one.hs, one.ehs, one.ehs2), abs=1e-12, rel=0)


def test_a_hand_that_cannot_be_beaten():
    best = hand_strength("AhKh", "QhJhTh")
    assert (best.hs, best.ppot, best.npot, best.ehs, best.ehs2) == (1.0, 0.0, 0.0, 1.0, 1.0)
    assert hand_strength("2c3d", "AhKhQhJhTh").ehs2 == 0.25  # everyone plays the board


def test_strengths_of_all_boards_to_come():
    found = river_strengths("AhKd", "QcJs2h7d")
    assert len(found) == 46
    rest = [card for card in range(52) if card not in parse_cards("AhKdQcJs2h7d")]
    on_the_river = [hand_strength("AhKd", (*parse_cards("QcJs2h7d"), card)).hs for card in rest]
    np.testing.assert_allclose(found / RIVER_SCALE, on_the_river, rtol=0, atol=1e-12)
    assert len(river_strengths("AhKd", "QcJs2h")) == math.comb(47, 2)
    assert len(river_strengths("AhKd", "QcJs2h7d3c")) == 1


def test_strengths_as_a_table_and_as_text():
    one = hand_strength("AhKd", "QcJs2h")
    assert one.as_dict()["ehs2"] == one.ehs2
    assert str(one).startswith("AhKd on QcJs2h (flop)\n")
    assert str(hand_strength("AhKd")).startswith("AhKd on no board (preflop)\n")


def test_on_every_board_strengths_are_a_half_in_the_mean(strengths):
    for street, opponents in (("flop", 1081), ("turn", 1035), ("river", 990)):
        hs = getattr(strengths, street).hs[:: {"flop": 1, "turn": 10, "river": 100}[street]]
        possible = hs != NO_HAND
        pairs = possible.sum(axis=1)
        assert set(pairs.tolist()) == {math.comb(52 - {"flop": 3, "turn": 4, "river": 5}[street], 2)}
        np.testing.assert_array_equal(
            np.where(possible, hs, 0).sum(axis=1, dtype=np.int64), pairs * opponents
        )


@pytest.mark.parametrize(
    ("hole", "equity"),
    [
        ("AhAd", 0.8520),
        ("KhKd", 0.8240),
        ("QhQd", 0.7993),
        ("AhKh", 0.6704),
        ("AhKd", 0.6532),
        ("2h2d", 0.5033),
        ("7h2d", 0.3458),
        ("3h2d", 0.3230),
    ],
)
def test_published_equities_against_a_random_hand(hole, equity, strengths):
    one = hand_strength(hole)
    assert round(one.ehs, 4) == equity
    assert one.hs == one.ehs
    assert (one.ppot, one.npot) == (0.0, 0.0)
    assert strengths.at(hole) == pytest.approx((one.hs, one.ehs, one.ehs2), abs=1e-12, rel=0)


def test_before_the_flop_hands_win_half_in_the_mean(strengths):
    total = sum(int(each) for each in strengths.preflop.ehs[0])
    assert 2 * total == PAIRS * RUNOUTS[0] * RIVER_SCALE


def test_the_file_of_strengths_before_the_flop_is_what_the_tables_give(strengths):
    text = resources.files("openfelt.cards").joinpath(PREFLOP_FILE).read_text(encoding="utf-8")
    assert text.splitlines() == preflop_lines(strengths)


@pytest.mark.parametrize("hole", ["AhKd", "7s7c"])
def test_sums_before_the_flop_are_those_of_all_flops(hole, strengths):
    own = parse_cards(hole)
    ehs = ehs2 = 0
    for flop in itertools.combinations([card for card in range(52) if card not in own], 3):
        board, permutation = find_board(flop)
        seen_as = PERMUTED_PAIR[permutation, pair_number(own)]
        ehs += int(strengths.flop.ehs[board, seen_as])
        ehs2 += int(strengths.flop.ehs2[board, seen_as])
    pair = pair_number(own)
    assert ehs == int(strengths.preflop.ehs[0, pair])
    assert ehs2 == int(strengths.preflop.ehs2[0, pair])


class Numbers:
    """Something small to keep, that counts how often it is made."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.made = folder, 0

    def get(self, kind: str = "numbers"):
        return load_or_build(
            self.folder, kind, "The table of numbers", self._make, lambda arrays, _: arrays["squares"]
        )

    def _make(self):
        self.made += 1
        return {"squares": np.arange(100) ** 2}, {"about": "squares"}


def test_cached_arrays_are_built_once(tmp_path):
    numbers = Numbers(tmp_path / "numbers")
    first, second = numbers.get(), numbers.get()
    assert numbers.made == 1
    assert isinstance(first, np.memmap)
    assert isinstance(second, np.memmap)
    assert first.tolist() == second.tolist() == [number**2 for number in range(100)]


def cut(folder):
    path = next(folder.glob("*.npy"))
    path.write_bytes(path.read_bytes()[:-8])


def change(folder):
    path = next(folder.glob("*.npy"))
    path.write_bytes(path.read_bytes()[:-1] + b"x")


def remove(folder):
    next(folder.glob("*.npy")).unlink()


def garble(folder):
    (folder / files.MANIFEST).write_text("{")


@pytest.mark.parametrize(
    ("harm", "says"), [(cut, "damaged"), (change, "damaged"), (remove, "missing"), (garble, "damaged")]
)
def test_what_is_damaged_is_built_again(harm, says, tmp_path):
    numbers = Numbers(tmp_path / "numbers")
    numbers.get()
    harm(numbers.folder)
    with pytest.warns(UserWarning, match=f"{says}.*built again"):
        assert numbers.get()[99] == 99**2
    assert numbers.get()[99] == 99**2
    assert numbers.made == 2


def test_what_is_of_another_kind_is_built_again(tmp_path):
    numbers = Numbers(tmp_path / "numbers")
    numbers.get()
    with pytest.warns(UserWarning, match="holds an 'openfelt numbers'.*built again"):
        assert numbers.get("letters")[99] == 99**2


def test_a_folder_that_cannot_be_made_is_no_fault(tmp_path):
    (tmp_path / "cache").write_text("in the way")
    numbers = Numbers(tmp_path / "cache" / "numbers")
    with pytest.warns(UserWarning, match="The table of numbers is not stored"):
        assert numbers.get()[99] == 99**2


@pytest.mark.parametrize("error", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_a_folder_that_cannot_be_written_is_no_fault(error, tmp_path, monkeypatch):
    """Read-only, full, not ours: the arrays stay in memory, and nothing is left on disk."""

    def refuse(_):
        raise OSError(error, "It cannot be")

    numbers = Numbers(tmp_path / "numbers")
    monkeypatch.setattr(files.os, "fsync", refuse)
    with pytest.warns(UserWarning, match=r"The table of numbers is not stored: .*It cannot be"):
        assert numbers.get()[99] == 99**2
    assert not numbers.folder.exists()
    monkeypatch.undo()
    assert isinstance(numbers.get(), np.memmap)


def test_what_earlier_sources_made_is_removed(tmp_path):
    old, new, other = (tmp_path / name for name in ("a-1-" + "0" * 12, "a-1-" + "f" * 12, "a-12-" + "0" * 12))
    for folder in (old, other, new):
        Numbers(folder).get()
    assert sorted(tmp_path.iterdir()) == [new, other]


def test_of_several_who_make_the_same_the_first_one_counts(tmp_path):
    """As when two commands need a table that is not there yet."""
    quick, slow = (Numbers(tmp_path / ("a-1-" + "0" * 12)) for _ in range(2))
    half_way = tmp_path / f"{quick.folder.name}.1"
    left_over = tmp_path / f"{quick.folder.name}.2"
    slow.folder.mkdir()  # of one who was killed

    def make():
        half_way.mkdir()
        left_over.mkdir()
        os.utime(left_over, (0, 0))
        quick.get()
        return {"squares": np.zeros(100)}, {}

    slow._make = make
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert slow.get()[99] == 99**2
    assert sorted(tmp_path.iterdir()) == [quick.folder, half_way]


def test_cache_names_distinguish_words():
    names = {cache_name(word, [files]) for word in ("ehs:1", "ehs 1", "EHS:1")}
    assert len(names) == 3
    assert all(name.startswith("ehs-1-") for name in names)
    assert cache_name("ehs:1", [files]) != cache_name("ehs:1", [abstraction])


def few_boards(tables, count):
    return StrengthTables(*(StreetStrength(*(table[:count] for table in part)) for part in tables))


@pytest.fixture
def small_cache(strengths, tmp_path, monkeypatch):
    """Abstractions of a few boards only, in a folder of their own."""
    monkeypatch.setattr(abstraction, "strength_tables", lambda **_: few_boards(strengths, 20))
    monkeypatch.setattr(abstraction, "cache_folder", lambda: tmp_path)
    return tmp_path / "abstractions"


@pytest.mark.parametrize("harm", [cut, change, remove, garble])
def test_damaged_buckets_are_built_again(harm, small_cache, monkeypatch):
    made = abstraction.load_abstraction("ehs:3")
    before = made.tables()
    assert isinstance(before.river, np.memmap)
    copies = [np.array(table) for table in before]
    assert list(small_cache.iterdir()) == [made.folder]
    harm(made.folder)
    with pytest.warns(UserWarning, match=r"(damaged|missing).*built again"):
        again = abstraction.Abstraction(made.spec, made.recipe).tables()
    for table, copy in zip(again, copies, strict=True):
        np.testing.assert_array_equal(table, copy)
    monkeypatch.setattr(abstraction, "strength_tables", lambda **_: pytest.fail("they were built again"))
    loaded = abstraction.Abstraction(made.spec, made.recipe).tables()
    for table, copy in zip(loaded, copies, strict=True):
        np.testing.assert_array_equal(table, copy)


def test_buckets_of_another_abstraction_are_built_again(small_cache):
    ten, three = abstraction.load_abstraction("ehs:10"), abstraction.load_abstraction("ehs:3")
    ten.tables()
    ten.folder.rename(three.folder)
    with pytest.warns(UserWarning, match=r"bucket table of ehs:10; ehs:3 was requested\. It is built again"):
        assert three.tables().river.max() == 2


def test_buckets_that_cannot_be_cached_stay_in_memory(small_cache):
    small_cache.write_text("in the way")
    with pytest.warns(UserWarning, match="The table of ehs:3 is not stored"):
        tables = abstraction.load_abstraction("ehs:3").tables()
    assert not isinstance(tables.river, np.memmap)
    assert tables.river.max() == 2


def test_cards_by_a_list_of_names_or_of_numbers():
    assert parse_cards(["Ah", "Kd"]) == parse_cards([50, 45]) == parse_cards("AhKd")
    for wrong in ([0.5, 1.7], ["Ah", "xx"], [None]):
        with pytest.raises(felt.FeltError):
            parse_cards(wrong)


def test_a_hand_to_evaluate_has_five_to_seven_cards():
    for cards in ("AhKh", "2c3c4c5c6c7c8c9c"):
        with pytest.raises(felt.FeltError, match="five to seven"):
            hand_value(cards)
    with pytest.raises(felt.FeltError, match="Before the flop"):
        river_strengths("AhKh", "")
