"""Fixed-point formats: integers of a few bits, each place with a power-of-two unit of its own."""

from __future__ import annotations

from dataclasses import dataclass

from sciprec.precision.formats.rounding_rules import ROUNDINGS
from sciprec.precision.formats.spec import Spec

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
    parsed = Spec(spec, "fixed:", _SPEC_KEYS, SPEC_EXAMPLE)
    if "bits" not in parsed.values:
        raise parsed.refused("'bits' is missing")
    bits = _integer(parsed, "bits", "", MIN_BITS, MAX_BITS)
    headroom = _integer(parsed, "headroom", "1", 0, bits - 2)
    rounding = parsed.choice("round", "rn", FIXED_ROUNDINGS)
    saturate = parsed.choice("saturate", "yes", ("yes", "no"))
    name = f"fixed:bits={bits},saturate={saturate},headroom={headroom}"
    return FixedFormat(name, bits, headroom, saturate == "yes"), rounding


def _integer(parsed: Spec, key: str, usual: str, least: int, most: int) -> int:
    text = parsed.values.get(key, usual)
    try:
        value = int(text)
    except ValueError:
        value = None
    if value is None or not least <= value <= most:
        raise parsed.refused(f"{key}={text!r} is no whole number from {least} to {most}")
    return value
