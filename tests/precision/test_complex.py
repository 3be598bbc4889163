# ruff: noqa: E701, E704
"""Complex numbers in lifted kernels: every bit against pairs of exact numbers, in binary64 against
Numba and NumPy.
"""

import cmath
import math
import warnings
from copy import deepcopy
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import sciprec
from sciprec.precision import FORMATS, lift
from sciprec.precision.lifting.proof import in_format
from tests.oracles.twin import run_twin
from tests.precision import complex_kernels as kernels
from tests.precision.by_numba import by_numba
from tests.random_kernels.backends import resolved
from tests.random_kernels.values import numbers

FAMILIES = (
    "bf16", "mlu370-noguard", "float:p=53,emin=-1022,emax=1023,round=rd", "float:p=16",
    "roles: binary16, bfloat16, binary32 rz, tf32",
)  # fmt: skip
"""Binary32 and binary64 variables, one side and to nearest; random kernels are drawn in all."""
ARITHMETIC = (kernels.operators, kernels.choices, kernels.roles_named, kernels.tuples_and_calls)
SHAPES = {kernels.choices: (), kernels.roles_named: (), kernels.sized: (5,)}


def complex_numbers(size, fmt, rng, dtype=complex):
    """Numbers whose parts are of two flavours, specials among them."""
    made = np.empty(size, complex)
    made.real, made.imag = numbers(size, fmt, rng), numbers(size, fmt, rng)
    with np.errstate(all="ignore"):
        return made.astype(dtype)


def arguments(kernel, fmt, seed, size=40):
    """What a kernel of `complex_kernels` takes, by the names of its parameters."""
    rng, dtype = np.random.default_rng(seed), np.complex64 if seed % 2 else np.complex128
    kind = float if kernel is kernels.sized else complex
    makers = {
        "z": lambda: complex_numbers(size, fmt, rng, dtype),
        "w": lambda: complex_numbers(size, fmt, rng),
        "x": lambda: numbers(size, fmt, rng),
        "k": lambda: rng.integers(-9, 10, size),
        "n": lambda: 3,
        "out": lambda: np.zeros((size, *SHAPES.get(kernel, (8,))), kind),
    }
    names = kernel.__code__.co_varnames[: kernel.__code__.co_argcount]
    return tuple(makers[name]() for name in names)


def parts_of(value):
    """All numbers of a result, in order, the parts of complex ones in turn."""
    if value is None:
        return np.zeros(0)
    if isinstance(value, tuple):
        return np.concatenate([parts_of(v) for v in value])
    return np.asarray(value).astype(complex).ravel().view(float)


def assert_same(found, expected):
    """The same bits, any NaN equal to any other."""
    found, expected = parts_of(found), parts_of(expected)
    assert found.shape == expected.shape
    same = (found == expected) & (np.signbit(found) == np.signbit(expected))
    wrong = np.flatnonzero(~(same | (np.isnan(found) & np.isnan(expected))))
    first = [(int(i), found[i], expected[i]) for i in wrong[:3]]
    assert not wrong.size, f"{wrong.size} of {found.size} differ: {first}"


def check(kernel, name, seeds=(1, 2, 3), **options):
    """The lifted kernel against its own source on pairs of exact numbers."""
    backend = resolved(name)
    lifted = lift(kernel, backend, **options)
    formats = backend.storage.format, backend.compute.format
    for seed in seeds:
        given = arguments(kernel, formats[seed % 2], seed)
        expected = deepcopy(given)
        found = lifted(*given)
        exact = run_twin(kernel, backend, expected)
        arrays = [[a for a in args if isinstance(a, np.ndarray)] for args in (given, expected)]
        assert_same((found, *arrays[0]), (exact, *arrays[1]))


@pytest.mark.parametrize("kernel", ARITHMETIC, ids=lambda k: k.__name__)
def test_arithmetic(kernel):
    check(kernel, "fp16")


@pytest.mark.parametrize("kernel", [kernels.operators])
def test_arithmetic_toward_one_side(kernel):
    check(kernel, "float:p=24,round=rd")


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_arithmetic_everywhere(name):
    """Of numbers of either width in turn."""
    check(kernels.operators, name, seeds=(1, 3) if FAMILIES.index(name) % 2 else (2, 4))


@pytest.mark.parametrize("kernel", [kernels.sized, kernels.exponentials], ids=lambda k: k.__name__)
def test_functions(kernel):
    check(kernel, "fp16")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (kernels.circular, "mlu370"), (kernels.powers, "float:p=10,emin=-20,emax=20,round=rd"),
        (kernels.exponentials, "mlu370"),
    ],
)  # fmt: skip
def test_functions_everywhere(kernel, name):
    check(kernel, name, seeds=(1, 3) if kernel is kernels.circular else (2, 4))


@pytest.mark.parametrize("kernel", [kernels.reduced, kernels.parallel], ids=lambda k: k.__name__)
def test_arrays(kernel):
    check(kernel, "mlu370", seeds=(1, 3))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [kernels.whole_arrays, kernels.more_arrays, kernels.matrices],
                         ids=lambda k: k.__name__)  # fmt: skip
def test_arrays_in_mixed_roles(kernel):
    """Of numbers of one width each."""
    check(kernel, FAMILIES[-1], seeds=(2, 4) if kernel is kernels.more_arrays else (1, 3))


def exponentials(z, out):
    for i in range(z.size):
        out[i] = cmath.exp(z[i]) - cmath.cosh(z[i])


def test_functions_of_cmath_take_numbers_of_other_roles_as_they_are():
    """What a wide storage held was rounded to the format that computes."""
    backend = resolved("roles: binary32 rz, mlu370 rz, binary32 rz, tf32 rz")
    z = np.float32(np.random.default_rng(3).standard_normal(80)).view(np.complex64).astype(complex)
    found, expected = np.zeros(40, complex), np.zeros(40, complex)
    lift(exponentials, backend)(z, found)
    run_twin(exponentials, backend, (z, expected))
    assert np.array_equal(found, expected)


def promised(z, w, out):
    for i in range(z.size):
        out[i] = z[i] * w[i]


def test_inputs_that_are_trusted_are_taken_as_they_are():
    z, w = (np.array([0.1 + 1 / 3 * 1j]) for _ in range(2))
    rounded, trusted = np.zeros(1, complex), np.zeros(1, complex)
    lift(promised, "float:p=30")(z, w, rounded)
    lift(promised, "float:p=30", trust_inputs=True)(z, w, trusted)
    assert rounded[0] != trusted[0]
    real, imag = Fraction(0.1) ** 2 - Fraction(1 / 3) ** 2, 2 * Fraction(0.1) * Fraction(1 / 3)
    assert abs(Fraction(trusted[0].real) - real) < Fraction(2) ** -32
    assert abs(Fraction(trusted[0].imag) - imag) < Fraction(2) ** -32


def test_a_proof_reads_both_parts():
    backend = resolved("fp16")
    assert in_format(np.array([0.5 + 2j, complex(np.nan, 65504)]), backend)
    assert not in_format(np.array([0.5 + 2j, 0.5 + 0.1j]), backend)
    assert not in_format((np.array([0.1 + 2j], np.complex64),), backend)


# ---- as users write them ---------------------------------------------------------------------


def signal(n, seed=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n) + 1j * rng.normal(size=n), np.exp(-2j * np.pi * np.arange(n // 2) / n)


@pytest.mark.parametrize("name", ["fp16"])
def test_fft(name):
    """Bit for bit, and within the bound of Higham (2002), theorem 24.2, of the exact transform."""
    n, backend = 64, resolved(name)
    z, roots = signal(n)
    found, expected = z.copy(), z.copy()
    lift(kernels.fft, name)(found, roots)
    run_twin(kernels.fft, backend, (expected, roots))
    assert_same(found, expected)
    u = 2.0 * backend.compute.format.unit_roundoff  # of a rounding toward one side, too
    step = u + 4 * u / (1 - 4 * u) * (math.sqrt(2.0) + u)
    bound = (math.log2(n) * step) / (1 - math.log2(n) * step) + u
    exact = np.fft.fft(z)
    assert np.linalg.norm(found - exact) <= bound * np.linalg.norm(exact)
    assert np.linalg.norm(found - exact) > 0.0


def test_fft_in_binary64_is_pythons():
    z, roots = signal(32)
    found, expected = z.copy(), z.copy()
    lift(kernels.fft, "fp64")(found, roots)
    kernels.fft(expected, roots)
    assert_same(found, expected)


def test_mandelbrot():
    """Counts of iterations are those of the arithmetic, and some differ from binary64's."""
    plane = np.linspace(-2.1, 0.6, 12) + 1j * np.linspace(-1.2, 1.2, 11)[:, None]
    counts = {}
    for name in ("fp16", "fp64"):
        counts[name], exact = (np.zeros(plane.shape, np.int64) for _ in range(2))
        lift(kernels.mandelbrot, name)(plane, 30, counts[name])
        if name == "fp16":
            run_twin(kernels.mandelbrot, resolved(name), (plane, 30, exact))
        else:
            kernels.mandelbrot(plane, 30, exact)
        assert np.array_equal(counts[name], exact)
    assert np.any(counts["fp16"] != counts["fp64"])


def test_quaternions():
    rng, name = np.random.default_rng(6), "mlu370"
    axes, angles = rng.normal(size=(9, 3)), rng.uniform(-3.0, 3.0, 9)
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    found, expected = np.zeros((9, 3)), np.zeros((9, 3))
    lift(kernels.rotations, name)(axes, angles, found)
    run_twin(kernels.rotations, resolved(name), (axes, angles, expected))
    assert_same(found, expected)
    roundings = 2 * (4 + 3) + 4  # of a part of two quaternion products, and of what enters them
    most = 4 * roundings * resolved(name).compute.format.unit_roundoff * 2
    assert np.max(np.abs(np.linalg.norm(found, axis=1) - 1.0)) <= most


def test_parts_are_read_and_written():
    backend = resolved("fp16")
    z = complex_numbers(20, backend.storage.format, np.random.default_rng(8))
    x = np.random.default_rng(9).uniform(-2, 2, 20)
    y, total, last = lift(kernels.parts, backend)(z, x)
    real, imag, exact = run_twin(kernels.parts_apart, backend, (z.real.copy(), z.imag.copy(), x))
    assert_same(y, real + 1j * imag)
    assert_same(total, exact)
    assert last == np.float64(np.float16(z[1].imag) * np.float16(0.6)).astype(np.float16)


# ---- beside Numba and NumPy ------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [kernels.operators, kernels.sized], ids=lambda k: k.__name__)
def test_binary64_has_the_bits_of_numba(kernel):
    """Specials too; but for quotients by zero, for which Numba raises an exception."""
    for seed in (0, 2, 4, 6):
        given = arguments(kernel, FORMATS["binary64"], seed)
        for a in given[:-1]:
            a[a == 0] = 1
        expected = deepcopy(given)
        found = lift(kernel, "fp64")(*given)
        exact = by_numba(kernel)(*expected)
        assert_same((found, given[-1]), (exact, expected[-1]))


def quotients(z, w, out):
    for i in range(z.size):
        out[i] = z[i] / w[i]


def test_quotients_by_zero_are_numpys():
    z = np.array([1 + 2j, -1j, 0j, complex(np.nan, 1), complex(np.inf, -1)])
    w, found = np.array([0j, complex(-0.0, 0.0), 0j, 0j, complex(-0.0, -0.0)]), np.zeros(5, complex)
    lift(quotients, "fp64")(z, w, found)
    with np.errstate(all="ignore"):
        assert_same(found, z / w)


@pytest.fixture(scope="module")
def summed():
    return lift(kernels.summed, "fp64")


@pytest.mark.parametrize("size", [1, 3, 4, 63, 64, 65, 200, 1000])
def test_sums_have_numpys_order(size, summed):
    rng = np.random.default_rng(size)
    z = rng.normal(size=size) + 1j * rng.normal(size=size)
    assert summed(z) == np.sum(z)


def test_sums_of_nothing(summed):
    assert summed(np.zeros(0, complex)) == 0.0


CLOSE = dict.fromkeys((np.exp, np.log, np.sqrt, np.sin, np.cos, np.sinh, np.cosh), 4)
CLOSE[np.tanh] = 16
"""Function -> units of the larger part by which ours may differ from NumPy's."""


def every_function(z, out):
    for i in range(z.size):
        out[i, 0], out[i, 1], out[i, 2] = np.exp(z[i]), np.log(z[i]), np.sqrt(z[i])
        out[i, 3], out[i, 4], out[i, 5] = np.sin(z[i]), np.cos(z[i]), np.sinh(z[i])
        out[i, 6], out[i, 7] = np.cosh(z[i]), np.tanh(z[i])


def test_functions_are_close_to_numpys():
    rng = np.random.default_rng(10)
    z = rng.uniform(-3, 3, 200) + 1j * rng.uniform(-3, 3, 200)
    found = np.zeros((z.size, 8), complex)
    lift(every_function, "fp64")(z, found)
    for n, (function, units) in enumerate(CLOSE.items()):
        exact = function(z)
        unit = np.spacing(np.maximum(abs(exact.real), abs(exact.imag)))
        assert np.all(abs(found[:, n] - exact) <= units * unit), function


def test_special_values_are_those_of_c99():
    """Of exp and sqrt: annex G.6 of C99, as NumPy has it, where the formulas keep to it."""
    ends = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf]
    z = np.array([complex(x, y) for x in ends for y in ends])
    found = np.zeros((z.size, 8), complex)
    lift(every_function, "fp64")(z, found)
    with np.errstate(all="ignore"):
        exp, sqrt = np.exp(z), np.sqrt(z)
    ordinary = ~(np.isneginf(z.real) & np.isinf(z.imag))  # +-0, signs unspecified
    same = np.isclose(found[:, 0], exp, rtol=1e-15, equal_nan=True) | ~ordinary
    assert np.all(same | np.isnan(exp)), z[~same]
    assert np.all(found[~ordinary, 0] == 0.0)
    assert np.all(np.isclose(found[:, 2], sqrt, rtol=1e-15, equal_nan=True))


@pytest.mark.parametrize("nan", [np.nan, -np.nan])
def test_signs_of_roots_do_not_come_from_a_nan(nan):
    """sqrt(-inf + NaN i) is NaN + inf i, whatever sign the processor gives a NaN."""
    found = np.zeros((1, 8), complex)
    lift(every_function, "fp64")(np.array([complex(-np.inf, nan)]), found)
    assert np.isnan(found[0, 2].real) and found[0, 2].imag == np.inf


def test_roots_near_the_ends_of_the_range():
    """Both parts of a scaled root are scaled back; Numba leaves one."""
    largest, least = np.finfo(float).max, 5e-324
    z = np.array([largest + 1j * largest, -largest + 1j * 1e308, 1j * least, least + 1j * least])
    found = np.zeros((z.size, 8), complex)
    lift(every_function, "fp64")(z, found)
    exact = np.array([complex(*(float(p) for p in _root(v))) for v in z])
    assert np.all(abs(found[:, 2] - exact) <= 1e-15 * abs(exact))


def _root(z):
    with mpmath.workprec(2200):
        root = mpmath.sqrt(mpmath.mpc(z.real, z.imag))
        return root.real, root.imag


# ---- random rounding -------------------------------------------------------------------------


def one_product(z, w, out):
    for i in range(z.size):
        out[i] = z[i] * w[i]


def test_products_are_rounded_at_random_without_bias():
    """Each part lies between the ends of its steps, and the mean is the exact part."""
    n, p = 20_000, 8
    z, w = np.full(n, 0.8125 + 0.3125j), np.full(n, 0.703125 - 1.1015625j)
    found = np.zeros(n, complex)
    lift(one_product, f"float:p={p},round=sr", seed=4)(z, w, found)
    exact, unit = z[0] * w[0], 2.0 ** (1 - p)  # products below one, sums below two
    for part, true in ((found.real, exact.real), (found.imag, exact.imag)):
        assert len(set(part)) > 1 and np.all(abs(part - true) <= 2 * unit)
        assert abs(np.mean(part) - true) <= 5 * np.std(part) / math.sqrt(n)
    assert abs(np.corrcoef(found.real, found.imag)[0, 1]) < 5 / math.sqrt(n)
    again = np.zeros(n, complex)
    lift(one_product, f"float:p={p},round=sr", seed=4)(z, w, again)
    assert_same(found, again)


def test_noise_is_drawn_for_each_part():
    z, w = np.full(5000, 1 + 1j), np.ones(5000, complex)
    found = np.zeros(5000, complex)
    lift(one_product, "mlu370-noise", seed=2)(z, w, found)
    assert 0.0 < np.std(found.real) and abs(np.corrcoef(found.real, found.imag)[0, 1]) < 0.1


# fmt: off
# ---- what is refused -------------------------------------------------------------------------


def into_real(z, x): x[0] = z[0]
def larger(z, x): return max(z[0], z[1])
def whole_part(z, x): return np.floor(z[0])
def inverse(z, x): return np.arcsin(z[0])
def close_by(z, x): return cmath.isclose(z[0], z[1])
def as_real(z, x): return float(z[0])
def ordered(z, x): return z[0] < z[1]
def of_text(z, x): return complex("1j")
def of_three(z, x): return complex(1.0, 2.0, 3.0)
def by_name(z, x): return complex(real=1.0)


# fmt: on
@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (into_real, "complex64 is stored into an array of float64; .*store z.real"),
        (larger, "max of complex64 is given; .*z.real"),
        (whole_part, "floor of complex64 is given"),
        (inverse, "asin of complex64 is given"),
        (close_by, "cmath.isclose cannot be lifted; write it out"),
        (as_real, "float of complex64 is given"),
        (ordered, "an order of complex64 is given; .*abs"),
        (of_text, "is given unicode_type"),
        (of_three, "complex with 3 operands cannot be lifted; write complex"),
        (by_name, "complex with keywords"),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_what_has_no_meaning_is_refused(kernel, words):
    z, x = np.array([1j, 2.0]), np.ones(2)
    with pytest.raises(sciprec.LiftError, match=words), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lift(kernel, "fp16")(z, x)


# fmt: off
def unit(x): return x[0] * 1j
def made(x): return complex(x[0], 1.0)
def zeros(x): return np.zeros(3, np.complex128)
def constant(x): return x[0] * kernels.UNIT
def root(x): return cmath.sqrt(x[0])
def passed_on(x): return x
# fmt: on


@pytest.mark.parametrize("kernel", [unit, made, zeros, constant, root, passed_on],
                         ids=lambda k: k.__name__)  # fmt: skip
@pytest.mark.parametrize("name", ["fixed16", "mix-fp32-fix16"])
def test_fixed_point_refuses(kernel, name):
    given = np.ones(2) + (1j if kernel is passed_on else 0)
    with pytest.raises(sciprec.LiftError, match="complex.*keep real and imaginary parts in sep"):
        lift(kernel, name)(given)
