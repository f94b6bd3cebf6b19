"""What to call when the first kernel is about to be compiled, which takes seconds.

Apart from `jit.py`, so that the command line can ask for it without importing numba.
"""

from __future__ import annotations

from collections.abc import Callable

when_compiling: list[Callable[[], object]] = []  # each is called once, then removed
