"""Compiling one kernel without LLVM's loop vectorization.

Numba has a setting for this (NUMBA_LOOP_VECTORIZE) but no flag for a single function. This module depends on
two things in numba, and `tests/test_kernels.py` fails if either changes:

- numba reads `config.LOOP_VECTORIZE` each time that it compiles, not once at import;
- a dispatcher compiles for new argument types by calling its own method `compile`.

Functions that the kernel calls through `overload` or `register_jitable` are compiled in the same call, so
their loops are not vectorized either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from numba.core import config
from numba.core.compiler_lock import global_compiler_lock

F = TypeVar("F", bound=Callable[..., object])


def without_loop_vectorization(dispatcher: F) -> F:
    """Let a numba dispatcher compile with loop vectorization off; returns the same dispatcher."""
    compile_as_set: Callable[..., object] = dispatcher.compile  # type: ignore[attr-defined]

    def compile_scalar(signature: object) -> object:
        with global_compiler_lock:  # no other thread may compile with this setting, or restore its own
            before = config.LOOP_VECTORIZE
            config.LOOP_VECTORIZE = 0
            try:
                return compile_as_set(signature)
            finally:
                config.LOOP_VECTORIZE = before

    dispatcher.compile = compile_scalar  # type: ignore[attr-defined]
    return dispatcher
