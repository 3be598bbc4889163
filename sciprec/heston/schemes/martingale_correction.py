"""The martingale correction of the quadratic-exponential scheme, without cancellation.

log E[exp(A noise) | v] of one variance step is a difference of nearly equal logarithms as printed;
here it is the square of a small number times a quotient q of order one. Divisions, which cost most,
are shared.
"""

import math


def log1p_quotient(x, z, far):
    """Return q(x) = -(log(1 - x) + x) / x^2 = 1/2 + x/3 + x^2/4 + ..., for x < 1.

    With y = x z: q = z + 2 z^2 y (1/3 + y^2/5 + y^4/7 + ...), used for |x| < 1/4, where it is short
    by 1e-12 of q at most; the definition elsewhere.

    Args:
        x: a number below one.
        z: 1 / (2 - x).
        far: whether |x| may be 1/4 or more.
    """
    y = x * z
    y2 = y * y
    tail = 1.0 / 9.0 + y2 * (1.0 / 11.0 + y2 * (1.0 / 13.0))
    quotient = z + 2.0 * z * z * y * (1.0 / 3.0 + y2 * (0.2 + y2 * (1.0 / 7.0 + y2 * tail)))
    if far:
        direct = -(math.log(1.0 - x) + x) / (x * x)
        quotient = quotient if abs(x) < 0.25 else direct
    return quotient


def qe_cumulant(mean, width, tilt, leverage, per_unit, far):
    """Return log E[exp(A noise) | v] of the quadratic branch, in log_spot units.

    With x = 2 A a:  (m - a) A x / (1 - x) + x^2 q(x) / 2.

    Args:
        mean, width: m and a of the quadratic branch.
        tilt: A (Andersen 2008, eq. 34: A = K2 + K4 / 2), per variance unit.
        leverage: A in log_spot units per variance unit.
        per_unit: 1 / log_spot_unit.
        far: see log1p_quotient.

    Source: Andersen (2008), prop. 9 with eq. (37), written for noise in place of v'. Both
        1 / (1 - x) and 1 / (2 - x) come from one division.
    """
    x = 2.0 * tilt * width
    rest = 1.0 - x
    both = 2.0 - x
    inverse = 1.0 / (rest * both)
    quotient = log1p_quotient(x, inverse * rest, far)
    first = leverage * (mean - width) * x * (inverse * both)
    return first + 0.5 * (x * per_unit * x * quotient)


def qe_jump_cumulant(mean, fall, tilt, leverage, per_unit, far):
    """Return log E[exp(A noise) | v] of the exponential branch, in log_spot units.

    With y = A m / (1 - A / beta):  y A / beta - y^2 q(-y).

    Args:
        fall: 1 / beta; the others: see qe_cumulant.

    Source: Andersen (2008), prop. 9 with eq. (38), written for noise in place of v'. Both
        1 / (1 - A / beta) and 1 / (2 + y) come from one division.
    """
    push = tilt * mean
    rest = 1.0 - tilt * fall
    both = 2.0 * rest + push
    inverse = 1.0 / (rest * both)
    y = push * (inverse * both)
    quotient = log1p_quotient(-y, inverse * rest * rest, far)
    return leverage * fall * y - y * per_unit * y * quotient
