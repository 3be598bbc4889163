"""The elementary functions against MPFR, C99's special values, in every rounding mode."""

import functools
import math

import gmpy2
import numpy as np
import pytest
from numba import njit
from scipy import special

from sciprec.precision.compiled.addresses import address_of, call_at
from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.elementary.trigonometric import FIRST_EXPONENT, REDUCTION, pi_bits
from sciprec.precision.operations.operation import OPERATIONS
from sciprec.precision.rounding import mode
from tests.oracles import functions as oracle
from tests.precision.by_numba import by_numba

BOUND = 2.0**-49
MODES = [(r, flush) for r in ("rn", "rz", "ru", "rd") for flush in (False, True)]
ELEMENTARY = [name for name, row in OPERATIONS.items() if row.evaluate]
PAIRS = [name for name in ELEMENTARY if OPERATIONS[name].arity == 2]
FROM_BITS = [name for name in ELEMENTARY if OPERATIONS[name].of_bits]
BOUNDED = [name for name in ELEMENTARY if OPERATIONS[name].bounded]
MEASURED_ULPS = {
    "exp": 0.7, "log": 0.8, "exp2": 0.75, "log2": 0.75, "sin": 1.1, "cos": 1.1, "tan": 2.2,
    "erf": 1.3, "erfc": 4.8, "sinc": 3.5, "pow": 1.4, "cbrt": 0.51,
    "uniform_from_bits": 0.0, "exponential_from_bits": 0.8, "normal_from_bits": 0.97,
}  # fmt: skip
"""What was measured for arguments of all 53 bits, with a margin, in units in the last place."""
SPECIAL = np.array([0.0, 0.5, 1.0, 2.0, 3.0, 800.0, 2.0**60 + 2.0**40, 2.0**450, math.inf])
SPECIAL = np.concatenate([SPECIAL, -SPECIAL, [math.nan]])


def loop(name, narrow):
    """The loop that applies an elementary function to arrays."""
    row = OPERATIONS[name]
    function = row.narrow if narrow else row.evaluate
    if row.arity == 2:

        def run(x, y, out):
            for i in range(x.size):
                out[i] = function(x[i], y[i])
    else:

        def run(x, out):
            for i in range(x.size):
                out[i] = function(x[i])

    return run


@functools.cache
def plain(name, narrow):
    """The function, compiled."""
    return by_numba(loop(name, narrow), f"{name} {narrow}")


def evaluate(name, *arguments, narrow=False):
    """The function over arrays, in the processor's usual mode."""
    out = np.empty(arguments[0].size)
    plain(name, narrow)(*arguments, out)
    return out


if mode.available():
    in_rn, in_rn_flushed, in_rz, in_rz_flushed, in_ru, in_ru_flushed, in_rd, in_rd_flushed = (
        mode.call_in_mode(mode.control_word(*m), 3) for m in MODES
    )

    @njit
    def run_at(address, arguments, out):
        call_at(address, (*arguments, out))

    @kept()
    def all_modes(address, arguments, out):
        """The loop at an address, in all of MODES, one row each."""
        in_rn(run_at, address, arguments, out[0])
        in_rn_flushed(run_at, address, arguments, out[1])
        in_rz(run_at, address, arguments, out[2])
        in_rz_flushed(run_at, address, arguments, out[3])
        in_ru(run_at, address, arguments, out[4])
        in_ru_flushed(run_at, address, arguments, out[5])
        in_rd(run_at, address, arguments, out[6])
        in_rd_flushed(run_at, address, arguments, out[7])


def evaluate_in_modes(name, *arguments, narrow=False):
    """The function over arrays, one row for each of MODES."""
    out = np.empty((len(MODES), arguments[0].size))
    address = address_of(plain(name, narrow), (*arguments, out[0]))
    all_modes(address, arguments, out)
    return out


def true_value(name, *arguments):
    if name in FROM_BITS:
        value = getattr(oracle, name)(int(arguments[0]))
        return gmpy2.mpfr(value, oracle.PRECISION)
    return oracle.mpfr_value(name, *map(float, arguments))


def truncated(x, significand_bits):
    """x with all but the leading bits cleared."""
    return (np.asarray(x).view(np.int64) & -(1 << (53 - significand_bits))).view(np.float64)


class Arguments:
    """Random arguments of so many bits over the whole domain of each function."""

    def __init__(self, count, significand_bits):
        self.random = np.random.default_rng(20260101)
        self.count, self.bits = count, significand_bits

    def scaled(self, low, high):
        """Numbers in [1, 2) by powers of two with exponents in [low, high)."""
        exponents = self.random.integers(low, high, self.count)
        return np.ldexp(self.random.uniform(1, 2, self.count), exponents)

    def spread(self, low, high, negative=True):
        """Exponents uniform in [low, high), either sign; and powers of two with neighbours."""
        x = self.scaled(low, high)
        power = np.ldexp(1.0, self.random.integers(low + 1, high, 8))
        ulp = power * 2.0 ** (1 - self.bits)
        x = np.concatenate([truncated(x, self.bits), power, power + ulp, power - ulp / 2])
        return x * self.random.choice([-1.0, 1.0], x.size) if negative else x

    def between(self, low, high):
        return truncated(self.random.uniform(low, high, self.count), self.bits)

    def near(self, point, side=0):
        """Distances from `point` that are log-uniform down to its last bit, on one side or both."""
        distance = self.scaled(-24, -1)
        sign = side or self.random.choice([-1.0, 1.0], self.count)
        return truncated(point + sign * distance, self.bits)

    def near_quadrants(self):
        """Neighbours of multiples of pi/2, with the hardest binary32 number (16367173 * 2^72)."""
        turns = np.floor(np.exp2(self.random.uniform(0, 50, self.count)))
        return np.append(truncated(turns * (math.pi / 2), self.bits), [16367173.0 * 2.0**72])

    def near_integers(self):
        """Distances from integers about zero that are log-uniform."""
        distance = self.scaled(-24, -1) * self.random.choice([-1.0, 1.0], self.count)
        return truncated(self.random.integers(-40, 40, self.count) + distance, self.bits)

    def of(self, name):
        """A tuple of arrays, one for each argument."""
        if name in FROM_BITS:
            even = self.random.integers(0, 2**32, self.count)
            low = np.floor(np.exp2(self.random.uniform(0, 32, self.count))).astype(np.int64) - 1
            middle = 2**31 + self.random.integers(-(2**16), 2**16, self.count)
            ends = [0, 1, 2**28 - 1, 2**28, 2**31 - 1, 2**31, 2**32 - 1]
            return (np.concatenate([even, low, 2**32 - 1 - low, middle, ends]),)
        if name in ("atan2", "hypot"):
            wide = self.spread(-450, 451), self.spread(-450, 451)
            close = self.spread(-3, 3), self.spread(-3, 3)
            return tuple(np.concatenate(p) for p in zip(wide, close, strict=True))
        if name == "pow":
            wide, close = self.spread(-450, 451, False), self.spread(-3, 3, False)
            x = np.concatenate([wide, close, self.between(0.7, 0.72), self.near(1.0)])
            x = x[x != 1.0]
            y = self.random.uniform(-1, 1, x.size) * 1020 / np.abs(np.log2(x))
            return x, truncated(y, self.bits)
        parts = {
            "exp": lambda: [self.spread(-60, 9), self.between(-700, 700), self.between(-3, 3)],
            "log": lambda: [self.spread(-450, 451, False), self.between(0.5, 2), self.near(1.0)],
            "log1p": lambda: [self.spread(-450, 0), self.spread(0, 450, False), self.near(-1.0, 1)],
            "sin": lambda: [self.spread(-450, 451), self.between(-4, 4), self.near_quadrants()],
            "asin": lambda: [self.spread(-450, 0), self.between(-1, 1), self.near(1.0, -1)],
            "acosh": lambda: [self.spread(1, 451, False), self.near(1.0, 1)],
            "erfc": lambda: [self.spread(-450, 2), self.between(-3, 26.5), self.between(0.5, 1.2)],
            "atan": lambda: [self.spread(-450, 451), self.spread(-4, 5), self.between(0.4, 0.43)],
            "gamma": lambda: [self.spread(-450, 8), self.between(-170, 171), self.near_integers()],
            "lgamma": lambda: (
                [self.spread(-450, 451), self.between(0.4, 2.7), self.near(1.0)]
                + [self.near(2.0), self.between(-12, 12), self.near_integers()]
            ),
            "sinc": lambda: [self.spread(-450, 25), self.between(-3, 3), self.near_integers()],
        }
        alike = {"exp2": "exp", "expm1": "exp", "sinh": "exp", "cosh": "exp", "log2": "log"}
        alike |= {"log10": "log", "cos": "sin", "tan": "sin", "acos": "asin", "atanh": "asin"}
        return (np.concatenate(parts[alike.get(name, name if name in parts else "atan")]()),)


def relative_error(value, truth):
    if truth == 0:
        return 0.0 if value == 0 else math.inf
    return float(abs((gmpy2.mpfr(float(value)) - truth) / truth))


@pytest.mark.parametrize("name", ELEMENTARY)
def test_error_bound_in_every_rounding_mode(name):
    if not mode.available():
        pytest.skip("this processor's rounding mode cannot be set")
    arguments = Arguments(150, 24).of(name)
    found = evaluate_in_modes(name, *arguments)
    usual = evaluate(name, *arguments)
    assert np.array_equal(found[0], usual, equal_nan=True), "mode rn is the usual mode"
    with gmpy2.context(precision=oracle.PRECISION, emax=10**6, emin=-(10**6)):
        for i, point in enumerate(zip(*arguments, strict=True)):
            truth = true_value(name, *point)
            if 2.0**-1021 <= abs(truth) < 2.0**1023:
                allowed = BOUND
                if name == "lgamma" and point[0] < -2.0:  # about its zeros absolute
                    allowed *= max(1.0, 1.0 / float(abs(truth)))
                for value, where in dict(zip(found[:, i].tolist(), MODES, strict=True)).items():
                    assert relative_error(value, truth) <= allowed, (where, point, value)


@pytest.mark.parametrize("name", MEASURED_ULPS)
def test_error_in_ulps_for_any_binary64_argument(name):
    arguments = Arguments(400, 53).of(name)
    with gmpy2.context(precision=oracle.PRECISION, emax=10**6, emin=-(10**6)):
        for value, *point in zip(evaluate(name, *arguments), *arguments, strict=True):
            truth = true_value(name, *point)
            if 2.0**-1021 <= abs(truth) < 2.0**1023:
                error = float(abs(gmpy2.mpfr(float(value)) - truth))
                assert error <= MEASURED_ULPS[name] * math.ulp(float(truth)), (point, value)


OWN = {
    "gamma": special.gamma,
    "ufp": lambda x: np.where(np.isfinite(x), np.ldexp(1.0 * (x != 0), np.frexp(x)[1] - 1), abs(x)),
    "lgamma": lambda x: np.where(x == -np.inf, np.inf, special.gammaln(x)),
}
"""Peers of what NumPy lacks, and of what math lacks or refuses."""


@pytest.mark.parametrize("name", [n for n in ELEMENTARY if n not in (*FROM_BITS, "sinc")])
def test_special_values_are_those_of_the_c_library(name):
    numpy_name = {"pow": "power", "asin": "arcsin", "acos": "arccos", "atan": "arctan"}
    numpy_name |= {"atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
    peer = getattr(np, numpy_name.get(name, name), None) or OWN.get(name)
    peer = peer or np.vectorize(getattr(math, name))
    arguments = (SPECIAL,)
    if name in PAIRS:
        arguments = tuple(a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL))
    with np.errstate(all="ignore"):
        wanted = peer(*arguments)
    require_special(name, arguments, wanted)


def require_special(name, arguments, wanted):
    """In every mode NaN for NaN, zeros and infinities with their signs, others within BOUND."""
    in_modes = evaluate_in_modes(name, *arguments) if mode.available() else []
    for found in (evaluate(name, *arguments), *in_modes):
        for value, known, *point in zip(found, wanted, *arguments, strict=True):
            case = (point, value, known)
            assert math.isnan(value) == math.isnan(known), case
            if not math.isnan(known):
                assert math.copysign(1.0, value) == math.copysign(1.0, known), case
                assert value == known or abs(value - known) <= BOUND * min(abs(known), 1e308), case


EXACT = {
    "exp": [(0.0, 1.0)],
    "exp2": [(10.0, 1024.0), (-3.0, 0.125)],
    "log": [(1.0, 0.0)],
    "log2": [(2.0**-300, -300.0), (2.0**77, 77.0)],
    "log10": [(10.0**k, float(k)) for k in range(11)],
    "pow": [(float(x), float(y), float(x**y)) for x in (2, 3, 5, 7) for y in range(9)]
    + [(x, 1.0, x) for x in (0.7, 1.1, 3e-77, 5.3e99)]
    + [(4.0, -0.5, 0.5), (-3.0, 3.0, -27.0)],
    "cbrt": [(float(x**3), float(x)) for x in (-2, 1, 3, 7, 101, 255)],
    "hypot": [(3.0, 4.0, 5.0), (-5.0, 12.0, 13.0)],
    "cosh": [(0.0, 1.0)],
    "cos": [(0.0, 1.0)],
    "acos": [(1.0, 0.0)],
    "acosh": [(1.0, 0.0)],
    "erfc": [(0.0, 1.0)],
    "gamma": [(float(n), float(math.factorial(n - 1))) for n in range(1, 15)]
    + [(2.0**-k, 2.0**k) for k in (55, 60, 126, 300)],
    "lgamma": [(1.0, 0.0), (2.0, 0.0)],
    "ufp": [(0.0, 0.0), (-3.9, 2.0), (4.0, 4.0)],
    "sinc": [(0.0, 1.0), (2.0**-40, 1.0)],
}
"""Function -> arguments and what it is of them."""


@pytest.mark.parametrize("name", EXACT)
def test_exact_cases(name):
    """Exact in rounding to nearest; what has 24 bits is exact in every mode for narrow formats."""
    *arguments, wanted = map(np.array, zip(*EXACT[name], strict=True))
    assert evaluate(name, *arguments).tolist() == wanted.tolist()
    if not mode.available():
        pytest.skip("this processor's rounding mode cannot be set")
    exact_in_24_bits = truncated(wanted, 24) == wanted
    for row in evaluate_in_modes(name, *arguments, narrow=True):
        assert row[exact_in_24_bits].tolist() == wanted[exact_in_24_bits].tolist()


def test_narrow_results_stay_finite_and_nonzero():
    """A finite argument never gives infinity or zero where the true value is neither."""
    points = {name: ([2000.0], [-2000.0]) for name in ("exp", "exp2", "expm1", "sinh", "cosh")}
    points |= {"gamma": ([200.0, 2.0**-1030, -(2.0**-1030)], [-200.5]), "lgamma": ([1e307], [0.5])}
    points |= {"erfc": ([-1.0], [40.0]), "pow": ([10.0, 400.0], [10.0, -400.0])}
    points |= {"hypot": ([1.7e308, 1.7e308], [1.0, 1.0])}
    assert set(BOUNDED) < set(points)
    for name, pair in points.items():
        for given in pair:
            points_of = [given] if OPERATIONS[name].arity == 2 else [[x] for x in given]
            for arguments in points_of:
                value = evaluate(name, *(np.array([x]) for x in arguments), narrow=True)[0]
                assert 2.0**-1022 <= abs(value) <= 2.0**1023, (name, arguments)


def test_narrow_keeps_every_nan():
    """Even a NaN of all ones, which integer rounding would carry over into zero."""
    ones = np.array([-1], dtype=np.int64).view(np.float64)
    for name in ELEMENTARY:
        if name not in FROM_BITS:
            assert np.isnan(evaluate(name, *[ones] * OPERATIONS[name].arity, narrow=True)[0]), name


def test_reduction_table_is_two_over_pi():
    """Each row sums to 2/pi less a multiple of 4 / ulp, to 2^-150 of what it keeps."""
    with gmpy2.context(precision=1600):
        two_over_pi = 2 / gmpy2.const_pi()
        assert abs(pi_bits(1400) - gmpy2.const_pi() * 2**1400) < 2
        for exponent in (0, 1, 5, 60, 300, 440, 970):
            row = REDUCTION[4 * exponent : 4 * exponent + 3]
            scaling = 600 if FIRST_EXPONENT + exponent >= 1023 + 500 else 0
            total = sum(gmpy2.mpfr(float(piece)) for piece in row) / gmpy2.mpfr(2) ** scaling
            period = 4 / gmpy2.mpfr(2) ** exponent
            turns = (two_over_pi - total) / period
            assert abs(turns - gmpy2.rint(turns)) < gmpy2.mpfr(2) ** -150
