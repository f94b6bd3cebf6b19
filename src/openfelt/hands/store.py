"""A store for millions of hands in one SQLite file, read back as records or as arrays.

A kill at any moment leaves all committed hands, and every hand has a checksum. A *sitting* is a match, a game
and the players by seat, stored once for all its hands. The cards of a hand are bytes, its actions letters
(docs/histories.md describes the layout).
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from openfelt.core.errors import FeltError, FileError, unknown
from openfelt.games.holdem import Holdem, require_holdem
from openfelt.games.registry import load_game
from openfelt.hands.bad_hand import BadHandError, Skip, refuse
from openfelt.hands.check import check_record
from openfelt.hands.columns import DecisionColumns, decision_columns
from openfelt.hands.packed import (
    Row,
    Sitting,
    chips_of,
    is_sealed,
    new_sitting,
    pack,
    seal_of,
    unpack,
    words_of,
)
from openfelt.hands.record import HandRecord

APPLICATION = int.from_bytes(b"Felt", "big")  # SQLite's application id, in the header of the file
VERSION = 1
BATCH = 10_000  # hands per commit, and per read
BLOCK = 250_000  # hands per block of columns
BUSY_TIMEOUT = 60.0  # seconds to wait for another program's commit

SCHEMA = (
    "CREATE TABLE sittings (id INTEGER PRIMARY KEY, match TEXT, game TEXT, names TEXT,"
    " UNIQUE (match, game, names))",
    "CREATE TABLE hands (id INTEGER PRIMARY KEY, sitting INTEGER, number INTEGER, dealt BLOB, actions TEXT,"
    " won BLOB, seal INTEGER)",
    "CREATE TABLE total (hands INTEGER)",
    "INSERT INTO total VALUES (0)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
COUNT = (
    "SELECT (SELECT hands FROM total), (SELECT coalesce(max(id), 0) FROM hands),"
    " (SELECT coalesce(min(id), 1) FROM hands)"
)

ONE_HAND = (
    "SELECT match, game, names, seal, number, dealt, actions, won FROM hands"
    " JOIN sittings ON sittings.id = hands.sitting WHERE hands.id = ?"
)


class HandStore:
    """A file of millions of hands of any games, an SQLite database. Use it as a context manager.

    Parameters
    ----------
    path : str or Path
        The file.
    create : bool
        Create the file if it does not exist or is empty; otherwise refuse it.

    Examples
    --------
    >>> hand = felt.HandRecord("kuhn", 0, ("Ann", "Bo"), ("K", "Q"), ("bet", "pass"), (1.0, -1.0))
    >>> with felt.HandStore(folder / "hands.db") as store:
    ...     count = store.append([hand], match="first")
    ...     store.count(), store.players(), next(store.hands(player="Ann")) == hand
    (1, ['Ann', 'Bo'], True)
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        self._create = create
        self._verified = 0  # the last hand that was found unchanged, with all before it
        self._counts: Counter[int] = Counter()  # of the verified hands, by sitting
        if not (create or (self.path.is_file() and self.path.stat().st_size)):
            raise FileError(f"{self.path} is {'empty' if self.path.is_file() else 'not a file'}.")
        with self._as_file_errors():
            self._base = sqlite3.connect(self.path, isolation_level=None, timeout=BUSY_TIMEOUT)
        try:
            with self._as_file_errors():
                self._open()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; all hands are in it already."""
        self._base.close()

    def append(self, records: Iterable[HandRecord], *, match: str = "") -> int:
        """Add hands, BATCH per commit, and return their number; hands before an invalid one are stored.

        Inside `atomic`, all of them are stored together, or none.
        """
        batch: list[tuple[Sitting, Row]] = []
        sittings: dict[tuple[str, tuple[str, ...]], Sitting] = {}
        count = 0
        try:
            for record in records:
                key = record.game, record.names
                sitting = sittings.get(key) or sittings.setdefault(key, new_sitting(match, *key))
                batch.append((sitting, pack(sitting, record)))
                count += 1
                if len(batch) == BATCH:
                    self._commit(batch)
        finally:
            self._commit(batch)
        return count

    def count(self) -> int:
        """The number of hands; it is stored, since hands are never removed."""
        with self._as_file_errors():
            count, last, first = self._base.execute(COUNT).fetchone()
        if count != last or first != 1:
            raise FileError(
                f"{self.path} is damaged: it has hands {first} to {last} instead of 1 to {count}."
            )
        return int(count)

    def matches(self) -> list[str]:
        """The names of all matches."""
        return sorted({sitting.match for sitting in self._sittings().values()})

    def players(self) -> list[str]:
        """The names of all players."""
        return sorted({name for sitting in self._sittings().values() for name in sitting.names})

    def hands(
        self, player: str | None = None, match: str | None = None, *, skip: Skip | None = None
    ) -> Iterator[HandRecord]:
        """All hands in the order in which they were added, or those of one player or match.

        First makes sure that no hand of the store was changed or removed. A hand that violates the rules
        raises BadHandError, or is skipped and `skip` is called with the error.
        """
        for _, record in self.matched_hands(player, match, skip=skip):
            yield record

    def matched_hands(
        self, player: str | None = None, match: str | None = None, *, skip: Skip | None = None
    ) -> Iterator[tuple[str, HandRecord]]:
        """As `hands`, each with its match."""
        for sitting, _, record in self._checked(self._chosen(player, match), skip):
            yield sitting.match, record

    def hand(self, key: int) -> HandRecord:
        """The hand that was added as number `key`, counted from 1."""
        with self._as_file_errors():
            found = self._base.execute(ONE_HAND, (key,)).fetchone()
        if found is not None:
            match, game, names, seal, *words = found
            sitting, row = self._sitting(match, game, names), Row(*words)
            if is_sealed(seal, sitting, row):
                return self._record(sitting, row)
        raise FileError(f"{self.path} is damaged: its {key:,}th hand is missing or was changed.")

    def columns(
        self, player: str, game: str = Holdem.key, *, block: int = BLOCK
    ) -> Iterator[DecisionColumns]:
        """The decisions of a hold'em player, as arrays of `block` hands at a time.

        Hands count if their game has the same rules, with any abstraction.
        """
        rules = require_holdem(load_game(game))
        chosen = {key: each for key, each in self._chosen(player).items() if each.is_played_by(rules)}
        player_seats = {
            each: [seat for seat, name in enumerate(each.names) if name == player] for each in chosen.values()
        }
        seats, rows, won = list[int](), list[Row](), list[float]()
        for sitting, row, _ in self._checked(chosen):
            for seat in player_seats[sitting]:
                seats.append(seat)
                rows.append(row)
                won.append(chips_of(row.won, rules.players)[seat])
            if len(rows) >= block:
                yield decision_columns(rules.players, seats, rows, won)
                seats, rows, won = [], [], []
        if rows:
            yield decision_columns(rules.players, seats, rows, won)

    def _open(self) -> None:
        owner = self._one("PRAGMA application_id")
        if owner == 0 and self._create and not self._one("SELECT count(*) FROM sqlite_master"):
            with self._transaction():
                if not self._one("SELECT count(*) FROM sqlite_master"):  # no other process was faster
                    for statement in SCHEMA:
                        self._base.execute(statement)
        elif owner != APPLICATION:
            raise FileError(f"{self.path} is a database of another program, not a store of hands.")
        version = self._one("PRAGMA user_version")
        if version > VERSION:
            raise FileError(
                f"{self.path} was written by a newer OpenFelt (format {version}, this one reads {VERSION})."
            )

    def _one(self, query: str) -> int:
        return int(self._base.execute(query).fetchone()[0])

    def _commit(self, batch: list[tuple[Sitting, Row]]) -> None:
        """Write a batch and clear it."""
        rows = list(batch)
        batch.clear()
        if not rows:
            return
        with self._as_file_errors(), self._transaction():
            self._insert(rows)

    def _insert(self, rows: list[tuple[Sitting, Row]]) -> None:
        """Add hands, as part of a transaction."""
        sittings = dict.fromkeys(sitting for sitting, _ in rows)
        insert = "INSERT OR IGNORE INTO sittings (match, game, names) VALUES (?, ?, ?)"
        self._base.executemany(insert, [each.key for each in sittings])
        query = "SELECT id FROM sittings WHERE match = ? AND game = ? AND names = ?"
        key = {each: self._base.execute(query, each.key).fetchone()[0] for each in sittings}
        self._base.executemany(
            "INSERT INTO hands (sitting, number, dealt, actions, won, seal) VALUES (?, ?, ?, ?, ?, ?)",
            [(key[sitting], *row, seal_of(sitting, row)) for sitting, row in rows],
        )
        self._base.execute("UPDATE total SET hands = hands + ?", (len(rows),))

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """Store all hands that are added inside together, or none of them; other writers wait."""
        with self._as_file_errors(), self._transaction():
            yield

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        if self._base.in_transaction:  # part of a larger one
            yield
            return
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise

    def _sittings(self) -> dict[int, Sitting]:
        with self._as_file_errors():
            rows = self._base.execute("SELECT id, match, game, names FROM sittings").fetchall()
        return {key: self._sitting(*words) for key, *words in rows}

    def _sitting(self, match: Any, game: Any, names: Any) -> Sitting:
        try:
            if isinstance(match, str) and isinstance(game, str) and isinstance(names, str):
                return Sitting(match, game, words_of(names))
        except (ValueError, RecursionError):
            pass
        raise FileError(f"{self.path} is damaged: the names of its players cannot be read.")

    def _chosen(self, player: str | None = None, match: str | None = None) -> dict[int, Sitting]:
        """The sittings of a player and a match, or of all."""
        if player is not None and player not in self.players():
            raise FeltError(unknown("player", player, self.players()))
        if match is not None and match not in self.matches():
            raise FeltError(unknown("match", match, self.matches()))
        return {
            key: sitting
            for key, sitting in self._sittings().items()
            if player in (None, *sitting.names) and match in (None, sitting.match)
        }

    def _verify(self) -> None:
        """Make sure that the store is whole: all hands are there, and as they were added.

        Hands that were verified since the store was opened are not verified again.
        """
        end, sittings, last = self.count(), self._sittings(), self._verified
        counts = self._counts.copy()
        for key, where, seal, *words in self._fetch(last, end):
            sitting = sittings.get(where)
            if key != last + 1 or sitting is None or not is_sealed(seal, sitting, Row(*words)):
                raise FileError(
                    f"{self.path} is damaged: a hand after the {last:,}th was changed or removed."
                )
            last = key
            counts[where] += 1
        if last < end:
            raise FileError(f"{self.path} is damaged: hands after the {last:,}th are missing.")
        self._verified, self._counts = last, counts

    def _checked(
        self, sittings: Mapping[int, Sitting], skip: Skip | None = None
    ) -> Iterator[tuple[Sitting, Row, HandRecord]]:
        """The hands of some sittings of a whole store, in order, by the rules."""
        self._verify()
        end, missing = self._verified, sum(self._counts[key] for key in sittings)
        all_of_them = self._counts.keys() <= sittings.keys()
        chosen = "" if all_of_them else f" AND sitting IN ({','.join(map(str, sittings))})"
        for _, where, seal, *words in self._fetch(0, end, chosen):
            sitting, row = sittings.get(where), Row(*words)
            if sitting is None or not is_sealed(seal, sitting, row):
                raise FileError(f"{self.path} was changed while it was read.")
            missing -= 1
            record = self._record(sitting, row)
            fault = check_record(record)
            if fault is None:
                yield sitting, row, record
                continue
            of_match = f" of match '{sitting.match}'" if sitting.match else ""
            error = BadHandError(self.path, f"hand {row.number}{of_match}", fault, row.number)
            refuse(error, skip)
        if missing:
            raise FileError(f"{self.path} was changed while it was read.")

    def _record(self, sitting: Sitting, row: Row) -> HandRecord:
        try:
            return unpack(sitting, row)
        except FeltError as error:
            raise FileError(f"{self.path} is damaged: hand {row.number} was changed, {error}") from None

    def _fetch(self, last: int, end: int, condition: str = "") -> Iterator[tuple[Any, ...]]:
        """Rows after `last` up to `end`, in batches, so that a slow reader blocks no writer."""
        query = (
            "SELECT id, sitting, seal, number, dealt, actions, won FROM hands"
            f" WHERE id > ? AND id <= ?{condition} ORDER BY id LIMIT {BATCH}"
        )
        while last < end:
            with self._as_file_errors():
                rows = self._base.execute(query, (last, end)).fetchall()
            yield from rows
            if len(rows) < BATCH:
                return
            last = rows[-1][0]

    @contextmanager
    def _as_file_errors(self) -> Iterator[None]:
        """Turn SQLite's errors into a FileError."""
        try:
            yield
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            name, reason = getattr(error, "sqlite_errorname", ""), " ".join(str(error).split())
            if name.startswith("SQLITE_NOTADB"):
                raise FileError(f"{self.path} is not a store of hands.") from None
            if name.startswith("SQLITE_CORRUPT"):
                raise FileError(f"{self.path} is damaged ({reason}).") from None
            raise FileError(
                f"{self.path} could not be used ({reason}); the stored hands are unchanged."
            ) from None
