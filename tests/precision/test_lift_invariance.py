"""Invariances of a lifted kernel: path, threads, layout, dtype of the data, scale."""


import numba
import numpy as np
import pytest
from numba import njit, prange

import sciprec
from tests.oracles.uncompiled import run_random
from tests.precision.comparison import assert_same, bits, has_mode
from tests.precision.corpus import arrays, constructs, loops

STOCHASTIC = "float:p=11,emin=-14,emax=15,round=sr"


@has_mode
def test_processor_mode_equals_software():
    """The same random bits with the processor's rounding mode and without it; without any, both
    are those of exact numbers.
    """
    rng = np.random.default_rng(11)
    x = rng.choice([-1.0, 1.0], 300) * np.exp2(rng.uniform(-20, 20, 300))
    outs = []
    for path in ("auto", "software"):
        lifted = sciprec.lift(loops.mixture, "mlu370-noise", path=path, seed=5)
        assert lifted.uses_processor_mode == (path == "auto")
        out = np.zeros(x.size)
        lifted(x, out)
        outs.append(bits(out))
    assert outs[0] == outs[1]


# ---- random bits --------------------------------------------------------------------------------


def test_combined_chunks_draw_their_own_bits():
    """The uncompiled run refuses operations that draw what others drew."""
    lifted = sciprec.lift(loops.parallel_thirds, STOCHASTIC, seed=1)
    x, out, expected = np.linspace(1, 2, 64), np.zeros(64), np.zeros(64)
    total = lifted(x, out)
    assert run_random(lifted, (x, expected)) == total
    assert bits(out) == bits(expected)


# ---- prange -------------------------------------------------------------------------------------


@pytest.fixture
def one_and_two_threads():
    """Counts of threads, each in force while it is handed out."""
    threads = numba.get_num_threads()
    assert threads > 1

    def counts():
        for count in (1, 2):
            numba.set_num_threads(count)
            yield count

    yield counts()
    numba.set_num_threads(threads)


def test_threads_change_no_bit(one_and_two_threads):
    """prange on one thread and on two: sums of floats and of arrays, private variables included;
    random bits are those of the uncompiled run (above).
    """
    rng, results = np.random.default_rng(14), []
    x, rows = rng.uniform(-2, 2, 203), rng.uniform(0.9, 1.1, (203, 3))
    for _ in one_and_two_threads:
        values, out, total = x.copy(), np.zeros(x.size), np.full(3, 0.3)
        summed = sciprec.lift(loops.sections, "fp16")(values, x.size, out)
        product = sciprec.lift(loops.sums_of_rows, "fp16")(rows, total)
        results.append([bits(v) for v in (summed, values, out, product, total)])
    assert results[0] == results[1] and 0.3 not in total


THREADS, OPTIONS = True, {"parallel": True}


@numba.jit(nopython=True, parallel=False)
def without_threads(x):
    for i in prange(1, x.size):
        s = x[i - 1]
        x[i] += s
    return s


@njit(parallel=THREADS)
def with_threads(x):
    for i in prange(x.size):
        s = x[i]
    return s


@njit(**OPTIONS)
def with_options(x):
    for i in prange(x.size):
        s = x[i]
    return s


def test_prange_is_range_where_numba_has_no_threads():
    """Below @njit without parallel=True: its own bits."""
    x, here, there = np.random.default_rng(16).uniform(-2, 2, 203), np.empty(203), np.empty(203)
    expected = loops.in_turn(x, there)
    assert sciprec.lift(loops.in_turn)(x, here) == expected and bits(here) == bits(there)
    sciprec.lift(without_threads, "mlu370")
    for kernel in (with_threads, with_options):
        with pytest.raises(sciprec.LiftError, match="'s', of one iteration of prange"):
            sciprec.lift(kernel, "mlu370")


# ---- data ---------------------------------------------------------------------------------------


def affine(x, factor, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] * factor + 0.1
    return x * factor + 0.1


BASE = np.arange(12).reshape(3, 4)
LAYOUTS = {
    "float64": BASE * 0.37, "float32": (BASE * 0.37).astype(np.float32), "int64": BASE,
    "uint8": BASE.astype(np.uint8), "bool": BASE % 3 == 0,
    "fortran": np.asfortranarray(BASE * 0.37),
    "strided": (np.arange(48).reshape(6, 8) * 0.37)[::2, ::2],
    "reversed": (BASE * 0.37)[::-1, ::-1],
    "empty": np.zeros((0, 4)), "special": np.array([[np.nan, np.inf, -np.inf, -0.0]]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("layout", "backend", "dtype"),
    [
        (name, ("fp16", "mlu370")[n % 2], (np.float32, np.float64)[n // 2 % 2])
        for n, name in enumerate(LAYOUTS)
    ],
)
def test_layout_and_dtype_of_the_data(layout, backend, dtype):
    """Any real dtype and layout in, binary32 or binary64 out: the bits of plain binary64 data."""
    x = LAYOUTS[layout]
    plain = np.ascontiguousarray(x, np.float64)
    lifted = sciprec.lift(affine, backend)
    found, expected = np.zeros(x.shape, dtype), np.zeros(x.shape)
    whole = lifted(plain, 0.3, expected)
    assert_same(whole, expected)
    assert_same((lifted(x, 0.3, found), found), (whole, expected))
    assert bits(sciprec.quantize(x, backend)) == bits(sciprec.quantize(plain, backend))


def scalars(a, b):
    return a / 3 + b


def test_scalars_and_tuples():
    """NumPy and Python scalars of any kind; nested tuples in and out; arrays of no dimension."""
    lifted = sciprec.lift(scalars, "bf16")
    expected = lifted(2.0, 1.0)
    for a, b in ((2, True), (np.int8(2), np.bool_(True)), (np.float32(2), np.float64(1)), (2, 1)):
        assert lifted(a, b) == expected
    scaled, (first, count) = sciprec.lift(constructs.of_tuples, "bf16")((0.1, (0.7, 3)))
    assert (first, count) == (sciprec.quantize(0.1, "bf16"), 3)
    assert scaled == sciprec.quantize(scaled, "bf16")
    times = sciprec.lift(arrays.with_a_number, "bf16")
    assert bits(times(np.array(0.1), 1.0)) == bits(times(np.array([0.1]), 1.0)[0])
