"""Ranges at a step of a review: what each player's actions imply, and what is done with each hand of a range.

They follow from the public actions and the board alone, not from the cards that the players held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.bots.view import HoldemView, holdem_view
from openfelt.cards.deck import RANKS, card_text
from openfelt.cards.hand_classes import CELL_CLASS, CELLS, cell_means
from openfelt.core.errors import FeltError
from openfelt.core.jit import Floats
from openfelt.games.game import CHANCE
from openfelt.games.hand import Hand
from openfelt.games.holdem import Holdem
from openfelt.solve.traverse.conditional_deals import pairs_without
from openfelt.table.review.hand_spots import stand_in
from openfelt.table.review.ranges import action_shares, line_ranges
from openfelt.table.session.hand_log import action_label

BY_POLICY = "By its action probabilities."
AS_STAND_IN = "As {name} would play in your place."
UNKNOWN = "Its action probabilities are not known, so it may hold any hand."


def step_ranges(
    hand: Hand, seat: int, bots: Mapping[int, Bot], step: int, names: Sequence[str]
) -> dict[str, Any]:
    """The ranges before step `step` of a finished hand, ready for JSON.

    A stand-in plays in the person's `seat`; without a person no seat is replaced.
    """
    game = hand.game
    if not isinstance(game, Holdem):
        raise FeltError("Ranges of a hand are shown in hold'em only.")
    state = (*hand.states, hand.state)[step]
    board = game.board(state)
    seats, substitute = bots, ""
    if len(bots) < game.players:
        own, substitute = stand_in(game, seat, bots)
        seats = {**bots, seat: own}
    weights, unknown = line_ranges(game, hand, step, seats)
    line = tuple(each.action for each in hand.steps[:step] if each.mover != CHANCE)
    players = []
    for each in range(game.players):
        if state.betting.folded[each]:
            continue
        note = AS_STAND_IN.format(name=substitute) if each not in bots else BY_POLICY
        known = each not in unknown
        player = {"name": names[each], "you": each not in bots, "note": note if known else UNKNOWN}
        possible = pairs_without(board)
        held = weights[each] * possible
        held = held / held.max() if held.any() else possible
        player |= _range(held, possible)
        if known and each == game.turn(state) and not seats[each].learns:
            player |= _strategy(game, hand, step, seats[each], held, line)
        players.append(player)
    return {"board": [card_text(card) for card in board], "ranks": RANKS[::-1], "players": players}


def _range(weights: Floats, possible: Floats) -> dict[str, Any]:
    """The mean weight of the possible hands of each class, and the share of all hands."""
    counts = cell_means(possible).reshape(CELLS)
    means = cell_means(weights).reshape(CELLS) / np.where(counts > 0, counts, 1.0)
    cells = dict(zip(CELL_CLASS, means.tolist(), strict=True))
    return {"weights": cells, "share": float(weights.sum() / possible.sum()), "actions": [], "labels": []}


def _strategy(
    game: Holdem, hand: Hand, step: int, bot: Bot, weights: Floats, line: tuple[str, ...]
) -> dict[str, Any]:
    """The action probabilities of the player to act by class, and over its whole range."""
    state = (*hand.states, hand.state)[step]
    view: HoldemView = holdem_view(game, game.turn(state), (), game.board(state), line)
    shares = action_shares(bot, view, ())
    if shares is None or not weights.any():
        return {}
    sums = cell_means((weights * shares).T).reshape(CELLS, -1)
    totals = cell_means(weights).reshape(CELLS)
    cells = {
        name: (sums[cell] / totals[cell]).tolist() for cell, name in enumerate(CELL_CLASS) if totals[cell] > 0
    }
    words = game.actions(state)
    return {
        "cells": cells,
        "overall": (shares @ weights / weights.sum()).tolist(),
        "actions": list(words),
        "labels": [action_label(game, state, word) for word in words],
    }
