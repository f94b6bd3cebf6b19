"""What our use of numba depends on; a new numba (or Python) that changes it fails here."""

from __future__ import annotations

import re
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core import config

from openfelt.core.jit import FLAGS, episode_kernel, kernel, part
from openfelt.core.scalar_loops import without_loop_vectorization

VECTOR = re.compile(r"<\d+ x i64>")


@part
def total_of(table):
    total = 0
    for place in range(len(table)):
        total += table[place]
    return total


def add_totals(table, other):
    total = 0
    for place in range(len(table)):
        total += table[place]
    return total + total_of(other)


def compiled(build):
    """The LLVM code of a kernel with two loops that can be vectorized, one of them in a part."""
    dispatcher = build(numba.njit(**FLAGS, _nrt=False)(add_totals))
    table = np.arange(100)
    assert dispatcher(table, table[:10]) == 4995
    (code,) = dispatcher.inspect_llvm().values()
    return code


def test_loop_vectorization_is_off_in_one_kernel_and_its_parts_alone():
    # With the settings of an environment that turns it off for all, there would be nothing to see.
    assert config.LOOP_VECTORIZE
    # Numba keeps a part that it has compiled for other kernels; so the scalar one is compiled first.
    assert not VECTOR.search(compiled(without_loop_vectorization))
    assert config.LOOP_VECTORIZE
    assert VECTOR.search(compiled(lambda dispatcher: dispatcher))


def test_the_setting_is_restored_when_compiling_fails():
    @episode_kernel
    def unknown(table):
        return table.no_such_method()

    with pytest.raises(numba.TypingError):
        unknown(np.zeros(1))
    assert config.LOOP_VECTORIZE


@kernel
def half_plus(table, amount):
    return _halved(table, 0) + amount


@part
def _halved(table, place):
    return table[place] / 2


def test_parts_run_as_python_and_compiled_into_kernels():
    """A part called with a constant is compiled for the constant's type, not once for each value."""
    assert _halved([3.0], 0) == 1.5  # a list of Python: no machine code would take it as an array
    assert half_plus(np.array([3.0]), 1) == 2.5
    assert half_plus.nopython_signatures
    with pytest.raises(ZeroDivisionError):
        _inverse(0.0)
    assert invert(0.0) == np.inf  # numba's error model for numpy, in parts as in kernels


@part
def _inverse(value):
    return 1.0 / value


@kernel
def invert(value):
    return _inverse(value)


LOADS = """
import openfelt as felt
from openfelt.solve.sampling import sampling_solver

felt.UCT("kuhn").run(10)
learn = sampling_solver._learn.stats
print(sum(learn.cache_hits.values()), sum(learn.cache_misses.values()))
"""


@pytest.mark.slow
def test_the_next_process_loads_a_kernel_with_its_parts(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for expected in ("0 1", "1 0"):
        done = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected
