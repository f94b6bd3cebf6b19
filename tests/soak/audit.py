"""The audit: reads the database by its documentation alone, without any of the server's code.

docs/histories.md describes the tables `sittings`, `hands` and `total`, docs/table.md the shuffle.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sqlite3
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from soak.ledger import End, Ledger, Table

RANKS, SUITS = "23456789TJQKA", "cdhs"
FINISHED = 1


class StoredHand(NamedTuple):
    """A row of `hands` with its sitting."""

    session: str
    number: int
    cards: tuple[str, ...]
    won: tuple[float, ...]


def audit(database: Path, ledger: Ledger) -> dict[str, int]:
    """Compare the database with what the visitors were told; the counts, and violations in the ledger."""
    base = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        for fault in base.execute("PRAGMA integrity_check"):
            if fault != ("ok",):
                ledger.violation(f"SQLite finds: {fault}")
        hands = _hands(base, ledger)
        found = _rows(base, hands, ledger)
        for key, (before, after) in ledger.begun.items():
            begun = base.execute("SELECT begun FROM sessions WHERE id = ?", (key,)).fetchone()
            if begun is None or begun[0] not in (before, after):
                ledger.violation(f"{key}: begun at {begun}, not from {before} to {after}")
    finally:
        base.close()
    return found


def _hands(base: sqlite3.Connection, ledger: Ledger) -> dict[int, StoredHand]:
    """The hand histories by id: all there, none twice, chips in balance."""
    query = (
        "SELECT hands.id, match, game, names, number, dealt, won FROM hands"
        " JOIN sittings ON sittings.id = hands.sitting ORDER BY hands.id"
    )
    hands = {}
    for key, match, game, names, number, dealt, won in base.execute(query):
        chips = _chips(won, len(json.loads(names)))
        hands[key] = StoredHand(match, number, _cards(game, dealt), chips)
        if sum(chips) != 0:
            ledger.violation(f"{match}, hand {number}: its chips sum to {sum(chips)}")
    total = base.execute("SELECT hands FROM total").fetchone()[0]
    if list(hands) != list(range(1, total + 1)):
        ledger.violation(f"{total} hands were counted, {len(hands)} are stored")
    for (session, number), count in Counter((hand.session, hand.number) for hand in hands.values()).items():
        if count > 1:
            ledger.violation(f"{session}, hand {number}: stored {count} times")
    return hands


def _rows(base: sqlite3.Connection, hands: dict[int, StoredHand], ledger: Ledger) -> dict[str, int]:
    """Compare the hands of the sessions with those that were acknowledged."""
    query = "SELECT session, number, seed, nonce, link, status, hand, seat, won FROM table_hands"
    rows = {(row[0], row[1]): row[2:] for row in base.execute(query)}
    finished = {key: row for key, row in rows.items() if row[3] == FINISHED}
    if sorted(row[4] for row in finished.values()) != sorted(hands):
        ledger.violation("the sessions do not refer to each hand history once")
    missing = 0
    for session, table in ledger.tables.items():
        numbers = sorted(number for key, number in rows if key == session)
        if numbers != list(range(1, len(numbers) + 1)):
            ledger.violation(f"{session} has hands {numbers}")
        hands_told, won_told = table.score
        told = [(session, number) for number in numbers[:hands_told]]
        won = sum(finished[key][6] for key in told if key in finished)
        if won != won_told:
            ledger.violation(f"{session}: {won_told} chips were told for {hands_told} hands, {won} are saved")
        for number, end in table.ends.items():
            row = finished.get((session, number))
            missing += row is None
            for sentence in _differences(table, end, row, hands):
                ledger.violation(f"{session}, hand {number}: {sentence}")
    acknowledged = sum(len(table.ends) for table in ledger.tables.values())
    return {
        "hands acknowledged": acknowledged,
        "acknowledged hands missing": missing,
        "hands stored": len(hands),
        "hands stored but not acknowledged": len(finished) - acknowledged + missing,
        "hands in progress": len(rows) - len(finished),
        "hands whose chips do not sum to zero": sum(sum(hand.won) != 0 for hand in hands.values()),
        "chips moved": int(sum(chips for hand in hands.values() for chips in hand.won if chips > 0)),
    }


def _differences(
    table: Table, end: End, row: tuple[object, ...] | None, hands: dict[int, StoredHand]
) -> Iterator[str]:
    if row is None:
        yield "acknowledged and lost"
        return
    seed, nonce, link, _, key, seat, won = row
    assert isinstance(key, int)
    hand = hands[key]
    if (seed, nonce, link, seat, won) != (end.seed, end.nonce, end.link, end.seat, end.won[end.seat]):
        yield "acknowledged otherwise than saved"
    if (hand.cards, hand.won) != (end.cards, end.won):
        yield "acknowledged otherwise than its hand history"
    if tuple(_shuffled(_deck(table.game), end.seed, end.nonce)[: len(end.cards)]) != end.cards:
        yield "not dealt as its seed and nonce say"


def _cards(game: str, dealt: bytes) -> tuple[str, ...]:
    if game.startswith("holdem"):
        return tuple(RANKS[byte // 4] + SUITS[byte % 4] for byte in dealt)
    return tuple(json.loads(dealt))


def _chips(won: bytes, players: int) -> tuple[float, ...]:
    if len(won) == 8 * players:
        return struct.unpack(f"<{players}d", won)
    return tuple(half / 2 for half in struct.unpack(f"<{players}h", won))


def _deck(game: str) -> list[str]:
    if game.startswith("holdem"):
        return [rank + suit for rank in RANKS for suit in SUITS]
    if game.startswith("kuhn"):
        return list("JQKA" if "players=3" in game else "JQK")
    return list("JJQQKK")


def _shuffled(deck: list[str], seed: str, nonce: str) -> list[str]:
    words: list[int] = []
    blocks = itertools.count()

    def draw(count: int) -> int:
        while True:
            if not words:
                block = hashlib.sha256(f"{seed}:{nonce}:{next(blocks)}".encode()).digest()
                words.extend(struct.unpack(">8I", block))
            word = words.pop(0)
            if word < 2**32 - 2**32 % count:
                return word % count

    for place in range(len(deck) - 1):
        other = place + draw(len(deck) - place)
        deck[place], deck[other] = deck[other], deck[place]
    return deck
