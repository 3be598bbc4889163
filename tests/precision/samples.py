"""Operands that find mistakes: landmarks, random numbers of every exponent, close pairs."""

from __future__ import annotations

import numpy as np

from sciprec.precision.formats.backend import Arithmetic
from tests.oracles import exact, vector

FROM_LEADING_BITS = ("float:p=16", "float:p=13,emin=-30,emax=30")
"""Formats rounded in a way that no backend with a name takes, for the tests over all of these."""


def in_format(x, fmt) -> np.ndarray:
    """Binary64 numbers truncated into the format."""
    truncating = Arithmetic(fmt, "rz")
    if fmt.significand_bits <= 24:
        return vector.round_values(np.asarray(x, float), truncating)
    return np.array([exact.round_exact(float(v), truncating) for v in np.asarray(x).ravel()])


def landmarks(fmt) -> np.ndarray:
    """Zeros, ends of the range, powers of two and their neighbours, integers, infinities, NaN."""
    p = fmt.significand_bits
    ulp = 2.0 ** (1 - p)
    exponents = sorted({fmt.emin, fmt.emin + p, -p, -1, 0, 1, p, fmt.emax - p, fmt.emax})
    exponents = [e for e in exponents if fmt.emin <= e <= fmt.emax]
    found = [0.0, fmt.min_positive, 3.0, 10.0, fmt.max_finite, fmt.max_finite / (1 + ulp), 1 / 3]
    for e in exponents:
        found += [2.0**e * m for m in (1.0, 1.0 + ulp, 1.0 - ulp / 2, 1.5, 1.5 + ulp)]
    if fmt.subnormals:
        found += [fmt.min_subnormal * m for m in (2, 3, 2 ** (p - 1) - 1, 2 ** (p - 2))]
    values = np.unique(in_format(found, fmt))
    infinity = np.nan if fmt.overflow == "nan" else np.inf
    values = np.concatenate([values, -values, [infinity, -infinity, np.nan]])
    return values[~np.isinf(values) | (infinity == np.inf)]


def random_numbers(fmt, size: int, rng) -> np.ndarray:
    """Uniform in sign, exponent (subnormals too) and significand; 4 in 10 are short, for ties."""
    p = fmt.significand_bits
    lowest = fmt.emin - (p - 1) * fmt.subnormals
    exponent = rng.integers(lowest, fmt.emax + 1, size)
    significand = rng.integers(2 ** (p - 1), 2**p, size)
    half = p // 2
    short = rng.random(size) < 0.4
    significand = np.where(short, (significand >> half) << half, significand)
    x = np.ldexp(significand.astype(float), exponent - p + 1) * rng.choice([-1.0, 1.0], size)
    return in_format(np.clip(x, -fmt.max_finite, fmt.max_finite), fmt)


def close_pairs(fmt, size: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of opposite and equal signs with exponent gaps 0, 1, 2, ... 280, as far as they fit."""
    p = fmt.significand_bits
    gap = np.arange(size) % 281
    a, b = (rng.integers(2 ** (p - 1), 2**p, size) * 2.0 ** (1 - p) for _ in range(2))
    b = np.where(rng.random(size) < 0.3, a, b)
    span = fmt.emax - fmt.emin
    gap = np.minimum(gap, span)
    top = fmt.emax - 1 - (rng.random(size) * np.maximum(span - gap, 0)).astype(int)
    a = np.ldexp(a, top) * rng.choice([-1.0, 1.0], size)
    b = np.copysign(np.ldexp(b, top - gap), -a) * rng.choice([1.0, 1.0, -1.0], size)
    swap = rng.random(size) < 0.5
    return in_format(np.where(swap, a, b), fmt), in_format(np.where(swap, b, a), fmt)


def triples(fmt, size: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Operands a, b, c: landmarks x landmarks, close pairs, random; c often cancels a * b."""
    rng = np.random.default_rng(seed)
    special = landmarks(fmt)
    first, second = (x.ravel() for x in np.meshgrid(special, special))
    near = close_pairs(fmt, size // 3, rng)
    a = np.concatenate([first, near[0], random_numbers(fmt, size - size // 3, rng)])
    b = np.concatenate([second, near[1], random_numbers(fmt, size - size // 3, rng)])
    with np.errstate(all="ignore"):
        cancelling = -a * b * rng.choice([1.0, 1.0 + 2.0**-6, 1.0 - 2.0**-9], a.size)
        cancelling = in_format(np.clip(cancelling, -fmt.max_finite, fmt.max_finite), fmt)
    c = np.where(rng.random(a.size) < 0.5, cancelling, random_numbers(fmt, a.size, rng))
    c[: first.size] = rng.choice(special, first.size)
    return a, b, c


def odd_numbers(bits: np.ndarray, rng) -> np.ndarray:
    """Odd integers of so many bits each; of the first few and the last few, more."""
    low, high = np.int64(1) << (bits - 1), np.int64(1) << bits
    near = rng.integers(0, 4, bits.size)
    drawn = rng.integers(low, high)
    m = np.select([near == 0, near == 1], [low + drawn % 8, high - 1 - drawn % 8], drawn)
    return np.clip(m, low, high - 1) | 1


def aimed_pairs(fmt, size: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Pairs whose products, quotients and sums are ties or next to ties, in the middle of the
    range, among the subnormal numbers and around the largest number.
    """
    p = fmt.significand_bits
    lowest, third = fmt.emin - p + 1, size // 3
    together = rng.integers(2, 2 * p + 1, size)  # bits of the product: p + 1 make a tie
    first = np.minimum(rng.integers(1, p + 1, size), together - 1)
    second = np.minimum(together - first, p)
    goal = rng.integers(fmt.emin // 2, fmt.emax // 2 + 1, size)
    goal[:third] = rng.integers(lowest - 3, fmt.emin + 3, third)
    goal[third : 2 * third] = rng.integers(fmt.emax - 2, fmt.emax + 2, third)
    low = np.maximum(lowest, goal - fmt.emax)
    high = np.minimum(fmt.emax, goal - lowest)
    own = low + (rng.random(size) * (high - low + 1)).astype(int)
    other = np.where(rng.random(size) < 0.5, goal - own, own - goal)  # a * b or a / b at the goal
    sum_of = rng.random(size) < 0.25  # a + b at the goal, gaps up to beyond the significand
    own = np.where(sum_of, np.clip(goal, lowest, fmt.emax), own)
    other = np.where(sum_of, own - rng.integers(0, p + 4, size), other)
    a, b = (
        np.ldexp(odd_numbers(bits, rng).astype(float), np.clip(e, lowest, fmt.emax) - bits + 1)
        * rng.choice([-1.0, 1.0], size)
        for bits, e in ((first, own), (second, other))
    )
    return in_format(a, fmt), in_format(b, fmt)
