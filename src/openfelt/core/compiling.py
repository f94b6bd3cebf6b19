"""Who wants to know that kernels are being compiled, which takes seconds when they are first called.

Apart from `jit.py`, so that the command line can ask for it without importing numba.
"""

from __future__ import annotations

from collections.abc import Callable

when_compiling: list[Callable[[], object]] = []  # each is called once, when a compilation begins
