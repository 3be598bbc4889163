"""The reference on arrays against the scalar one: every rounding, range and overflow."""

import math
from itertools import product

import numpy as np
import pytest

from tests.oracles import exact, vector
from tests.oracles.test_oracles import Arithmetic, Shape, same

OPERANDS = {"add": 2, "sub": 2, "mul": 2, "div": 2, "sqrt": 1, "fma": 3}
KINDS = list(product((True, False), ("infinity", "saturate", "nan"), (False, True)))


def numbers(fmt: Shape, size: int, rng) -> np.ndarray:
    """Every exponent, from below the smallest number on; short significands; specials."""
    p = fmt.significand_bits
    significand = rng.integers(2 ** (p - 1), 2**p, size)
    significand = np.where(rng.random(size) < 0.4, significand >> p // 2 << p // 2, significand)
    exponent = rng.integers(fmt.emin - p - 1, fmt.emax + 2, size)
    x = np.ldexp(significand * rng.choice([-1.0, 1.0], size), exponent - p + 1)
    x[:10] = rng.choice([0.0, -0.0, math.inf, -math.inf, math.nan, fmt.max_finite], 10)
    return vector.round_values(x, Arithmetic(fmt, "rz"))


def operands(fmt: Shape, rng) -> tuple[np.ndarray, ...]:
    """Three arrays; a third of the first nearly cancels the second."""
    a, b, c = (numbers(fmt, 60, rng) for _ in range(3))
    factor = rng.choice([1.0, 1.0 + 2.0 ** (1 - fmt.significand_bits), 0.5, 2.0], 20)
    a[40:] = np.where(np.isfinite(b[40:]), -b[40:] * factor, 1.0)
    return vector.round_values(a, Arithmetic(fmt, "rz")), b, c


@pytest.mark.parametrize("rounding", ["rn", "rz", "ru", "rd", "ro"])
@pytest.mark.parametrize(
    ("p", "emin", "emax"), [(3, -14, 15), (8, -126, 127), (11, -14, 15), (24, -126, 127)]
)
def test_arrays_equal_scalars(p, emin, emax, rounding):
    rng = np.random.default_rng(p + emax)
    for subnormals, overflow, aligned in KINDS:
        fmt = Shape(p, emin, emax, subnormals, overflow)
        arithmetic = Arithmetic(fmt, rounding, aligned)
        columns = operands(fmt, rng)
        for name, count in OPERANDS.items():
            found = getattr(vector, name)(*columns[:count], arithmetic)
            rows = zip(*(x.tolist() for x in columns[:count]), strict=True)
            for row, value in zip(rows, found.tolist(), strict=True):
                expected = getattr(exact, name)(*row, arithmetic)
                assert same(value, expected), (fmt, aligned, name, row, value, expected)
