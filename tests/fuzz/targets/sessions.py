"""Files of sessions at the table: changed bytes, and changed rows."""

from __future__ import annotations

import itertools
import json
import shutil
import sqlite3
from random import Random
from typing import Any
from unittest.mock import patch

from fuzz.mutations import mutate_bytes
from fuzz.target import Finding, Mutant, Target
from openfelt.table.lobby.bot_pool import BotPool
from openfelt.table.session.manager import SessionManager
from openfelt.table.session.session_store import SessionStore

COLUMNS = {
    "sessions": ("id", "game", "bots", "begun", "seed"),
    "table_hands": (
        *(
            "session",
            "number",
            "seat",
            "seed",
            "nonce",
            "link",
            "status",
            "actions",
            "hand",
            "won",
            "luck_free",
        ),
    ),
    "hands": ("id", "sitting", "number", "dealt", "actions", "won", "seal"),
    "table_version": ("version",),
}
VALUES = (
    None,
    0,
    1,
    2,
    -1,
    2**62,
    0.5,
    "",
    "x",
    b"\xff",
    '["random"]',
    "[",
    "kuhn",
    "leduc",
    "pass",
    "bet",
    1e300,
)


class SessionFileTarget(Target):
    """Two sessions: one with finished hands, one with a hand in progress."""

    name = "session-file"
    cost = 1.5

    def prepare(self) -> None:
        self._names = itertools.count()
        path = self.folder / "sample" / "sessions.db"
        path.parent.mkdir()
        numbers = itertools.count(1)
        with (
            patch("secrets.token_hex", lambda size: f"{next(numbers):0{2 * size}x}"),
            patch("secrets.token_urlsafe", lambda size: f"key{next(numbers)}"),
            patch("time.time", lambda: 1.7e9),
        ):
            manager = SessionManager(SessionStore(path), BotPool(()))
            self.keys = [manager.begin("kuhn", ["always-call"]) for _ in range(2)]
            self.links = [_play(manager, self.keys[0], number) for number in range(1, 5)]
            manager.deal(self.keys[1], 1, "0" * 32)
            manager.close()
        base = sqlite3.connect(path)
        base.execute("PRAGMA journal_mode = DELETE")
        base.close()
        self.add({"sessions.db": path.read_bytes()})

    def mutate(self, random: Random, number: int) -> Mutant:
        data = self.samples[number]["sessions.db"]
        if random.random() < 0.4:
            data, how = mutate_bytes(random, data)
            return Mutant({"sessions.db": data}, how, number)
        path = self.folder / "changed.db"
        path.write_bytes(data)
        base = sqlite3.connect(path)
        try:
            how = _change(random, base)
            base.commit()
        except sqlite3.Error as error:
            how = str(error)
        finally:
            base.close()
        return Mutant({"sessions.db": path.read_bytes()}, how, number)

    def read(self, mutant: Mutant) -> Any:
        folder = self.folder / f"mutant-{next(self._names)}"
        folder.mkdir()
        path = folder / "sessions.db"
        path.write_bytes(mutant.files["sessions.db"])
        try:
            manager = SessionManager(SessionStore(path), BotPool(()))
            try:
                shown = [
                    [manager.about(key), manager.state(key), manager.hands(key, 1 << 60)] for key in self.keys
                ]
                reviews = [manager.review(link) for link in self.links]
            finally:
                manager.close()
        finally:
            shutil.rmtree(folder)
        return json.dumps([shown, reviews], sort_keys=True, default=str)

    def rule(self, mutant: Mutant, content: Any) -> str:
        shown, reviews = json.loads(content)
        before, reviews_before = json.loads(self.contents[0])
        notice = shown[1][1]["notice"] or ""
        if shown[0] == before[0] and reviews == reviews_before and "could not be restored" in notice:
            return "a hand in progress cannot be restored, and the player is told"
        raise Finding("the content has changed, and no checksum shows it")


def _play(manager: SessionManager, key: str, number: int) -> str:
    """Play a hand by betting, and return its link."""
    state = manager.deal(key, number, f"{number:032x}")
    while not state["hand"]["over"]:
        state = manager.act(key, number, state["hand"]["step"], state["hand"]["actions"][-1]["word"])
    return str(state["hand"]["link"])


def _change(random: Random, base: sqlite3.Connection) -> str:
    table = random.choice(("sessions", "table_hands", "table_hands", "table_hands", "hands", "table_version"))
    column, what = random.choice(COLUMNS[table]), random.choice(("set", "set", "copy", "delete"))
    keys = [key for (key,) in base.execute(f"SELECT {COLUMNS[table][0]} FROM {table}")]
    chosen, key = f"{COLUMNS[table][0]} = ?", random.choice(keys)
    if table == "table_hands":
        chosen, key = (
            "link = ?",
            random.choice([link for (link,) in base.execute("SELECT link FROM table_hands")]),
        )
    if what == "delete":
        base.execute(f"DELETE FROM {table} WHERE {chosen}", (key,))
    elif what == "set":
        base.execute(f"UPDATE {table} SET {column} = ? WHERE {chosen}", (random.choice(VALUES), key))
    else:
        other = f"(SELECT {column} FROM {table} LIMIT 1 OFFSET {random.randrange(len(keys))})"
        base.execute(f"UPDATE {table} SET {column} = {other} WHERE {chosen}", (key,))
    return f"{what} {table}.{column}"
