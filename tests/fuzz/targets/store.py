"""Stores of hands, SQLite files: changed bytes, and changed rows with and without new checksums."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from random import Random
from typing import Any

from fuzz.files import FileTarget
from fuzz.hands import some_hands
from fuzz.mutations import mutate_bytes
from fuzz.target import Finding, Mutant
from openfelt.hands.check import check_record
from openfelt.hands.packed import Row, Sitting, seal_of
from openfelt.hands.store import HandStore

VALUES = (None, 0, -1, 1, 2**62, 0.5, "", "x", b"", b"\xff" * 4, '["a"]', "[", "holdem", "kuhn(pot=8)", 1e300)
COLUMNS = {
    "hands": ("id", "sitting", "number", "dealt", "actions", "won", "seal"),
    "sittings": ("id", "match", "game", "names"),
    "total": ("hands",),
}


class StoreTarget(FileTarget):
    """A store with hands of three games."""

    name, suffix = "store", ".db"
    share = 1.5
    cost = 3.0

    def prepare(self) -> None:
        path = self.folder / "sample.db"
        with HandStore(path) as store:
            for game in ("holdem", "leduc", "kuhn"):
                store.append(some_hands(game, 20), match=game)
        self.add_text(path.read_bytes())

    def mutate(self, random: Random, number: int) -> Mutant:
        data = self.data(Mutant(self.samples[number], "", number))
        if random.random() < 0.4:
            data, how = mutate_bytes(random, data)
            return Mutant({"mutant.db": data}, how, number)
        path = self.folder / "changed.db"
        path.write_bytes(data)
        base = sqlite3.connect(path)
        try:
            how, sealed = _change(random, base), random.random() < 0.4
            if sealed:
                _seal(base)
            base.commit()
        except sqlite3.Error as error:
            how, sealed = str(error), False
        finally:
            base.close()
        return Mutant({"mutant.db": path.read_bytes()}, how, number, sealed)

    def read_file(self, path: Path) -> Any:
        try:
            with HandStore(path) as store:
                hands = list(store.hands())
                by_player = [list(store.hands(player=name)) for name in store.players()]
                by_match = [list(store.hands(match=name)) for name in store.matches()]
                count = store.count()
                columns = [block.action.tolist() for block in store.columns("probe")]
                return hands, by_player, by_match, count, columns, store.players(), store.matches()
        finally:
            for other in path.parent.glob(f"{path.name}-*"):
                other.unlink()

    def rule(self, mutant: Mutant, content: Any) -> str:
        if not mutant.sealed:
            raise Finding("the content has changed, and no checksum shows it")
        hands, _, by_match, count, *_ = content
        if count != len(hands) or sum(map(len, by_match)) != count:
            raise Finding("hands are missing")
        for record in hands:
            if (fault := check_record(record)) is not None:
                raise Finding(f"a hand violates the rules: {fault}")
        return "other hands by the rules, with valid checksums"


def _change(random: Random, base: sqlite3.Connection) -> str:
    table = random.choice(("hands", "hands", "hands", "sittings", "total"))
    rows = [key for (key,) in base.execute(f"SELECT rowid FROM {table}")]
    row = random.choice(rows)
    what = random.choice(("update", "update", "update", "delete", "copy", "drop", "exchange", "version"))
    column = random.choice(COLUMNS[table])
    if what == "update":
        base.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (random.choice(VALUES), row))
        return f"set {table}.{column}"
    if what == "delete":
        some = random.choice(("= ?", "> ?", "< ?"))
        base.execute(f"DELETE FROM {table} WHERE rowid {some}", (row,))
        return f"delete from {table}"
    if what == "copy":
        names = ", ".join(COLUMNS[table][table != "total" :])
        base.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM {table} WHERE rowid = ?", (row,))
        return f"copy in {table}"
    if what == "exchange":
        other = random.choice(rows)
        query = (
            f"UPDATE {table} SET {column} = (SELECT {column} FROM {table} WHERE rowid = ?) WHERE rowid = ?"
        )
        base.execute(query, (other, row))
        return f"copy {table}.{column} from another row"
    if what == "drop":
        base.execute(random.choice((f"DROP TABLE {table}", f"ALTER TABLE {table} RENAME TO other")))
        return f"drop {table}"
    pragma = random.choice(("user_version", "application_id"))
    base.execute(f"PRAGMA {pragma} = {random.choice((0, 1, 2, 99))}")
    return pragma


def _seal(base: sqlite3.Connection) -> None:
    """Compute all checksums and the count again."""
    query = (
        "SELECT hands.id, match, game, names, number, dealt, actions, won FROM hands"
        " JOIN sittings ON sittings.id = hands.sitting"
    )
    for key, match, game, names, *words in base.execute(query).fetchall():
        try:
            seal = seal_of(Sitting(match, game, tuple(json.loads(names))), Row(*words))
        except (TypeError, ValueError, AttributeError):
            continue
        base.execute("UPDATE hands SET seal = ? WHERE id = ?", (seal, key))
    base.execute("UPDATE total SET hands = (SELECT count(*) FROM hands)")
