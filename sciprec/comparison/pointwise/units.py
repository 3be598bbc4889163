"""Whether two texts mean the same unit, however they are spelt: "m s-1", "m/s", "m s**-1"."""

from __future__ import annotations

import re
from collections import Counter

_SPELLINGS = {
    "K": ("kelvin", "degK", "deg_K", "degree_K", "degrees_K"),
    "degC": ("celsius", "°C", "deg_C", "degree_C", "degrees_C", "degree_Celsius"),
    "Pa": ("pascal", "pascals"),
    "hPa": ("mbar", "mb", "millibar", "millibars", "hectopascal"),
    "m": ("metre", "metres", "meter", "meters"),
    "km": ("kilometre", "kilometres", "kilometer", "kilometers"),
    "cm": ("centimetre", "centimetres", "centimeter", "centimeters"),
    "mm": ("millimetre", "millimetres", "millimeter", "millimeters"),
    "s": ("sec", "second", "seconds"),
    "ms": ("millisecond", "milliseconds", "msec"),
    "us": ("microsecond", "microseconds"),
    "ns": ("nanosecond", "nanoseconds"),
    "min": ("minute", "minutes"),
    "h": ("hr", "hour", "hours"),
    "d": ("day", "days"),
    "week": ("weeks",),
    "g": ("gram", "grams", "gramme"),
    "kg": ("kilogram", "kilograms"),
    "J": ("joule", "joules"),
    "W": ("watt", "watts"),
    "N": ("newton", "newtons"),
    "mol": ("mole", "moles"),
    "L": ("litre", "litres", "liter", "liters"),
    "ha": ("hectare", "hectares"),
    "t": ("tonne", "tonnes"),
    "ft": ("foot", "feet"),
    "knot": ("knots", "kt"),
    "degree": ("degrees", "deg", "°"),
    "rad": ("radian", "radians"),
    "degree_north": ("degrees_north", "degree_N", "degrees_N"),
    "degree_east": ("degrees_east", "degree_E", "degrees_E"),
    "%": ("percent",),
    "1": ("dimensionless", "-", "none", "unitless"),
}
_KNOWN = {spelt.lower(): name for name, others in _SPELLINGS.items() for spelt in others}
_NUMBER, _SYMBOL = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", r"[^\s*/^.\d+-]+"
_FACTOR = re.compile(rf"(/?)\s*({_NUMBER}|{_SYMBOL})(?:\*\*|\^)?([+-]?\d+)?")


def same_units(one: str, other: str) -> bool:
    """Whether two texts mean one unit; those that would have to be converted do not.

    Args:
        one, other: as the attribute `units` has them.
    """
    return one == other or powers(one) == powers(other)


def powers(text: str) -> Counter | str:
    """Each factor with its exponent; the text itself where it is no product of powers."""
    whole = _named(text.strip())
    if " since " in whole or whole in _SPELLINGS:
        return Counter() if whole == "1" else whole
    found_powers: Counter = Counter()
    rest = whole
    while rest := rest.lstrip(" *.·"):
        found = _FACTOR.match(rest)
        if found is None:
            return whole
        slash, name, exponent = found.groups()
        found_powers[_named(name)] += int(exponent or 1) * (-1 if slash else 1)
        rest = rest[found.end() :]
    return Counter({name: power for name, power in found_powers.items() if power and name != "1"})


def _named(name: str) -> str:
    """The usual spelling of a unit that has several."""
    return _KNOWN.get(name.lower(), name)
