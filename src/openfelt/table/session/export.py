"""All finished hands of a session as one text; takes seconds for thousands of hands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from openfelt.hands.phh import phh_text
from openfelt.hands.record import HandRecord
from openfelt.hands.store import HandStore


def session_phh(store: HandStore, session: str) -> str:
    """As a PHH file."""
    hands = enumerate(_records(store, session), 1)
    return "".join(f"[{place}]\n{phh_text(record)}\n" for place, record in hands)


def session_lines(store: HandStore, session: str) -> str:
    """As JSON lines, for any game."""
    return "".join(json.dumps(asdict(record)) + "\n" for record in _records(store, session))


def _records(store: HandStore, session: str) -> Iterator[HandRecord]:
    if session in store.matches():  # a session without finished hands is not in the store
        yield from store.hands(match=session)
