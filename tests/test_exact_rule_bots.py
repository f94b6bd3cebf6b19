"""Formula bots as players of the exact engine, compared with what the bots do with dealt hands."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest
from speed import slow

from openfelt.bots.bot import Clock
from openfelt.bots.formula import strategy
from openfelt.bots.formula.strategy import STRATEGY_FEATURES, formula_player, player_on
from openfelt.bots.registry import BOTS, load_bot
from openfelt.bots.view import holdem_view, view_of
from openfelt.cards.boards import PERMUTED_PAIR, board_set, find_board
from openfelt.cards.deck import BOARD_CARDS, PAIR, PAIRS
from openfelt.cards.strength_tables import NO_HAND, StreetStrength, StrengthTables, rank_hands
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice
from openfelt.games.compile.betting_tree import CHILD, KIND, PLACE, PLAYER, betting_words
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem, bet, first_betting
from openfelt.solve.vector.betting_lines import betting_lines, street_of

GAME = Holdem()
BOARD = (40, 5, 22, 51, 17)  # Qc 3d 7h As 6d
NOTHING = np.empty((0, PAIRS))


class SomeBoards:
    """A player with the buckets of a few boards, and how to look them up."""

    def __init__(self, name, boards):
        found = [{find_board(board)[0] for board in boards if len(board) == size} for size in BOARD_CARDS]
        self.name, self.numbers = name, [np.array(sorted(some), np.int64) for some in found]
        tables = strengths_on(self.numbers)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(strategy, "strength_tables", lambda: tables)
            self.player = player_on(name, self.numbers)

    def does(self, node, hole, board):
        """The player's strategy at a decision, as kernels look it up."""
        facts, layout = self.player.betting.node[node], self.player.layout
        place = street_of(self.player.betting.node, node), int(facts[PLAYER])
        number, seen_as = find_board(board)
        row = np.searchsorted(self.numbers[place[0]], number)
        bucket = int(self.player.buckets[place[0]][row, PERMUTED_PAIR[seen_as, PAIR[tuple(hole)]]])
        first = (
            layout.slot_base[place] + layout.edges[place] * bucket + facts[PLACE] - layout.first_edge[place]
        )
        return self.player.probabilities[first : first + len(betting_words(int(facts[KIND])))].tolist()


def strengths_on(numbers):
    """HS of all hands on some boards; the others are left empty."""
    streets = []
    for size, some in zip(BOARD_CARDS, numbers, strict=True):
        cards = board_set(size).cards()
        hs = np.zeros((len(cards), PAIRS), np.uint16)
        for number in some if size else ():
            hs[number] = NO_HAND
            rank_hands(cards, hs, number, number + 1)
        streets.append(StreetStrength(hs, NOTHING, NOTHING))
    return StrengthTables(*streets)


def asked(bot, view, seed=0):
    """The action of a deterministic bot, as probabilities."""
    word = bot.act(view, Dice(seed), Clock())
    return [float(word == each) for each in view.actions]


def random_hand(generator):
    """A hand in which everybody acts at random, with few folds: the decisions, as views and nodes."""
    hand, node, found = Hand(GAME), 0, []
    tree = betting_lines(GAME.bets).node
    while hand.mover != TERMINAL:
        if hand.mover == CHANCE:
            hand.act_for_chance(generator)
            continue
        view = view_of(hand)
        found.append((view, node))
        shares = np.array([0.05 if word == "fold" else 1.0 for word in view.actions])
        action = int(generator.choice(len(shares), p=shares / shares.sum()))
        hand.act(action)
        node = int(tree[node, CHILD]) + action
    return found


def node_after(words):
    """The node of the betting tree after these words."""
    node, tree = 0, betting_lines(GAME.bets).node
    for word in words:
        node = int(tree[node, CHILD]) + betting_words(int(tree[node, KIND])).index(word)
    return node


@pytest.fixture(scope="module", params=STRATEGY_FEATURES)
def on_one_board(request):
    """On one board, street by street."""
    return SomeBoards(request.param, [BOARD[:size] for size in BOARD_CARDS])


@pytest.mark.slow
@pytest.mark.parametrize("name", [slow(name) if name == "chen" else name for name in STRATEGY_FEATURES])
def test_he_does_what_the_bot_does_in_random_hands(name):
    generator = np.random.default_rng(5)
    met = [decision for _ in range(30) for decision in random_hand(generator)]
    other = SomeBoards(name, [view.board for view, _ in met])
    bot = load_bot(name, GAME)
    streets, done = set(), set()
    for place, (view, node) in enumerate(met):
        does = other.does(node, view.hole, view.board)
        assert does == asked(bot, view, seed=place), view.infoset
        streets.add(view.street)
        done.add(view.actions[int(np.argmax(does))])
    assert len(met) > 200
    assert streets == {0, 1, 2, 3}
    assert done == {"fold", "check", "call", "bet", "raise"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["", "call check bet", "call check check check bet", "raise call" + " check" * 4 + " bet"]
)
def test_with_every_hand_on_a_board(on_one_board, line):
    """The board is not canonical, so hands are seen through a permutation of suits."""
    words = line.split()
    bot, node = load_bot(on_one_board.name, GAME), node_after(words)
    board = BOARD[: BOARD_CARDS[street_of(on_one_board.player.betting.node, node)]]
    for hole in combinations(sorted(set(range(52)) - {*board}), 2):
        view = holdem_view(GAME, 1, hole[::-1], board, words)
        assert on_one_board.does(node, hole, board) == asked(bot, view), view.infoset


@pytest.mark.slow
def test_at_every_decision_of_the_tree(on_one_board):
    """The engine queries a bot once per betting state; here it is queried after each line."""
    bot, node, count = load_bot(on_one_board.name, GAME), on_one_board.player.betting.node, 0
    walk = [(0, first_betting(2), ())]
    while walk:
        here, state, line = walk.pop()
        if node[here, PLAYER] == TERMINAL:
            continue
        board = BOARD[: BOARD_CARDS[state.street]]
        for hole in ((50, 46), (33, 28)):  # Ah Kh, Td 9c
            view = holdem_view(GAME, state.turn, hole, board, line)
            assert on_one_board.does(here, hole, board) == asked(bot, view), view.infoset
        count += 1
        for action, word in enumerate(view.actions):
            walk.append((int(node[here, CHILD]) + action, bet(state, word), (*line, word)))
    assert count == (node[:, PLAYER] >= 0).sum()


@pytest.mark.slow
def test_no_two_buckets_are_alike_and_rows_sum_to_one(on_one_board):
    player = on_one_board.player
    layout = player.layout
    for street, table in enumerate(player.buckets):
        count = int(layout.buckets[street, 0])
        assert table.dtype == np.uint16
        assert set(np.unique(table)) == set(range(count))
        rows = []
        for seat in range(2):
            first, spots = int(layout.slot_base[street, seat]), int(layout.edges[street, seat])
            rows.append(player.probabilities[first : first + count * spots].reshape(count, spots))
        assert len(np.unique(np.concatenate(rows, axis=1), axis=0)) == count
    assert len(player.probabilities) == (layout.edges * layout.buckets).sum()
    for node, (seat, kind, _, _) in enumerate(player.betting.node.tolist()):
        if seat >= 0 and street_of(player.betting.node, node) == 0:
            assert player.before_flop(node).sum(axis=1) == pytest.approx(1)
            assert player.before_flop(node).shape == (PAIRS, len(betting_words(kind)))
    assert player.probabilities.sum() == (layout.nodes * layout.buckets).sum()


@pytest.mark.slow
def test_buckets_are_few(on_one_board):
    """`ace1` raises, stays or folds; `chen` has seven thresholds of strength."""
    most = {"ace1": 3, "chen": 8}[on_one_board.name]
    assert on_one_board.player.layout.buckets.max() <= most


@pytest.mark.parametrize("name", sorted(set(BOTS) - set(STRATEGY_FEATURES)))
def test_other_bots_get_one_sentence(name):
    with pytest.raises(FeltError, match=f"ace1 and chen.*; {re.escape(name)} does not"):
        formula_player(name)


def test_a_bot_that_there_is_not_gets_one_sentence():
    with pytest.raises(FeltError, match=r"There is no bot 'chem' .*did you mean 'chen'"):
        formula_player("chem")
