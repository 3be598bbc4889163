"""Random rounding to binary64: results are neighbours of the exact one, exact ones never move, and
the larger one comes as often as it should.
"""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import sciprec
from sciprec.foundation.errors import InputError
from sciprec.precision import lift, resolve_backend
from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.formats.float_format import FORMATS
from tests.precision import test_residuals as residuals
from tests.rounding import thresholds

BINARY64 = FORMATS["binary64"]
LARGEST = BINARY64.max_finite
LANDMARKS = [
    LARGEST, LARGEST / 2, 2.0**1023, 2.0**970, 2.0**969, 3 * 2.0**968, 1.0, 1 + 2.0**-52,
    1 - 2.0**-53, 2.0**-1074, 3 * 2.0**-1074, 2.0**-1022, 2.0**-1022 - 2.0**-1074,
    2.0**-1021 + 2.0**-1073, 2.0**-900, 1.1 * 2.0**-899, 2.0**-538, 1.7 * 2.0**-537, 2.0**511,
    1.3 * 2.0**512, 1.1 * 2.0**-700, 1.2 * 2.0**-960, 1.01 * 2.0**600, 1e-300, 1e300, 1 / 3,
    1.37 * 2.0**-450, 1.77 * 2.0**-1000,
]  # fmt: skip
"""Ends of the range, and of what is scaled to look at what is lost."""
FUNCTIONS = {name: function for name in residuals.NAMES for function in [residuals._BY_NAME[name]]}


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ["sr", "random"])
def test_thresholds_at_landmarks(rounding, count=400):
    """Every operation on landmarks of both signs: quotients that underflow, sums of the largest
    numbers, products and sums that are tiny beside each other.
    """
    arithmetic, rng = Arithmetic(BINARY64, rounding), np.random.default_rng(1)
    compiled = thresholds.Compiled(arithmetic)
    numbers = LANDMARKS + [-x for x in LANDMARKS]
    pairs = list(itertools.product(numbers, numbers))
    for name in ("add", "sub", "mul", "div", "fma"):
        rows = [pairs[n] for n in rng.permutation(len(pairs))[:count]]
        if name == "fma":
            rows = [tuple(row) for row in rng.choice(numbers, (2 * count, 3))]
        assert thresholds.faults(compiled, arithmetic, name, rows) == []
    assert thresholds.faults(compiled, arithmetic, "sqrt", [(x,) for x in LANDMARKS]) == []
    whole = [(sign * (2**k + d),) for k in range(50, 63) for d in (0, 1, 5) for sign in (1, -1)]
    assert thresholds.faults(compiled, arithmetic, "from_integer", whole) == []


def test_what_is_no_number_and_zeros_are_as_in_binary64():
    special = [0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan]
    compiled = thresholds.Compiled(Arithmetic(BINARY64, "sr"))
    x, y, z = (grid.ravel() for grid in np.meshgrid(special, special, special))
    with np.errstate(all="ignore"):
        expected = {"add": x + y, "mul": x * y, "div": x / y, "sqrt": np.sqrt(x), "fma": x * y + z}
    for name, values in expected.items():
        for draw in (1, thresholds.FULL - 1):
            found = compiled(name, np.array([x, y, z]), np.full(x.size, draw))
            kept = np.isin(values, special) if name in ("div", "sqrt") else np.full(x.size, True)
            assert np.array_equal(np.isnan(found), np.isnan(values)), name
            kept &= ~np.isnan(values)
            assert found[kept].tobytes() == values[kept].tobytes(), name


# ---- elementary functions ----------------------------------------------------------------------


def kernel_of(function, arity: int):
    def one(x, y, out):
        for i in range(out.size):
            out[i] = function(x[i])

    def two(x, y, out):
        for i in range(out.size):
            out[i] = function(x[i], y[i])

    return one if arity == 1 else two


def drawn_values(name: str, spec: str, rows, times: int, seed: int = 1) -> np.ndarray:
    """A function at each row of operands, many times."""
    x = np.repeat(np.array(rows, float), times, axis=0)
    out = np.empty(len(x))
    kernel = kernel_of(FUNCTIONS[name], len(rows[0]))
    lift(kernel, spec, seed=seed)(x[:, 0].copy(), x[:, -1].copy(), out)
    return out.reshape(len(rows), times)


def chances(name: str, row, p: int) -> tuple[float, float, float]:
    """Both neighbours of the exact value with p bits, and how far it is between them."""
    with mpmath.workprec(400):
        exact = (residuals.EXACT.get(name) or getattr(mpmath, name))(*map(mpmath.mpf, row))
        exponent = int(mpmath.floor(mpmath.log(abs(exact), 2))) - p + 1
        places = mpmath.ldexp(abs(exact), -exponent)
        kept, sign = int(mpmath.floor(places)), 1 if exact > 0 else -1
        ends = [sign * float(mpmath.ldexp(mpmath.mpf(kept + n), exponent)) for n in (0, 1)]
        return *ends, float(places - kept)


def shortened(x: float) -> float:
    """A number with 24 bits of x."""
    fraction, exponent = math.frexp(x)
    return math.ldexp(round(fraction * 2**24), exponent - 24)


def as_often_as_it_should(name: str, spec: str, count: int, times: int) -> None:
    """Each value is a neighbour of the exact one; ups within 5 sigma of what is expected, of all
    rows together, and of each as far as chance goes.
    """
    p = resolve_backend(spec).compute.format.significand_bits
    rows = residuals.operands(name, count, 3)
    if p < 53:  # operands are rounded, too
        rows = [tuple(map(shortened, row)) for row in rows]
    given = [np.abs([*row, FUNCTIONS[name](*row)]) for row in rows]
    pairs = zip(rows, given, strict=True)
    least, most = (1e-250, 1e280) if p == 53 else (1e-110, 1e110)
    rows = [x for x, sizes in pairs if least < sizes.min() <= sizes.max() < most]
    found, spread, total = drawn_values(name, spec, rows, times), 0.0, 0.0
    squares, cases = 0.0, 0
    for row, values in zip(rows, found, strict=True):
        low, high, fraction = chances(name, row, p)
        if 2.0**-30 < fraction < 1 - 2.0**-30:
            assert set(values) <= {low, high}, (name, row)
            chance = 0.5 if "random" in spec else fraction
            away = np.count_nonzero(values == high) - times * chance
            variance = times * chance * (1 - chance)
            total, spread = total + away, spread + variance
            if variance > 5:
                squares, cases = squares + away**2 / variance, cases + 1
        else:
            assert len(set(values)) <= 2
    assert abs(total) <= 5 * max(spread, 1) ** 0.5, name
    assert squares <= cases + 6 * (2 * max(cases, 1)) ** 0.5, name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["exp", "pow", "sin"])
def test_functions_go_up_as_often_as_they_should(name):
    as_often_as_it_should(name, "fp64,round=sr", 30, 400)


@pytest.mark.parametrize(
    ("name", "row", "value"),
    [("log2", (8.0,), 3.0), ("pow", (3.0, 2.0), 9.0), ("gamma", (6.0,), 120.0)],
)
def test_exact_values_of_functions_never_move(name, row, value):
    found = drawn_values(name, "fp64,round=random", [row], 64)
    assert set(found.ravel()) == {value}


# ---- kernels -----------------------------------------------------------------------------------


def sum_of(x):
    total = 0.0
    for i in range(x.size):
        total += x[i]
    return total


def library_dot(x):
    return np.dot(x, x[::-1].copy())


@pytest.mark.parametrize("kernel", [sum_of, library_dot])
def test_sums_are_right_in_the_mean(kernel):
    """400 streams of 2,000 terms: their mean is the exact sum within 5 standard errors, and no
    stream is farther away than 6 times sqrt(n) of the roundings.
    """
    x = np.random.default_rng(3).uniform(0.1, 1.0, 2000)
    terms = zip(map(Fraction, x.tolist()), map(Fraction, x[::-1].tolist()), strict=True)
    exact = sum(a * b if kernel is library_dot else a for a, b in terms)
    lifted = lift(kernel, "fp64,round=sr", seed=7)
    away = np.array([float(Fraction(float(lifted.stream(n)(x))) - exact) for n in range(400)])
    unit = float(exact) * 2.0**-52
    assert away.std() > 0 and abs(away.mean()) < 5 * away.std() / 20
    assert np.abs(away).max() < 6 * unit * math.sqrt(x.size)
    assert away.tolist() == [
        float(Fraction(float(lifted.stream(n)(x))) - exact) for n in range(400)
    ]


# ---- Monte Carlo arithmetic --------------------------------------------------------------------


def every_operation(x, y, z, out):
    for i in range(out.shape[1]):
        out[0, i] = x + y
        out[1, i] = x - y
        out[2, i] = x * y
        out[3, i] = x / y
        out[4, i] = math.sqrt(x)
        out[5, i] = sciprec.fma(x, y, z)
        out[6, i] = math.exp(x)


GIVEN = (1.1, 0.7, 0.3)


def slopes(x, y, z) -> list[tuple[float, ...]]:
    """Derivatives of each operation along its operands; of functions nothing is asked."""
    return [
        (1.0, 1.0), (1.0, -1.0), (y, x), (1 / y, -x / y**2), (0.5 / math.sqrt(x),), (y, x, 1.0), (),
    ]  # fmt: skip


def exact_results(x, y, z) -> list[mpmath.mpf]:
    x, y, z = map(mpmath.mpf, (x, y, z))
    return [x + y, x - y, x * y, x / y, mpmath.sqrt(x), x * y + z, mpmath.exp(x)]


@pytest.mark.parametrize(
    ("fmt", "mode", "t"),
    [("fp64", "rr", 30), ("fp64", "pb", 30), ("fp32", "mca", 12)],
)
def test_noise_has_the_size_of_its_definition(fmt, mode, t):
    """inexact(x) = x + 2^(e - t + 1) xi, xi uniform in (-1/2, 1/2), 2^e <= |x| < 2^(e + 1): mean
    and variance of 8,000 draws, and their ends.
    """
    n, dtype = 8_000, np.float64 if fmt == "fp64" else np.float32
    given = [float(dtype(x)) for x in GIVEN]
    out = np.empty((7, n), dtype)
    lift(every_operation, f"{fmt},round={mode},virtual_bits={t}", seed=5)(*map(dtype, given), out)
    with mpmath.workprec(200):
        exact = exact_results(*given)
        for row, along, x in zip(out, slopes(*given), exact, strict=True):
            sizes = [abs(s) * 2.0 ** (math.floor(math.log2(v)) - t + 1) for s, v in
                     zip(along, given, strict=False)] if mode != "rr" else []  # fmt: skip
            if mode != "pb":
                sizes.append(2.0 ** (math.floor(math.log2(abs(x))) - t + 1))
            away = np.array([float(mpmath.mpf(float(value)) - x) for value in row])
            last = 2.0 ** (math.floor(math.log2(abs(x))) - (52 if fmt == "fp64" else 23))
            expected = sum(size**2 for size in sizes) / 12 + (last**2 / 12)
            assert abs(away.mean()) < 6 * (expected / n) ** 0.5 + last
            assert np.abs(away).max() <= 0.5 * sum(sizes) * (1 + 2.0 ** (4 - t)) + last
            if sizes:
                assert abs(away.var() / expected - 1) < 0.06


@pytest.mark.parametrize("fmt", ["fp64", "fp32"])
def test_random_results_at_full_precision_are_those_of_stochastic_rounding(fmt):
    """Two neighbours, up with the probability of what is lost, and exact results stay."""
    n, dtype = 2_000, np.float64 if fmt == "fp64" else np.float32
    p, given = (53 if fmt == "fp64" else 24), [float(dtype(x)) for x in GIVEN]
    for mode in ("rr", "sr"):
        out = np.empty((7, n), dtype)
        lift(every_operation, f"{fmt},round={mode}", seed=9)(*map(dtype, given), out)
        with mpmath.workprec(200):
            for row, x in zip(out, exact_results(*given), strict=True):
                step = mpmath.ldexp(1, math.floor(math.log2(abs(x))) - p + 1)
                kept = mpmath.floor(x / step)
                fraction = float(x / step - kept)
                ups = [float(mpmath.mpf(float(value)) / step - kept) for value in row]
                assert set(ups) <= ({0.0} if fraction == 0 else {0.0, 1.0})
                sigma = (n * fraction * (1 - fraction)) ** 0.5
                assert abs(sum(ups) - n * fraction) <= 5 * sigma


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("bf16,round=rr", "'bfloat16': round=rr is offered for binary64 and binary32: write "
         "'fp64,round=rr' or 'fp32,round=rr'"),
        ("fp64,round=sr,virtual_bits=30", "virtual_bits=30 is given with round=sr, which adds no "
         "noise; it is accepted with round=rr, pb or mca"),
        ("fp64,round=mca,virtual_bits=54", "virtual_bits=54 is no whole number from 1 to 53"),
        ("fp32,round=pb,virtual_bits=few", "virtual_bits=few is no whole number from 1 to 24"),
        ("fp64,round=random,random_bits=4", "random_bits=4 is given with round=random, which does "
         "not go up by their number; it is accepted with round=sr"),
    ],
)  # fmt: skip
def test_what_does_not_combine_is_refused(spec, words):
    with pytest.raises(InputError) as error:
        resolve_backend(spec)
    assert words in str(error.value)


def test_virtual_bits_are_a_part_of_the_name():
    few = resolve_backend("fp64,round=mca,virtual_bits=30")
    assert few.name == "binary64,round=mca,virtual_bits=30"
    assert resolve_backend(few.name) == few != resolve_backend("fp64,round=mca")
    assert (
        eval(repr(few.compute), {"Arithmetic": Arithmetic, "Format": type(BINARY64)}) == few.compute
    )
    assert few.compute.rounding_error == 2.0**-53 + 2.0**-30
