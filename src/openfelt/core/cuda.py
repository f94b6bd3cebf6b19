"""The GPU through numba-cuda: whether there is one, its memory, and launches. `cuda_build.py` builds kernels.

With NUMBA_ENABLE_CUDASIM=1 in the environment numba-cuda runs kernels in plain Python, without a GPU: slowly,
but they can be tested and debugged that way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numba.core import config

from openfelt.core.devices import AUTO, CPU, CUDA, DEVICES
from openfelt.core.errors import FeltError

BLOCK, WARP = 128, 32  # threads of a launch's blocks; threads that run in step
MARGIN = 1.05  # memory to require on the GPU, as a multiple of what the tables take

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
    """The module numba.cuda, imported on first use because that takes a while."""
    if not hasattr(np, "row_stack"):  # numba-cuda 0.30 uses it; NumPy 2.5 removed it
        setattr(np, "row_stack", np.vstack)  # noqa: B010 - the name is gone from NumPy's type hints too
    from numba import cuda as module

    if not is_simulated():
        from numba.cuda.core import config as settings

        settings.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # few threads are intended
    return module


@cache
def why_no_gpu() -> str:
    """Why no GPU can be used, in one sentence; empty if one can."""
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
    """Turn errors of the GPU's driver or compiler into a FeltError of one sentence."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ not in FAULTS:
            raise
        raise FeltError(
            f"The GPU cannot be used: {_first_line(error)} (With a driver for CUDA 12: pip install "
            "'numba-cuda[cu12]'.)"
        ) from error


def choose_device(wanted: str, *, elsewhere: bool = False) -> str:
    """`cpu` or `cuda`. Without a GPU, `auto` means the CPU, and `cuda` raises FeltError.

    `elsewhere`: the work is done on other machines; `auto` means their CPUs.
    """
    if wanted not in DEVICES:
        raise FeltError(f"device must be {', '.join(DEVICES[:-1])} or {DEVICES[-1]}, not {wanted}.")
    if elsewhere:
        return CUDA if wanted == CUDA else CPU
    if wanted == CPU or (wanted == AUTO and why_no_gpu()):
        return CPU
    if why_no_gpu():
        raise FeltError(why_no_gpu()[0].upper() + why_no_gpu()[1:])
    return CUDA


def is_simulated() -> bool:
    """Whether numba-cuda simulates a GPU."""
    return bool(config.ENABLE_CUDASIM)


def gpu_name() -> str:
    """The name of the GPU."""
    if is_simulated():
        return "simulated GPU"
    name = numba_cuda().get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


def free_memory() -> float:
    """Bytes of free memory on the GPU."""
    if is_simulated():
        return np.inf
    context = numba_cuda().current_context()
    if pending := getattr(context.memory_manager, "deallocations", None):
        pending.clear()  # unused memory may not be freed yet
    return float(context.get_memory_info().free)


class TooLittleMemory(FeltError):
    """A game does not fit on the GPU."""


def require_memory(what: str, needed: float) -> None:
    """Raise TooLittleMemory if the GPU does not have that many bytes free, and a few more."""
    needed *= MARGIN
    if needed > free_memory():
        raise TooLittleMemory(
            f"{what} needs {needed / 1e9:.1f} GB on the GPU; of {gpu_name()}'s memory "
            f"{free_memory() / 1e9:.1f} GB are free."
        )


def room_for_threads() -> int:
    """For how many threads the GPU reserves local memory."""
    if is_simulated():
        return 4
    device = numba_cuda().get_current_device()
    return int(device.MULTIPROCESSOR_COUNT * device.MAX_THREADS_PER_MULTIPROCESSOR)


def most_threads(kernel: Any) -> int:
    """How many threads of a kernel can run at once; it must have been launched before."""
    if is_simulated():
        return 4
    blocks = [compiled.max_cooperative_grid_blocks(BLOCK) for compiled in kernel.overloads.values()]
    return int(min(blocks)) * BLOCK


def to_gpu(values: Any) -> Any:
    """Arrays copied to the GPU; in a NamedTuple each of them."""
    if isinstance(values, np.ndarray):
        # Flattened and reshaped: numba-cuda takes a stride of 0, as in `values[None]`, for a broadcast table,
        # and would copy its elements one by one.
        return numba_cuda().to_device(values.ravel().reshape(values.shape))
    return type(values)(*map(to_gpu, values)) if isinstance(values, tuple) else values


def zeros_on_gpu(shape: tuple[int, ...], kind: type[np.generic]) -> Any:
    """A table of zeros, allocated on the GPU."""
    table = numba_cuda().device_array(shape, kind)
    if is_simulated():
        table[...] = 0
    elif table.size:
        numba_cuda().cudadrv.driver.device_memset(table, 0, table.nbytes)
    return table


def bytes_of(values: Any) -> int:
    """The bytes of all arrays in a value."""
    if isinstance(values, tuple):
        return sum(map(bytes_of, values))
    return int(values.nbytes) if isinstance(values, np.ndarray) else 0


def new_queue() -> Any:
    """A stream: its launches run in order; those of different streams may run at once."""
    return numba_cuda().stream()


def launch(kernel: Any, queue: Any, threads: int, *arguments: Any) -> None:
    """Start a kernel with at least that many threads."""
    block = 1 if is_simulated() else BLOCK
    kernel[-(-threads // block), block, queue](*arguments)


class Repeated:
    """Launches on a queue that are repeated with the same arguments.

    From the second time on they are a CUDA graph, which is queued by one call; where the driver cannot record
    one, they are queued one by one each time.
    """

    def __init__(self, queue: Any) -> None:
        self._queue, self._graph = queue, None
        self._records, self._is_compiled = not is_simulated(), False

    def __call__(self, work: Callable[[], object]) -> None:
        """Queue the launches of `work`, which are the same each time."""
        if self._records and self._is_compiled and self._graph is None:
            self._graph = self._record(work)
            self._records = self._graph is not None
        if self._graph is None:
            work()
            self._is_compiled = True
        else:
            _checked(cuda_driver().cuGraphLaunch(self._graph, int(self._queue.handle)))

    def _record(self, work: Callable[[], object]) -> Any:
        driver = cuda_driver()
        queue, mode = int(self._queue.handle), driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        try:
            _checked(driver.cuStreamBeginCapture(queue, mode))
            try:
                work()
            finally:
                ended = driver.cuStreamEndCapture(queue)
            graph = _checked(ended)
            recorded = _checked(driver.cuGraphInstantiate(graph, 0))
            driver.cuGraphDestroy(graph)
            return recorded
        except Exception as error:
            if type(error).__name__ not in FAULTS:
                raise
            return None

    def __del__(self) -> None:
        if self._graph is not None:
            cuda_driver().cuGraphExecDestroy(self._graph)


@cache
def cuda_driver() -> Any:
    """The functions of the CUDA driver."""
    return import_module("cuda.bindings.driver")


class CudaDriverError(Exception):
    """A call of the driver failed."""


def _checked(answer: tuple[Any, ...]) -> Any:
    """The result of a call of the driver."""
    fault, *found = answer
    if int(fault):
        raise CudaDriverError(f"{fault.name}.")
    return found[0] if found else None
