"""Fit the coefficients of sciprec.heston.variates.inversion, in 60-digit arithmetic.

    python -m data.heston.inversion_fit            # print inversion_tables.py
    python -m data.heston.inversion_fit --write    # rewrite it

Each table interpolates its function: the logarithm at Chebyshev nodes, the quantile at nodes that
are Chebyshev's in log(t + 1), as it behaves like a square root with a singularity at t = -1. Needs
mpmath, which nothing else here does.
"""

import sys
from pathlib import Path

import numpy as np
from mpmath import mp, mpf

from sciprec.heston.variates import inversion_tables

DIGITS = 60
TABLES = Path(inversion_tables.__file__)
DEGREES = {np.float32: (3, 6), np.float64: (7, 12)}
"""type -> degrees of the logarithm, and of numerator and denominator of the quantile."""
LARGEST_T = 32


def quantile_per_t(t):
    """Return x / t with Phi(-x) = 2^-t / 2, by Halley's method."""
    d = mpf(2) ** -t / 2
    x = t * mp.log(2) * mp.sqrt(mp.pi / 2) if t < 1 else mp.sqrt(2 * mp.log(2) * t)
    for _ in range(100):
        gap = (mp.erfc(x / mp.sqrt(2)) / 2 - d) * mp.sqrt(2 * mp.pi) * mp.exp(x * x / 2)
        step = gap / (1 - x * gap / 2)
        x += step
        if abs(step) < mpf(10) ** (15 - DIGITS) * x:
            return x / t
    raise ArithmeticError(f"no quantile at t = {t}")


def log2_per_s(z):
    """Return log2((1 + s) / (1 - s)) / s, s = sqrt(z)."""
    s = mp.sqrt(z)
    return 2 * mp.atanh(s) / (s * mp.log(2))


def chebyshev(count, low, high):
    """Return Chebyshev nodes of an interval."""
    angles = [mp.pi * (2 * k + 1) / (2 * count) for k in range(count)]
    return [(low + high) / 2 - (high - low) / 2 * mp.cos(angle) for angle in angles]


def quantile_nodes(count):
    """Return the nodes t of the quantile."""
    return [mp.exp(y) - 1 for y in chebyshev(count, mpf(0), mp.log(LARGEST_T + 1))]


def log_nodes(count):
    """Return the nodes s^2 of the logarithm."""
    return chebyshev(count, mpf(0), (3 - mp.sqrt(8)) ** 2)


def polynomial(function, nodes):
    """Return the interpolating polynomial's coefficients, lowest degree first."""
    powers = mp.matrix([[x**j for j in range(len(nodes))] for x in nodes])
    return list(mp.lu_solve(powers, mp.matrix([function(x) for x in nodes])))


def rational(function, degree):
    """Return numerator and denominator (constant term 1) of one degree, at quantile_nodes."""
    rows, values = [], []
    for t in quantile_nodes(2 * degree + 1):
        value = function(t)
        row = [t**j for j in range(degree + 1)]
        rows.append(row + [-value * power for power in row[1:]])
        values.append(value)
    solved = list(mp.lu_solve(mp.matrix(rows), mp.matrix(values)))
    return solved[: degree + 1], [mpf(1), *solved[degree + 1 :]]


def tables():
    """Return {name: (binary32 coefficients, binary64 coefficients)} as floats."""
    found = {"LOG2": [], "NUMERATOR": [], "DENOMINATOR": []}
    with mp.workdps(DIGITS):
        for kind, (log_degree, degree) in DEGREES.items():
            fitted = [polynomial(log2_per_s, log_nodes(log_degree + 1))]
            fitted += rational(quantile_per_t, degree)
            for name, coefficients in zip(found, fitted, strict=True):
                found[name].append(tuple(float(kind(float(c))) for c in coefficients))
    return {name: tuple(pair) for name, pair in found.items()}


def text():
    """Return the source of inversion_tables.py."""
    lines = [
        '"""Coefficients of heston.variates.inversion, binary32 and binary64, lowest degree first.',
        "",
        "Written by `python -m data.heston.inversion_fit --write`; change the fit instead.",
        '"""',
    ]
    for name, pair in tables().items():
        lines += ["", f"{name} = ("]
        for table in pair:
            lines += ["    (", *(f"        {c!r}," for c in table), "    ),"]
        lines.append(")")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--write" in sys.argv:
        TABLES.write_text(text(), encoding="utf-8")
    else:
        print(text(), end="")
