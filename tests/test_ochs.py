"""Opponent cluster hand strength: equities as another evaluator finds them, and buckets of similar ones."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from phevaluator import evaluate_cards

import openfelt as felt
from openfelt.cards.abstraction import ochs
from openfelt.cards.abstraction.abstraction import Abstraction
from openfelt.cards.abstraction.centre_tree import build_tree
from openfelt.cards.abstraction.recipes import OPPONENTS, make_recipe
from openfelt.cards.abstraction.spec import parse_spec
from openfelt.cards.boards import hole_class
from openfelt.cards.deck import PAIR, PAIR_CARDS, PAIRS, STREETS, cards_text, parse_cards

pytestmark = pytest.mark.true_buckets
BOARDS = ["Ah7d7c2s9h", "KhQhJh2c2d", "5c9c8cTcAd", "TsJsQsKsAs"]
FEW = "ochs:169/1/1/40"


@pytest.fixture(scope="module")
def clusters():
    return ochs.opponent_clusters()


@pytest.fixture(scope="module")
def few(clusters):
    """Forty centres on the river, fitted to few boards."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ochs, "SAMPLED_BOARDS", 300)
        return Abstraction(parse_spec(FEW), make_recipe(parse_spec(FEW), None))


def test_clusters_are_ranges_from_weak_to_strong(clusters):
    assert {*clusters.tolist()} == {*range(ochs.OPPONENTS)}
    of_pair = ochs.cluster_of_pairs(clusters)
    assert of_pair[PAIR[tuple(parse_cards("AcAd"))]] == ochs.OPPONENTS - 1
    assert of_pair[PAIR[tuple(parse_cards("2c3d"))]] == 0
    for kind in range(169):
        assert len({*of_pair[hole_class() == kind].tolist()}) == 1


def kind_of(board, pair):
    """The ranks of a hand, and which of its cards have the suit of three or more cards of the board."""
    flush = [suit for suit in range(4) if sum(card % 4 == suit for card in board) >= 3]
    return tuple(sorted((card // 4, card % 4 in flush) for card in PAIR_CARDS[pair].tolist()))


@pytest.mark.parametrize("text", BOARDS)
def test_equities_are_those_of_another_evaluator(text, clusters):
    board, of_pair = parse_cards(text), ochs.cluster_of_pairs(clusters)
    numbers, found = ochs.kind_equities(np.array(board), of_pair)
    pairs = [pair for pair in range(PAIRS) if not {*PAIR_CARDS[pair].tolist()} & {*board}]
    assert np.flatnonzero(numbers >= 0).tolist() == pairs
    rank = np.array([evaluate_cards(*_words(board), *_words(PAIR_CARDS[pair].tolist())) for pair in pairs])
    cards, own = PAIR_CARDS[pairs], of_pair[pairs]
    equities = np.full((len(pairs), ochs.OPPONENTS), 0.5)
    for place, two in enumerate(cards):
        apart = ~np.isin(cards, two).any(axis=1)
        score = (rank > rank[place]) + 0.5 * (rank == rank[place])  # lower ranks are better there
        for cluster in range(ochs.OPPONENTS):
            if (met := apart & (own == cluster)).any():
                equities[place, cluster] = score[met].mean()
    kinds = [kind_of(board, pair) for pair in pairs]
    for kind in {*kinds}:
        alike = [place for place, each in enumerate(kinds) if each == kind]
        wanted = np.broadcast_to(equities[alike].mean(axis=0), (len(alike), ochs.OPPONENTS))
        assert found[numbers[[pairs[place] for place in alike]]] == pytest.approx(wanted, abs=1e-12)


def _words(cards):
    return [cards_text([card]) for card in cards]


def test_a_hand_belongs_to_the_nearest_centre(few, clusters):
    centres = few.recipe["river"]
    assert centres.shape == (40, ochs.OPPONENTS)
    assert (np.diff(centres.sum(axis=1)) >= 0).all()
    for text in BOARDS:
        board = np.array(parse_cards(text))
        of_pair, table = ochs.cluster_of_pairs(clusters), np.empty((1, PAIRS), np.uint16)
        kind, found = ochs.kind_equities(board, of_pair)
        ochs.river_buckets(board[None], of_pair, build_tree(centres), table)
        nearest = ((found[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        assert np.array_equal(table[0], np.where(kind >= 0, nearest[kind], 0))
        for hole in list(combinations(set(range(52)) - {*board.tolist()}, 2))[::97]:
            assert few.bucket(hole, board.tolist()) == table[0, PAIR[hole]]


def test_suits_may_be_exchanged(few):
    assert few.bucket("AhKh", "Qh7h2s3c9h") == few.bucket("AcKc", "Qc7c2d3s9c")
    assert few.bucket("AhKh", "Qh7h2s3c9h") == 39  # nothing beats it
    assert few.bucket("3h2s", "AcAdAhAsKc") == few.bucket("4h2s", "AcAdAhAsKc")  # the board plays


@pytest.mark.parametrize(
    ("part", "table"),
    [
        ("river", np.zeros((41, ochs.OPPONENTS))),
        ("river", np.zeros((40, 3))),
        (OPPONENTS, np.full(169, ochs.OPPONENTS, np.uint8)),
        (OPPONENTS, np.zeros(100, np.uint8)),
    ],
)
def test_a_recipe_that_does_not_fit_is_refused(few, part, table):
    with pytest.raises(felt.FeltError, match="does not match its numbers of buckets"):
        Abstraction(few.spec, {**few.recipe, part: table})


def test_a_policy_carries_its_clusters(few, tmp_path):
    from openfelt.games.compile.betting_tree import betting_tree
    from openfelt.games.holdem import Holdem
    from openfelt.policy.holdem import quantised

    tree = betting_tree(Holdem(2, buckets=FEW), few)
    felt.save_policy(quantised(tree, np.ones(tree.num_slots)), tmp_path / "policy")
    loaded = felt.load_policy(tmp_path / "policy").tree.abstraction
    assert loaded.fingerprint == few.fingerprint
    assert {*loaded.recipe} == {*STREETS, OPPONENTS}
    assert loaded.bucket("AhKh", "Qh7h2s3c9h") == few.bucket("AhKh", "Qh7h2s3c9h")
