"""What is shown to a person: the one place where it is decided which cards leave the server.

Cards are taken from what the rules say that his seat has seen (`Step.seen`), so a card that is hidden from
him is not in reach here; all are open once the hand is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openfelt.games.game import TERMINAL
from openfelt.games.hand import Hand
from openfelt.hands.record import HIDDEN
from openfelt.table.lobby.lobby import title
from openfelt.table.session.chips import chips, furniture
from openfelt.table.session.fair_dealing import commitment
from openfelt.table.session.session import Session
from openfelt.table.session.table_hand import TableHand
from openfelt.table.session.wording import account, action_key, action_label, chance_steps, told_apart

LUCK = (
    "Winnings with the luck taken out that is known: of the cards, and of the draws of the bots, whose "
    "probabilities are known (AIVAT). In the mean it is what you really win, with less noise."
)
OVER = "hand over"
NO_LUCK = "Luck cannot be taken out, as the probabilities of a bot are not known."


def state_of(session: Session, *, chart: bool = False) -> dict[str, Any]:
    """All that the page shows of a session."""
    score = session.score
    return {
        "type": "state",
        "game": session.game.name,
        "title": title(session.game),
        "unit": session.game.unit,
        "bots": session.bot_names,
        "hand": _hand(session),
        "next": None if session.on else {"number": session.next_number, "commitment": session.commitment},
        "score": {
            **score.summary(),
            "luck_free_why": LUCK if score.knows_luck else NO_LUCK,
            "chart": score.chart() if chart else None,
        },
        "notice": session.notice,
    }


def _hand(session: Session) -> dict[str, Any] | None:
    row, live = session.row, session.live
    if row is None or live is None:
        return None
    hand, names, over = live.hand, told_apart(session.names(row.seat), row.seat), live.over
    mine = hand.mover == row.seat
    stacks = session.stacks.at(row.seat)
    return {
        "number": row.number,
        "step": len(live.actions),
        "seat": row.seat,
        **table_of(hand, row.seat, names, stacks, everything=over),
        "actions": actions_of(hand) if mine else [],
        "account": [*account(hand, row.seat, names, row.number), *(_faults(live, names) if over else [])],
        "over": over,
        "won": hand.payoffs[row.seat] if over else None,
        "commitment": commitment(row.seed),
        "nonce": row.nonce,
        "seed": row.seed if over else None,
        "link": row.link if over else None,
    }


def _faults(live: TableHand, names: Sequence[str]) -> list[str]:
    return [f"{names[seat]} {what}; it checked or folded." for seat, what in live.faults]


def actions_of(hand: Hand) -> list[dict[str, str]]:
    """What the one to move can do, for buttons."""
    game, state = hand.game, hand.state
    return [
        {"word": word, "label": action_label(game, state, word), "key": action_key(game, state, word)}
        for word in hand.actions
    ]


def table_of(
    hand: Hand, seat: int, names: Sequence[str], stacks: Sequence[float] | None, *, everything: bool
) -> dict[str, Any]:
    """Seats, board and pot as the person in `seat` sees them; or everything, as it is after the hand."""
    game, fixed, lies = hand.game, furniture(hand.game), chips(hand.game, hand.state)
    seen = [(step.action if everything else step.seen[seat]) or HIDDEN for step in chance_steps(hand)]
    won = hand.payoffs if hand.mover == TERMINAL else None
    seats = [
        {
            "name": names[each],
            "you": each == seat,
            "cards": seen[fixed.hole * each : fixed.hole * (each + 1)],
            "bet": 0 if won else lies.bets[each],
            "paid": lies.paid[each],
            "stack": stacks[each] + (won[each] if won else -lies.paid[each]) if stacks else None,
            "folded": lies.folded[each],
            "button": each == fixed.button,
            "post": fixed.posts[each],
            "turn": each == hand.mover,
            "won": won[each] if won else None,
        }
        for each in range(game.players)
    ]
    return {
        "seats": seats,
        "board": seen[fixed.hole * game.players :],
        "board_size": fixed.board,
        "street": OVER if won else lies.street,
        "pot": sum(lies.paid),
    }
