"""Numbers in words, the same on the page and on the command line."""

from __future__ import annotations

import math


def number(value: float | None) -> str:
    """Two significant digits, for tables; a dash for what does not apply."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if value == 0:
        return "0"
    if math.isinf(value):
        return "infinite"
    if 0.01 <= abs(value) < 10_000:
        return f"{float(f'{value:.2g}'):g}"
    return f"{value:.1e}"


def digits(value: float | None) -> str:
    """A count of decimal digits."""
    return "–" if value is None or math.isnan(value) else f"{value:.1f}"


def duration(value: float | None) -> str:
    """Seconds for people."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def factor(ratio: float) -> str:
    """A factor for people: two significant digits, no exponent below a million."""
    if ratio >= 1e6:
        return f"{ratio:.0e}".replace("e+0", "e").replace("e+", "e")
    return f"{float(f'{ratio:.2g}'):,.10g}"


def gain_in_words(ratio: float | None) -> str:
    """A gain for the table: "310 ×", or a dash."""
    if ratio is None:
        return "–"
    return "∞" if math.isinf(ratio) else f"{factor(ratio)} ×"
