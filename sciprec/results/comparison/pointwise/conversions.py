"""From one unit into another, where that is linear: by the tables of `units`, and by UDUNITS, where
cf-units is installed, for units that are not in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from sciprec.results.comparison.pointwise.units import base

_DIFFERENCE = "temperature: difference"
_FAR = 2.0**40
"""A number beside which the offset of a scale hardly counts."""


@dataclass(frozen=True)
class UnitConversion:
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
        """Whether the conversion changes numbers."""
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
) -> UnitConversion | None:
    """The linear conversion of one unit into another; None where none is known.

    Args:
        given, wanted: as the attribute `units` has them.
        attributes: of the variable; `units_metadata` may say that temperatures are differences.
    """
    unit, wanted_unit = base(given), base(wanted)
    difference = (attributes or {}).get("units_metadata") == _DIFFERENCE
    if unit.powers == wanted_unit.powers:
        line = unit.factor / wanted_unit.factor, (unit.zero - wanted_unit.zero) / wanted_unit.factor
    elif unit.is_known and wanted_unit.is_known:
        return None
    else:
        line = _by_udunits(given, wanted)
    return line and UnitConversion(given, wanted, line[0], Fraction(0) if difference else line[1])


class Converted:
    """An array in other units, converted where it is read, block by block.

    Args:
        values: an array, in memory or read when asked for.
        conversion: of its values.
    """

    def __init__(self, values: Any, conversion: UnitConversion) -> None:
        self._values, self._conversion = values, conversion
        self.shape, self.ndim = values.shape, len(values.shape)
        self.dtype = np.dtype(np.float64)
        self.chunks = getattr(values, "chunks", None)
        self.encoding = getattr(values, "encoding", {})

    def __getitem__(self, place: Any) -> Converted:
        return Converted(self._values[place], self._conversion)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = self._conversion(self._values)
        return values if dtype is None else values.astype(dtype, copy=False)


@cache
def _by_udunits(source: str, target: str) -> tuple[Fraction, Fraction] | None:
    """Factor and offset; None where UDUNITS is not there, does not know them, or has no line."""
    if " since " in f"{source}{target}":  # dates are converted in `times`
        return None
    try:
        from cf_units import Unit

        source_unit, target_unit = Unit(source), Unit(target)
        if not source_unit.is_convertible(target_unit):
            return None
        images = [
            Fraction(float(source_unit.convert(value, target_unit))) for value in (0.0, 1.0, _FAR)
        ]
    except (ImportError, OverflowError, ValueError):  # an unknown unit, or a logarithm
        return None
    factor, offset = (images[2] - images[0]) / Fraction(_FAR), images[0]
    straight = abs(images[1] - factor - offset) <= Fraction(1e-12) * (abs(factor) + abs(offset))
    return (factor, offset) if straight else None
