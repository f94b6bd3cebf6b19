"""Guards a session file while a server uses it: one server at a time, and no file deleted under it.

SQLite keeps writing to a file that was deleted or replaced, and such hands would be lost without an error.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from openfelt.core.errors import FileError

JOURNALS = ("-wal", "-shm")  # SQLite's, beside the file
LOCK = ".lock"


class FileGuard:
    """Holds the lock of an open session file, and remembers which files belong to it.

    The lock is SQLite's, on an empty database of its own, so that other programs can still read the hands.
    The operating system releases it when the process ends, however it ends.
    """

    def __init__(self, path: Path) -> None:
        self._path, real = path, path.resolve()  # a link to the file leads to the same lock
        lock, *journals = (Path(f"{real}{suffix}") for suffix in (LOCK, *JOURNALS))
        self._lock = self._locked(lock)
        self._files = {file: _identity(file) for file in (path, lock, *journals)}

    def check(self) -> None:
        """Raise FileError if one of the files was deleted or replaced."""
        for file, identity in self._files.items():
            if _identity(file) != identity:
                raise FileError(
                    f"{file} was deleted or replaced while the server was running, so nothing can be saved;"
                    " restart felt play."
                )

    def close(self) -> None:
        """Release the lock."""
        self._lock.close()

    def _locked(self, lock: Path) -> sqlite3.Connection:
        base = None
        try:
            base = sqlite3.connect(lock, isolation_level=None, timeout=0)
            base.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if base is not None:
                base.close()
            if getattr(error, "sqlite_errorname", "") == "SQLITE_BUSY":
                raise FileError(
                    f"{self._path} is in use by another felt play; stop it,"
                    " or choose another file with --database."
                ) from None
            raise FileError(f"{lock} could not be used ({error}).") from None
        return base


def _identity(file: Path) -> tuple[int, int] | None:
    """Device and inode; None if there is no such file."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
