"""Pairs as real numbers of 500 bits, and random ones."""

from __future__ import annotations

import mpmath
import numpy as np

from sciprec.instruments.pairs.lifted import Pair

BITS = 500
U2 = 2.0**-106


def reals(pair: Pair) -> list:
    """The numbers, exactly."""
    numbers = zip(np.ravel(pair.high).tolist(), np.ravel(pair.low).tolist(), strict=True)
    with mpmath.workprec(BITS):
        return [mpmath.mpf(high) + mpmath.mpf(low) for high, low in numbers]


def normalised(high, low) -> Pair:
    """The pair of a sum whose second number is small."""
    total = high + low
    return Pair(total, low - (total - high))


def drawn(rng, low: float, high: float, count: int) -> Pair:
    """Random pairs between two numbers, of all sizes where these are of one sign and far apart."""
    if low > 0.0 and high / low > 1e3:
        numbers = np.exp(rng.uniform(np.log(low), np.log(high), count))
    elif low < 0.0 and high > 1e3:
        numbers = rng.choice([-1, 1], count) * np.exp(rng.uniform(0, np.log(high), count))
    else:
        numbers = rng.uniform(low, high, count)
    return normalised(numbers, numbers * rng.uniform(-1.0, 1.0, count) * 2.0**-53)


def worst(made: Pair, exact: list, sizes: list | None = None) -> float:
    """The largest error relative to exact numbers, or to the larger of these and of sizes."""
    with mpmath.workprec(BITS):
        sizes = [max(abs(x), s) for x, s in zip(exact, sizes or exact, strict=True)]
        return max(
            float(abs(a - x) / s) if s else float(a != x)
            for a, x, s in zip(reals(made), exact, sizes, strict=True)
        )
