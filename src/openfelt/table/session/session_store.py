"""Sessions in one SQLite file, which is also a store of hand histories (hands/store.py).

Every action is committed before it is answered, so a kill at any moment loses neither finished hands nor the
actions of unfinished ones. The seed of the next hand is saved too, because its commitment was already shown.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from openfelt.core.errors import FeltError, FileError, MissingError
from openfelt.hands.packed import new_sitting, pack
from openfelt.hands.record import HandRecord
from openfelt.table.session import player_store, row_seals
from openfelt.table.session.file_guard import FileGuard
from openfelt.table.session.player_store import PlayerStore

VERSION = 2  # of the tables below; the first had no checksums of rows
ON, FINISHED, CANCELLED = range(3)  # status of a hand
SESSION_TYPES = (str, str, str, float, str)  # of the columns below
HAND_TYPES = (str, int, int, str, str, str, int, str, int | None, float, float | None)
PAGE = 50  # hands per page of the list
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS table_version (version INTEGER)",
    "INSERT INTO table_version SELECT {version} WHERE NOT EXISTS (SELECT * FROM table_version)",
    "CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, game TEXT, bots TEXT, begun REAL, seed TEXT)",
    "CREATE TABLE IF NOT EXISTS table_hands (session TEXT, number INTEGER, seat INTEGER, seed TEXT,"
    " nonce TEXT, link TEXT UNIQUE, status INTEGER, actions TEXT, hand INTEGER, won REAL, luck_free REAL,"
    " PRIMARY KEY (session, number)) WITHOUT ROWID",
    row_seals.SCHEMA,
    *player_store.SCHEMA,
)
HANDS = "SELECT * FROM table_hands LEFT JOIN row_seals USING (session, number)"  # the checksum is last


@dataclass(frozen=True)
class SessionRow:
    """A row of the table `sessions`."""

    id: str
    game: str
    bots: tuple[str, ...]
    begun: float  # seconds since 1970
    seed: str  # of the next hand


@dataclass(frozen=True)
class HandRow:
    """A row of the table `table_hands`."""

    session: str
    number: int  # from 1
    seat: int  # the person's
    seed: str
    nonce: str
    link: str  # gives access to the finished hand
    status: int
    actions: tuple[str, ...]  # of all players, while the hand is in progress
    hand: int | None  # id in the table `hands`, once it is finished
    won: float  # by the person
    luck_free: float | None  # luck-adjusted winnings
    intact: bool = True  # whether the checksum is right; False only for a hand in progress


class SessionStore(PlayerStore):
    """A file of sessions; created if it does not exist. Only one store at a time can have it open."""

    _guard: FileGuard | None = None

    def close(self) -> None:
        """Close the file; everything is in it already."""
        super().close()
        if self._guard:
            self._guard.close()

    def _open(self) -> None:
        """Write nothing to a file before it has been checked: undamaged, and of a version that we read."""
        super()._open()
        if (found := self._base.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise FileError(f"{self.path} is damaged ({found.splitlines()[-1]}).")
        version = VERSION
        if self._one("SELECT count(*) FROM sqlite_master WHERE name = 'table_version'"):
            version = self._require_version()
        # Commits then need not wait for the disk, and killing the program loses none of them.
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = NORMAL")
        with self._transaction():
            for statement in SCHEMA:
                self._base.execute(statement.format(version=VERSION))
            if version < VERSION:
                row_seals.seal_all(self._base)
                self._base.execute("UPDATE table_version SET version = ?", (VERSION,))
        self._guard = FileGuard(self.path)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with super()._transaction():
            yield
            if self._guard:
                self._guard.check()

    def _require_version(self) -> int:
        version = self._base.execute("SELECT max(version) FROM table_version").fetchone()[0]
        if not isinstance(version, int):
            raise FileError(f"{self.path} is damaged: its version is missing.")
        if version > VERSION:
            raise FileError(
                f"{self.path} was written by a newer OpenFelt (sessions {version}, this one reads {VERSION})."
            )
        return version

    def rows(self, query: str, *values: object) -> list[Any]:
        """What a query of another table in the file finds."""
        with self._as_file_errors():
            return self._base.execute(query, values).fetchall()

    def change(self, *statements: tuple[str, tuple[object, ...]]) -> None:
        """Change another table in the file, by all statements or none."""
        with self._as_file_errors(), self._transaction():
            for statement, values in statements:
                self._base.execute(statement, values)

    def begin(self, game: str, bots: Sequence[str], seed: str) -> SessionRow:
        """Start a session. Anyone who has its id can play it."""
        row = SessionRow(secrets.token_urlsafe(16), game, tuple(bots), time.time(), seed)
        with self._as_file_errors(), self._transaction():
            self._base.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?, ?)",
                (row.id, row.game, json.dumps(row.bots), row.begun, row.seed),
            )
            row_seals.seal_session(self._base, row.id)
        return row

    def session(self, key: str) -> SessionRow:
        """The session with this id."""
        with self._as_file_errors():
            found = self._base.execute(row_seals.SESSION, (key,)).fetchone()
            seal = row_seals.session_seal(self._base, key)
        if found is None and seal is None:
            raise MissingError("This session does not exist.")
        if found is None or row_seals.row_seal(found) != seal:
            raise FileError(f"{self.path} is damaged: a session was changed or removed.")
        name, game, bots, begun, seed = self._of_types(SESSION_TYPES, found)
        try:
            return SessionRow(name, game, tuple(map(str, json.loads(bots))), begun, seed)
        except (TypeError, ValueError):
            raise FileError(f"{self.path} is damaged: the bots of a session cannot be read.") from None

    def begin_hand(self, row: HandRow) -> None:
        """Save a hand that was dealt."""
        with self._as_file_errors(), self._transaction():
            self._base.execute(
                "INSERT INTO table_hands VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, 0, NULL)",
                (row.session, row.number, row.seat, row.seed, row.nonce, row.link, ON, _joined(row.actions)),
            )
            row_seals.seal_hand(self._base, row.session, row.number)

    def act(self, session: str, number: int, actions: Sequence[str]) -> None:
        """Save the actions of a hand in progress."""
        with self._as_file_errors(), self._transaction():
            self._update(session, number, "actions = ?", _joined(actions))

    def finish(
        self, session: str, record: HandRecord, *, won: float, luck_free: float | None, next_seed: str
    ) -> None:
        """Move a finished hand to the store of hand histories, and save the seed of the next one."""
        sitting = new_sitting(session, record.game, record.names)
        with self._as_file_errors(), self._transaction():
            self._insert([(sitting, pack(sitting, record))])
            key = self._one("SELECT max(id) FROM hands")
            self._update(
                session,
                record.number,
                "status = ?, actions = '', hand = ?, won = ?, luck_free = ?",
                *(FINISHED, key, won, luck_free),
            )
            self._set_next_seed(session, next_seed)

    def cancel_hand(self, session: str, number: int, next_seed: str) -> None:
        """Mark a hand that cannot be restored; it does not count."""
        with self._as_file_errors(), self._transaction():
            self._update(session, number, "status = ?", CANCELLED)
            self._set_next_seed(session, next_seed)

    def finished_hands(self, session: str) -> int:
        """The number of finished hands of a session."""
        query = f"SELECT count(*) FROM table_hands WHERE session = ? AND status = {FINISHED}"
        with self._as_file_errors():
            return int(self._base.execute(query, (session,)).fetchone()[0])

    def table_hands(self, session: str, *, before: int | None = None) -> list[HandRow]:
        """All hands of a session in order; or a page of those before a number, latest first."""
        query = f"{HANDS} WHERE session = ?"
        if before is None:
            rows = self._hand_rows(f"{query} ORDER BY number", session)
            with self._as_file_errors():
                last = row_seals.last_hand(self._base, session)
            if [row.number for row in rows] != list(range(1, last + 1)):
                raise FileError(f"{self.path} is damaged: hands of a session are missing.")
            return rows
        query += " AND number < ? AND status > 0 ORDER BY number DESC LIMIT ?"
        return self._hand_rows(query, session, before, PAGE)

    def linked(self, link: str) -> HandRow:
        """The finished hand with this link."""
        found = self._hand_rows(f"{HANDS} WHERE link = ?", link)
        if not found or found[0].status != FINISHED:
            raise MissingError("No finished hand has this link.")
        return found[0]

    def record(self, row: HandRow) -> HandRecord:
        """The hand history of a finished hand."""
        if row.hand is None:
            raise FeltError(f"Hand {row.number} is not finished.")
        record = self.hand(row.hand)
        if record.number != row.number or record.won[row.seat : row.seat + 1] != (row.won,):
            raise FileError(
                f"{self.path} is damaged: hand {row.number} of a session does not match its hand history."
            )
        return record

    def records(self, session: str) -> Iterator[HandRecord]:
        """The hand histories of a session."""
        if self.finished_hands(session):
            yield from self.hands(match=session)

    def _hand_rows(self, query: str, *values: object) -> list[HandRow]:
        with self._as_file_errors():
            found = self._base.execute(query, values).fetchall()
        rows = [
            _hand_row(*self._of_types(HAND_TYPES, row), row_seals.row_seal(row) == seal)
            for *row, seal in found
        ]
        # A hand in progress that was changed is returned; anything else cannot be made good.
        if any(not row.intact and (row.status != ON or row.hand is not None) for row in rows):
            raise FileError(f"{self.path} is damaged: a hand of a session was changed.")
        return rows

    def _of_types(self, types: Sequence[Any], row: Sequence[Any]) -> Sequence[Any]:
        """Raise if the columns of a row have types that were never written."""
        if not all(map(isinstance, row, types)):
            raise FileError(f"{self.path} is damaged: a session cannot be read.")
        return row

    def _update(self, session: str, number: int, change: str, *values: object) -> None:
        done = self._base.execute(
            f"UPDATE table_hands SET {change} WHERE session = ? AND number = ? AND status = {ON}",
            (*values, session, number),
        )
        if done.rowcount != 1:
            raise sqlite3.IntegrityError(f"hand {number} of a session is not in progress")
        row_seals.seal_hand(self._base, session, number)

    def _set_next_seed(self, session: str, seed: str) -> None:
        self._base.execute("UPDATE sessions SET seed = ? WHERE id = ?", (seed, session))
        row_seals.seal_session(self._base, session)


def _hand_row(
    session: str,
    number: int,
    seat: int,
    seed: str,
    nonce: str,
    link: str,
    status: int,
    actions: str,
    *rest: Any,
) -> HandRow:
    return HandRow(session, number, seat, seed, nonce, link, status, tuple(actions.split()), *rest)


def _joined(actions: Sequence[str]) -> str:
    return " ".join(actions)
