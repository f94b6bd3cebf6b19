"""Chooses how a hand is evaluated: exactly in enumerated games, by rollouts in hold'em."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from openfelt.bots.bot import Bot
from openfelt.games.game import Game
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem
from openfelt.table.review.ev_loss import HandEvaluator
from openfelt.table.review.exact_evaluator import ExactEvaluator
from openfelt.table.review.holdem_evaluator import HoldemEvaluator


def hand_evaluator(hand: Hand, seat: int, bots: Mapping[int, Bot], effort: float = 1.0) -> HandEvaluator:
    """The evaluator of a finished hand of the person in `seat`; `bots` are the opponents by seat.

    `effort` scales the number of rollouts.
    """
    return _evaluator(hand.game, hand, seat, bots, effort)


@singledispatch
def _evaluator(game: Game, hand: Hand, seat: int, bots: Mapping[int, Bot], effort: float) -> HandEvaluator:
    return ExactEvaluator(hand, seat, bots)


@_evaluator.register
def _(game: Holdem, hand: Hand, seat: int, bots: Mapping[int, Bot], effort: float) -> HandEvaluator:
    return HoldemEvaluator(game, hand, seat, bots, effort)
