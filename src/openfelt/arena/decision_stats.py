"""The time that a bot takes for its decisions, and its faults: late, raising an exception, illegal."""

from __future__ import annotations

import reprlib
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from types import TracebackType
from typing import Any

from openfelt.arena import time_limit
from openfelt.core.errors import FeltError

MILLI = 1000
LATE, ERROR, ILLEGAL = "late", "error", "illegal"
MOST_TRACEBACKS = 10  # of different errors of a bot; more are counted but not shown
MOST_FRAMES = 30  # of a traceback


class BotFaultError(FeltError):
    """A bot raised an exception or chose an illegal action, and faults are not tolerated."""


@dataclass
class DecisionStats:
    """The time that a participant took for its decisions, and its faults."""

    decisions: int = 0
    seconds: float = 0.0
    longest: float = 0.0  # seconds, of one decision
    faults: dict[str, int] = field(default_factory=lambda: {LATE: 0, ERROR: 0, ILLEGAL: 0})
    first_error: str = ""
    first_illegal: str = ""
    errors: dict[str, int] = field(default_factory=dict)  # how often it raised, by exception and place
    tracebacks: dict[str, str] = field(default_factory=dict)  # the first of each of those

    def add(self, other: DecisionStats) -> None:
        """Add those of other hands."""
        self.decisions += other.decisions
        self.seconds += other.seconds
        self.longest = max(self.longest, other.longest)
        for fault, count in other.faults.items():
            self.faults[fault] += count
        self.first_error = self.first_error or other.first_error
        self.first_illegal = self.first_illegal or other.first_illegal
        for place, count in other.errors.items():
            if place in self.errors or len(self.errors) < MOST_TRACEBACKS:
                self.errors[place] = self.errors.get(place, 0) + count
                self.tracebacks.setdefault(place, other.tracebacks.get(place, ""))

    def note_fault(self, fault: str, cause: object, caller: str) -> None:
        """Count a fault; its cause is what the bot raised or returned.

        The frames of `caller`, the file that called the bot, are left out of the traceback.
        """
        self.faults[fault] += 1
        if fault == ERROR and isinstance(cause, BaseException):
            self._note_error(cause, caller)
        elif fault == ILLEGAL:
            self.first_illegal = self.first_illegal or reprlib.repr(cause)

    def _note_error(self, error: BaseException, caller: str) -> None:
        self.first_error = self.first_error or _one_line(error)
        frames = _below(error.__traceback__, caller)
        places = (f"{frame.f_code.co_filename}:{line}" for frame, line in traceback.walk_tb(frames))
        place = f"{type(error).__name__} at {', '.join(islice(places, MOST_FRAMES))}"
        if place in self.errors:
            self.errors[place] += 1
        elif len(self.errors) < MOST_TRACEBACKS:
            self.errors[place] = 1
            whole = traceback.format_exception(type(error), error, frames, limit=-MOST_FRAMES)
            self.tracebacks[place] = "".join(whole).rstrip("\n")

    @property
    def mean_milliseconds(self) -> float:
        """Of a decision; 0 if there was none."""
        return MILLI * self.seconds / max(1, self.decisions)

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        facts: dict[str, Any] = {"faults": self.faults, **self.causes()}
        if self.decisions:
            facts["milliseconds_per_action"] = self.mean_milliseconds
            facts["longest_action_milliseconds"] = MILLI * self.longest
        return facts

    def causes(self) -> dict[str, Any]:
        """For JSON: what the bot raised or returned, if it had faults."""
        errors = [
            {"count": count, "traceback": self.tracebacks[place]} for place, count in self.errors.items()
        ]
        facts = {"first_error": self.first_error, "errors": errors, "first_illegal": self.first_illegal}
        return {key: value for key, value in facts.items() if value}

    def fault_report(self, name: str) -> str:
        """One sentence on the faults of a bot; empty if it had none."""
        firsts = {ERROR: self.first_error, ILLEGAL: self.first_illegal}
        counts = [
            f"{count:,} {fault}" + (f" (the first: {firsts[fault]})" if firsts.get(fault) else "")
            for fault, count in self.faults.items()
            if count
        ]
        return f"{name} failed to act: {', '.join(counts)}; it checked or folded." if counts else ""

    def fault_lines(self, name: str) -> Iterator[str]:
        """The sentence on the faults of a bot, and below it the traceback of each different error."""
        if report := self.fault_report(name):
            yield report
        for place, count in self.errors.items():
            yield f"  {count:,} time{'s' * (count != 1)}:"
            yield from (f"  {line}" for line in self.tracebacks[place].splitlines())

    def require_faultless(self, name: str) -> None:
        """Raise if a bot raised an exception or chose an illegal action; being late is no defect of a bot."""
        if self.first_error:
            shown = next(iter(self.tracebacks.values()), self.first_error)
            raise BotFaultError(f"{name} raised an exception; a strict match stops there.\n{shown}")
        if self.first_illegal:
            raise BotFaultError(
                f"{name} chose {self.first_illegal}, which is not legal; a strict match stops there."
            )


def _below(frames: TracebackType | None, caller: str) -> TracebackType | None:
    """The frames without the first ones, those of the caller and of the time limit."""
    files = caller, time_limit.__file__
    while frames and frames.tb_next and frames.tb_frame.f_code.co_filename in files:
        frames = frames.tb_next
    return frames


def _one_line(error: BaseException) -> str:
    return " ".join("".join(traceback.format_exception_only(error)).split())
