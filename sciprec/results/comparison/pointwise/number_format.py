"""The number format in which a run's values are judged: its last places and the ends of range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sciprec.precision.formats.float_format import FORMATS
from sciprec.results.comparison.pointwise.attributes import json_attribute
from sciprec.results.comparison.pointwise.pass_state import ClassLimits

DIRECTED = ("rz", "ru", "rd")
_OF_DTYPES = {"float16": "binary16", "float32": "binary32"}


@dataclass(frozen=True)
class NumberFormat:
    """The number format of a run, as a comparison needs it.

    Args:
        name: of the format.
        significand_bits: p, the implicit bit counted.
        emin: least exponent of normal numbers; None in fixed point, whose units differ by place.
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


def number_format(attributes: dict[str, Any], dtype: np.dtype | str = "float64") -> NumberFormat:
    """The storage format that a file names, else that of the values' dtype.

    Args:
        attributes: of the run's dataset; `sciprec_backend_properties` names the arithmetic.
        dtype: of the values; integers count as binary64, in which they are compared.
    """
    storage = json_attribute(attributes, "sciprec_backend_properties").get("storage")
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
