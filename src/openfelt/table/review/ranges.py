"""Ranges of the bots in a hand of hold'em: exact weights of all 1,326 hands, given their actions so far.

The weight of a hand is the product of the probabilities with which the bot takes its actions with it. Given
the weights, the hands of several bots are independent, except that they share no card.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.bots.resolve.blueprint import Blueprint
from openfelt.bots.view import HoldemView, holdem_view
from openfelt.cards.deck import CARDS, PAIR_CARDS, PAIRS, pair_number
from openfelt.core.jit import Floats
from openfelt.games.game import CHANCE
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem
from openfelt.policy.holdem import HoldemPolicy
from openfelt.solve.traverse.conditional_deals import pairs_without
from openfelt.table.review.bot_policies import kernel_policy, probabilities

LEAST_COMPATIBLE = 1e-3  # two ranges are replaced by all hands if fewer of their pairs of hands share no card


class DecisionPoint(NamedTuple):
    """A decision of the person, with what could be known there."""

    step: int  # of the hand
    game: Holdem
    seat: int
    hole: tuple[int, ...]
    board: tuple[int, ...]
    line: tuple[str, ...]  # all actions before
    actions: tuple[str, ...]
    ranges: Floats  # [players, 1326] weights that sum to 1; the person's own hand has weight 1
    off_policy: bool  # whether a bot took an action that its policy never takes; it is then ignored


def decision_points(
    game: Holdem, hand: Hand, seat: int, bots: Mapping[int, Bot]
) -> list[DecisionPoint] | None:
    """All decisions of a seat in a hand; None if a bot learns or does not report its probabilities."""
    hole = game.hole(hand.state, seat)
    weights, off_policy = np.ones((game.players, PAIRS)), False
    line: tuple[str, ...] = ()
    points = []
    for place, (step, state) in enumerate(zip(hand.steps, hand.states, strict=True)):
        if step.mover == CHANCE:
            continue
        board = game.board(state)
        if step.mover == seat:
            ranges, is_sound = _ranges(weights, seat, hole, board)
            is_off = off_policy or not is_sound
            points.append(DecisionPoint(place, game, seat, hole, board, line, step.actions, ranges, is_off))
        else:
            bot = bots[step.mover]
            view = holdem_view(game, step.mover, (), board, line)
            likely = None if bot.learns else likelihood(bot, view, hole, step.number)
            if likely is None:
                return None
            possible = weights[step.mover] * likely
            if (possible * pairs_without((*hole, *board))).any():
                weights[step.mover] = possible
            else:
                off_policy = True
        line = (*line, step.action)
    return points


def line_ranges(game: Holdem, hand: Hand, end: int, seats: Mapping[int, Bot]) -> tuple[Floats, set[int]]:
    """[players, 1326] weights before step `end`, given who plays in each seat; the largest of each is 1.

    Also the seats whose action probabilities are not known: their ranges are every hand.
    """
    weights, unknown = np.ones((game.players, PAIRS)), set[int]()
    line: tuple[str, ...] = ()
    for step, state in zip(hand.steps[:end], hand.states[:end], strict=True):
        if step.mover == CHANCE:
            continue
        bot, board = seats[step.mover], game.board(state)
        likely = None
        if not bot.learns:
            likely = likelihood(bot, holdem_view(game, step.mover, (), board, line), (), step.number)
        line = (*line, step.action)
        if likely is None:
            unknown.add(step.mover)
            weights[step.mover] = 1.0
            continue
        possible = weights[step.mover] * likely * pairs_without(board)
        if possible.max() > 0:  # an action that the policy never takes is ignored
            weights[step.mover] = possible / possible.max()
    return weights, unknown


def likelihood(bot: Bot, view: HoldemView, dead: Sequence[int], number: int) -> Floats | None:
    """[1326] probability that a bot takes an action with each hand; None if it does not report it."""
    found = action_shares(bot, view, dead)
    return None if found is None else np.asarray(found[number])


def action_shares(bot: Bot, view: HoldemView, dead: Sequence[int]) -> Floats | None:
    """[actions, 1326] probabilities of a bot's actions with each hand; None if it does not report them.

    `view` is that of the bot, without its cards. Hands with a dead card may have any number.
    """
    policy = kernel_policy(bot)
    if policy is not None:
        return np.asarray(blueprint_of(policy).at(policy.tree.find_node(view.line), view.board))
    if bot.plays_in_kernels and bot.rule:  # it plays all hands alike
        shares = probabilities(bot, view)
        return None if shares is None else np.repeat(np.array(shares)[:, None], PAIRS, axis=1)
    found = np.zeros((len(view.actions), PAIRS))
    for pair in np.flatnonzero(pairs_without((*dead, *view.board))):
        hole = tuple(PAIR_CARDS[pair].tolist())
        own_view = HoldemView(view.rules, view.seat, view.actions, hole, view.board, view.line)
        shares = probabilities(bot, own_view)
        if shares is None:
            return None
        found[:, pair] = shares
    return found


@lru_cache(maxsize=8)
def blueprint_of(policy: HoldemPolicy) -> Blueprint:
    """A policy for all hands of a board at once, without tables."""
    return Blueprint(policy)


def _ranges(weights: Floats, seat: int, hole: Sequence[int], board: Sequence[int]) -> tuple[Floats, bool]:
    """Normalised weights of the possible hands; False if no two hands are compatible, then all hands."""
    possible = pairs_without((*hole, *board))
    ranges = weights * possible
    opponents = [player for player in range(len(weights)) if player != seat]
    is_sound = bool((ranges[opponents].sum(axis=1) > 0).all())
    if is_sound:
        ranges[opponents] /= ranges[opponents].sum(axis=1, keepdims=True)
        is_sound = len(opponents) == 1 or _compatible(*ranges[opponents]) > LEAST_COMPATIBLE
    if not is_sound:
        ranges[:] = possible / possible.sum()
    ranges[seat] = 0.0
    ranges[seat, pair_number(hole)] = 1.0
    return ranges, is_sound


def _compatible(first: Floats, second: Floats) -> float:
    """The probability that hands drawn from two ranges share no card."""
    cards = np.zeros((2, CARDS))
    for held, weights in zip(cards, (first, second), strict=True):
        np.add.at(held, PAIR_CARDS[:, 0], weights)
        np.add.at(held, PAIR_CARDS[:, 1], weights)
    return float(1.0 - cards[0] @ cards[1] + first @ second)  # equal hands were subtracted twice
