"""The lossless flop: its buckets against permutations of suits, in tables, bots, files and solvers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from small_holdem import canonical_hands, live_cards, live_pairs, random_player

import openfelt as felt
from openfelt.cards.abstraction.abstraction import Abstraction, bucket_type, load_abstraction
from openfelt.cards.abstraction.board_buckets import BoardBuckets
from openfelt.cards.abstraction.lossless import flop_hands, flop_hands_on
from openfelt.cards.abstraction.recipes import needs_tables
from openfelt.cards.abstraction.spec import ALL_HANDS, parse_spec
from openfelt.cards.boards import PERMUTED_CARD, PERMUTED_PAIR, board_set, count_hands, find_board
from openfelt.cards.deck import FLOP, PAIR, PAIR_CARDS, PAIRS, parse_cards
from openfelt.cards.public_cards import Deck
from openfelt.cards.strength import hand_strength
from openfelt.games.compile.betting_tree import Layout, compile_holdem
from openfelt.games.holdem import Holdem
from openfelt.measure.holdem.flop_solver import Task, solve
from openfelt.measure.holdem.player import Player, mixed, numbered_consecutively
from openfelt.policy.rules import RANDOM, rule_policy

pytestmark = pytest.mark.true_buckets
NINE = Deck(3, 3)
ONLY_FLOP = "kmeans:169/lossless/1/1"  # needs no strengths of hands
SMALL = Holdem(buckets="ehs:1/lossless/1/1", bets=3)


def least_form(hole, board):
    """A hand as the least of all that permutations of suits make of it."""
    return min(
        (tuple(sorted(order[list(board)].tolist())), tuple(sorted(order[list(hole)].tolist())))
        for order in PERMUTED_CARD
    )


def random_hand(generator):
    cards = generator.permutation(52)[:5].tolist()
    return tuple(cards[:2]), tuple(cards[2:])


def bucket(hole, board):
    return int(flop_hands_on(board)[PAIR[hole]])


def test_all_numbers_are_used_and_as_many_as_published():
    """1,286,792 (Johanson 2013), which is also what Burnside's lemma says."""
    assert ALL_HANDS[FLOP] == count_hands(3)
    assert len(np.unique(flop_hands())) == ALL_HANDS[FLOP]
    assert flop_hands().min() == 0
    assert flop_hands().max() == ALL_HANDS[FLOP] - 1


def test_hands_are_together_if_and_only_if_suits_can_be_permuted():
    """All hands on some flops; and two flops at a time, of which many pairs are isomorphic."""
    generator, boards = np.random.default_rng(1), board_set(3).cards()
    flops = [boards[number].tolist() for number in (0, 3, 900, 1400, 1754)]
    for flop in [
        *flops,
        *(order[flop].tolist() for order, flop in zip(PERMUTED_CARD[5:], flops, strict=False)),
    ]:
        hands = [hole for hole in map(tuple, PAIR_CARDS.tolist()) if not {*hole} & {*flop}]
        form_of = {hole: least_form(hole, flop) for hole in hands}
        number_of = {form_of[hole]: bucket(hole, flop) for hole in hands}
        assert all(number_of[form_of[hole]] == bucket(hole, flop) for hole in hands)
        assert len({*number_of.values()}) == len(number_of)
    seen = {True: 0, False: 0}
    for _ in range(400):
        hole, board = random_hand(generator)
        order, other = PERMUTED_CARD[generator.integers(24, size=2)]
        if generator.random() < 0.5:
            other = order
        moved = tuple(other[list(hole)].tolist()), tuple(order[generator.permutation(board)].tolist())
        if not {*moved[0]} & {*moved[1]}:
            same = least_form(*moved) == least_form(hole, board)
            assert (bucket(*moved) == bucket(hole, board)) == same
            seen[same] += 1
    assert min(seen.values()) > 50


def test_hands_of_a_bucket_are_equally_strong():
    hands = [("AhKh", "Qh7h2s"), ("AcKc", "2hQc7c"), ("AhKh", "Qh7s2h"), ("AhKs", "Qh7h2s")]
    numbers = [bucket(parse_cards(hole), parse_cards(board)) for hole, board in hands]
    strengths = [hand_strength(*hand) for hand in hands]
    assert numbers[0] == numbers[1]
    assert len({*numbers}) == 3
    assert (strengths[0].ehs, strengths[0].ehs2) == (strengths[1].ehs, strengths[1].ehs2)
    assert len({strength.ehs2 for strength in strengths}) == 3


def test_numbers_are_those_of_policies_that_are_saved():
    """Whoever changes these breaks all saved policies with a lossless flop."""
    found = [bucket(parse_cards(hole), parse_cards(flop)) for hole, flop in SAVED]
    assert found == list(SAVED.values())


SAVED = {
    ("2c2d", "2h2s3c"): 378,
    ("5h5d", "5cJdJs"): 495_538,
    ("AhKh", "Qh7h2s"): 721_944,
    ("7d2c", "AsKsQs"): 1_286_520,
}


def test_a_hand_a_board_and_the_tables_agree(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENFELT_CACHE", str(tmp_path))
    abstraction, generator = load_abstraction(ONLY_FLOP), np.random.default_rng(2)
    assert not needs_tables(abstraction.spec)
    for _ in range(50):
        hole, board = random_hand(generator)
        number, seen_as = find_board(board)
        moved = PERMUTED_CARD[seen_as][list(hole)]
        assert (
            abstraction.bucket(hole, board) == flop_hands()[number, PAIR[tuple(moved)]] == bucket(hole, board)
        )
    assert not (tmp_path / "abstractions").exists()
    assert not (tmp_path / "cards").exists()


@pytest.mark.true_board_buckets
def test_the_buckets_of_a_board_are_those_of_its_hands():
    abstraction, flop = load_abstraction(ONLY_FLOP), parse_cards("Qh7h2s")
    found = BoardBuckets(abstraction).of(flop, 64)  # nothing is estimated from a sample of runouts
    for pair in range(0, PAIRS, 37):
        hole = PAIR_CARDS[pair].tolist()
        assert found[pair] == (0 if {*hole} & {*flop} else abstraction.bucket(hole, flop))


@pytest.mark.parametrize("name", ["ehs:7/lossless/256/2", "ehs:7/lossless/2/257"])
def test_the_flop_does_not_widen_the_other_tables(name):
    kind = np.uint8 if "256" in name else np.uint16
    assert bucket_type(parse_spec(name)) is kind
    assert flop_hands().dtype == np.int32


@pytest.mark.slow
def test_the_tables_of_all_hands(strengths):
    """A bucket holds 24 hands of the deck, or fewer where permutations keep one."""
    abstraction = load_abstraction("ehs2:169/lossless/3/3")
    tables = abstraction._make_tables(strengths, 2, None)
    assert [table.dtype for table in tables] == [np.uint8, np.int32, np.uint8, np.uint8]
    share = abstraction.occupancy(tables)[FLOP]
    hands = share * 22_100 * 1_176  # flops, and hands on each
    assert np.array_equal(np.unique(hands.round(6)), [4, 12, 24])
    assert share.sum() == pytest.approx(1.0)


def test_a_recipe_with_numbers_for_a_lossless_flop_is_refused():
    abstraction = load_abstraction(ONLY_FLOP)
    with pytest.raises(felt.FileError, match="does not match its numbers of buckets"):
        Abstraction(abstraction.spec, {**abstraction.recipe, "flop": np.arange(3)})


@pytest.mark.slow
def test_a_policy_is_saved_loaded_and_played_without_tables(tmp_path, monkeypatch):
    """With three bets a street and one bucket on the other streets it takes 129 MB in memory."""
    monkeypatch.setenv("OPENFELT_CACHE", str(tmp_path / "cache"))
    tree = compile_holdem(SMALL)
    policy = rule_policy(tree, RANDOM)
    node = tree.find_node(["call", "check"])
    number = tree.abstraction.bucket("AhKh", "Qh7h2s")
    policy.weights[tree.slots(node, number)] = 255, 0
    felt.save_policy(policy.compact(), tmp_path / "policy")
    loaded = felt.load_policy(tmp_path / "policy")
    assert loaded.tree.abstraction.name == "ehs:1/lossless/1/1"
    assert loaded.at(0, "AcKc call check 2hQc7c") == {"check": 1.0, "bet": 0.0}
    assert loaded.at(0, "AcKc call check 2cQc7c")["check"] != 1.0
    assert not (tmp_path / "cache" / "abstractions").exists()


@pytest.mark.slow
def test_training_saving_and_playing(tmp_path):
    solver = felt.ExternalMCCFR(SMALL, seed=1).run(200)
    assert (_rows(solver.weights, solver.tree.layout).sum(axis=1) > 0).sum() > 50  # of nearly all deals
    felt.save_policy(solver.policy, tmp_path / "policy")
    result = felt.match(str(tmp_path / "policy"), "always-call", game="holdem(bets=3)", hands=200, seed=1)
    assert result.hands == 200


def _rows(weights, layout):
    """[buckets, edges] of seat 0 on the flop."""
    place = FLOP, 0
    base, count, edges = (int(each[place]) for each in (layout.slot_base, layout.buckets, layout.edges))
    return weights[base : base + count * edges].reshape(count, edges)


def lossless_player(player):
    """A player that distinguishes all hands of a small deck, in the numbers of a lossless flop."""
    table, kinds = canonical_hands(NINE, 3)
    numbers, layout, number_of = flop_hands(), player.layout, np.zeros(kinds, np.int64)
    for board in combinations(live_cards(NINE), 3):
        number, seen_as = find_board(board)
        for pair in live_pairs(NINE):
            if not {*PAIR_CARDS[pair].tolist()} & {*board}:
                place = number, PERMUTED_PAIR[seen_as, pair]
                number_of[table[place]] = numbers[place]
    buckets = layout.buckets.copy()
    buckets[FLOP] = ALL_HANDS[FLOP]
    slots = layout.edges * buckets
    base = (np.cumsum(slots) - slots.ravel()).reshape(slots.shape)
    probabilities = np.zeros(int(slots.sum()))
    for place in np.ndindex(4, 2):
        old = int(layout.slot_base[place])
        block = player.probabilities[old : old + int(layout.edges[place] * layout.buckets[place])]
        if place[0] == FLOP:
            wide = np.zeros((ALL_HANDS[FLOP], int(layout.edges[place])))
            wide[number_of] = block.reshape(kinds, -1)
            block = wide.ravel()
        probabilities[base[place] : base[place] + len(block)] = block
    new = Layout(layout.edges, layout.first_edge, base, layout.nodes, buckets)
    tables = player.buckets[0], numbers, *player.buckets[2:]
    return Player("lossless", player.betting, new, probabilities, tables)


@pytest.mark.slow
def test_exact_values_are_those_of_the_same_player_in_other_numbers():
    one, other = random_player(NINE, 1, seed=1), random_player(NINE, 1, seed=2, buckets=5)
    same = lossless_player(one)
    assert solve(Task(same, 0), NINE) == pytest.approx(solve(Task(one, 0), NINE), abs=1e-12)
    found, wanted = (solve(Task(mixed([other, each], [1, 2]), 1, each), NINE) for each in (same, one))
    assert found == pytest.approx(wanted, abs=1e-12)


def test_the_parts_of_a_mixture_are_numbered_without_overflow():
    one = np.array([[0, 39_999]], np.uint16)
    assert numbered_consecutively([one, one], [40_000, 40_000])[:, 0].tolist() == [
        [0, 39_999],
        [40_000, 79_999],
    ]
    assert numbered_consecutively([one, one], [40_000, 25_536]).dtype == np.uint16
