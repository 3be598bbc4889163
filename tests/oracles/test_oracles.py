"""The oracle against parties that know nothing of it: the processor, ml_dtypes and MPFR."""

import math
import operator
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace

import gmpy2
import ml_dtypes
import numpy as np
import pytest

from tests.oracles import derived, exact, functions


@dataclass(frozen=True)
class Shape:
    """A number format of the tests' own."""

    significand_bits: int
    emin: int
    emax: int
    subnormals: bool = True
    overflow: str = "infinity"
    largest: float = 0.0

    @property
    def max_finite(self) -> float:
        return self.largest or math.ldexp(2.0 - 2.0 ** (1 - self.significand_bits), self.emax)

    @property
    def min_normal(self) -> float:
        return math.ldexp(1.0, self.emin)


@dataclass(frozen=True)
class Arithmetic:
    """A format and a rounding of the tests' own."""

    format: Shape
    rounding: str = "rn"
    aligned: bool = False


BINARY64 = Arithmetic(Shape(53, -1022, 1023))
BINARY32 = Arithmetic(Shape(24, -126, 127))
BINARY16 = Arithmetic(Shape(11, -14, 15))
MLU370 = Arithmetic(Shape(21, -126, 127, subnormals=False), "rz")
E4M3FN = Arithmetic(Shape(4, -6, 8, overflow="nan", largest=448.0))
SMALL = {
    ml_dtypes.float8_e4m3fn: E4M3FN,
    ml_dtypes.float8_e5m2: Arithmetic(Shape(3, -14, 15)),
}
PAIRS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


def same(a: float, b: float) -> bool:
    """Equal bits, any NaN equal to any other."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1.0, a) == math.copysign(1.0, b)


def assert_same(found: list, expected, operands) -> None:
    """All elements equal bit for bit; the first that differ are shown with their operands."""
    pairs = zip(found, expected, operands, strict=True)
    wrong = [(x, f, float(e)) for f, e, x in pairs if not same(f, float(e))]
    assert not wrong, f"{len(wrong)} differ; (operands, found, expected): {wrong[:5]}"


def every(dtype, bits: int) -> np.ndarray:
    """Every number of a dtype of 8 or 16 bits, as binary64."""
    words = np.arange(2**bits, dtype=np.uint16).astype(f"u{bits // 8}")
    with np.errstate(invalid="ignore"):
        return words.view(dtype).astype(np.float64)


def random_numbers(dtype, size: int, seed: int = 1) -> np.ndarray:
    """Random bit patterns: every exponent, subnormals, infinities and NaN among them."""
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    words = np.random.default_rng(seed).integers(0, 2 ** (8 * unsigned.itemsize), size, unsigned)
    return words.view(dtype)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("dtype", SMALL, ids=lambda d: d.__name__)
def test_pairs_of_8_bits_equal_those_of_ml_dtypes(dtype, name):
    """Every number beside every third one."""
    numbers = every(dtype, 8)
    a, b = (x.ravel() for x in np.meshgrid(numbers, numbers[::3]))
    with np.errstate(all="ignore"):
        expected = PAIRS[name](a.astype(dtype), b.astype(dtype)).astype(np.float64)
    operation, arithmetic = getattr(exact, name), SMALL[dtype]
    operands = list(zip(a.tolist(), b.tolist(), strict=True))
    assert_same([operation(x, y, arithmetic) for x, y in operands], expected, operands)


@pytest.mark.parametrize(("dtype", "arithmetic"), [(np.float32, BINARY32), (np.float64, BINARY64)])
@pytest.mark.parametrize("name", [*PAIRS, "sqrt"])
def test_operations_equal_the_processor(dtype, arithmetic, name):
    a = random_numbers(dtype, 4000, 3)
    b = random_numbers(dtype, 4000, 4)
    near = np.random.default_rng(5).standard_normal((2, 4000)).astype(dtype)
    a, b = np.concatenate([a, near[0]]), np.concatenate([b, near[1]])
    columns = (a,) if name == "sqrt" else (a, b)
    with np.errstate(all="ignore"):
        expected = PAIRS.get(name, np.sqrt)(*columns).astype(np.float64)
        operands = list(zip(*(c.astype(np.float64).tolist() for c in columns), strict=True))
    found = [getattr(exact, name)(*x, arithmetic) for x in operands]
    assert_same(found, expected, operands)


DIRECTIONS = {
    "rn": gmpy2.RoundToNearest,
    "rz": gmpy2.RoundToZero,
    "ru": gmpy2.RoundUp,
    "rd": gmpy2.RoundDown,
}
MPFR = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "fma": gmpy2.fma,
    "sqrt": gmpy2.sqrt,
}


@pytest.mark.parametrize("rounding", DIRECTIONS)
@pytest.mark.parametrize("p", [2, 3, 11, 24, 53])
def test_operations_equal_mpfr(p, rounding):
    """MPFR's exponents count from a significand in [1/2, 1), hence + 1."""
    rng = np.random.default_rng(p)
    emin, emax = -14, 15
    arithmetic = Arithmetic(Shape(p, emin, emax), rounding)
    context = gmpy2.context(
        precision=p,
        emin=emin - p + 2,
        emax=emax + 1,
        subnormalize=True,
        round=DIRECTIONS[rounding],
    )
    raw = rng.standard_normal((300, 3)) * 2.0 ** rng.integers(-30, 18, (300, 3))
    for row in raw.tolist():
        row = [exact.round_exact(x, arithmetic) for x in row]
        for name, function in MPFR.items():
            operands = row[: {"fma": 3, "sqrt": 1}.get(name, 2)]
            with gmpy2.context(context):
                expected = float(function(*(gmpy2.mpfr(x) for x in operands)))
            found = getattr(exact, name)(*operands, arithmetic)
            assert same(found, expected), (name, operands, found, expected)


@pytest.mark.parametrize("rounding", ["rn", "rz", "ru", "rd", "ro"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_rounding_by_its_definition(rounding, sign):
    """Between two neighbours of a toy format, each at its quarter points."""
    arithmetic = Arithmetic(Shape(3, -2, 2), rounding)
    grid = sorted({Fraction(m, 16) * 2**s for m in range(8) for s in range(5)})
    for low, high in zip(grid, grid[1:], strict=False):
        for quarter in range(1, 4):
            x = sign * (low + (high - low) * quarter / 4)
            kept = low / (high - low)
            upper = {
                "rn": quarter == 3 or (quarter == 2 and kept % 2 == 1),
                "rz": False,
                "ru": sign > 0,
                "rd": sign < 0,
                "ro": kept % 2 == 0,
            }[rounding]
            expected = sign * (high if upper else low)
            assert exact.round_exact(x, arithmetic) == expected, (x, low, high)


@pytest.mark.parametrize("overflow", ["infinity", "saturate", "nan"])
@pytest.mark.parametrize("rounding", ["rn", "rz", "ru", "rd", "ro", *exact.AT_RANDOM])
def test_overflow_rules(overflow, rounding):
    arithmetic = Arithmetic(Shape(3, -2, 2, overflow=overflow), rounding)
    beyond = {"infinity": math.inf, "saturate": 7.0, "nan": math.nan}[overflow]
    up = 7.0 if rounding in ("rz", "rd", "ro") else beyond
    down = -7.0 if rounding in ("rz", "ru", "ro") else -beyond
    assert same(exact.round_exact(8, arithmetic), up)
    assert same(exact.round_exact(-8, arithmetic), down)
    infinity = math.nan if overflow == "nan" else math.inf
    assert same(exact.round_exact(math.inf, arithmetic), infinity)
    assert same(exact.div(1.0, 0.0, arithmetic), infinity)
    assert same(exact.round_exact(7, arithmetic), 7.0)


def test_the_tie_before_overflow_stays_finite_in_e4m3fn():
    assert exact.round_exact(464, E4M3FN) == 448.0
    assert math.isnan(exact.round_exact(Fraction(46400001, 100000), E4M3FN))


def test_subnormals_are_flushed_after_rounding():
    tiny = 2.0**-126
    assert exact.round_exact(tiny * (1 - 2.0**-22), MLU370) == 0.0
    nearest = replace(MLU370, rounding="rn")
    assert exact.round_exact(tiny * (1 - 2.0**-22), nearest) == tiny
    assert same(exact.mul(-tiny, 0.5, MLU370), -0.0)
    assert same(exact.add(-tiny / 2, 0.0, MLU370), 0.0)
    assert same(exact.sqrt(-tiny / 2, MLU370), -0.0)


def test_sign_of_an_exact_zero_sum():
    for rounding in ("rn", "rz", "ru", "rd", "ro", *exact.AT_RANDOM):
        arithmetic = Arithmetic(BINARY16.format, rounding)
        zero = -0.0 if rounding == "rd" else 0.0
        assert same(exact.add(1.5, -1.5, arithmetic), zero)
        assert same(exact.add(0.0, -0.0, arithmetic), zero)
        assert same(exact.sub(0.0, 0.0, arithmetic), zero)
        assert same(exact.fma(1.5, 2.0, -3.0, arithmetic), zero)
        assert same(exact.add(-0.0, -0.0, arithmetic), -0.0)


def test_stochastic_rounding_goes_up_as_often_as_its_fraction():
    arithmetic = Arithmetic(Shape(3, -2, 2), "sr")
    x = Fraction(5) + Fraction(1, 2**20)  # between 5 and 6
    threshold = 2**52 - 2**32
    assert exact.round_exact(x, arithmetic, threshold - 1) == 5.0
    assert exact.round_exact(x, arithmetic, threshold) == 6.0
    assert exact.round_exact(-x, arithmetic, threshold) == -6.0
    assert exact.round_exact(5, arithmetic, 2**52 - 1) == 5.0
    even = Arithmetic(Shape(3, -2, 2), "random")
    assert exact.round_exact(x, even, 2**51 - 1) == 5.0
    assert exact.round_exact(x, even, 2**51) == 6.0
    assert exact.round_exact(5, even, 2**52 - 1) == 5.0
    few = SimpleNamespace(format=arithmetic.format, rounding="sr", random_bits=3)
    x = Fraction(5) + Fraction(3, 16)  # one eighth and a half
    assert exact.round_exact(x, few, 7 * 2**49 - 1) == 5.0
    assert exact.round_exact(x, few, 7 * 2**49) == 6.0


def test_additions_without_guard_bits():
    aligned = replace(MLU370, aligned=True)
    ulp = 2.0**-20
    assert exact.sub(1.0, ulp / 2 * 1.5, MLU370) == 1.0 - ulp
    assert exact.sub(1.0, ulp / 2 * 1.5, aligned) == 1.0
    assert exact.sub(2.0, 2.0 - ulp, aligned) == 2 * ulp
    assert exact.add(0.0, 3 * ulp, aligned) == 3 * ulp


def test_integers():
    assert exact.from_int(16777217, BINARY32) == 16777216.0
    assert exact.from_int(16777219, BINARY32) == 16777220.0
    assert exact.from_int(-(2**63), BINARY32) == -(2.0**63)
    assert exact.to_int(-2.75, BINARY32) == -2
    assert exact.to_int(2.0**60, BINARY32) == 2**60


def test_floor_division_and_remainder_equal_pythons():
    rng = np.random.default_rng(6)
    for a, b in (rng.integers(-4000, 4000, (3000, 2)) / 8.0).tolist():
        if b != 0.0:
            assert same(derived.floordiv(a, b, BINARY64), a // b), (a, b)
            assert same(derived.mod(a, b, BINARY64), a % b), (a, b)
            assert same(derived.fmod(a, b, BINARY64), math.fmod(a, b)), (a, b)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tanh", "erf", "expm1", "atan"])
def test_elementary_functions_are_near_the_mathematical_library(name):
    for x in np.random.default_rng(7).uniform(0.01, 5.0, 200).tolist():
        value = functions.elementary(name, (x,), BINARY64)
        assert abs(value - getattr(math, name)(x)) <= 2 * math.ulp(value)
        low, high = functions.elementary_bounds(name, (x,), BINARY32)
        assert low <= functions.elementary(name, (x,), BINARY32) <= high


def test_elementary_functions_at_special_values():
    for x, expected in [(-math.inf, 0.0), (math.inf, math.inf), (0.0, 1.0), (1e9, math.inf)]:
        assert functions.elementary("exp", (x,), BINARY32) == expected
    truncated = replace(BINARY32, rounding="rz")
    assert functions.elementary("exp", (1e9,), truncated) == BINARY32.format.max_finite
    assert functions.elementary("log10", (1000.0,), truncated) == 3.0
    assert functions.elementary("pow", (3.0, 2.0), truncated) == 9.0
    assert same(functions.elementary("sin", (-0.0,), BINARY32), -0.0)
    assert math.isnan(functions.elementary("log", (-1.0,), BINARY32))
    assert functions.elementary("log", (0.0,), BINARY32) == -math.inf


def test_variates_of_integers():
    assert functions.from_bits("uniform_from_bits", 0, BINARY64) == 2.0**-33
    assert functions.from_bits("normal_from_bits", 2**31, BINARY64) == pytest.approx(
        2.0**-33 * math.sqrt(2 * math.pi), rel=1e-15
    )
    tail = functions.from_bits("normal_from_bits", 0, BINARY64)
    assert math.erfc(-tail / math.sqrt(2)) / 2 == pytest.approx(2.0**-33, rel=1e-13)
    assert functions.from_bits("normal_from_bits", 2**32 - 1, BINARY64) == -tail
    u = 123456789
    assert functions.from_bits("exponential_from_bits", u, BINARY64) == pytest.approx(
        -math.log1p(-(u + 0.5) / 2**32), rel=1e-15
    )
