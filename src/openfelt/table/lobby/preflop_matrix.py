"""The policy of a bot with the 169 starting hands of hold'em, as the matrix of the page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.bots.view import holdem_view
from openfelt.cards.deck import PAIR_CARDS, PREFLOP, RANKS
from openfelt.cards.hand_classes import CELL_CLASS, CELLS, cell_means
from openfelt.core.errors import FeltError
from openfelt.games.game import Game
from openfelt.games.holdem import Betting, Holdem, HoldemState, bet, betting_actions, first_betting, is_over
from openfelt.table.lobby.policy_grid import NO_PROBABILITIES
from openfelt.table.presentation.holdem import HoldemPresentation
from openfelt.table.presentation.text import verb
from openfelt.table.review.bot_policies import probabilities
from openfelt.table.session.hand_log import action_label


@singledispatch
def preflop_matrix(game: Game, bot: Bot, line: Sequence[str]) -> dict[str, Any]:
    """The policy with each starting hand after a betting line before the flop."""
    raise FeltError(f"{game.name} has no starting hands of two cards; holdem has.")


@preflop_matrix.register
def _(game: Holdem, bot: Bot, line: Sequence[str]) -> dict[str, Any]:
    presentation = HoldemPresentation(game)
    betting, events = _follow(presentation, line)
    over = _is_over(betting)
    if is_over(betting):
        events.append("the hand is over")
    elif over:
        events.append("the flop is dealt")
    else:
        events.append(f"{presentation.position(betting.turn)} is to act")
    actions = () if over else betting_actions(betting)
    state = HoldemState((0,) * 2 * game.players, betting)
    labels = [action_label(game, state, action) for action in actions]
    cells, overall = ({}, []) if over else _hands(game, bot, betting.turn, line)
    ways = [
        {"word": action, "label": label, "ends": _is_over(bet(betting, action))}
        for action, label in zip(actions, labels, strict=True)
    ]
    return {
        "title": presentation.title,
        "game": game.name,
        "line": list(line),
        "text": "; ".join(events),
        "over": over,
        "actions": list(actions),
        "labels": labels,
        "ranks": RANKS[::-1],
        "cells": cells,
        "overall": overall,
        "ways": ways,
    }


def _follow(presentation: HoldemPresentation, line: Sequence[str]) -> tuple[Betting, list[str]]:
    """The betting after a line, and the line in words."""
    game = presentation.game
    betting, events = first_betting(game.players, game.bets), list[str]()
    for action in line:
        if _is_over(betting):
            raise FeltError(f"The betting before the flop is over after '{', '.join(line[: len(events)])}'.")
        actions = betting_actions(betting)
        if action not in actions:
            raise FeltError(f"'{action[:20]}' is not a legal action there; legal are {', '.join(actions)}.")
        position = presentation.position(betting.turn)
        events.append(f"{position} {verb(position, action)}")
        betting = bet(betting, action)
    return betting, events


def _is_over(betting: Betting) -> bool:
    """Whether the betting before the flop is over."""
    return is_over(betting) or betting.street > PREFLOP


def _hands(
    game: Holdem, bot: Bot, seat: int, line: Sequence[str]
) -> tuple[dict[str, list[float]], list[float]]:
    """The probabilities by starting hand, averaged over its suits, and averaged over all 1,326 hands."""
    by_pair: list[tuple[float, ...]] = []
    for pair in PAIR_CARDS.tolist():
        shares = probabilities(bot, holdem_view(game, seat, tuple(pair), (), tuple(line)))
        if shares is None:
            raise FeltError(NO_PROBABILITIES)
        by_pair.append(shares)
    policy = np.array(by_pair)  # [1326, actions]
    means = cell_means(policy).reshape(CELLS, -1)
    return dict(zip(CELL_CLASS, means.tolist(), strict=True)), policy.mean(axis=0).tolist()
