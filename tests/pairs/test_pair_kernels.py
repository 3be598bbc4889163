"""Kernels in the backend `dd`: random ones, known ones, arrays, and how numbers enter and leave."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numba
import numpy as np
import pytest

import sciprec
from sciprec import InputError, LiftError, lift
from sciprec.instruments.pairs.lifted import Pair
from tests.diagnosis import digits_survey, test_digits
from tests.diagnosis.bound_survey import FMA
from tests.oracles.reals import BITS as EXACT_BITS
from tests.oracles.reals import real_kernel
from tests.pairs import array_kernels
from tests.pairs.real_pairs import BITS, U2, drawn, reals
from tests.random_kernels.trials import kernel_in

GAINED = 2.0**-40
"""Of an error in fp64 is left in pairs, at most; their last bits are 2^-53 of its."""
CONDITIONED = 2.0**-10
"""The largest error in fp64 of which that is asked."""


def _errors(kernel, args, place: int, names=None) -> tuple[np.ndarray, np.ndarray]:
    """Relative errors of an array in fp64, the largest one so far, and in pairs."""
    exact = real_kernel(kernel, names)(args)[1][place].ravel().tolist()
    tested = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    with np.errstate(all="ignore"):
        lift(kernel, "fp64")(*tested)
    made = list(lift(kernel, "dd").pairs(*args).values())[-1]
    errors = np.zeros((2, len(exact)))
    with mpmath.workprec(EXACT_BITS):
        numbers = zip(tested[place].ravel().tolist(), reals(made), exact, strict=True)
        for n, (plain, pair, true) in enumerate(numbers):
            if mpmath.isfinite(true) and abs(true) > 1e-200:
                errors[:, n] = [float(abs((z - true) / true)) if mpmath.isfinite(z) else np.inf
                                for z in (plain, pair)]  # fmt: skip
    return np.maximum.accumulate(errors[0]), errors[1]


@pytest.mark.parametrize(
    "seeds", [range(4), pytest.param(range(4, 9), marks=pytest.mark.survey)], ids=["few", "more"]
)
def test_random_kernels_keep_in_pairs_what_they_lose_in_binary64(seeds, tmp_path):
    for seed in seeds:
        kernel = kernel_in(digits_survey.source(seed), tmp_path)
        try:
            plain, pairs = _errors(kernel, digits_survey.arguments(seed), 2, FMA)
        except (OverflowError, ZeroDivisionError):  # no real numbers
            continue
        judged = plain < CONDITIONED
        assert (pairs[judged] <= GAINED * np.maximum(plain[judged], 2.0**-50)).all(), seed


@pytest.mark.parametrize(
    ("name", "kernel", "args"),
    [
        ("Muller", test_digits.muller, (np.zeros(20),)),
        ("logistic map", test_digits.logistic, (0.3, np.zeros(90))),
        ("haversine", test_digits.haversine, (np.linspace(0.1, 3.1, 30), np.zeros(30))),
        ("quotients", test_digits.quotients, (np.arange(1.0, 80.0) * 0.1, 0.1, np.zeros(79))),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_known_kernels_have_in_pairs_the_digits_that_binary64_loses(name, kernel, args):
    """Where fp64 has none any more, at least some; decisions are those of exact values."""
    plain, pairs = _errors(kernel, args, len(args) - 1)
    assert (pairs <= 2.0**-30).all()
    assert plain.max() > 1e-3 or name == "haversine"


def test_vancouvers_index_is_cut_where_exact_values_are():
    """To three decimals after every trade, of which binary64 cuts some a thousandth too low. Left
    out are changes that are exact, such as 0.125: no sum of binary numbers decides these ties.
    """
    changes = np.random.default_rng(1).uniform(-5.0, 5.0, 3000).round(3)
    changes = changes[np.rint(changes * 1000.0) % 125 != 0]
    plain, pairs = _errors(test_digits.vancouver, (changes, np.zeros(changes.size)), 1)
    assert plain.max() > 1e-6 and pairs.max() < 2.0**-90


def test_kahans_recurrence_and_rumps_expression():
    growing = lift(test_digits.growing, "dd").pairs(25)["return"]
    exact, _ = real_kernel(test_digits.growing)((25,))
    assert abs(float((reals(growing)[0] - exact) / exact)) < 2.0**-20
    rump = lift(test_digits.rump, "dd")(77617.0, 33096.0)
    assert rump != pytest.approx(-0.8273960599468214, rel=1e-3)  # needs more than 106 bits


def _objects(pair: Pair) -> np.ndarray:
    made = np.empty(pair.high.size, object)
    made[:] = reals(pair)
    return made


@pytest.mark.parametrize("kernel", array_kernels.EVERY, ids=lambda k: k.__name__)
def test_arrays_move_and_join_both_numbers(kernel):
    rng = np.random.default_rng(3)
    x, y, out = drawn(rng, 0.1, 1.0, 20), drawn(rng, 0.1, 1.0, 20), Pair(*np.zeros((2, 20)))
    lift(kernel, "dd")(x, y, out)
    with mpmath.workprec(BITS):
        exact = np.array([mpmath.mpf(0)] * 20, object)
        kernel(_objects(x), _objects(y), exact)
        errors = [float(abs(a - e)) for a, e in zip(reals(out), exact.tolist(), strict=True)]
    assert max(errors) <= 60 * U2


# ---- how numbers enter and leave ----------------------------------------------------------------


def third(x):
    return x / 3.0


def shifted(x, out):
    for i in range(x.size):
        out[i] = x[i] + 2.0**-25


def accumulated(x, total):
    for i in range(x.size):
        total[0] += x[i]


def several(x, pair, count=2, *rest):
    a, b = pair
    a[0] = x / 3.0
    return a, (b[0] + count, count, rest[0] * 0.1), x > 0.3


def test_results_are_pairs_where_asked_and_rounded_once_otherwise():
    lifted = lift(third, "dd")
    assert lifted(1.0) == 1.0 / 3.0
    pair = lifted.pairs(1.0)["return"]
    assert abs(reals(pair)[0] * 3 - 1) < 2.0**-105
    assert lifted(pair) == lifted(1.0 / 3.0)
    assert lifted.pairs(pair)["return"] != lifted.pairs(1.0 / 3.0)["return"]
    assert lifted(x=Pair(1.0, 2.0**-80)) == 1.0 / 3.0


def test_arrays_are_taken_and_given_as_those_of_other_backends():
    lifted, x, total = lift(accumulated, "dd"), np.full(1000, 0.1), np.zeros(1)
    assert lifted(x, total) is None and total[0] == math.fsum(x)
    total = Pair(np.zeros(1), np.zeros(1))
    for part in np.split(x, 10):  # carried from call to call
        lifted(part, total)
    assert Fraction(total.high[0]) + Fraction(total.low[0]) == sum(map(Fraction, x.tolist()))
    b = np.ones(3, np.int64)
    a = np.zeros(3)
    returned, (sum_, count, tenth), above = lift(several, "dd")(1.0, (a, b), 5, 2.0)
    assert returned is a and a[0] == 1.0 / 3.0 and (sum_, count, tenth, above) == (6, 5, 0.2, True)
    assert type(sum_) is int and type(above) is bool
    names = lift(several, "dd").pairs(1.0, (a, b), 5, 2.0)
    assert list(names) == ["pair_0", "return_0", "return_1_2"]
    same = np.array([0.0, 1.0])
    lift(shifted, "dd")(same, same)
    assert same.tolist() == [2.0**-25, 1.0 + 2.0**-25]


def test_arrays_of_binary32_are_rounded_once():
    """1 + 2^-24 + 2^-80 is above the middle, though its high number is a tie."""
    x = Pair(np.array([1.0 + 2.0**-25, 1.0 + 2.0**-25]), np.array([2.0**-80, -(2.0**-80)]))
    out = np.zeros(2, np.float32)
    lift(shifted, "dd")(x, out)
    assert out.tolist() == [1.0 + 2.0**-23, 1.0]
    swapped = np.zeros(2, ">f8")
    lift(shifted, "dd")(np.ones(2, np.float16), swapped)
    assert swapped.tolist() == [1.0 + 2.0**-25] * 2


# ---- where it is named, and refused -------------------------------------------------------------


def called(g, x):
    return g(x)


def of_class(x, y):
    return x


def complex_inside(x):
    return (x + 1j) * x


def recursive(n):
    return 1.0 if n == 0 else n * recursive(n - 1)


@numba.experimental.jitclass([("x", numba.float64)])
class Holder:
    def __init__(self):
        self.x = 1.0


REFUSED = [
    (called, (math.sin, 1.0), "in backend 'dd' cannot be lifted; define the function outside"),
    (third, (1j,), "is given complex numbers as 'x'; 'dd' takes real numbers"),
    (third, (np.ones(2, complex),), "is given complex numbers as 'x'"),
    (complex_inside, (1.0,), "complex in backend 'dd', cannot be lifted; keep real and imaginary"),
    (of_class, (1.0, math.sin), "is given the function 'sin' as 'y'"),
    (of_class, (1.0, Holder()), "is given an object of class Holder as 'y'"),
    (recursive, (3,), "calls itself; in backend 'dd'"),
    (shifted, ([1.0], np.zeros(1)), "is given a list"),
    (shifted, (np.ones(1), np.broadcast_to(0.0, 1)), "writes into 'out', which is read-only"),
    (shifted, (BASE := np.zeros(4), BASE[1:]), "'x' and 'out', which share memory"),
    (shifted, (Pair(np.ones(2), np.ones(1)), np.zeros(2)), r"a Pair of the shapes \(2,\) and"),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "args", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_has_no_pairs_is_refused_in_a_sentence(kernel, args, words):
    with pytest.raises(LiftError, match=words):
        lift(kernel, "dd")(*args)


@pytest.mark.parametrize(
    "call",
    [
        lambda: sciprec.trace(third, "dd", (1.0,)),
        lambda: sciprec.bound(third, "dd", (1.0,)),
        lambda: sciprec.digits(third, (1.0,), backend="dd"),
        lambda: sciprec.tune(third, (1.0,), tolerance=1e-3, formats=["dd", "fp32"]),
        lambda: sciprec.monitor(third, "dd", (1.0,), watch=["x"]),
        lambda: sciprec.check_memory(third, "dd", (1.0,)),
        lambda: sciprec.run("quickstart_climate", backends=["dd"], out="never"),
        lambda: sciprec.run("quickstart_heston", backends=["dd"], out="never"),
        lambda: sciprec.workbench.models.ModelArithmetic("dd"),
        lambda: sciprec.climate.integrate("galewsky", 21, days=1.0, backend="dd"),
    ],
)
def test_what_has_no_pairs_names_what_has(call):
    with pytest.raises(InputError, match="'dd' is given to .*; it is for `lift`, `study` and"):
        call()
