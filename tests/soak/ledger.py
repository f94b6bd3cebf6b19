"""What the visitors were told, and whether it agrees with what they were told before."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class End(NamedTuple):
    """A finished hand, as it was acknowledged."""

    won: tuple[float, ...]  # by seat
    cards: tuple[str, ...]  # of the seats, then the board
    seed: str
    nonce: str
    link: str
    seat: int  # the visitor's


@dataclass
class Table:
    """What the visitor of a session knows."""

    game: str
    ends: dict[int, End] = field(default_factory=dict)  # by number of the hand
    place: tuple[int, bool, int] = (0, True, 0)  # of the last state
    score: tuple[int, float] = (0, 0.0)  # of the last state: hands, chips won
    hidden: tuple[str, ...] = ()  # commitment, nonce and own cards of that hand
    promised: dict[int, str] = field(default_factory=dict)  # commitments before the deal


class Ledger:
    """All tables, the counts of the report, and the violations: each a sentence, none expected."""

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self.begun: dict[str, tuple[float, float]] = {}  # the server's clock before and after the request
        self.playing = 0  # visitors at a table
        self.traffic: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.violations: list[str] = []

    def violation(self, sentence: str) -> None:
        """Note something that must not happen."""
        print(sentence, file=sys.stderr, flush=True)
        self.violations.append(sentence)

    def told(self, session: str, state: dict[str, Any]) -> None:
        """Check a state against the states before, and remember it."""
        table, hand = self.tables[session], state["hand"]
        place = number, over, _ = _place(state)
        where = f"{session}, hand {number}"
        if "does not count" in (state["notice"] or ""):
            self.violation(f"{where}: {state['notice']}")
        if place < table.place:
            self.violation(f"{where}: the session went back from {table.place} to {place}")
        if state["score"]["hands"] != number - (not over):
            self.violation(f"{where}: the score counts {state['score']['hands']} hands")
        if hand:
            self._compare_hand(where, table, hand)
        if hand and over:
            self._compare_end(where, table, state)
        if state["next"]:
            promised = table.promised.setdefault(state["next"]["number"], state["next"]["commitment"])
            if promised != state["next"]["commitment"]:
                self.violation(f"{where}: the next hand has another commitment than before")
        table.place, table.score = place, (state["score"]["hands"], state["score"]["won"])

    def _compare_hand(self, where: str, table: Table, hand: dict[str, Any]) -> None:
        own = next(seat["cards"] for seat in hand["seats"] if seat["you"])
        hidden = hand["commitment"], hand["nonce"], *own
        if hand["number"] == table.place[0] and hidden != table.hidden:
            self.violation(f"{where}: it continued with other cards")
        if hand["commitment"] != table.promised.get(hand["number"]):
            self.violation(f"{where}: its seed was not promised")
        table.hidden = hidden

    def _compare_end(self, where: str, table: Table, state: dict[str, Any]) -> None:
        hand, seats = state["hand"], state["hand"]["seats"]
        end = End(
            won=tuple(seat["won"] for seat in seats),
            cards=(*(card for seat in seats for card in seat["cards"]), *hand["board"]),
            seed=hand["seed"],
            nonce=hand["nonce"],
            link=hand["link"],
            seat=next(place for place, seat in enumerate(seats) if seat["you"]),
        )
        if table.ends.setdefault(hand["number"], end) != end:
            self.violation(f"{where}: it ended in two ways")
        if hashlib.sha256(bytes.fromhex(end.seed)).hexdigest() != hand["commitment"]:
            self.violation(f"{where}: the seed is not the one of the commitment")


def _place(state: dict[str, Any]) -> tuple[int, bool, int]:
    """Where a session is: number of the last hand, whether it is over, else its step.

    After a restart the last hand is not shown if it was over.
    """
    if state["next"]:
        return state["next"]["number"] - 1, True, 0
    return state["hand"]["number"], False, state["hand"]["step"]
