"""What several commands share: argument types, JSON output, progress."""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

MOST = 2**63 - 1
Bars = Callable[[str], Callable[[float], None]]  # from the name of a task to its progress callback
MOST_LETTERS = 30  # of the text beside a bar, which fits 80 columns


def count(text: str) -> int:
    """A whole number of 1 or more; 1e6 is allowed."""
    try:
        number = Decimal(text)
        if number > MOST:
            raise argparse.ArgumentTypeError(f"{text} is too large; the largest number is {MOST}")
        if number >= 1 and number == int(number):
            return int(number)
    except ArithmeticError:
        pass
    raise argparse.ArgumentTypeError(f"a whole number of 1 or more is needed, not '{text}'")


def positive(text: str) -> float:
    """A number above zero."""
    try:
        number = float(text)
        if 0 < number < float("inf"):
            return number
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"a number above 0 is needed, not '{text}'")


def seed(text: str) -> int:
    """A whole number of 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a whole number of 0 or more is needed, not '{text}'")
    return int(text)


def command() -> str:
    """How to call `felt` here: it may be in a virtual environment that is not active."""
    if shutil.which("felt"):
        return "felt"
    called = Path(sys.argv[0])
    return os.path.relpath(called) if called.name == "felt" else "python -m openfelt"


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object."""
    print(json.dumps(_json_safe(values), indent=2))


def _json_safe(value: Any) -> Any:
    """Infinities as strings, since JSON has none."""
    if isinstance(value, Mapping):
        return {key: _json_safe(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json_safe(inner) for inner in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def add_on(parser: argparse._ActionsContainer) -> None:
    """Where units of work are done."""
    parser.add_argument(
        "--on",
        default="",
        metavar="CLUSTER",
        help="work on a Ray cluster instead (needs openfelt[ray]): 'ray' for one on this machine, "
        "ray://HOST:PORT, HOST:PORT, or a file with the address; see docs/cluster.md",
    )


@contextmanager
def busy(text: str) -> Iterator[None]:
    """Show a spinner on a terminal while something takes long."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(escape(text)):
        yield


@contextmanager
def progress_bar(shown: bool) -> Iterator[Bars]:
    """A function from the name of a task to its progress callback; bars appear with the first progress.

    They fit 80 columns, give the time left, and are for terminals only.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    if not (shown and console.is_terminal):
        yield lambda _: lambda _: None
        return
    bar = Progress(*columns, console=console)

    def begin(text: str) -> Callable[[float], None]:
        task: list[Any] = []

        def advance(share: float) -> None:
            if not task:
                bar.start()
                short = text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
                task.append(bar.add_task(escape(short), total=1.0))
            bar.advance(task[0], share)

        return advance

    try:
        yield begin
    finally:
        if bar.tasks:
            bar.stop()
