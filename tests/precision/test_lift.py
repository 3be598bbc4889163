# ruff: noqa: E701, E704
"""Lifting kernels that this project did not write: which source is lifted, what integers are, how
arguments are given, and that fp64 is plain Numba.
"""

import functools
import random
import sys
from dataclasses import replace

import numpy as np
import pytest
from numba import njit

import sciprec
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.operations.operation import OPERATIONS, operation_called
from tests.oracles.exact import round_exact
from tests.precision import foreign_kernels as foreign
from tests.precision.by_numba import by_numba
from tests.precision.comparison import assert_same, numbers_of
from tests.random_kernels.trials import kernel_in

NATIVE = (foreign.newton_root, foreign.n_body, foreign.tridiagonal, foreign.fall)


@pytest.mark.parametrize(
    "kernel", [pytest.param(k, marks=[pytest.mark.slow] * (k is not NATIVE[0])) for k in NATIVE]
)
def test_fp64_equals_plain_numba(kernel):
    """Identity: the same bits as Numba's own compilation (no elementary functions here but sqrt).
    """
    ours, theirs = foreign.EXAMPLES[kernel](), foreign.EXAMPLES[kernel]()
    found, expected = sciprec.lift(kernel, "fp64")(*ours), by_numba(kernel)(*theirs)
    assert_same((found, ours), (expected, theirs))


def test_functions_as_arguments():
    """A right-hand side given as an argument is lifted with the integrator."""
    plain = foreign.heun(foreign.decay, 1.0, 0.0, 0.125, 8)
    assert sciprec.lift(foreign.heun, "fp64")(foreign.decay, 1.0, 0.0, 0.125, 8) == plain
    low = sciprec.lift(foreign.heun, "fp16")(njit(foreign.decay), 1.0, 0.0, 0.125, 8)
    assert low == sciprec.quantize(low, "fp16") and 1e-5 < abs(low - plain) < 1e-2


def test_fp32_keeps_binary32_where_numba_promotes():
    """0.5 * x stays binary32 in a kernel lifted to fp32; plain Numba computes it in binary64."""

    def halve(x, out):
        for i in range(x.size):
            out[i] = 0.1 * x[i] + x[i] / 3

    x = np.float32([0.7, 1.3, 2.9])
    out, native = np.zeros(3), np.zeros(3)
    sciprec.lift(halve, "fp32")(x, out)
    njit(halve)(x, native)
    expected = np.float32(0.1) * x + x / np.float32(3)
    assert_same(out, expected)
    assert not np.array_equal(out, native)


def test_lifted_kernel_is_callable_from_compiled_code():
    lifted = sciprec.lift(foreign.halves, "fp16")

    @njit
    def driver(a):
        return lifted(a, 0, a.size)

    x = np.random.default_rng(3).random(20)
    assert driver(x) == lifted(x, 0, 20)


def test_keyword_and_default_arguments():
    def scale(x, factor=0.1):
        return x * factor - factor

    lifted = sciprec.lift(scale, "mlu370")
    assert lifted(2.0) == lifted(x=2.0, factor=0.1) == lifted(factor=0.1, x=2.0) == lifted(2.0, 0.1)
    assert lifted(2.0, 3.0) == lifted(factor=3.0, x=2.0) == 3.0
    with pytest.raises(sciprec.LiftError, match="called wrongly: .*it takes scale"):
        lifted(2.0, fctor=1.0)


def of_the_type(a):
    kind = np.finfo(a.dtype)
    return kind.eps, kind.resolution, kind.max, kind.tiny


def drawn_format(seed: int) -> str:
    draws = random.Random(seed)
    p = draws.randrange(2, 41)
    low, high = -draws.randrange(p + 2, 400), draws.randrange(p + 2, 400)
    return f"float:p={p},emin={low},emax={high}"


@pytest.mark.parametrize(
    ("name", "rule"),
    [("fp32", "ru"), ("fp16", "rd"), ("float:p=24,emin=-300,emax=300", "ru"),
     (drawn_format(0), "rd")],
)  # fmt: skip
def test_constants_that_the_compiler_knows_are_rounded_in_the_formats_direction(name, rule):
    """LLVM rounds them to nearest while it compiles, if it sees them."""
    backend = resolve_backend(f"{name},round={rule}")
    expected = [round_exact(float(x), backend.storage) for x in of_the_type(np.ones(1))]
    assert_same(sciprec.lift(of_the_type, backend)(np.ones(1)), tuple(expected))


OTHER_NAMES = (
    "{a} += {n}\n    {a}[{i}] = {value}",
    "{a} *= 2.0\n    {a}[{i}:] -= {n}\n    {a}[{i}] = {value}",
    "other = np.asarray({a})\n    other[{i}] = {value}",
    "for row in rows:\n        row[{j}] = {value}",
    "for one in ({a}, {b}):\n        one[{i}] = {value}",
    "pair = ({a}, {b})\n    pair[{j}][{i}] = {value}",
    "{a}[{j}:][{i} - 1] = {value}",
    "rows[{j}][{j}] = {value}",
    "rows.T[{j}, 0] = {value}",
    "one = {a} if {b}[{i}] > 3.0 else {b}\n    one[{i}] = {value}",
)
"""Stores into an argument by another name."""


def by_other_names(seed: int) -> str:
    """The source of a kernel of five such stores, beside an inner function and a comprehension."""
    draws = random.Random(seed)
    lines = ["import numpy as np", "def kernel(x, y, rows):", "    def twice(v):",
             "        return v + v"]  # fmt: skip
    if draws.random() < 0.5:
        lines += ["    listed = [v + 1.0 for v in y]", "    x[0] = listed[2]"]
    for form in draws.sample(OTHER_NAMES, 5):
        a, b = draws.sample("xy", 2)
        value = draws.choice(["twice(3.0)", "twice(x[1])", f"{b}[2]", "7.0"])
        places = {"i": draws.randrange(1, 3), "j": draws.randrange(2), "n": draws.randrange(1, 4)}
        lines.append("    " + form.format(a=a, b=b, value=value, **places))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_random_stores_by_other_names_are_pythons(seed, tmp_path):
    """Small whole numbers, which every arithmetic of these holds."""
    source = by_other_names(seed)
    kernel = kernel_in(source, tmp_path)
    backend = ("fp64", "fp32", "float:p=18")[seed % 3]
    found, expected = ([np.arange(1.0, 5.0), np.arange(2.0, 6.0), np.ones((2, 2))] for _ in "ab")
    kernel(*expected)
    sciprec.lift(kernel, backend)(*found)
    assert_same(found, expected, source)


def test_operations_are_found_by_what_kernels_call(monkeypatch):
    """Also what a plugin brings, or puts in the place of another, after others were looked for."""
    for row in OPERATIONS.values():
        assert all(operation_called(function) is row for function in row.functions)
    assert operation_called(np.sort) is None
    other = replace(OPERATIONS["exp"], toward="")
    monkeypatch.setitem(OPERATIONS, "exp", other)
    assert operation_called(np.exp) is other
    monkeypatch.setitem(OPERATIONS, "kept", replace(other, name="kept", called="np.sort"))
    assert operation_called(np.sort).name == "kept"


def extremes(x, low):
    return np.min(x) if low else x.max()


@pytest.mark.parametrize("low", [True, False])
def test_an_empty_array_has_no_extremes(low):
    """It gave what was in memory behind the array."""
    lifted = sciprec.lift(extremes, "fp32")
    assert lifted(np.array([2.0, 1.0, 3.0]), low) == (1.0 if low else 3.0)
    with pytest.raises(ValueError, match="element of an empty array"):
        lifted(np.zeros(0), low)


# ---- integers stay integers ---------------------------------------------------------------------


# fmt: off
def extremes_of(k): return np.max(k), np.min(k), k.max(), np.minimum(k[2], 3), np.maximum(k, 6)
def sums(k): return np.sum(k), k.sum(), np.sum(k > 1), np.cumsum(k), np.prod(k[:2])
def operators(k): return k[2] // 2, k[2] % 7, -k[2], abs(k[1]), np.square(k[2]), np.sign(k[0])
def created(k): return np.full(2, k[2]), np.full(2, 0.5), np.arange(3), np.zeros(2, np.int64)
def floats(k): return k.astype(np.float64) // 2, k.astype(np.float64) ** -1, k / 3, np.mean(k)
def early(i, x):
    if x > 0: return i
    return x
def joined(i, x):
    one = i if x > 0 else x
    return one, early(i, x), np.where(x > 0, i, x), np.array([i, x])
# fmt: on


def test_integers_that_are_one_type_with_floats_are_rounded():
    found = numbers_of(sciprec.lift(joined, "bf16")(100003, 0.5))
    assert_same(found, sciprec.quantize(found, "bf16"))
    assert found[0] != 100003


def integers(k):
    y = k.astype(np.float64)
    y[0] = 0.5
    return extremes_of(k), sums(k), operators(k), created(k), floats(k), y


def test_integers_are_plain_numbas():
    """Values and kinds of integer arithmetic are Numba's, which are NumPy's, in any backend: no
    rounding.
    """
    k = np.array([1, 5, 100003, 7])
    expected = flattened(integers(k.copy()))
    for ours, plain in zip(flattened(sciprec.lift(integers, "bf16")(k)), expected, strict=True):
        assert ours.dtype.kind == plain.dtype.kind
        if plain.dtype.kind != "f":
            assert ours.tolist() == plain.tolist()
    assert k.tolist() == [1, 5, 100003, 7]


def flattened(result) -> list[np.ndarray]:
    """The numbers and arrays of nested tuples."""
    if isinstance(result, tuple):
        return [x for item in result for x in flattened(item)]
    return [np.asarray(result)]


# ---- whose source -------------------------------------------------------------------------------


def doubled(function):
    @functools.wraps(function)
    def wrapper(x):
        return 2.0 * function(x)

    return wrapper


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


SCALE = 1.0


def by_module_constant(x):
    return x * SCALE


def test_changed_constants_are_seen(monkeypatch, lifted):
    """A new lift takes the present value of module constants and closure variables."""

    def scaled(factor):
        def kernel(x):
            return x * factor

        return kernel

    for scale in (2.0, 8.0):
        assert lifted(scaled(scale), "fp16")(3.0) == 3.0 * scale
        monkeypatch.setattr(sys.modules[__name__], "SCALE", scale)
        assert lifted(by_module_constant, "fp16")(3.0) == 3.0 * scale
