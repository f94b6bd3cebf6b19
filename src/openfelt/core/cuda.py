"""The one place that knows numba-cuda: whether there is a GPU, and how kernels are built for it.

The learners have one source. For the CPU, numba compiles it as it stands (`jit.py`). For a GPU, `for_cuda`
takes the same functions, and those that they call, and lets numba-cuda compile them, with two things
exchanged: tables of numbers lie in the memory of the GPU, and changes to shared tables (`shared.py`) are
atomic.

With NUMBA_ENABLE_CUDASIM=1 in the environment numba-cuda runs the same functions in plain Python, without any
GPU: slow, but it is the way to test and to debug them.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from types import FunctionType
from typing import Any

import numpy as np
from numba.core import config
from numba.core.dispatcher import Dispatcher

from openfelt.core.atomics import add, raise_to
from openfelt.core.devices import AUTO, CPU, CUDA, DEVICES
from openfelt.core.errors import FeltError

BLOCK, WARP = 128, 32  # threads that start together, and that run in step

FAULTS = (
    "CudaAPIError",
    "CudaDriverError",
    "CudaSupportError",
    "LinkerError",
    "NvvmError",
    "NvvmSupportError",
)

Function = Callable[..., Any]

cuda: Any = None  # stands for numba.cuda in functions that only a GPU runs; `for_cuda` puts it there


@cache
def _cuda() -> Any:
    """The module numba.cuda, which takes a while to import."""
    if not hasattr(np, "row_stack"):  # numba-cuda 0.30 asks for it by name; NumPy 2.5 has it no more
        setattr(np, "row_stack", np.vstack)  # noqa: B010 - the name is gone from NumPy's type hints too
    from numba import cuda as module

    if not is_simulated():
        from numba.cuda.core import config as settings

        settings.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # that few threads use only a part of the GPU is known
    return module


@cache
def why_no_gpu() -> str:
    """One sentence on what is missing; empty if a GPU can be used."""
    if find_spec("numba_cuda") is None:
        return "a GPU needs numba-cuda, which is not installed: pip install 'openfelt[cuda]'."
    try:
        if _cuda().is_available():
            return ""
        return "no NVIDIA GPU, or no driver for it, was found on this machine."
    except Exception as error:  # whatever a broken driver or installation raises
        return f"the GPU cannot be used: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


@contextmanager
def gpu_faults() -> Iterator[None]:
    """Say in one sentence what the driver or the compiler for the GPU has to say."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ not in FAULTS:
            raise
        raise FeltError(
            f"The GPU cannot be used: {_first_line(error)} (With a driver for CUDA 12: pip install "
            "'numba-cuda[cu12]'.)"
        ) from error


def choose_device(wanted: str) -> str:
    """`cpu` or `cuda`; asking for a GPU that is not there is refused, unless it was left open."""
    if wanted not in DEVICES:
        raise FeltError(f"device must be {', '.join(DEVICES[:-1])} or {DEVICES[-1]}, not {wanted}.")
    if wanted == CPU or (wanted == AUTO and why_no_gpu()):
        return CPU
    if why_no_gpu():
        raise FeltError(why_no_gpu()[0].upper() + why_no_gpu()[1:])
    return CUDA


def is_simulated() -> bool:
    """Whether numba-cuda only plays a GPU."""
    return bool(config.ENABLE_CUDASIM)


def gpu_name() -> str:
    """What the GPU is called."""
    if is_simulated():
        return "simulated GPU"
    name = _cuda().get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


def free_memory() -> float:
    """Bytes that can still be taken on the GPU."""
    if is_simulated():
        return np.inf
    context = _cuda().current_context()
    if pending := getattr(context.memory_manager, "deallocations", None):
        pending.clear()  # what is no longer used may still wait to be given back
    return float(context.get_memory_info().free)


def room_for_threads() -> int:
    """For how many threads the GPU sets memory apart, whatever they do."""
    if is_simulated():
        return 4
    device = _cuda().get_current_device()
    return int(device.MULTIPROCESSOR_COUNT * device.MAX_THREADS_PER_MULTIPROCESSOR)


def most_threads(kernel: Any) -> int:
    """How many threads of a kernel that was launched before can run at once."""
    if is_simulated():
        return 4
    blocks = [compiled.max_cooperative_grid_blocks(BLOCK) for compiled in kernel.overloads.values()]
    return int(min(blocks)) * BLOCK


def to_gpu(values: Any) -> Any:
    """Arrays copied to the GPU; in a NamedTuple each of them."""
    if isinstance(values, np.ndarray):
        # In one row and back: numba-cuda takes a step of 0, as `values[None]` has, for a repeated table, and
        # would go through its places one by one.
        return _cuda().to_device(values.ravel().reshape(values.shape))
    return type(values)(*map(to_gpu, values)) if isinstance(values, tuple) else values


def zeros_on_gpu(shape: tuple[int, ...], kind: type[np.generic]) -> Any:
    """A table of zeros that is made there, with no copy here."""
    table = _cuda().device_array(shape, kind)
    if is_simulated():
        table[...] = 0
    elif table.size:
        _cuda().cudadrv.driver.device_memset(table, 0, table.nbytes)
    return table


def bytes_of(values: Any) -> int:
    """What all arrays in a value take."""
    if isinstance(values, tuple):
        return sum(map(bytes_of, values))
    return int(values.nbytes) if isinstance(values, np.ndarray) else 0


def new_queue() -> Any:
    """Where launches wait for one another; those of different queues may run side by side."""
    return _cuda().stream()


def launch(kernel: Any, queue: Any, threads: int, *arguments: Any) -> None:
    """Start a kernel with that many threads, at least."""
    block = 1 if is_simulated() else BLOCK
    kernel[-(-threads // block), block, queue](*arguments)


def _add(table: Any, row: int, column: int, amount: float) -> None:
    cuda.atomic.add(table, (row, column), amount)


def _raise_to(table: Any, row: int, value: int) -> Any:
    return cuda.atomic.max(table, row, value)


_built: dict[Any, Any] = {}  # parts of kernels, which many have in common


def _used(source: FunctionType) -> set[str]:
    """The global names that a function uses itself."""
    return {each.argval for each in dis.get_instructions(source) if each.opname == "LOAD_GLOBAL"}


@cache
def _names(source: FunctionType) -> set[str]:
    """And those of all that it calls."""
    found = _used(source)
    for value in [source.__globals__.get(name) for name in found]:
        called = getattr(value, "py_func", value)
        if isinstance(called, FunctionType) and called is not source and _is_ours(called):
            found = found | _names(called)
    return found


def _is_ours(function: FunctionType) -> bool:
    return function.__module__.startswith("openfelt.")


def for_cuda(
    kernel: Function,
    exchanged: Mapping[Any, Function],
    registers: int = 0,
    constants: Mapping[str, Any] | None = None,
) -> Any:
    """Build a kernel for the GPU, with all that it calls, some of it exchanged for something else.

    `registers` is how many a thread may have, if that is to be limited; `constants` are global names that
    have other values in this one.
    """
    instead = {**exchanged, add: _add, raise_to: _raise_to}
    known_as = constants or {}
    names: dict[str, Any] = {}  # of the kernel
    built = {} if is_simulated() else _built

    def part(function: Any) -> Any:
        source = getattr(function, "py_func", function)
        own = tuple((name, known_as[name]) for name in sorted(_names(source) & known_as.keys()))
        key = source, own, frozenset(instead.items())
        if key not in built:
            if is_simulated():
                built[key] = copy(source, {"cuda": _OfTheKernel(names)})
            else:
                built[key] = _cuda().jit(device=True, forceinline=True)(copy(source, {"cuda": _cuda()}))
        return built[key]

    def copy(source: FunctionType, into: dict[str, Any]) -> FunctionType:
        known, used = {**source.__globals__, **known_as}, _used(source)
        own = {name: swap(value) for name, value in known.items() if name in used and name not in into}
        into.update(source.__globals__ | own | into)
        return FunctionType(source.__code__, into, source.__name__, source.__defaults__, source.__closure__)

    def swap(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value if is_simulated() else to_gpu(value)
        if isinstance(value, FunctionType | Dispatcher) and value in instead:
            return part(instead[value])
        ours = isinstance(value, FunctionType) and _is_ours(value)
        return part(value) if ours or isinstance(value, Dispatcher) else value

    assert isinstance(kernel, FunctionType)
    flags = {"max_registers": registers} if registers and not is_simulated() else {}
    names["cuda"] = _cuda()
    return _cuda().jit(**flags)(copy(kernel, names))


class _OfTheKernel:
    """What stands for numba.cuda in the parts of a simulated kernel.

    While a kernel runs, the simulator exchanges that name in it; and in each part of its own kind again, at
    each call, where all threads wait for one another. So parts are plain functions, and ask the kernel's.
    """

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def __getattr__(self, name: str) -> Any:
        return getattr(self._names["cuda"], name)
