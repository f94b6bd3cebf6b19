"""Re-solving the river: buckets and ranges against slow twins, the gadget's guarantee, the bot."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import openfelt as felt
from openfelt.arena.match import match
from openfelt.bots.bot import Clock
from openfelt.bots.policy_bot import policy_bot
from openfelt.bots.registry import load_bot
from openfelt.bots.resolve.blueprint import Blueprint, ranges_after
from openfelt.bots.resolve.subgame import Subgame, SubgameRoot, resolve
from openfelt.bots.resolver import Resolver
from openfelt.bots.view import holdem_view
from openfelt.cards.abstraction.abstraction import load_abstraction
from openfelt.cards.abstraction.board_buckets import BoardBuckets
from openfelt.cards.deck import BOARD_CARDS, PAIR_CARDS, PAIRS, RIVER, pair_number, parse_cards
from openfelt.cards.evaluator import hand_values
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice
from openfelt.games.compile.betting_tree import PLAYER
from openfelt.games.holdem import Holdem, bet, first_betting
from openfelt.solve.traverse.conditional_deals import pairs_without
from openfelt.spots.solver import Budget

pytestmark = pytest.mark.true_board_buckets

HOLDEM = Holdem(2)
CHECKED = "call check check check check check"  # to the river
# Betting lines to the river, with boards: small and large pots, either player in the lead.
SPOTS = {
    "checked": (CHECKED, "Td9d6h2s3c"),
    "raised": ("raise call check bet call check check", "Qs9h6hJdKc"),
    "three bets": ("raise raise call bet call check bet call", "8dQs3c3d8c"),
    "capped": ("raise raise raise call bet raise call bet call", "5h8cTh2s9d"),
}
TOLERANCE = 0.03  # chips


@cache
def default():
    return felt.load_policy("default")


@cache
def blueprint():
    return Blueprint(default())


def river_root(line, board):
    """The subgame after a line by the ranges of the default policy."""
    words, cards = tuple(line.split()), parse_cards(board)
    betting = first_betting(2)
    for word in words:
        betting = bet(betting, word)
    assert betting.street == RIVER
    tree, both = default().tree, [[blueprint()] * 4] * 2
    ranges = ranges_after(tree, words, cards, both)
    return Subgame(tree, SubgameRoot(cards, tree.find_node(words), sum(betting.paid)), ranges)


# Buckets and ranges


@pytest.mark.true_buckets
@pytest.mark.parametrize("board", ["", "Td9d6h", "AdKdQd2h", "8dQs3c3d8c"])
@pytest.mark.parametrize("name", ["default", "ehs:10"])
def test_buckets_of_a_board_are_those_of_its_hands(name, board):
    abstraction = default().tree.abstraction if name == "default" else load_abstraction(name)
    cards = parse_cards(board)
    found = BoardBuckets(abstraction).of(cards)
    free = np.flatnonzero(pairs_without(cards))
    for pair in np.random.default_rng(1).choice(free, 12, replace=False):
        assert found[pair] == abstraction.bucket(tuple(PAIR_CARDS[pair].tolist()), cards)
    assert not found[np.setdiff1d(np.arange(PAIRS), free)].any()


@pytest.mark.true_buckets
def test_a_range_is_the_product_of_the_probabilities_of_its_hands():
    words, cards = SPOTS["raised"][0].split(), parse_cards(SPOTS["raised"][1])
    ranges = ranges_after(default().tree, words, cards, [[blueprint()] * 4] * 2)
    for seat, pairs in ((0, ("AhKh", "7h7c", "Td9d")), (1, ("AsAd", "8h8c", "Tc9c"))):
        likely = []
        for hole in pairs:
            chance, board = 1.0, ""
            for number, word in enumerate(words):
                view = holdem_view(HOLDEM, seat, parse_cards(hole), (), words[:number])
                board = SPOTS["raised"][1][: 2 * BOARD_CARDS[view.betting.street]]
                if view.betting.turn == seat:
                    infoset = f"{hole} {board} {' '.join(words[:number])}"
                    chance *= default().at(seat, infoset)[word]
            likely.append(chance)
        found = ranges[seat, [pair_number(parse_cards(hole)) for hole in pairs]]
        assert ranges[seat].max() == pytest.approx(1.0)
        assert found * max(likely) == pytest.approx(np.array(likely) * found.max())


def test_an_action_that_no_hand_takes_is_ignored():
    class NeverRaises:
        def at(self, node, board):
            return np.repeat([[0.0], [1.0], [0.0]], PAIRS, axis=1)[: len(default().tree.actions(node))]

    ranges = ranges_after(default().tree, ["raise"], (), [[NeverRaises()] * 4] * 2)
    assert (ranges == 1.0).all()


# Safety


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("spot", SPOTS)
def test_no_hand_of_the_opponent_gains_by_re_solving(spot, seat):
    solved = resolve(river_root(*SPOTS[spot]), seat, blueprint(), Budget(600))
    assert solved.excess < TOLERANCE
    assert solved.mean_excess < TOLERANCE / 10
    assert solved.gain >= 0.0


def test_unsafe_re_solving_gains_more_against_the_range_and_exposes_other_hands():
    subgame = river_root(*SPOTS["three bets"])
    safe = resolve(subgame, 1, blueprint(), Budget(600))
    unsafe = resolve(subgame, 1, blueprint(), Budget(600), safe=False)
    assert unsafe.gain > safe.gain > 0.01
    assert unsafe.excess > 10 * TOLERANCE


def test_too_small_a_budget_keeps_the_blueprint():
    solved = resolve(river_root(*SPOTS["checked"]), 0, blueprint(), Budget(1))
    assert solved.strategy is blueprint()
    assert (solved.values == solved.limits).all()


def test_best_response_values_of_the_blueprint_agree_with_a_plain_traversal():
    """Against a slow twin: every hand of the opponent against every hand of the range, node by node."""
    subgame = river_root(*SPOTS["raised"])
    solved = resolve(subgame, 0, blueprint(), Budget(1))
    pairs = np.flatnonzero(subgame.ranges[1])
    for place in (0, 300, 700, 1000):
        assert solved.limits[place] == pytest.approx(
            plain_best_response(subgame, int(pairs[place])), abs=1e-3
        )


def plain_best_response(subgame, pair):
    """What a hand of seat 1 gets at most against the blueprint of seat 0, in chips."""
    tree, board, pot = subgame.tree, subgame.root.board, subgame.root.pot
    reach = subgame.ranges[0] * pairs_without(tuple(PAIR_CARDS[pair].tolist()))
    hands = np.concatenate([PAIR_CARDS, np.tile(board, (PAIRS, 1))], axis=1).astype(np.uint8)
    strength = hand_values(hands).astype(np.int64)
    outcome = np.sign(strength[pair] - strength)

    def value(node, paid, reach):
        player, actions = int(tree.node[node, PLAYER]), tree.actions(node)
        found = []
        for number, word in enumerate(actions):
            own = reach if player else reach * blueprint().at(node, board)[number]
            after = list(paid)
            after[player] = max(paid) if word != "fold" else paid[player]
            after[player] += 4 if word in ("bet", "raise") else 0
            child = tree.child(node, number)
            if word == "fold":
                won = (pot / 2 + min(paid)) * (1 if player == 0 else -1)
                found.append(won * own.sum())
            elif tree.node[child, PLAYER] < 0:
                found.append((pot / 2 + after[0]) * (own @ outcome))
            else:
                found.append(value(child, after, own))
        return max(found) if player else sum(found)

    return value(subgame.root.node, [0, 0], reach) / reach.sum()


# The bot


def made(iterations=60, seconds=math.inf):
    return Resolver(HOLDEM, default(), Budget(iterations, seconds))


@cache
def resolver():
    return made()


def view_on_river(line, *, seat, hole="AhKd", board=SPOTS["checked"][1]):
    return holdem_view(HOLDEM, seat, parse_cards(hole), parse_cards(board), f"{CHECKED} {line}".split())


@pytest.mark.true_buckets
def test_before_the_river_it_plays_the_blueprint():
    line = ["raise", "call"]
    view = holdem_view(HOLDEM, 0, parse_cards("AhKd"), parse_cards("Td9d6h"), line)
    expected = policy_bot(default(), HOLDEM).think(view).probabilities
    assert resolver().think(view).probabilities == pytest.approx(expected)
    assert resolver().solution(view) is None


def test_a_street_is_solved_once_for_all_hands_and_decisions():
    first, later = view_on_river("", seat=0), view_on_river("check bet", seat=0, hole="7c7h")
    assert resolver().solution(first) is resolver().solution(later)
    assert sum(resolver().think(later).probabilities) == pytest.approx(1.0)


@pytest.mark.true_buckets
def test_the_same_iterations_give_the_same_strategy():
    view = view_on_river("bet", seat=1)
    again = made()
    assert resolver().think(view).probabilities == again.think(view).probabilities


def test_the_clock_ends_the_iterations():
    bot, view = made(10**9, 3600), view_on_river("bet", seat=1)
    assert bot.act(view, Dice(1), Clock(1.0)) in view.actions  # and not after an hour
    assert bot.solution(view).iterations > 0


@pytest.mark.true_buckets
def test_without_time_it_plays_the_blueprint():
    bot = made()
    view = view_on_river("bet", seat=1)
    assert bot.act(view, Dice(1), Clock(0.001)) in view.actions
    assert bot.solution(view) is None
    assert bot.think(view).probabilities == pytest.approx(
        policy_bot(default(), HOLDEM).think(view).probabilities
    )


@pytest.mark.parametrize("opponent", ["always-raise", "always-call", "random"])
def test_it_plays_a_match_without_faults(opponent):
    bots = made(3), load_bot(opponent, HOLDEM)
    result = match(*bots, game=HOLDEM, hands=40, seed=2, strict=True)
    assert result.hands == 40


@pytest.mark.parametrize(
    ("name", "game", "message"),
    [
        ("resolver(streets='flop')", "holdem", "'turn' or 'river'"),
        ("resolver(seconds=-1)", "holdem", "from 0 up"),
        ("resolver(c=2)", "holdem", "no parameter 'c'"),
        ("resolver", "holdem(players=3)", "two-player"),
        ("resolver", "leduc", "limit hold'em"),
    ],
)
def test_wrong_parameters_and_games_are_refused(name, game, message):
    with pytest.raises(FeltError, match=message):
        load_bot(name, game)


def test_names_have_parameters():
    bot = load_bot("resolver(iterations=7,safe=False)", HOLDEM)
    assert (bot.budget, bot.first_street, bot.safe) == (Budget(7), RIVER, False)
    assert bot.policy.fingerprint == default().fingerprint
    with pytest.raises(FeltError, match="at least one iteration"):
        made(0)
