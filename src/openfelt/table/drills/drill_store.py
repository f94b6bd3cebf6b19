"""Decks of drills in the file of the sessions: what was missed and when it is due, and all answers.

A *deck* belongs to a browser, which keeps its id. A *card* is a decision that comes back: one that was
missed, or a mistake in the person's own hands.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from openfelt.core.errors import FeltError, FileError, MissingError
from openfelt.table.drills.drill import Drill, read_drill
from openfelt.table.drills.schedule import DAY, INTERVALS, LEARNED, due_at, next_box
from openfelt.table.session.session_store import SessionStore

NEW = 0  # the box of mistakes of own hands that were not drilled yet
MOST_POINTS = 200  # of the chart
WINDOW = 20  # answers of a point of the chart
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS drill_decks (id TEXT PRIMARY KEY, begun REAL)",
    "CREATE TABLE IF NOT EXISTS drill_cards (deck TEXT, key TEXT, drill TEXT, box INTEGER, due REAL,"
    " loss REAL, PRIMARY KEY (deck, key)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS drill_answers (id INTEGER PRIMARY KEY, deck TEXT, time REAL, game TEXT,"
    " right INTEGER, loss REAL)",
    "CREATE INDEX IF NOT EXISTS drill_answers_of ON drill_answers (deck)",
    "CREATE TABLE IF NOT EXISTS drill_hands (deck TEXT, link TEXT, PRIMARY KEY (deck, link)) WITHOUT ROWID",
)
PUT = "INSERT OR REPLACE INTO drill_cards VALUES (?, ?, ?, ?, ?, ?)"
ADD = "INSERT OR IGNORE INTO drill_cards VALUES (?, ?, ?, ?, ?, ?)"  # another search may have added it


class Answer(NamedTuple):
    """An answer to a drill."""

    is_right: bool
    loss: float  # EV, in the unit of the game


class DrillStore:
    """The drills in a file of sessions."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        store.change(*((statement, ()) for statement in SCHEMA))

    def begin(self, now: float) -> str:
        """A new deck; whoever has its id can use it."""
        deck = secrets.token_urlsafe(16)
        self._store.change(("INSERT INTO drill_decks VALUES (?, ?)", (deck, now)))
        return deck

    def first(self, now: float) -> str:
        """The oldest deck of the file, or a new one: that of a person who keeps no id."""
        found = self._store.rows("SELECT id FROM drill_decks ORDER BY begun LIMIT 1")
        return str(found[0][0]) if found else self.begin(now)

    def require(self, deck: str) -> None:
        """Raise if there is no such deck."""
        if not self._store.rows("SELECT id FROM drill_decks WHERE id = ?", deck):
            raise MissingError("These drills do not exist.")

    def unreviewed(self, deck: str, links: Sequence[str]) -> list[str]:
        """Those hands whose mistakes are not in the deck yet."""
        self.require(deck)
        known = {link for (link,) in self._store.rows("SELECT link FROM drill_hands WHERE deck = ?", deck)}
        return [link for link in links if link not in known]

    def add_mistakes(self, deck: str, link: str, found: Sequence[tuple[Drill, float]]) -> None:
        """Add the mistakes of a hand, with their EV losses."""
        cards = [(ADD, (deck, drill.key, drill.as_json(), NEW, None, loss)) for drill, loss in found]
        self._store.change(("INSERT OR IGNORE INTO drill_hands VALUES (?, ?)", (deck, link)), *cards)

    def worst_mistake(self, deck: str) -> Drill | None:
        """The mistake of the largest EV loss that was not drilled yet."""
        return self._drill("box = ? ORDER BY loss DESC LIMIT 1", deck, NEW)

    def due(self, deck: str, now: float) -> Drill | None:
        """The card that has been due for the longest time."""
        return self._drill("due <= ? ORDER BY due LIMIT 1", deck, now)

    def postpone(self, deck: str, drill: Drill, now: float) -> None:
        """Let a card that cannot be shown come back in a day."""
        change = "UPDATE drill_cards SET box = max(box, 1), due = ? WHERE deck = ? AND key = ?"
        self._store.change((change, (now + DAY, deck, drill.key)))

    def answer(self, deck: str, drill: Drill, answer: Answer, now: float) -> int | None:
        """Store an answer; returns the box of the decision, None if it does not come back."""
        known = self._store.rows("SELECT box FROM drill_cards WHERE deck = ? AND key = ?", deck, drill.key)
        self.require(deck)
        if known and not isinstance(known[0][0], int):
            raise FileError(f"{self._store.path} is damaged: a drill cannot be read.")
        changes: list[tuple[str, tuple[object, ...]]] = [
            (
                "INSERT INTO drill_answers (deck, time, game, right, loss) VALUES (?, ?, ?, ?, ?)",
                (deck, now, drill.game, int(answer.is_right), answer.loss),
            )
        ]
        box = None
        if known or not answer.is_right:
            box = next_box(max(1, known[0][0]) if known else 1, answer.is_right)
            changes.append((PUT, (deck, drill.key, drill.as_json(), box, due_at(box, now), answer.loss)))
        self._store.change(*changes)
        return box

    def summary(self, deck: str, now: float) -> dict[str, Any]:
        """The score, the score over time and the boxes, ready for JSON."""
        self.require(deck)
        answers = self._store.rows(
            "SELECT game, right, loss FROM drill_answers WHERE deck = ? ORDER BY id", deck
        )
        cards = self._store.rows("SELECT box, due FROM drill_cards WHERE deck = ?", deck)
        are_sound = all(
            isinstance(game, str) and right in (0, 1) and isinstance(loss, float)
            for game, right, loss in answers
        )
        if not are_sound or not all(isinstance(box, int) for box, _ in cards):
            raise FileError(f"{self._store.path} is damaged: answers to drills cannot be read.")
        later = [due for _, due in cards if isinstance(due, float) and due > now]
        boxes = Counter(box for box, _ in cards)
        return {
            "answers": len(answers),
            "right": sum(right for _, right, _ in answers),
            "streak": _streak([bool(right) for _, right, _ in answers]),
            "games": _by_game(answers),
            "chart": _chart([right for _, right, _ in answers]),
            "boxes": [boxes[box] for box in INTERVALS],
            "new": boxes[NEW],
            "learned": boxes[LEARNED],
            "due": sum(isinstance(due, float) and due <= now for _, due in cards),
            "next_due": min(later) - now if later else None,
        }

    def _drill(self, condition: str, deck: str, value: object) -> Drill | None:
        self.require(deck)
        found = self._store.rows(f"SELECT drill FROM drill_cards WHERE deck = ? AND {condition}", deck, value)
        try:
            return read_drill(found[0][0]) if found else None
        except FeltError as error:
            raise FileError(f"{self._store.path} is damaged: {error}") from None


def _streak(right: Sequence[bool]) -> int:
    """Right answers in a row, up to the last one."""
    return next((place for place, each in enumerate(reversed(right)) if not each), len(right))


def _by_game(answers: Sequence[tuple[str, int, float]]) -> list[dict[str, Any]]:
    """Answers, right ones and mean EV loss of each game."""
    found = []
    for name in dict.fromkeys(game for game, _, _ in answers):
        own = [(right, loss) for game, right, loss in answers if game == name]
        lost = sum(loss for _, loss in own) / len(own)
        found.append(
            {"game": name, "answers": len(own), "right": sum(right for right, _ in own), "lost": lost}
        )
    return found


def _chart(right: Sequence[int]) -> list[list[float]]:
    """[number of the answer, share of right ones among the last WINDOW], thinned out if there are many."""
    step = max(1, -(-len(right) // MOST_POINTS))
    ends = sorted({*range(step, len(right) + 1, step), *([len(right)] if right else [])})
    return [[end, sum(right[max(0, end - WINDOW) : end]) / min(end, WINDOW)] for end in ends]
