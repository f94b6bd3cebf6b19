"""The errors that a user may see. Each message is one sentence: what is wrong, and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FeltError(Exception):
    """Invalid input, or a problem that the user can fix; the command line prints it and exits with code 2.

    Examples
    --------
    >>> felt.rule_policy("leduc", "always-win")
    Traceback (most recent call last):
    ...
    openfelt.core.errors.FeltError: There is no rule 'always-win' ...
    """


class GameError(FeltError):
    """The name, the parameters or the rules of a game are wrong.

    Examples
    --------
    >>> felt.load_game("kuhn(pot=0)")
    Traceback (most recent call last):
    ...
    openfelt.core.errors.GameError: kuhn: pot must be more than 0 chips and at most 1000, not 0.
    """


class FileError(FeltError):
    """A file is missing, damaged, foreign, from a newer version, or cannot be written.

    Examples
    --------
    >>> felt.load_policy("no-such-folder")
    Traceback (most recent call last):
    ...
    openfelt.core.errors.FileError: There is no run or policy at no-such-folder.
    """


class MissingError(FeltError):
    """There is no entry for the given key."""


def unknown(kind: str, given: str, allowed: Iterable[str]) -> str:
    """The sentence for an unknown name, with the closest known one."""
    names = sorted(allowed)
    near = difflib.get_close_matches(given.lower(), names, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    return f"There is no {kind} '{given}' (known: {', '.join(names)}){hint}"
