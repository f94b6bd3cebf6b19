"""Compilation of kernels for the CPU: numba's flags, and where the machine code is cached.

A kernel is compiled when it is first called, never at import. Its machine code is cached on disk, so the next
process loads it instead of compiling again. Kernels release the GIL, take only numbers and arrays (grouped in
NamedTuples), and divide as numpy does instead of raising.

Numba validates cached machine code against the file of its function only, not against the files of the
functions that it calls: it would miss an edit to a shared traversal. So the machine code of a module's
kernels is cached in a folder named after a checksum of all sources that it can depend on (`sources.py`).
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

import numba
import numpy as np
from numba.core import config
from numba.core.event import Event, Listener, register
from numba.extending import register_jitable
from numpy.typing import NDArray

from openfelt.core.compiling import when_compiling
from openfelt.core.scalar_loops import without_loop_vectorization
from openfelt.core.sources import kernel_checksum
from openfelt.core.user_folders import cache_folder

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., object])

INTERPRETED_ROUNDS = 20_000  # rounds of a loop that take Python a tenth of a second or less
CACHE_MAX_AGE = 14 * 24 * 3600.0  # seconds after which machine code of other sources is removed

FLAGS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}  # C never calls a kernel
PART_FLAGS = {**FLAGS, "_nrt": False, "forceinline": True}


def kernel(function: F) -> F:
    """Compile `function` with numba; the plain Python version stays reachable as `.py_func`."""
    return _compiled(function)


def episode_kernel(function: F) -> F:
    """Compile a kernel that allocates nothing and whose inner loops run over the few actions of an infoset.

    Without allocation numba need not count references to arrays, which takes an atomic operation at each call
    of a part: a third of the time of an episode of Leduc. Loops of two or three rounds only lose by
    vectorization: up to 8% of a search's speed.
    """
    return without_loop_vectorization(_compiled(function, _nrt=False))


def vector_kernel(function: F) -> F:
    """Compile a kernel that allocates nothing and whose inner loops run over rows of arrays.

    Like `episode_kernel` it counts no references, but its loops are vectorized, with fused multiply-add.
    """
    return _compiled(function, _nrt=False, fastmath={"contract", "nsz"})


def for_rounds(function: F, rounds: int) -> F:
    """The kernel, or its plain Python version if its loop has so few rounds that compiling takes longer.

    For kernels that are called once or twice in a process and that call parts only, not other kernels.
    """
    return function if rounds > INTERPRETED_ROUNDS else getattr(function, "py_func", function)


def part(function: F) -> F:
    """Let `function` be compiled into every kernel that calls it; called from Python, it runs as Python."""
    return register_jitable(**PART_FLAGS)(function)  # type: ignore[no-any-return]


def _compiled(function: F, **more: object) -> F:
    flags = {**FLAGS, **more}
    before = config.CACHE_DIR
    try:
        config.CACHE_DIR = str(_cache_folder_of(function.__module__))
        compiled: F = numba.njit(cache=True, **flags)(function)
    except (RuntimeError, OSError):  # no folder can be written to cache the machine code in
        compiled = numba.njit(**flags)(function)
    finally:
        config.CACHE_DIR = before
    return compiled


class _Compilations(Listener):  # type: ignore[misc]
    """Hears of each compilation, but not of machine code that is loaded from the cache."""

    def on_start(self, event: Event) -> None:
        while when_compiling:
            when_compiling.pop()()

    def on_end(self, event: Event) -> None:
        return None


register("numba:compile", _Compilations())


def kernel_cache() -> Path:
    """The folder of cached machine code: below NUMBA_CACHE_DIR if that is set, else below our own cache."""
    return (Path(config.CACHE_DIR) if config.CACHE_DIR else cache_folder()) / "openfelt-kernels"


@cache
def _cache_folder_of(module: str) -> Path:
    """The folder of the machine code of a module's kernels; removes the code of outdated sources."""
    parent = kernel_cache()
    folder = parent / kernel_checksum(module)
    if not folder.exists() and parent.exists():
        for other in parent.iterdir():
            ours = re.fullmatch("[0-9a-f]{16}", other.name)
            if ours and time.time() - other.stat().st_mtime > CACHE_MAX_AGE:
                shutil.rmtree(other, ignore_errors=True)
    return folder
