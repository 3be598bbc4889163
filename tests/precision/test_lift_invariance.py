"""What must not matter to a lifted kernel: path, threads, layout, dtype of the data, scale."""

import math

import numba
import numpy as np
import pytest
from numba import njit, prange

import sciprec
from sciprec.precision import resolve_backend
from tests.oracles.twin import run_twin
from tests.oracles.uncompiled import run_random
from tests.precision.test_lift_contract import bits, has_mode

PATHS = ("mlu370-noise", "float:p=16,emin=-60,emax=60,round=ru", "float:p=20,emin=-60,emax=60")
"""Random bits, one side, to nearest; in others operations are exact on both paths."""
NOISE = (1e-7, 1e-5)
U = 2.0**-20  # relative error of one truncation to mlu370's 21 bits is below 2 * 2^-21


def mixture(x, out):
    """Stencil, polynomial, quotient, root, integer conversion, reductions."""
    for i in range(1, x.size - 1):
        lap = x[i - 1] - 2 * x[i] + x[i + 1]
        y = ((0.3 * x[i] - 1.7) * x[i] + 0.1) / (x[i + 1] + i) + math.sqrt(abs(lap))
        out[i] = y - x[i - 1] * 1e-3 + i // 3 * 0.7
    out[0], out[-1] = np.sum(x), x[1:] @ x[:-1]


def functions(x, out):
    for i in range(x.size):
        out[i] = math.exp(x[i] * 0.1) - math.log(abs(x[i]) + 0.5) + math.tanh(x[i]) * math.sin(x[i])


@has_mode
@pytest.mark.parametrize(
    ("backend", "kernel"), [*((b, mixture) for b in PATHS), (PATHS[1], functions)],
    ids=lambda value: getattr(value, "__name__", value),
)  # fmt: skip
def test_processor_mode_equals_software(backend, kernel):
    """The same bits with the processor's rounding mode and without it, over 80 binades."""
    rng = np.random.default_rng(11)
    width = 20 if kernel is mixture else 3
    x = rng.choice([-1.0, 1.0], 300) * np.exp2(rng.uniform(-width, width, 300))
    outs = []
    for path in ("auto", "software"):
        lifted = sciprec.lift(kernel, backend, path=path, seed=5)
        assert lifted.uses_processor_mode == (path == "auto")
        out = np.zeros(x.size)
        lifted(x, out)
        outs.append(bits(out))
    assert outs[0] == outs[1]


# ---- random bits --------------------------------------------------------------------------------


def thirds(x, out):
    for i in range(x.size):
        out[i] = x[i] / 3


def parallel_thirds(x, out):
    total = 0.0
    for i in prange(x.size):
        out[i] = x[i] / 3 + 0.1
        total += x[i] / 7
    return total


def accumulate_increment(start, increment, n):
    for _ in range(n):
        start += increment
    return start


def comprehended(x):
    return np.array([v / 3 for v in x])


def ran(kernel, backend, seed, x) -> list[int]:
    out = np.zeros(x.size)
    sciprec.lift(kernel, backend, seed=seed)(x, out)
    return bits(out)


@pytest.mark.parametrize("backend", ["float:p=11,emin=-14,emax=15,round=sr", "mlu370-noise"])
def test_random_bits_belong_to_the_seed(backend):
    x = np.random.default_rng(12).uniform(1, 2, 64)
    assert ran(thirds, backend, 1, x) == ran(thirds, backend, 1, x)
    assert ran(thirds, backend, 1, x) != ran(thirds, backend, 2, x)
    lifted, outs = sciprec.lift(thirds, backend, seed=1), [np.zeros(64), np.zeros(64)]
    for out in outs:
        lifted(x, out)
    assert bits(outs[0]) != bits(outs[1]), "the second call draws other bits"


def test_combined_chunks_draw_their_own_bits():
    """The uncompiled run refuses operations that draw what others drew."""
    lifted = sciprec.lift(parallel_thirds, "float:p=11,emin=-14,emax=15,round=sr", seed=1)
    x, out, expected = np.linspace(1, 2, 64), np.zeros(64), np.zeros(64)
    total = lifted(x, out)
    assert run_random(lifted, (x, expected)) == total
    assert bits(out) == bits(expected)


def test_stochastic_rounding_is_unbiased():
    """The mean of n roundings of one value is within 4 standard errors of it."""
    n, spec = 20000, "float:p=8,emin=-126,emax=127,round=sr"
    x, out = np.full(n, 1.0), np.zeros(n)
    sciprec.lift(thirds, spec, seed=3)(x, out)
    spacing = 2.0**-9
    fraction = (1 / 3) / spacing % 1
    deviation = spacing * math.sqrt(fraction * (1 - fraction) / n)
    assert len(set(out.tolist())) == 2
    assert abs(out.mean() - 1 / 3) < 4 * deviation
    drawn = sciprec.lift(comprehended, spec, seed=3)(x[:200])
    assert len(set(drawn.tolist())) == 2, "each element of a comprehension draws its own bits"


def test_small_increments_count_in_stochastic_rounding():
    """1 + 1000 * 2^-12 in 8 bits: to nearest nothing is added; stochastically about 0.24 is."""
    n, increment = 1000, 2.0**-12
    nearest = sciprec.lift(accumulate_increment, "bf16")(1.0, increment, n)
    random = sciprec.lift(accumulate_increment, "float:p=8,emin=-126,emax=127,round=sr", seed=4)
    spread = 2.0**-7 * math.sqrt(n * increment / 2.0**-7)  # of the sum of n Bernoulli draws
    assert nearest == 1.0
    assert abs(random(1.0, increment, n) - 1 - n * increment) < 4 * spread


def test_noise_stays_within_its_interval():
    """Every stored result of exact operations is moved by 1e-7..1e-5 of itself, then truncated."""
    x = sciprec.quantize(np.random.default_rng(13).uniform(1, 2, 5000), "mlu370")
    out = np.zeros(x.size)
    sciprec.lift(copied, "mlu370-noise", seed=6)(x, out)
    moved = out / x - 1
    assert NOISE[0] - U <= moved.min() and moved.max() <= NOISE[1]
    assert moved.max() > 0.9 * NOISE[1] and len(set(moved.tolist())) > 5


def copied(x, out):
    for i in range(x.size):
        out[i] = x[i] + 0.0


# ---- prange -------------------------------------------------------------------------------------


def sections(x, n, out):
    """Steps, empty ranges, private variables, nested loops, a call into another parallel kernel."""
    for i in prange(1, n, 3):
        out[i] += x[i] * 0.1
    for i in prange(n - 1, 0, -4):
        out[i] += 0.3
    for i in prange(5, 2):
        out[i] = 9.0
    for i in prange(n):
        private = 0.0
        for j in range(3):
            for _ in prange(2):
                private += x[i] / (j + 3)
        out[i] -= private
    for i in prange(n):
        private = 1.0
        private *= x[i]
        out[i] += private
    return parallel_thirds(x, x)


def sums_of_rows(rows, total):
    product = np.ones(total.size)
    for i in prange(rows.shape[0]):
        total += rows[i] * 0.1
        total -= rows[i, 0]
        product *= rows[i]
    return product


def count_and_extremes(x):
    positive, low, high = 0, x[0], x[0]
    for i in prange(x.size):
        if x[i] > 0:
            positive += 1
        low = min(low, x[i])
        high = max(high, x[i])
    return positive, low, high


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


STOCHASTIC = "float:p=11,emin=-14,emax=15,round=sr"


def test_threads_change_no_bit(one_and_two_threads):
    """prange on one thread and on two: float sums, private variables and random bits included."""
    x, results = np.random.default_rng(14).uniform(-2, 2, 203), []
    for _ in one_and_two_threads:
        values, out = x.copy(), np.zeros(x.size)
        total = sciprec.lift(sections, STOCHASTIC, seed=1)(values, x.size, out)
        results.append((bits(total), bits(values), bits(out)))
        assert sciprec.lift(count_and_extremes, STOCHASTIC, seed=1)(x)[0] == np.sum(x > 0)
    assert results[0] == results[1]


def test_threads_change_no_bit_of_arrays_that_are_added_up(one_and_two_threads):
    rows, results = np.random.default_rng(15).uniform(0.9, 1.1, (203, 3)), []
    for _ in one_and_two_threads:
        total = np.full(3, 0.3)
        product = sciprec.lift(sums_of_rows, STOCHASTIC, seed=1)(rows, total)
        results.append((bits(product), bits(total)))
    assert results[0] == results[1] and 0.3 not in total


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 130])
def test_every_iteration_of_prange_runs_once(n):
    out = np.zeros(n)
    sciprec.lift(count_visits, "mlu370")(out)
    assert out.tolist() == [1.0] * n


def count_visits(out):
    for i in prange(out.size):
        out[i] += 1.0


THREADS, OPTIONS = True, {"parallel": True}


@njit
def in_turn(x, out):
    """Iterations that need the one before."""
    s, k = 0.0, 0
    for i in prange(x.size):
        s += x[i] * 0.7
        out[k] = s
        k += 1
    return s


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
    """Below @njit without parallel=True: its own bits, and those of the loop in order."""
    x, here, there = np.random.default_rng(16).uniform(-2, 2, 203), np.empty(203), np.empty(203)
    assert sciprec.lift(in_turn)(x, here) == in_turn(x, there) and bits(here) == bits(there)
    x = sciprec.quantize(x, "mlu370")
    total = run_twin(in_turn.py_func, resolve_backend("mlu370"), (x, there))
    assert sciprec.lift(in_turn, "mlu370")(x, here) == total and bits(here) == bits(there)
    sciprec.lift(without_threads, "mlu370")
    for kernel in (with_threads, with_options):
        with pytest.raises(sciprec.LiftError, match="'s', of one iteration of prange"):
            sciprec.lift(kernel, "mlu370")


# ---- data ---------------------------------------------------------------------------------------


def affine(x, factor, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] * factor + 0.1


def whole(x, factor):
    return x * factor + 0.1


BASE = np.arange(12).reshape(3, 4)
LAYOUTS = {
    "float64": BASE * 0.37, "float32": (BASE * 0.37).astype(np.float32), "int64": BASE,
    "int32": BASE.astype(np.int32), "uint8": BASE.astype(np.uint8), "bool": BASE % 3 == 0,
    "fortran": np.asfortranarray(BASE * 0.37), "transposed": (BASE.reshape(4, 3) * 0.37).T,
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
    lifted(plain, 0.3, expected)
    lifted(x, 0.3, found)
    assert bits(found) == bits(expected)
    assert bits(sciprec.lift(whole, backend)(x, 0.3)) == bits(expected)
    assert bits(sciprec.quantize(x, backend)) == bits(sciprec.quantize(plain, backend))


def scalars(a, b):
    return a / 3 + b


def pair(values):
    first, (second, count) = values
    return second * 0.1, (first, count)


def test_scalars_and_tuples():
    """NumPy and Python scalars of any kind; nested tuples in and out; arrays of no dimension."""
    lifted = sciprec.lift(scalars, "bf16")
    expected = lifted(2.0, 1.0)
    for a, b in ((2, True), (np.int8(2), np.bool_(True)), (np.float32(2), np.float64(1)), (2, 1)):
        assert lifted(a, b) == expected
    scaled, (first, count) = sciprec.lift(pair, "bf16")((0.1, (0.7, 3)))
    assert (first, count) == (sciprec.quantize(0.1, "bf16"), 3)
    assert scaled == sciprec.quantize(scaled, "bf16")
    point = sciprec.lift(whole, "bf16")(np.array(0.1), 1.0)
    assert bits(point) == bits(sciprec.lift(whole, "bf16")(np.array([0.1]), 1.0)[0])


def head_times(values):
    array, factor = values
    return array[0] * factor


def given_back(values):
    return values


def test_arrays_in_tuples_keep_their_references():
    """A tuple of arrays and numbers is not released once too often (which corrupts the heap)."""
    array = np.full(8, 0.1)
    for kernel in (head_times, given_back):
        lifted = sciprec.lift(kernel, "fp16")
        for _ in range(50):
            lifted((array, 0.3))
    assert array.tolist() == [0.1] * 8
    out, factor = sciprec.lift(given_back, "fp16")((array, 0.3))
    assert bits(out) == bits(sciprec.quantize(array, "fp16"))
    assert factor == sciprec.quantize(0.3, "fp16")


def test_quantize_labelled_and_lazy_data():
    """xarray objects keep dims, coordinates and attributes; dask arrays stay lazy."""
    xr = pytest.importorskip("xarray")
    dask = pytest.importorskip("dask.array")
    data = np.random.default_rng(15).uniform(-3, 3, (4, 6))
    coords = {"x": np.arange(6) * 0.1}
    array = xr.DataArray(data, dims=("y", "x"), coords=coords, attrs={"units": "m"})
    expected = bits(sciprec.quantize(data, "bf16"))
    rounded = sciprec.quantize(array, "bf16")
    assert bits(rounded.values) == expected and rounded.attrs == array.attrs
    assert rounded.x.values.tolist() == array.x.values.tolist()
    lazy = sciprec.quantize(array.chunk({"x": 2}), "bf16")
    assert isinstance(lazy.data, dask.Array) and bits(lazy.values) == expected
    dataset = sciprec.quantize(xr.Dataset({"a": array, "n": ("y", np.arange(4))}), "bf16")
    assert bits(dataset.a.values) == expected and dataset.n.dtype.kind == "i"


# ---- scale --------------------------------------------------------------------------------------


def linear_step(u, out):
    for i in range(1, u.size - 1):
        out[i] = u[i] - 0.3 * (u[i] - u[i - 1]) + (u[i + 1] - 2 * u[i] + u[i - 1]) / 7
    out[0], out[-1] = np.sum(u) / 3, np.max(u)


SCALED = ("fp64", "fp32", "fp16", "bf16", "tf32", "mlu370", "mlu370-noguard")


@pytest.mark.parametrize("backend", SCALED)
def test_scaling_by_a_power_of_two_scales_every_bit(backend):
    u = np.random.default_rng(16).uniform(0.5, 2.0, 100)
    lifted, outs = sciprec.lift(linear_step, backend), []
    for scale in (1.0, 2.0**3):
        out = np.zeros(u.size)
        lifted(u * scale, out)
        outs.append(bits(out / scale))
    assert outs[0] == outs[1]
