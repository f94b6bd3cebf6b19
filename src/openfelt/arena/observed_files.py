"""The hands of a player in many files, read on this machine or, file by file, on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from openfelt.arena.hand_files import history_files, read_matches
from openfelt.bots.files import named_files
from openfelt.core.errors import FeltError, FileError, unknown
from openfelt.core.workers import Job, Workers, in_order, is_cluster
from openfelt.hands.bad_hand import BadHandError
from openfelt.hands.record import HandRecord
from openfelt.opponents.models.observed import KNOWN, ObservedHand, find_hands, require_hands


@dataclass(frozen=True)
class HandRequest:
    """Which hands to read, and how."""

    player: str
    game: str
    cards: str = KNOWN
    definition: str | None = None  # the following as in `read_hands`
    partial: bool = False
    skip_bad: bool = False


class FileHands(NamedTuple):
    """What was found in one file or in several."""

    hands: list[ObservedHand]
    games: set[str]  # other games of the player
    names: set[str]  # of all players
    skipped: tuple[str, ...]  # the faults of skipped hands

    def require_any(self, request: HandRequest) -> None:
        """Raise FeltError if there are none of the player."""
        if not self.hands and self.names and request.player not in self.names:
            raise FeltError(unknown("player", request.player, self.names))
        require_hands(self.hands, self.games, request.player, request.game)


class HistoryFile(NamedTuple):
    """A file, with its contents if it is read on another machine."""

    path: str
    contents: bytes | None = None


def read_observed(path: Path, request: HandRequest, workers: Workers = 1) -> FileHands:
    """The hands of a player in a file or folder."""
    files = _Files(history_files(path), is_cluster(workers))
    job = Job(_open, request, files=named_files([request.definition or ""]))
    found = FileHands([], set(), set(), ())
    for _, (hands, games, names, skipped) in in_order(job, files, workers):
        found.hands.extend(hands)
        found.games.update(games)
        found.names.update(names)
        found = found._replace(skipped=found.skipped + skipped)
    return found


class _Files(Sequence[HistoryFile]):
    """The files as units of work; their contents are read when they are sent."""

    def __init__(self, paths: Sequence[Path], with_contents: bool) -> None:
        self._paths, self._with_contents = paths, with_contents

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, place: int) -> HistoryFile:  # type: ignore[override]
        path = self._paths[place]
        return HistoryFile(str(path), path.read_bytes() if self._with_contents else None)


def _open(request: HandRequest) -> Callable[[HistoryFile], FileHands]:
    def read(file: HistoryFile) -> FileHands:
        path = Path(file.path)
        if file.contents is None:
            return _read(path, request)
        with TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            copy.write_bytes(file.contents)
            try:
                found = _read(copy, request)
            except FileError as error:
                raise FileError(str(error).replace(str(copy), file.path)) from None
            skipped = tuple(fault.replace(str(copy), file.path) for fault in found.skipped)
            return found._replace(skipped=skipped)

    return read


def _read(path: Path, request: HandRequest) -> FileHands:
    names, skipped = set[str](), list[str]()

    def skip(error: BadHandError) -> None:
        skipped.append(str(error))

    def records() -> Iterator[HandRecord]:
        chosen = skip if request.skip_bad else None
        for _, record in read_matches(
            path, definition=request.definition, partial=request.partial, skip=chosen
        ):
            names.update(record.names)
            yield record

    hands, games = find_hands(records(), request.player, request.game, request.cards)
    return FileHands(hands, games, names, tuple(skipped))
