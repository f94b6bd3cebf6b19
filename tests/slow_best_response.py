"""A best response to a bot from the turn on, card by card: the slow twin of that of the review."""

from __future__ import annotations

import numpy as np

from openfelt.bots.bot import Bot
from openfelt.bots.view import HoldemView, holdem_view
from openfelt.cards.deck import BOARD_CARDS, CARDS, PAIR_CARDS, PAIRS, RIVER
from openfelt.cards.evaluator import hand_value, hand_values
from openfelt.core.jit import Floats
from openfelt.games.holdem import Betting, bet, betting_actions, is_over, players_in
from openfelt.solve.traverse.conditional_deals import pairs_without
from openfelt.table.review.ranges import DecisionPoint, action_shares


def slow_values(at: DecisionPoint, bot: Bot) -> Floats:
    """[actions] what the person wins by each, and a best response afterwards."""
    begun = HoldemView(at.game, at.seat, (), (), (), at.line).betting
    reach = at.ranges[1 - at.seat]
    return np.array(
        [_value(at, bot, bet(begun, word), (*at.line, word), at.board, reach) for word in at.actions]
    )


def _value(
    at: DecisionPoint,
    bot: Bot,
    betting: Betting,
    line: tuple[str, ...],
    board: tuple[int, ...],
    reach: Floats,
) -> float:
    """What the person wins from the hands of the bot that get here, times their reach [1326]."""
    if is_over(betting) and len(players_in(betting)) == 1:
        won = sum(betting.paid) * (at.seat in players_in(betting)) - betting.paid[at.seat]
        return float(reach.sum() * won)
    if len(board) < BOARD_CARDS[min(betting.street, RIVER)]:
        more = [card for card in range(CARDS) if card not in (*at.hole, *board)]
        each = [
            _value(at, bot, betting, line, (*board, card), reach * pairs_without((card,))) for card in more
        ]
        return sum(each) / (len(more) - 2)
    if is_over(betting):
        hands = np.concatenate([PAIR_CARDS, np.broadcast_to(board, (PAIRS, len(board)))], axis=1)
        lead = np.sign(hand_value((*at.hole, *board)) - hand_values(hands.astype(np.uint8)))
        return float((reach * lead).sum() * betting.paid[at.seat])
    words = betting_actions(betting)
    if betting.turn == at.seat:
        return max(_value(at, bot, bet(betting, word), (*line, word), board, reach) for word in words)
    shares = action_shares(bot, holdem_view(at.game, betting.turn, (), board, line), at.hole)
    assert shares is not None
    return sum(
        _value(at, bot, bet(betting, word), (*line, word), board, reach * likely)
        for word, likely in zip(words, shares, strict=True)
    )
