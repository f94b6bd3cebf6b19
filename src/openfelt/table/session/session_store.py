"""Sessions of people at the table in one SQLite file, which is a store of hands too (hands/store.py).

Every action is committed before it is answered: a kill at any moment leaves all finished hands, and what was
done so far in those that were not. The seed of the next hand is kept as well, as its commitment was shown.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from openfelt.core.errors import FeltError, FileError, MissingError
from openfelt.hands.packed import new_sitting, pack
from openfelt.hands.record import HandRecord
from openfelt.hands.store import HandStore

VERSION = 1  # of the tables below
ON, FINISHED, RETURNED = range(3)  # what has become of a hand
SESSION_TYPES = (str, str, str, float, str)  # of the columns below
HAND_TYPES = (str, int, int, str, str, str, int, str, int | None, float, float | None)
PAGE = 50  # hands to a page of the list
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS table_version (version INTEGER)",
    "INSERT INTO table_version SELECT {version} WHERE NOT EXISTS (SELECT * FROM table_version)",
    "CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, game TEXT, bots TEXT, begun REAL, seed TEXT)",
    "CREATE TABLE IF NOT EXISTS table_hands (session TEXT, number INTEGER, seat INTEGER, seed TEXT,"
    " nonce TEXT, link TEXT UNIQUE, status INTEGER, actions TEXT, hand INTEGER, won REAL, luck_free REAL,"
    " PRIMARY KEY (session, number)) WITHOUT ROWID",
)


@dataclass(frozen=True)
class SessionRow:
    """A session, as it is kept."""

    id: str
    game: str
    bots: tuple[str, ...]
    begun: float  # seconds since 1970
    seed: str  # of the next hand


@dataclass(frozen=True)
class HandRow:
    """A hand of a session, as it is kept."""

    session: str
    number: int  # from 1
    seat: int  # the person's
    seed: str
    nonce: str
    link: str  # that shows it to anybody, once it is over
    status: int
    actions: tuple[str, ...]  # of all players, while it is on
    hand: int | None  # its number in the store of hands, once it is finished
    won: float  # by the person
    luck_free: float | None


class SessionStore(HandStore):
    """A file of sessions; made where there is none."""

    def _open(self) -> None:
        """Nothing is written to a file before it is known to be whole, and of a version that we know."""
        super()._open()
        if (found := self._base.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise FileError(f"{self.path} is damaged ({found.splitlines()[-1]}).")
        if self._one("SELECT count(*) FROM sqlite_master WHERE name = 'table_version'"):
            self._require_version()
        # Commits then cost no wait for the disk; a kill of the program loses none of them.
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = NORMAL")
        with self._transaction():
            for statement in SCHEMA:
                self._base.execute(statement.format(version=VERSION))

    def _require_version(self) -> None:
        version = self._base.execute("SELECT max(version) FROM table_version").fetchone()[0]
        if not isinstance(version, int):
            raise FileError(f"{self.path} is damaged: it does not say of which version it is.")
        if version > VERSION:
            raise FileError(
                f"{self.path} was written by a newer OpenFelt (sessions {version}, this one reads {VERSION})."
            )

    def begin(self, game: str, bots: Sequence[str], seed: str) -> SessionRow:
        """A new session; who knows its id can play it."""
        row = SessionRow(secrets.token_urlsafe(16), game, tuple(bots), time.time(), seed)
        with self._as_file_errors(), self._transaction():
            self._base.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?, ?)",
                (row.id, row.game, json.dumps(row.bots), row.begun, row.seed),
            )
        return row

    def session(self, key: str) -> SessionRow:
        """The session of that id."""
        with self._as_file_errors():
            found = self._base.execute("SELECT * FROM sessions WHERE id = ?", (key,)).fetchone()
        if found is None:
            raise MissingError("There is no such session.")
        name, game, bots, begun, seed = self._of_types(SESSION_TYPES, found)
        try:
            return SessionRow(name, game, tuple(map(str, json.loads(bots))), begun, seed)
        except (TypeError, ValueError):
            raise FileError(f"{self.path} is damaged: the bots of a session cannot be read.") from None

    def begin_hand(self, row: HandRow) -> None:
        """A hand is dealt."""
        with self._as_file_errors(), self._transaction():
            self._base.execute(
                "INSERT INTO table_hands VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, 0, NULL)",
                (row.session, row.number, row.seat, row.seed, row.nonce, row.link, ON, _text(row.actions)),
            )

    def act(self, session: str, number: int, actions: Sequence[str]) -> None:
        """A hand went on."""
        with self._as_file_errors(), self._transaction():
            self._update(session, number, "actions = ?", _text(actions))

    def finish(
        self, session: str, record: HandRecord, *, won: float, luck_free: float | None, next_seed: str
    ) -> None:
        """A hand is over: it goes to the store of hands, and the next one has its seed."""
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
            self._next(session, next_seed)

    def give_back(self, session: str, number: int, next_seed: str) -> None:
        """A hand that cannot go on does not count."""
        with self._as_file_errors(), self._transaction():
            self._update(session, number, "status = ?", RETURNED)
            self._next(session, next_seed)

    def table_hands(self, session: str, *, before: int | None = None) -> list[HandRow]:
        """All hands of a session in their order; or a page of those before one, the latest first."""
        query = "SELECT * FROM table_hands WHERE session = ?"
        if before is None:
            return self._hand_rows(f"{query} ORDER BY number", session)
        query += " AND number < ? AND status > 0 ORDER BY number DESC LIMIT ?"
        return self._hand_rows(query, session, before, PAGE)

    def linked(self, link: str) -> HandRow:
        """The finished hand of that link."""
        found = self._hand_rows("SELECT * FROM table_hands WHERE link = ?", link)
        if not found or found[0].status != FINISHED:
            raise MissingError("There is no finished hand with this link.")
        return found[0]

    def record(self, row: HandRow) -> HandRecord:
        """A finished hand, checked."""
        if row.hand is None:
            raise FeltError(f"Hand {row.number} is not finished.")
        record = self.hand(row.hand)
        if record.number != row.number or record.won[row.seat : row.seat + 1] != (row.won,):
            raise FileError(f"{self.path} is damaged: hand {row.number} of a session is not as it was.")
        return record

    def records(self, session: str) -> Iterator[HandRecord]:
        """All finished hands of a session."""
        if any(row.status == FINISHED for row in self.table_hands(session)):
            yield from self.hands(match=session)

    def _hand_rows(self, query: str, *values: object) -> list[HandRow]:
        with self._as_file_errors():
            found = self._base.execute(query, values).fetchall()
        return [_hand_row(*self._of_types(HAND_TYPES, row)) for row in found]

    def _of_types(self, types: Sequence[Any], row: Sequence[Any]) -> Sequence[Any]:
        """A row as it was read, if its columns can have been written so."""
        if not all(map(isinstance, row, types)):
            raise FileError(f"{self.path} is damaged: a session cannot be read.")
        return row

    def _update(self, session: str, number: int, change: str, *values: object) -> None:
        done = self._base.execute(
            f"UPDATE table_hands SET {change} WHERE session = ? AND number = ? AND status = {ON}",
            (*values, session, number),
        )
        if done.rowcount != 1:
            raise sqlite3.IntegrityError(f"hand {number} of a session is not on")

    def _next(self, session: str, seed: str) -> None:
        self._base.execute("UPDATE sessions SET seed = ? WHERE id = ?", (seed, session))


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


def _text(actions: Sequence[str]) -> str:
    return " ".join(actions)
