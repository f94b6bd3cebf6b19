"""Interrupts a bot that has exceeded its time limit."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

REPEAT = 0.05  # seconds
CAN_INTERRUPT = hasattr(signal, "setitimer")

T = TypeVar("T")


class TooLateError(BaseException):
    """Raised inside a bot whose time is up; a bot that catches every Exception does not catch it."""


def call_within(limit: float, call: Callable[[], T]) -> T:
    """What the call returns, or TooLateError after `limit` seconds, where code can be interrupted.

    That is in the main thread, on systems with alarms. The alarm repeats, since the first one may hit code in
    which Python discards exceptions. It raises in the call only: one that goes off while the alarm is being
    switched off, on a machine that stalls, would leave it on.
    """
    if limit == math.inf or threading.current_thread() is not threading.main_thread() or not CAN_INTERRUPT:
        return call()

    before = signal.signal(signal.SIGALRM, _ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, limit, REPEAT)
        return _interruptible(call)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)  # discards one that another thread has yet to take
        signal.signal(signal.SIGALRM, before)


def _interruptible(call: Callable[[], T]) -> T:
    return call()


def _ring(_: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code is _interruptible.__code__:
            raise TooLateError
        frame = frame.f_back
