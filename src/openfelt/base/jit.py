"""The one place that owns numba's flags.

A kernel is compiled when it is first called, never at import; the machine code is kept on disk, so the
second command in a row does not compile again. Kernels release the GIL, take only numbers and arrays
(grouped in NamedTuples), and divide as numpy does instead of raising.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile `function` with numba; the plain Python version stays reachable as `.py_func`."""
    compiled: F = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled
