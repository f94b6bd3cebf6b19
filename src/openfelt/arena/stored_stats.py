"""Checks of decision statistics that were read from a file."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any


def require_sound(stats: Any) -> None:
    """Raise ValueError or KeyError unless all fields of a DecisionStats have their types and ranges."""
    for field in dataclasses.fields(stats):
        if not IS_OF[str(field.type)](getattr(stats, field.name)):
            raise ValueError(field.name)
    if stats.faults.keys() != type(stats)().faults.keys():
        raise ValueError("faults")
    stats.facts()


def is_count(value: object) -> bool:
    """Whether it is a whole number of 0 or more."""
    return type(value) is int and value >= 0


def _is_measure(value: object) -> bool:
    return is_count(value) or (type(value) is float and 0 <= value < math.inf)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_table(value: object, is_entry: Callable[[object], bool]) -> bool:
    return isinstance(value, dict) and all(_is_text(key) and is_entry(each) for key, each in value.items())


IS_OF: dict[str, Callable[[object], bool]] = {
    "int": is_count,
    "float": _is_measure,
    "str": _is_text,
    "dict[str, int]": lambda value: _is_table(value, is_count),
    "dict[str, str]": lambda value: _is_table(value, _is_text),
}
