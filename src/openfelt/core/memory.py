"""Memory: arrays that share no cache line with another, and the size of the machine's."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

CACHE_LINE = 128  # bytes, with the neighbouring line that processors prefetch


def scratch(length: int, kind: type[np.generic] = np.float64) -> NDArray[Any]:
    """An empty array that shares no cache line with another, for one thread to write to."""
    margin = CACHE_LINE // np.dtype(kind).itemsize
    return np.empty(length + 2 * margin, kind)[margin : margin + length]


def machine_memory() -> float:
    """Bytes of memory of the machine; infinite if the system does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf
