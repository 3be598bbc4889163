"""Statistics of errors the plain way: exact sums of Python numbers, one pair after the other."""

import math
from fractions import Fraction

import numpy as np


def finite_pairs(golden, actual, weights=None):
    """(g, a, w, place) of the pairs of finite values."""
    flat = np.asarray(golden, float).ravel(), np.asarray(actual, float).ravel()
    heavy = np.ones(flat[0].size) if weights is None else np.broadcast_to(weights, golden.shape)
    rows = zip(*flat, heavy.ravel(), range(flat[0].size), strict=True)
    return [
        (float(g), float(a), float(w), i)
        for g, a, w, i in rows
        if math.isfinite(g) and math.isfinite(a)
    ]


def sums(golden, actual, weights=None):
    """The exact sums of the terms as they are rounded to binary64 one by one."""
    pairs = [(g, a - g, w) for g, a, w, _ in finite_pairs(golden, actual, weights)]
    terms = {
        "w": [w for _, _, w in pairs],
        "we": [w * e for _, e, w in pairs],
        "w|e|": [w * abs(e) for _, e, w in pairs],
        "wee": [w * (e * e) for _, e, w in pairs],
        "wg": [w * g for g, _, w in pairs],
        "wgg": [w * (g * g) for g, _, w in pairs],
        "wge": [w * (g * e) for g, e, w in pairs],
    }
    relative = [r for r in relative_errors(golden, actual) if math.isfinite(r)]
    terms["r"], terms["rr"] = relative, [r * r for r in relative]
    return {name: sum(map(Fraction, values), Fraction(0)) for name, values in terms.items()}


def absolute_errors(golden, actual):
    """|a - g| of the finite pairs."""
    return [abs(a - g) for g, a, _, _ in finite_pairs(golden, actual)]


def relative_errors(golden, actual):
    """|a - g| / |g| of the finite pairs."""
    found = []
    for g, a, _, _ in finite_pairs(golden, actual):
        error = abs(a - g)
        if error == 0.0:
            found.append(0.0)
        elif g == 0.0:
            found.append(math.inf)
        else:
            found.append(error / abs(g))
    return found


def ulp_errors(golden, actual, significand_bits, emin):
    """|a - g| in units in the last place of g, in exact fractions, then rounded."""
    found = []
    for g, a, _, _ in finite_pairs(golden, actual):
        exponent = max(math.frexp(g)[1] - 1 if g else emin, emin)
        found.append(float(Fraction(abs(a - g)) / Fraction(2) ** (exponent - significand_bits + 1)))
    return found


def percentile(values, percent):
    """The smallest value with at least so many percent of all at or below it."""
    ordered = sorted(values)
    return ordered[max(1, math.ceil(Fraction(percent, 100) * len(ordered))) - 1]


def number_class(x, smallest, largest):
    """The class of a number in a format with these least normal and largest finite numbers."""
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    if x == 0.0:
        return "zero"
    if abs(x) < smallest:
        return "subnormal"
    return "saturated" if abs(x) >= largest else "normal"


def correlation(golden, actual, weights=None):
    """Pearson's r in exact fractions of the values; returns r and 1 - r."""
    pairs = finite_pairs(golden, actual, weights)
    w = [Fraction(p[2]) for p in pairs]
    g, a = ([Fraction(p[k]) for p in pairs] for k in (0, 1))
    total = sum(w)
    mean_g, mean_a = (sum(x * y for x, y in zip(v, w, strict=True)) / total for v in (g, a))
    spread_g = sum(u * (x - mean_g) ** 2 for x, u in zip(g, w, strict=True))
    spread_a = sum(u * (x - mean_a) ** 2 for x, u in zip(a, w, strict=True))
    both = sum(u * (x - mean_g) * (y - mean_a) for x, y, u in zip(g, a, w, strict=True))
    square = both**2 / (spread_g * spread_a)
    r = math.copysign(math.sqrt(square), both)
    return r, float((1 - square) / (1 + Fraction(r)))
