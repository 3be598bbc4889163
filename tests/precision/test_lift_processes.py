"""Kernels that once took the whole process with them: each run in a new one, with a time limit."""

import math
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from numba import prange

import sciprec
from sciprec.precision import resolve_backend
from tests.oracles.twin import run_twin
from tests.precision.processes import started


def finishes(function, **environment: str) -> str:
    """Run a function of this module in a new process; what it printed."""
    name = function.__name__
    return started(f"from {__name__} import {name}; {name}()", **environment)


def scaled_roots(x, c, out):
    for i in range(x.size):
        out[i] = math.sqrt(x[i]) * c[0] + c[1]


def packed_loads():
    """Two neighbouring binary32 numbers are loaded inside a loop: LLVM packs them into one."""
    for backend in ("mlu370", "float:p=14,round=rz"):
        x, c = np.linspace(0.0, 2.0, 9, dtype=np.float32), np.array([0.3, 1.7], np.float32)
        found, expected = np.zeros_like(x), np.zeros(x.size)
        sciprec.lift(scaled_roots, backend)(x, c, found)
        exact = (x.astype(float), c.astype(float), expected)
        run_twin(scaled_roots, resolve_backend(backend), exact)
        assert np.array_equal(found, expected), backend


@pytest.mark.slow
def test_packed_loads_do_not_abort():
    """Where they do, no code of theirs is kept."""
    finishes(packed_loads)


def halved(v, i):
    print("half of", v, "at", i)
    return 0.5 * v


def talking(x):
    print("size", x.size, x)
    s = 0.0
    for i in prange(x.size):
        s += halved(x[i], i)
    print((s, x.size))
    return s


def printing():
    """A kernel that prints, from a loop on threads too."""
    sciprec.lift(talking, "mlu370")(np.array([1.0]))


@pytest.mark.slow
def test_a_kernel_that_prints_ends(tmp_path):
    """Its first call once waited for ever: nothing was compiled, and its environment unknown."""
    printed = finishes(printing, SCIPREC_CACHE_DIR=tmp_path).splitlines()
    assert printed == ["size 1 [1.]", "half of 1.0 at 0", "(0.5, 1)"]


def summed_in_parallel(x, out):
    total = 0.0
    for i in prange(x.size):
        out[i] = math.sqrt(x[i])
        total += out[i]
    return total


def parallel_calls_from_threads():
    """Four threads call parallel kernels over and over, each the same as alone."""
    lifted, x = sciprec.lift(summed_in_parallel, "mlu370"), np.linspace(0.0, 2.0, 5000)
    alone = lifted(x, np.zeros_like(x))
    with ThreadPoolExecutor(4) as pool:
        sums = list(pool.map(lambda n: lifted(x, np.zeros_like(x)), range(400)))
    assert set(sums) == {alone}
    print(numba.threading_layer())


@pytest.mark.slow
def test_threads_call_parallel_kernels():
    """workqueue ends a process whose threads call it at once."""
    given = {"NUMBA_THREADING_LAYER": "workqueue", "NUMBA_NUM_THREADS": "2"}
    assert finishes(parallel_calls_from_threads, **given).split() == ["workqueue"]
