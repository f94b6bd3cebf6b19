"""Spaced repetition by Leitner's boxes: a decision that was missed comes back at growing intervals."""

from __future__ import annotations

MINUTE, DAY = 60.0, 24 * 3600.0
INTERVALS = {1: 10 * MINUTE, 2: DAY, 3: 3 * DAY, 4: 7 * DAY, 5: 21 * DAY}  # by box, until it is due again
LAST = max(INTERVALS)
LEARNED = LAST + 1  # the box of decisions that do not come back


def next_box(box: int, is_right: bool) -> int:
    """The box after an answer: the next one, or the first again."""
    return min(box + 1, LEARNED) if is_right else 1


def due_at(box: int, now: float) -> float | None:
    """When a decision in this box is due again, in seconds since 1970; None if it is learned."""
    return now + INTERVALS[box] if box in INTERVALS else None
