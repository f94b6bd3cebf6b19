"""Training under a progress bar, with checkpoints; Ctrl-C stops it without loss."""

from __future__ import annotations

import math
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType
from typing import TYPE_CHECKING, Any

from openfelt.core.errors import FeltError

if TYPE_CHECKING:
    from openfelt.solve.run_folder import RunFolder
    from openfelt.solve.solver import Measurement, Solver

CHECKPOINT_EVERY = 60.0  # seconds
MOST_SECONDS = 86_400  # of the time left, as hours, minutes and seconds
SAVING_SHARE = 0.05  # of the time at most is spent on checkpoints, however large they are
MOST_LETTERS = 20  # of the game and solver beside the bar, which fits 80 columns
THOUSANDS = ("", "k", "M", "G", "T", "P", "E")


def learn(
    solver: Solver,
    folder: RunFolder,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    until: float | None = None,
    shown: bool = True,
    checkpoint_every: float = CHECKPOINT_EVERY,
) -> bool:
    """Run a solver and save it; returns whether Ctrl-C or SIGTERM stopped it."""
    budget = {"iterations": iterations, "seconds": seconds, "until": until}
    solver.check_budget(iterations, seconds, until)
    if not solver.iterative:
        if shown:  # a plain line: a kill during a spinner would leave the terminal without a cursor
            print(f"solving {solver.tree.game} by {solver.name} ...", file=sys.stderr)
        with die_at_once():
            solver.run()
        folder.save(solver, budget)
        return False
    took = _save(solver, folder, budget)  # a folder that cannot be written is found before hours of training
    last_saved = time.monotonic()
    with LearningBar(solver, iterations, seconds, until, shown) as bar, stop_signals() as stopped:

        def progress(solver: Solver, measured: Measurement | None) -> bool:
            nonlocal last_saved, took
            bar.update(solver, measured)
            if time.monotonic() - last_saved > max(checkpoint_every, took / SAVING_SHARE):
                try:
                    took = _save(solver, folder)
                except FeltError as error:  # there may be room again the next time
                    warnings.warn(str(error), stacklevel=1)
                last_saved = time.monotonic()
            return stopped()

        solver.run(iterations, seconds=seconds, until=until, progress=progress)
        folder.save(solver)
        return stopped()


def _save(solver: Solver, folder: RunFolder, budget: dict[str, Any] | None = None) -> float:
    """Save; returns the seconds that it took."""
    begun = time.monotonic()
    folder.save(solver, budget)
    return time.monotonic() - begun


@contextmanager
def die_at_once() -> Iterator[None]:
    """Let Ctrl-C end the program while a library runs that never returns to Python; nothing is lost."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def stop_signals() -> Iterator[Callable[[], bool]]:
    """Defer the first Ctrl-C or SIGTERM to the end of the current step."""
    received: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        received.append(number)
        signal.signal(number, before[number])  # the second one ends the program at once

    signals: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, note) for number in signals}
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def short_count(number: int) -> str:
    """A count in few letters: 1234567 is 1.23M."""
    power = min((len(str(number)) - 1) // 3, len(THOUSANDS) - 1)
    return f"{number / 1000**power:.3g}{THOUSANDS[power]}" if power else str(number)


class LearningBar:
    """A progress bar with the current exploitability; on stderr, so that output can be piped."""

    def __init__(
        self, solver: Solver, iterations: int | None, seconds: float | None, until: float | None, shown: bool
    ) -> None:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import BarColumn, Progress, TextColumn

        self._from = (solver.iterations, solver.seconds)
        self._budget = (iterations, seconds, until)
        self._highest: float | None = None
        self._text = ""
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=10),
            TextColumn("{task.fields[text]}"),
            console=Console(stderr=True),
            disable=not shown,
        )
        name = f"{solver.tree.game} {solver.name}"
        short = name if len(name) <= MOST_LETTERS else solver.name[:MOST_LETTERS]
        self._task = self._bar.add_task(escape(short), total=1.0, text="")

    def __enter__(self) -> LearningBar:
        self._bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._bar.stop()

    def update(self, solver: Solver, measured: Measurement | None) -> None:
        """Show the solver's progress."""
        if measured:
            self._highest = self._highest or measured.exploitability
            self._text = f"{measured.exploitability:.1e} {solver.measured_in}"
        share = self._share(solver)
        parts = [self._text, f"{short_count(solver.iterations)} {solver.work}", self._left(solver, share)]
        self._bar.update(self._task, completed=share, text=", ".join(filter(None, parts)))

    def _left(self, solver: Solver, share: float) -> str:
        """The time left, if the rest of the budget is used as fast as the part before."""
        if not share:
            return ""
        seconds = (solver.seconds - self._from[1]) * (1 - share) / share
        return f"{timedelta(seconds=round(seconds))} left" if seconds < MOST_SECONDS else "days left"

    def _share(self, solver: Solver) -> float:
        """The share of the budget that is used; exploitability counts by its logarithm."""
        iterations, seconds, until = self._budget
        shares = [0.0]
        if iterations:
            shares.append((solver.iterations - self._from[0]) / iterations)
        if seconds:
            shares.append((solver.seconds - self._from[1]) / seconds)
        if until and self._highest and solver.measurements and self._highest > until:
            now = max(solver.measurements[-1].exploitability, until)
            shares.append(math.log(self._highest / now) / math.log(self._highest / until))
        return min(1.0, max(shares))
