"""The state that is sent to a person: the only place that decides which cards leave the server.

Cards are taken from what the rules let the person's seat observe (`Step.seen`), so hidden cards cannot leak.
All cards are open once the hand is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openfelt.games.game import CHANCE, TERMINAL
from openfelt.games.hand import Hand
from openfelt.hands.record import HIDDEN
from openfelt.table.lobby.characters import has_ranges, title_of
from openfelt.table.presentation.presentation import Chips
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.session.fair_dealing import commitment
from openfelt.table.session.hand_log import (
    action_key,
    action_label,
    contested_pot,
    deal_steps,
    distinct_names,
    events,
    hand_log,
    hand_name,
    hole_cards,
    last_actions,
    result_lines,
    showdown,
)
from openfelt.table.session.session import Session
from openfelt.table.session.table_hand import TableHand

LUCK_ADJUSTED = (
    "Your winnings without the luck of the cards and, where their action probabilities are known, of the "
    "bots' random choices (AIVAT). The expected value is that of your winnings, with less variance."
)
NOT_ADJUSTED = "Not available: some hands of this session were saved without it."
OVER = "hand over"
# Stages of a hand that is over: the last bets on the table, the pot before it is paid, all paid.
BETS, POT, PAID = "bets", "pot", "paid"


def session_state(session: Session, *, chart: bool = False, seen: int | None = None) -> dict[str, Any]:
    """The state of a session, ready for JSON; with frames of all that came after the first `seen` steps."""
    score = session.score
    is_next = not session.hand_is_on
    return {
        "type": "state",
        "game": session.game.name,
        "title": presentation_of(session.game).title,
        "unit": session.game.unit,
        "bots": session.bot_names,
        "titles": [title_of(name) for name in session.bot_names],
        "ranges": [has_ranges(name) for name in session.bot_names],
        "hand": _hand(session),
        "frames": [] if seen is None else _frames(session, seen),
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
    hand, names, over = live.hand, distinct_names(session.titles(row.seat), row.seat), live.over
    return {
        "number": row.number,
        "step": len(live.actions),
        "seat": row.seat,
        **table_state(hand, row.seat, names, session.stacks.at(row.seat), all_cards=over),
        "made": hand_name(hand, row.seat),
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
    hand: Hand,
    seat: int,
    names: Sequence[str],
    stacks: Sequence[float] | None,
    *,
    all_cards: bool,
    stage: str = PAID,
) -> dict[str, Any]:
    """Seats, board and pot as the person in `seat` sees them, or with all cards open.

    `stage` is the stage in which a hand that is over is shown: BETS, POT or PAID.
    """
    presentation, is_over = presentation_of(hand.game), hand.mover == TERMINAL
    chips, size = _chips(hand, stage), presentation.hole_size
    cards = [(step.action if all_cards else step.seen[seat]) or HIDDEN for step in deal_steps(hand)]
    shown = {seat, *(hand.game.shown(hand.state) if is_over and stage != BETS else ())}
    won = hand.payoffs if is_over and stage == PAID else None
    pot, returned = sum(chips.paid), [0.0] * hand.game.players
    if is_over and stage != BETS:
        end = contested_pot(hand)
        pot, returned[end.bettor] = end.chips, end.uncalled
    actions = last_actions(hand)
    seats = [
        {
            "name": names[each],
            "you": each == seat,
            "cards": cards[size * each : size * (each + 1)],
            "shown": each in shown,
            "bet": chips.bets[each],
            "paid": chips.paid[each],
            "stack": stacks[each] + (won[each] if won else returned[each] - chips.paid[each])
            if stacks
            else None,
            "folded": chips.folded[each],
            "button": each == presentation.button,
            "post": presentation.forced_bet_names[each],
            "turn": each == hand.mover,
            "action": actions[each],
            "won": won[each] if won else None,
        }
        for each in range(hand.game.players)
    ]
    return {
        "seats": seats,
        "board": cards[size * hand.game.players :],
        "board_size": presentation.board_size,
        "street": OVER if won else chips.street,
        "pot": pot,
    }


def _chips(hand: Hand, stage: str) -> Chips:
    """The chips now; after an action that ended a betting round, with the bets and the name of that round."""
    presentation = presentation_of(hand.game)
    chips = presentation.chips(hand.state)
    if hand.mover >= 0 or not hand.steps or hand.steps[-1].mover == CHANCE:
        return chips
    before = presentation.chips(hand.states[-1])
    added = zip(before.bets, before.paid, chips.paid, strict=True)
    is_in_pot = hand.mover == TERMINAL and stage != BETS
    bets = tuple(0 if is_in_pot else bet + now - then for bet, then, now in added)
    return chips._replace(bets=bets, street=before.street)


def _frames(session: Session, seen: int) -> list[dict[str, Any]]:
    """The table after each event since the first `seen` steps, as the person saw it, but for the present one.

    `lines` is the number of lines of the log at that moment.
    """
    row, live = session.row, session.live
    if row is None or live is None:
        return []
    hand, seat, stacks = live.hand, row.seat, session.stacks.at(row.seat)
    names = distinct_names(session.titles(seat), seat)
    lines = events(hand, seat, names)
    ends = [first for first, _ in lines[1:]] + [len(hand.steps)]
    shots = [
        {
            "lines": 2 + place,
            **table_state(hand.before(end), seat, names, stacks, all_cards=False, stage=BETS),
        }
        for place, end in enumerate(ends)
        if end > seen
    ]
    if hand.mover != TERMINAL:
        return shots[:-1]
    shown = len(result_lines(hand, seat, names)) - 1 - (len(showdown(hand)) > 0)
    end = table_state(hand, seat, names, stacks, all_cards=False, stage=POT)
    for player in showdown(hand):
        end["seats"][player]["cards"] = hole_cards(hand, player)
    return [*shots, {"lines": 1 + len(lines) + shown, **end}]
