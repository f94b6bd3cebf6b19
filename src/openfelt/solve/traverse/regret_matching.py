"""Regret matching (Hart & Mas-Colell 2000; PJL11, equation 5) for sampling solvers.

Full-width solvers have their own, with the predictive rule of PCFR+: `solve/cfr_kernels.py`.
"""

from __future__ import annotations

from openfelt.core.jit import Floats, part

REGRET, AVERAGE = 0, 1  # columns of a table of sums


@part
def match_regrets(sums: Floats, first: int, last: int, policies: Floats, row: int, column: int) -> None:
    """Play in proportion to positive regret, uniformly where there is none; written from that column on.

    Each regret is read once: other threads may change it meanwhile, and the probabilities must sum to 1.
    """
    if last - first == 2:
        _match_two(sums, first, policies, row, column)
    elif last - first == 3:
        _match_three(sums, first, policies, row, column)
    else:
        _match_any(sums, first, last, policies, row, column)


@part
def _match_two(sums: Floats, first: int, policies: Floats, row: int, column: int) -> None:
    """Without a loop, like `_match_three`: external sampling in hold'em is an eighth faster."""
    one, two = max(sums[first, REGRET], 0.0), max(sums[first + 1, REGRET], 0.0)
    total = one + two
    if total > 0.0:
        share = 1.0 / total
        one, two = one * share, two * share
    else:
        one = two = 0.5
    policies[row, column] = one
    policies[row, column + 1] = two


@part
def _match_three(sums: Floats, first: int, policies: Floats, row: int, column: int) -> None:
    one, two = max(sums[first, REGRET], 0.0), max(sums[first + 1, REGRET], 0.0)
    three = max(sums[first + 2, REGRET], 0.0)
    total = one + two + three
    if total > 0.0:
        share = 1.0 / total
        one, two, three = one * share, two * share, three * share
    else:
        one = two = three = 1.0 / 3
    policies[row, column] = one
    policies[row, column + 1] = two
    policies[row, column + 2] = three


@part
def _match_any(sums: Floats, first: int, last: int, policies: Floats, row: int, column: int) -> None:
    total = 0.0
    for slot in range(first, last):
        positive = max(sums[slot, REGRET], 0.0)
        policies[row, column + slot - first] = positive
        total += positive
    share = 1.0 / total if total > 0.0 else 0.0
    for place in range(column, column + last - first):
        policies[row, place] = policies[row, place] * share if total > 0.0 else 1.0 / (last - first)
