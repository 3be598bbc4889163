"""Summaries of watched values by exact fractions and bits; nothing of sciprec's is used."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

WHOLE = ("count", "zeros", "subnormals", "nans", "overflows", "saturated", "first_nan",
         "first_overflow", "largest")  # fmt: skip


def summary(values, emin: int, largest: Fraction | None) -> dict:
    """The numbers of a row; means and norms exact (the norm's square).

    Args:
        values: floats.
        emin: numbers below 2^emin are subnormal.
        largest: of a format that saturates; or None.
    """
    found = dict.fromkeys(WHOLE, 0)
    found |= {"count": len(values), "first_nan": -1, "first_overflow": -1, "largest": -1}
    finite, sizes = [], []
    for place, x in enumerate(values):
        if x != x:
            found["nans"] += 1
            if found["first_nan"] < 0:
                found["first_nan"] = place
            continue
        if x in (math.inf, -math.inf):
            found["overflows"] += 1
            if found["first_overflow"] < 0:
                found["first_overflow"] = place
        else:
            exact = Fraction(x)
            finite.append(exact)
            found["zeros"] += exact == 0
            found["subnormals"] += 0 < abs(exact) < Fraction(2) ** emin
            found["saturated"] += largest is not None and abs(exact) >= largest
        sizes.append((abs(x), -place))
    found["largest"] = -max(sizes)[1] if sizes else (0 if values else -1)
    if finite:
        found |= {"minimum": min(finite), "maximum": max(finite)}
        found["mean"] = sum(finite) / len(finite)
        found["mean_size"] = sum(map(abs, finite)) / len(finite)
        found["norm2"] = sum(x * x for x in finite)
    return found


def exponent(x: float) -> int | None:
    """floor(log2 |x|) by the bits of binary64; None of zeros and what is not finite."""
    bits = struct.unpack("<Q", struct.pack("<d", x))[0]
    biased, fraction = bits >> 52 & 0x7FF, bits & (1 << 52) - 1
    if biased == 0x7FF or not (biased or fraction):
        return None
    return biased - 1023 if biased else fraction.bit_length() - 1075


def relative_error(tested, truth) -> float | None:
    """|tested - truth| / |truth| over places where both are finite; infinite where a value is
    finite in one only; None where none is in both.
    """
    if any(math.isfinite(x) != math.isfinite(t) for x, t in zip(tested, truth, strict=True)):
        return math.inf
    pairs = [(Fraction(x), Fraction(t)) for x, t in zip(tested, truth, strict=True)
             if math.isfinite(x) and math.isfinite(t)]  # fmt: skip
    if not pairs:
        return None
    error, size = sum((x - t) ** 2 for x, t in pairs), sum(t * t for _, t in pairs)
    if not error:
        return 0.0
    return math.sqrt(error / size) if size else math.inf
