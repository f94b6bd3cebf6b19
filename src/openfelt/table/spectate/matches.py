"""Matches between bots, hand by hand, with all cards open. No person plays in them, so nothing is hidden.

They are not stored: a match is forgotten when the server stops, or when many others were begun after it.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from openfelt.bots.bot import Bot
from openfelt.core.errors import FeltError, MissingError
from openfelt.games.game import CHANCE, Game
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.lobby.characters import has_ranges, title_of
from openfelt.table.lobby.lobby import table_game
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.presentation.text import card_signs
from openfelt.table.review.replay import hand_equities, step_facts
from openfelt.table.review.step_ranges import step_ranges
from openfelt.table.session.fair_dealing import new_seed
from openfelt.table.session.hand_log import events, hole_cards, result_lines
from openfelt.table.session.session import seat_in
from openfelt.table.session.table_hand import NO_SEAT, TableHand
from openfelt.table.session.visibility import table_state

MOST_MATCHES = 100
KEPT_HANDS = 2  # of a match, for their ranges


class Match:
    """Hand after hand between the same bots; the seats rotate."""

    def __init__(self, game: Game, names: Sequence[str], bots: Sequence[Bot]) -> None:
        self.game, self.bots = game, bots
        self.titles = _numbered([title_of(name) for name in names])
        self.ranges = [has_ranges(name) for name in names]
        self.number, self.won = 0, [0.0] * game.players  # chips by bot
        self._hands: dict[int, tuple[TableHand, tuple[str, ...]]] = {}  # the last two, with names by seat

    def next_hand(self) -> dict[str, Any]:
        """Play the next hand; the whole of it, ready for JSON."""
        self.number += 1
        players, first = self.game.players, seat_in(self.number, self.game)
        seat_of = [(first + bot) % players for bot in range(players)]
        live = TableHand(self.game, dict(zip(seat_of, self.bots, strict=True)), NO_SEAT, new_seed(), "")
        live.advance()
        live.end()
        names = tuple(self.titles[(seat - first) % players] for seat in range(players))
        self._hands[self.number] = live, names
        self._hands.pop(self.number - KEPT_HANDS, None)
        for bot, seat in enumerate(seat_of):
            self.won[bot] += live.hand.payoffs[seat]
        return self._json(live, names, first)

    def _json(self, live: TableHand, names: tuple[str, ...], first: int) -> dict[str, Any]:
        hand, presentation = live.hand, presentation_of(self.game)
        steps = events(hand, 0, names)
        ends = [start for start, _ in steps[1:]] + [len(hand.steps)]
        equities = hand_equities(hand, 0, ends)
        texts = [_hole_text(live, names), *(text for _, text in steps[1:])]
        return {
            "game": self.game.name,
            "title": presentation.title,
            "unit": self.game.unit,
            "number": self.number,
            "bottom": first,  # the seat of the first bot
            "seat": NO_SEAT,
            "names": names,
            "bots": self.titles,
            "ranges": self.ranges,
            "won": list(self.won),
            "faults": [f"{names[seat]} {what}; it checked or folded." for seat, what in live.faults],
            "steps": [
                {**step_facts(live, start, end, text, names), "equities": shares}
                for (start, _), end, text, shares in zip(steps, ends, texts, equities, strict=True)
            ],
            "end": table_state(hand, NO_SEAT, names, None, all_cards=True),
            "result": " ".join(result_lines(hand, 0, names)[:-1]),
        }

    def step_ranges(self, number: int, place: int) -> dict[str, Any]:
        """The ranges at a step of one of the last hands: before a decision, after a deal."""
        if number not in self._hands:
            raise FeltError("The match has moved on to another hand.")
        live, names = self._hands[number]
        starts = [start for start, _ in events(live.hand, 0, names)]
        if not 0 <= place < len(starts):
            raise FeltError(f"The hand has no step {place}.")
        start, end = starts[place], [*starts[1:], len(live.hand.steps)][place]
        step = end if live.hand.steps[start].mover == CHANCE else start
        return step_ranges(live.hand, NO_SEAT, live.bots, step, names)


def _hole_text(live: TableHand, names: Sequence[str]) -> str:
    held = [f"{name} holds {card_signs(hole_cards(live.hand, seat))}" for seat, name in enumerate(names)]
    return f"{'; '.join(held)}."


def _numbered(names: Sequence[str]) -> list[str]:
    """Names in which equal ones have a number."""
    return [
        f"{name} {1 + list(names[:place]).count(name)}" if list(names).count(name) > 1 else name
        for place, name in enumerate(names)
    ]


class Matches:
    """All matches of a server; for one thread."""

    def __init__(self, bots: BotPool) -> None:
        self._bots = bots
        self._matches: OrderedDict[str, Match] = OrderedDict()

    def begin(self, game: object, names: object) -> dict[str, Any]:
        """Begin a match; returns its id."""
        if not isinstance(game, str):
            raise FeltError("A match needs the name of a game.")
        rules = table_game(game)
        if not isinstance(names, list) or len(names) != rules.players:
            raise FeltError(f"{presentation_of(rules).title} needs {rules.players} bots.")
        words = [str(name) for name in names]
        match = Match(rules, words, [self._bots.get(name, rules) for name in words])
        key = secrets.token_urlsafe(16)
        self._matches[key] = match
        while len(self._matches) > MOST_MATCHES:
            self._matches.popitem(last=False)
        return {"match": key}

    def next_hand(self, key: str) -> dict[str, Any]:
        """The next hand of a match."""
        return self._match(key).next_hand()

    def step_ranges(self, key: str, number: int, place: int) -> dict[str, Any]:
        """The ranges at a step of one of the last hands of a match."""
        return self._match(key).step_ranges(number, place)

    def _match(self, key: str) -> Match:
        if key not in self._matches:
            raise MissingError("This match is over; begin another one.")
        self._matches.move_to_end(key)
        return self._matches[key]
