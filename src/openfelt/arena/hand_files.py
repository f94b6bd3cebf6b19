"""Hand histories in files: one reader and one writer for all formats, chosen by the file name extension.

They are part of the arena, not of `hands`, because the competition's logs are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby, zip_longest
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from openfelt.core.errors import FeltError, FileError
from openfelt.core.files import not_written
from openfelt.hands.bad_hand import BadHandError, Skip
from openfelt.hands.record import HandRecord

if TYPE_CHECKING:
    from openfelt.arena.acpc.game_definition import GameDefinition

LOG, STORE, TEXT = ".log", ".db", ".txt"
ENDINGS = (".phh", ".phhs", LOG, STORE, TEXT)

MatchedHand: TypeAlias = "tuple[str, HandRecord]"  # the name of the match, and one of its hands


def read_hands(
    path: str | Path,
    *,
    match: str | None = None,
    definition: str | Path | None = None,
    partial: bool = False,
    skip: Skip | None = None,
) -> Iterator[HandRecord]:
    """Read hand histories.

    Parameters
    ----------
    path : str or Path
        A file that ends in .phh or .phhs (PHH), .log (ACPC), .txt (PokerStars, GGPoker) or .db (our store),
        or a folder of such files.
    match : str, optional
        From a store: only the hands of this match.
    definition : str or Path, optional
        From logs: the game, by its name or as an ACPC definition (a .game file), where the log does not name
        a game that is known.
    partial : bool
        Read logs with fewer hands than their headers announce, of matches that were stopped.
    skip : callable, optional
        Called with a FileError for each hand that cannot be read or violates the rules; the hand is then
        skipped. By default the error is raised.

    Returns
    -------
    iterator of HandRecord
        A damaged store raises FileError before its first hand.

    Examples
    --------
    >>> result = felt.match("probe", "random", game="leduc", hands=20, history=folder / "hands.db")
    >>> hand = next(felt.read_hands(folder / "hands.db"))
    >>> hand.game, len(hand.names), len(hand.won)
    ('leduc', 2, 2)
    """
    for file in history_files(Path(path)):
        for _, record in read_matches(file, match=match, definition=definition, partial=partial, skip=skip):
            yield record


def read_matches(
    path: Path,
    *,
    match: str | None = None,
    definition: str | Path | None = None,
    partial: bool = False,
    skip: Skip | None = None,
) -> Iterator[MatchedHand]:
    """The hands of one file as `read_hands` gives them, each with its match, by default the file's name."""
    if not path.stat().st_size:
        raise FileError(f"{path} is empty.")
    skipped = False

    def skip_and_note(error: BadHandError) -> None:
        nonlocal skipped
        skipped = True
        assert skip is not None
        skip(error)

    has_hands, noting = False, skip_and_note if skip else None
    if path.suffix == STORE:
        matched = _stored_hands(path, match, noting)
    else:
        matched = ((path.stem, record) for record in _records(path, definition, partial, noting))
    for hand in matched:
        has_hands = True
        yield hand
    if not has_hands and not skipped:
        raise FileError(f"{path} has no hands.")


def _stored_hands(path: Path, match: str | None, skip: Skip | None) -> Iterator[MatchedHand]:
    from openfelt.hands.store import HandStore

    with HandStore(path, create=False) as store:
        yield from store.matched_hands(match=match, skip=skip)


def _records(
    path: Path, definition: str | Path | None, partial: bool, skip: Skip | None
) -> Iterator[HandRecord]:
    if path.suffix == LOG:
        from openfelt.arena.acpc.log import read_log

        game = None if definition is None else game_definition(definition)
        return read_log(path, game, partial=partial, skip=skip)
    if path.suffix == TEXT:
        from openfelt.hands.site_text import read_site_text

        return read_site_text(path, skip=skip)
    from openfelt.hands.phh import read_phh

    return read_phh(path, skip=skip)


def game_definition(name: str | Path) -> GameDefinition:
    """The ACPC definition in a .game file, or that of one of our games."""
    from openfelt.arena.acpc.competition_game import definition_of
    from openfelt.arena.acpc.game_definition import read_definition
    from openfelt.games.registry import load_game

    if Path(name).suffix == ".game":
        return read_definition(Path(name))
    return definition_of(load_game(str(name))).definition


def write_hands(path: str | Path, hands: Iterable[HandRecord], *, match: str = "") -> int:
    """Write hand histories: all of the hands, or none if an error occurs.

    Parameters
    ----------
    path : str or Path
        A new file that ends in .phh (one hand of hold'em), .phhs (many), .log (ACPC), .txt (PokerStars), or
        .db (our store, for any game). Hands are appended to a store that exists.
    hands : iterable of HandRecord
        The hands.
    match : str
        Name of the match.

    Returns
    -------
    int
        The number of hands written.

    Examples
    --------
    >>> result = felt.match("probe", "random", hands=20, history=folder / "hands.db")
    >>> felt.write_hands(folder / "hands.phhs", felt.read_hands(folder / "hands.db"))
    20
    """
    return write_matches(Path(path), ((match, record) for record in hands))


def write_matches(path: Path, hands: Iterable[MatchedHand]) -> int:
    """As `write_hands`, for hands that each have a match."""
    require_ending(path)
    if path.exists():
        if path.suffix != STORE:
            raise FileError(f"{path} exists already; name a new file.")
        return _append(path, hands)
    with _new_file(path) as part:
        if path.suffix == STORE:
            return _append(part, hands)
        if path.suffix == LOG:
            return _write_log(part, [record for _, record in hands])
        if path.suffix == TEXT:
            from openfelt.hands.site_text import write_site_text

            return write_site_text(part, hands)
        from openfelt.hands.phh import phh_text, write_texts

        return write_texts(part, (phh_text(record, event=match) for match, record in hands))


def _append(path: Path, hands: Iterable[MatchedHand]) -> int:
    from openfelt.hands.store import HandStore

    with HandStore(path) as store, store.atomic():
        return sum(
            store.append((record for _, record in group), match=match)
            for match, group in groupby(hands, key=itemgetter(0))
        )


def _write_log(path: Path, hands: list[HandRecord]) -> int:
    """Write a log and read it again: a log cannot express every hand."""
    from openfelt.arena.acpc.log import read_log, write_log
    from openfelt.games.registry import load_game

    count = write_log(path, hands)
    rules = {name: load_game(name).unabstracted.name for name in {hand.game for hand in hands}}
    expected = [replace(hand, game=rules[hand.game]) for hand in hands]
    try:
        written = list(read_log(path))
    except FileError as error:
        raise FeltError(f"These hands cannot be written as a log: {error}") from None
    if written != expected:
        wrong = next(hand for hand, other in zip_longest(expected, written) if hand != other)
        raise FeltError(f"A log cannot express hand {wrong.number} exactly; keep it in a store ({STORE}).")
    return count


@contextmanager
def _new_file(path: Path) -> Iterator[Path]:
    """Where to write a new file; it is moved to its place when the block ends without an error."""
    try:
        with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
            part = Path(folder) / path.name
            try:
                yield part
            except FileError as error:
                if str(part) not in str(error):
                    raise
                raise FileError(str(error).replace(str(part), str(path))) from None
            with part.open("rb+") as file:  # Windows syncs only what can be written
                os.fsync(file.fileno())
            part.replace(path)
    except OSError as error:
        raise not_written(path, error) from None


def history_files(path: Path) -> list[Path]:
    """The file itself, or all history files in a folder."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in ENDINGS and file.is_file())
        files = [file for file in files if file.suffix != TEXT or _begins_with_hand(file)]
        if not files:
            raise FileError(f"{path} has no hand histories: files that end in {', '.join(ENDINGS)}.")
        return files
    if not path.exists():
        raise FileError(f"There is no file {path}.")
    require_ending(path)
    return [path]


def _begins_with_hand(path: Path) -> bool:
    """Whether a text file is a history; others may lie beside them."""
    from openfelt.hands.site_text import begins_with_hand

    return begins_with_hand(path)


def require_ending(path: Path) -> None:
    """Raise FeltError if the ending of a file's name is not that of a format."""
    if path.suffix not in ENDINGS:
        raise FeltError(f"Hand histories are in files that end in {', '.join(ENDINGS)}; {path} does not.")
