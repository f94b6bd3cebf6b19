"""Fields of messages that a page sends, checked; each failure is one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openfelt.core.errors import FeltError


def read_text(message: Mapping[str, Any], name: str, longest: int) -> str:
    """A text of limited length."""
    value = message.get(name)
    if not isinstance(value, str):
        raise FeltError(f"The field '{name}' must be a text.")
    if len(value) > longest:
        raise FeltError(f"The field '{name}' has {len(value):,} characters; at most {longest:,} are allowed.")
    return value


def read_chips(message: Mapping[str, Any], name: str, otherwise: int | None) -> int:
    """A whole number."""
    value = message.get(name, otherwise)
    if type(value) is not int:  # a bool is an int too
        raise FeltError(f"The field '{name}' must be a whole number of chips.")
    return value


def read_number(message: Mapping[str, Any], name: str, otherwise: float) -> float:
    """A number, possibly infinite or NaN."""
    value = message.get(name)
    if value is None:
        return otherwise
    if type(value) not in (int, float):
        raise FeltError(f"The field '{name}' must be a number.")
    try:
        return float(value)
    except OverflowError:
        raise FeltError(f"The field '{name}' is too large.") from None
