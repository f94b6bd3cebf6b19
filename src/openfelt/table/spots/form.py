"""The form of a spot, as a page sends it: checked field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from openfelt.cards.hand_classes import CELLS
from openfelt.cards.ranges import format_range, parse_range, range_matrix
from openfelt.core.errors import FeltError
from openfelt.games.bet_sizes import Thresholds
from openfelt.spots.solution import Solution
from openfelt.spots.spot import PLAYERS, Sizes, Spot
from openfelt.table.spots.fields import read_chips, read_number, read_text
from openfelt.table.spots.locks import LONGEST_RANGE, FormLock, locks_of, read_locks

LONGEST_SIZES = 200
MOST_SIZES = 16  # entries of a mapping
LEAST_TARGET, MOST_TARGET = 0.01, 100.0  # percent of the pot
MOST_THRESHOLD = 1e6


class SpotForm(NamedTuple):
    """A spot and how to solve it."""

    spot: Spot
    until: float  # the exploitability to reach, in percent of the pot
    compress: bool = False  # whether tables have 16 bits
    locks: tuple[FormLock, ...] = ()


def read_form(message: Mapping[str, Any]) -> SpotForm:
    """The form in a message; raises FeltError with one sentence if a field is missing or wrong."""
    spot = Spot(
        oop=read_text(message, "oop", LONGEST_RANGE),
        ip=read_text(message, "ip", LONGEST_RANGE),
        board=read_text(message, "board", 20),
        pot=read_chips(message, "pot", None),
        stack=read_chips(message, "stack", None),
        bets=_sizes(message, "bets", "60%"),
        raises=_sizes(message, "raises", "2.5x"),
        big_blind=read_chips(message, "big_blind", 2),
        rake=read_number(message, "rake", 0.0),
        rake_cap=read_number(message, "rake_cap", float("inf")),
        thresholds=_thresholds(message.get("thresholds")),
    )
    until = read_number(message, "until", 0.5)
    if not LEAST_TARGET <= until <= MOST_TARGET:
        raise FeltError(
            f"The target exploitability is {LEAST_TARGET}% to {MOST_TARGET:g}% of the pot, not {until:g}%."
        )
    compress = message.get("compress", False)
    if not isinstance(compress, bool):
        raise FeltError("The field 'compress' must be true or false.")
    return SpotForm(spot, until, compress, read_locks(message.get("locks", [])))


def form_of(solution: Solution, key: str) -> SpotForm:
    """The form of a solution that was loaded; the solution is the source of its own locks."""
    until = max(LEAST_TARGET, min(solution.exploitability, MOST_TARGET))
    message = {**solution.spot.as_dict(), "until": until}
    return read_form(message)._replace(locks=locks_of(solution, key))


def range_json(message: Mapping[str, Any]) -> dict[str, Any]:
    """A range in its shortest notation, with the mean weight of each cell of the 13 x 13 grid."""
    text = read_text(message, "text", LONGEST_RANGE)
    weights = parse_range(text)
    cells = range_matrix(weights).reshape(CELLS)
    return {
        "text": format_range(weights),
        "cells": [round(float(cell), 4) for cell in cells],
        "combinations": round(float(weights.sum()), 2),
    }


def form_json(form: SpotForm) -> dict[str, Any]:
    """The fields of a form, as `read_form` reads them."""
    return {
        **form.spot.as_dict(),
        # As they were written: `as_dict` leaves out the hands that the board blocks.
        **{"oop": form.spot.oop, "ip": form.spot.ip, "until": form.until, "compress": form.compress},
        "locks": [lock.as_dict() for lock in form.locks],
    }


def _thresholds(value: object) -> Thresholds:
    if value is None:
        return Thresholds()
    numbers = value if isinstance(value, list) else []
    is_sound = len(numbers) == len(Thresholds._fields) and all(type(each) in (int, float) for each in numbers)
    if not is_sound or not all(0 <= each <= MOST_THRESHOLD for each in numbers):
        raise FeltError(f"The field 'thresholds' must be {len(Thresholds._fields)} numbers of 0 or more.")
    return Thresholds(*map(float, numbers))


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
