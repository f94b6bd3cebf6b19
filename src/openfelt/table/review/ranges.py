"""What the bots may hold in a hand of hold'em: exact weights of all 1,326 pairs, by their actions so far.

A pair's weight is the product of the probabilities with which the bot would have done with it what it did.
Given these, the hands of several bots are independent but for sharing no card.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.bots.policy_bot import HoldemBot
from openfelt.bots.rule_bot import RuleBot
from openfelt.bots.view import HoldemView, holdem_view
from openfelt.cards.deck import CARDS, PAIR_CARDS, PAIRS, pair_number
from openfelt.core.jit import Floats
from openfelt.games.game import CHANCE
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem
from openfelt.solve.traverse.conditional_deals import pairs_without
from openfelt.table.review.bot_policies import probabilities

LEAST_APART = 1e-3  # the chance that hands drawn from two beliefs share no card, below which they are dropped


class Situation(NamedTuple):
    """A decision of the person, and what he could know."""

    step: int  # of the hand
    game: Holdem
    seat: int
    hole: tuple[int, ...]
    board: tuple[int, ...]
    line: tuple[str, ...]  # the words of all actions before
    actions: tuple[str, ...]
    beliefs: Floats  # [players, 1326] weights that sum to 1; of the person his own pair
    strayed: bool  # whether a bot did before what it never does, which then says nothing of its hand


def situations(hand: Hand, seat: int, bots: Mapping[int, Bot]) -> list[Situation] | None:
    """All decisions of a seat in a hand; None if a bot does not say what it would have done, or learns."""
    game = hand.game
    assert isinstance(game, Holdem)
    hole = game.hole(hand.state, seat)
    weights, strayed = np.ones((game.players, PAIRS)), False
    line: tuple[str, ...] = ()
    found = []
    for place, (step, state) in enumerate(zip(hand.steps, hand.states, strict=True)):
        if step.mover == CHANCE:
            continue
        board = game.board(state)
        if step.mover == seat:
            beliefs, sound = _believed(weights, seat, hole, board)
            found.append(
                Situation(place, game, seat, hole, board, line, step.actions, beliefs, strayed or not sound)
            )
        else:
            if bots[step.mover].learns:
                return None
            likely = likelihood(bots[step.mover], step.mover, hole, board, line, step.number)
            if likely is None:
                return None
            possible = weights[step.mover] * likely
            if (possible * pairs_without((*hole, *board))).any():
                weights[step.mover] = possible
            else:
                strayed = True
        line = (*line, step.action)
    return found


def likelihood(
    bot: Bot, seat: int, dead: Sequence[int], board: Sequence[int], line: Sequence[str], number: int
) -> Floats | None:
    """[1326] how likely a bot takes the action of that number with each pair; None if it does not say.

    Pairs with a dead card may have any number.
    """
    game = bot.game
    assert isinstance(game, Holdem)
    if bot.plays_in_kernels and isinstance(bot, HoldemBot):
        return bot.policy.of_all_pairs(bot.policy.tree.find_node(line), board)[:, number]
    if bot.plays_in_kernels and isinstance(bot, RuleBot):  # whatever the cards
        view = holdem_view(game, seat, (), board, line)
        return np.full(PAIRS, bot.weights(view)[number] / bot.whole)
    first = holdem_view(game, seat, (), board, line)
    found = np.zeros(PAIRS)
    for pair in np.flatnonzero(pairs_without((*dead, *board))):
        view = HoldemView(
            game, seat, first.actions, tuple(PAIR_CARDS[pair].tolist()), tuple(board), tuple(line)
        )
        shares = probabilities(bot, view)
        if shares is None:
            return None
        found[pair] = shares[number]
    return found


def _believed(weights: Floats, seat: int, hole: Sequence[int], board: Sequence[int]) -> tuple[Floats, bool]:
    """Weights that sum to 1, of pairs that can be. False if no two hands can be: then any may be."""
    possible = pairs_without((*hole, *board))
    beliefs = weights * possible
    others = [player for player in range(len(weights)) if player != seat]
    sound = bool((beliefs[others].sum(axis=1) > 0).all())
    if sound:
        beliefs[others] /= beliefs[others].sum(axis=1, keepdims=True)
        sound = len(others) == 1 or _apart(*beliefs[others]) > LEAST_APART
    if not sound:
        beliefs[:] = possible / possible.sum()
    beliefs[seat] = 0.0
    beliefs[seat, pair_number(hole)] = 1.0
    return beliefs, sound


def _apart(first: Floats, second: Floats) -> float:
    """The chance that pairs drawn from two beliefs share no card."""
    cards = np.zeros((2, CARDS))
    for held, belief in zip(cards, (first, second), strict=True):
        np.add.at(held, PAIR_CARDS[:, 0], belief)
        np.add.at(held, PAIR_CARDS[:, 1], belief)
    return float(1.0 - cards[0] @ cards[1] + first @ second)  # equal pairs were taken off twice
