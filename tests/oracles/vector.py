"""The exact operations on arrays, for formats of at most 24 bits: 64-bit integers decide every bit.

A second reference, fast enough for a million operands: a significand is an integer of at most 62
bits, what is shifted out of it is remembered by a sticky flag. Every rounding but stochastic ones.
"""

from __future__ import annotations

import numpy as np

WIDTH = 62
OPERAND_BITS = 24


def add(a, b, arithmetic):
    """a + b, rounded once."""
    with np.errstate(all="ignore"):
        native = a + b
    native = _signed_zero_sum(native, a, b, arithmetic)
    return _rounded(native, _aligned_sum(_parts(a), _parts(b), arithmetic), arithmetic)


def sub(a, b, arithmetic):
    """a - b, rounded once."""
    return add(a, -b, arithmetic)


def mul(a, b, arithmetic):
    """a * b, rounded once."""
    with np.errstate(all="ignore"):
        native = a * b
    return _rounded(native, _product(a, b), arithmetic)


def div(a, b, arithmetic):
    """a / b, rounded once."""
    with np.errstate(all="ignore"):
        native = a / b
    (sign_a, m_a, e_a), (sign_b, m_b, e_b) = _parts(a), _parts(b)
    shift = WIDTH - OPERAND_BITS
    quotient, rest = np.divmod(m_a << shift, np.where(m_b == 0, 1, m_b))
    exact = (sign_a ^ sign_b, quotient, e_a - e_b - shift, rest != 0)
    return _rounded(native, exact, arithmetic)


def sqrt(a, arithmetic):
    """The square root, rounded once."""
    with np.errstate(all="ignore"):
        native = np.sqrt(a)
    sign, m, e = _parts(a)
    odd = e & 1
    n, e = m << (WIDTH - OPERAND_BITS - 2 + odd), e - (WIDTH - OPERAND_BITS - 2 + odd)
    root = np.sqrt(n.astype(np.float64)).astype(np.int64)
    root -= root * root > n
    root += (root + 1) * (root + 1) <= n
    return _rounded(native, (sign & False, root, e >> 1, root * root != n), arithmetic)


def fma(a, b, c, arithmetic):
    """a * b + c, rounded once; the product of two operands is exact in binary64."""
    with np.errstate(all="ignore"):
        product = a * b
        native = product + c
    native = _signed_zero_sum(native, product, c, arithmetic)
    sign, m, e, _ = _product(a, b)
    return _rounded(native, _sum((sign, m, e), _parts(c)), arithmetic)


def round_values(x, arithmetic):
    """Any binary64 numbers, rounded once."""
    sign, m, e = _parts(x, 53)
    return _rounded(x, (sign, m, e, np.zeros(x.shape, bool)), arithmetic)


def _parts(x, bits: int = OPERAND_BITS):
    """sign, m, e with |x| = m * 2^e, m of `bits` bits; zero where x is not finite."""
    fraction, exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))
    m = np.abs(np.ldexp(fraction, bits)).astype(np.int64)
    return np.signbit(x), m, exponent.astype(np.int64) - bits


def _product(a, b):
    (sign_a, m_a, e_a), (sign_b, m_b, e_b) = _parts(a), _parts(b)
    return sign_a ^ sign_b, m_a * m_b, e_a + e_b, np.zeros(a.shape, bool)


def _bit_length(m):
    length = np.frexp(m.astype(np.float64))[1].astype(np.int64)
    return length - ((m >> np.maximum(length - 1, 0)) == 0)


def _normal(m, e, width: int):
    """Equal numbers with significands of exactly `width` bits (zero stays zero)."""
    shift = np.where(m == 0, 0, width - _bit_length(m))
    return m << np.maximum(shift, 0), e - shift


def _shifted_right(m, shift):
    """(m >> shift, whether a bit was lost)."""
    shift = np.clip(shift, 0, WIDTH + 1)
    kept = m >> shift
    return kept, (kept << shift) != m


def _sum(a, b, cut: int = 0):
    """Exact sum up to a sticky flag; `cut` low bits of the larger's window are dropped."""
    (sign_a, m_a, e_a), (sign_b, m_b, e_b) = a, b
    (m_a, e_a), (m_b, e_b) = _normal(m_a, e_a, WIDTH - 2), _normal(m_b, e_b, WIDTH - 2)
    first = (m_b == 0) | ((m_a != 0) & ((e_a > e_b) | ((e_a == e_b) & (m_a >= m_b))))
    sign, m, e = np.where(first, (sign_a, m_a, e_a), (sign_b, m_b, e_b))
    other_sign, small, other_e = np.where(first, (sign_b, m_b, e_b), (sign_a, m_a, e_a))
    small, sticky = _shifted_right(small, np.where(small == 0, 0, e - other_e))
    if cut:
        small, sticky = (small >> cut) << cut, np.zeros(m.shape, bool)
    opposite = sign != other_sign
    total = np.where(opposite, m - small - sticky, m + small)
    return sign.astype(bool), total, e, sticky


def _aligned_sum(a, b, arithmetic):
    cut = WIDTH - 2 - arithmetic.format.significand_bits if arithmetic.aligned else 0
    return _sum(a, b, cut)


def _signed_zero_sum(native, a, b, arithmetic):
    if arithmetic.rounding != "rd":
        return native
    both_positive = ~np.signbit(a) & ~np.signbit(b) & (a == 0)
    return np.where((native == 0) & ~both_positive, -0.0, native)


def _rounded(native, exact, arithmetic):
    """Exact numbers rounded; where the operation gives zero, infinity or NaN exactly, that."""
    sign, m, e, sticky = exact
    fmt = arithmetic.format
    m, e = _normal(m, e, WIDTH)
    grid = e + WIDTH - fmt.significand_bits
    if fmt.subnormals:
        grid = np.maximum(grid, fmt.emin - fmt.significand_bits + 1)
    shift = np.minimum(grid - e, WIDTH + 1)
    kept = m >> shift
    rest, half = m - (kept << shift), np.int64(1) << (shift - 1)
    inexact, odd = (rest != 0) | sticky, (kept & 1) == 1
    up = {
        "rn": (rest > half) | ((rest == half) & (sticky | odd)),
        "rz": np.zeros(m.shape, bool),
        "ru": inexact & ~sign,
        "rd": inexact & sign,
        "ro": inexact & ~odd,
    }[arithmetic.rounding]
    return _finished(native, sign, kept + up, grid, arithmetic)


def _finished(native, sign, kept, grid, arithmetic):
    fmt, rounding = arithmetic.format, arithmetic.rounding
    with np.errstate(over="ignore"):
        size = np.ldexp(kept.astype(np.float64), grid)
    if not fmt.subnormals:
        size = np.where(size < fmt.min_normal, 0.0, size)
    outward = {"rn": True, "ru": ~sign, "rd": sign}.get(rounding, False)
    infinity = np.nan if fmt.overflow == "nan" else np.inf
    limit = np.where(outward, infinity, fmt.max_finite)
    if fmt.overflow == "saturate":
        limit = fmt.max_finite
    size = np.where(size > fmt.max_finite, limit, size)
    exact = ~np.isfinite(native) | (native == 0)
    special = np.where(np.isinf(native), np.copysign(infinity, native), native)
    return np.where(exact, special, np.where(sign, -size, size))
