"""Units of fields that users bring: one spelling for each, and what they are in SI."""

import re

SI = (1.0, 0.0)
"""The size of a unit in SI, and the value of its zero there."""
PRESSURES = {"Pa": SI, "hPa": (100.0, 0.0), "kPa": (1000.0, 0.0)}
_SPELT = {
    "meter": "m", "metre": "m", "gpm": "m", "sec": "s", "second": "s", "kelvin": "K", "k": "K",
    "degk": "K", "pascal": "Pa", "pa": "Pa", "hpa": "hPa", "hectopascal": "hPa", "millibar": "hPa",
    "mbar": "hPa", "mb": "hPa", "kpa": "kPa", "celsius": "degC", "degc": "degC", "deg_c": "degC",
    "degree_celsius": "degC", "degrees_celsius": "degC", "°c": "degC", "c": "degC",
}  # fmt: skip


def is_same_unit(first: str, second: str) -> bool:
    """Whether two units are the same: spelt so, or to the letter where they have factors."""
    with_factor = r"(^|[\s*/.(])[-+]?[\d.]+|%"
    if any(re.search(with_factor, text) for text in (first, second)):
        return first.strip() == second.strip()
    return spelt(first) == spelt(second)


def spelt(text: str) -> str:
    """A unit in one spelling: "m s-1" for "m/s", "m s**-1" and "meters second^-1"."""
    powers: dict[str, int] = {}
    for k, part in enumerate(re.sub(r"\*\*|\^", "", text.strip()).split("/")):
        for base, power in re.findall(r"([A-Za-z°_~]+)(-?\d+)?", part):
            small = base.lower()
            unit = _SPELT.get(small) or _SPELT.get(small.rstrip("s")) or base
            powers[unit] = powers.get(unit, 0) + int(power or 1) * (-1 if k else 1)
    order = sorted(powers.items(), key=lambda item: (-item[1], item[0]))
    return " ".join(base if power == 1 else f"{base}{power}" for base, power in order)
