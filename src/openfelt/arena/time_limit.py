"""Interrupts a bot that has exceeded its time limit."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

REPEAT = 0.05  # seconds
CAN_INTERRUPT = hasattr(signal, "setitimer")


class TooLateError(BaseException):
    """Raised inside a bot whose time is up; a bot that catches every Exception does not catch it."""


@contextmanager
def alarm(limit: float) -> Iterator[None]:
    """Interrupt code that takes too long, where that is possible: in the main thread, on systems with alarms.

    The alarm repeats, since the first one may hit code in which Python discards exceptions.
    """
    if limit == math.inf or threading.current_thread() is not threading.main_thread() or not CAN_INTERRUPT:
        yield
        return

    def ring(*_: object) -> None:
        raise TooLateError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, limit, REPEAT)
    try:
        yield
    finally:
        quiet = False
        while not quiet:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
                quiet = True
            except TooLateError:
                continue
