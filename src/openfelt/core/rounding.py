"""Arithmetic that rounds alike on every device.

A GPU adds to a product without rounding it first; the CPU rounds it. A sum of such products would differ in
its last bits.
"""

from __future__ import annotations

from openfelt.core.jit import part


@part
def product(one: float, other: float) -> float:
    """The rounded product, whatever is added to it."""
    return one * other
