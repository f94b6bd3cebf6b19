"""Lines as text: "x b120 c 2s x", the actions and cards since the beginning of a spot.

Actions are f (fold), x (check), c (call), b120 (bet 120), r300 (raise to 300) and a (all-in); between streets
stands the card that is dealt. Blanks, commas, dashes and slashes may separate them. A line without cards
("x x / b120") is a line on any turn or river.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from openfelt.cards.deck import STREETS, card_text, parse_cards
from openfelt.core.errors import FeltError
from openfelt.spots.betting import ON
from openfelt.spots.spot import Spot

TOKEN = re.compile(r"[fxca]|[br]\d{1,10}|[2-9TJQKAtjqk][cdhsCDHS]")
SEPARATORS = re.compile(r"[\s,/|-]+")
MOST_TOKENS = 200


class Line(NamedTuple):
    """Actions and cards, in order."""

    tokens: tuple[str, ...]

    @property
    def cards(self) -> tuple[int, ...]:
        """The cards that are dealt."""
        return parse_cards("".join(token for token in self.tokens if is_card(token)))

    @property
    def actions(self) -> tuple[str, ...]:
        return tuple(token for token in self.tokens if not is_card(token))

    def __str__(self) -> str:
        return " ".join(self.tokens)


def is_card(token: str) -> bool:
    """Whether a token of a line is a card."""
    return len(token) == 2 and token[1] in "cdhs"


def parse_line(text: str) -> Line:
    """A line from text."""
    tokens = [token for token in SEPARATORS.split(text.strip()) if token]
    if len(tokens) > MOST_TOKENS:
        raise FeltError(f"A line has at most {MOST_TOKENS} actions and cards, not {len(tokens)}.")
    found = []
    for token in tokens:
        if not TOKEN.fullmatch(token):
            raise FeltError(
                f"'{token[:20]}' is neither an action (f, x, c, b120, r300, a) nor a card (2s) in the line "
                f"'{text[:60]}'."
            )
        found.append(
            card_text(parse_cards(token)[0]) if len(token) == 2 and token[1] in "cdhsCDHS" else token
        )
    return Line(tuple(found))


def find_place(spot: Spot, line: Line) -> tuple[int, int]:
    """The street (0 for the spot's first) and the place that a line leads to.

    Cards are optional, but they stand where a card is dealt.
    """
    street, place = 0, 0
    dealt = False  # whether the card of this street was given
    for number, token in enumerate(line.tokens):
        here = spot.streets[street].places[place]
        if is_card(token):
            if here.kind == ON and (dealt or street == 0):  # both are all-in
                street, place, went_on = follow_street(spot, street, place)
                dealt = dealt and not went_on
            if street == 0 or dealt or spot.streets[street].places[place].line:
                raise FeltError(f"No card is dealt before '{token}' in the line '{line}'.")
            dealt = True
            continue
        codes = [action.code for action in here.actions]
        if token not in codes:
            allowed = f"; the actions are {', '.join(codes)}." if codes else ": the betting has ended."
            before = " ".join(line.tokens[:number]) or "at the beginning"
            raise FeltError(f"'{token}' is not possible after '{before}'{allowed}")
        place = here.children[codes.index(token)]
        street, place, went_on = follow_street(spot, street, place)
        dealt = dealt and not went_on
    return street, place


def follow_street(spot: Spot, street: int, place: int) -> tuple[int, int, bool]:
    """The root of the next street if a place ends this one; when both are all-in, still only the next."""
    here = spot.streets[street].places[place]
    if here.kind == ON and spot.streets[street].street < len(STREETS) - 1:
        root = int(spot.streets[street].arrays.next_root[place])
        return street + 1, int(spot.streets[street + 1].arrays.root[root]), True
    return street, place, False
