"""The people at a server: who keeps the key of a name has the name, and the sessions that belong to it."""

from __future__ import annotations

import hashlib
import time
import unicodedata

from openfelt.core.errors import FeltError, MissingError
from openfelt.hands.store import HandStore
from openfelt.table.lobby.characters import CHARACTERS
from openfelt.table.presentation.text import YOU

LONGEST_NAME = 24  # characters
MOST_MARKS = 2  # accents in a row
MOST_NAMES = 10_000  # of a server
MOST_OWNED = 50  # sessions that are listed, the latest
SIGNS = " .-_'"  # allowed in names besides letters, digits and accents
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS players (player TEXT PRIMARY KEY, name TEXT, folded TEXT UNIQUE, since REAL)"
    " WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS session_players (session TEXT PRIMARY KEY, player TEXT) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS sessions_of_player ON session_players (player)",
)


class PlayerStore(HandStore):
    """Names by player, and players by session. A player is known by the hash of its key."""

    def name_of(self, player: str | None) -> str | None:
        """The name that a player has taken."""
        return self._text("SELECT name FROM players WHERE player = ?", player)

    def take_name(self, player: str, name: object) -> str:
        """Give a player a name, or another one; raises FeltError if it is not free."""
        text = require_name(name)
        with self._as_file_errors(), self._transaction():
            holder = self._text("SELECT player FROM players WHERE folded = ?", _folded(text))
            if holder not in (None, player):
                raise FeltError(f"The name {text} is taken; choose another one.")
            if self.name_of(player) is None and self._one("SELECT count(*) FROM players") >= MOST_NAMES:
                raise FeltError(f"This server has {MOST_NAMES:,} names already; play without one.")
            self._base.execute(
                "INSERT INTO players VALUES (?, ?, ?, ?)"
                " ON CONFLICT (player) DO UPDATE SET name = excluded.name, folded = excluded.folded",
                (player, text, _folded(text), time.time()),
            )
        return text

    def own(self, session: str, player: str) -> None:
        """Let a session belong to a player."""
        with self._as_file_errors(), self._transaction():
            self._base.execute("INSERT INTO session_players VALUES (?, ?)", (session, player))

    def owner(self, session: str) -> str | None:
        """The player to whom a session belongs; None if it belongs to whoever has its id."""
        return self._text("SELECT player FROM session_players WHERE session = ?", session)

    def require_own(self, session: str, player: str | None) -> None:
        """Raise if a session belongs to somebody else."""
        if self.owner(session) not in (None, player):
            raise MissingError("This session belongs to another player; ask for the link to a hand.")

    def owned(self, player: str | None) -> list[str]:
        """The latest sessions of a player, the latest first."""
        query = (
            "SELECT session FROM session_players JOIN sessions ON id = session WHERE player = ?"
            " ORDER BY begun DESC LIMIT ?"
        )
        with self._as_file_errors():
            return [str(key) for (key,) in self._base.execute(query, (player, MOST_OWNED))]

    def _text(self, query: str, value: str | None) -> str | None:
        with self._as_file_errors():
            found = self._base.execute(query, (value,)).fetchone()
        return None if found is None else str(found[0])


def player_id(key: str) -> str:
    """The hash of a key, by which the file knows the player."""
    return hashlib.sha256(key.encode()).hexdigest()


def require_name(name: object) -> str:
    """A name as it is shown; raises FeltError if it could disturb a page or be mistaken for another."""
    if not isinstance(name, str):
        raise FeltError("A name must be a text.")
    text = unicodedata.normalize("NFKC", name).strip()
    if not 0 < len(text) <= LONGEST_NAME:
        raise FeltError(f"A name has from 1 to {LONGEST_NAME} characters.")
    kinds = "".join(sign if sign in SIGNS else unicodedata.category(sign)[0] for sign in text)
    has_only = all(kind in f"LNM{SIGNS}" for kind in kinds)
    if not has_only or kinds[0] not in "LN" or "  " in text or "M" * (MOST_MARKS + 1) in kinds:
        raise FeltError(
            f"A name begins with a letter or digit; it has only letters, digits, spaces and {SIGNS.strip()}"
            " as other characters."
        )
    if _folded(text) in RESERVED or text.casefold().startswith(f"{YOU} "):
        raise FeltError(f"The name {text} is taken; choose another one.")
    return text


def _folded(name: str) -> str:
    """What two names that look alike have in common."""
    return "".join(sign for sign in name.casefold() if sign not in SIGNS)


RESERVED = {_folded(word) for name, bot in CHARACTERS.items() for word in (name, bot.title)} | {YOU}
