"""Many boards with the same ranges and sizes: one line of a CSV file each."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openfelt.cards.deck import cards_text, parse_cards
from openfelt.cards.public_cards import Deck
from openfelt.core.cuda import choose_device
from openfelt.core.devices import CPU, CUDA
from openfelt.core.errors import FeltError, FileError
from openfelt.core.workers import Job, Workers, as_done, is_cluster
from openfelt.spots.engine import Engine, average_strategy
from openfelt.spots.locks import Lock
from openfelt.spots.runouts import pairs_of
from openfelt.spots.solution import Solution
from openfelt.spots.solver import Budget
from openfelt.spots.spot import BlockedRangeError, Spot, compatible_weight, total_weight

if TYPE_CHECKING:
    from openfelt.spots.gpu.batch import Solved

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
GPU_BOARDS = 64  # that a cluster's GPU gets as one unit
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
    workers: Workers = 1,
    progress: Callable[[str], object] = lambda board: None,
    **options: Any,
) -> Iterator[Row]:
    """Solve a spot on each board and append a line to a CSV file; boards in the file are not repeated.

    `spot` makes the spot of a board; `options` are those of `Spot.solve`. A board that blocks a whole range
    has a line without values. On several workers boards are solved at the same time; rows are yielded in the
    order of the boards.
    """
    done, boards = _read(path), list(boards)
    stored = set(done)
    missing = [each for each in dict(boards).items() if each[0] not in done]
    rows = (
        _on_cluster(spot, missing, options, workers)
        if is_cluster(workers)
        else _solve_all(spot, missing, options)
    )
    for board, _ in boards:
        if board in stored:
            if done[board]["spot"] != (mark := _fingerprint(spot, board, options)) and mark:
                raise FileError(f"{path} is the report of another spot; give another file.")
            progress(board)
        while board not in done:
            row = next(rows)
            _append(path, row)
            done[row["board"]] = row
            progress(row["board"])
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


def _on_cluster(
    make: Callable[[str], Spot], boards: list[tuple[str, int]], options: dict[str, Any], workers: Workers
) -> Iterator[Row]:
    """The lines of boards, as they are done."""
    device = choose_device(options.get("device", CPU), elsewhere=True)
    size = 1 if device == CPU else GPU_BOARDS
    units = [boards[first : first + size] for first in range(0, len(boards), size)]
    job = Job(_open, (make, options | {"device": device}), gpu=device != CPU)
    for _, rows in as_done(job, units, workers):
        yield from rows


def _open(setup: tuple[Callable[[str], Spot], dict[str, Any]]) -> Callable[..., list[Row]]:
    make, options = setup
    return lambda boards: list(_solve_all(make, boards, options))


def _solve_all(
    make: Callable[[str], Spot], boards: list[tuple[str, int]], options: dict[str, Any]
) -> Iterator[Row]:
    """The lines of boards, in order; on a GPU several boards are solved together."""
    spots = (spot for board, _ in boards if (spot := _possible(make, board)) is not None)
    device = choose_device(options.get("device", CPU))
    solved: Iterator[Solution | Solved] = (spot.solve(**options) for spot in spots)
    if device == CUDA:
        solved = _solve_on_gpu(spots, **options)
    for board, count in boards:
        row = dict.fromkeys(HEAD, "") | {"board": board, "flops": str(count)}
        if _possible(make, board) is not None:
            row |= _result(next(solved)) | {"spot": _fingerprint(make, board, options)}
        yield row


def _solve_on_gpu(
    spots: Iterator[Spot],
    *,
    until: float,
    iterations: int,
    seconds: float,
    compress: bool = False,
    locks: Sequence[Lock] = (),
    **_: object,
) -> Iterator[Solved]:
    from openfelt.spots.gpu.batch import solve_spots

    if compress:
        raise FeltError("Tables of 16 bits are for the CPU; leave out --compress.")
    return solve_spots(spots, until, Budget(iterations, seconds), locks=locks)


def _possible(make: Callable[[str], Spot], board: str) -> Spot | None:
    """The spot of a board; None if the board blocks a range."""
    try:
        return make(board)
    except BlockedRangeError:
        return None


def _result(solved: Solution | Solved) -> Row:
    return {
        "weight": f"{total_weight(solved.spot.ranges):.9g}",
        "oop": f"{solved.values[0]:.6g}",
        "ip": f"{solved.values[1]:.6g}",
        "exploitability": f"{solved.exploitability:.4g}",
        "iterations": str(solved.iterations),
        "seconds": f"{solved.seconds:.3f}",
        "strategy": _first_decision(solved.spot, solved.engine),
    }


def _first_decision(spot: Spot, engine: Engine) -> str:
    """How often OOP takes each of its first actions; empty if all are all-in already."""
    actions = spot.streets[0].places[0].actions
    if not actions:
        return ""
    hands = pairs_of(engine.runouts[0], 0, 0)
    mass = (spot.ranges[0] * compatible_weight(spot.ranges[1]))[hands]
    shares = average_strategy(engine.levels[0], 0, 0) @ mass / mass.sum()
    return " ".join(f"{action.code}:{share:.4f}" for action, share in zip(actions, shares, strict=True))


def _fingerprint(make: Callable[[str], Spot], board: str, options: dict[str, Any]) -> str:
    """A checksum of everything that a line depends on; empty if the board blocks a range."""
    spot = _possible(make, board)
    if spot is None:
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
