"""The GPU through numba-cuda: whether there is one, its memory, and launches. `cuda_build.py` builds kernels.

With NUMBA_ENABLE_CUDASIM=1 in the environment numba-cuda runs kernels in plain Python, without a GPU: slowly,
but they can be tested and debugged that way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numba.core import config

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


@cache
def numba_cuda() -> Any:
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
        if numba_cuda().is_available():
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
    name = numba_cuda().get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


def free_memory() -> float:
    """Bytes that can still be taken on the GPU."""
    if is_simulated():
        return np.inf
    context = numba_cuda().current_context()
    if pending := getattr(context.memory_manager, "deallocations", None):
        pending.clear()  # what is no longer used may still wait to be given back
    return float(context.get_memory_info().free)


def room_for_threads() -> int:
    """For how many threads the GPU sets memory apart, whatever they do."""
    if is_simulated():
        return 4
    device = numba_cuda().get_current_device()
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
        return numba_cuda().to_device(values.ravel().reshape(values.shape))
    return type(values)(*map(to_gpu, values)) if isinstance(values, tuple) else values


def zeros_on_gpu(shape: tuple[int, ...], kind: type[np.generic]) -> Any:
    """A table of zeros that is made there, with no copy here."""
    table = numba_cuda().device_array(shape, kind)
    if is_simulated():
        table[...] = 0
    elif table.size:
        numba_cuda().cudadrv.driver.device_memset(table, 0, table.nbytes)
    return table


def bytes_of(values: Any) -> int:
    """What all arrays in a value take."""
    if isinstance(values, tuple):
        return sum(map(bytes_of, values))
    return int(values.nbytes) if isinstance(values, np.ndarray) else 0


def new_queue() -> Any:
    """Where launches wait for one another; those of different queues may run side by side."""
    return numba_cuda().stream()


def launch(kernel: Any, queue: Any, threads: int, *arguments: Any) -> None:
    """Start a kernel with that many threads, at least."""
    block = 1 if is_simulated() else BLOCK
    kernel[-(-threads // block), block, queue](*arguments)
