"""Kernels with a numerical fault each, and their repaired forms."""

from __future__ import annotations

import math

import numpy as np


def one_pass_variance(x):
    total = 0.0
    squares = 0.0
    for i in range(x.size):
        total += x[i]
        squares += x[i] * x[i]
    mean = total / x.size
    return math.sqrt(squares / x.size - mean * mean)


def quadratic(a, b, c, roots):
    for i in range(b.size):
        inside = b[i] * b[i] - 4.0 * a[i] * c[i]
        roots[i] = (math.sqrt(inside) - b[i]) / (2.0 * a[i])


def naive_sum(x):
    total = 0.0
    for i in range(x.size):
        total += x[i]
    return total


def compensated_sum(x):
    total = 0.0
    rest = 0.0
    for i in range(x.size):
        term = x[i] - rest
        larger = total + term
        rest = (larger - total) - term
        total = larger
    return total


def away_from_mean(x):
    total = 0.0
    for i in range(x.size):
        total += x[i]
    mean = total / x.size
    squares = 0.0
    for i in range(x.size):
        away = x[i] - mean
        squares += away * away
    return squares


def without_pivot(a, b):
    n = b.size
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            for j in range(k, n):
                a[i, j] -= factor * a[k, j]
            b[i] -= factor * b[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= a[i, j] * b[j]
        b[i] = b[i] / a[i, i]


def with_offset(x, out):
    for i in range(x.size):
        moved = x[i] + 300.0
        scaled = 0.5 * moved
        out[i] = scaled - 150.0


def advected(u, new, steps):
    """A flow that leaves one cell and enters the next is rounded alike: its parts cancel."""
    for _ in range(steps):
        for i in range(1, u.size):
            out_of_cell = 0.3 * u[i]
            into_cell = 0.3 * u[i - 1]
            new[i] = (u[i] - out_of_cell) + into_cell
        for i in range(1, u.size):
            u[i] = new[i]


def flow(size: int = 60) -> np.ndarray:
    """The amount that `advected` moves."""
    return 1.0 + np.round(np.sin(np.linspace(0.0, 6.0, size)) * 64) / 256


def inputs(name: str):
    """Arguments that show a kernel's fault."""
    rng = np.random.default_rng(7)
    return {
        "variance": (np.round(rng.normal(30.0, 0.3, 60) * 64) / 64,),
        "quadratic": (np.ones(20), rng.integers(40, 80, 20) * 1.0, rng.integers(1, 4, 20) * 1.0,
                      np.zeros(20)),
        "sum": (rng.integers(64, 128, 2000) / 128.0,),
        "system": (_system(rng), rng.integers(1, 9, 6) * 1.0),
        "few": (np.round(rng.normal(0.0, 1.0, 50) * 256) / 256, np.zeros(50)),
    }[name]  # fmt: skip


def _system(rng) -> np.ndarray:
    """A well-conditioned matrix whose first element is small."""
    made = rng.integers(-8, 9, (6, 6)) / 8.0 + 2.0 * np.eye(6)[::-1]
    made[0, 0] = 2.0**-9
    return made
