"""Sums and dot products against exact fractions, within the bounds that are promised."""

from fractions import Fraction

import numpy as np
import pytest

import sciprec
from sciprec import quantize
from sciprec.arrays.sums.summation import (
    DOT_METHODS,
    SUM_METHODS,
    compensated_dot,
    compensated_sum,
    dot_error_bound,
    sum_error_bound,
)
from sciprec.foundation.errors import InputError

OTHERS = ("bf16", "float:p=18,round=ru")


def data(kind, backend, count, seed=0):
    """Numbers of the format: of one sign, of both, cancelling to almost nothing, or graded."""
    rng = np.random.default_rng(seed)
    x = {
        "positive": lambda: rng.uniform(0.1, 1.0, count),
        "both signs": lambda: rng.normal(size=count),
        "cancelling": lambda: rng.normal(size=count),
        "graded": lambda: rng.uniform(-1, 1, count) * 2.0 ** -rng.integers(0, 12, count),
    }[kind]()
    x = quantize(x, backend)
    if kind == "cancelling":
        x[count // 2 : 2 * (count // 2)] = -x[: count // 2][::-1]
    return x


def exact_sum(x):
    return sum(map(Fraction, x.tolist()), Fraction(0))


def exact_dot(x, y):
    return sum((Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist(), strict=True)),
               Fraction(0))  # fmt: skip


def sizes(backend):
    """Counts for which n u stays well below one."""
    return (1, 2, 7, 24) if backend in ("fp16", "bf16") else (1, 2, 7, 1000)


@pytest.mark.parametrize(
    ("method", "backend"),
    [(m, b) for n, m in enumerate(SUM_METHODS) for b in ("mlu370", OTHERS[n % 2])],
)
def test_sums_are_within_their_bounds(backend, method):
    for kind in ("positive", "both signs", "cancelling", "graded"):
        for count in sizes(backend):
            x = data(kind, backend, count, seed=count)
            found = Fraction(compensated_sum(x, backend, method=method, block=8))
            bound = sum_error_bound(x, backend, method, 8)
            assert abs(found - exact_sum(x)) <= Fraction(bound), (kind, count)


@pytest.mark.parametrize(
    ("method", "backend"), [(m, ("mlu370", "bf16")[n % 2]) for n, m in enumerate(DOT_METHODS)]
)
def test_dots_are_within_their_bounds(backend, method):
    for kind in ("positive", "both signs", "cancelling"):
        for count in sizes(backend):
            x, y = (data(kind, backend, count, seed=s) for s in (count, count + 1))
            if kind == "cancelling":
                y = np.abs(x)
            found = Fraction(compensated_dot(x, y, backend, method=method, block=8))
            bound = dot_error_bound(x, y, backend, method, 8)
            assert abs(found - exact_dot(x, y)) <= Fraction(bound), (kind, count)


def test_the_default_does_not_stagnate():
    """10,000 times a tenth in binary16: a plain sum ends at 256, a sum of losses at as much again.
    """
    tenths, ones = np.full(10_000, 0.1), np.ones(10_000)
    assert compensated_sum(tenths, "fp16", method="neumaier") == 512.0
    assert compensated_sum(tenths, "fp16") == 1000.0
    assert compensated_dot(tenths, ones, "fp16") == 1000.0
    assert compensated_dot(tenths, ones, "fp16", method="twofold") == 512.0


def test_fma_is_called_from_python_too():
    """Rounded once: of products 1 + 2^-29 and less, what a rounded product has lost is left."""
    x = 1.0 + 2.0**-30
    assert sciprec.fma(x, x, -(1.0 + 2.0**-29)) == 2.0**-60
    assert sciprec.fma(2, 3, np.float32(4)) == 10.0
    for wrong in (np.ones(2), "a", 1j, None):
        with pytest.raises(sciprec.InputError, match="three real numbers"):
            sciprec.fma(wrong, 2.0, 1.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: compensated_sum([1], method="kahn"), "unknown method of summation 'kahn'; known"),
        (lambda: compensated_dot([1], [1], method="dot2"), "kahan, neumaier, carry, twofold"),
        (lambda: compensated_sum([1], block=0), "block is 0; accepted: a whole number of elements"),
        (lambda: compensated_dot([1], [1, 2]), "given shapes (1,) and (2,); accepted: two arrays"),
    ],
)
def test_messages(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
