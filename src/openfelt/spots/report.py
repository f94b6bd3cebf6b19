"""Many boards with the same ranges and sizes: one line of a CSV file each."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from openfelt.cards.deck import cards_text, parse_cards
from openfelt.cards.public_cards import Deck
from openfelt.core.errors import FeltError, FileError
from openfelt.spots.spot import BlockedRangeError, Spot, total_weight

HEAD = (
    "board",
    "flops",
    "weight",
    "oop",
    "ip",
    "exploitability",
    "iterations",
    "seconds",
    "strategy",
    "spot",
)
NUMBERS = ("flops", "weight", "oop", "ip", "exploitability", "iterations", "seconds")
MOST_BOARDS = 100_000
Row = dict[str, str]


def report_boards(text: str) -> list[tuple[str, int]]:
    """Boards, and how many flops each stands for: from "all", a list, or a file with one a line."""
    if text == "all":
        return [(cards_text(flop.cards), flop.multiplicity) for flop in Deck().flops]
    try:
        is_file = os.path.isfile(text)  # unlike Path.is_file, False for what cannot be a name
        words = (Path(text).read_text("utf-8") if is_file else text.replace(",", " ")).split()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{text} could not be read ({error}).") from None
    if not 0 < len(words) <= MOST_BOARDS:
        raise FeltError(f"A report has 1 to {MOST_BOARDS:,} boards, not {len(words)}.")
    return [(cards_text(parse_cards(word)), 1) for word in words]


def write_report(
    spot: Callable[[str], Spot],
    boards: Iterable[tuple[str, int]],
    path: Path,
    *,
    progress: Callable[[str], object] = lambda board: None,
    **options: Any,
) -> Iterator[Row]:
    """Solve a spot on each board and append a line to a CSV file; boards in the file are not repeated.

    `spot` makes the spot of a board; `options` are those of `Spot.solve`. A board that blocks a whole range
    has a line without values.
    """
    done = _read(path)
    for board, count in boards:
        if board not in done:
            row = _solved(spot, board, count, options)
            _append(path, row)
            done[board] = row
        elif done[board]["spot"] != (mark := _fingerprint(spot, board, options)) and mark:
            raise FileError(f"{path} is the report of another spot; give another file.")
        progress(board)
        yield done[board]


def means(rows: Iterable[Row]) -> tuple[float, float]:
    """What OOP and IP get of the pot on average over the boards, each as often as it is dealt."""
    solved = [row for row in rows if row["oop"]]
    weight = sum(float(row["weight"]) * int(row["flops"]) for row in solved)
    oop, ip = (
        sum(float(row[name]) * float(row["weight"]) * int(row["flops"]) for row in solved) / weight
        if weight
        else float("nan")
        for name in ("oop", "ip")
    )
    return oop, ip


def _solved(make: Callable[[str], Spot], board: str, count: int, options: dict[str, Any]) -> Row:
    row = dict.fromkeys(HEAD, "") | {"board": board, "flops": str(count)}
    try:
        spot = make(board)
    except BlockedRangeError:
        return row | dict.fromkeys(NUMBERS[1:], "")
    solution = spot.solve(**options)
    node = solution.node()
    often = " ".join(
        f"{action.code}:{share:.4f}" for action, share in zip(node.actions, node.frequencies, strict=True)
    )
    return row | {
        "weight": f"{total_weight(spot.ranges):.9g}",
        "oop": f"{solution.values[0]:.6g}",
        "ip": f"{solution.values[1]:.6g}",
        "exploitability": f"{solution.exploitability:.4g}",
        "iterations": str(solution.iterations),
        "seconds": f"{solution.seconds:.3f}",
        "strategy": often,
        "spot": _fingerprint(make, board, options),
    }


def _fingerprint(make: Callable[[str], Spot], board: str, options: dict[str, Any]) -> str:
    """A checksum of everything that a line depends on; empty if the board blocks a range."""
    try:
        spot = make(board)
    except BlockedRangeError:
        return ""
    facts = spot.as_dict() | {"until": options.get("until"), "locks": repr(options.get("locks", ()))}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]


def _read(path: Path) -> dict[str, Row]:
    """The lines of a report; one that was cut off by a kill is removed from the file."""
    if not path.exists():
        return {}
    try:
        text = path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            path.write_bytes(whole)
        rows = list(csv.DictReader(io.StringIO(whole.decode("utf-8"), newline="")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path} could not be read ({error}).") from None
    for row in rows:
        if tuple(row) != HEAD or None in row.values() or not all(_is_number(row[name]) for name in NUMBERS):
            raise FileError(f"{path} is not a report of boards; its columns should be {', '.join(HEAD)}.")
    return {row["board"]: row for row in rows}


def _is_number(text: str) -> bool:
    try:
        return not text or math.isfinite(float(text))
    except ValueError:
        return False


def _append(path: Path, row: Row) -> None:
    try:
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, HEAD)
            if not path.stat().st_size:
                writer.writeheader()
            writer.writerow(row)
    except OSError as error:
        raise FileError(f"{path} could not be written ({error.strerror}).") from None
