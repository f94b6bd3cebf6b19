"""The review of a hand, compared with slow twins, closed forms, phevaluator and the arena's kernels."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from bridge import as_profile
from phevaluator import evaluate_cards
from slow_twin import SlowGame
from speed import slow

import openfelt as felt
from openfelt.arena.hand_kernels import HandOutcomes, deal_block, random_streams
from openfelt.arena.statistics.aivat import KnownPolicies, betting_history, holdem_aivat
from openfelt.bots.bot import Bot, Clock
from openfelt.bots.policy_bot import HoldemBot, TreeBot, policy_bot
from openfelt.bots.registry import load_bot
from openfelt.bots.resolver import Resolver
from openfelt.bots.view import HoldemView, holdem_view, view_of
from openfelt.cards.abstraction.abstraction import Abstraction
from openfelt.cards.boards import PERMUTED_PAIR, find_board
from openfelt.cards.deck import PAIR_CARDS, card_text, pair_class, pair_number, parse_cards
from openfelt.cards.evaluator import hand_value, hand_values
from openfelt.cards.strength import hand_strength
from openfelt.cards.three_way_equity import three_way_shares
from openfelt.core.errors import FeltError
from openfelt.core.random import Dice
from openfelt.games.compile.betting_tree import PLACE
from openfelt.games.compile.compiler import compile_any
from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem, HoldemState, bet, betting_actions, is_over
from openfelt.measure.action_values import action_values
from openfelt.policy.holdem import quantised
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.lobby.policy_grid import policy_grid
from openfelt.table.lobby.preflop_matrix import preflop_matrix
from openfelt.table.review import best_response, holdem_evaluator
from openfelt.table.review.analyser import HandAnalyser
from openfelt.table.review.board_sample import board_sample, sample_buckets
from openfelt.table.review.bot_policies import policy_table
from openfelt.table.review.estimates import best_way, means_and_intervals
from openfelt.table.review.evaluator import hand_evaluator
from openfelt.table.review.ranges import decision_points
from openfelt.table.review.rollouts import bot_rollouts, draw_deals, kernel_rollouts

SMALL = "holdem(buckets='ehs2:169/5/5/5')"
CARDS = "AhKd7c7dTsTh2s9c3d4c5h"  # hole cards of up to three, then a board


class Silent(Bot):
    """Calls, and says nothing."""

    def act(self, view, dice, clock):
        return view.passive


def played(game, line, bots, cards=CARDS):
    """A hand of hold'em with these cards and actions; bots think where they are to act."""
    hand, words = Hand(game), iter(line.split())
    dealt = iter(map(card_text, parse_cards(cards)))
    while hand.mover != TERMINAL:
        if hand.mover == CHANCE:
            hand.act(hand.actions.index(next(dealt)))
            continue
        word = next(words, None)
        if word is None:
            break
        bot = bots.get(hand.mover)
        hand.act(hand.actions.index(word), bot.think(view_of(hand)) if bot else None)
    return hand


def ev_losses(hand, seat, bots):
    return hand_evaluator(hand, seat, bots).ev_losses()


def luck_adjusted(hand, seat, bots):
    return hand_evaluator(hand, seat, bots).luck_adjusted()


def points_of(hand, seat, bots):
    return decision_points(hand.game, hand, seat, bots)


def play_at_random(game, bots, person, seed):
    """A hand of any game; the person is a bot too, whose thoughts are not noted."""
    hand, generator = Hand(game), np.random.default_rng(seed)
    while hand.mover != TERMINAL:
        if hand.mover == CHANCE:
            hand.act_for_chance(generator)
            continue
        bot, view = bots.get(hand.mover, person), view_of(hand)
        word = bot.act(view, Dice(int(generator.integers(1 << 63))), Clock())
        hand.act(hand.actions.index(word), bot.think(view) if hand.mover in bots else None)
    return hand


# The values of actions


def slow_values(name, policy, player):
    """{what the player saw: the values of its actions}, by going through all histories that it cannot tell
    apart at once, and the value of the game.
    """
    slow, profile, found = SlowGame(felt.load_game(name)), as_profile(policy), {}

    def best(weighted):
        total, own = 0.0, {}
        stack = list(weighted)
        while stack:
            history, weight = stack.pop()
            mover = slow.mover(history)
            if weight == 0.0:
                continue
            if mover == TERMINAL:
                total += weight * slow.payoffs(history)[player]
            elif mover == player:
                own.setdefault(slow.information(history)[1], []).append((history, weight))
            else:
                shares = slow.chance(history) if mover == CHANCE else profile[slow.information(history)]
                stack += [
                    (child, weight * share)
                    for child, share in zip(slow.children(history), shares, strict=True)
                ]
        for seen, group in own.items():
            ways = zip(
                *([(child, weight) for child in slow.children(history)] for history, weight in group),
                strict=True,
            )
            sums = [best(way) for way in ways]
            found[" ".join(seen)] = [value / sum(weight for _, weight in group) for value in sums]
            total += max(sums)
        return total

    return found, best([(slow.root, 1.0)])


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize("name", ["kuhn", "leduc", "kuhn(players=3)", slow("leduc(players=3)")])
def test_action_values_are_those_of_a_slow_twin(name, greedy):
    policy = felt.random_policy(name, 5)
    policy = policy.greedy() if greedy else policy  # leaves rows that are never reached
    tree, missing = policy.tree, 0
    for player in range(tree.players):
        values = action_values(tree, policy.probabilities, player)
        slow, value = slow_values(name, policy, player)
        first, last = tree.rows.first_row[player : player + 2]
        for row in range(tree.num_rows):
            expected = slow.get(tree.row_name(row)) if first <= row < last else None
            if expected is None:
                assert np.isnan(values[tree.slots(row)]).all()
            else:
                assert values[tree.slots(row)] == pytest.approx(expected, abs=1e-9)
        missing += int(last - first) - len(slow)
        assert value == pytest.approx(felt.best_response(policy, player).value, abs=1e-9)
    assert (missing > 0) == greedy


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_the_best_of_the_first_rows_is_the_best_response(name):
    """The player who acts first holds each card equally often."""
    policy = felt.random_policy(name, 2)
    tree = policy.tree
    values = action_values(tree, policy.probabilities, 0)
    best = [values[tree.slots(tree.find_row(0, card))].max() for card in "JQK"]
    assert np.mean(best) == pytest.approx(felt.best_response(policy, 0).value, abs=1e-12)


# Shares of three


def shares_by_phevaluator(holes, board, inside):
    rest = [card for card in range(52) if card not in (*itertools.chain(*holes), *board)]
    won, count = np.zeros(3), 0
    for more in itertools.combinations(rest, 5 - len(board)):
        table = [card_text(card) for card in (*board, *more)]
        ranks = {seat: evaluate_cards(*table, *map(card_text, holes[seat])) for seat in inside}
        best = [seat for seat in inside if ranks[seat] == min(ranks.values())]
        won[best] += 1 / len(best)
        count += 1
    return won / count


@pytest.mark.parametrize("size", [3, 4, 5])
def test_shares_are_those_of_phevaluator(size):
    generator = np.random.default_rng(size)
    for _ in range(2):
        cards = tuple(generator.permutation(52)[: 6 + size].tolist())
        holes, board = [cards[:2], cards[2:4], cards[4:6]], cards[6:]
        found = three_way_shares(holes, board)
        assert len(found) == 7
        for inside, shares in found.items():
            assert shares == pytest.approx(shares_by_phevaluator(holes, board, inside), abs=1e-12)


def test_shares_before_the_flop_by_enumeration():
    holes = [parse_cards(hole) for hole in ("AsKs", "QhQd", "7c6c")]
    rest = [card for card in range(52) if card not in itertools.chain(*holes)]
    boards = np.array(list(itertools.combinations(rest, 5)), np.uint8)
    values = [hand_values(np.hstack([boards, np.full((len(boards), 2), hole, np.uint8)])) for hole in holes]
    found = three_way_shares(holes)
    for inside, shares in found.items():
        some = np.stack([values[seat] for seat in inside])
        best = some == some.max(axis=0)
        expected = (best / best.sum(axis=0)).mean(axis=1)
        assert [shares[seat] for seat in inside] == pytest.approx(expected, abs=1e-12)
        assert sum(shares) == pytest.approx(1.0)


def test_shares_do_not_drift_while_cards_come():
    holes, board = [parse_cards(hole) for hole in ("2c2d", "AhKh", "QsJs")], parse_cards("2h9h8s")
    rest = [card for card in range(52) if card not in (*itertools.chain(*holes), *board)]
    before = three_way_shares(holes, board)
    after = [three_way_shares(holes, (*board, card)) for card in rest]
    for inside, shares in before.items():
        assert np.mean([each[inside] for each in after], axis=0) == pytest.approx(shares, abs=1e-12)


def test_shares_refuse_what_is_no_hand():
    with pytest.raises(FeltError, match="twice"):
        three_way_shares(["AhKh", "AhQd", "2c2d"])
    with pytest.raises(FeltError, match="three hands, not for 2"):
        three_way_shares(["AhKh", "AcQd"])


# Without luck


@pytest.mark.slow
def test_holdem_without_luck_is_that_of_the_arena():
    """Hand by hand against the kernel, with `default` known; its buckets are computed one by one."""
    game, hands = Holdem(), 24
    bot, person = load_bot("default", game), load_bot("probe", game)
    tree = bot.policy.tree
    deals = deal_block(2, random_streams(8), 0, hands)
    leaf, won = np.zeros((hands, 1), np.int32), np.zeros((hands, 1, 2))
    who, shifts = np.zeros((hands, 1, 2), np.int64), np.zeros((2, hands, 8), np.int64)
    found = []
    for number, cards in enumerate(deals.cards.tolist()):
        seat = number % 2  # of the person
        hand, line = Hand(game), []
        dealt = iter(map(card_text, cards))
        while hand.mover != TERMINAL:
            if hand.mover == CHANCE:
                hand.act(hand.actions.index(next(dealt)))
                continue
            mover, view, node = hand.mover, view_of(hand), tree.find_node(line)
            word = (person if mover == seat else bot).act(view, Dice(number, len(line)), Clock())
            if mover != seat:
                bucket = tree.abstraction.bucket(view.hole, view.board)
                shift = tree.slots(node, bucket).start - tree.node[node, PLACE]
                shifts[0, number, 2 * view.street + mover] = shift
            hand.act(hand.actions.index(word), bot.think(view) if mover != seat else None)
            line.append(word)
        leaf[number], won[number], who[number, 0, seat] = tree.find_node(line), hand.payoffs, 1
        found.append(luck_adjusted(hand, seat, {1 - seat: bot}))
    weights = (bot.policy.weights, np.zeros(0, np.uint8))
    hands_played = HandOutcomes(leaf, won, np.zeros((2, 5), np.int64))
    known = np.array([True, False])
    policies = KnownPolicies(weights, shifts, known)
    adjusted = holdem_aivat(tree, betting_history(tree), deals, hands_played, who, policies)
    expected = [adjusted[number, 0, number % 2] for number in range(hands)]
    assert found == pytest.approx(expected, abs=1e-9)
    assert np.abs(np.array(expected) - won[np.arange(hands), 0, np.arange(hands) % 2]).max() > 1


@pytest.mark.parametrize(("name", "bots"), [("kuhn", ["probe"]), ("kuhn(players=3)", ["probe", "random"])])
def test_in_small_games_there_is_no_bias_and_less_variance(name, bots):
    """Over all hands there are, each with its probability; the person plays by a policy that nobody knows."""
    game, own = felt.load_game(name), felt.random_policy(name, 9)
    for seat in range(game.players):
        others = {(seat + 1 + place) % game.players: load_bot(bot, game) for place, bot in enumerate(bots)}
        rows = []

        def walk(actions, weight, seat=seat, others=others, rows=rows):
            hand = Hand(game)
            for number in actions:
                bot = others.get(hand.mover)
                hand.act(number, bot.think(view_of(hand)) if bot else None)
            if hand.mover == TERMINAL:
                rows.append((weight, hand.payoffs[seat], luck_adjusted(hand, seat, others)))
                return
            if hand.mover == CHANCE:
                shares = game.chance(hand.state)
            elif hand.mover == seat:
                shares = own.row(view_of(hand).row)
            else:
                shares = others[hand.mover].think(view_of(hand)).probabilities
            for number, share in enumerate(shares):
                if share:
                    walk((*actions, number), weight * share)

        walk((), 1.0)
        weights, won, free = np.array(rows).T
        assert weights.sum() == pytest.approx(1)
        assert weights @ free == pytest.approx(weights @ won, abs=1e-12)
        assert weights @ free**2 < 0.8 * (weights @ won**2)


def test_three_who_only_call_are_left_with_their_hole_cards():
    """The board takes nothing away: what is left is the pot of 6 at their share, but for the blinds' luck."""
    game = Holdem(3)
    for seat in range(3):
        bots = {other: load_bot("always-call", game) for other in range(3) if other != seat}
        hand = played(game, "call call check" + " check" * 9, bots)
        assert hand.mover == TERMINAL
        share = three_way_shares([CARDS[:4], CARDS[4:8], CARDS[8:12]])[0, 1, 2][seat]
        assert luck_adjusted(hand, seat, bots) == pytest.approx(6 * share - 2 + 3 * (1 / 3 - share), abs=1e-9)


@pytest.mark.slow
def test_three_players_without_luck_win_as_much_in_the_mean():
    game = Holdem(3)
    bots = {0: load_bot("random", game), 2: load_bot("probe", game)}
    hands = [play_at_random(game, bots, load_bot("probe", game), seed) for seed in range(160)]
    won = np.array([hand.payoffs[1] for hand in hands])
    free = np.array([luck_adjusted(hand, 1, bots) for hand in hands])
    assert abs((free - won).mean()) < 4 * (free - won).std() / len(hands) ** 0.5
    assert free.std() < 0.8 * won.std()


def test_the_choices_of_a_bot_that_says_nothing_stay_in_the_winnings():
    for name in ("leduc", "holdem", "holdem(players=3)"):
        game = felt.load_game(name)
        bots = {seat: Silent(game) for seat in range(1, game.players)}
        hand = play_at_random(game, bots, load_bot("always-call", game), 1)
        assert luck_adjusted(hand, 0, bots) != hand.payoffs[0]  # but not the luck of the cards
        found = ev_losses(hand, 0, bots)
        assert (found.exact, found.decisions) == (False, ())
        assert found.explain.startswith("EV losses are not available")


# Losses, exact


def test_exact_losses_in_leduc_are_those_of_a_slow_twin():
    game = felt.load_game("leduc")
    policy = felt.random_policy("leduc", 3)
    bot, checked = TreeBot(policy, game), 0
    for seed in range(12):
        seat = seed % 2
        hand = play_at_random(game, {1 - seat: bot}, load_bot("random", game), seed)
        found = ev_losses(hand, seat, {1 - seat: bot})
        slow, _ = slow_values("leduc", policy, seat)
        own = [place for place, step in enumerate(hand.steps) if step.mover == seat]
        assert [decision.step for decision in found.decisions] == own
        assert found.exact == bool(own)
        for decision in found.decisions:
            saw = " ".join(step.seen[seat] for step in hand.steps[: decision.step] if step.seen[seat])
            assert decision.values == pytest.approx(slow[saw], abs=1e-9)
            expected = [max(slow[saw]) - value for value in slow[saw]]
            assert decision.losses == pytest.approx(expected, abs=1e-9)
            assert set(decision.intervals) == {0.0}
            checked += 1
    assert checked > 15


def test_a_bot_that_strays_says_nothing_of_its_card():
    """always-fold has bet: K, which beats anything, wins what it would from any card."""
    game = felt.load_game("kuhn")
    bot, hand = load_bot("always-fold", game), Hand(game)
    for word in ("K", "J", "pass", "bet", "bet"):
        hand.act(hand.actions.index(word))
    found = ev_losses(hand, 0, {1: bot})
    assert not found.exact
    assert "never takes" in found.explain
    assert found.decisions[0].values == pytest.approx((1, 1))  # it checks, or folds
    assert found.decisions[1].values == pytest.approx((-1, 2), abs=1e-4)


# Losses in hold'em


@pytest.fixture(scope="module")
def two(strengths):
    """Two random policies of a small abstraction, as bots with tables; the first is always the same."""
    game = Holdem()
    tree = compile_any(SMALL)
    found = []
    for seed in (1, 2):
        weights = np.random.default_rng(seed).exponential(size=tree.num_slots) ** 2
        found.append(HoldemBot(quantised(tree, weights), game))
        found[-1].use_tables()
    return found


def river_hand(bot, seat):
    """The person sits in `seat`, and was raised on the river."""
    line = "raise call bet call check bet call check bet raise call"
    return played(Holdem(), line, {1 - seat: bot}, "AhKd7c7dTs2s9c3dKs")


def slow_river(at, seats, number):
    """Exact: over all pairs that the other may hold, with all that both may do."""
    other = 1 - at.seat
    begun = HoldemView(at.game, at.seat, (), (), (), at.line).betting

    def value(pair, betting, line):
        holes = {at.seat: at.hole, other: pair}
        if is_over(betting):
            cards = (*holes[0], *holes[1], *at.board)
            return at.game.payoffs(HoldemState(cards, betting))[at.seat]
        view = holdem_view(at.game, betting.turn, holes[betting.turn], at.board, line)
        shares = seats[betting.turn].think(view).probabilities
        ways = zip(betting_actions(betting), shares, strict=True)
        return sum(share * value(pair, bet(betting, word), (*line, word)) for word, share in ways if share)

    word = at.actions[number]
    return sum(
        belief * value(tuple(pair), bet(begun, word), (*at.line, word))
        for belief, pair in zip(at.ranges[other], PAIR_CARDS.tolist(), strict=True)
        if belief
    )


def test_beliefs_are_those_of_a_slow_twin(two):
    """A few pairs, by what the bot says that it would do with them, bucket by bucket without tables."""
    bot = two[1]
    hand = river_hand(bot, 0)
    last = points_of(hand, 0, {1: bot})[-1]
    fresh = HoldemBot(bot.policy, bot.game)  # computes its buckets
    dead = set(last.hole + last.board)
    assert last.ranges.sum(axis=1) == pytest.approx([1, 1])
    assert last.ranges[0, pair_number(last.hole)] == 1
    pairs = [pair for pair in PAIR_CARDS[::97].tolist() if not dead & set(pair)]
    likely = []
    for pair in pairs:
        chance, line = 1.0, ()
        for step, state in zip(hand.steps[: last.step], hand.states, strict=False):
            if step.mover == 1:
                view = holdem_view(bot.game, 1, tuple(pair), bot.game.board(state), line)
                chance *= fresh.think(view).probabilities[step.number]
            line = (*line, step.action) if step.mover != CHANCE else line
        likely.append(chance)
    found = last.ranges[1, [pair_number(pair) for pair in pairs]]
    assert max(likely) > 0
    assert found / found.sum() == pytest.approx(np.array(likely) / sum(likely), abs=1e-12)
    clash = [bool(dead & set(pair)) for pair in PAIR_CARDS.tolist()]
    assert not last.ranges[1, clash].any()


@pytest.mark.parametrize("seat", [0, 1])
def test_rollouts_on_the_river_find_the_exact_values(two, seat):
    own, bot = two
    at = points_of(river_hand(bot, seat), seat, {1 - seat: bot})[-1]
    seats = [own, bot] if seat == 0 else [bot, own]
    exact = np.array([slow_river(at, seats, number) for number in range(len(at.actions))])
    won = kernel_rollouts(at, seats, 40_000)
    error = won.std(axis=0) / len(won) ** 0.5
    assert (np.abs(won.mean(axis=0) - exact) <= 4 * error + 1e-9).all()
    assert np.ptp(exact) > 0.1
    covered, total = 0, 0
    for seed in range(40):
        values, intervals, _ = means_and_intervals(kernel_rollouts(at, seats, 1_000, seed=seed + 1))
        best = int(values.argmax())
        for number in range(len(exact)):
            if number != best:
                off = (values[best] - values[number]) - (exact[best] - exact[number])
                covered += abs(off) <= intervals[number]
                total += 1
    assert 0.85 < covered / total < 1.0


def test_asking_and_kernels_play_the_same_hands(two):
    """The same cards, the same dice, the same end, hand by hand: two by tables, three by rules."""
    bot = two[1]
    for at in points_of(river_hand(bot, 0), 0, {1: bot}):
        assert (bot_rollouts(at, two, 40) == kernel_rollouts(at, two, 40)).all()
    game = Holdem(3)
    seats = [load_bot(name, game) for name in ("random", "probe", "always-raise")]
    hand = played(game, "raise call call check bet call call check check check", {0: seats[0], 1: seats[1]})
    found = points_of(hand, 2, {0: seats[0], 1: seats[1]})
    assert len(found) == 3
    for at in found:
        assert (bot_rollouts(at, seats, 60) == kernel_rollouts(at, seats, 60)).all()


def test_losses_of_a_whole_hand(two, monkeypatch):
    bot = two[1]
    monkeypatch.setattr(best_response, "FLOPS", 4)
    hand = river_hand(bot, 1)
    found = ev_losses(hand, 1, {0: bot})
    assert "if you continue with a best response to the bot" in found.explain
    assert not found.exact
    assert [decision.step for decision in found.decisions] == [
        place for place, step in enumerate(hand.steps) if step.mover == 1
    ]
    for decision in found.decisions:
        assert min(decision.losses) == 0
        assert all(chips <= 48 for chips in np.abs(decision.values))
        is_exact = len(Holdem().board(hand.states[decision.step])) >= 3
        assert all(
            (interval > 0) == (action != "fold" and not is_exact)
            for action, interval in zip(
                hand.steps[decision.step].actions, decision.value_intervals, strict=True
            )
        )


def test_a_bot_that_resolves_is_judged_by_its_blueprint(two, monkeypatch):
    monkeypatch.setattr(best_response, "FLOPS", 4)
    bot = two[1]
    hand, policy = river_hand(bot, 1), bot.policy
    resolver = Resolver(Holdem(), policy)
    found = ev_losses(hand, 1, {0: resolver})
    assert found.explain.endswith("the review evaluates its blueprint policy instead.")
    assert found.decisions == ev_losses(hand, 1, {0: bot}).decisions


def test_boards_of_a_sample_have_the_buckets_of_the_tables(two):
    """From the flop on all boards that may follow; the values are those by tables, within their error."""
    bot = two[1]
    points = points_of(river_hand(bot, 0), 0, {1: bot})
    for at in points[-3:]:
        sample = board_sample(at.hole, at.board)
        left = 5 - len(at.board)
        assert len(sample.boards) == math.perm(50 - len(at.board), left)
        found = sample_buckets(sample, bot.policy.tree.abstraction)
        tables = bot.policy.tree.abstraction.tables()
        for number in range(0, len(sample.boards), 97):
            for street in range(sample.street, 4):
                cards = sample.boards[number, : (0, 3, 4, 5)[street]].tolist()
                board, permutation = find_board(cards)
                expected = tables[street][board][PERMUTED_PAIR[permutation]]
                possible = ~np.isin(PAIR_CARDS, cards).any(axis=1)
                row = found.tables[street][found.place[number, street]]
                assert (row == expected)[possible].all()
        first, second = (kernel_rollouts(at, two, 30_000, sample=each) for each in (None, sample))
        error = np.sqrt((first.var(axis=0) + second.var(axis=0)) / 30_000)
        assert (np.abs(first.mean(axis=0) - second.mean(axis=0)) <= 4 * error + 1e-9).all()


def test_a_sample_before_the_flop_is_near_the_tables(two):
    at = points_of(river_hand(two[1], 0), 0, {1: two[1]})[0]
    assert at.board == ()
    sample = board_sample(at.hole, at.board)
    picked = draw_deals(at, 20_000, random_streams(0), sample)[1]
    exact = kernel_rollouts(at, two, 100_000).mean(axis=0)
    means, _, intervals = means_and_intervals(kernel_rollouts(at, two, 20_000, sample=sample), picked)
    assert (np.abs(means - exact) <= 2 * intervals + 0.1).all()


def test_the_best_way_is_chosen_without_bias():
    """Ways that are all alike: the mean of the best is the mean of all."""
    generator = np.random.default_rng(5)
    means = [best_way(generator.normal(size=(4, 60, 3)), np.arange(60)).mean() for _ in range(400)]
    assert abs(np.mean(means)) < 4 * np.std(means) / 20
    won = np.zeros((2, 10, 2))
    won[0, :, 0] = won[1, :, 1] = 1.0
    assert (best_way(won, np.arange(10)) == 1.0).all()


@pytest.mark.parametrize("names", [("always-raise", "random"), ("ace1", "always-raise")])
def test_a_call_never_costs_more_than_its_price_where_folding_is_best(names):
    """Three-handed: whoever calls can give up the hand afterwards."""
    game = Holdem(3)
    bots = {seat: load_bot(name, game) for seat, name in zip((0, 1), names, strict=True)}
    hand = played(
        game, "call call raise call call" + " bet call raise call call", bots, "AhAd7c8dTs2s9c3dKs4c5d"
    )
    found, checked = ev_losses(hand, 2, bots), 0
    for decision in found.decisions:
        step, betting = hand.steps[decision.step], hand.states[decision.step].betting
        if "fold" in step.actions:
            price = max(betting.paid) - betting.paid[2]
            call = step.actions.index("call")
            assert decision.values[0] == -betting.paid[2]
            assert (
                decision.values[call]
                >= decision.values[0] - price - 3 * decision.value_intervals[call] - 1e-9
            )
            checked += 1
    assert checked >= 3


def test_no_tables_are_made_for_a_review(monkeypatch):
    game = Holdem()
    bot = policy_bot(felt.load_policy("default"), game)
    monkeypatch.setattr(Abstraction, "tables", lambda *_, **__: pytest.fail("tables of all hands"))
    monkeypatch.setattr(best_response, "FLOPS", 4)
    hand = played(
        game, "raise call bet call check bet call check bet raise call", {1: bot}, "AhKd7c7dTs2s9c3dKs"
    )
    found = ev_losses(hand, 0, {1: bot})
    assert len(found.decisions) == 6


@pytest.mark.slow
def test_against_who_only_calls_losses_follow_from_strength():
    """Three bets a street: a bet is called, so it wins as much more than a check as the hand is ahead."""
    game = Holdem(bets=3)
    bot = load_bot("always-call", game)
    cards = "AhKd7c7dTs2s9c3dKs"
    hand = played(game, "call check" + " check check" * 3, {0: bot}, cards)
    found = ev_losses(hand, 1, {0: bot})
    assert len(found.decisions) == 4
    hole, board = cards[4:8], cards[8:]
    for decision, size in zip(found.decisions, (0, 3, 4, 5), strict=True):
        chance = hand_strength(hole, board[: 2 * size]).ehs
        gain = (2, 2, 4, 4)[(0, 3, 4, 5).index(size)] * (2 * chance - 1)
        off = abs(decision.values[-1] - decision.values[-2] - gain)
        assert off <= (1e-9 if size else 1.5 * max(decision.intervals[-2:]))


@pytest.mark.slow
def test_three_players_with_known_hands_get_their_shares():
    """Beliefs of a single pair each, and all call: the pot, shared as `cards/three_way_equity.py` says."""
    game = Holdem(3)
    bots = {seat: load_bot("always-call", game) for seat in (0, 1)}
    hand = played(game, "call call check check check check", bots)
    at = points_of(hand, 2, bots)[-1]
    ranges = np.zeros((3, 1326))
    for seat in range(3):
        ranges[seat, pair_number(game.hole(hand.state, seat))] = 1
    at = at._replace(ranges=ranges)
    won = kernel_rollouts(at, [*bots.values(), bots[0]], 50_000)
    holes = [game.hole(hand.state, seat) for seat in range(3)]
    share = three_way_shares(holes, at.board)[0, 1, 2][2]
    error = won.std(axis=0) / len(won) ** 0.5
    assert at.actions == ("check", "bet")
    assert (np.abs(won.mean(axis=0) - [6 * share - 2, 12 * share - 4]) < 4 * error).all()


def test_three_players_on_the_river_by_enumeration():
    """All pairs of the two others that share no card, none likelier than another."""
    game = Holdem(3)
    bots = {seat: load_bot("always-call", game) for seat in (0, 1)}
    hand = played(game, "call call check" + " check" * 9, bots, "2c2d3c3d9s8s9c7d4hKsJh")
    found = ev_losses(hand, 2, bots)
    dead, board = parse_cards("9s8s9c7d4hKsJh"), parse_cards("9c7d4hKsJh")
    pairs = [pair for pair in PAIR_CARDS.tolist() if not set(pair) & set(dead)]
    value = np.array([hand_value((*pair, *board)) for pair in pairs])
    held = np.zeros((len(pairs), 52))
    held[np.arange(len(pairs))[:, None], pairs] = 1
    apart = held @ held.T == 0
    own = hand_value(("9s", "8s", *map(card_text, board)))
    best = (value <= own)[:, None] & (value <= own)
    ties = 1 + (value == own)[:, None] + (value == own)
    share = (apart * best / ties).sum() / apart.sum()
    last = found.decisions[-1]
    assert last.values == pytest.approx([6 * share - 2, 18 * share - 6], abs=0.1)
    assert last.losses == pytest.approx([abs(12 * share - 4), 0][:: 1 if share > 1 / 3 else -1], abs=0.08)


def test_formula_bots_are_asked(two, monkeypatch):
    """Chen on the river: what it would do with each pair is known, so the exact value is too."""
    own, _ = two
    game = Holdem()
    chen = load_bot("chen", game)
    cards = "AhKd9h9d9c7d4hKsJh"
    hand = played(game, "raise call check bet call check bet call check bet raise", {1: chen}, cards)
    at = points_of(hand, 0, {1: chen})[-1]
    for pair in np.flatnonzero(at.ranges[1]):
        view = holdem_view(game, 1, tuple(PAIR_CARDS[pair].tolist()), (), ())
        assert chen.act(view, Dice(0), Clock()) == "raise"
    assert at.ranges[1, pair_number("9h9d")] == pytest.approx(1 / (at.ranges[1] > 0).sum())
    exact = [slow_river(at, [own, chen], number) for number in range(len(at.actions))]
    monkeypatch.setattr(holdem_evaluator, "default_policy", lambda: own.policy)
    monkeypatch.setattr(holdem_evaluator, "affordable_rollouts", lambda bot: 4_000)
    monkeypatch.setattr(holdem_evaluator, "RULES", {})
    found = ev_losses(hand, 0, {1: chen})
    assert f"{4_000 // len(found.decisions):,} rollouts" in found.explain
    last = found.decisions[-1]
    gaps = max(exact) - np.array(exact)
    assert (np.abs(gaps - last.losses) <= 2.2 * np.array(last.intervals) + 0.05).all()


@pytest.mark.slow
def test_what_a_rule_never_does_says_nothing():
    game = Holdem(bets=3)
    bot = load_bot("always-call", game)
    hand = played(game, "call raise call check check", {0: bot})
    found = ev_losses(hand, 1, {0: bot})
    assert found.explain.endswith("this action was not used to infer its cards.")
    at = points_of(hand, 1, {0: bot})[-1]
    assert at.off_policy
    assert (at.ranges[0] > 0).sum() == 47 * 46 // 2
    assert "never" not in ev_losses(played(game, "call check check", {0: bot}), 1, {0: bot}).explain


def test_a_hand_without_decisions_has_no_losses():
    game = Holdem()
    bot = load_bot("always-fold", game)
    found = ev_losses(played(game, "fold", {1: bot}), 0, {1: bot})
    assert found.explain == "You had no decision in this hand."
    assert found.decisions == ()


# Policies to look at


def test_the_grid_of_leduc_has_every_row():
    game, policy = felt.load_game("leduc"), felt.random_policy("leduc", 4)
    grid = policy_grid(game, TreeBot(policy, game))
    assert grid["game"] == "leduc"
    cells = 0
    for seat in grid["players"]:
        for table in seat["tables"]:
            board = table["title"].removeprefix("after the board card ")
            for row in table["rows"]:
                parts = [part.split(", ") if part else [] for part in row["history"].split(" /")]
                seen = [*parts[0], *([board, *(word.strip() for word in parts[1])] if parts[1:] else [])]
                for card, cell in zip(table["cards"], row["cells"], strict=True):
                    found = policy.at(seat["player"], " ".join([card, *seen]))
                    assert list(found) == row["actions"]
                    assert list(found.values()) == cell
                    cells += 1
    assert cells == policy.tree.num_rows
    first = grid["players"][1]["tables"][0]["rows"]
    assert [row["history"] for row in first] == ["check", "bet", "check, bet, raise"]
    assert first[1]["labels"] == ["Fold", "Call 2", "Raise to 4"]
    assert [seat["name"] for seat in grid["players"]] == ["first to act", "second to act"]


def test_the_grid_of_kuhn_speaks_of_folds_and_calls():
    game, policy = felt.load_game("kuhn"), felt.random_policy("kuhn", 4)
    grid = policy_grid(game, TreeBot(policy, game))
    rows = grid["players"][0]["tables"][0]["rows"]
    assert [row["history"] for row in rows] == ["", "check, bet"]
    assert [row["labels"] for row in rows] == [["Check", "Bet 1"], ["Fold", "Call 1"]]
    assert rows[1]["cells"][2] == list(policy.at(0, "K pass bet").values())


def test_the_matrix_of_starting_hands_is_the_policy():
    game = Holdem()
    bot = load_bot("default", game)
    tree = bot.policy.tree
    for line in ([], ["raise"], ["call", "raise", "raise"]):
        found = preflop_matrix(game, bot, line)
        node = tree.find_node(line)
        assert tuple(found["actions"]) == tree.actions(node)
        assert len(found["cells"]) == 169
        overall = np.zeros(len(found["actions"]))
        for pair in PAIR_CARDS.tolist():
            share = list(bot.policy.at_bucket(node, tree.abstraction.bucket(pair)).values())
            assert found["cells"][pair_class(pair)] == pytest.approx(share, abs=1e-12)
            overall += np.array(share) / 1326
        assert found["overall"] == pytest.approx(overall, abs=1e-9)
    assert (
        found["text"] == "the button calls; the big blind raises; the button raises; the big blind is to act"
    )
    assert found["labels"] == ["Fold", "Call 2", "Raise to 8"]
    assert [way["ends"] for way in found["ways"]] == [True, True, False]
    over = preflop_matrix(game, bot, ["raise", "call"])
    assert (over["over"], over["cells"], over["ways"]) == (True, {}, [])
    assert over["text"].endswith("the flop is dealt")
    assert preflop_matrix(game, bot, ["fold"])["text"] == "the button folds; the hand is over"


def test_three_players_before_the_flop():
    found = preflop_matrix(Holdem(3), load_bot("random", Holdem(3)), ["raise", "fold"])
    assert found["text"] == "the button raises; the small blind folds; the big blind is to act"
    assert found["cells"]["72o"] == pytest.approx([1 / 3] * 3)


def test_what_cannot_be_shown_is_reported_in_a_sentence():
    game, leduc = Holdem(), felt.load_game("leduc")
    bot = load_bot("random", game)
    with pytest.raises(FeltError, match="'bet' is not a legal action there; legal are fold, call, raise"):
        preflop_matrix(game, bot, ["bet"])
    with pytest.raises(FeltError, match="over after 'raise, call'"):
        preflop_matrix(game, bot, ["raise", "call", "check"])
    with pytest.raises(FeltError, match="leduc has no starting hands"):
        preflop_matrix(leduc, load_bot("random", leduc), [])
    with pytest.raises(FeltError, match="holdem is too large"):
        policy_grid(game, bot)
    for view, rules in ((policy_grid, (leduc,)), (preflop_matrix, (game,))):
        with pytest.raises(FeltError, match="does not report"):
            view(*rules, Silent(rules[0]), *([] if view is policy_grid else [[]]))


def test_a_bot_that_learns_is_not_taken_at_its_word():
    game = felt.load_game("kuhn")
    bot = load_bot("random", game)
    assert policy_table(bot, 0) is policy_table(bot, 0)
    bot = load_bot("random", game)
    bot.learns = True
    assert policy_table(bot, 0) is None


def test_a_review_is_warmed_up_by_a_hand_of_the_same_bots():
    analyser, asked = HandAnalyser(BotPool()), []
    for game, bots in (("leduc", ["equilibrium"]), ("kuhn(players=3)", ["random", "mcts"])):
        for _ in range(2):
            analyser.warm_up(felt.load_game(game), bots)
        asked.append((game, *bots))
    assert analyser._warm == set(asked)
