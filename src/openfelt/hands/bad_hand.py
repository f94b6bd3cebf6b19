"""Hands of a file that cannot be read or violate the rules: one rule for every reader.

Such a hand raises `BadHandError`, unless the caller passes a function that is told of it; then it is skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from openfelt.core.errors import FileError


class BadHandError(FileError):
    """A hand that cannot be read or violates the rules."""

    def __init__(self, path: Path, place: str, reason: str, hand: int | None = None) -> None:
        super().__init__(f"{path}, {place}: {reason}")
        self.place = place  # in the file: "hand 7"
        self.reason = reason  # one sentence
        self.hand = hand  # its number, if that can be read


Skip: TypeAlias = Callable[[BadHandError], object]  # is told of a hand that is skipped


def refuse(error: BadHandError, skip: Skip | None) -> None:
    """Raise the error, or tell `skip`."""
    if skip is None:
        raise error from None
    skip(error)
