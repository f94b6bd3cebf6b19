"""Exact values of two-player hold'em, compared with enumeration on small decks and a slow twin."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest
from small_holdem import ALIKE, SlowFlop, SmallHoldem, live_cards, live_pairs, random_player, tree_policy
from speed import slow

from openfelt.cards.boards import PERMUTED_CARD, board_set, find_board
from openfelt.cards.deck import PAIR_CARDS, PAIRS, card_text, parse_cards
from openfelt.cards.public_cards import Deck, Flop, plan_flop
from openfelt.core.errors import FeltError
from openfelt.games.compile.compiler import compile_game
from openfelt.measure.exploitability import exploitability, values_against
from openfelt.measure.holdem.flop import deal_hands, sort_hands
from openfelt.measure.holdem.flop_solver import FlopSolver, Task, solve
from openfelt.measure.holdem.player import mixed, rule_player
from openfelt.measure.mixture import mixture
from openfelt.solve.vector.street_kernels import meet, new_hands, new_street_workspace, show_down

NINE, TEN, TWELVE = Deck(3, 3), Deck(5, 2), Deck(3, 4)
BOTH = (0, 1)


@cache
def nine_cards():
    """The whole game with one bet a street, and very different players."""
    game = SmallHoldem(NINE.ranks, NINE.suits, bets=1)
    players = [
        random_player(NINE, 1, seed=1),
        random_player(NINE, 1, seed=2, buckets=5),
        random_player(NINE, 1, seed=3, pure=0.6),
        random_player(NINE, 1, seed=4, buckets=3, pure=1.0),
    ]
    return game, players, [tree_policy(compile_game(game), player) for player in players]


def all_flops(deck: Deck) -> list[Flop]:
    """All flops, without suit symmetry."""
    return [Flop(cards, np.zeros(1, np.int64)) for cards in combinations(live_cards(deck), 3)]


@pytest.mark.slow
@pytest.mark.parametrize("which", range(4))
def test_best_responses_are_those_of_the_enumerated_game(which):
    _, players, policies = nine_cards()
    best = exploitability(policies[which]).best_responses
    assert [solve(Task(players[which], seat), NINE) for seat in BOTH] == pytest.approx(best, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("ours", "other"), [(0, 1), (1, 0), (2, 3), (3, 0), (1, 1)])
def test_expected_values_are_those_of_the_enumerated_game(ours, other):
    _, players, policies = nine_cards()
    found = [solve(Task(players[other], seat, players[ours]), NINE) for seat in BOTH]
    assert found == pytest.approx(values_against(policies[ours], policies[other]), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("bets", [1, 4])
@pytest.mark.parametrize("pure", [0.0, 0.6])
def test_single_precision_is_close_to_double(bets, pure):
    player, other = (random_player(NINE, bets, seed, pure=pure) for seed in (5, 6))
    for seat in BOTH:
        for task in (Task(player, seat), Task(player, seat, other)):
            assert solve(task, NINE, precision="single") == pytest.approx(
                solve(task, NINE), rel=1e-5, abs=1e-6
            )


@pytest.mark.slow
@pytest.mark.parametrize(("parts", "weights"), [((0, 1), (1, 3)), ((3, 1, 2), (0.2, 0.5, 0.3))])
def test_mixtures_are_those_of_the_enumerated_game(parts, weights):
    _, players, policies = nine_cards()
    one, other = mixture([policies[part] for part in parts], weights), [players[part] for part in parts]
    best = exploitability(one).best_responses
    found = [solve(Task(mixed(other, weights), seat), NINE) for seat in BOTH]
    assert found == pytest.approx(best, abs=1e-9)
    part = [solve(Task(other[0], seat), NINE) for seat in BOTH]
    assert abs(sum(found) - sum(part)) > 0.01  # it is another game than that against one of them
    found = [solve(Task(mixed(other, weights), seat, players[0]), NINE) for seat in BOTH]
    assert found == pytest.approx(values_against(policies[0], one), abs=1e-9)


@pytest.mark.slow
def test_a_mixture_of_a_player_with_itself():
    one = random_player(NINE, 2, seed=1)
    twice = mixed([one, one], [1, 2])
    assert solve(Task(twice, 0), NINE) == pytest.approx(solve(Task(one, 0), NINE), abs=1e-12)


@pytest.mark.slow
def test_mixtures_of_little():
    one, two = random_player(NINE, 2, seed=1), random_player(NINE, 2, seed=2)
    assert mixed([one, two], [0, 5]) is two
    assert mixed([one, one], [1, 2]).name == f"0.3333 {one.name} + 0.6667 {one.name}"
    for weights in ([1], [1, -1], [0, 0], [1, np.nan], [1, np.inf]):
        with pytest.raises(FeltError, match="one non-negative weight per player"):
            mixed([one, two], weights)
    with pytest.raises(FeltError, match="same number of bets"):
        mixed([one, random_player(NINE, 3, seed=2)], [1, 1])


def flop_values(task: Task, deck: Deck, flop: tuple[int, ...]):
    """[roots, 1326] the engine's values before it averages over classes of hole cards."""
    values, _ = FlopSolver(task, deck).by_hand(Flop(flop, np.zeros(1, np.int64)))
    return values[0, :, : len(task.other.betting.flop_roots)].T


FLOPS = [
    slow(NINE, "AcKdQh", 4, 0.0),  # three suits alike but for their ranks
    slow(NINE, "AcAdAh", 4, 0.5),  # all permutations keep it
    slow(TEN, "AcKcTc", 2, 0.5),  # flushes and straights
    slow(TEN, "KcKdJd", 3, 0.0),
    slow(TEN, "QcJcTd", 3, 0.7),
    slow(NINE, "AcKcQd", 2, 0.5),
    slow(TWELVE, "AcAdKh", 2, 0.0),  # four suits, two of them alike
    slow(TWELVE, "AsKsQs", 2, 0.5),
    (TWELVE, "KdQdQs", 1, 0.0),
]


@pytest.mark.slow
@pytest.mark.parametrize(("deck", "cards", "bets", "pure"), FLOPS)
def test_a_flop_is_worth_what_the_slow_twin_finds(deck, cards, bets, pure):
    flop = parse_cards(cards)
    slow = SlowFlop(deck, flop, bets)
    other = random_player(deck, bets, seed=7, pure=pure)
    ours = random_player(deck, bets, seed=8, buckets=6, pure=pure)
    pairs = live_pairs(deck)
    rest = np.setdiff1d(np.arange(PAIRS), pairs)
    for seat in BOTH:
        for task in (Task(other, seat), Task(other, seat, ours)):
            values = flop_values(task, deck, flop)
            expected = slow.values(task.other, task.seat, task.ours)
            assert sorted(expected) == sorted(other.betting.flop_roots.tolist())
            wanted = np.array([expected[node] for node in other.betting.flop_roots.tolist()])
            np.testing.assert_allclose(values[:, pairs], wanted, rtol=0, atol=1e-9)
            assert abs(wanted).max() > 1
            assert not values[:, rest].any()


@pytest.mark.slow
@pytest.mark.parametrize(("deck", "bets"), [(TEN, 1), slow(TWELVE, 1)])
def test_one_flop_counts_for_all_that_are_like_it(deck, bets):
    other, ours = random_player(deck, bets, seed=9), random_player(deck, bets, seed=10)
    for task in (Task(other, 0), Task(other, 1, ours)):
        assert solve(task, deck) == pytest.approx(solve(task, deck, flops=all_flops(deck)), abs=1e-9)


@pytest.mark.slow
def test_several_threads_find_the_same():
    player = random_player(NINE, 2, seed=11)
    assert solve(Task(player, 0), NINE, threads=3) == solve(Task(player, 0), NINE)


@pytest.mark.slow
def test_what_one_wins_the_other_loses():
    one, two = random_player(NINE, 3, seed=12, pure=0.3), random_player(NINE, 3, seed=13, buckets=4)
    for seat in BOTH:
        won, lost = solve(Task(two, seat, one), NINE), solve(Task(one, 1 - seat, two), NINE)
        assert won == pytest.approx(-lost, abs=1e-9)
        assert abs(won) > 1e-3
        assert solve(Task(two, seat), NINE) > won


@pytest.mark.slow
@pytest.mark.parametrize("bets", [2, 3, 4])
def test_always_fold_loses_750_mbb_a_game(bets):
    """The small blind folds 1 chip, the big blind 2 to a raise; a big blind is 2 chips."""
    player = rule_player("always-fold", bets)
    assert [solve(Task(player, seat), NINE) for seat in BOTH] == pytest.approx([1.0, 2.0], abs=1e-12)
    raises = rule_player("always-raise", bets)
    assert [solve(Task(player, seat, raises), NINE) for seat in BOTH] == pytest.approx([1.0, 2.0], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["always-call", slow("always-raise")])
def test_blind_players_break_even(name):
    """All hands are shown, for the same pot: by symmetry nobody wins."""
    for seat in BOTH:
        assert solve(Task(rule_player(name), seat, rule_player("always-call")), TEN) == pytest.approx(
            0, abs=1e-9
        )


# Deals.


def test_flops_of_the_full_deck():
    flops = Deck().flops
    assert len(flops) == 1755
    assert sum(flop.multiplicity for flop in flops) == math.comb(52, 3)
    for flop in flops[::50]:
        assert len(set(seen_through(flop.cards, flop.seen_as))) == flop.multiplicity


def seen_through(cards, orders):
    """The images of a set of cards under permutations of suits."""
    return [tuple(sorted(PERMUTED_CARD[order, list(cards)].tolist())) for order in orders]


def test_smaller_decks_hold_the_highest_cards():
    names = [card_text(card) for card in np.flatnonzero(TEN.live)]
    assert " ".join(names) == "Tc Td Jc Jd Qc Qd Kc Kd Ac Ad"
    assert np.flatnonzero(TEN.pairs).tolist() == live_pairs(TEN)
    for deck in (NINE, TEN, TWELVE):
        seen = [each for flop in deck.flops for each in seen_through(flop.cards, flop.seen_as)]
        assert sorted(seen) == list(combinations(live_cards(deck), 3))


def burnside(hole: bool) -> list[int]:
    """How many flops, with turns, with rivers are different up to suits, with or without hole cards.

    The mean over permutations of suits of those that they keep: sets of cards are kept that are whole cycles,
    and single cards that are cycles of one.
    """
    totals = [0, 0, 0]
    for order in permutations(range(4)):
        cycles = {1: 0, 2: 0, 3: 0, 4: 0}
        for suit in range(4):
            length, at = 1, order[suit]
            while at != suit:
                length, at = length + 1, order[at]
            cycles[length] += 1
        ones, twos, threes = cycles[1] * 13, cycles[2] // 2 * 13, cycles[3] // 3 * 13
        holes = [(math.comb(ones, 2), 2, 0), (twos, 0, 1)] if hole else [(1, 0, 0)]
        for ways, fixed, paired in holes:
            one, two = max(ones - fixed, 0), twos - paired
            for kept, used in ((math.comb(one, 3), 3), (one * two, 1), (threes, 0)):
                totals[0] += ways * kept
                totals[1] += ways * kept * (one - used)
                totals[2] += ways * kept * (one - used) * (one - used - 1)
    return [total // 24 for total in totals]


@pytest.mark.slow
def test_kinds_of_turns_and_rivers_are_as_many_as_burnside_counts():
    # With hole cards the numbers are known: Waugh 2013, A fast and optimal hand isomorphism algorithm.
    assert burnside(hole=True) == [1_286_792, 55_190_538, 2_428_287_420]
    plans = [plan_flop(Deck(), flop) for flop in Deck().flops]
    counts = [len(plans), sum(plan.turns for plan in plans), sum(plan.rivers for plan in plans)]
    assert counts == burnside(hole=False)


@pytest.mark.slow
@pytest.mark.parametrize("cards", ["AcAdAh", "2c3c4c", "7c7d2c", "TcTs5h"])
def test_orbits_cover_every_turn_and_river_once(cards):
    deck, flop = Deck(), parse_cards(cards)
    plan, turns = plan_flop(deck, Flop(flop, np.zeros(1, np.int64))), []
    for turn in range(plan.turns):
        card, orders = plan.turn[turn], plan.turn_as[plan.turn_first[turn] : plan.turn_first[turn + 1]]
        turns += PERMUTED_CARD[orders, card].tolist()
        assert set(seen_through(flop, orders)) == {tuple(sorted(flop))}
        check_board(plan, 1 + turn, (*flop, card))
        rivers = []
        for river in range(plan.of_turn[turn], plan.of_turn[turn + 1]):
            last, orders = (
                plan.river[river],
                plan.river_as[plan.river_first[river] : plan.river_first[river + 1]],
            )
            rivers += PERMUTED_CARD[orders, last].tolist()
            assert set(seen_through(flop, orders)) == {tuple(sorted(flop))}
            assert set(PERMUTED_CARD[orders, card]) == {card}
            check_board(plan, 1 + plan.turns + river, (*flop, card, last))
        assert sorted(rivers) == sorted({*range(52)} - {*flop, card})
    assert sorted(turns) == sorted({*range(52)} - {*flop})
    check_board(plan, 0, flop)


def check_board(plan, which, board):
    """It is the canonical board of its number, seen through its permutation."""
    assert plan.number[which] == find_board(board)[0]
    canonical = canonical_cards(len(board))[plan.number[which]]
    assert seen_through(board, [plan.through[which]]) == [tuple(canonical)]


@cache
def canonical_cards(size):
    """[boards, cards]"""
    return board_set(size).cards().tolist()


# One river of the full deck.


def river(cards: str):
    """The hands of a river in the engine's order, and phevaluator's rank of each (the best is the least)."""
    from phevaluator import evaluate_cards  # missing where only the cases for GPUs are run

    board, hands = np.array(parse_cards(cards), np.int32), new_hands(1)
    one_bucket = np.zeros((1, 1, PAIRS), ALIKE)
    deal_hands(Deck().live, board, (0, 0), one_bucket, one_bucket, hands)
    sort_hands(board, hands, np.zeros(PAIRS, np.int64))
    count = int(hands.size[0])
    pairs = PAIR_CARDS[hands.pair[:count]]
    names = [card_text(card) for card in board]
    rank = np.array([evaluate_cards(*names, card_text(low), card_text(high)) for low, high in pairs.tolist()])
    return hands, pairs, rank


@pytest.mark.slow
@pytest.mark.parametrize("cards", ["Ah7d7c2s9h", "KhQhJh2c2d", "TsJsQsKsAs", "5c6d7h8s9c"])
def test_a_river_is_shown_down_as_phevaluator_judges(cards):
    hands, pairs, rank = river(cards)
    count = len(pairs)
    assert count == math.comb(47, 2)
    assert (np.diff(rank) <= 0).all()
    ends = [int(np.flatnonzero(rank == each)[-1]) + 1 for each in rank]
    assert hands.end[:count].tolist() == ends
    work = new_street_workspace(np.float64)
    draw = np.random.default_rng(1)
    work.reach[:count] = draw.random((count, work.reach.shape[1])) * (draw.random((count, 1)) < 0.7)
    work.pot[:] = draw.integers(2, 48, len(work.pot))
    meet(hands, work)
    show_down(hands, work)
    low, high = pairs.T
    apart = (low[:, None] != low) & (low[:, None] != high) & (high[:, None] != low) & (high[:, None] != high)
    beats = np.sign(rank - rank[:, None]) * apart
    np.testing.assert_allclose(work.met[:count], apart @ work.reach[:count], rtol=0, atol=1e-9)
    np.testing.assert_allclose(work.call[:count], work.pot * (beats @ work.reach[:count]), rtol=0, atol=1e-8)


@pytest.mark.slow
def test_if_the_board_plays_nobody_wins():
    hands, pairs, rank = river("TsJsQsKsAs")
    assert set(rank.tolist()) == {1}
    work = new_street_workspace(np.float64)
    work.reach[: len(pairs)] = np.random.default_rng(2).random((len(pairs), work.reach.shape[1]))
    work.pot[:] = 10
    meet(hands, work)
    show_down(hands, work)
    assert abs(work.call).max() < 1e-8


# What is refused.


def test_what_makes_no_sense_is_refused():
    for ranks, suits in ((2, 4), (4, 2), (14, 4), (13, 5), (13, 0)):
        with pytest.raises(FeltError, match="need a deck of 9 cards"):
            Deck(ranks, suits)
    with pytest.raises(FeltError, match="different numbers of bets"):
        solve(Task(rule_player("random", 3), 0, rule_player("random", 4)), NINE)
    with pytest.raises(FeltError, match="no rule 'never'"):
        rule_player("never")
