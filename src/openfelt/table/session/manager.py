"""All sessions of a server. Only one thread may call this.

With one thread no locks are needed: all sessions can share their bots, and no message sees another's change
half done. What takes long runs in another thread with its own bots (`review/analyser.py`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TypeGuard

from openfelt.core.errors import FeltError, FileError, MissingError
from openfelt.games.game import CHANCE
from openfelt.games.holdem import Holdem
from openfelt.games.registry import load_game
from openfelt.hands.check import replay
from openfelt.hands.phh import phh_text
from openfelt.hands.record import HandRecord
from openfelt.table.drills.drill_store import DrillStore
from openfelt.table.lobby.bot_pool import BotPool, parse_request
from openfelt.table.lobby.characters import title_of
from openfelt.table.presentation.registry import presentation_of
from openfelt.table.presentation.text import YOU
from openfelt.table.report.rating import PlayedSession
from openfelt.table.review.replay import replay_hand, review
from openfelt.table.session.fair_dealing import new_seed
from openfelt.table.session.session import Session
from openfelt.table.session.session_store import CANCELLED, FINISHED, HandRow, SessionRow, SessionStore
from openfelt.table.session.table_hand import TableHand
from openfelt.table.session.visibility import session_state

CACHED_HANDS = 500  # finished ones, in memory
MOST_RATED = 50  # sessions of a rating
CACHED_SESSIONS = 1_000  # in memory; the others are read again when they are needed
MOST_SESSIONS = 5_000  # in memory, with those that have a hand in progress
StateView = Callable[..., dict[str, Any]]  # of a session, for its page or for a program


class SessionManager:
    """Starts, plays and lists sessions; results are ready for JSON."""

    def __init__(self, store: SessionStore, bots: BotPool) -> None:
        self._store, self._bots = store, bots
        self.drills = DrillStore(store)
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._dropped: set[str] = set()  # removed in mid-hand, to be read again
        self._rated: dict[str, PlayedSession] = {}  # by session
        self._played: OrderedDict[str, TableHand] = OrderedDict()  # by link, as they were played

    def begin(self, game: object, bots: object, player: str | None = None) -> str:
        """Start a session, which belongs to the player if it has a name; returns its id."""
        rules, names = parse_request(game, bots)
        for name in names:
            self._bots.get(name, rules)
        key = self._store.begin(rules.name, names, new_seed()).id
        if player and self._store.name_of(player):
            self._store.own(key, player)
        return key

    def player(self, player: str | None) -> dict[str, Any]:
        """The name and the sessions of a player."""
        return {"name": self._store.name_of(player), "sessions": self._store.owned(player)}

    def take_name(self, player: str, name: object) -> None:
        """Give a player a name, or another one."""
        self._store.take_name(player, name)

    def require_own(self, key: str, player: str | None) -> None:
        """Raise if a session belongs to another player."""
        self._store.require_own(key, player)

    def about(self, key: str) -> dict[str, Any]:
        """The description of a session in the lobby; no bot is needed for it."""
        row = self._store.session(key)
        return {
            "game": row.game,
            "title": presentation_of(load_game(row.game)).title,
            "bots": row.bots,
            "titles": [title_of(name) for name in row.bots],
            "hands": self._store.finished_hands(key),
            "begun": datetime.fromtimestamp(row.begun, UTC).isoformat(timespec="seconds"),
        }

    def is_new(self, key: str) -> bool:
        """Whether no hand of a session was dealt yet."""
        return not (self._store.finished_hands(key) or self._store.table_hands(key))

    def state(self, key: str, view: StateView = session_state) -> dict[str, Any]:
        """The state for a new window, with the chart."""
        return view(self._session(key), chart=True)

    def deal(
        self, key: str, number: object, nonce: object, view: StateView = session_state
    ) -> dict[str, Any]:
        """Deal the next hand."""
        return self._change(key, lambda session: session.deal(number, nonce), view)

    def act(
        self, key: str, number: object, step: object, word: object, view: StateView = session_state
    ) -> dict[str, Any]:
        """Take an action for the person or program."""
        return self._change(key, lambda session: session.act(number, step, word), view)

    def hands(self, key: str, before: int) -> dict[str, Any]:
        """A page of a session's hands, latest first."""
        self._store.session(key)
        rows = self._store.table_hands(key, before=before)
        more = bool(rows) and bool(self._store.table_hands(key, before=rows[-1].number))
        return {"hands": [self._summary(row) for row in rows], "more": more}

    def linked(self, link: str) -> tuple[HandRow, HandRecord]:
        """A finished hand and its hand history."""
        row = self._store.linked(link)
        return row, self._store.record(row)

    def finished(self, key: str) -> list[tuple[HandRow, HandRecord]]:
        """All finished hands of a session with their hand histories, in order."""
        self._store.session(key)
        rows = [row for row in self._store.table_hands(key) if row.status == FINISHED]
        return [(row, self._store.record(row)) for row in rows]

    def unreviewed(self, deck: str, keys: object, player: str | None = None) -> list[str]:
        """Links of a player's finished hands in these sessions, latest first, that were not yet searched."""
        links = [link for key in require_sessions(keys) for link in self._finished_links(key, player)]
        return self.drills.unreviewed(deck, links)

    def _finished_links(self, key: str, player: str | None) -> list[str]:
        """The links of a session's finished hands, latest first; none if the player has no such session."""
        with suppress(MissingError):
            self._store.require_own(key, player)
            self._store.session(key)
            query = "SELECT link FROM table_hands WHERE session = ? AND status = ? ORDER BY number DESC"
            return [str(link) for (link,) in self._store.rows(query, key, FINISHED)]  # rows are checked later
        return []

    def played(self, keys: object, player: str | None = None) -> list[PlayedSession]:
        """The finished hands of a player's sessions at heads-up hold'em; unknown ids are passed over."""
        found = []
        for key in require_sessions(keys):
            with suppress(MissingError):
                self._store.require_own(key, player)
                row = self._store.session(key)
                if load_game(row.game).unabstracted == Holdem():
                    found.append(self._played_session(row))
        return found

    def _played_session(self, row: SessionRow) -> PlayedSession:
        count = self._store.finished_hands(row.id)
        known = self._rated.get(row.id)
        if known is None or len(known.won) != count:
            hands = [hand for hand in self._store.table_hands(row.id) if hand.status == FINISHED]
            adjusted = [hand.won if hand.luck_free is None else hand.luck_free for hand in hands]
            known = PlayedSession(row.bots[0], row.begun, [hand.won for hand in hands], adjusted)
            while len(self._rated) >= CACHED_SESSIONS:
                del self._rated[next(iter(self._rated))]
            self._rated[row.id] = known
        return known

    def review(self, link: str, player: str | None = None) -> dict[str, Any]:
        """A finished hand, step by step; others than its player read the player's name instead of "you"."""
        row, record = self.linked(link)
        live = self._played.get(link) or replay_hand(row, record, self._bots.get)
        owner = self._store.owner(row.session)
        name = None if owner == player else self._store.name_of(owner)
        return {**review(row, record, live, name or YOU), "player": name}

    def phh(self, link: str) -> str:
        """A finished hand as a PHH file."""
        return phh_text(self.linked(link)[1])

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def _session(self, key: str) -> Session:
        if key not in self._sessions:
            session = Session(self._store, self._store.session(key), self._bots.get)
            if key in self._dropped:  # read again, but not after a restart
                self._dropped.discard(key)
                session.notice = None
            self._evict()  # before the new one is added, which has no hand yet and would be dropped
            self._sessions[key] = session
        self._sessions.move_to_end(key)
        return self._sessions[key]

    def _evict(self) -> None:
        """Drop the least recently used sessions; of those with a hand in progress as few as possible."""
        too_many = len(self._sessions) + 1 - CACHED_SESSIONS
        if too_many > 0:
            idle = [key for key, session in self._sessions.items() if not session.hand_is_on]
            for key in idle[:too_many]:
                del self._sessions[key]
        while len(self._sessions) >= MOST_SESSIONS:
            self._dropped.add(self._sessions.popitem(last=False)[0])

    def _change(self, key: str, change: Callable[[Session], None], view: StateView) -> dict[str, Any]:
        session = self._session(key)
        seen = len(session.live.hand.steps) if session.live is not None and session.hand_is_on else 0
        try:
            change(session)
        except Exception as error:
            if isinstance(error, FileError) or not isinstance(error, FeltError):
                self._sessions.pop(key, None)  # it may be half done; what is saved counts
                self._dropped.add(key)
            raise
        self._remember(session)
        return view(session, seen=seen)

    def _remember(self, session: Session) -> None:
        """Keep a finished hand with what the bots considered, which a bot that learns cannot say later."""
        if session.row is not None and session.live is not None and session.live.over:
            self._played[session.row.link] = session.live
            if len(self._played) > CACHED_HANDS:
                self._played.popitem(last=False)

    def _summary(self, row: HandRow) -> dict[str, Any]:
        facts = {"number": row.number, "link": row.link, "won": row.won, "luck_free": row.luck_free}
        if row.status == CANCELLED:
            seed = {"seed": row.seed, "nonce": row.nonce}  # revealed, as after any hand
            return {**facts, **seed, "link": None, "cards": [], "board": [], "line": "", "returned": True}
        return {**facts, **_cards_and_line(self._store.record(row), row.seat), "returned": False}


def is_id(key: object) -> TypeGuard[str]:
    """Whether something can be the id of a session."""
    return isinstance(key, str) and key.isascii()


def require_sessions(keys: object) -> list[str]:
    """The ids of sessions in a request, without repetitions."""
    if not isinstance(keys, list) or len(keys) > MOST_RATED or not all(map(is_id, keys)):
        raise FeltError(f"Give a list of at most {MOST_RATED} ids of sessions.")
    return list(dict.fromkeys(keys))


def _cards_and_line(record: HandRecord, seat: int) -> dict[str, Any]:
    """The person's cards, the board, and the actions street by street."""
    game = load_game(record.game)
    presentation = presentation_of(game)
    size = presentation.hole_size
    words = [
        " / " if step.mover == CHANCE else f"{presentation.action_name(step.state, step.word)} "
        for step in replay(record).steps
    ]
    line = "".join(words[size * game.players :])
    return {
        "cards": record.dealt[size * seat : size * (seat + 1)],
        "board": record.dealt[size * game.players :],
        "line": " / ".join(" ".join(part.split()) for part in line.split("/") if part.strip()),
    }
