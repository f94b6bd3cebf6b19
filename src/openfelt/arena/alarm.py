"""An alarm that interrupts a bot whose time is up."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

RING_AGAIN = 0.05  # seconds
CAN_INTERRUPT = hasattr(signal, "setitimer")


class TooLateError(BaseException):
    """Raised inside a bot whose time is up; it is not one of those that a careless bot catches."""


@contextmanager
def alarm(limit: float) -> Iterator[None]:
    """Interrupt what takes too long, where that can be done: in the main thread, on systems with alarms.

    It rings again and again, for the first time may fall into a place where Python loses errors.
    """
    if limit == math.inf or threading.current_thread() is not threading.main_thread() or not CAN_INTERRUPT:
        yield
        return

    def ring(*_: object) -> None:
        raise TooLateError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, limit, RING_AGAIN)
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
