"""Building and launching the kernels of vectors over hands."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from openfelt.cards.deck import PAIRS
from openfelt.core.cuda import is_simulated, zeros_on_gpu
from openfelt.core.cuda_build import build_for_cuda, cuda
from openfelt.solve.vector.gpu.river_lists import sync_warp

REGISTERS = 128  # of a thread on the river
THREADS = 256  # of a block on the other streets


@cache
def street_kernel(source: Any, **constants: Any) -> Any:
    """A kernel before the river."""
    return build_for_cuda(source, {}, constants=constants)


@cache
def river_kernel(source: Any, **constants: Any) -> Any:
    """A kernel of the river, in which the threads of a block work together."""
    if is_simulated():
        return build_for_cuda(source, {sync_warp: _sync_block}, 0, constants | {"ALIGNED": None})
    return build_for_cuda(source, {}, REGISTERS, constants)


def _sync_block() -> None:
    cuda.syncthreads()


def run(queue: Any, kernel: Any, blocks: int, *arguments: Any, threads: int = THREADS) -> None:
    """Queue a kernel."""
    few = threads == THREADS and is_simulated()
    kernel[blocks, 32 if few else threads, queue](*arguments)


def hand_table(*shape: int) -> Any:
    """Zeros, with a number for each pair of hole cards in the last dimension."""
    return zeros_on_gpu((*shape, PAIRS), np.float32)
