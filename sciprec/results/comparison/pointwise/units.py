"""Units in base units, those of the SI and those that files of the geosciences have beside them,
and what leads from one into another, where that is linear: by these tables, and by UDUNITS, where
cf-units is installed, for units that are not in them.

Source: BIPM, The International System of Units (2019), and its table 8 of other units; the foot and
the knot by their definitions.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

_TAKE_PREFIXES = {"m", "s", "K", "A", "mol", "cd", "rad"}
_BASES = _TAKE_PREFIXES | {"kg", "degree_north", "degree_east"}
_DEFINED = {
    "g": "0.001 kg", "N": "kg m s-2", "Pa": "N m-2", "J": "N m", "W": "J s-1", "Hz": "s-1",
    "L": "0.001 m3", "bar": "100000 Pa", "C": "A s", "V": "W A-1",
}  # fmt: skip
_ALONE = {
    "min": "60 s", "h": "3600 s", "d": "86400 s", "week": "604800 s", "ha": "10000 m2",
    "t": "1000 kg", "ft": "0.3048 m", "knot": "1852 m s-1 /3600", "%": "0.01", "ppm": "1e-6",
    "ppb": "1e-9", "degree": "{} rad /{} /180".format(*math.pi.as_integer_ratio()),
}  # fmt: skip
"""Units that take no prefix."""
_PREFIXES = {
    "n": -9, "u": -6, "µ": -6, "m": -3, "c": -2, "d": -1, "da": 1, "h": 2, "k": 3, "M": 6, "G": 9,
    "T": 12,
}  # fmt: skip
_WORDS = {
    "nano": "n", "micro": "u", "milli": "m", "centi": "c", "hecto": "h", "kilo": "k", "mega": "M",
}  # fmt: skip
_SPELLINGS = {
    "K": "kelvin degK deg_K degree_K degrees_K", "m": "metre meter", "s": "second sec",
    "degC": "celsius °C deg_C degree_C degrees_C degree_Celsius", "g": "gram gramme",
    "Pa": "pascal", "bar": "bar", "mbar": "mb", "min": "minute", "h": "hour hr", "d": "day",
    "week": "week", "J": "joule", "W": "watt", "N": "newton", "mol": "mole", "L": "litre liter",
    "ha": "hectare", "t": "tonne", "ft": "foot feet", "knot": "knot kt", "degree": "degree deg °",
    "rad": "radian", "degree_north": "degree_north degrees_north degree_N degrees_N", "ms": "msec",
    "degree_east": "degree_east degrees_east degree_E degrees_E", "%": "percent",
    "1": "dimensionless - none unitless",
}  # fmt: skip
_NAMES = {
    spelt.lower() + plural: symbol
    for symbol, texts in _SPELLINGS.items() for spelt in texts.split() for plural in ("", "s")
}  # fmt: skip
_NUMBER, _SYMBOL = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", r"[^\s*/^.\d+-]+"
_FACTOR = re.compile(rf"(/?)\s*({_NUMBER}|{_SYMBOL})(?:\*\*|\^)?([+-]?\d+)?")
_DIFFERENCE = "temperature: difference"
_FAR = 2.0**40
"""A number beside which the offset of a scale hardly counts."""


class Base(NamedTuple):
    """A unit: how many it is of a product of powers, and of these where its scale is zero.

    A name that is not known is a base unit of its own.
    """

    factor: Fraction
    zero: Fraction
    powers: frozenset[tuple[str, int]]

    @property
    def is_known(self) -> bool:
        """Whether nothing but known units is in it."""
        return all(name in _BASES for name, _ in self.powers)


def same_units(first: str, second: str) -> bool:
    """Whether two texts mean one unit; those that would have to be converted do not.

    Args:
        first, second: as the attribute `units` has them: "m s-1", "m/s", "m s**-1".
    """
    return first == second or base(first) == base(second)


@cache
def base(text: str) -> Base:
    """A unit in base units; a text that is no product of powers is a base unit itself."""
    symbol_text, factor, powers = _symbol(text.strip()), Fraction(1), Counter()
    if symbol_text == "degC":
        return Base(factor, Fraction("273.15"), frozenset({("K", 1)}))
    remaining = symbol_text
    while remaining := remaining.lstrip(" *.·"):
        part = _FACTOR.match(remaining)
        if part is None or " since " in symbol_text:
            return Base(Fraction(1), Fraction(0), frozenset({(symbol_text, 1)}))
        slash, name, exponent = part.groups()
        power = int(exponent or 1) * (-1 if slash else 1)
        unit = _unit(_symbol(name))
        factor *= unit.factor**power
        for symbol, times in unit.powers:
            powers[symbol] += times * power
        remaining = remaining[part.end() :]
    return Base(factor, Fraction(0), frozenset((s, p) for s, p in powers.items() if p))


def _symbol(name: str) -> str:
    """The symbol of a unit that is written out: "kilometres", "hours"."""
    lower = name.lower()
    for word, prefix in {"": "", **_WORDS}.items():
        if lower.startswith(word) and lower[len(word) :] in _NAMES:
            return prefix + _NAMES[lower[len(word) :]]
    return name


def _unit(name: str) -> Base:
    """A number or a unit of the tables, with or without a prefix."""
    if re.fullmatch(_NUMBER, name) and Fraction(name):
        return Base(Fraction(name), Fraction(0), frozenset())
    for table in _DEFINED, _ALONE:
        if name in table:
            return base(table[name])
    for prefix, exponent in _PREFIXES.items():
        stem = name.removeprefix(prefix)
        if name not in _BASES and stem != name and stem in {*_TAKE_PREFIXES, *_DEFINED}:
            unit = _unit(stem)
            return unit._replace(factor=unit.factor * Fraction(10) ** exponent)
    return Base(Fraction(1), Fraction(0), frozenset({(name, 1)}))


@dataclass(frozen=True)
class UnitConversion:
    """values * factor + offset.

    Args:
        source, wanted: the units as text.
        factor, offset: exact.
    """

    source: str
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
        return f"from '{self.source}' into '{self.wanted}'"


def conversion(
    source: str, target: str, attributes: Mapping[str, Any] | None = None
) -> UnitConversion | None:
    """The linear conversion of one unit into another; None where none is known.

    Args:
        source, target: as the attribute `units` has them.
        attributes: of the variable; `units_metadata` may say that temperatures are differences.
    """
    unit, wanted_unit = base(source), base(target)
    difference = (attributes or {}).get("units_metadata") == _DIFFERENCE
    if unit.powers == wanted_unit.powers:
        line = unit.factor / wanted_unit.factor, (unit.zero - wanted_unit.zero) / wanted_unit.factor
    elif unit.is_known and wanted_unit.is_known:
        return None
    else:
        line = _by_udunits(source, target)
    return line and UnitConversion(source, target, line[0], Fraction(0) if difference else line[1])


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
