"""Regret matching (Hart & Mas-Colell 2000; PJL11, equation 5) for the sampling solvers."""

from __future__ import annotations

from openfelt.core.jit import Floats, part

REGRET, AVERAGE = 0, 1  # columns of a table of sums


@part
def match_regrets(sums: Floats, first: int, last: int, policies: Floats, row: int, column: int) -> None:
    """A policy in proportion to positive regrets, uniform if there are none; written from `column` on."""
    total = 0.0
    for slot in range(first, last):
        total += max(sums[slot, REGRET], 0.0)
    if total > 0.0:
        share = 1.0 / total
        for slot in range(first, last):
            policies[row, column + slot - first] = max(sums[slot, REGRET], 0.0) * share
    else:
        even = 1.0 / (last - first)
        for slot in range(first, last):
            policies[row, column + slot - first] = even
