"""Memory: arrays that threads do not share a cache line of, and how much there is."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

CACHE_LINE = 128  # bytes, with the neighbour that processors fetch along


def scratch(length: int, kind: type[np.generic] = np.float64) -> NDArray[Any]:
    """An empty array that shares no cache line with another, for one thread to write to."""
    margin = CACHE_LINE // np.dtype(kind).itemsize
    return np.empty(length + 2 * margin, kind)[margin : margin + length]


def machine_memory() -> float:
    """Bytes of memory that the machine has, where the system tells."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf
