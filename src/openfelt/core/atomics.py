"""Updates of tables that many threads write.

On the CPU they are plain: threads have tables of their own, or such large ones that two rarely write to one
place. On a GPU they are atomic (`cuda_build.py`).
"""

from __future__ import annotations

from openfelt.core.jit import Floats, Longs, part


@part
def add(table: Floats, row: int, column: int, amount: float) -> None:
    """Add an amount to an entry."""
    table[row, column] += amount


@part
def raise_to(table: Longs, row: int, value: int) -> int:
    """Raise an entry to `value` if it is lower; returns what it was."""
    before = table[row]
    table[row] = max(before, value)
    return int(before)
