"""The state that is sent to a program that plays (docs/bot-api.md): what a person sees, without texts."""

from __future__ import annotations

from typing import Any

from openfelt.games.game import CHANCE
from openfelt.games.hand import Hand
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.session.fair_dealing import commitment
from openfelt.table.session.session import Session
from openfelt.table.session.visibility import table_state


def program_state(session: Session, **_: object) -> dict[str, Any]:
    """The state of a match, ready for JSON; which cards it has is decided in `visibility.table_state`."""
    number, promise = session.next_number, session.commitment
    return {
        "type": "state",
        "match": session.id,
        "game": session.game.name,
        "bots": session.bot_names,
        "unit": session.game.unit,
        "hand": _hand(session),
        "next": None if session.hand_is_on else {"hand": number, "commitment": promise},
        "score": _score(session),
        "notice": session.notice,
    }


def _hand(session: Session) -> dict[str, Any] | None:
    row, live = session.row, session.live
    if row is None or live is None:
        return None
    hand, seat, over = live.hand, row.seat, live.over
    table = table_state(hand, seat, session.names(seat), None, all_cards=over)
    seats = table["seats"]
    return {
        "number": row.number,
        "step": len(live.actions),
        "seat": seat,
        "names": session.names(seat),
        "button": presentation_of(hand.game).button,
        "cards": [each["cards"] for each in seats],
        "shown": [each["shown"] for each in seats],
        "board": table["board"],
        "street": table["street"],
        "paid": [each["paid"] for each in seats],
        "folded": [each["folded"] for each in seats],
        "line": _line(hand),
        "actions": hand.actions if hand.mover == seat else (),
        "over": over,
        "won": hand.payoffs if over else None,
        "luck_adjusted": row.luck_free if over else None,
        "commitment": commitment(row.seed),
        "nonce": row.nonce,
        "seed": row.seed if over else None,
        "link": row.link if over else None,
    }


def _line(hand: Hand) -> list[dict[str, Any]]:
    """All actions, which every player sees, with the betting rounds."""
    chips = presentation_of(hand.game).chips
    return [
        {"seat": step.mover, "action": step.action, "street": chips(state).street}
        for step, state in zip(hand.steps, hand.states, strict=True)
        if step.mover != CHANCE
    ]


def _score(session: Session) -> dict[str, Any]:
    summary = session.score.summary()
    return {
        "hands": summary["hands"],
        "won": summary["won"],
        "rate": summary["rate"],
        "interval": summary["interval"],
        "rate_unit": summary["rate_unit"],
        "luck_adjusted": summary["luck_free"],
    }
