"""What each decision of a person has lost, against the best that he could have done in its place.

In Kuhn poker and Leduc hold'em that is exact: the bots play their policies, and the person plays on as well
as can be. In hold'em it is estimated by rollouts (`rollouts.py`), and nobody knows how to play on perfectly:
the person plays on as `default` would, or where `default` does not play the game as the bot in the next seat.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.bots.formula.ace1 import Ace1
from openfelt.bots.formula.chen import Chen
from openfelt.bots.policy_bot import HoldemBot
from openfelt.core.jit import Floats
from openfelt.games.compile.compiler import compile_game
from openfelt.games.hand import Hand
from openfelt.games.holdem import MOST_BETS, Holdem
from openfelt.measure.action_values import action_values
from openfelt.policy.files import DEFAULT, load_policy
from openfelt.policy.holdem import HoldemPolicy
from openfelt.policy.tabular import uniform_policy
from openfelt.table.review.bot_policies import nodes_of, policy_table
from openfelt.table.review.ranges import situations
from openfelt.table.review.rollouts import by_asking, by_numbers

ROLLOUTS = 100_000  # a decision, in kernels
ASKED_ROLLOUTS: dict[type[Bot], int] = {Ace1: 6_000, Chen: 5_000}  # a hand, some two seconds
FEW_ROLLOUTS = 2_000  # the same with other bots
SLIP = 1e-6  # how often a bot is taken to do anything, where it did what it never does
HALF = 1.96  # standard errors in half of a 95% interval

UNKNOWN = (
    "What an action loses is not known here, as a bot learns from hand to hand, or does not tell how likely "
    "it takes which action."
)
NO_DECISION = "You had nothing to decide in this hand."
EXACT = "Exact: what each action wins in the mean against the bots, if you play on perfectly against them."
ESTIMATED = (
    "Estimated from {count:,} rollouts with each action: the bots hold what they may after all they did, and "
    "play on as they do, you play on as {follower} would; ± is half of a 95% interval of the loss."
)
STRAYED = " A bot did what it never does by its own policy; that was taken to say nothing of its cards."
FOLLOWS_DEFAULT, FOLLOWS_BOT = "the bot default", "the bot in the next seat"


@dataclass(frozen=True)
class DecisionLoss:
    """Of one decision; by action, in the order of the rules."""

    step: int  # its place among the steps of the hand
    values: tuple[float, ...]  # chips that the hand wins in the mean
    losses: tuple[float, ...]  # against the best of them
    intervals: tuple[float, ...]  # half of the 95% interval of the loss; 0 where it is exact


@dataclass(frozen=True)
class Losses:
    """Of all decisions of a person in a hand."""

    explain: str
    exact: bool
    decisions: tuple[DecisionLoss, ...]


def losses(hand: Hand, seat: int, bots: Mapping[int, Bot]) -> Losses:
    """What the actions that `seat` had in a hand are worth against the bots, by seat, and what each loses.

    Bots are asked about other hands than the one played, so they should not be at a table meanwhile.
    """
    if not any(step.mover == seat for step in hand.steps):
        return Losses(NO_DECISION, False, ())
    return _estimated(hand, seat, bots) if isinstance(hand.game, Holdem) else _exact(hand, seat, bots)


def _exact(hand: Hand, seat: int, bots: Mapping[int, Bot]) -> Losses:
    tree = compile_game(hand.game)
    even = uniform_policy(tree).probabilities
    profile, rows = even.copy(), tree.rows
    for player in range(tree.players):
        if player != seat:
            table = policy_table(bots[player], player)
            if table is None:
                return Losses(UNKNOWN, False, ())
            first, last = rows.first_slot[rows.first_row[player : player + 2]]
            profile[first:last] = table[first:last]
    values = action_values(tree, profile, seat)
    with_slips = action_values(tree, (1 - SLIP) * profile + SLIP * even, seat)
    decisions, strayed = [], False
    for place, (step, node) in enumerate(zip(hand.steps, nodes_of(hand, tree)[:-1], strict=True)):
        if step.mover == seat:
            slots = tree.slots(int(tree.nodes.row[node]))
            is_stray = bool(np.isnan(values[slots]).any())
            strayed |= is_stray
            worth = (with_slips if is_stray else values)[slots]
            decisions.append(_decision(place, worth, np.zeros_like(worth)))
    return Losses(EXACT + STRAYED * strayed, not strayed, tuple(decisions))


def _estimated(hand: Hand, seat: int, bots: Mapping[int, Bot]) -> Losses:
    assert isinstance(hand.game, Holdem)
    found = situations(hand, seat, bots)
    if found is None:
        return Losses(UNKNOWN, False, ())
    seats, text = _seats(hand.game, seat, bots)
    quick = all(bot.plays_in_kernels for bot in seats)
    count = ROLLOUTS if quick else _asked_rollouts(seats) // len(found)
    decisions = [
        _decision(at.step, *_summed(by_numbers(at, seats, count) if quick else by_asking(at, seats, count)))
        for at in found
    ]
    explain = ESTIMATED.format(count=count, follower=text)
    return Losses(explain + STRAYED * any(at.strayed for at in found), False, tuple(decisions))


def _seats(game: Holdem, seat: int, bots: Mapping[int, Bot]) -> tuple[list[Bot], str]:
    """Who plays on in each seat, and who for the person, in words."""
    if game.players == 2 and game.bets == MOST_BETS:
        own: Bot = HoldemBot(default_policy(), game)
        text = FOLLOWS_DEFAULT
    else:
        own, text = bots[(seat + 1) % game.players], FOLLOWS_BOT
    seats = [own if player == seat else bots[player] for player in range(game.players)]
    for bot in seats:
        if isinstance(bot, HoldemBot):
            bot.use_tables()
    return seats, text


@cache
def default_policy() -> HoldemPolicy:
    """The policy by which the person plays on."""
    policy = load_policy(DEFAULT)
    assert isinstance(policy, HoldemPolicy)
    return policy


def _asked_rollouts(seats: Sequence[Bot]) -> int:
    """How many a hand gets where bots are asked: not by a clock, so that the result is always the same."""
    return min(ASKED_ROLLOUTS.get(type(bot), FEW_ROLLOUTS) for bot in seats if not bot.plays_in_kernels)


def _summed(won: Floats) -> tuple[Floats, Floats]:
    """From what was won [hands, actions]: the means, and the intervals of their differences to the best."""
    means = won.mean(axis=0)
    behind = won[:, [int(means.argmax())]] - won
    return means, HALF * behind.std(axis=0, ddof=1) / math.sqrt(len(won))


def _decision(step: int, values: Floats, intervals: Floats) -> DecisionLoss:
    behind = values.max() - values
    return DecisionLoss(step, tuple(values.tolist()), tuple(behind.tolist()), tuple(intervals.tolist()))
