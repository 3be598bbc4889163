"""Stochastic rounding steps up where the exact result says, and nothing stalls."""

from functools import lru_cache

import numpy as np
import pytest

from sciprec.foundation.errors import InputError
from sciprec.precision import lift, resolve_backend
from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.formats.float_format import FORMATS
from tests.rounding import thresholds

QUICK, SLOW = (5, 9, 51), (20,)


@lru_cache
def compiled_in(spec: str, *others):
    """An arithmetic and its operations, beside formats of operands."""
    arithmetic = resolve_backend(f"{spec},round=sr").compute
    return arithmetic, thresholds.Compiled(arithmetic, others)


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in SLOW)]
)
def test_thresholds_are_those_of_exact_fractions(number):
    """Every operation in formats of several p, by bisection."""
    assert thresholds.trial(7, number, 40) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "name", "row"),
    [
        ("float:p=9", "add", (1.99609375, 2.0**61)),  # just below the last bit of the second word
        ("float:p=11", "add", (2.0**100, -(2.0**-100))),  # what is lost is too small for binary32
        ("float:p=11", "sub", (2.0**-111, 2.0**-136)),  # the least sum that binary32 cannot hold
        ("float:p=8", "mul", (2.0**-80, 3.0 * 2.0**-60)),  # a subnormal's smallest part
        ("float:p=8", "fma", (2.0**-130, 2.0**-130, 1.0)),
        ("float:p=24", "div", (1.0, 3.0)),
        ("float:p=24,emin=-300,emax=300", "sqrt", (2.0,)),
        ("float:p=11,emin=-14,emax=15", "add", (65504.0, 2.0**-24)),  # the top of the range
        ("float:p=11,emin=-14,emax=15,overflow=saturate", "mul", (-65504.0, 1.0009765625)),
        ("float:p=12,subnormals=flush", "mul", (2.0**-126, 1.0 - 2.0**-12)),
        ("float:p=11", "from_integer", (2**62 + 1,)),
        ("float:p=11", "from_binary64", (1.0 + 2.0**-52,)),
        ("float:p=11,random_bits=3", "add", (2.0**100, -(2.0**-100))),
        ("float:p=3,random_bits=32", "mul", (1.25, 1.75)),
        ("float:p=53,random_bits=13", "sqrt", (65536.0 - 2.0**-37,)),  # half a place but a square
        ("fp64", "fma", (-1.674232198728543e299, 126683696.45805016, 1.7976931348623157e308)),
    ],
)
def test_thresholds_that_are_hard(spec, name, row):
    arithmetic, compiled = compiled_in(spec)
    signs = [row] if name == "sqrt" else [row, tuple(-x for x in row)]
    assert thresholds.faults(compiled, arithmetic, name, signs) == []


def test_what_binary64_cannot_hold_of_a_product_or_quotient_is_not_exact():
    fmt = resolve_backend("float:p=42,emin=-126,emax=40").compute.format
    compiled = thresholds.Compiled(Arithmetic(fmt, "random"), (FORMATS["binary64"],))
    rows = [(4.1e-25, 5e-324), (1.5e-39, -(2.0**-1022)), (0.0, 5e-324)]
    assert thresholds.faults(compiled, Arithmetic(fmt, "random"), "mul", rows) == []
    rows = [(5e-324, 1e300), (-(2.0**-1022), 1e40), (0.0, 1e300)]
    assert thresholds.faults(compiled, Arithmetic(fmt, "random"), "div", rows) == []


def counted(base, increment, times, out):
    for _ in range(times):
        if base + increment > base:
            out[0] += 1


@pytest.mark.parametrize(
    ("p", "exponent"), [(11, 13), (11, 16), (8, 18), (14, 18)]
)
def test_small_increments_go_up_as_often_as_they_should(p, exponent):
    """A part of 2^-exponent of a last place, four million times, within 5 sigma."""
    spacing, times = 2.0 ** (9 - p), 4_000_000
    out = np.zeros(1, np.int64)
    lift(counted, f"float:p={p},round=sr")(256.0, spacing * 2.0**-exponent, times, out)
    expected = times * 2.0**-exponent
    assert abs(out[0] - expected) < 5 * expected**0.5


def added(x, y, out):
    for i in range(out.size):
        out[i] = x[i] + y[i]


def test_few_random_bits_go_up_by_their_whole_multiples():
    """With three bits a sixteenth of a last place never goes up, and three of them one in eight."""
    n = 80_000
    for sixteenths, expected in ((1, 0), (3, n / 8), (15, n * 7 / 8)):
        out, y = np.empty(n, np.float32), np.full(n, sixteenths * 2.0**-14, np.float32)
        lift(added, "float:p=11,round=sr,random_bits=3")(np.ones(n, np.float32), y, out)
        assert set(out) <= {1.0, 1.0 + 2.0**-10}
        sigma = (n * 7 / 64) ** 0.5 if expected else 0.1
        assert abs(np.count_nonzero(out > 1) - expected) < 5 * sigma


def test_random_bits_are_a_part_of_the_name():
    few = resolve_backend("bf16,round=sr,random_bits=13")
    assert few.name == "bfloat16,round=sr,random_bits=13" and few.compute.random_bits == 13
    assert resolve_backend(few.name) == few != resolve_backend("bf16,round=sr")
    spec = resolve_backend("float:p=8,round=sr,random_bits=13")
    assert resolve_backend(spec.name) == spec
    assert resolve_backend("float:p=8,random_bits=13,round=sr") == spec


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("float:p=8,random_bits=13", "random_bits=13 is given with round=rn, which draws none; it "
         "is accepted with round=sr"),
        ("float:p=8,round=sr,random_bits=0", "random_bits=0 is no whole number from 1 to 32"),
        ("float:p=8,round=sr,random_bits=33", "random_bits=33 is no whole number from 1 to 32"),
        ("float:p=8,round=sr,random_bits=x", "random_bits='x' is not a whole number"),
        ("float:p=8,round=sr,random_bit=3", "did you mean 'random_bits'"),
        ("bf16,round=rz,random_bits=4", "random_bits=4 is given with round=rz"),
        ("bf16,round=sr,random_bits=", "random_bits= is no whole number from 1 to 32"),
        ("bf16,round=sr,random_bits=few", "random_bits=few is no whole number from 1 to 32"),
    ],
)  # fmt: skip
def test_random_bits_that_are_refused(spec, words):
    with pytest.raises(InputError) as error:
        resolve_backend(spec)
    assert words in str(error.value)


def test_random_bits_of_an_arithmetic_are_checked():
    fmt = resolve_backend("bf16").compute.format
    with pytest.raises(InputError, match="random_bits=1.5 is no whole number from 1 to 32"):
        Arithmetic(fmt, "sr", random_bits=1.5)
    fixed = resolve_backend("fixed16").compute.format
    with pytest.raises(InputError, match="random_bits=4 is given with round=rn"):
        Arithmetic(fixed, random_bits=4)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["float:p=11,emin=-14,emax=15", "float:p=24"])
def test_zeros_and_what_is_no_number_are_as_in_binary64(spec):
    _, compiled = compiled_in(spec)
    special = [0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan]
    x, y = (grid.ravel() for grid in np.meshgrid(special, special))
    operands, full = np.array([x, y, np.ones(x.size)]), thresholds.FULL - 1
    with np.errstate(all="ignore"):
        expected = {"add": x + y, "sub": x - y, "div": x / y, "sqrt": np.sqrt(x), "mul": x * y}
    for name, values in expected.items():
        exactly = np.isin(values, special)  # NaN among others is left out, and 1/1.5
        for draw in (1, full):
            found = compiled(name, operands, np.full(x.size, draw))
            assert np.array_equal(np.isnan(found), np.isnan(values)), name
            assert found[exactly].tobytes() == values[exactly].tobytes(), name
