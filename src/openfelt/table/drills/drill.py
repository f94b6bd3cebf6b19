"""A decision to practise: a hand that is dealt from a seed and played up to the person's turn."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from openfelt.core.errors import FeltError
from openfelt.table.lobby.characters import title_of
from openfelt.table.lobby.lobby import table_game
from openfelt.table.presentation.presentation import RAISE
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.presentation.text import YOU
from openfelt.table.report.decisions import hand_situations
from openfelt.table.session.hand_log import distinct_names, events, hand_name
from openfelt.table.session.session import BotSource
from openfelt.table.session.table_hand import TableHand
from openfelt.table.session.visibility import action_buttons, table_state

DAMAGED = "A stored drill cannot be read."
NOBODY, PERSON, BOT = "nobody", YOU, "the bot"  # who has the initiative
FIELD_TYPES = {
    "game": str,
    "names": list,
    "seat": int,
    "seed": str,
    "nonce": str,
    "actions": list,
    "link": str,
}


@dataclass(frozen=True)
class Drill:
    """One decision of the person in `seat`."""

    game: str
    names: tuple[str, ...]  # bots by seat; the person is YOU
    seat: int
    seed: str
    nonce: str
    actions: tuple[str, ...]  # of all players, before the decision
    link: str = ""  # of the person's own hand that it is from

    @property
    def key(self) -> str:
        """The name of the drill; nothing of the hand can be told from it."""
        return hashlib.sha256(self.as_json().encode()).hexdigest()[:32]

    def as_json(self) -> str:
        return json.dumps(asdict(self))


def read_drill(text: str) -> Drill:
    """A stored drill; raises FeltError if it cannot have been stored."""
    try:
        fields = json.loads(text)
        if not all(type(fields[name]) is kind for name, kind in FIELD_TYPES.items()):
            raise FeltError(DAMAGED)
        words = {name: tuple(map(str, fields[name])) for name in ("names", "actions")}
        return Drill(**{**{name: fields[name] for name in FIELD_TYPES}, **words})
    except (ValueError, TypeError, KeyError, RecursionError):
        raise FeltError(DAMAGED) from None


def drill_hand(drill: Drill, get_bot: BotSource) -> TableHand:
    """The hand at the decision."""
    game = table_game(drill.game)
    if len(drill.names) != game.players or not 0 <= drill.seat < game.players:
        raise FeltError(DAMAGED)
    bots = {seat: get_bot(name, game) for seat, name in enumerate(drill.names) if seat != drill.seat}
    live = TableHand(game, bots, drill.seat, drill.seed, drill.nonce)
    live.replay(drill.actions)
    if live.hand.mover != drill.seat:
        raise FeltError(DAMAGED)
    return live


def shown_names(drill: Drill) -> tuple[str, ...]:
    """The names of the players as the table shows them."""
    return distinct_names(tuple(map(title_of, drill.names)), drill.seat)


def drill_json(drill: Drill, live: TableHand) -> dict[str, Any]:
    """The decision as the person sees it, ready for JSON: without any hidden card."""
    hand, names = live.hand, shown_names(drill)
    presentation = presentation_of(hand.game)
    street, situation, initiative = spot_of(live, len(hand.steps))
    opening = presentation.opening(names, drill.seat)
    return {
        "drill": drill.key,
        "game": drill.game,
        "title": presentation.title,
        "unit": hand.game.unit,
        "seat": drill.seat,
        "names": names,
        **table_state(hand, drill.seat, names, None, all_cards=False),
        "made": hand_name(hand, drill.seat),
        "account": [opening, *(text for _, text in events(hand, drill.seat, names))],
        "actions": action_buttons(hand),
        "position": presentation.position(drill.seat),
        "street": street,
        "situation": situation,
        "initiative": initiative,
        "link": drill.link,
    }


def spot_of(live: TableHand, place: int, seat: int | None = None) -> tuple[str, str, str]:
    """Street, situation and who has the initiative, at the decision before step `place`."""
    seat = live.seat if seat is None else seat
    hand = live.hand.before(place)
    presentation = presentation_of(hand.game)
    hand.act(0)  # any action: what counts is what came before
    spots = hand_situations(hand)
    _, street, situation = spots[-1]
    raisers = [
        hand.steps[step].mover
        for step, earlier, _ in spots
        if earlier != street and presentation.action_kind(hand.states[step], hand.steps[step].action) == RAISE
    ]
    initiative = NOBODY if not raisers else PERSON if raisers[-1] == seat else BOT
    return street, situation, initiative
