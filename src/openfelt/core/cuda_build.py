"""Building GPU kernels from the functions that the CPU runs.

The solvers have one source. For the CPU numba compiles it as it stands (`jit.py`). For a GPU `build_for_cuda`
copies the kernel and every function that it calls, and lets numba-cuda compile the copies. In a copy some
global names have other values: constant tables are in GPU memory, updates of shared tables
(`atomics.py`) are atomic, products (`rounding.py`) are rounded, functions that dispatch on the type of an
argument are replaced by the implementation for the type at hand, and constants may be set for one kernel.

This depends on the following, and `a_kernel_is_built_from_functions_of_the_cpu` in `tests/gpu_cases.py` fails
if any of it changes:

- Python runs the code of a function with other globals (`types.FunctionType`), and `dis` names those that it
  reads, by instructions called LOAD_GLOBAL.
- numba-cuda compiles a function with the globals that it has when it is first called. It reads a device array
  among them in place, instead of copying it into the kernel.
- While a kernel runs, numba-cuda's simulator replaces the module `numba.cuda` in the globals of the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dis import get_instructions
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from openfelt.core.atomics import add, raise_to
from openfelt.core.cuda import is_simulated, numba_cuda, to_gpu
from openfelt.core.rounding import product

cuda: Any = None  # stands for numba.cuda in functions that only a GPU runs; `build_for_cuda` replaces it


class Layer(NamedTuple):
    """A function to call in place of another one, built with a table of replacements of its own.

    So an implementation for a type that wraps another one can call the same functions for what it wraps.
    """

    function: Any
    replaced: frozenset[tuple[Any, Any]]  # the items of a mapping as `replaced` of `build_for_cuda`


def build_for_cuda(
    kernel: Callable[..., Any],
    replaced: Mapping[Any, Any],
    registers: int = 0,
    constants: Mapping[str, Any] | None = None,
) -> Any:
    """Build a kernel for the GPU with all functions that it calls.

    `replaced` maps functions to those called in their place, or to a Layer; `registers` limits what a thread
    may use (0: no limit); `constants` gives global names other values in this kernel.
    """
    assert isinstance(kernel, FunctionType)
    build = _Build({**replaced, **_updates()}, constants or {}, {"cuda": numba_cuda()})
    flags = {"max_registers": registers} if registers and not is_simulated() else {}
    return numba_cuda().jit(**flags)(build.kernel(kernel))


def _add(table: Any, row: int, column: int, amount: float) -> None:
    cuda.atomic.add(table, (row, column), amount)


def _raise_to(table: Any, row: int, value: int) -> Any:
    return cuda.atomic.max(table, row, value)


def _product(one: float, other: float) -> Any:
    return cuda.libdevice.dmul_rn(one, other)


UPDATES = {add: _add, raise_to: _raise_to}


def _updates() -> dict[Any, Any]:
    """What every kernel calls in place of functions of the CPU; the simulator rounds as the CPU does."""
    return UPDATES if is_simulated() else {**UPDATES, product: _product}


_shared: dict[Any, Any] = {}  # functions built for the GPU, which many kernels call


class _Build:
    """One kernel with the functions that it calls."""

    def __init__(
        self, replaced: Mapping[Any, Any], constants: Mapping[str, Any], kernel_names: dict[str, Any]
    ) -> None:
        self._replaced, self._constants, self._kernel_names = replaced, constants, kernel_names
        self._built: dict[Any, Any] = {} if is_simulated() else _shared

    def kernel(self, source: FunctionType) -> FunctionType:
        return self._copy(source, self._kernel_names)

    def _function(self, source: FunctionType) -> Any:
        """The copy of a function that a kernel calls; one for all kernels in which it is the same."""
        names = self._names_below(source) & self._constants.keys()
        constants = tuple((name, self._constants[name]) for name in sorted(names))
        key = source, constants, frozenset(self._replaced.items())
        if key not in self._built:
            if is_simulated():
                self._built[key] = self._copy(source, {"cuda": _CudaOfKernel(self._kernel_names)})
            else:
                copied = self._copy(source, {"cuda": numba_cuda()})
                self._built[key] = numba_cuda().jit(device=True, forceinline=True)(copied)
        return self._built[key]

    def _copy(self, source: FunctionType, names: dict[str, Any]) -> FunctionType:
        """The same code, with `names` for its globals; those that it lacks are added."""
        values = _globals_of(source)
        values |= {name: self._constants[name] for name in values.keys() & self._constants.keys()}
        own = {name: self._exchange(value) for name, value in values.items() if name not in names}
        names.update(source.__globals__ | own | names)
        return FunctionType(source.__code__, names, source.__name__, source.__defaults__, source.__closure__)

    def _exchange(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value if is_simulated() else to_gpu(value)
        if isinstance(value, FunctionType):
            chosen = self._replaced.get(value, value)
            if isinstance(chosen, Layer):
                return self._inside(chosen)._function(chosen.function)
            return self._function(chosen)
        return value

    def _inside(self, layer: Layer) -> _Build:
        return _Build({**dict(layer.replaced), **_updates()}, self._constants, self._kernel_names)

    def _names_below(self, source: FunctionType) -> set[str]:
        """The names of the globals that a function reads, itself or in what it calls."""
        names: set[str] = set()
        waiting, met = [source], {source}
        while waiting:
            values = _globals_of(waiting.pop())
            names |= values.keys()
            functions = (value for value in values.values() if isinstance(value, FunctionType))
            chosen = {self._replaced.get(function, function) for function in functions}
            for layer in [each for each in chosen if isinstance(each, Layer)]:
                chosen.remove(layer)
                names |= self._inside(layer)._names_below(layer.function)
            waiting += chosen - met
            met |= chosen
        return names


def _globals_of(source: FunctionType) -> dict[str, Any]:
    """The globals that a function reads itself."""
    read = {each.argval for each in get_instructions(source) if each.opname == "LOAD_GLOBAL"}
    return {name: value for name, value in source.__globals__.items() if name in read}


class _CudaOfKernel:
    """What stands for numba.cuda in the functions that a simulated kernel calls.

    While a kernel runs, the simulator replaces that name in the kernel. In a device function it would do so
    at each call, where all threads wait for one another. So these are plain functions, and look the name up
    in the kernel.
    """

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def __getattr__(self, name: str) -> Any:
        return getattr(self._names["cuda"], name)
