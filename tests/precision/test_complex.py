# ruff: noqa: E701, E704
"""Complex numbers in lifted kernels: beside Numba, NumPy and theorems, at random, and what is
refused. Every bit of their kernels is looked at in the corpus.
"""

import cmath
import warnings

import mpmath
import numpy as np
import pytest

import sciprec
from sciprec.precision import lift
from tests.oracles.twin import run_twin
from tests.precision.by_numba import by_numba
from tests.precision.comparison import assert_same
from tests.precision.corpus import complex_numbers as kernels
from tests.random_kernels.backends import resolved


def exponentials(z, out):
    for i in range(z.size):
        out[i] = cmath.exp(z[i]) - cmath.cosh(z[i])


def test_functions_of_cmath_take_numbers_of_other_roles_as_they_are(lifted):
    """A number of a wide storage was rounded to the format that computes."""
    backend = resolved("roles: binary32 rz, mlu370 rz, binary32 rz, tf32 rz")
    z = np.float32(np.random.default_rng(3).standard_normal(80)).view(np.complex64).astype(complex)
    found, expected = np.zeros(40, complex), np.zeros(40, complex)
    lifted(exponentials, backend)(z, found)
    run_twin(exponentials, backend, (z, expected))
    assert np.array_equal(found, expected)


# ---- beside Numba and NumPy ------------------------------------------------------------------


def test_binary64_has_the_bits_of_numba():
    """Specials too; but for quotients by zero, for which Numba raises an exception."""
    drawn = kernels.KERNELS["operators"].make()
    for given in drawn[:-1]:
        given[given == 0] = 1
    found, expected = drawn[-1], np.zeros_like(drawn[-1])
    lift(kernels.operators, "fp64")(*drawn)
    by_numba(kernels.operators)(*drawn[:-1], expected)
    assert_same(found, expected)


def quotients(z, w, out):
    for i in range(z.size):
        out[i] = z[i] / w[i]


def test_quotients_by_zero_are_numpys(lifted):
    z = np.array([1 + 2j, -1j, 0j, complex(np.nan, 1), complex(np.inf, -1)])
    w, found = np.array([0j, complex(-0.0, 0.0), 0j, 0j, complex(-0.0, -0.0)]), np.zeros(5, complex)
    lifted(quotients, "fp64")(z, w, found)
    with np.errstate(all="ignore"):
        assert_same(found, z / w)


CLOSE = dict.fromkeys((np.exp, np.log, np.sqrt, np.sin, np.cos, np.sinh, np.cosh), 4)
CLOSE[np.tanh] = 16
"""Function -> units of the larger part by which ours may differ from NumPy's."""


def every_function(z, out):
    for i in range(z.size):
        out[i, 0], out[i, 1], out[i, 2] = np.exp(z[i]), np.log(z[i]), np.sqrt(z[i])
        out[i, 3], out[i, 4], out[i, 5] = np.sin(z[i]), np.cos(z[i]), np.sinh(z[i])
        out[i, 6], out[i, 7] = np.cosh(z[i]), np.tanh(z[i])


def test_functions_are_close_to_numpys(lifted):
    rng = np.random.default_rng(10)
    z = rng.uniform(-3, 3, 60) + 1j * rng.uniform(-3, 3, 60)
    found = np.zeros((z.size, 8), complex)
    lifted(every_function, "fp64")(z, found)
    for n, (function, units) in enumerate(CLOSE.items()):
        exact = function(z)
        unit = np.spacing(np.maximum(abs(exact.real), abs(exact.imag)))
        assert np.all(abs(found[:, n] - exact) <= units * unit), function


def test_special_values_are_those_of_c99(lifted):
    """Of exp and sqrt: annex G.6 of C99, as NumPy has it, where the formulas keep to it."""
    ends = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf]
    z = np.array([complex(x, y) for x in ends for y in ends])
    found = np.zeros((z.size, 8), complex)
    lifted(every_function, "fp64")(z, found)
    with np.errstate(all="ignore"):
        exp, sqrt = np.exp(z), np.sqrt(z)
    ordinary = ~(np.isneginf(z.real) & np.isinf(z.imag))  # +-0, signs unspecified
    same = np.isclose(found[:, 0], exp, rtol=1e-15, equal_nan=True) | ~ordinary
    assert np.all(same | np.isnan(exp)), z[~same]
    assert np.all(found[~ordinary, 0] == 0.0)
    assert np.all(np.isclose(found[:, 2], sqrt, rtol=1e-15, equal_nan=True))


@pytest.mark.parametrize("nan", [np.nan, -np.nan])
def test_signs_of_roots_do_not_come_from_a_nan(nan, lifted):
    """sqrt(-inf + NaN i) is NaN + inf i, whatever sign the processor gives a NaN."""
    found = np.zeros((1, 8), complex)
    lifted(every_function, "fp64")(np.array([complex(-np.inf, nan)]), found)
    assert np.isnan(found[0, 2].real) and found[0, 2].imag == np.inf


def test_roots_near_the_ends_of_the_range(lifted):
    """Both parts of a scaled root are scaled back; Numba leaves one."""
    largest, least = np.finfo(float).max, 5e-324
    z = np.array([largest + 1j * largest, -largest + 1j * 1e308, 1j * least, least + 1j * least])
    found = np.zeros((z.size, 8), complex)
    lifted(every_function, "fp64")(z, found)
    exact = np.array([complex(*(float(p) for p in _root(v))) for v in z])
    assert np.all(abs(found[:, 2] - exact) <= 1e-15 * abs(exact))


def _root(z):
    with mpmath.workprec(2200):
        root = mpmath.sqrt(mpmath.mpc(z.real, z.imag))
        return root.real, root.imag


# ---- random rounding -------------------------------------------------------------------------


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
def test_fixed_point_refuses(kernel):
    given = np.ones(2) + (1j if kernel is passed_on else 0)
    with pytest.raises(sciprec.LiftError, match="complex.*keep real and imaginary parts in sep"):
        lift(kernel, "mix-fp32-fix16" if kernel is made else "fixed16")(given)
