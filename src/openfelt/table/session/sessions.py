"""All sessions of a server: found, begun, played, looked at again. One thread calls this, and no other.

One thread means no locks: bots may be shared by all sessions, and what one message changes no other sees half
done. What takes long is worked out elsewhere (`analyst.py`), with bots of its own.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from openfelt.core.errors import FeltError, FileError
from openfelt.games.game import CHANCE
from openfelt.games.registry import load_game
from openfelt.hands.check import replay
from openfelt.hands.phh import phh_text
from openfelt.hands.record import HandRecord
from openfelt.table.lobby.bots import Bots
from openfelt.table.lobby.lobby import title
from openfelt.table.review.replay import hand_again, review
from openfelt.table.session.chips import furniture, plain_word
from openfelt.table.session.fair_dealing import new_seed
from openfelt.table.session.session import Session
from openfelt.table.session.session_store import RETURNED, HandRow, SessionStore
from openfelt.table.session.visibility import state_of

SESSIONS_KEPT = 1_000  # in memory; the others are read again when they are needed


class Tables:
    """What the server asks; answers are ready for JSON."""

    def __init__(self, store: SessionStore, bots: Bots) -> None:
        self._store, self._bots = store, bots
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._dropped: set[str] = set()  # which could not be kept as they were

    def begin(self, game: object, bots: object) -> str:
        """A new session; its id."""
        rules, names = self._bots.named(game, bots)
        for name in names:
            self._bots.make(name, rules)
        return self._store.begin(rules.name, names, new_seed()).id

    def about(self, key: str) -> dict[str, Any]:
        """What the lobby says of a session."""
        session = self._session(key)
        begun = datetime.fromtimestamp(session.begun, UTC).isoformat(timespec="seconds")
        facts = {"game": session.game.name, "title": title(session.game), "bots": session.bot_names}
        return {**facts, "hands": session.score.hands, "begun": begun}

    def state(self, key: str) -> dict[str, Any]:
        """For a window that has just come, with the chart."""
        return state_of(self._session(key), chart=True)

    def deal(self, key: str, number: object, nonce: object) -> dict[str, Any]:
        """Begin a hand."""
        return self._change(key, lambda session: session.deal(number, nonce))

    def act(self, key: str, number: object, step: object, word: object) -> dict[str, Any]:
        """Take an action for the person."""
        return self._change(key, lambda session: session.act(number, step, word))

    def hands(self, key: str, before: int) -> dict[str, Any]:
        """A page of a session's hands, the latest first."""
        self._session(key)
        rows = self._store.table_hands(key, before=before)
        more = bool(rows) and bool(self._store.table_hands(key, before=rows[-1].number))
        return {"hands": [self._listed(row) for row in rows], "more": more}

    def linked(self, link: str) -> tuple[HandRow, HandRecord]:
        """What is kept of a finished hand."""
        row = self._store.linked(link)
        return row, self._store.record(row)

    def review(self, link: str) -> dict[str, Any]:
        """A finished hand, step by step."""
        row, record = self.linked(link)
        return review(row, record, hand_again(row, record, self._bots.make))

    def phh(self, link: str) -> str:
        """A finished hand as a PHH file."""
        return phh_text(self.linked(link)[1])

    def all_phh(self, key: str) -> str:
        """All finished hands of a session as a PHH file of many."""
        hands = enumerate(self._records(key), 1)
        return "".join(f"[{place}]\n{phh_text(record)}\n" for place, record in hands)

    def all_lines(self, key: str) -> str:
        """The same as lines of JSON, for any game."""
        return "".join(json.dumps(asdict(record)) + "\n" for record in self._records(key))

    def close(self) -> None:
        """Let go of the file."""
        self._store.close()

    def _records(self, key: str) -> Iterator[HandRecord]:
        self._session(key)
        return self._store.records(key)

    def _session(self, key: str) -> Session:
        if key not in self._sessions:
            session = Session(self._store, self._store.session(key), self._bots.make)
            if key in self._dropped:  # it is read again, but nothing was restarted
                self._dropped.discard(key)
                session.notice = None
            self._sessions[key] = session
            self._forget()
        self._sessions.move_to_end(key)
        return self._sessions[key]

    def _forget(self) -> None:
        """Those that were not used for longest, unless a hand is on there."""
        too_many = len(self._sessions) - SESSIONS_KEPT
        if too_many > 0:
            idle = [key for key, session in self._sessions.items() if not session.on]
            for key in idle[:too_many]:
                del self._sessions[key]

    def _change(self, key: str, change: Callable[[Session], None]) -> dict[str, Any]:
        session = self._session(key)
        try:
            change(session)
        except Exception as error:
            if isinstance(error, FileError) or not isinstance(error, FeltError):
                self._sessions.pop(key, None)  # it may be half done: what is kept counts
                self._dropped.add(key)
            raise
        return state_of(session)

    def _listed(self, row: HandRow) -> dict[str, Any]:
        facts = {"number": row.number, "link": row.link, "won": row.won, "luck_free": row.luck_free}
        if row.status == RETURNED:
            seed = {"seed": row.seed, "nonce": row.nonce}  # told, as that of any hand that is over
            return {**facts, **seed, "link": None, "cards": [], "board": [], "line": "", "returned": True}
        return {**facts, **_in_short(self._store.record(row), row.seat), "returned": False}


def _in_short(record: HandRecord, seat: int) -> dict[str, Any]:
    """The person's cards, the board, and the actions street by street."""
    game = load_game(record.game)
    hole = furniture(game).hole
    words = [
        " / " if step.mover == CHANCE else f"{plain_word(game, step.state, step.word)} "
        for step in replay(record).steps
    ]
    line = "".join(words[hole * game.players :])
    return {
        "cards": record.dealt[hole * seat : hole * (seat + 1)],
        "board": record.dealt[hole * game.players :],
        "line": " / ".join(" ".join(part.split()) for part in line.split("/") if part.strip()),
    }
