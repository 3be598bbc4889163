"""The number format in which a run's values are judged: its last places and the ends of range; and
packed data: small integers in a file, times a scale and plus an offset (CF, section 8.1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import Arithmetic, resolve_backend
from sciprec.precision.formats.float_format import FORMATS
from sciprec.results.comparison.pointwise.attributes import json_attribute
from sciprec.results.comparison.pointwise.pass_state import ClassLimits
from sciprec.results.output.stated import ADAPTIVE, STORED_STATE

DIRECTED = ("rz", "ru", "rd")
_OF_DTYPES = {"float16": "binary16", "float32": "binary32"}
_OF_A_TURN = 0.02
"""The largest distance from whole turns of the integers for errors that count as wrapped around."""


@dataclass(frozen=True)
class NumberFormat:
    """The number format of a run, as a comparison needs it.

    Args:
        name: of the format.
        significand_bits: p, the implicit bit counted.
        emin: least exponent of normal numbers; None in fixed point, whose units differ by place,
            and where a run has several formats.
        largest: the largest finite number.
        rounding: rn | rz | ru | rd | ro | sr.
    """

    name: str
    significand_bits: int
    emin: int | None
    largest: float
    rounding: str = "rn"

    @property
    def unit_roundoff(self) -> float:
        """2^-p, the largest relative error of rounding to nearest."""
        return math.ldexp(1.0, -self.significand_bits)

    @property
    def limits(self) -> ClassLimits:
        """The limits of the classes, for the compiled loops."""
        floating = self.emin is not None
        least = math.ldexp(1.0, self.emin) if floating else math.ldexp(1.0, -1022)
        normal, saturated = np.array([least, self.largest]).view(np.int64)
        bits = self.significand_bits if floating else 0
        return ClassLimits(int(normal), int(saturated), bits, self.emin if floating else -1022)


SEVERAL = NumberFormat("", 53, None, FORMATS["binary64"].max_finite)
"""The format of values that have several formats, or an unknown one: no last place to count in."""


def formats_of(properties: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the formats of an assignment or a policy, the default first; none of a run in one
    arithmetic.

    Args:
        properties: of the run's arithmetic, as its file has them.
    """
    if (by_place := properties.get("assignment")) is None:
        return ()
    named = [by_place.get("default"), *(place["format"] for place in by_place.get("format", ()))]
    return tuple(dict.fromkeys(map(str, named)))


def only_arithmetic(properties: Mapping[str, Any]) -> Arithmetic | None:
    """The arithmetic of an assignment or a policy that is all in one format; None of others, and
    where its name is not known here.
    """
    names = formats_of(properties)
    try:
        return resolve_backend(names[0]).storage if len(names) == 1 else None
    except InputError:
        return None


def number_format(attributes: dict[str, Any], dtype: np.dtype | str = "float64") -> NumberFormat:
    """The storage format that a file names, else that of the values' dtype; `SEVERAL` where the
    run has several formats.

    Args:
        attributes: of the run's dataset; `sciprec_backend_properties` names the arithmetic.
        dtype: of the values; integers count as binary64, in which they are compared.
    """
    properties = json_attribute(attributes, "sciprec_backend_properties")
    only, storage = only_arithmetic(properties), properties.get("storage")
    if {ADAPTIVE, STORED_STATE} & set(attributes) or (formats_of(properties) and only is None):
        return SEVERAL
    if only is not None:
        used = only.format
        return NumberFormat(
            used.name, used.significand_bits, used.emin, used.max_finite, only.rounding
        )
    if storage is None:
        dtype_format = FORMATS[_OF_DTYPES.get(np.dtype(dtype).name, "binary64")]
        return NumberFormat(
            dtype_format.name,
            dtype_format.significand_bits,
            dtype_format.emin,
            dtype_format.max_finite,
        )
    bits, emin, emax = (
        storage.get(key, usual)
        for key, usual in (("significand_bits", 53), ("emin", -1022), ("emax", 1023))
    )
    name = storage.get("format", "")
    if name in FORMATS:
        largest = FORMATS[name].max_finite
    elif emax is None:
        largest = FORMATS["binary64"].max_finite
    else:
        largest = math.ldexp(2.0 - 2.0 ** (1 - bits), emax)
    return NumberFormat(name, bits, emin, largest, storage.get("rounding", "rn"))


@dataclass(frozen=True)
class Packing:
    """Integers in a file: a value is `integer * step + offset`.

    Args:
        dtype: of the integers, such as "int16".
        step: between neighbouring values, the size of the file's scale_factor.
        offset: the file's add_offset.
    """

    dtype: str
    step: float
    offset: float

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest value that the integers can hold."""
        limits = np.iinfo(self.dtype)
        return limits.min * self.step + self.offset, limits.max * self.step + self.offset

    @property
    def number_format(self) -> NumberFormat:
        """The integers as a fixed point format, which has no units in the last place."""
        limits = np.iinfo(self.dtype)
        largest = max(map(abs, self.ends))
        return NumberFormat(f"packed {self.dtype}", limits.bits - (limits.min < 0), None, largest)

    def wrapped(self, error: float) -> bool:
        """Whether an error is what wrapping around makes: whole turns of the integers, but for the
        errors of other values.
        """
        turns = error / self.step / 2.0 ** np.iinfo(self.dtype).bits
        return math.isfinite(turns) and turns > 0.5 and abs(turns - round(turns)) <= _OF_A_TURN


def packing_of(variable: xr.DataArray) -> Packing | None:
    """The packing of a variable in its file; None where its values are kept as they are."""
    about = variable.encoding
    dtype = np.dtype(about.get("dtype", "float64"))
    if dtype.kind not in "iu" or not {"scale_factor", "add_offset"} & about.keys():
        return None
    if str(about.get("_Unsigned", "false")) == "true":
        dtype = np.dtype(f"u{dtype.name.removeprefix('u')}")
    step, offset = (float(about.get(key, 1.0 - (key == "add_offset")))
                    for key in ("scale_factor", "add_offset"))  # fmt: skip
    usable = step != 0.0 and math.isfinite(step) and math.isfinite(offset)
    return Packing(dtype.name, abs(step), offset) if usable else None
