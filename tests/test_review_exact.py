"""EV losses of the review beside exact values of hold'em: 250 decisions, 50 of each kind.

On the river beside the kernel that reviews many hands, on the turn beside a slow twin, on the flop beside the
exact engine, with sampled turns beside all turns, and before the flop against a bot that always calls, where
the loss follows from the exact equity.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from random_hands import played
from slow_best_response import slow_values

from openfelt.bots.policy_bot import policy_bot
from openfelt.bots.registry import load_bot
from openfelt.cards.deck import PAIR_CARDS, pair_number
from openfelt.cards.equity import equity
from openfelt.cards.public_cards import Deck
from openfelt.core.random import starts
from openfelt.games.compile.compiler import compile_any
from openfelt.games.hand import Hand
from openfelt.games.holdem import BET, Holdem
from openfelt.games.registry import load_game
from openfelt.hands.check import replay
from openfelt.hands.record import HandRecord
from openfelt.measure.holdem.flop_solver import FlopSolver, Task, reach_at_flop
from openfelt.measure.holdem.player import policy_player
from openfelt.measure.holdem.street_walk import met_by
from openfelt.policy.holdem import HoldemPolicy, quantised
from openfelt.solve.traverse.conditional_deals import pairs_without
from openfelt.solve.vector.betting_lines import children
from openfelt.table.report.holdem_review import _lines, line_plan
from openfelt.table.report.policy_review import PolicyReview
from openfelt.table.review.best_response import best_response_losses
from openfelt.table.review.evaluator import hand_evaluator
from openfelt.table.review.fixed_play import fixed_play
from openfelt.table.review.ranges import DecisionPoint, decision_points
from openfelt.table.session.table_hand import TableHand

OF_EACH = 50
COVERED = 0.92  # at least, of 95% intervals
RIVER_ONLY = np.array([0, 0, 0, 1], np.int32)
GAME = Holdem()
pytestmark = pytest.mark.slow


@cache
def random_policy() -> HoldemPolicy:
    """Dense: every betting line is reached with every hand."""
    tree = compile_any(load_game("holdem(buckets='ehs2:169/5/5/5')"))
    return quantised(tree, np.random.default_rng(1).random(tree.num_slots))


def hand_of(record: HandRecord) -> Hand:
    hand = Hand(GAME)
    for step in replay(record).steps:
        hand.act(list(hand.actions).index(step.word))
    return hand


def decisions(cards: int) -> Iterator[tuple[HandRecord, Hand, int, DecisionPoint]]:
    """The first decisions of random players on the street with that many cards on the board."""
    dice, bot = random.Random(1), policy_bot(random_policy(), GAME)
    while True:
        record, seat = played(GAME, dice), dice.randrange(2)
        hand = hand_of(record)
        for point in decision_points(GAME, hand, seat, {1 - seat: bot}) or ():
            if len(point.board) == cards:
                yield record, hand, seat, point
                break


def test_losses_on_rivers_are_exact():
    """As in the review of many hands, which computes them by a kernel of its own."""
    policy, largest = random_policy(), 0.0
    exact, bot = PolicyReview(policy), policy_bot(policy, GAME)
    for (record, hand, seat, point), _ in zip(decisions(5), range(OF_EACH), strict=False):
        lines = _lines(policy.tree, [record], [seat], [line_plan(policy.tree, record.actions)])
        found = hand_evaluator(hand, seat, {1 - seat: bot}).ev_losses(point.step)
        wanted = exact.losses(lines, RIVER_ONLY, starts(0, 1)[0]).loss[-len(found.decisions) :]
        assert found.exact
        for decision, losses in zip(found.decisions, wanted, strict=True):
            assert decision.losses == pytest.approx(losses[: len(decision.losses)], abs=1e-9)
            assert not any(decision.intervals)
            largest = max(largest, *decision.losses)
    assert largest > 5


def test_values_on_turns_are_exact():
    bot = policy_bot(random_policy(), GAME)
    for (_, hand, seat, point), _ in zip(decisions(4), range(OF_EACH), strict=False):
        found = hand_evaluator(hand, seat, {1 - seat: bot}).ev_losses(point.step)
        assert found.exact
        assert found.decisions[0].values == pytest.approx(slow_values(point, bot), abs=1e-9)


def test_values_on_flops_are_those_of_the_exact_engine():
    """The engine's best response to the policy: the values of all hands at the first decision on a flop."""
    player, deck, bot = policy_player(random_policy()), Deck(), policy_bot(random_policy(), GAME)
    play = fixed_play(bot, GAME.bets)
    flop = deck.flops[1000]
    engine, _ = FlopSolver(Task(player, 0), deck, "double").by_hand(flop)
    reach, dice = reach_at_flop(player, 1, deck)[0], random.Random(2)
    lines = {node: line for line, node in _flop_lines(player.betting.node)}
    live = np.flatnonzero(pairs_without(flop.cards))
    for _ in range(OF_EACH):
        pair, root = dice.choice(live.tolist()), dice.randrange(reach.shape[1])
        hole = tuple(PAIR_CARDS[pair].tolist())
        theirs = reach[:, root] * pairs_without((*hole, *flop.cards))
        own = np.eye(len(PAIR_CARDS))[pair_number(hole)]
        ranges = np.stack([own, theirs / theirs.sum()])
        line = lines[int(player.betting.flop_roots[root])]
        at = DecisionPoint(0, GAME, 0, hole, flop.cards, line, ("check", "bet"), ranges, False)
        (decision,) = best_response_losses([at], play)
        met = met_by(reach[:, root] * pairs_without(flop.cards))[pair]
        assert max(decision.values) == pytest.approx(engine[0, pair, root] / met, abs=1e-6)


def _flop_lines(node, here=0, line=()):
    """(line, node) of each root of the flop."""
    tree = random_policy().tree
    if tree.street(here) > 0:
        return [(line, here)]
    found = []
    for child, word in zip(children(node, here), tree.actions(here), strict=True):
        if node[child, 0] >= 0:
            found += _flop_lines(node, child, (*line, word))
    return found


def is_covered(losses, intervals, exact) -> bool:
    return bool((np.abs(np.array(losses) - exact) <= np.array(intervals) + 1e-9).all())


def test_losses_with_sampled_turns_are_within_their_intervals():
    bot, covered = policy_bot(random_policy(), GAME), 0
    play = fixed_play(bot, GAME.bets)
    for (_, _, _, point), _ in zip(decisions(3), range(OF_EACH), strict=False):
        (exact,), (found,) = (best_response_losses([point], play, effort) for effort in (1, 1 / 6))
        assert not any(exact.value_intervals)
        assert any(found.value_intervals)
        covered += is_covered(found.losses, found.intervals, np.array(exact.losses))
    print(f"sampled turns: {covered} of {OF_EACH} within their intervals")
    assert covered >= COVERED * OF_EACH


def test_losses_before_the_flop_are_within_their_intervals():
    """A bet of b chips is always called, so it wins 2 b e - b more than a check.

    e is the exact equity against all hands. A best response continues alike after both, except for the pot.
    """
    bot, covered = load_bot("always-call", GAME), 0
    for number in range(OF_EACH):
        seat = number % 2
        live = TableHand(GAME, {1 - seat: bot}, seat, f"{number:064x}", "")
        live.advance()
        hand = live.hand
        passive, raising = hand.actions.index(GAME.passive(hand.state)), len(hand.actions) - 1
        hole = GAME.hole(hand.state, seat)
        others = PAIR_CARDS[pairs_without(hole) > 0].tolist()
        gain = BET[0] * (2 * float(np.mean([equity(hole, pair) for pair in others])) - 1)
        hand.act(raising)
        (decision,) = hand_evaluator(hand, seat, live.bots).ev_losses().decisions
        wanted = np.zeros(2)
        wanted[int(gain <= 0)] = abs(gain)
        places = [passive, raising]
        covered += is_covered(np.array(decision.losses)[places], np.array(decision.intervals)[places], wanted)
    print(f"before the flop: {covered} of {OF_EACH} within their intervals")
    assert covered >= COVERED * OF_EACH
