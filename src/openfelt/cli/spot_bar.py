"""The progress bar of `felt spot`: iterations, exploitability, time left."""

from __future__ import annotations

import math
import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openfelt.spots.solver import Measured


class SpotBar:
    """A progress bar on stderr; Ctrl-C stops the solver and keeps the solution so far."""

    def __init__(self, until: float, iterations: int, seconds: float, *, shown: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._budget = until, iterations, seconds
        self._stopped = False
        self._bar = Progress(
            TextColumn("solving"),
            BarColumn(bar_width=10),
            TextColumn("{task.fields[text]}"),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not shown,
        )
        self._task = self._bar.add_task("", total=1.0, text="")

    def __enter__(self) -> SpotBar:
        self._before = signal.signal(signal.SIGINT, self._stop)
        self._bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._bar.stop()
        signal.signal(signal.SIGINT, self._before)

    def update(self, measured: Measured) -> bool:
        """Show the state; returns whether to stop."""
        text = f"{measured.iterations} iterations, {measured.exploitability:.3f}% of the pot"
        self._bar.update(self._task, completed=self._share(measured), text=text)
        return self._stopped

    def _stop(self, *_: object) -> None:
        if self._stopped:  # the second time: at once
            raise KeyboardInterrupt
        self._stopped = True

    def _share(self, measured: Measured) -> float:
        """The share of the work that is done; exploitability falls about as the inverse of iterations."""
        until, iterations, seconds = self._budget
        shares = [measured.iterations / iterations, measured.seconds / seconds]
        if measured.exploitability > until > 0:
            shares.append(until / measured.exploitability)
        else:
            shares.append(1.0)
        return min(1.0, max(share for share in shares if not math.isnan(share)))
