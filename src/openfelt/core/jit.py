"""The one place that owns numba's flags.

A kernel is compiled when it is first called, never at import; the machine code is kept on disk, so the
second command in a row does not compile again. Kernels release the GIL, take only numbers and arrays
(grouped in NamedTuples), and divide as numpy does instead of raising.

Numba checks only the file of a function to decide whether its machine code on disk is still valid, not the
files of the functions that it calls. An edit to a shared traversal would go unnoticed by the solvers built on
it. So the machine code of a module's kernels is kept in a folder named after a checksum of all sources that
it can depend on (`sources.py`).
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config, types
from numba.core.compiler_lock import global_compiler_lock
from numpy.typing import NDArray

from openfelt.core.folders import cache_folder
from openfelt.core.sources import kernel_checksum

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
F = TypeVar("F", bound=Callable[..., object])

CACHE_MAX_AGE = 14 * 24 * 3600.0  # seconds after which machine code of other sources is removed


def kernel(function: F) -> F:
    """Compile `function` with numba; the plain Python version stays reachable as `.py_func`."""
    return _compiled(function)


def episode_kernel(function: F) -> F:
    """Compile a kernel that allocates nothing, and whose inner loops run over the few actions of a row.

    Without allocation there is no need to count references to arrays; numba would do so by an atomic
    operation at each call of a part, a third of the time of an episode of Leduc. And loops of two or three
    rounds only lose by being vectorised; numba has no flag for that in one function, but reads its setting
    each time that it compiles.
    """
    return _without_vectors(_compiled(function, _nrt=False))


def part(function: F) -> F:
    """Compile `function` into every episode kernel that calls it; called from Python, it runs as Python.

    So there is no door from Python to its machine code, which would take a quarter of the time of compiling.
    And numba would compile it once for each constant that it is called with; as it ends up inside the kernel,
    the constant is known there all the same.
    """
    compiled: Any = _without_vectors(_compiled(function, **PART_FLAGS))
    compile_for_any: Callable[..., object] = compiled.compile
    compiled.compile = lambda given: compile_for_any(tuple(map(types.unliteral, given)))  # type: ignore[attr-defined]
    # Numba does not know that the door is missing, and would run into the wall.
    compiled._insert = lambda *_: None
    compiled._compile_for_args = lambda *_, **__: function
    return compiled  # type: ignore[no-any-return]


FLAGS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}  # C never calls a kernel
PART_FLAGS = {**FLAGS, "_nrt": False, "forceinline": True, "no_cpython_wrapper": True}


def _compiled(function: F, **more: object) -> F:
    flags = {**FLAGS, **more}
    before = config.CACHE_DIR
    try:
        config.CACHE_DIR = str(_cache_folder_of(function.__module__))
        compiled: F = numba.njit(cache=True, **flags)(function)
    except (RuntimeError, OSError):  # no folder can be written to keep the machine code in
        compiled = numba.njit(**flags)(function)
    finally:
        config.CACHE_DIR = before
    return compiled


def _without_vectors(compiled: F) -> F:
    compile_as_set: Callable[..., object] = compiled.compile  # type: ignore[attr-defined]

    def compile_plainly(signature: object) -> object:
        with global_compiler_lock:  # so that no other thread compiles with our setting, or restores its own
            before = config.LOOP_VECTORIZE
            config.LOOP_VECTORIZE = 0
            try:
                return compile_as_set(signature)
            finally:
                config.LOOP_VECTORIZE = before

    compiled.compile = compile_plainly  # type: ignore[attr-defined]
    return compiled


def kernel_cache() -> Path:
    """Where machine code is kept: in the folder that numba is told, or in our own."""
    return (Path(config.CACHE_DIR) if config.CACHE_DIR else cache_folder()) / "openfelt-kernels"


@cache
def _cache_folder_of(module: str) -> Path:
    """Where the machine code of a module's kernels lies; that of sources long gone is removed."""
    parent = kernel_cache()
    folder = parent / kernel_checksum(module)
    if not folder.exists() and parent.exists():
        for other in parent.iterdir():
            ours = re.fullmatch("[0-9a-f]{16}", other.name)
            if ours and time.time() - other.stat().st_mtime > CACHE_MAX_AGE:
                shutil.rmtree(other, ignore_errors=True)
    return folder
