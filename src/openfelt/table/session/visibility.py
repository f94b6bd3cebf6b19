"""The state that is sent to a person: the only place that decides which cards leave the server.

Cards are taken from what the rules let the person's seat observe (`Step.seen`), so hidden cards cannot leak.
All cards are open once the hand is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openfelt.games.game import TERMINAL
from openfelt.games.hand import Hand
from openfelt.hands.record import HIDDEN
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.session.fair_dealing import commitment
from openfelt.table.session.hand_log import action_key, action_label, deal_steps, distinct_names, hand_log
from openfelt.table.session.session import Session
from openfelt.table.session.table_hand import TableHand

LUCK_ADJUSTED = (
    "Your winnings without the luck of the cards and of the bots' random choices (AIVAT). The expected value "
    "is the same as that of your winnings, with less variance."
)
NOT_ADJUSTED = "Not available: a bot does not report its action probabilities."
OVER = "hand over"


def session_state(session: Session, *, chart: bool = False) -> dict[str, Any]:
    """The state of a session, ready for JSON."""
    score = session.score
    is_next = not session.hand_is_on
    return {
        "type": "state",
        "game": session.game.name,
        "title": presentation_of(session.game).title,
        "unit": session.game.unit,
        "bots": session.bot_names,
        "hand": _hand(session),
        "next": {"number": session.next_number, "commitment": session.commitment} if is_next else None,
        "score": {
            **score.summary(),
            "luck_free_why": LUCK_ADJUSTED if score.is_adjusted else NOT_ADJUSTED,
            "chart": score.chart() if chart else None,
        },
        "notice": session.notice,
    }


def _hand(session: Session) -> dict[str, Any] | None:
    row, live = session.row, session.live
    if row is None or live is None:
        return None
    hand, names, over = live.hand, distinct_names(session.names(row.seat), row.seat), live.over
    return {
        "number": row.number,
        "step": len(live.actions),
        "seat": row.seat,
        **table_state(hand, row.seat, names, session.stacks.at(row.seat), all_cards=over),
        "actions": action_buttons(hand) if hand.mover == row.seat else [],
        "account": [*hand_log(hand, row.seat, names, row.number), *(_faults(live, names) if over else [])],
        "over": over,
        "won": hand.payoffs[row.seat] if over else None,
        "commitment": commitment(row.seed),
        "nonce": row.nonce,
        "seed": row.seed if over else None,
        "link": row.link if over else None,
    }


def _faults(live: TableHand, names: Sequence[str]) -> list[str]:
    return [f"{names[seat]} {fault}; it checked or folded." for seat, fault in live.faults]


def action_buttons(hand: Hand) -> list[dict[str, str]]:
    """The legal actions, with the labels and keys of their buttons."""
    game, state = hand.game, hand.state
    return [
        {"word": action, "label": action_label(game, state, action), "key": action_key(game, state, action)}
        for action in hand.actions
    ]


def table_state(
    hand: Hand, seat: int, names: Sequence[str], stacks: Sequence[float] | None, *, all_cards: bool
) -> dict[str, Any]:
    """Seats, board and pot as the person in `seat` sees them, or with all cards open."""
    presentation = presentation_of(hand.game)
    chips, size = presentation.chips(hand.state), presentation.hole_size
    cards = [(step.action if all_cards else step.seen[seat]) or HIDDEN for step in deal_steps(hand)]
    won = hand.payoffs if hand.mover == TERMINAL else None
    seats = [
        {
            "name": names[each],
            "you": each == seat,
            "cards": cards[size * each : size * (each + 1)],
            "bet": 0 if won else chips.bets[each],
            "paid": chips.paid[each],
            "stack": stacks[each] + (won[each] if won else -chips.paid[each]) if stacks else None,
            "folded": chips.folded[each],
            "button": each == presentation.button,
            "post": presentation.forced_bet_names[each],
            "turn": each == hand.mover,
            "won": won[each] if won else None,
        }
        for each in range(hand.game.players)
    ]
    return {
        "seats": seats,
        "board": cards[size * hand.game.players :],
        "board_size": presentation.board_size,
        "street": OVER if won else chips.street,
        "pot": sum(chips.paid),
    }
