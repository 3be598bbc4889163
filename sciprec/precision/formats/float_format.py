"""Binary floating-point formats: one table that everything reads, and the spec string for any
other.

A format with `significand_bits` p (the implicit bit counted) and exponents emin..emax holds +-m *
2^(e - p + 1) with integers m < 2^p and emin <= e <= emax; m < 2^(p-1) only for e = emin
(subnormals).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from sciprec.foundation.arguments import integer, word
from sciprec.foundation.errors import InputError
from sciprec.foundation.registry import NamedRows
from sciprec.precision.formats.rounding_rules import ROUNDINGS
from sciprec.precision.formats.spec import Spec

OVERFLOWS = ("infinity", "saturate", "nan")


@dataclass(frozen=True)
class Format:
    """A binary floating-point number format.

    Args:
        name: standard name (binary16, bfloat16, ...) or the canonical spec of a custom format.
        significand_bits: p, the implicit bit counted (11 for binary16).
        emin, emax: least and greatest exponent of normal numbers.
        subnormals: whether numbers below 2^emin exist (else they are flushed to zero, sign kept).
        overflow: "infinity" (IEEE 754-2019 section 7.4), "saturate" (largest finite number), or
            "nan" (the format has no infinity).
        largest: the largest finite number, where it is not (2 - 2^(1-p)) * 2^emax.

    Raises:
        InputError: it is none that is emulated.
    """

    name: str
    significand_bits: int
    emin: int
    emax: int
    subnormals: bool = True
    overflow: str = "infinity"
    largest: float | None = None

    def __post_init__(self) -> None:
        for key in ("significand_bits", "emin", "emax"):
            integer(
                f"format '{self.name}': {key}", getattr(self, key), -(2**20), 2**20, "an integer"
            )
        if wrong := _out_of_reach(self.significand_bits, self.emin, self.emax):
            raise InputError(f"format '{self.name}': {wrong}")
        word(f"overflow of format '{self.name}'", self.overflow, OVERFLOWS)

    @property
    def max_finite(self) -> float:
        """Largest finite number."""
        if self.largest is not None:
            return self.largest
        return math.ldexp(2.0 - 2.0 ** (1 - self.significand_bits), self.emax)

    @property
    def min_normal(self) -> float:
        """Smallest positive normal number, 2^emin."""
        return math.ldexp(1.0, self.emin)

    @property
    def min_subnormal(self) -> float:
        """Spacing of the subnormal grid, 2^(emin - p + 1)."""
        return math.ldexp(1.0, self.emin - self.significand_bits + 1)

    @property
    def min_positive(self) -> float:
        """Smallest positive number that the format holds."""
        return self.min_subnormal if self.subnormals else self.min_normal

    @property
    def unit_roundoff(self) -> float:
        """u = 2^-p, the largest relative error of rounding to nearest."""
        return 2.0**-self.significand_bits

    def holds(self, other: Format) -> bool:
        """Whether every number of the other format, infinities too, is one of this format."""
        smallest = self.min_subnormal <= other.min_subnormal
        if not self.subnormals:
            smallest = smallest and self.min_normal <= other.min_positive
        return (
            smallest
            and self.significand_bits >= other.significand_bits
            and self.max_finite >= other.max_finite
            and (self.overflow != "nan" or other.overflow == "nan")
        )

    @property
    def is_binary64(self) -> bool:
        """Whether this is the processor's binary64 in everything."""
        return _shape(self) == _shape(FORMATS["binary64"])

    @property
    def is_binary32(self) -> bool:
        """Whether this is the processor's binary32 in everything."""
        return _shape(self) == _shape(FORMATS["binary32"])


def _shape(fmt: Format) -> tuple:
    return (fmt.significand_bits, fmt.emin, fmt.emax, fmt.subnormals, fmt.overflow, fmt.max_finite)


def _out_of_reach(p: int, emin: int, emax: int) -> str:
    """Return the defect of a format's numbers, in words; "" if there is none."""
    if not 2 <= p <= 53:
        return f"p={p} is outside 2 to 53"
    if emin >= emax:
        return f"emin={emin} is not below emax={emax}"
    if (p, emin, emax) != (53, -1022, 1023) and (emin - p + 1 < -450 or emax > 450):
        return (
            f"emin={emin}, emax={emax} reach too far: emin - p + 1 >= -450 and emax <= 450 are "
            "emulated, or p=53,emin=-1022,emax=1023"
        )
    return ""


def unfit_random_bits(rounding: str, random_bits: int | None) -> str:
    """Why a rounding cannot draw a number of random bits; "" if it can, or none is given."""
    if random_bits is None:
        return ""
    rule = ROUNDINGS[rounding]
    if not rule.random or rule.even_chances or rule.noisy:
        draws = "does not go up by their number" if rule.random else "draws none"
        return (
            f"random_bits={random_bits} is given with round={rounding}, which {draws}; "
            "it is accepted with round=sr: write that, or leave random_bits out"
        )
    if random_bits not in range(1, MOST_RANDOM_BITS + 1):
        return f"random_bits={random_bits} is no whole number from 1 to {MOST_RANDOM_BITS}"
    return ""


def unfit_virtual_bits(rounding: str, virtual_bits: int | None, p: int) -> str:
    """Why a rounding cannot have a virtual precision; "" if it can, or none is given."""
    if virtual_bits is None:
        return ""
    if not ROUNDINGS[rounding].noisy:
        return (
            f"virtual_bits={virtual_bits} is given with round={rounding}, which adds no noise; it "
            "is accepted with round=rr, pb or mca: write one of them, or leave virtual_bits out"
        )
    if virtual_bits not in range(1, p + 1):
        return f"virtual_bits={virtual_bits} is no whole number from 1 to {p}"
    return ""


def unfit_rounding(rounding: str, fmt: Format) -> str:
    """Why a rounding is not offered for a format; "" if it is."""
    rule = ROUNDINGS[rounding]
    if rule.noisy and fmt not in (FORMATS["binary64"], FORMATS["binary32"]):
        return (
            f"round={rounding} is offered for binary64 and binary32: write 'fp64,round={rounding}' "
            f"or 'fp32,round={rounding}'"
        )
    if rule.mode is None and fmt.emin < -450:
        if not rule.random:
            return f"round={rounding} needs exponents within emin - p + 1 >= -450, emax <= 450"
        if not fmt.is_binary64:
            return (
                f"round={rounding} with binary64's exponents is offered where subnormals are kept "
                "and overflow is infinity"
            )
    return ""


FORMATS: NamedRows[Format] = NamedRows(
    "format",
    Format("binary64", 53, -1022, 1023),
    Format("binary32", 24, -126, 127),
    Format("binary16", 11, -14, 15),
    Format("bfloat16", 8, -126, 127),
    Format("tf32", 11, -126, 127),
    Format("float8_e4m3fn", 4, -6, 8, overflow="nan", largest=448.0),
    Format("float8_e5m2", 3, -14, 15),
    Format("mlu370", 21, -126, 127, subnormals=False),
)
"""Every format by its standard name; `add` takes more of them."""

ALIASES = {
    "fp64": "binary64",
    "float64": "binary64",
    "double": "binary64",
    "fp32": "binary32",
    "float32": "binary32",
    "single": "binary32",
    "fp16": "binary16",
    "float16": "binary16",
    "half": "binary16",
    "bf16": "bfloat16",
    "e4m3fn": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
}

SPEC_EXAMPLE = "float:p=11,emin=-14,emax=15,round=rz,subnormals=flush,overflow=saturate"
_SPEC_KEYS = ("p", "emin", "emax", "e", "m", "round", "random_bits", "subnormals", "overflow")
_BARE = re.compile(r"e(\d+)m(\d+)((?:,.*)?)")
_OF_OCP = {
    "e4m3": "e4m3fn",
    "e3m2": "float:p=3,emin=-2,emax=4,overflow=saturate",
    "e2m3": "float:p=4,emin=0,emax=2,overflow=saturate",
    "e2m1": "float:p=2,emin=0,emax=2,overflow=saturate",
}
"""Bare names whose greatest exponent OCP gives to numbers (Microscaling Formats, version 1.0, 2023,
table 1), and what is meant by them there; e5m2 is the same in both readings.
"""
MOST_RANDOM_BITS = 32
"""Of a rounding to which a number of random bits is given."""


def parse_spec(spec: str) -> tuple[Format, str, int | None]:
    """Read a spec string such as 'float:p=11,emin=-14,emax=15,round=rz' into (Format, rounding,
    random bits or None).

    Keys: e, bits of the exponent (2 to 11), and m, bits of the significand that are stored (1 to
    52), of a format as IEEE 754 makes them, whose greatest exponent is kept for infinity and NaN:
    p = m + 1, emax = 2^(e - 1) - 1, emin = 1 - emax. Or, in their place: p, significand bits with
    the implicit one (2 to 53); emin and emax, the least and greatest exponent (emin = 1 - emax,
    emax = 127). Then round, a name in `ROUNDINGS` (rn); random_bits, of round=sr (1 to 32);
    subnormals, keep or flush (keep); overflow, infinity or saturate (infinity).

    Raises:
        InputError: with the part that is wrong and what is accepted in its place.
    """
    parsed = Spec(spec, "float:", _SPEC_KEYS, SPEC_EXAMPLE)
    p, emin, emax, name = _shape_of(parsed)
    rounding = parsed.choice("round", "rn", ROUNDINGS)
    subnormals = parsed.choice("subnormals", "keep", ("keep", "flush"))
    overflow = parsed.choice("overflow", "infinity", OVERFLOWS[:2])
    few = parsed.integer("random_bits") if "random_bits" in parsed.values else None
    if wrong := _out_of_reach(p, emin, emax):
        raise parsed.refused(wrong)
    if name:
        name += ",subnormals=flush" * (subnormals == "flush")
        name += ",overflow=saturate" * (overflow == "saturate")
    else:
        name = f"float:p={p},emin={emin},emax={emax},subnormals={subnormals},overflow={overflow}"
    fmt = Format(name, p, emin, emax, subnormals == "keep", overflow)
    if wrong := unfit_rounding(rounding, fmt) or unfit_random_bits(rounding, few):
        raise parsed.refused(wrong)
    return fmt, rounding, few


def _shape_of(parsed: Spec) -> tuple[int, int, int, str]:
    """Return p, emin, emax and, where e and m are given, the name that says so, else ""."""
    values = parsed.values
    if "e" in values or "m" in values:
        if surplus := [key for key in ("p", "emin", "emax") if key in values]:
            raise parsed.refused(f"'{surplus[0]}' is given beside 'e' or 'm'")
        shape = []
        for key, least, most in (("e", 2, 11), ("m", 1, 52)):
            if key not in values:
                raise parsed.refused(f"'{key}' is missing")
            shape.append(parsed.integer(key))
            if not least <= shape[-1] <= most:
                raise parsed.refused(f"{key}={shape[-1]} is outside {least} to {most}")
        emax = 2 ** (shape[0] - 1) - 1
        return shape[1] + 1, 1 - emax, emax, f"float:e={shape[0]},m={shape[1]}"
    if "p" not in values:
        raise parsed.refused("'p' is missing, or 'e' and 'm'")
    p = parsed.integer("p")
    if "emax" in values:
        emax = parsed.integer("emax")
        return p, parsed.integer("emin", str(1 - emax)), emax, ""
    emin = parsed.integer("emin", "-126")
    return p, emin, 1 - emin, ""


def spec_of_bits(name: str) -> str:
    """The spec string that a name such as 'e6m5' or 'e6m5,round=rz' stands for; "" if it is none.

    Raises:
        InputError: OCP defines a format of that name otherwise; both spellings are in the sentence.
    """
    parsed = _BARE.fullmatch(name)
    if not parsed:
        return ""
    bare = f"e{parsed[1]}m{parsed[2]}"
    spec = f"float:e={parsed[1]},m={parsed[2]}"
    if bare in _OF_OCP:
        raise InputError(
            f"'{name}' has two meanings: the format of OCP, without infinity, is "
            f"'{_OF_OCP[bare]}'; the one with infinity, as IEEE 754 makes formats, is '{spec}'"
        )
    return spec + parsed[3]
