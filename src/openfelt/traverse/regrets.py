"""Regret matching (Hart & Mas-Colell 2000; PJL11, equation 5), shared by all that minimise regret."""

from __future__ import annotations

from openfelt.base.jit import Floats, kernel


@kernel
def share_out(weights: Floats, first: int, last: int) -> None:
    """Turn weights, none of them negative, into probabilities; even ones where all are zero."""
    total = 0.0
    for place in range(first, last):
        total += weights[place]
    if total > 0.0:
        share = 1.0 / total
        for place in range(first, last):
            weights[place] *= share
    else:
        for place in range(first, last):
            weights[place] = 1.0 / (last - first)
