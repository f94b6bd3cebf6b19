"""Many boards with the same ranges and sizes: one line of a CSV file each."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from openfelt.cards.deck import cards_text, parse_cards
from openfelt.cards.public_cards import Deck
from openfelt.core.errors import FeltError, FileError
from openfelt.spots.spot import Spot

HEAD = ("board", "flops", "oop", "ip", "exploitability", "iterations", "seconds", "strategy")
MOST_BOARDS = 100_000


def report_boards(text: str) -> list[tuple[str, int]]:
    """Boards, and how many flops each stands for: from "all", a list, or a file with one a line."""
    if text == "all":
        return [(cards_text(flop.cards), flop.multiplicity) for flop in Deck().flops]
    path = Path(text)
    try:
        words = path.read_text("utf-8").split() if path.is_file() else text.replace(",", " ").split()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{text} could not be read ({error}).") from None
    if not 0 < len(words) <= MOST_BOARDS:
        raise FeltError(f"A report has 1 to {MOST_BOARDS:,} boards, not {len(words)}.")
    return [(cards_text(parse_cards(word)), 1) for word in words]


def write_report(
    spot: Spot,
    boards: Iterable[tuple[str, int]],
    path: Path,
    *,
    progress: Callable[[str], object] = lambda board: None,
    **budget: Any,
) -> Iterator[dict[str, Any]]:
    """Solve the spot on each board and append a line to a CSV file; boards in the file are not repeated."""
    done = _read(path)
    for board, count in boards:
        if board not in done:
            solution = replace(spot, board=board).solve(**budget)
            node = solution.node()
            often = " ".join(
                f"{action.code}:{share:.4f}"
                for action, share in zip(node.actions, node.frequencies, strict=True)
            )
            numbers = *(f"{value:.6g}" for value in solution.values), f"{solution.exploitability:.4g}"
            row = (board, count, *numbers, solution.iterations, f"{solution.seconds:.3f}", often)
            done[board] = dict(zip(HEAD, map(str, row), strict=True))
            _append(path, row)
        progress(board)
        yield done[board]


def _read(path: Path) -> dict[str, dict[str, Any]]:
    if not path.exists():
        return {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"{path} could not be read ({error}).") from None
    if rows and tuple(rows[0]) != HEAD:
        raise FileError(f"{path} is not a report of boards; its columns should be {', '.join(HEAD)}.")
    return {row["board"]: row for row in rows if all(row[name] is not None for name in HEAD)}


def _append(path: Path, row: tuple[Any, ...]) -> None:
    new = not path.exists()
    try:
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(HEAD)
            writer.writerow(row)
    except OSError as error:
        raise FileError(f"{path} could not be written ({error.strerror}).") from None
