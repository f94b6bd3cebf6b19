"""The players by formulas: the papers' facts, Chen's examples, phevaluator, and a slow twin."""

from __future__ import annotations

import bisect
import itertools
import random

import numpy as np
import pytest
from phevaluator import evaluate_cards
from speed import slow

import openfelt as felt
from openfelt.bots.bot import Clock
from openfelt.bots.formula.ace1 import TO_RAISE, TO_STAY, card_sum
from openfelt.bots.formula.chen import chen_score
from openfelt.bots.formula.poki_like import (
    BettingStrategy,
    GenericOpponent,
    PokiLike,
    income_rate,
    last_raiser,
    rise,
)
from openfelt.bots.formula.weighted_hands import (
    NO_PLACE,
    board_hands,
    hand_potential,
    hole_ranks,
    reweight,
    strength_now,
)
from openfelt.bots.registry import load_bot
from openfelt.bots.view import HoldemView, holdem_view
from openfelt.cards.deck import (
    BOARD_CARDS,
    CARDS,
    PAIR_CARDS,
    PAIRS,
    PREFLOP,
    RANKS,
    RIVER,
    card_text,
    pair_class,
    pair_number,
    parse_cards,
)
from openfelt.cards.evaluator import hand_value
from openfelt.cards.strength import hand_strength
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice
from openfelt.games.holdem import BIG_BLIND, Holdem, bet, betting_actions, is_over, players_in

FORMULA_BOTS = ("ace1", "chen", "poki-like")
BOARDS = ("3h4cJh", "9d6c2d", "KsKdKh", "3h4cJhJd", "8s9sTs2s", "2c7d9hJsAc", "TsJsQsKsAs")


def act(bot, view, seed=0):
    return bot.act(view, Dice(seed), Clock())


def see(hole, board="", line="", *, players=2):
    """The view of whoever is to act after a line."""
    game, words = Holdem(players), tuple(line.split())
    seat = HoldemView(game, 0, (), (), (), words).betting.turn
    return holdem_view(game, seat, parse_cards(hole), parse_cards(board), words)


def play_hand(game, cards, act_for):
    """Play one hand; gives the views that were asked for an action, and the chips won by seat."""
    holes = [tuple(cards[2 * seat : 2 * seat + 2]) for seat in range(game.players)]
    board = tuple(cards[2 * game.players :][:5])
    betting, line, views = game.start().betting, (), []
    while not is_over(betting):
        dealt = board[: BOARD_CARDS[betting.street]]
        view = HoldemView(game, betting.turn, betting_actions(betting), holes[betting.turn], dealt, line)
        word = act_for(view)
        assert word in view.actions
        views.append(view)
        betting, line = bet(betting, word), (*line, word)
    inside = players_in(betting)
    values = {seat: hand_value(holes[seat] + board) if len(inside) > 1 else 0 for seat in inside}
    winners = [seat for seat in inside if values[seat] == max(values.values())]
    pot = sum(betting.paid)
    return views, [
        pot / len(winners) * (seat in winners) - betting.paid[seat] for seat in range(game.players)
    ]


def random_views(players, hands, seed):
    """Views of hands in which everybody acts at random, with few folds."""
    generator, game = random.Random(seed), Holdem(players)
    found = []
    for _ in range(hands):
        cards = generator.sample(range(CARDS), 2 * players + 5)
        found += play_hand(
            game, cards, lambda view: generator.choice(list(view.actions) + [view.passive] * 3)
        )[0]
    return found


def win_rate(first, second, *, deals, seed=1):
    """Of the first bot, in mbb/h, with its standard error; each deal is played in both seats."""
    game, generator, won = Holdem(), random.Random(seed), []
    for deal in range(deals):
        cards = generator.sample(range(CARDS), 9)
        both = 0.0
        for seat in range(2):
            bots = (first, second) if seat == 0 else (second, first)
            both += play_hand(
                game,
                cards,
                lambda view, bots=bots, deal=deal: act(bots[view.seat], view, 1000 * deal + len(view.line)),
            )[1][seat]
        won.append(1000 * both / 2 / BIG_BLIND)
    return np.mean(won), np.std(won) / len(won) ** 0.5


# All three


@pytest.mark.parametrize("players", [2, slow(3)])
@pytest.mark.parametrize("name", FORMULA_BOTS)
def test_thousands_of_random_views_get_a_legal_answer(name, players):
    bot = load_bot(name, Holdem(players))
    views = random_views(players, hands=150, seed=players)
    assert len(views) > 1000
    taken = {act(bot, view, place) for place, view in enumerate(views)}
    assert taken == {"fold", "check", "call", "bet", "raise"}
    assert all(act(bot, view, place) in view.actions for place, view in enumerate(views))


@pytest.mark.parametrize("name", FORMULA_BOTS)
def test_decisions_depend_on_view_and_dice_alone(name):
    """Whatever was dealt before: another bot meets the same decisions in another order."""
    for players in (2, 3):
        views = list(enumerate(random_views(players, hands=40, seed=7)))
        bot = load_bot(name, Holdem(players))
        first = {place: act(bot, view, place) for place, view in views}
        random.Random(3).shuffle(views)
        bot = load_bot(name, Holdem(players))
        assert {place: act(bot, view, place) for place, view in views} == first


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("name", FORMULA_BOTS)
def test_what_they_think_is_what_they_do(name, players):
    """Probabilities that sum to one; the two that never throw dice are sure of what they do."""
    bot = load_bot(name, Holdem(players))
    for place, view in enumerate(random_views(players, hands=40, seed=5)):
        thought, taken = bot.think(view), act(bot, view, place)
        assert sum(thought.probabilities) == pytest.approx(1)
        assert thought.infoset.startswith(view.infoset)
        share = dict(zip(view.actions, thought.probabilities, strict=True))[taken]
        assert share > 0 if name == "poki-like" else share == 1


@pytest.mark.parametrize("name", FORMULA_BOTS)
def test_other_games_are_refused_in_one_sentence(name):
    with pytest.raises(FeltError, match=f"^{name} plays limit hold'em, not kuhn\\.$"):
        load_bot(name, felt.load_game("kuhn"))


@pytest.mark.parametrize("name", FORMULA_BOTS)
def test_a_match_can_be_played(name):
    game = Holdem()
    mean, _ = win_rate(load_bot(name, game), load_bot("always-fold", game), deals=20)
    assert mean > 300  # always-fold gives the blinds away, 750 mbb/h if its opponent folds nothing


# ace1


def test_cards_are_summed_from_two_to_fourteen():
    assert card_sum("2c2d") == 4
    assert card_sum("Tc9d") == 19
    assert card_sum("JcQd") == 23
    assert card_sum("AcAd") == 28


def sums(lowest, highest):
    """Hole cards of a sum, for each sum in a range."""
    for total in range(lowest, highest + 1):
        low = max(2, total - 14)
        yield total, RANKS[total - low - 2] + "c" + RANKS[low - 2] + "d"


CHECKED = {"flop": "raise call check", "river": "raise call check check check check check"}
BET_INTO = {"flop": "raise call bet", "river": "raise call check check check check bet"}


@pytest.mark.parametrize(
    ("street", "board", "more_than"), [("flop", "3h4s5h", 15), ("river", "3h4s5h6s8h", 21)]
)
def test_ace1_bets_with_the_sums_of_the_paper(street, board, more_than):
    bot = load_bot("ace1", Holdem())
    for total, hole in sums(4, 28):
        expected = "bet" if total > more_than else "check"
        assert act(bot, see(hole, board, CHECKED[street])) == expected, total


def test_ace1_stays_to_the_end_only_with_more_than_19():
    bot = load_bot("ace1", Holdem())
    for total, hole in sums(4, 28):
        answer = act(bot, see(hole, "3h4s5h6s8h", BET_INTO["river"]))
        assert (answer != "fold") == (total > 19), total


def test_ace1_needs_more_on_later_streets():
    assert TO_RAISE[1] < TO_RAISE[2] < TO_RAISE[3]
    assert TO_STAY[1] <= TO_STAY[2] <= TO_STAY[3]


def test_ace1_goes_by_a_ranking_before_the_flop():
    bot = load_bot("ace1", Holdem())
    assert act(bot, see("AcAd")) == "raise"
    assert act(bot, see("7c2d")) == "fold"
    ranks = [(rank, act(bot, see(PAIR_CARDS[pair].tolist()))) for pair, rank in enumerate(hole_ranks())]
    order = [{"fold": 0, "call": 1, "raise": 2}[word] for _, word in sorted(ranks)]
    assert order == sorted(order)
    assert set(order) == {0, 1, 2}


# chen


@pytest.mark.parametrize(
    ("hole", "points"),
    [  # Chen's own examples (the first three), and those of Krieger's readers
        *(("AhKh", 12), ("TcTd", 10), ("7h5h", 6)),
        *(("AcAd", 20), ("KcKd", 16), ("8c8d", 8), ("2c2d", 5), ("9h7h", 7), ("Kh9h", 6), ("JhTh", 9)),
        *(("AcKd", 10), ("Ac5d", 5), ("7c2d", -1), ("9h8h", 8)),
    ],
)
def test_published_scores(hole, points):
    assert chen_score(hole) == points
    assert chen_score(hole[2:] + hole[:2]) == points


def test_scores_depend_on_the_kind_of_hole_cards_alone():
    scores: dict[str, set[int]] = {}
    for cards in PAIR_CARDS.tolist():
        scores.setdefault(pair_class(cards), set()).add(chen_score(cards))
    assert len(scores) == 169
    assert all(len(found) == 1 for found in scores.values())
    flat = {kind: found.pop() for kind, found in scores.items()}
    assert min(flat.values()) == -1
    assert sorted(flat, key=flat.get)[-1] == "AA"
    assert all(flat[kind[:2] + "s"] == flat[kind] + 2 for kind in flat if kind.endswith("o"))


def test_chen_plays_its_points_then_its_strength():
    bot = load_bot("chen", Holdem())
    assert act(bot, see("AhKh")) == "raise"
    assert act(bot, see("7c2d")) == "fold"
    assert act(bot, see("7c2d", line="call")) == "check"
    assert act(bot, see("AhKh", "QhJhTh", "raise call")) == "bet"
    assert act(bot, see("AhKh", "QhJhTh", "raise call bet raise raise raise")) == "call"
    assert act(bot, see("3c2d", "KhQh9s", "raise call bet")) == "fold"


def test_chen_asks_for_more_against_two():
    hole, line = "9c6d", "raise"
    assert act(load_bot("chen", Holdem()), see(hole, line=line)) == "call"
    assert act(load_bot("chen", Holdem(3)), see(hole, line=line, players=3)) == "fold"


# Weighted hands


def their_value(pair, board):
    """By phevaluator, higher is better."""
    return -evaluate_cards(*map(card_text, (*PAIR_CARDS[pair].tolist(), *board)))


@pytest.mark.parametrize("board", BOARDS)
def test_all_pairs_are_in_phevaluators_order(board):
    cards = parse_cards(board)
    places = board_hands(cards).now
    possible = [pair for pair in range(PAIRS) if not set(PAIR_CARDS[pair].tolist()) & set(cards)]
    assert [pair for pair in range(PAIRS) if places[pair] != NO_PLACE] == possible
    ours = sorted((int(places[pair]), their_value(pair, cards)) for pair in possible)
    for (place, value), (next_place, next_value) in itertools.pairwise(ours):
        assert (place == next_place) == (value == next_value)
        assert value <= next_value


@pytest.mark.parametrize("board", ["3h4cJh", "3h4cJhJd", "2c7d9hJsAc"])
def test_strength_now_is_the_strength_of_the_cards(board):
    for hole in ("AdQc", "8d8c", "Th9d"):
        cards = parse_cards(hole), parse_cards(board)
        assert strength_now(*cards) == pytest.approx(hand_strength(hole, board).hs, abs=1e-12)


def test_published_strengths():
    """Papp 1998, 5.2 and 5.3: AdQc on 3h4cJh is ahead of 58.5% of all hands, 8d7d on 9d6c2d of 11.5%."""
    assert strength_now(parse_cards("AdQc"), parse_cards("3h4cJh")) == pytest.approx(0.585, abs=0.0005)
    assert strength_now(parse_cards("8d7d"), parse_cards("9d6c2d")) == pytest.approx(0.115, abs=0.0005)


def shares(values):
    """For each pair the share of the other pairs that it beats, a tie being a half."""
    order = sorted(values.values())
    return {
        pair: (bisect.bisect_left(order, value) + bisect.bisect_right(order, value) - 1)
        / 2
        / (len(order) - 1)
        for pair, value in values.items()
    }


def slow_values(board):
    return {
        pair: their_value(pair, board)
        for pair in range(PAIRS)
        if not set(PAIR_CARDS[pair].tolist()) & set(board)
    }


def slow_ranks(board):
    """The rank of each pair by its promise, from the definition."""
    now, promise, cards = shares(slow_values(board)), {}, {}
    if len(board) == 5:
        return shares(now)
    for card in set(range(CARDS)) - set(board):
        for pair, share in shares(slow_values((*board, card))).items():
            promise[pair] = promise.get(pair, 0) + max(share, now[pair])
            cards[pair] = cards.get(pair, 0) + 1
    return shares({pair: round(promise[pair] / cards[pair], 12) for pair in promise})


@pytest.mark.slow
@pytest.mark.parametrize("board", ["9d6c2d", "3h4cJhJd", "2c7d9hJsAc"])
def test_ranks_are_those_of_the_definition(board):
    cards = parse_cards(board)
    expected = slow_ranks(cards)
    ranks = board_hands(cards).rank
    assert [pair for pair in range(PAIRS) if pair not in expected and ranks[pair] != 0] == []
    for pair, rank in expected.items():
        assert ranks[pair] == pytest.approx(rank, abs=1e-9)


def test_hands_alike_up_to_suits_rank_alike():
    for board, other in (("9d6c2d", "9h6s2h"), ("8s9sTs2s", "8c9cTc2c")):
        turn = (
            dict(zip("cdhs", "shcd", strict=True))
            if board[1] == "d"
            else dict(zip("cdhs", "sdhc", strict=True))
        )
        ours, theirs = board_hands(parse_cards(board)).rank, board_hands(parse_cards(other)).rank
        for pair in range(PAIRS):
            cards = [card_text(card) for card in PAIR_CARDS[pair].tolist()]
            assert ours[pair] == theirs[pair_number([card[0] + turn[card[1]] for card in cards])]


def slow_fare(hole, board, tables):
    """HS, PPot and NPot by counting all cases, from the definition."""
    own, now = pair_number(hole), slow_values(board)
    apart = [pair for pair in now if not set(PAIR_CARDS[pair].tolist()) & set(hole)]
    hs, field = 1.0, dict.fromkeys(apart, 0.0)
    for table in tables:
        total = sum(table[pair] for pair in apart)
        hs *= (
            sum(table[pair] * ((now[own] > now[pair]) + (now[own] == now[pair]) / 2) for pair in apart)
            / total
        )
        field = {pair: field[pair] + table[pair] / total for pair in apart}
    counts = {}
    for card in set(range(CARDS)) - set(board) - set(hole) if len(board) < 5 else ():
        later = slow_values((*board, card))
        for pair in apart:
            if pair in later:
                case = np.sign(now[own] - now[pair]), np.sign(later[own] - later[pair])
                counts[case] = counts.get(case, 0) + field[pair]
    tied = sum(counts.get((0, end), 0) for end in (-1, 0, 1)) / 2
    potentials = []
    for side in (-1, 1):  # behind now, ahead now
        changes = counts.get((side, -side), 0) + counts.get((side, 0), 0) / 2 + counts.get((0, -side), 0) / 2
        whole = sum(counts.get((side, end), 0) for end in (-1, 0, 1)) + tied
        potentials.append(changes / whole if whole else 0)
    return hs, *potentials


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hole", "board"),
    [("8d7d", "9d6c2d"), ("AdQc", "3h4cJhJd"), ("Th9d", "2c7d9hJsAc"), ("2c2d", "TsJsQsKsAs")],
)
def test_a_hand_against_weighted_hands_fares_as_counted(hole, board):
    tables = np.random.default_rng(1).uniform(0.01, 1, (2, PAIRS))
    cards = parse_cards(hole), parse_cards(board)
    for some in (tables[:1], tables):
        found = hand_potential(cards[0], board_hands(cards[1]), some)
        assert found == pytest.approx(slow_fare(*cards, some), abs=1e-9)


def test_with_equal_weights_it_is_plain_hand_strength():
    """On the turn one card to come is all there is, so the exact strengths are an oracle."""
    for hole in ("AdQc", "8d8c", "Th9h", "JcJs"):
        exact = hand_strength(hole, "3h4cJhJd")
        found = hand_potential(parse_cards(hole), board_hands(parse_cards("3h4cJhJd")), np.ones((1, PAIRS)))
        assert found == pytest.approx((exact.hs, exact.ppot, exact.npot), abs=1e-12)
        assert found.expected == pytest.approx(exact.ehs, abs=1e-12)
        assert found.optimistic >= found.expected


def test_reweighting_follows_papps_example():
    """Papp 7.2.1: with mu 0.6 and sigma 0.2 from 0.01 at 0.4 over a half at 0.6 to 1 at 0.8."""
    rank, weights = np.linspace(0, 1, PAIRS), np.ones(PAIRS)
    reweight(weights, rank, 0.6, 2.0, 0.2, 0.0, 0.01)
    assert np.interp([0.1, 0.4, 0.6, 0.8, 1], rank, weights) == pytest.approx(
        [0.01, 0.01, 0.505, 1, 1], abs=1e-6
    )
    for _ in range(3):
        reweight(weights, rank, 0.6, 2.0, 0.2, 0.0, 0.01)
    assert weights.min() == 0.01


def test_an_action_that_is_no_raise_takes_weight_from_the_best():
    rank, weights = np.linspace(0, 1, PAIRS), np.ones(PAIRS)
    reweight(weights, rank, -1.0, 0.5, 0.2, 0.6, 0.01)
    assert np.interp([0, 0.3, 0.5, 0.7, 1], rank, weights) == pytest.approx([1, 1, 0.7, 0.4, 0.4], abs=1e-3)


# poki-like


def slow_tables(view, habits):
    """The weight tables after a line, from the definition, in plain Python."""
    preflop = shares(dict(enumerate(income_rate(cards) for cards in PAIR_CARDS.tolist())))
    tables = [[1.0] * PAIRS for _ in range(view.game.players)]
    for place, move in enumerate(view.moves):
        if move.action == "fold":
            continue
        street, before = move.street, move.before
        ranks = slow_ranks(tuple(view.board[: BOARD_CARDS[street]])) if street else preflop
        level = min(2, before.bets - (1 if street == PREFLOP else 0))
        raises = habits.raises[street][level]
        if street and before.bets == 0:
            raiser = last_raiser(view.moves[:place], street - 1)
            raises = {None: habits.bets[1], move.seat: habits.bets[0]}.get(raiser, habits.bets[2])
        for pair in range(PAIRS):
            rank, factor = ranks.get(pair, 0.0), 1.0
            worth_a_raise = rise(rank, 1 - raises, habits.spread[street])
            if move.action in ("bet", "raise"):
                factor = habits.least + (1 - habits.least) * worth_a_raise
            elif before.bets < before.most_bets:
                factor = 1 - habits.credit * worth_a_raise
            if move.action == "call":
                stays = rise(rank, habits.folds[street][level], habits.spread[street])
                factor *= habits.least + (1 - habits.least) * stays
            tables[move.seat][pair] = max(habits.least, tables[move.seat][pair] * factor)
    return tables


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "line", "players"),
    [
        ("", "raise raise raise call", 2),
        ("9d6c2d", "raise call check bet raise", 2),
        slow("9d6c2d4h", "raise call check bet call bet", 2),
        ("9d6c2d", "call raise fold call bet raise", 3),
    ],
)
def test_weight_tables_are_those_of_a_slow_twin(board, line, players):
    bot, words = PokiLike(Holdem(players)), tuple(line.split())
    view = HoldemView(Holdem(players), 0, (), parse_cards("AsKs"), parse_cards(board), words)
    expected = np.array(slow_tables(view, GenericOpponent()))
    assert np.ptp(expected) > 0.5
    assert bot.weight_tables(view) == pytest.approx(expected, abs=1e-9)
    shorter = HoldemView(Holdem(players), 0, (), parse_cards("AsKs"), parse_cards(board), words[:-1])
    bot.weight_tables(shorter)
    assert bot.weight_tables(view) == pytest.approx(expected, abs=1e-9)


def test_income_rates_are_those_of_papp():
    """Table A.1 of Papp 1998, by simulation: IR2[3][2] = -279 suited, IR2[2][3] = -351 unsuited."""
    assert income_rate("3h2h") == pytest.approx(-279, abs=4)
    assert income_rate("3h2d") == pytest.approx(-351, abs=4)
    assert income_rate("AhAd") == max(income_rate(cards) for cards in PAIR_CARDS.tolist())


def test_its_probabilities_are_probabilities():
    for players in (2, 3):
        bot = PokiLike(Holdem(players))
        for view in random_views(players, hands=30, seed=11):
            thought = bot.think(view)
            assert len(thought.probabilities) == len(view.actions)
            assert sum(thought.probabilities) == pytest.approx(1)
            assert min(thought.probabilities) >= 0
            assert view.infoset in thought.infoset


def thinks(hole, board, line, strategy=None):
    view = see(hole, board, line)
    bot = PokiLike(view.game, strategy)
    return dict(zip(view.actions, bot.think(view).probabilities, strict=True))


def test_it_bets_what_is_worth_a_bet_and_raises_what_is_worth_a_raise():
    never_slow = BettingStrategy(check_raise=0)
    assert thinks("AhKh", "QhJhTh", "raise call", never_slow)["bet"] == 1
    assert thinks("AhKh", "QhJhTh", "raise call")["bet"] == pytest.approx(0.8)  # a check-raise now and then
    assert thinks("AhKh", "QhJhTh", "raise call bet")["raise"] == 1
    assert thinks("AhKh", "QhJhTh", "raise call bet raise raise raise") == {"fold": 0, "call": 1}


def test_it_does_not_go_to_the_river_with_nothing():
    line = "raise call bet call bet call bet"
    assert thinks("3c2d", "KhQh9s8s7h", line)["fold"] == 1
    assert thinks("KcQd", "KhQh9s8s2h", line)["fold"] == 0


def test_it_semi_bluffs_with_a_draw_and_not_without():
    """PPot of a flush draw is worth a bet and a raise (Papp 6.4: 2 bets into a pot that gets 6 more)."""
    line, board = "raise call", "Kh8h2c"
    draw, nothing = see("5h4h", board, line), see("5d4s", board, line)
    bot = PokiLike(Holdem())
    pot, bet_size = draw.pot, 2
    assert bot.potential(draw).ppot >= 2 * bet_size / (pot + 6 * bet_size) > bot.potential(nothing).ppot
    assert bot.potential(draw).optimistic < 0.42
    assert thinks("5h4h", board, line)["bet"] == pytest.approx(0.8)
    assert thinks("5d4s", board, line)["bet"] == 0


def test_it_calls_by_pot_odds_with_a_draw_and_folds_nothing():
    """2 chips to call into 10: PPot must be more than a sixth (Papp 6.5)."""
    for hole, board, share in (("5h4h", "Kh8h2c", 0), ("5d4s", "Kh8h2c", 1)):
        view = see(hole, board, "raise call bet")
        found, odds = PokiLike(Holdem()).potential(view), view.to_call / (view.pot + view.to_call)
        assert odds == pytest.approx(1 / 6)
        assert (found.ppot < odds) == bool(share)
        assert found.optimistic < 0.42
        assert thinks(hole, board, "raise call bet")["fold"] == share


def test_a_bet_is_believed_a_raise_more():
    bot, hole, board = PokiLike(Holdem()), "9c8d", "9h5s2c"
    checked, faced, raised = (
        see(hole, board, f"call check {line}") for line in ("check", "bet", "bet raise")
    )
    assert bot.potential(checked).hs > bot.potential(faced).hs > bot.potential(raised).hs


@pytest.mark.slow
@pytest.mark.parametrize("opponent", ["always-call", "always-raise", "random", "probe", "ace1"])
def test_poki_like_wins_from_weak_players(opponent):
    game = Holdem()
    mean, error = win_rate(load_bot("poki-like", game), load_bot(opponent, game), deals=150)
    assert mean > 2.5 * error


def test_the_floor_of_weights_keeps_it_from_believing_every_bet():
    """Papp's is a hundredth; after a bet on each street only a larger one leaves room for bluffs."""
    view = see("8c7d", "Kh8s5c3d2s", "raise call bet call bet call bet")
    strengths = [
        PokiLike(Holdem(), BettingStrategy(habits=GenericOpponent(least=least))).potential(view).hs
        for least in (0.01, 0.1)
    ]
    assert strengths[0] < 0.75 * strengths[1]
    assert thinks("8c7d", "Kh8s5c3d2s", "raise call bet call bet call bet")["fold"] == 0


def test_river_strength_has_no_potential():
    view = see("8c7d", "Kh8s5c3d2s", "raise call bet call bet call bet")
    assert view.street == RIVER
    assert PokiLike(Holdem()).potential(view)[1:] == (0, 0)
