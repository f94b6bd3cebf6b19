"""Online search: against a plain twin and exact best responses, in arrays of fixed size; the bot by it."""

from __future__ import annotations

import math
from itertools import combinations

import numba
import numpy as np
import pytest
from slow_search import SlowSearch, SlowTree
from speed import fast_only, slow

import openfelt as felt
from openfelt.bots.bot import Clock
from openfelt.bots.registry import load_bot
from openfelt.bots.search.lazy_tree import BOARDS, PERMUTATIONS, PLACED, lazy_deal
from openfelt.bots.search.mcts import BY_VISITS, UNIFORM, Mcts, MctsSettings, TableModel
from openfelt.bots.search.position import OTHERS, OWN, begin_at, holdem_position
from openfelt.bots.search.search_tree import FULL, USED, find, forget, new_memory, take
from openfelt.bots.search.searcher import HoldemSearcher, TreeSearcher
from openfelt.bots.search_bot import MctsBot
from openfelt.bots.view import holdem_view
from openfelt.cards.deck import PAIR, parse_cards
from openfelt.cards.evaluator import hand_value
from openfelt.core.errors import FeltError
from openfelt.core.jit import episode_kernel
from openfelt.core.random import Dice
from openfelt.games.compile.compiler import compile_game
from openfelt.measure.exploitability import best_response, exploitability
from openfelt.policy.rules import rule_policy, rule_table
from openfelt.policy.tabular import TabularPolicy
from openfelt.solve.traverse.holdem import (
    BOARD,
    BOUND,
    DRAWN,
    DRAWS,
    OUT,
    PERMUTATION,
    SHOWN,
    STREET,
    new_deal,
)
from openfelt.solve.traverse.ucb import Selection

SMALL = "holdem(buckets='ehs2:169/20/20/20')"
C = {"kuhn": 4.0, "leduc": 20.0}  # about the range of payoffs; with a third of that, Leduc gets stuck


def test_no_two_facts_of_a_deal_share_a_place():
    """Also in a game that is restricted and searched, where both add places of their own."""
    by_street = [BOARDS + street for street in range(4)] + [PERMUTATIONS + street for street in range(4)]
    common = [STREET, BOARD, PERMUTATION, DRAWN, DRAWS, OUT, SHOWN, BOUND]
    places = [*common, *by_street, PLACED]
    assert sorted(places) == list(range(len(lazy_deal(2).at)))
    assert sorted(common) == list(range(len(new_deal(2).at)))


# The tree of the search


@episode_kernel
def find_entry(memory, slot):
    return find(memory, slot)


@episode_kernel
def take_entry(memory, slot, at):
    return take(memory, slot, at)


def test_memory_is_a_dictionary():
    memory, twin = new_memory(500, 3), {}
    generator = np.random.default_rng(1)
    for _ in range(3):  # ages
        for slot in generator.integers(0, 1 << 40, 2_000).tolist():
            at = find_entry(memory, slot)
            assert (at >= 0) == (slot in twin)
            if at < 0 and take_entry(memory, slot, -1 - at):
                twin[slot] = -1 - at
                assert (memory.counts[twin[slot] + 1 : twin[slot] + 4] == 0).all()
                memory.counts[twin[slot] + 3] = slot, 1
        assert len(twin) == memory.state[USED] == int(memory.places * FULL)
        for slot, at in twin.items():
            assert find_entry(memory, slot) == at
            assert memory.counts[at + 3].tolist() == [slot, 1]
        forget(memory)
        assert all(find_entry(memory, slot) < 0 for slot in twin)
        twin.clear()


@pytest.mark.parametrize("ways", [1, 3, 4, 20])
def test_a_row_begins_a_line_of_the_cache(ways):
    memory = new_memory(100, ways)
    assert memory.counts.ctypes.data % 64 == 0
    assert memory.entries * 16 % 64 == 0
    assert ways + 1 <= memory.entries <= ways + 4


@pytest.mark.slow
def test_a_full_tree_grows_no_more():
    searcher = TreeSearcher("leduc", rows=20)
    searcher.search(0, iterations=2_000)
    assert searcher.rows <= 20 / FULL * 2
    assert searcher.search(0, iterations=100).visits.sum() >= 100  # it began anew, with room for the row


# The algorithm


SMOOTH_SLOWLY = Selection(False, 0.1, 0.9, 0.1, 0.0)
WAYS = {
    "plain": MctsSettings(c=4.0, rollout=UNIFORM),
    "random": MctsSettings(c=4.0, rollout=UNIFORM, expand="random"),
    "smooth": MctsSettings(c=4.0, rollout=UNIFORM, selection=SMOOTH_SLOWLY),
    "warm": MctsSettings(c=4.0, rollout="policy", selection=SMOOTH_SLOWLY, warmth=7.0),
}


def check_rows(found, searcher, twin, row):
    assert found.visits.tolist() == [visits for visits, _ in twin.counts[row]]
    won = [total for _, total in twin.counts[row]]
    assert np.nan_to_num(found.values * found.visits).tolist() == pytest.approx(won)
    assert searcher.rows == len(twin.counts)


@pytest.mark.parametrize("name", [slow("kuhn"), "leduc", slow("kuhn(players=3)"), slow("leduc(players=3)")])
@pytest.mark.parametrize("known", [slow(False), True])
@pytest.mark.parametrize("way", fast_only(("plain",), WAYS))
def test_the_kernel_is_the_plain_twin(name, known, way):
    tree, settings = compile_game(name), WAYS[way]
    model = TabularPolicy(tree, rule_table(tree, "probe")) if known else None
    policy = TabularPolicy(tree, rule_table(tree, "random"))
    for row in (0, tree.num_rows // 3, tree.num_rows - 1):
        searcher = TreeSearcher(name, settings, opponent=model, policy=policy)
        slow = SlowTree(tree, row, searcher.likely(row))
        twin = SlowSearch(slow, tree.row_player(row), settings, model=model, policy=policy, seed=7)
        found = searcher.search(row, iterations=400, seed=7)
        check_rows(found, searcher, twin.run(400), row)


@pytest.mark.parametrize(
    ("name", "rule"), [("kuhn", "random"), slow("leduc", "random"), slow("leduc", "probe")]
)
def test_it_converges_to_the_best_response(name, rule):
    tree = compile_game(name)
    opponent = TabularPolicy(tree, rule_table(tree, rule))
    for seat in range(2):
        best = best_response(opponent, seat).value
        short = [best - worth(name, opponent, seat, iterations) for iterations in (30, 1_000_000)]
        assert short[0] > 0.01 or name == "kuhn"
        assert -1e-9 <= short[1] <= 0.01


def worth(name, opponent, seat, iterations):
    """What a searcher wins if it follows the result of its first search."""
    tree = opponent.tree
    table = opponent.probabilities.copy()
    settings = MctsSettings(c=C[name], rollout=UNIFORM, pick=BY_VISITS)
    searcher = TreeSearcher(name, settings, opponent=opponent)
    rows = range(*tree.rows.first_row[seat : seat + 2].tolist())
    for row in (row for row in rows if len(tree.row_name(row).split()) <= 1 + seat):
        searcher.search(row, iterations=iterations)
    picks = searcher.picks()
    for row in rows:
        if picks[row] >= 0:
            slots = tree.slots(row)
            table[slots] = 0.0
            table[slots.start + picks[row]] = 1.0
    return exploitability(TabularPolicy(tree, table)).values[seat]


# Hold'em


@pytest.fixture(scope="module")
def searcher(strengths):
    return HoldemSearcher(SMALL, MctsSettings(c=8.0))


@numba.njit
def begun(position, view, deal, stream):
    return begin_at(position, view, deal, stream)


def test_deals_continue_from_known_cards(searcher):
    hole, board = parse_cards("AhKh"), parse_cards("Qh7h2s")
    beliefs = np.zeros((2, 1326))
    beliefs[0] = 1.0
    pairs = [PAIR[parse_cards(text)] for text in ("QcQd", "AhAd", "7c7d")]
    beliefs[1, pairs] = 1.0, 5.0, 3.0  # the ace of hearts is taken, in the searcher's own view
    node = searcher.tree.find_node(["raise", "call"])
    position = holdem_position(searcher.opened, node, 0, hole, board, beliefs)
    seen = {OWN: [], OTHERS: []}
    for number in range(3_000):
        for view, found in seen.items():
            deal, stream = lazy_deal(2), np.array([number * 7919 + view], np.uint64)
            assert begun(position, view, deal, stream) == node
            found.append(deal.cards.tolist())
    own = np.array(seen[OWN])
    assert (own[:, :2] == sorted(hole)).all()
    assert (own[:, 4:7] == board).all()
    share = np.mean((own[:, 2:4] == sorted(parse_cards("7c7d"))).all(axis=1))
    assert share == pytest.approx(0.75, abs=4 * math.sqrt(0.75 * 0.25 / 3_000))
    others = np.array(seen[OTHERS])
    assert len({tuple(pair) for pair in others[:, :2].tolist()}) > 800
    assert all(len(set(cards)) == 9 for cards in own.tolist() + others.tolist())


def test_it_folds_what_is_beaten_and_raises_what_beats_all(searcher):
    line = ["raise", "call", "check", "check", "check", "check", "bet"]
    board = parse_cards("AhKhQhJh2c")
    royal = searcher.search(1, parse_cards("Th3d"), board, line, iterations=20_000)
    actions = searcher.tree.actions(searcher.tree.find_node(line))
    assert actions[royal.picked] == "raise"
    sure = np.zeros((2, 1326))
    sure[1] = 1.0
    sure[0, PAIR[parse_cards("Th9h")]] = 1.0  # the opponent is known to hold the straight flush
    beaten = searcher.search(1, parse_cards("3s3d"), board, line, beliefs=sure, iterations=20_000)
    assert actions[beaten.picked] == "fold"
    assert beaten.values[0] == -4.0


def test_values_against_one_who_always_calls_are_exact(searcher):
    """On the river, last to act: a check shows down for the pot, a bet for the pot and two bets."""
    hole, board = parse_cards("9s8s"), parse_cards("9h7h2sKdAc")
    line = ["call", "check", *["check"] * 5]
    others = list(combinations(set(range(52)) - {*hole, *board}, 2))
    own = hand_value((*hole, *board))
    values = np.array([hand_value((*pair, *board)) for pair in others])
    share = np.mean((values < own) + 0.5 * (values == own))
    calls = rule_policy(searcher.tree, "always-call")
    settings = MctsSettings(c=1000.0, rollout="policy", expand="random")
    player = HoldemSearcher(SMALL, settings, policy=calls)
    found = player.search(1, hole, board, line, model=TableModel(calls.weights), iterations=40_000)
    assert searcher.tree.actions(searcher.tree.find_node(line)) == ("check", "bet")
    assert found.visits.min() > 15_000
    for value, paid in zip(found.values, (2, 6), strict=True):
        assert value == pytest.approx(2 * paid * share - paid, abs=4 * paid / math.sqrt(15_000))


def test_the_search_tree_is_reused_within_a_hand(searcher):
    hole = parse_cards("JsTs")
    first = searcher.search(1, hole, (), [], iterations=5_000)
    assert first.visits.sum() >= 5_000
    later = searcher.search(1, hole, (), ["raise", "raise"], iterations=1)
    assert later.visits.sum() > 2
    again = searcher.search(1, parse_cards("9s8s"), (), ["raise", "raise"], iterations=1)
    assert again.visits.sum() <= 2


def test_the_same_seed_finds_the_same(searcher):
    hole, board, line = parse_cards("JsTs"), parse_cards("Qs2d3c"), ["raise", "call"]
    found = []
    for seed in (1, 1, 2):
        searcher.forget()
        found.append(searcher.search(0, hole, board, line, iterations=3_000, seed=seed).values.tolist())
    assert found[0] == found[1] != found[2]


def test_bad_input():
    with pytest.raises(FeltError, match="must be above 0"):
        MctsSettings(c=0)
    with pytest.raises(FeltError, match="There is no rollout 'best'"):
        MctsSettings(rollout="best")
    with pytest.raises(FeltError, match="by value or by visits or by average, not by 'luck'"):
        MctsSettings(pick="luck")
    with pytest.raises(FeltError, match="are infosets or lines, not 'trees'"):
        MctsSettings(nodes="trees")
    with pytest.raises(FeltError, match="is for hold'em"):
        TreeSearcher("kuhn", MctsSettings(nodes="lines"))
    with pytest.raises(FeltError, match="need a policy"):
        Mcts(8, 2, 3, settings=MctsSettings(rollout="policy"))
    with pytest.raises(FeltError, match="a number of iterations, or seconds"):
        TreeSearcher("kuhn").search(0)
    with pytest.raises(FeltError, match="plays limit hold'em, not leduc"):
        HoldemSearcher("leduc")
    assert felt.load_game("kuhn")


# The bot


def test_the_bot_plays_every_kind_of_game_and_wins_from_random():
    for name, hands in (("kuhn", 400), ("leduc", 400), ("leduc(players=3)", 60)):
        game = felt.load_game(name)
        bot = MctsBot(game, MctsSettings(c=4.0, rollout=UNIFORM), iterations=300)
        others = [load_bot("random", game) for _ in range(game.players - 1)]
        score = felt.match(bot, *others, hands=hands, seed=1).scores[0]
        assert score.stats.faults == {"late": 0, "error": 0, "illegal": 0}
        if name == "leduc":
            assert score.won.mean > 2 * score.won.error


def test_the_bot_keeps_its_clock(searcher):
    game = felt.load_game(SMALL)
    bot = MctsBot(game)
    view = holdem_view(game, 1, parse_cards("JsTs"), (), [])
    bot.search(view)  # compiles
    assert bot.search(view, clock=Clock(5.0)).iterations > 1
    late = Clock(0.0)
    assert bot.act(view, Dice(1), late) in view.actions  # it names one, though there is no time at all
