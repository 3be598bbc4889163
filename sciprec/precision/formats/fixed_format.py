"""Fixed-point formats: integers of a few bits, each place with a power-of-two unit of its own."""

from __future__ import annotations

from dataclasses import dataclass

from sciprec.foundation.errors import InputError, meant
from sciprec.precision.formats.rounding_rules import ROUNDINGS

FIXED_ROUNDINGS = tuple(name for name, rule in ROUNDINGS.items() if rule.mode is not None)
MIN_BITS, MAX_BITS, ACCUMULATOR_BITS = 3, 32, 50
SPEC_EXAMPLE = "fixed:bits=24,round=rn,saturate=yes,headroom=2"
_SPEC_KEYS = ("bits", "round", "saturate", "headroom")


@dataclass(frozen=True)
class FixedFormat:
    """Numbers k u with integers -2^(bits-1) <= k < 2^(bits-1) and a unit u = 2^-f.

    The unit belongs to the place where a number is made (an operation, an array, a variable), not
    to the format: see `sciprec.lift`.

    Args:
        name: fixed32, or the canonical spec.
        bits: of the integer, its sign counted.
        headroom: bits left free above the largest number that was expected.
        saturate: results beyond the range become its nearest end; else the upper bits are lost, as
            in two's complement (quotients and functions saturate always).
    """

    name: str
    bits: int
    headroom: int = 1
    saturate: bool = True

    is_binary64 = is_binary32 = False
    emin = emax = None
    subnormals = True

    @property
    def significand_bits(self) -> int:
        """Bits of the largest numbers, without the sign."""
        return self.bits - 1

    @property
    def unit_roundoff(self) -> float:
        """Half a unit against the largest number, 2^-bits: smaller numbers have larger errors."""
        return 2.0**-self.bits

    @property
    def overflow(self) -> str:
        """The treatment of results beyond the range."""
        return "saturate" if self.saturate else "wrap"


FIXED32 = FixedFormat("fixed32", 32)
FIXED16 = FixedFormat("fixed16", 16)
ACCUMULATOR = FixedFormat("fixed accumulator", ACCUMULATOR_BITS, headroom=8)
"""Sums of products: of a 64-bit accumulator the bits that matter to 32-bit results."""


def parse_fixed_spec(spec: str) -> tuple[FixedFormat, str]:
    """Read a spec string such as 'fixed:bits=24,round=rn,saturate=yes,headroom=2'.

    Defaults: round=rn, saturate=yes, headroom=1.

    Returns:
        (FixedFormat, rounding).

    Raises:
        InputError: with the part that is wrong and what is accepted in its place.
    """
    values: dict[str, str] = {}
    for part in filter(None, spec.removeprefix("fixed:").split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in _SPEC_KEYS:
            raise InputError(_bad(spec, f"{part.strip()!r} is not key=value with a known key", key))
        if key in values:
            raise InputError(_bad(spec, f"{key!r} is given twice"))
        values[key] = value
    if "bits" not in values:
        raise InputError(_bad(spec, "'bits' is missing"))
    bits = _whole(spec, "bits", values["bits"], MIN_BITS, MAX_BITS)
    headroom = _whole(spec, "headroom", values.get("headroom", "1"), 0, bits - 2)
    rounding = _one_of(spec, "round", values.get("round", "rn"), FIXED_ROUNDINGS)
    saturate = _one_of(spec, "saturate", values.get("saturate", "yes"), ("yes", "no"))
    name = f"fixed:bits={bits},saturate={saturate},headroom={headroom}"
    return FixedFormat(name, bits, headroom, saturate == "yes"), rounding


def _whole(spec: str, key: str, text: str, least: int, most: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = None
    if value is None or not least <= value <= most:
        raise InputError(_bad(spec, f"{key}={text!r} is no whole number from {least} to {most}"))
    return value


def _one_of(spec: str, key: str, text: str, accepted: tuple[str, ...]) -> str:
    if text not in accepted:
        raise InputError(_bad(spec, f"{key}={text!r} is not one of {', '.join(accepted)}"))
    return text


def _bad(spec: str, what: str, key: str = "") -> str:
    return (
        f"malformed number format '{spec}': {what}{meant(key, _SPEC_KEYS)}; "
        f"accepted keys: {', '.join(_SPEC_KEYS)}, as in '{SPEC_EXAMPLE}'"
    )
