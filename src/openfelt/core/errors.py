"""The errors that a user may see: each is one sentence that says what is wrong and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FeltError(Exception):
    """Bad input or a fault that the user can mend; the command line prints it and exits with code 2."""


class GameError(FeltError):
    """A game's name, parameters or rules are wrong."""


class FileError(FeltError):
    """A file is missing, damaged, foreign, from a newer version, or cannot be written."""


class MissingError(FeltError):
    """What was asked for by a key is not there."""


def unknown(kind: str, given: str, allowed: Iterable[str]) -> str:
    """The sentence for a name that nobody knows, with the nearest one that exists."""
    names = sorted(allowed)
    near = difflib.get_close_matches(given.lower(), names, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    return f"There is no {kind} '{given}' (known: {', '.join(names)}){hint}"
