"""The form of a spot, as a page sends it: checked field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from openfelt.cards.hand_classes import CELLS
from openfelt.cards.ranges import format_range, parse_range, range_matrix
from openfelt.core.errors import FeltError
from openfelt.spots.spot import PLAYERS, Sizes, Spot

LONGEST_RANGE = 30_000  # characters; 1,326 single combinations with weights have fewer
LONGEST_SIZES = 200
MOST_SIZES = 16  # entries of a mapping
LEAST_TARGET, MOST_TARGET = 0.01, 100.0  # percent of the pot


class SpotForm(NamedTuple):
    """A spot and the exploitability to reach, in percent of the pot."""

    spot: Spot
    until: float


def read_form(message: Mapping[str, Any]) -> SpotForm:
    """The form in a message; raises FeltError with one sentence if a field is missing or wrong."""
    spot = Spot(
        oop=_text(message, "oop", LONGEST_RANGE),
        ip=_text(message, "ip", LONGEST_RANGE),
        board=_text(message, "board", 20),
        pot=_whole(message, "pot", None),
        stack=_whole(message, "stack", None),
        bets=_sizes(message, "bets", "60%"),
        raises=_sizes(message, "raises", "2.5x"),
        big_blind=_whole(message, "big_blind", 2),
        rake=_number(message, "rake", 0.0),
        rake_cap=_number(message, "rake_cap", float("inf")),
    )
    until = _number(message, "until", 0.5)
    if not LEAST_TARGET <= until <= MOST_TARGET:
        raise FeltError(
            f"The target exploitability is {LEAST_TARGET}% to {MOST_TARGET:g}% of the pot, not {until:g}%."
        )
    return SpotForm(spot, until)


def range_json(message: Mapping[str, Any]) -> dict[str, Any]:
    """A range in its shortest notation, with the mean weight of each cell of the 13 x 13 grid."""
    text = _text(message, "text", LONGEST_RANGE)
    weights = parse_range(text)
    cells = range_matrix(weights).reshape(CELLS)
    return {
        "text": format_range(weights),
        "cells": [round(float(cell), 4) for cell in cells],
        "combinations": round(float(weights.sum()), 2),
    }


def form_json(form: SpotForm) -> dict[str, Any]:
    """The fields of a form, as `read_form` reads them."""
    facts = form.spot.as_dict()
    del facts["thresholds"]
    # As they were written: `as_dict` leaves out the hands that the board blocks.
    return {**facts, "oop": form.spot.oop, "ip": form.spot.ip, "until": form.until}


def _text(message: Mapping[str, Any], name: str, longest: int) -> str:
    value = message.get(name)
    if not isinstance(value, str):
        raise FeltError(f"The field '{name}' must be a text.")
    if len(value) > longest:
        raise FeltError(f"The field '{name}' has {len(value):,} characters; at most {longest:,} are allowed.")
    return value


def _whole(message: Mapping[str, Any], name: str, otherwise: int | None) -> int:
    value = message.get(name, otherwise)
    if type(value) is not int:  # a bool is an int too
        raise FeltError(f"The field '{name}' must be a whole number of chips.")
    return value


def _number(message: Mapping[str, Any], name: str, otherwise: float) -> float:
    value = message.get(name)
    if value is None:
        return otherwise
    if type(value) not in (int, float):
        raise FeltError(f"The field '{name}' must be a number.")
    try:
        return float(value)
    except OverflowError:
        raise FeltError(f"The field '{name}' is too large.") from None


def _sizes(message: Mapping[str, Any], name: str, otherwise: str) -> Sizes:
    value = message.get(name, otherwise)
    entries = value if isinstance(value, dict) else {"": value}
    if len(entries) > MOST_SIZES:
        raise FeltError(f"The field '{name}' has {len(entries)} entries; at most {MOST_SIZES} are allowed.")
    for key, sizes in entries.items():
        if not isinstance(sizes, str) or max(len(key), len(sizes)) > LONGEST_SIZES:
            raise FeltError(
                f"The field '{name}' must be a text of at most {LONGEST_SIZES} characters, or one for each "
                f"street or player ({', '.join(PLAYERS)})."
            )
    return value if isinstance(value, str) else entries
