"""From one unit into another: what is linear, by units of the SI and those that files of the
geosciences have beside them.

Source: BIPM, The International System of Units (2019), and its table 8 of other units; the foot and
the knot by their definitions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from sciprec.comparison.pointwise.units import powers

_PREFIXES = {
    "n": -9, "u": -6, "µ": -6, "m": -3, "c": -2, "d": -1, "da": 1, "h": 2, "k": 3, "M": 6, "G": 9,
    "T": 12,
}  # fmt: skip
_N = {"kg": 1, "m": 1, "s": -2}
_J = {"kg": 1, "m": 2, "s": -2}
_UNITS: dict[str, tuple[Fraction, Mapping[str, int]]] = {
    "m": (Fraction(1), {"m": 1}), "s": (Fraction(1), {"s": 1}), "K": (Fraction(1), {"K": 1}),
    "g": (Fraction(1, 1000), {"kg": 1}), "mol": (Fraction(1), {"mol": 1}),
    "A": (Fraction(1), {"A": 1}), "cd": (Fraction(1), {"cd": 1}),
    "Pa": (Fraction(1), {"kg": 1, "m": -1, "s": -2}), "N": (Fraction(1), _N),
    "J": (Fraction(1), _J), "W": (Fraction(1), {"kg": 1, "m": 2, "s": -3}),
    "Hz": (Fraction(1), {"s": -1}), "L": (Fraction(1, 1000), {"m": 3}),
    "bar": (Fraction(100_000), {"kg": 1, "m": -1, "s": -2}),
    "V": (Fraction(1), {"kg": 1, "m": 2, "s": -3, "A": -1}), "C": (Fraction(1), {"s": 1, "A": 1}),
    "min": (Fraction(60), {"s": 1}), "h": (Fraction(3600), {"s": 1}),
    "d": (Fraction(86_400), {"s": 1}), "week": (Fraction(604_800), {"s": 1}),
    "ha": (Fraction(10_000), {"m": 2}), "t": (Fraction(1000), {"kg": 1}),
    "ft": (Fraction(3048, 10_000), {"m": 1}), "knot": (Fraction(1852, 3600), {"m": 1, "s": -1}),
    "%": (Fraction(1, 100), {}), "ppm": (Fraction(1, 10**6), {}), "ppb": (Fraction(1, 10**9), {}),
    "degree": (Fraction(np.pi) / 180, {"rad": 1}), "rad": (Fraction(1), {"rad": 1}),
}  # fmt: skip
"""Symbol -> how many of the base units it is, and which powers of these."""
_ALONE = frozenset({"min", "h", "d", "week", "ha", "t", "ft", "knot", "%", "ppm", "ppb", "degree"})
"""Units that take no prefix."""
_ZEROS = {"degC": Fraction(27_315, 100)}
"""Kelvins at the zero of a temperature's scale."""
_DIFFERENCE = "temperature: difference"


@dataclass(frozen=True)
class Conversion:
    """values * factor + offset.

    Args:
        given, wanted: the units as text.
        factor, offset: exact.
    """

    given: str
    wanted: str
    factor: Fraction
    offset: Fraction

    @property
    def changes(self) -> bool:
        """Whether numbers become other ones."""
        return self.factor != 1 or self.offset != 0

    def __call__(self, values: Any) -> np.ndarray:
        """The values in the wanted units, in binary64: the product or quotient is rounded, then the
        sum.
        """
        numbers = np.asarray(values, np.float64)
        with np.errstate(over="ignore"):
            if self.factor.numerator == 1:
                numbers = numbers / float(self.factor.denominator)
            else:
                numbers = numbers * float(self.factor)
        return np.asarray(numbers + float(self.offset) if self.offset else numbers)

    def __str__(self) -> str:
        return f"from '{self.given}' into '{self.wanted}'"


def conversion(
    given: str, wanted: str, attributes: Mapping[str, Any] | None = None
) -> Conversion | None:
    """How values come from one unit into another; None where that is not known, or no line.

    Args:
        given, wanted: as the attribute `units` has them.
        attributes: of the variable; `units_metadata` may say that temperatures are differences.
    """
    one, other = _base(given), _base(wanted)
    if one is None or other is None or one[2] != other[2]:
        return None
    difference = (attributes or {}).get("units_metadata") == _DIFFERENCE
    factor = one[0] / other[0]
    offset = Fraction(0) if difference else (one[1] - other[1]) / other[0]
    return Conversion(given, wanted, factor, offset)


class Converted:
    """An array in other units, converted where it is read, block by block.

    Args:
        values: an array, in memory or read when asked for.
        conversion: of its values.
    """

    def __init__(self, values: Any, conversion: Conversion) -> None:
        self._values, self._conversion = values, conversion
        self.shape, self.ndim = values.shape, len(values.shape)
        self.dtype = np.dtype(np.float64)
        self.chunks = getattr(values, "chunks", None)
        self.encoding = getattr(values, "encoding", {})

    def __getitem__(self, place: Any) -> Converted:
        return Converted(self._values[place], self._conversion)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        made = self._conversion(self._values)
        return made if dtype is None else made.astype(dtype, copy=False)


@cache
def _base(text: str) -> tuple[Fraction, Fraction, frozenset] | None:
    """A unit in base units: factor, kelvins at its zero, and powers; None where it is not known."""
    if text.strip() in _ZEROS:
        return Fraction(1), _ZEROS[text.strip()], frozenset({("K", 1)})
    found = powers(text)
    if isinstance(found, str):
        if found in _ZEROS:
            return Fraction(1), _ZEROS[found], frozenset({("K", 1)})
        found = Counter({found: 1})
    factor, dimensions = Fraction(1), Counter()
    for name, power in found.items():
        known = _number(name) or _unit(name)
        if known is None:
            return None
        factor *= known[0] ** power
        for base, exponent in known[1].items():
            dimensions[base] += exponent * power
    return factor, Fraction(0), frozenset((b, p) for b, p in dimensions.items() if p)


def _number(name: str) -> tuple[Fraction, Mapping[str, int]] | None:
    if re.fullmatch(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", name) is None:
        return None
    return (Fraction(name), {}) if Fraction(name) else None


def _unit(name: str) -> tuple[Fraction, Mapping[str, int]] | None:
    """A unit of the table, with or without a prefix."""
    if name in _UNITS:
        return _UNITS[name]
    for prefix, exponent in _PREFIXES.items():
        rest = name.removeprefix(prefix)
        if rest != name and rest in _UNITS and rest not in _ALONE:
            factor, dimensions = _UNITS[rest]
            return factor * Fraction(10) ** exponent, dimensions
    return None
