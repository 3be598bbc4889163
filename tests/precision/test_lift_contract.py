"""Contracts of every lifted call: threads, processes, paths, random bits, dtypes."""

import ast
import gc
import itertools
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import njit, prange

import sciprec
from sciprec.precision.rewriting.sources import source_tree
from sciprec.precision.rounding.mode import NORMAL, read_control_word
from tests.oracles.twin import run_twin
from tests.precision.arithmetic_kernels import constant_expressions
from tests.precision.comparison import assert_same, bits, has_mode

DIRECTED = ("mlu370", "float:p=24,emin=-126,emax=127,round=ru")
ROOT = Path(__file__).parents[2]
TABLE = np.random.default_rng(1).random(12)


@njit
def own_word():
    """MXCSR of this thread, without its sticky flags."""
    return read_control_word() & 0xFFC0


@njit(parallel=True)
def words(out):
    for i in prange(out.size):
        out[i] = read_control_word() & 0xFFC0


def arithmetic() -> list[int]:
    """Sums, quotients and a subnormal product of NumPy on this thread, and the control register."""
    x = np.arange(1, 9, dtype=np.float32)
    subnormal = np.float32([1e-40]) * np.float32(0.5)
    results = np.concatenate([1 / x, 0.1 + 1 / x, subnormal, np.float64([1 / 3]) + 0.2])
    return [own_word(), *bits(results)]


def everywhere() -> list[int]:
    """The control register of every thread of Numba's pool."""
    out = np.zeros(16 * numba.get_num_threads(), np.int64)
    words(out)
    return sorted(set(out.tolist()))


def smooth(x, out):
    for i in range(1, x.size - 1):
        out[i] = 0.25 * x[i - 1] + x[i] / 3 + math_root(x[i + 1])


def math_root(a):
    return np.sqrt(abs(a)) - 0.1


def refuse_negative(x):
    for i in range(x.size):
        if x[i] / 3 < 0:
            raise ValueError("negative")
    return x[0] / 3


def spread(x, out):
    total = 0.0
    for i in prange(x.size):
        out[i] = x[i] / 3 + 0.1
        total += x[i] * 0.1
    return total


@has_mode
@pytest.mark.parametrize("backend", DIRECTED)
def test_processor_mode_is_restored(backend):
    """After a call, also one that raises or runs on many threads, every thread is as before."""
    here, there = arithmetic(), everywhere()
    assert there == [NORMAL]
    x, out = np.linspace(0.1, 2.0, 200), np.zeros(200)
    lifted = sciprec.lift(smooth, backend)
    assert lifted.uses_processor_mode
    lifted(x, out)
    assert arithmetic() == here and everywhere() == there
    with pytest.raises(ValueError, match="negative"):
        sciprec.lift(refuse_negative, backend)(-x)
    assert arithmetic() == here and everywhere() == there
    sciprec.lift(spread, backend)(x, out)
    assert arithmetic() == here and everywhere() == there


def test_many_threads_share_a_lifted_kernel():
    """Calls from several Python threads give the same bits and leave each thread's mode alone."""
    here, x = arithmetic(), np.random.default_rng(2).uniform(0.1, 2.0, 500)
    serial, parallel = sciprec.lift(smooth, "mlu370"), sciprec.lift(spread, "mlu370")

    def work(number: int):
        out, other, found = np.zeros(500), np.zeros(500), []
        for _ in range(20):
            serial(x, out)
            found.append(parallel(x, other))
            assert arithmetic() == here
        return bits(out), bits(other), set(found)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(8)))
    assert all(r == results[0] for r in results) and len(results[0][2]) == 1


@pytest.fixture
def restless():
    """An interpreter that changes threads and collects garbage as often as it can."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    visits = itertools.count()
    gc.callbacks.append(lambda *_: sum(range(next(visits) % 100)))
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    yield visits
    gc.callbacks.pop()
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


def test_kernels_are_read_by_several_threads_at_once(restless):
    """Python's parser counts the depth of all threads' trees in one place."""
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(lambda _: ast.dump(source_tree(run_twin)[0]), range(200)))
    assert len(set(trees)) == 1 and next(restless) > 20


def with_tables(n):
    out = np.zeros(TABLE.size)
    for i in range(12):
        out[i] = TABLE[i] * TABLE[11 - i] + TABLE[(i * 7) % 12] / TABLE[(i * 5) % 12]
    return TABLE[0] * TABLE[1], TABLE[1] * TABLE[2], TABLE[3] / TABLE[4], out


def with_signs(x, out):
    for i in range(x.size):
        a, b, c = x[i], x[(i + 1) % x.size], x[(i + 2) % x.size]
        out[0, i] = -(a * 0.3)
        out[1, i] = c - a * b
        out[2, i] = c - (-a * b)
        out[3, i] = abs(a) * abs(b) - (-(0.7 / c))
        out[4, i] = -(a / b) + abs(a) / abs(c)


def with_default(x, factor=0.1, other=0.3):
    return factor / 3 * other + x


def everything(x, out, folded):
    with_signs(x, out)
    constant_expressions(x, folded)
    return with_tables(3), with_default(x[0])


@pytest.mark.parametrize(
    "backend",
    ["float:p=24,emin=-126,emax=127,round=ru", "float:p=24,emin=-300,emax=300,round=rd"],
)
def test_compiler_neither_folds_nor_moves_signs(backend):
    """Constants, their expressions, tables and defaults are not computed beforehand to nearest;
    LLVM's rewriting of -(x * y) into (-x) * y, right only to nearest, does not happen.
    """
    x = np.random.default_rng(3).uniform(-2, 2, 40)
    ours, theirs = ((x.copy(), np.zeros((5, x.size)), np.zeros(14)) for _ in range(2))
    lifted = sciprec.lift(everything, backend)
    result, twin = lifted(*ours), run_twin(everything, lifted.backend, theirs)
    assert_same((result, ours), (twin, theirs))
