"""Checksums of the rows of sessions and of their hands, in a table of their own.

Number 0 is the row of the session, number n that of its nth hand.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from typing import Any

SCHEMA = (
    "CREATE TABLE IF NOT EXISTS row_seals (session TEXT, number INTEGER, seal INTEGER,"
    " PRIMARY KEY (session, number)) WITHOUT ROWID"
)
SESSION = "SELECT * FROM sessions WHERE id = ?"
HAND = "SELECT * FROM table_hands WHERE session = ? AND number = ?"
WRITE = "INSERT OR REPLACE INTO row_seals VALUES (?, ?, ?)"


def seal_session(base: sqlite3.Connection, key: str) -> None:
    """Write the checksum of a session's row, after a change of it."""
    base.execute(WRITE, (key, 0, row_seal(base.execute(SESSION, (key,)).fetchone())))


def seal_hand(base: sqlite3.Connection, session: str, number: int) -> None:
    """Write the checksum of a hand's row, after a change of it."""
    base.execute(WRITE, (session, number, row_seal(base.execute(HAND, (session, number)).fetchone())))


def seal_all(base: sqlite3.Connection) -> None:
    """Write the checksums of a file of the first version, which had none."""
    for (key,) in base.execute("SELECT id FROM sessions").fetchall():
        seal_session(base, key)
    for key, number in base.execute("SELECT session, number FROM table_hands").fetchall():
        seal_hand(base, key, number)


def session_seal(base: sqlite3.Connection, key: str) -> object:
    """The stored checksum of a session's row; None if there is none."""
    found = base.execute("SELECT seal FROM row_seals WHERE session = ? AND number = 0", (key,)).fetchone()
    return found[0] if found else None


def last_hand(base: sqlite3.Connection, session: str) -> int:
    """The highest number of a hand that has a checksum."""
    query = "SELECT coalesce(max(number), 0) FROM row_seals WHERE session = ?"
    return int(base.execute(query, (session,)).fetchone()[0])


def row_seal(row: Sequence[Any]) -> int:
    """The checksum of a row."""
    return zlib.crc32(repr(tuple(row)).encode("utf-8", "backslashreplace"))
