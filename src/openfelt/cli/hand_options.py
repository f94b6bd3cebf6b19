"""The options of commands that read hand histories."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openfelt.hands.bad_hand import BadHandError, Skip
    from openfelt.hands.record import HandRecord


def add_hand_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--definition",
        metavar="GAME",
        help="of logs: the game, by its name or as an ACPC definition (a .game file), if their headers do not"
        " name a known one",
    )
    parser.add_argument(
        "--partial",
        action="store_true",
        help="read logs with fewer hands than their headers announce, of matches that were stopped",
    )
    parser.add_argument(
        "--skip-bad",
        action="store_true",
        help="skip hands that cannot be read or violate the rules, and count them",
    )


class SkippedHands:
    """The hands that --skip-bad has skipped."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.count = 0
        self._first: BadHandError | None = None
        self.skip: Skip | None = self._add if arguments.skip_bad else None

    def _add(self, error: BadHandError) -> None:
        self._first = self._first or error
        self.count += 1

    def report(self) -> None:
        """Tell the user how many there were, if any."""
        if self.count:
            which = "1 bad hand was" if self.count == 1 else f"{self.count:,} bad hands were"
            print(f"felt: {which} skipped; the first: {self._first}", file=sys.stderr)


def read_histories(path: Path, arguments: argparse.Namespace) -> Iterator[HandRecord]:
    """The hands of a file or folder; reports those that were skipped."""
    from openfelt.arena.hand_files import read_hands

    skipped = SkippedHands(arguments)
    yield from read_hands(path, definition=arguments.definition, partial=arguments.partial, skip=skipped.skip)
    skipped.report()
