"""The errors that a user may see. Each message is one sentence: what is wrong, and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FeltError(Exception):
    """Invalid input or another error that the user can fix; the command line prints it and exits with 2."""


class GameError(FeltError):
    """A game's name, parameters or rules are wrong."""


class FileError(FeltError):
    """A file is missing, damaged, foreign, from a newer version, or cannot be written."""


class MissingError(FeltError):
    """There is no entry for the given key."""


def unknown(kind: str, given: str, allowed: Iterable[str]) -> str:
    """The sentence for an unknown name, with the closest known one."""
    names = sorted(allowed)
    near = difflib.get_close_matches(given.lower(), names, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    return f"There is no {kind} '{given}' (known: {', '.join(names)}){hint}"
