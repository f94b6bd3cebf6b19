"""Spots from finished hands of hold'em: the street of a step, with the ranges that the bots' policies imply.

The range of a bot consists of the probabilities with which it takes its actions so far with each hand. The
person's range is that of a stand-in: `default`, or the bot in the other seat where `default` does not play.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.bots.policy_bot import policy_bot
from openfelt.cards.deck import BOARD_CARDS, FLOP, PAIR_CARDS, RIVER, STREETS, cards_text
from openfelt.cards.ranges import format_range
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.game import CHANCE
from openfelt.games.hand import Hand
from openfelt.games.holdem import BIG_BLIND, MOST_BETS, Holdem
from openfelt.spots.spot import PLAYERS
from openfelt.table.review.bot_strategy import BotStrategy, has_strategy
from openfelt.table.review.holdem_evaluator import default_policy
from openfelt.table.review.ranges import line_ranges

DECIMALS = 3  # of the weights
EXPLAIN = (
    "The {street} of a hand against {bot}, with limit betting. The ranges follow from the actions so far: "
    "{bot} as it plays, you as {substitute} would play in your place."
)
UNKNOWN = " The action probabilities of {names} are not known, so its range is every hand."


class HandSpot(NamedTuple):
    """The form of the spot solver, ready for JSON, and what the bot plays in the spot, if that is known."""

    form: dict[str, Any]
    name: str  # of the bot
    player: str  # "oop" or "ip", likewise
    strategy: BotStrategy | None


def hand_spot(hand: Hand, seat: int, bots: Mapping[int, Bot], step: int, name: str) -> HandSpot:
    """The spot at the beginning of the street that a finished hand reached after `step` steps."""
    game = hand.game
    if not isinstance(game, Holdem) or game.players != 2 or game.bets != MOST_BETS:
        raise FeltError("Only hands of two-player limit hold'em with four bets a street can be solved.")
    if not 0 <= step <= len(hand.steps):
        raise FeltError(f"The hand has no step {step}.")
    board = game.board((*hand.states, hand.state)[step])
    street = BOARD_CARDS.index(len(board)) if len(board) in BOARD_CARDS else 0
    if street < FLOP:
        raise FeltError("A spot begins on the flop, turn or river; choose a later step of the hand.")
    first = next(
        each
        for each, (taken, state) in enumerate(zip(hand.steps, hand.states, strict=True))
        if taken.mover != CHANCE and len(game.board(state)) == len(board)
    )
    start = hand.states[first].betting
    own, substitute = stand_in(game, seat, bots)
    weights, unknown = line_ranges(game, hand, first, {**bots, seat: own})
    weights[:, np.isin(PAIR_CARDS, board).any(axis=1)] = 0.0
    texts = [_text(row) for row in weights]
    oop = start.turn
    bets = sum(BIG_BLIND if each == FLOP else 2 * BIG_BLIND for each in range(street, RIVER + 1))
    notice = EXPLAIN.format(street=STREETS[street], bot=name, substitute=substitute)
    if unknown:
        notice += UNKNOWN.format(names=name)
    form = {
        "oop": texts[oop],
        "ip": texts[1 - oop],
        "board": cards_text(board),
        "pot": sum(start.paid),
        "stack": MOST_BETS * bets + BIG_BLIND,  # more than can be bet: nobody is all-in
        "bets": "limit",
        "raises": "none",
        "big_blind": BIG_BLIND,
        "notice": f"{notice} You are {'OOP' if seat == oop else 'IP'}.",
    }
    bot, line = bots[1 - seat], tuple(each.action for each in hand.steps[:first] if each.mover != CHANCE)
    strategy = BotStrategy(bot, game, 1 - seat, line) if has_strategy(bot) else None
    return HandSpot(form, name, PLAYERS[seat == oop], strategy)


def stand_in(game: Holdem, seat: int, bots: Mapping[int, Bot]) -> tuple[Bot, str]:
    """Who plays in the person's place, and its name in a sentence."""
    if game.unabstracted == Holdem():
        return policy_bot(default_policy(), game), "the bot default"
    return bots[(seat + 1) % game.players], "the same bot"


def _text(weights: Floats) -> str:
    """A range as text, without hands that are hardly ever held."""
    top = weights.max()
    return format_range(np.round(weights / top, DECIMALS)) if top > 0 else "random"
