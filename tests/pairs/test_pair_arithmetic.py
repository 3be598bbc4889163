"""Operations and decisions of the backend `dd` against numbers of 500 bits and fractions."""

from __future__ import annotations

import itertools
import math
import operator
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from sciprec import lift
from sciprec.instruments.pairs.lifted import Pair
from tests.oracles.uncompiled import Uncompiled
from tests.pairs import kernels
from tests.pairs.real_pairs import BITS, U2, drawn, normalised, reals, worst

BOUNDS = {"add": 3.0, "sub": 3.0, "mul": 4.0, "div": 15.0, "roots": 25 / 8}
"""Of relative errors in units of 2^-106, which are those of the source."""
EXACT = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "roots": lambda x, y: mpmath.sqrt(x),
}  # fmt: skip


def _run(kernel, x: Pair, y: Pair, columns: int = 0) -> Pair:
    shape = (x.high.size, columns) if columns else x.high.size
    out = Pair(np.zeros(shape), np.zeros(shape))
    lift(kernel, "dd")(x, y, out)
    return out


def _operands(rng, case: str, count: int) -> tuple[Pair, Pair]:
    """Operands of like sizes, of sizes far apart, and such as nearly cancel."""
    low, high = (-480, 480) if case == "far" else (-3, 4)
    sizes = [np.ldexp(1.0 + rng.random(count), rng.integers(low, high, count)) for _ in range(2)]
    x, y = (normalised(s, s * rng.uniform(-1, 1, count) * 2.0**-53) for s in sizes)
    if case == "cancels":
        moved = np.ldexp(rng.uniform(-1, 1, count), -rng.integers(1, 60, count))
        y = normalised(x.high * (1.0 + moved), x.low * rng.choice([0.0, 0.5, 1.0, -1.0], count))
    return x, y


def _signed(rng, x: Pair) -> Pair:
    signs = rng.choice([-1.0, 1.0], x.high.size)
    return Pair(x.high * signs, x.low * signs)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOUNDS)
def test_an_operation_errs_by_no_more_than_its_bound(name, count=2000):
    for case in ("near", "cancels", "far"):
        rng = np.random.default_rng(count)
        x, y = _operands(rng, case, count)
        if name != "roots":
            signs = np.random.default_rng(2)
            x, y = (x, y) if case == "cancels" else (_signed(signs, x), _signed(signs, y))
        if case == "cancels" and name == "add":
            y = Pair(-y.high, -y.low)
        made = _run(getattr(kernels, name), x, y)
        with mpmath.workprec(BITS):
            exact = list(map(EXACT[name], reals(x), reals(y)))
        assert worst(made, exact) <= BOUNDS[name] * U2 * (1 + 2.0**-40), case
        total = made.high + made.low
        np.testing.assert_array_equal(total, made.high)  # normalised


SPECIAL = np.array([
    0.0, -0.0, 1.0, -1.0, 0.5, 3.0, np.inf, -np.inf, np.nan, 1.7e308, -1.7e308, 5e-324, -5e-324,
    2.0**-1022, 1e-200, 2.0**53, 2.0**60 + 2.0**10, 1e300, 0.1, 2.5, -2.5,
])  # fmt: skip


@pytest.mark.parametrize(
    "name", "add sub mul div mod fmod floordiv smaller larger roots".split()
)
def test_one_operation_on_binary64_numbers_is_binary64s(name):
    """Infinities, NaN, signs of zeros, ends of the range: rounded once, both are the same."""
    x, y = map(np.array, zip(*itertools.product(SPECIAL, SPECIAL), strict=True))
    made, expected = np.zeros(x.size), np.zeros(x.size)
    lift(getattr(kernels, name), "dd")(x, y, made)
    Uncompiled(getattr(kernels, name), "fp64")(x, y, expected)
    np.testing.assert_array_equal(made, expected)
    numbers = ~np.isnan(made)
    np.testing.assert_array_equal(np.signbit(made[numbers]), np.signbit(expected[numbers]))


def _close_pairs() -> tuple[Pair, Pair]:
    """Pairs whose high numbers are equal or neighbours, whole numbers and halves among them."""
    highs = [1.0, -1.0, 2.5, -2.5, 3.0, 0.5, -0.5, 2.0**52 + 1.0, 2.0**53, 2.0**60 + 2.0**10]
    highs.append(-(2.0**58))
    lows = [0.0, 2.0**-70, -(2.0**-70), 2.0**-60]
    far = [0.0, 0.5, -0.5, 0.25, 3.75, -2.5, 1.0]
    every = [(h, low) for h in highs for low in (far if abs(h) >= 2.0**53 else lows)]
    every = [(h, low) for h, low in every if h + low == h]
    both = list(itertools.product(every, every))
    return tuple(
        Pair(*(np.array([n[k][part] for n in both]) for part in (0, 1))) for k in (0, 1)
    )


def _fractions(pair: Pair) -> list[Fraction]:
    numbers = zip(pair.high.tolist(), pair.low.tolist(), strict=True)
    return [Fraction(high) + Fraction(low) for high, low in numbers]


def test_decisions_are_those_of_both_numbers():
    x, y = _close_pairs()
    made = _fractions(_run(kernels.decided, x, y))
    for number, a, b in zip(made, _fractions(x), _fractions(y), strict=True):
        bits = 1 * (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a == b)
        assert number == bits + 32 * (a != b) + 64 * (a < b < a + 1) + 128 * (a < 3)


def test_whole_numbers_are_those_of_both_numbers():
    x, _ = _close_pairs()
    made = _run(kernels.to_whole, x, x, 8)
    of = (math.floor, math.ceil, math.trunc, round, math.trunc, math.floor, math.ceil, round)
    for place, function in enumerate(of):
        column = _fractions(Pair(made.high[:, place], made.low[:, place]))
        assert column == [function(number) for number in _fractions(x)], function


def test_the_smaller_the_larger_and_signs_are_those_of_both_numbers():
    x, y = _close_pairs()
    both = list(zip(_fractions(x), _fractions(y), strict=True))
    assert _fractions(_run(kernels.smaller, x, y)) == [min(a, b) for a, b in both]
    assert _fractions(_run(kernels.larger, x, y)) == [max(a, b) for a, b in both]
    exact = [abs(a) + (a > 0) - (a < 0) - abs(b) * (1 if a > 0 else -1) - b for a, b in both]
    made = _fractions(_run(kernels.signs, x, y))
    sizes = [abs(a) + 1 + 2 * abs(b) for a, b in both]
    assert all(abs(m - e) <= 12 * U2 * s for m, e, s in zip(made, exact, sizes, strict=True))


def test_remainders_and_their_quotients_are_those_of_both_numbers():
    """Of quotients up to 2^52; of larger ones where y has no low number, else right or NaN."""
    rng = np.random.default_rng(4)
    big = drawn(rng, 1e-3, 1e25, 300), drawn(rng, 1e-3, 1e3, 300)
    alone = big[0], Pair(big[1].high, np.zeros(300))
    for x, y in (_close_pairs(), big, alone, tuple(_signed(rng, p) for p in big)):
        made = {n: _run(getattr(kernels, n), x, y) for n in ("mod", "fmod", "floordiv")}
        for place, (a, b) in enumerate(zip(_fractions(x), _fractions(y), strict=True)):
            q, unknown = a / b, abs(a / b) >= 2**52 and y.low[place] != 0.0
            exact = {"mod": a - math.floor(q) * b, "fmod": a - math.trunc(q) * b}
            for name, rest in exact.items():
                high, low = made[name].high[place], made[name].low[place]
                if unknown and np.isnan(high):
                    continue
                wrong = Fraction(high) + Fraction(low) - rest
                wrapped = min(abs(wrong), abs(abs(wrong) - abs(b)))
                assert wrapped <= 8 * U2 * (abs(a) + abs(b)), (name, a, b)
            if abs(q) < 2**50:
                numbers = made["floordiv"].high[place], made["floordiv"].low[place]
                found = sum(map(Fraction, numbers))
                near = abs(q - round(q)) <= 16 * U2 * max(abs(q), 1)
                assert found == math.floor(q) or near and abs(found - q) <= 1
