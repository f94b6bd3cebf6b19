"""Changes to tables that many write to at once.

On the CPU these are plain: threads have tables of their own, or such large ones that they hardly ever meet.
On a GPU they are atomic (`cuda.py`).
"""

from __future__ import annotations

from openfelt.core.jit import Floats, Longs, part


@part
def add(table: Floats, row: int, column: int, amount: float) -> None:
    """Add to an entry."""
    table[row, column] += amount


@part
def raise_to(table: Longs, row: int, value: int) -> int:
    """Let an entry be at least `value`; returns what it was."""
    before = table[row]
    table[row] = max(before, value)
    return int(before)
