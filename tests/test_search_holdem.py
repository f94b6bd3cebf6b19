"""Search in hold'em against a plain twin on single hands, and in closed form, with two and three players."""

from __future__ import annotations

import math
from itertools import combinations

import numba
import numpy as np
import pytest
from slow_search import SlowHoldem, SlowSearch
from speed import slow

from openfelt.bots.search.lazy_tree import lazy_deal
from openfelt.bots.search.mcts import MctsSettings, TableModel
from openfelt.bots.search.position import OTHERS, OWN, begin_at, holdem_position
from openfelt.bots.search.searcher import HoldemSearcher
from openfelt.cards.deck import PAIR, parse_cards
from openfelt.cards.evaluator import hand_value
from openfelt.core.errors import FeltError
from openfelt.policy.rules import rule_policy
from openfelt.solve.traverse.ucb import Selection

TWO, THREE = "holdem(buckets='ehs2:169/20/20/20')", "holdem(players=3,bets=3,buckets='ehs:10/4/2/1')"
HOLE, BOARD = parse_cards("AhKd"), parse_cards("Qh7h2s9cJd")
PLAIN = MctsSettings(c=8.0)
WARM = MctsSettings(
    c=8.0, rollout="policy", selection=Selection(False, 0.1, 0.9, 0.1, 0.0), warmth=3.0, expand="random"
)
LINES = MctsSettings(c=8.0, nodes="lines")
# By players: who is to act, how many cards are on the table, the line.
SPOTS = {
    2: [
        (1, 0, []),
        (0, 3, ["raise", "call"]),
        (1, 4, ["raise", "call", "check", "check", "bet"]),
        (0, 5, ["raise", "call", *["check"] * 4]),
    ],
    3: [
        (2, 0, []),
        (0, 3, ["call", "call", "check"]),
        (2, 5, ["call", "call", "check", *["check"] * 6, "bet", "call"]),
    ],
}


@numba.njit
def begun(position, view, deal, stream):
    return begin_at(position, view, deal, stream)


@pytest.fixture(scope="module")
def trees(strengths):
    return {players: HoldemSearcher(name) for players, name in ((2, TWO), (3, THREE))}


@pytest.mark.parametrize("players", [2, slow(3)])
@pytest.mark.parametrize("settings", [PLAIN, slow(WARM), LINES], ids=["plain", "warm", "lines"])
@pytest.mark.parametrize("known", [slow(False), True])
def test_the_kernel_is_the_plain_twin(trees, players, settings, known):
    game, tree, opened = (TWO, THREE)[players - 2], trees[players].tree, trees[players].opened
    policy, model = rule_policy(tree, "random"), rule_policy(tree, "probe") if known else None
    searcher = HoldemSearcher(game, settings, policy=policy)
    beliefs = np.random.default_rng(1).random((players, 1326)) ** 4
    for seat, cards, line in SPOTS[players]:
        board, node = BOARD[:cards], tree.find_node(line)
        position = holdem_position(opened, node, seat, HOLE, board, beliefs)
        slow = SlowHoldem(tree, position, begun)
        calls = lambda at: int("fold" in tree.actions(at))  # noqa: E731
        twin = SlowSearch(slow, seat, settings, model=model, policy=policy, seed=5, calls=calls).run(150)
        asked = None if model is None else TableModel(model.weights)
        found = searcher.search(seat, HOLE, board, line, beliefs=beliefs, model=asked, iterations=150, seed=5)
        infoset = node, tree.abstraction.bucket(HOLE, board)
        root = twin.counts[node if settings.nodes == "lines" else infoset]
        assert found.visits.tolist() == [visits for visits, _ in root]
        won = [total for _, total in root]
        assert np.nan_to_num(found.values * found.visits).tolist() == pytest.approx(won)
        assert searcher.rows == len(twin.counts)


def test_hands_are_drawn_as_believed(trees):
    """Of three players, in proportion to the product of what is believed, where no card is held twice."""
    pairs = [PAIR[parse_cards(text)] for text in ("QcQd", "QcKs", "7c7d")]
    beliefs = np.zeros((3, 1326))
    beliefs[:, pairs] = [[1, 1, 1], [3, 1, 2], [1, 2, 1]]
    position = holdem_position(trees[3].opened, 0, 0, HOLE, BOARD[:3], beliefs)
    deal, stream, met = lazy_deal(3), np.array([5], np.uint64), {}
    for _ in range(20_000):
        begun(position, OWN, deal, stream)
        held = tuple(int(PAIR[deal.cards[2 * seat], deal.cards[2 * seat + 1]]) for seat in (1, 2))
        met[held] = met.get(held, 0) + 1
        assert deal.cards[:2].tolist() == sorted(HOLE)
    queens, mixed, sevens = pairs
    odds = {(queens, sevens): 3, (mixed, sevens): 1, (sevens, queens): 2, (sevens, mixed): 4}
    assert set(met) == set(odds)
    for held, weight in odds.items():
        assert met[held] / 20_000 == pytest.approx(weight / 10, abs=4 * math.sqrt(0.25 / 20_000))


def test_beliefs_that_contradict_each_other_end_in_a_deal(trees):
    """All are believed to hold the same two cards."""
    beliefs = np.zeros((3, 1326))
    beliefs[:, PAIR[parse_cards("QcQd")]] = 1.0
    position = holdem_position(trees[3].opened, 0, 0, HOLE, BOARD[:3], beliefs)
    deal, stream = lazy_deal(3), np.array([5], np.uint64)
    for view in (OWN, OTHERS):
        for _ in range(50):
            begun(position, view, deal, stream)
            assert len(set(deal.cards.tolist())) == 11


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -1.0])
def test_beliefs_that_are_none(trees, wrong):
    beliefs = np.ones((2, 1326))
    beliefs[1, 700] = wrong
    for given in (beliefs, np.zeros((2, 1326))):
        with pytest.raises(FeltError, match="Beliefs must be"):
            trees[2].search(1, HOLE, (), [], beliefs=given, iterations=1)


@pytest.mark.slow
def test_three_players_by_closed_form(trees):
    """Last of three on the river, the others call all: a bet shows down for the pot and three bets."""
    tree, hole = trees[3].tree, parse_cards("QsTs")
    line = ["call", "call", "check", *["check"] * 8]
    free = sorted(set(range(52)) - {*hole, *BOARD})
    pairs = np.array(list(combinations(free, 2)))
    values = np.array([hand_value((*pair, *BOARD)) for pair in pairs.tolist()])
    own = hand_value((*hole, *BOARD))
    bits = (1 << pairs[:, 0]) | (1 << pairs[:, 1])
    apart = (bits[:, None] & bits[None, :]) == 0
    best = np.maximum(values[:, None], values[None, :])
    ties = (values == own)[:, None].astype(int) + (values == own)[None, :]
    share = np.where(best < own, 1.0, np.where(best == own, 1.0 / (1 + ties), 0.0))[apart].mean()
    calls, folds = (rule_policy(tree, rule) for rule in ("always-call", "always-fold"))
    assert tree.actions(tree.find_node(line)) == ("check", "bet")
    searcher = HoldemSearcher(THREE, MctsSettings(c=1000.0))
    found = searcher.search(2, hole, BOARD, line, model=TableModel(calls.weights), iterations=40_000)
    assert found.visits.min() > 15_000
    for value, paid in zip(found.values, (2, 6), strict=True):
        assert value == pytest.approx(3 * paid * share - paid, abs=4 * 1.5 * paid / math.sqrt(15_000))
    searcher.forget()
    folded = searcher.search(2, hole, BOARD, line, model=TableModel(folds.weights), iterations=2_000)
    assert folded.values[1] == 4.0  # a bet takes the pot of six, of which two were its own
