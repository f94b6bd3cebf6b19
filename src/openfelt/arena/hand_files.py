"""Hand histories in files: one reader and one writer for all formats, chosen by the file name extension.

They are part of the arena, not of `hands`, because the competition's logs are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from openfelt.core.errors import FeltError, FileError
from openfelt.hands.record import HandRecord

LOG, STORE = ".log", ".db"
ENDINGS = (".phh", ".phhs", LOG, STORE)


def read_hands(path: str | Path, *, match: str | None = None) -> Iterator[HandRecord]:
    """Read hand histories.

    Parameters
    ----------
    path : str or Path
        A file that ends in .phh or .phhs (PHH), .log (ACPC) or .db (our store), or a folder of such files.
    match : str, optional
        From a store: only the hands of this match.

    Returns
    -------
    iterator of HandRecord
        A damaged hand raises FileError when it is reached.

    Examples
    --------
    >>> result = felt.match("probe", "random", game="leduc", hands=20, history=folder / "hands.db")
    >>> hand = next(felt.read_hands(folder / "hands.db"))
    >>> hand.game, len(hand.names), len(hand.won)
    ('leduc', 2, 2)
    """
    for file in history_files(Path(path)):
        yield from _read_file(file, match)


def write_hands(path: str | Path, hands: Iterable[HandRecord], *, match: str = "") -> int:
    """Write hand histories.

    Parameters
    ----------
    path : str or Path
        A new file that ends in .phh (one hand of hold'em), .phhs (many), .log (ACPC), or .db (our store, for
        any game). Hands are appended to a store that exists.
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
    path = Path(path)
    require_ending(path)
    if path.suffix == STORE:
        from openfelt.hands.store import HandStore

        with HandStore(path) as store:
            return store.append(hands, match=match)
    if path.exists():
        raise FileError(f"{path} exists already; name a new file.")
    if path.suffix == LOG:
        from openfelt.arena.acpc.log import write_log

        return write_log(path, hands)
    from openfelt.hands.phh import write_phh

    return write_phh(path, hands, event=match)


def history_files(path: Path) -> list[Path]:
    """The file itself, or all history files in a folder."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in ENDINGS and file.is_file())
        if not files:
            raise FileError(f"{path} has no hand histories: files that end in {', '.join(ENDINGS)}.")
        return files
    if not path.exists():
        raise FileError(f"There is no file {path}.")
    require_ending(path)
    return [path]


def require_ending(path: Path) -> None:
    """Raise FeltError if the ending of a file's name is not that of a format."""
    if path.suffix not in ENDINGS:
        raise FeltError(f"Hand histories are in files that end in {', '.join(ENDINGS)}; {path} does not.")


def _read_file(path: Path, match: str | None) -> Iterator[HandRecord]:
    if path.suffix == STORE:
        from openfelt.hands.store import HandStore

        with HandStore(path) as store:
            yield from store.hands(match=match)
    elif path.suffix == LOG:
        from openfelt.arena.acpc.log import read_log

        yield from read_log(path)
    else:
        from openfelt.hands.phh import read_phh

        yield from read_phh(path)
