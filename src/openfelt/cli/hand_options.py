"""The options of commands that read hand histories."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
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
        self.faults: list[str] = []
        self.skip: Skip | None = self._add if arguments.skip_bad else None

    def _add(self, error: BadHandError) -> None:
        self.faults.append(str(error))

    def report(self) -> None:
        """Tell the user how many there were, if any."""
        report_skipped(self.faults)


def report_skipped(faults: Sequence[str]) -> None:
    """Tell the user how many hands were skipped, if any, and why the first was."""
    if faults:
        which = "1 bad hand was" if len(faults) == 1 else f"{len(faults):,} bad hands were"
        print(f"felt: {which} skipped; the first: {faults[0]}", file=sys.stderr)


def read_histories(path: Path, arguments: argparse.Namespace) -> Iterator[HandRecord]:
    """The hands of a file or folder; reports those that were skipped."""
    from openfelt.arena.hand_files import read_hands

    skipped = SkippedHands(arguments)
    yield from read_hands(path, definition=arguments.definition, partial=arguments.partial, skip=skipped.skip)
    skipped.report()
