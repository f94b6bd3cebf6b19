"""Abstractions: their names, and that tables, single hands and definitions give the same buckets."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from speed import fast_only, slow

import openfelt as felt
from openfelt.cards.abstraction import clusters as clustering, kmeans
from openfelt.cards.abstraction.abstraction import Abstraction, load_abstraction
from openfelt.cards.abstraction.centre_tree import build_tree, nearest
from openfelt.cards.abstraction.clusters import fit
from openfelt.cards.abstraction.kmeans import (
    BINS,
    count_board,
    cumulated,
    cuts_between_means,
    nearest_centres,
    strength_counts,
)
from openfelt.cards.abstraction.recipes import grid_cuts, make_recipe, percentile_cuts, weighted_values
from openfelt.cards.abstraction.spec import KINDS, Spec, parse_spec
from openfelt.cards.boards import PERMUTED_PAIR, board_set, find_board
from openfelt.cards.deck import BOARD_CARDS, PAIR_CARDS, PAIRS, STREETS, pair_class, pair_number
from openfelt.cards.strength import RIVER_SCALE, hand_strength, river_strengths
from openfelt.cards.strength_tables import NO_HAND, StreetStrength, StrengthTables

pytestmark = pytest.mark.true_buckets
NAMES = ("ehs2:169/100/100/100", "ehs:10", "percentile:169/20/20/20")


@cache
def made(name):
    """An abstraction and its tables; the strengths are at hand when a test asks for the fixture."""
    abstraction = load_abstraction(name)
    return abstraction, abstraction.tables()


def random_hands(street, count, seed):
    generator = np.random.default_rng((seed, street))
    for _ in range(count):
        cards = generator.permutation(52)[: 2 + BOARD_CARDS[street]].tolist()
        yield tuple(cards[:2]), tuple(cards[2:])


def bucket_in(tables, hole, board):
    """What the tables say."""
    number, permutation = find_board(board)
    street = BOARD_CARDS.index(len(board))
    return int(tables[street][number, PERMUTED_PAIR[permutation, pair_number(hole)]])


@pytest.mark.parametrize(
    ("name", "kind", "counts"),
    [
        ("ehs2:169/100/100/100", "ehs2", (169, 100, 100, 100)),
        ("ehs2:169/1000/500/200", "ehs2", (169, 1000, 500, 200)),
        ("ehs:10", "ehs", (10, 10, 10, 10)),
        ("percentile:1", "percentile", (1, 1, 1, 1)),
        ("kmeans:169/60000/2/3", "kmeans", (169, 60000, 2, 3)),
        ("ochs:169/lossless/20000/30000", "ochs", (169, 1_286_792, 20_000, 30_000)),
        ("ehs:1/lossless/1/1", "ehs", (1, 1_286_792, 1, 1)),
    ],
)
def test_names_lead_there_and_back(name, kind, counts):
    spec = parse_spec(name)
    assert spec == Spec(kind, counts)
    assert spec.name == name


def test_names_may_be_written_otherwise():
    assert parse_spec(" ehs2 : 169 / 100/100 /100 ").name == "ehs2:169/100/100/100"
    assert parse_spec("ehs:10/10/10/10").name == "ehs:10"
    assert parse_spec("ehs:007").name == "ehs:7"
    assert parse_spec("ehs: lossless/lossless /3/3").name == "ehs:169/lossless/3/3"
    assert parse_spec("ehs:3/1286792/3/3").name == "ehs:3/lossless/3/3"


def test_every_kind_can_be_named():
    assert {parse_spec(f"{kind}:3").kind for kind in KINDS} == set(KINDS)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("foo", "'foo' is not the name of an abstraction; write it like ehs2:169/100/100/100 or ehs:10"),
        ("", "'' is not the name of an abstraction"),
        ("ehs", "'ehs' is not the name of an abstraction"),
        ("ehs:", "'ehs:' is not the name of an abstraction"),
        ("ehs:ten", "'ehs:ten' is not the name of an abstraction"),
        ("ehs:1.5", "'ehs:1.5' is not the name of an abstraction"),
        ("ehs:10/", "'ehs:10/' is not the name of an abstraction"),
        ("ehs:10 10", "'ehs:10 10' is not the name of an abstraction"),
        ("ehs:١", "'ehs:١' is not the name of an abstraction"),
        ("hs:10", r"There is no kind of abstraction 'hs' \(known: .*did you mean 'ehs'\?"),
        ("magic:10", "There is no kind of abstraction 'magic'"),
        ("ehs2:0", "'ehs2:0': the preflop must have from 1 to 60000 buckets, not 0"),
        ("ehs2:169/100/0/100", "the turn must have from 1 to 60000 buckets, not 0"),
        ("ehs:-3", "the preflop must have from 1 to 60000 buckets, not -3"),
        ("ehs:10/10/10/60001", "the river must have from 1 to 60000 buckets, not 60001"),
        ("ehs:1/2/3", "'ehs:1/2/3' has 3 numbers of buckets; write one, or one for each street"),
        ("ehs:1/2", "has 2 numbers of buckets"),
        ("ehs:1/lossless", "has 2 numbers of buckets"),
        ("ehs:1/Lossless/3/4", "'ehs:1/Lossless/3/4' is not the name of an abstraction"),
        ("ehs:lossless", "a lossless turn would have 55,190,538 buckets, which is too many"),
        ("ehs:1/2/lossless/4", "a lossless turn would have 55,190,538 buckets, which is too many"),
        ("ehs:1/2/3/lossless", "a lossless river would have 2,428,287,420 buckets, .* up to 60000"),
        ("ehs:1286792/2/3/4", "the preflop must have from 1 to 60000 buckets, not 1286792"),
        ("ehs:1/60001/3/4", "the flop must have from 1 to 60000 buckets, or be lossless, not 60001"),
        ("ehs:1/2/3/4/5", "has 5 numbers of buckets"),
    ],
)
def test_bad_names(name, says):
    for asked in (parse_spec, load_abstraction):
        with pytest.raises(felt.GameError, match=says):
            asked(name)


@pytest.mark.parametrize("street", range(4))
@pytest.mark.parametrize("name", fast_only(("ehs:10",), NAMES))
def test_the_table_and_a_single_hand_give_the_same_bucket(name, street, strengths):
    abstraction, tables = made(name)
    for hole, board in random_hands(street, (200, 60, 200, 400)[street], 1):
        assert bucket_in(tables, hole, board) == abstraction.bucket(hole, board)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ehs2:169/100/100/100", slow("ehs:10"), slow("ehs2:3/7/1000/60000")])
def test_a_grid_cuts_strength_evenly(name):
    """Bucket b of B holds strengths from b/B up to (b + 1)/B; the last one also those that always win."""
    abstraction = load_abstraction(name)
    for street in (1, 2, 3):
        count = abstraction.counts[street]
        for hole, board in random_hands(street, 60, 2):
            one = hand_strength(hole, board)
            measure = one.ehs if abstraction.spec.kind == "ehs" else one.ehs2
            assert abstraction.bucket(hole, board) == min(int(measure * count + 1e-9), count - 1)
    for hole in PAIR_CARDS.tolist():
        one, count = hand_strength(hole), abstraction.counts[0]
        measure = one.ehs if abstraction.spec.kind == "ehs" else one.ehs2
        if count != 169:
            assert abstraction.bucket(hole) == int(measure * count)


def test_hands_on_a_cut_belong_above_it():
    """Everyone plays the board: E[HS^2] is 1/4 and EHS 1/2, where a bucket begins."""
    hole, board = "2c3d", "AhKhQhJhTh"
    assert load_abstraction("ehs2:169/100/100/100").bucket(hole, board) == 25
    assert load_abstraction("ehs:10").bucket(hole, board) == 5
    assert load_abstraction("ehs:10").bucket("AhKh", "QhJhTh2c3d") == 9
    assert load_abstraction("ehs:1").bucket("AhKh", "QhJhTh2c3d") == 0


@pytest.mark.slow
@pytest.mark.parametrize("street", [1, 2, 3])
def test_hands_on_a_cut_are_in_the_same_bucket_by_table(street, strengths):
    """The cuts of percentiles are strengths of hands."""
    abstraction, tables = made("percentile:169/20/20/20")
    cards = board_set(BOARD_CARDS[street]).cards()
    for place, value in enumerate(abstraction.recipe[STREETS[street]].tolist()[::3]):
        part = strengths[street]
        on_cut = part.hs == round(value**0.5) if street == 3 else part.ehs2 == value
        board, pair = (int(number) for number in np.unravel_index(np.argmax(on_cut), on_cut.shape))
        bucket = abstraction.bucket(PAIR_CARDS[pair].tolist(), cards[board].tolist())
        assert tables[street][board, pair] == bucket == 3 * place + 1


@pytest.mark.parametrize("kind", KINDS)
def test_169_buckets_before_the_flop_tell_all_kinds_apart(kind):
    spec = Spec(kind, (169, 1, 1, 1))
    abstraction = Abstraction(spec, make_recipe(spec, None))
    buckets = {}
    for hole in PAIR_CARDS.tolist():
        buckets.setdefault(pair_class(hole), set()).add(abstraction.bucket(hole))
    assert {len(found) for found in buckets.values()} == {1}
    assert {bucket for found in buckets.values() for bucket in found} == set(range(169))
    assert buckets["AA"] == {168}
    assert buckets["32o"] == {0}


def test_few_percentiles_before_the_flop_hold_equal_shares():
    spec = Spec("percentile", (4, 1, 1, 1))
    recipe = make_recipe(spec, None)
    share = np.bincount([Abstraction(spec, recipe).bucket(hole) for hole in PAIR_CARDS.tolist()]) / PAIRS
    np.testing.assert_allclose(share, 0.25, atol=12 / PAIRS)


@pytest.mark.parametrize("name", fast_only(("ehs:10",), NAMES))
def test_bucket_numbers_rise_with_strength(name, strengths):
    abstraction, tables = made(name)
    for street in range(4):
        hands = list(random_hands(street, 60, 3))
        found = [hand_strength(*hand) for hand in hands]
        measure = [one.ehs if abstraction.spec.kind == "ehs" else one.ehs2 for one in found]
        buckets = [bucket_in(tables, *hands[place]) for place in np.argsort(measure)]
        assert buckets == sorted(buckets)
        assert len(set(buckets)) >= 5


@pytest.mark.parametrize("name", NAMES)
def test_tables_hold_a_bucket_for_every_hand(name, strengths):
    abstraction, tables = made(name)
    for street, (table, count) in enumerate(zip(tables, abstraction.counts, strict=True)):
        assert table.shape == (len(board_set(BOARD_CARDS[street]).key), PAIRS)
        assert table.dtype == np.uint8
        assert table.max() < count
    impossible = strengths.flop.hs == NO_HAND
    assert not tables.flop[impossible].any()


def test_many_buckets_need_two_bytes(strengths):
    small = few_boards(strengths)
    for count, kind in ((256, np.uint8), (257, np.uint16)):
        abstraction = load_abstraction(f"ehs:{count}")
        tables = abstraction._make_tables(small, 1, None)
        assert {table.dtype for table in tables} == {np.dtype(kind)}
        assert tables.river.max() == count - 1


@pytest.mark.parametrize("name", fast_only(("ehs:10",), NAMES))
def test_shares_of_buckets_sum_to_one(name, strengths):
    abstraction, tables = made(name)
    shares = abstraction.occupancy(tables)
    assert [len(share) for share in shares] == list(abstraction.counts)
    assert [share.sum() for share in shares] == pytest.approx([1.0] * 4, abs=1e-12)


@pytest.mark.slow
def test_shares_count_every_hand(strengths):
    """Those of the flop again, board by board and hand by hand."""
    abstraction, tables = made("ehs:10")
    total = np.zeros(10)
    possible = strengths.flop.hs != NO_HAND
    for board, ways in enumerate(board_set(3).multiplicity):
        total += ways * np.bincount(tables.flop[board][possible[board]], minlength=10)
    np.testing.assert_allclose(abstraction.occupancy(tables)[1], total / total.sum(), rtol=0, atol=1e-12)
    assert total.sum() == 22_100 * 1_176


@pytest.mark.slow
def test_percentiles_hold_nearly_equal_shares(strengths):
    """As equal as hands of one strength, which must stay together, allow."""
    abstraction, tables = made("percentile:169/20/20/20")
    shares = abstraction.occupancy(tables)
    for street in (1, 2, 3):
        values, weights = weighted_values(strengths, street)
        assert (np.diff(values) > 0).all()
        largest = weights.max() / weights.sum()
        np.testing.assert_allclose(shares[street], 1 / 20, rtol=0, atol=2 * largest)
        np.testing.assert_allclose(shares[street], 1 / 20, rtol=0, atol=0.01)


def test_cuts():
    assert grid_cuts(10, 5).tolist() == [2, 4, 6, 8]
    assert grid_cuts(10, 3).tolist() == [4, 7]  # the first whole numbers from 10/3 and 20/3
    assert grid_cuts(10, 1).tolist() == []
    values, weights = np.array([1, 2, 5, 9]), np.array([3, 3, 3, 3])
    assert percentile_cuts(values, weights, 4).tolist() == [2, 5, 9]
    assert percentile_cuts(values, weights, 2).tolist() == [5]
    assert percentile_cuts(values, weights, 1).tolist() == []
    assert percentile_cuts(values, np.array([1, 1, 1, 97]), 2).tolist() == [9]


def test_an_abstraction_is_known_by_name_and_recipe():
    one, again, other = (load_abstraction(name) for name in ("ehs:10", "ehs:10/10/10/10", "ehs:11"))
    assert one.fingerprint == again.fingerprint != other.fingerprint
    moved = {**one.recipe, "river": one.recipe["river"] + 1}
    assert Abstraction(one.spec, moved).fingerprint != one.fingerprint


@pytest.mark.parametrize("street", STREETS)
def test_a_recipe_of_too_many_buckets_is_refused(street):
    spec, recipe = parse_spec("ehs:3"), load_abstraction("ehs:4").recipe
    with pytest.raises(felt.FeltError, match="The recipe of ehs:3 does not match its numbers of buckets"):
        Abstraction(spec, {**load_abstraction("ehs:3").recipe, street: recipe[street]})


def test_progress_reaches_the_whole(strengths):
    reported = []
    load_abstraction("ehs:2")._make_tables(few_boards(strengths), 1, reported.append)
    assert sum(reported) == pytest.approx(1.0, abs=0.01)


def few_boards(tables, count=100):
    return StrengthTables(*(StreetStrength(*(table[:count] for table in part)) for part in tables))


@pytest.fixture(scope="module")
def clusters(strengths):
    """An abstraction by k-means, of a small sample."""
    before = kmeans.SAMPLE
    kmeans.SAMPLE = 300
    try:
        spec = parse_spec("kmeans:169/6/8/5")
        yield Abstraction(spec, make_recipe(spec, strengths))
    finally:
        kmeans.SAMPLE = before


def test_the_recipe_of_kmeans(clusters):
    assert sorted(clusters.recipe) == sorted(STREETS)
    for street, count in (("flop", 6), ("turn", 8)):
        centres = clusters.recipe[street]
        assert centres.shape == (count, BINS)
        assert (np.diff(centres, axis=1) >= -1e-12).all()
        np.testing.assert_allclose(centres[:, -1], 1.0, rtol=0, atol=1e-12)
        strength = BINS - centres.sum(axis=1)
        assert (np.diff(strength) > 0).all()
    cuts = clusters.recipe["river"]
    assert len(cuts) == 4
    assert (np.diff(cuts) > 0).all()
    assert 0 < cuts[0] < cuts[-1] < RIVER_SCALE**2


def test_kmeans_gives_the_same_recipe_again(clusters, strengths, monkeypatch):
    monkeypatch.setattr(kmeans, "SAMPLE", 40)
    first, second = (kmeans.centres(2, strengths, 3) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("street", [1, 2])
def test_counts_of_a_board_are_those_of_its_hands(street, strengths):
    generator = np.random.default_rng(street)
    cards = board_set(BOARD_CARDS[street]).cards()
    counts = np.empty((PAIRS, BINS), np.int64)
    for board in generator.integers(len(cards), size=5).tolist():
        count_board(street, strengths.river.hs, board, counts)
        for pair in generator.integers(PAIRS, size=20).tolist():
            hole = PAIR_CARDS[pair].tolist()
            if set(hole) & set(cards[board].tolist()):
                assert not counts[pair].any()
                continue
            found = river_strengths(hole, cards[board].tolist())
            bins = [int(strength / (RIVER_SCALE + 1) * BINS + 1e-9) for strength in found]
            np.testing.assert_array_equal(strength_counts(found), np.bincount(bins, minlength=BINS))
            np.testing.assert_array_equal(cumulated(counts[pair]), cumulated(strength_counts(found)))


@pytest.mark.parametrize("street", [1, 2])
def test_kmeans_puts_a_hand_to_the_nearest_centre(street, clusters, strengths):
    generator = np.random.default_rng(street)
    cards = board_set(BOARD_CARDS[street]).cards()
    centres = clusters.recipe[STREETS[street]]
    counts, met = np.empty((PAIRS, BINS), np.int64), set()
    for board in generator.integers(len(cards), size=8).tolist():
        count_board(street, strengths.river.hs, board, counts)
        possible = strengths[street].hs[board] != NO_HAND
        buckets = nearest_centres(counts, possible, build_tree(centres))
        for pair in generator.choice(np.flatnonzero(possible), 20).tolist():
            squares = ((cumulated(counts[pair]) - centres) ** 2).sum(axis=1)
            bucket = clusters.bucket(PAIR_CARDS[pair].tolist(), cards[board].tolist())
            assert bucket == buckets[pair] == np.argmin(squares)
            met.add(bucket)
        assert not buckets[~possible].any()
    assert len(met) > 3


def first_nearest(counts, centres):
    """By looking at all centres; each distance is added up from the first place to the last."""
    shares, distance = cumulated(counts), np.zeros(len(centres))
    for place in range(BINS):
        distance += (shares[place] - centres[:, place]) ** 2
    return int(np.argmin(distance)), int((distance == distance.min()).sum())


@pytest.mark.slow
def test_the_nearest_centre_is_the_first_of_all_in_any_order():
    """Also among equal centres, among those of equal sums, and where the hand is in the middle of two."""
    generator = np.random.default_rng(5)
    alike = 0
    for most in (1, 2, 46):
        for count in (1, 2, 7, 60):
            hands = generator.multinomial(most, generator.dirichlet(np.full(BINS, 0.3), count))
            centres = np.cumsum(hands, axis=1) / most
            half = count // 2
            centres = np.concatenate([centres, centres[:half], (centres[:half] + centres[-half:][:half]) / 2])
            centres = centres[generator.permutation(len(centres))]
            hands = np.concatenate(
                [hands, generator.multinomial(most, generator.dirichlet(np.ones(BINS), 60))]
            )
            expected, equal = zip(*(first_nearest(hand, centres) for hand in hands), strict=True)
            every = np.ones(len(hands), np.bool_)
            assert nearest_centres(hands, every, build_tree(centres)).tolist() == [*expected]
            alike += sum(number > 1 for number in equal)
    assert alike > 100


@pytest.mark.parametrize("coordinates", [8, BINS])
@pytest.mark.parametrize("count", [1, 16, 17, 1000])
def test_the_nearest_of_many_centres_is_that_of_a_plain_search(count, coordinates):
    """With nearly all variance along few directions, as of hands; also of points far from all centres."""
    generator = np.random.default_rng(count)
    mixing = generator.normal(size=(coordinates, coordinates)) * 0.7 ** np.arange(coordinates)[:, None]
    centres = generator.normal(size=(count, coordinates)) @ mixing
    points = generator.normal(size=(300, coordinates)) @ mixing
    points = np.concatenate([points, 10 * points, centres, (centres + centres[0]) / 2])
    squares = ((points[:, None] - centres) ** 2).sum(axis=2)
    found = nearest(points, build_tree(centres))
    assert squares[np.arange(len(points)), found] == pytest.approx(squares.min(axis=1), rel=1e-12, abs=1e-12)
    assert np.array_equal(found[600 : 600 + count], np.arange(count))


def test_tables_of_kmeans(clusters, strengths):
    """Of the first boards of each street."""
    small = few_boards(strengths, 3)
    tables = clusters._make_tables(small._replace(river=strengths.river), 1, None)
    for street, place in itertools.product((0, 1, 2, 3), range(3)):
        board = board_set(BOARD_CARDS[street]).cards()[place if street else 0].tolist()
        left = [pair for pair in range(0, PAIRS, 97) if not set(PAIR_CARDS[pair].tolist()) & set(board)]
        for pair in left:
            assert bucket_in(tables, PAIR_CARDS[pair].tolist(), board) == clusters.bucket(
                PAIR_CARDS[pair].tolist(), board
            )


def test_cuts_between_means_part_what_lies_apart():
    values = np.array([1, 2, 3, 100, 101, 102, 900, 901]) ** 2
    first, second = cuts_between_means(values, np.ones(8, np.int64), 3)
    assert 3**2 < first <= 100**2
    assert 102**2 < second <= 900**2


@pytest.mark.parametrize(
    ("size", "coordinates", "count", "most", "one_by_one"),
    [
        *[(2_000, 1, 20, 1.1, 20), (3_000, 8, 50, 1.03, 50), (2_000, 20, 200, 1.03, 200)],
        *[(3_000, 8, 200, 1.1, 20), (2_000, 20, 200, 1.1, 20)],  # many centres are chosen at a time
    ],
)
def test_clusters_are_as_narrow_as_those_of_scikit_learn(
    size, coordinates, count, most, one_by_one, monkeypatch
):
    monkeypatch.setattr(clustering, "ONE_BY_ONE", one_by_one)
    monkeypatch.setattr(clustering, "FEW", one_by_one)
    monkeypatch.setattr(clustering, "FEWER_ITERATIONS", clustering.ITERATIONS)
    cluster, ratios = pytest.importorskip("sklearn.cluster"), []
    for seed in range(4):
        draw = np.random.default_rng(seed)
        points = np.cumsum(draw.exponential(size=(size, coordinates)) * draw.random((size, 1)), axis=1)
        weights = draw.integers(1, 5, size).astype(np.float64)
        centres = fit(points, weights, count)
        assert centres.shape == (count, coordinates)
        theirs = cluster.KMeans(count, n_init=1, random_state=0).fit(points, sample_weight=weights)
        distances = [
            ((points[:, None] - each) ** 2).sum(axis=2) for each in (centres, theirs.cluster_centers_)
        ]
        ours, other = (weights @ each.min(axis=1) for each in distances)
        ratios.append(ours / other)
        own = distances[0].argmin(axis=1)
        for number in range(count):
            mean = np.average(points[own == number], axis=0, weights=weights[own == number])
            assert centres[number] == pytest.approx(mean)
    assert np.mean(ratios) < most


@pytest.mark.parametrize("many", [10_000, 1])
def test_there_are_no_more_clusters_than_distinct_points(many, monkeypatch):
    monkeypatch.setattr(clustering, "ONE_BY_ONE", many)
    monkeypatch.setattr(clustering, "FEW", 1)
    points = np.repeat(np.array([[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]]), 4, axis=0)
    centres = fit(points, np.ones(12), 5)
    assert sorted(map(tuple, centres)) == [(0.0, 1.0), (2.0, 3.0), (5.0, 5.0)]


def test_percentile_cuts_are_the_nearest_that_there_are():
    assert percentile_cuts(np.array([0, 1, 2]), np.array([49, 10, 41]), 2).tolist() == [1]
    assert percentile_cuts(np.array([0, 1, 2]), np.array([41, 10, 49]), 2).tolist() == [2]
    assert percentile_cuts(np.arange(100), np.ones(100, int), 4).tolist() == [25, 50, 75]
