"""Packed data: small integers in a file, times a scale and plus an offset (CF, section 8.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import xarray as xr

from sciprec.results.comparison.pointwise.number_format import NumberFormat

_OF_A_TURN = 0.02
"""The largest distance from whole turns of the integers for errors that count as wrapped around."""


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
