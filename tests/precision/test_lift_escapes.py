# ruff: noqa: B905, E701, E704
"""No number leaves a lifted kernel, or takes part in it, that the format does not hold."""

import enum
import functools
import math
import operator
from collections import namedtuple

import numpy as np
import pytest
from numpy import add as plus
from numpy import sqrt as root

import sciprec
from tests.oracles.twin import run_twin
from tests.precision.by_numba import by_numba
from tests.precision.test_lift_contract import bits

Point = namedtuple("Point", "x y")
WEIGHTS, FACTOR, PLACE = np.array([0.1, 0.7, 1.3]), 0.1, Point(0.1, 3)
NOT_IN_TWIN: set = set()
KERNELS: dict = {}


class Index(enum.IntEnum):
    SECOND = 1


def values() -> np.ndarray:
    return np.array([1.1, -2.3, 1 / 3, 4.7, 1e-3, 123456.789])


def narrow() -> np.ndarray:
    return values().astype(np.float32)


def close() -> np.ndarray:
    """Numbers that differ in binary64 and not in bfloat16."""
    return np.array([1.0001, 1.0002, 1e-60, 1.0])


def whole() -> np.ndarray:
    return np.array([1, 5, 100003, 7])


def on(*arguments, twin: bool = True):
    """Register a kernel with functions that make its arguments."""

    def register(kernel):
        KERNELS[kernel] = arguments
        if not twin:
            NOT_IN_TWIN.add(kernel)
        return kernel

    return register


def with_default(x, a=0.1): return a
def recursive(x, n): return 0.0 if n == 0 else recursive(x, n - 1) + x[n - 1]
def early(i, x):
    if x > 0: return i
    return x


# fmt: off
@on(values)
def whole_array(x): return x
@on(values)
def view(x): return x[1:], x[::-1], x.real, x.ravel(), x.reshape(2, 3)
@on(values, twin=False)
def moved(x): return x.T, x.flatten(), np.concatenate((x[:2], x[3:])), np.vstack((x, x))
@on(values)
def selected(x): return x[np.array([0, 2])], x[x > 0]
@on(values)
def chosen(x): return np.where(x > 0, x, 0.1), np.copy(x), x.copy()
@on(values, twin=False)
def converted(x): return x.astype(np.float64), x.astype(np.float32), np.zeros_like(x) + x
@on(lambda: Point(0.1, 0.7))
def named_tuple(p): return p
@on(lambda: (0.1, (2, 0.7)))
def nested_tuple(p): return p
@on(values)
def from_module(x): return WEIGHTS
@on(values)
def constants(x): return WEIGHTS[0] + FACTOR, WEIGHTS[1] * WEIGHTS[2], PLACE.x, x[Index.SECOND]
@on(values, values)
def stored(x, out):
    for i in range(x.size): out[i] = x[i]
@on(narrow, values)
def stored_whole(x, out): out[:] = x
@on(values)
def stored_constant(out):
    out[:] = 0.1
    out[0], out[1:3] = 100003, 0.7
@on(values, twin=False)
def filled(out): out.fill(0.1)
@on(whole, lambda: np.zeros(4))
def stored_integers(k, out): out[:] = k
@on(values, twin=False)
def in_place(x):
    x += 0.1
    x *= 1.1
    x[0] /= 3
@on(values)
def swapped(x):
    x[0], x[1] = x[1], x[0]
    x[2:] = x[2:] * 1.0
@on(narrow, narrow)
def iterated(x, y):
    s = 0.0
    for a, b in zip(x, y): s += a * b
    for i, v in enumerate(x): s += v * i
    for v in x.flat: s = s - v * v
    return s
@on(narrow, narrow)
def comprehended(x, y):
    return [a * b for a, b in zip(x, y)][2], [v * v for i, v in enumerate(x) if v > 0][1]
@on(values)
def unpacked(x):
    a, b = x[:2]
    c = d = x[2]
    return a, b, c, d
@on(values)
def spelt(x): return root(abs(x[0])), plus(x[0], x[1]), operator.mul(x[0], x[2]), np.cbrt(x[2])
@on(lambda: 100003, lambda: 0.5)
def promoted(i, x): return float(i), i / 3, i * 1.0, x + i, i // 2, i % 7, math.sqrt(i)
@on(lambda: 100003, lambda: 0.5, twin=False)
def joined(i, x): return i if x > 0 else x, early(i, x), np.where(x > 0, i, x), np.array([i, x])
@on(lambda: 7.3, lambda: -2.1)
def remainders(x, y): return x % y, x // y, math.fmod(x, y), np.fmod(x, y)
@on(lambda: 2, lambda: -1)
def powers(i, j): return math.pow(i, j), i**3, 1.7**2, 2.0**j, i**0.5
@on(lambda: 1.7)
def augmented_power(x):
    x **= 3
    y = np.full(2, x)
    y **= 2
    y[1] **= -1
    n = 3
    n **= 2
    return x, y[0], y[1], n
@on(values)
def constant_expressions(x): return 0.1 + 0.2, 1 / 3, math.sqrt(2.0), 2**0.5, 0.1 * 0.1
@on(close)
def compared(x): return x[0] == x[1], x[0] < x[1], x[0] == 1.0001, (x[0] + 0.0) == x[1]
@on(close, twin=False)
def decided(x): return x.argmax(), np.argmax(x), (x == x[1]).sum(), x.astype(np.int64)[0]
@on(values)
def called(x): return with_default(x), recursive(x, x.size)
@on(values)
def nested(x):
    factor = 0.3
    def inner(a): return a * factor
    return inner(x[0])
@on(values)
def shadowing(x):
    inf, nan = 1.5, 2.5
    return inf, nan, np.inf, math.nan
@on(values)
def guarded(x):
    try: y = x[0] * 0.1
    except Exception: y = 0.5
    return y
# fmt: on


def flattened(result) -> list:
    if isinstance(result, tuple):
        return [x for item in result for x in flattened(item)]
    return [] if result is None else [np.asarray(result)]


def made(kernel) -> list:
    return [make() for make in KERNELS[kernel]]


WIDE = "float:p=30,emin=-126,emax=127"
"""Its variables are of binary64: beside bf16 for every sixth kernel; random kernels run in both."""


@pytest.mark.parametrize(
    ("kernel", "backend"),
    [(k, "bf16") for k in KERNELS] + [(k, WIDE) for k in list(KERNELS)[::6]],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_nothing_escapes_into_a_wider_format(kernel, backend):
    """What is returned or written equals its own rounding, and the kernel's twin."""
    lifted, arguments, others = sciprec.lift(kernel, backend), made(kernel), made(kernel)
    results = flattened(lifted(*arguments))
    for before, after in zip(made(kernel), arguments, strict=True):
        if isinstance(after, np.ndarray):
            results.append(after[after != before])
    for result in (r for r in results if r.dtype.kind == "f"):
        assert bits(result) == bits(sciprec.quantize(result, backend)), result
    if kernel in NOT_IN_TWIN:
        return
    twin = flattened(run_twin(kernel, lifted.backend, tuple(others)))
    for ours, theirs in zip(results, twin, strict=False):
        assert bits(ours) == bits(theirs), (ours, theirs)


# ---- integers stay integers ---------------------------------------------------------------------


# fmt: off
def extremes(k): return np.max(k), np.min(k), k.max(), np.minimum(k[2], 3), np.maximum(k, 6), max(k)
def sums(k): return np.sum(k), k.sum(), np.sum(k > 1), np.cumsum(k), np.prod(k[:2])
def arithmetic(k): return k[2] // 2, k[2] % 7, -k[2], abs(k[1]), np.square(k[2]), np.sign(k[0])
def created(k): return np.full(2, k[2]), np.full(2, 0.5), np.arange(3), np.zeros(2, np.int64)
def floats(k): return k.astype(np.float64) // 2, k.astype(np.float64) ** -1, k / 3, np.mean(k)
def own_copy(k):
    y = k.astype(np.float64)
    y[0] = 0.5
    return y
# fmt: on


@pytest.mark.parametrize("kernel", [extremes, sums, arithmetic, created, floats, own_copy])
def test_integers_are_plain_numbas(kernel):
    """Values and dtypes of integer arithmetic are Numba's, in any backend: no rounding."""
    expected = flattened(by_numba(kernel)(whole()))
    k = whole()
    for backend in ("fp64", "bf16"):
        for ours, plain in zip(flattened(sciprec.lift(kernel, backend)(k)), expected):
            assert ours.dtype.kind == plain.dtype.kind
            if backend == "fp64" or plain.dtype.kind != "f":
                assert ours.tolist() == plain.tolist()
    assert k.tolist() == whole().tolist()


def test_many_ones_are_counted():
    """The sum of 5000 ones is 5000 in bf16 too, where a floating-point sum stops at 256."""
    assert sciprec.lift(counted, "bf16")(np.ones(5000)) == 5000


def counted(x):
    return np.sum(x > 0)


# ---- whose source -------------------------------------------------------------------------------


def doubled(function):
    @functools.wraps(function)
    def wrapper(x):
        return 2.0 * function(x)

    return wrapper


@doubled
def decorated(x):
    return x * 0.25


def doubled_whatever_is_given(function):
    @functools.wraps(function)
    def wrapper(*args, **options):
        result = function(*args, **options)
        result = 2.0 * result
        return result

    return wrapper


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **options):
        before = len(args)
        result = function(*args, **options)
        assert before == len(args)
        return result

    return wrapper


@doubled_whatever_is_given
def decorated_with_options(x):
    return x * 0.25


@timed
@doubled
def decorated_twice(x):
    return x * 0.25


def test_a_decorated_kernel_is_what_python_calls():
    """The wrapper is lifted, not the function that it wraps, unless it gives what that gives."""
    assert decorated(3.0) == sciprec.lift(decorated, "fp16")(3.0) == 1.5
    assert decorated_twice(3.0) == sciprec.lift(decorated_twice, "fp16")(3.0) == 1.5
    with pytest.raises(sciprec.LiftError, match="takes '\\*options'|\\*\\*"):
        sciprec.lift(decorated_with_options, "fp16")


def test_a_source_that_changed_since_the_import_is_refused(tmp_path, monkeypatch):
    """Lifting reads the file: what is there has to be the function in memory."""
    path = tmp_path / "edited_module.py"
    path.write_text("def kernel(x):\n    return x * 2.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    import edited_module

    path.write_text("# a comment\n\ndef other(y):\n    return y * 3.0\n")
    with pytest.raises(sciprec.LiftError, match="no longer that of the function in memory|be read"):
        sciprec.lift(edited_module.kernel, "fp16")
