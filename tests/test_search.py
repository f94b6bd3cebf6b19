"""Online search: against a plain twin and exact best responses, in arrays of fixed size; the bot by it."""

from __future__ import annotations

import math
from itertools import combinations

import numba
import numpy as np
import pytest

import openfelt as felt
from openfelt.base.errors import FeltError
from openfelt.base.random import ITERATION_DRAWS, Dice, Numbers, starts
from openfelt.bots.bot import Clock
from openfelt.bots.mcts import MctsBot
from openfelt.bots.registry import load_bot
from openfelt.bots.view import holdem_view
from openfelt.cards.deck import PAIR, parse_cards
from openfelt.cards.evaluator import hand_value
from openfelt.compile.compiler import compile_game
from openfelt.evaluate.exploitability import best_response, exploitability
from openfelt.policy.any_policy import rule_table
from openfelt.policy.holdem_policy import rule_policy
from openfelt.policy.policy import Policy
from openfelt.rules.game import CHANCE
from openfelt.search.mcts import BY_VISITS, UNIFORM, Mcts, MctsSettings, TableModel
from openfelt.search.memory import FULL, find, forget, new_memory, take
from openfelt.search.position import OTHERS, OWN, begin_at, holdem_position
from openfelt.search.searcher import HoldemSearcher, TreeSearcher
from openfelt.traverse.betting import new_deal
from openfelt.traverse.enumerated import episode_tree

SMALL = "holdem(buckets='ehs2:169/20/20/20')"
C = {"kuhn": 4.0, "leduc": 20.0}  # about the range of payoffs; with a third of that, Leduc gets stuck


# The tree of the search


def test_memory_is_a_dictionary():
    memory, twin = new_memory(500, 3), {}
    generator = np.random.default_rng(1)
    for slot in generator.integers(0, 1 << 40, 2_000).tolist():
        place = find(memory, slot)
        assert (place >= 0) == (slot in twin)
        if place < 0 and take(memory, slot, -1 - place):
            twin[slot] = -1 - place
            memory.counts[3 * twin[slot]] = slot, 1
    assert len(twin) == memory.used[0] == int(len(memory.key) * FULL)
    for slot, place in twin.items():
        assert find(memory, slot) == place
        assert memory.counts[3 * place].tolist() == [slot, 1]
    forget(memory)
    assert all(find(memory, slot) < 0 for slot in twin)


def test_a_full_tree_grows_no_more():
    searcher = TreeSearcher("leduc", rows=20)
    searcher.search(0, iterations=2_000)
    assert searcher.rows <= 20 / FULL * 2
    assert searcher.search(0, iterations=100).visits.sum() >= 2_000


# The algorithm


class SlowSearch:
    """Algorithm 1 of PGC10 on a tree of objects, with the same random numbers."""

    def __init__(self, tree, seat, row, policy, c, seed):
        self.tree, self.seat, self.c = tree, seat, c
        self.policy = policy
        self.first = [n for n in range(tree.num_nodes) if self._row(n) == row]
        self.counts: dict[int, list[list[float]]] = {}
        self.start = int(starts(seed, 1)[0])
        self.alias = episode_tree(tree)

    def _row(self, node):
        return int(self.tree.nodes.row[node]) if self.tree.nodes.player[node] >= 0 else -1

    def run(self, iterations, likely):
        summed = np.cumsum(likely) / np.sum(likely)
        for number in range(iterations):
            luck = Numbers(self.start, number * ITERATION_DRAWS)
            place = luck.uniform()
            self.play(self.first[next(k for k, total in enumerate(summed) if total > place)], luck, OWN)
            if self.policy is None:
                self.play(self.settle(0, luck), luck, OTHERS)

    def settle(self, node, luck):
        nodes = self.tree.nodes
        while nodes.player[node] == CHANCE:
            column = luck.uniform() * nodes.num_children[node]
            way = int(column)
            entry = nodes.row[node] + way
            if column - way >= self.alias.share[entry]:
                way = int(self.alias.other[entry])
            node = int(nodes.first_child[node]) + way
        return node

    def play(self, node, luck, view):
        nodes, outside, path = self.tree.nodes, set(), []
        while nodes.player[node] >= 0:
            player, row = int(nodes.player[node]), self._row(node)
            ways = int(nodes.num_children[node])
            if player != self.seat and self.policy is not None:
                place, action = luck.uniform(), 0
                for share in self.policy.row(row)[:-1]:
                    place -= share
                    action += place >= 0
            elif player in outside:
                action = int(luck.uniform() * ways)
            else:
                learns = view == OTHERS or player == self.seat
                if row in self.counts:
                    action = self.bandit(self.counts[row])
                else:
                    action = int(luck.uniform() * ways)
                    outside.add(player)
                    if learns:
                        self.counts[row] = [[0, 0.0] for _ in range(ways)]
                if learns:
                    path.append((row, action, player))
            node = self.settle(int(nodes.first_child[node]) + action, luck)
        for row, action, player in path:
            self.counts[row][action][0] += 1
            self.counts[row][action][1] += float(nodes.payoffs[nodes.row[node], player])

    def bandit(self, arms):
        total = sum(visits for visits, _ in arms)
        bounds = [
            math.inf if not visits else (won + self.c * math.sqrt(math.log(total) * visits)) / visits
            for visits, won in arms
        ]
        return bounds.index(max(bounds))


@pytest.mark.parametrize("name", ["kuhn", "leduc", "kuhn(players=3)"])
@pytest.mark.parametrize("known", [False, True])
def test_the_kernel_is_the_plain_twin(name, known):
    tree = compile_game(name)
    policy = Policy(tree, rule_table(tree, "probe")) if known else None
    for row in (0, tree.num_rows // 3, tree.num_rows - 1):
        seat = tree.row_player(row)
        searcher = TreeSearcher(name, MctsSettings(c=4.0, rollout=UNIFORM), opponent=policy)
        twin = SlowSearch(tree, seat, row, policy, 4.0, seed=7)
        found = searcher.search(row, iterations=400, seed=7)
        likely = searcher.likely(row)
        twin.run(400, likely)
        assert found.visits.tolist() == [visits for visits, _ in twin.counts[row]]
        won = [total for _, total in twin.counts[row]]
        assert np.nan_to_num(found.values * found.visits).tolist() == pytest.approx(won)
        assert searcher.rows == len(twin.counts)


@pytest.mark.parametrize(("name", "rule"), [("kuhn", "random"), ("leduc", "random"), ("leduc", "probe")])
def test_it_converges_to_the_best_response(name, rule):
    tree = compile_game(name)
    opponent = Policy(tree, rule_table(tree, rule))
    for seat in range(2):
        best = best_response(name, opponent, seat).value
        short = [best - worth(name, opponent, seat, iterations) for iterations in (30, 1_000_000)]
        assert short[0] > 0.01 or name == "kuhn"
        assert -1e-9 <= short[1] <= 0.01


def worth(name, opponent, seat, iterations):
    """What the searcher wins who plays on by what he found at his first decision."""
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
    return exploitability(name, Policy(tree, table)).values[seat]


# Hold'em


@pytest.fixture(scope="module")
def searcher(strengths):
    return HoldemSearcher(SMALL, MctsSettings(c=8.0))


@numba.njit
def begun(position, view, deal, stream):
    return begin_at(position, view, deal, stream)


def test_deals_go_on_from_what_is_known(searcher):
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
            deal, stream = new_deal(2), np.array([number * 7919 + view], np.uint64)
            assert begun(position, view, deal, stream) == node
            found.append(deal.cards[:7].tolist())
    own = np.array(seen[OWN])
    assert (own[:, :2] == sorted(hole)).all()
    assert (own[:, 4:] == board).all()
    share = np.mean((own[:, 2:4] == sorted(parse_cards("7c7d"))).all(axis=1))
    assert share == pytest.approx(0.75, abs=4 * math.sqrt(0.75 * 0.25 / 3_000))
    others = np.array(seen[OTHERS])
    assert len({tuple(pair) for pair in others[:, :2].tolist()}) > 800
    assert all(len(set(cards)) == 7 for cards in others.tolist())


def test_it_folds_what_is_beaten_and_raises_what_beats_all(searcher):
    line = ["raise", "call", "check", "check", "check", "check", "bet"]
    board = parse_cards("AhKhQhJh2c")
    royal = searcher.search(1, parse_cards("Th3d"), board, line, iterations=20_000)
    actions = searcher.tree.actions(searcher.tree.find_node(line))
    assert actions[royal.picked] == "raise"
    sure = np.zeros((2, 1326))
    sure[1] = 1.0
    sure[0, PAIR[parse_cards("Th9h")]] = 1.0  # he is known to hold the straight flush
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
    player = HoldemSearcher(SMALL, MctsSettings(c=1000.0, rollout="policy"), policy=calls)
    found = player.search(1, hole, board, line, model=TableModel(calls.weights), iterations=40_000)
    assert searcher.tree.actions(searcher.tree.find_node(line)) == ("check", "bet")
    assert found.visits.min() > 15_000
    for value, paid in zip(found.values, (2, 6), strict=True):
        assert value == pytest.approx(2 * paid * share - paid, abs=4 * paid / math.sqrt(15_000))


def test_the_tree_is_kept_within_a_hand(searcher):
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
    with pytest.raises(FeltError, match="by value or by visits"):
        MctsSettings(pick="luck")
    with pytest.raises(FeltError, match="need a policy"):
        Mcts(8, 2, 3, settings=MctsSettings(rollout="policy"))
    with pytest.raises(FeltError, match="a number of iterations, or seconds"):
        TreeSearcher("kuhn").search(0)
    with pytest.raises(FeltError, match="not for leduc"):
        HoldemSearcher("leduc")
    assert felt.load_game("kuhn")


# The bot


def test_the_bot_plays_every_kind_of_game_and_wins_from_random():
    for name, hands in (("kuhn", 400), ("leduc", 400), ("leduc(players=3)", 60)):
        game = felt.load_game(name)
        bot = MctsBot(game, MctsSettings(c=4.0, rollout=UNIFORM), iterations=300)
        others = [load_bot("random", game) for _ in range(game.players - 1)]
        score = felt.match(bot, *others, hands=hands, seed=1).scores[0]
        assert score.conduct.faults == {"late": 0, "error": 0, "illegal": 0}
        if name == "leduc":
            assert score.won.mean > 2 * score.won.error


def test_the_bot_keeps_its_clock(searcher):
    game = felt.load_game(SMALL)
    bot = MctsBot(game)
    view = holdem_view(game, 1, parse_cards("JsTs"), (), [])
    bot.search(view, seconds=5.0)  # compiles
    found = bot.search(view, seconds=0.05)
    assert found.seconds <= 0.05
    assert found.iterations > 100
    late = Clock(0.0)
    assert bot.act(view, Dice(1), late) in view.actions  # it names one, though there is no time at all
