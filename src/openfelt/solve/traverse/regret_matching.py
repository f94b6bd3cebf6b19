"""Regret matching (Hart & Mas-Colell 2000; PJL11, equation 5) for sampling solvers.

Full-width solvers have their own, with the predictive rule of PCFR+: `_match_regrets` in `solve/cfr.py`.
"""

from __future__ import annotations

from openfelt.core.jit import Floats, part

REGRET, AVERAGE = 0, 1  # columns of a table of sums


@part
def match_regrets(sums: Floats, first: int, last: int, policies: Floats, row: int, column: int) -> None:
    """Play in proportion to positive regret, uniformly where there is none; written from that column on.

    Each regret is read once: other threads may change it meanwhile, and the probabilities must sum to 1.
    """
    total = 0.0
    for slot in range(first, last):
        positive = max(sums[slot, REGRET], 0.0)
        policies[row, column + slot - first] = positive
        total += positive
    if total > 0.0:
        share = 1.0 / total
        for place in range(column, column + last - first):
            policies[row, place] *= share
    else:
        even = 1.0 / (last - first)
        for place in range(column, column + last - first):
            policies[row, place] = even
