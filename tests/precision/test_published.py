"""Published numbers and error laws, met by lifted kernels."""

import math

import numpy as np
import pytest

from sciprec import quantize
from sciprec.precision import lift, resolve_backend
from sciprec.precision.operations.reduce import multiply_into

TRUNCATED = "mlu370"
NEAREST = "float:p=21"
U = resolve_backend(TRUNCATED).compute.format.unit_roundoff


def harmonic():
    """The harmonic series until a term no longer changes the sum: (sum, number of that term)."""
    n = 1
    total = 0.0
    while True:
        longer = total + 1.0 / n
        if longer == total:
            return total, n
        total = longer
        n += 1


@pytest.mark.parametrize(
    ("backend", "limit", "terms"),
    [
        ("fp16", 7.0859375, 513),
        ("bf16", 5.0625, 65),
        ("fp32", 15.403682708740234, 2_097_152),
    ],
)
def test_harmonic_series_stops(backend, limit, terms):
    """Malone (2013), "To what does the harmonic series converge?"; Higham."""
    assert lift(harmonic, backend)() == (limit, terms)


def dot(x, y):
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


def kahan(x):
    """Kahan (1965): the sum of x, what each addition loses carried to the next."""
    total = 0.0
    carry = 0.0
    for i in range(x.size):
        term = x[i] - carry
        longer = total + term
        carry = (longer - total) - term
        total = longer
    return total


def uniform(size: int, seed: int) -> np.ndarray:
    """Numbers of U[0, 1] in 21 bits."""
    return quantize(np.random.default_rng(seed).uniform(0, 1, size), TRUNCATED)


def dot_error(backend: str, size: int) -> float:
    """Relative error of dot products of U[0, 1], root mean square of 12."""
    lifted, errors = lift(dot, backend), []
    for seed in range(12):
        x, y = uniform(size, seed), uniform(size, seed + 100)
        errors.append(float(lifted(x, y)) / math.fsum(x * y) - 1.0)
    return float(np.sqrt(np.mean(np.square(errors))))


def test_dot_product_errs_like_n_when_truncated_and_slower_to_nearest():
    """Truncation loses half a last place of each partial sum; they grow evenly to n / 4.

    Relative to S = n / 4 that is the mean of n u 2^floor(log2 s) / S for s in [0, S]: n u / 3 for n
    a power of two. To nearest the errors have both signs: like sqrt(n), Higham & Mary (2019).
    """
    sizes = [2**k for k in range(8, 17)]
    truncated = [dot_error(TRUNCATED, n) for n in sizes]
    nearest = [dot_error(NEAREST, n) for n in sizes]
    slope = np.polyfit(np.log(sizes), np.log(truncated), 1)[0]
    slower = np.polyfit(np.log(sizes), np.log(nearest), 1)[0]
    assert abs(slope - 1.0) < 0.1
    assert slower < 0.75
    for n, error in zip(sizes, truncated, strict=True):
        assert abs(error / (n * U) - 1 / 3) < 0.03
    assert nearest[-1] < truncated[-1] / 50


@pytest.mark.parametrize("size", [10, 1000, 10**5, 10**6])
def test_kahans_sum_stays_within_2u_when_truncated(size):
    lifted = lift(kahan, TRUNCATED)
    for seed in range(5 if size < 10**6 else 2):
        x = uniform(size, seed)
        error = abs(float(lifted(x)) / math.fsum(x) - 1.0)
        assert error <= 2 * U


@pytest.mark.parametrize("size", [32, 64, 128])
def test_without_guard_bits_random_signs_cancel_better_than_truncated_sums(size):
    """Operands truncated toward zero err on both sides; an exact sum truncated only inward."""
    errors = {}
    for backend in ("mlu370", "mlu370-noguard"):
        lifted, squares = lift(multiply_into, backend), []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            a, b = (quantize(rng.uniform(-1, 1, (size, size)), backend) for _ in range(2))
            out = np.zeros((size, size))
            lifted(a, b, out)
            squares.append(np.mean((out - a @ b) ** 2))
        errors[backend] = math.sqrt(np.mean(squares))
    assert errors["mlu370-noguard"] < errors["mlu370"]
