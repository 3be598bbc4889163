"""Flag variables and quantization metadata: what a file says about its own numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from sciprec.results.output.pieces import pieces_of
from sciprec.results.output.stated import IN_FORMAT, is_compared
from sciprec.results.output.variables import describe

HEALTH, QUANTIZATION = "health", "quantization_info"
FLAGS = ("not_finite", "stopped_early", "saturated", "tolerance_missed")
"""Meanings of the bits of the variable `health`, the lowest one first."""
BINARY64_BITS = 53


def with_health(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset with a flag variable `health`: what happened in the run, one bit each.

    not_finite: a compared variable holds NaN or infinity (CF flag_masks 1); stopped_early: the run
    ended before its time (2); saturated: fixed point met its largest number (4); tolerance_missed:
    a price's bound is above its tolerance (8).
    """
    names, about = dataset.data_vars, dataset.attrs
    compared = (dataset[name].variable for name in names if is_compared(str(name), about))
    fixed = json.loads(dataset.attrs.get("sciprec_fixed_point", "{}"))
    flags = (
        any(
            v.dtype.kind == "f" and not all(np.isfinite(part).all() for part in pieces_of(v))
            for v in compared
        ),
        bool(dataset.attrs.get("blow_up", "")),
        bool(fixed.get("saturations", 0)),
        not dataset.attrs.get("tolerance_met", 1),
    )
    masks = 2 ** np.arange(len(FLAGS), dtype=np.int8)
    value = np.int8(sum(int(mask) for mask, flag in zip(masks, flags, strict=True) if flag))
    row = describe(HEALTH).as_attributes()
    attributes = row | {"flag_masks": masks, "flag_meanings": " ".join(FLAGS)}
    return dataset.assign({HEALTH: ((), value, attributes)})


def with_quantization(dataset: xr.Dataset, backend: Mapping[str, Any]) -> xr.Dataset:
    """Add CF's quantization metadata to variables that have a narrower format.

    Rounding to nearest leaves what CF calls bitround, quantization_nsb being the explicit bits of
    the significand. Other roundings have no name in CF and are told in a comment.

    Args:
        dataset: variables that its attribute `IN_FORMAT` names hold numbers of the format.
        backend: the properties of the arithmetic; a plain dictionary with `storage`.

    Source: CF-1.11, section 8.4.
    """
    storage = backend["storage"]
    names = str(dataset.attrs.get(IN_FORMAT, "")).split()
    bits = storage["significand_bits"]
    if not names or storage["emax"] is None or bits >= BINARY64_BITS:
        return dataset
    result = dataset.copy()
    if storage["rounding"] != "rn":
        for name in names:
            result[name].attrs["comment"] = (
                f"values have {bits} significant bits, rounded by {storage['rounding']}"
            )
        return result
    for name in names:
        result[name].attrs |= {"quantization": QUANTIZATION, "quantization_nsb": np.int32(bits - 1)}
    container = describe(QUANTIZATION).as_attributes()
    container |= {
        "algorithm": "bitround",
        "implementation": "sciprec, every operation of the model rounded to nearest even",
    }
    return result.assign({QUANTIZATION: ((), np.int8(0), container)})
