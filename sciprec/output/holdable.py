"""What a netCDF file can hold: the library's own complaints name neither variable nor attribute."""

from __future__ import annotations

import re
from typing import Any
from unicodedata import normalize

import numpy as np
import xarray as xr

from sciprec.checks.arguments import shown
from sciprec.errors import InputError

_NAME = re.compile(r"[\w\x80-\U0010ffff][^/\x00-\x1f\x7f]*(?<! )")


def require_holdable(dataset: xr.Dataset) -> None:
    """Make sure that a netCDF file can hold a dataset.

    Raises:
        InputError: it cannot.
    """
    for name in (*dataset.variables, *dataset.dims):
        if not _is_text(name) or not _NAME.fullmatch(name) or normalize("NFC", name) != name:
            raise InputError(
                f"a variable or axis is named {shown(name)}; a netCDF file takes names in plain "
                "Unicode (NFC) without '/' that begin with a letter, a digit or '_': rename it"
            )
    for name, variable in dataset.variables.items():
        texts = variable.dtype == object and all(map(_is_text, np.ravel(variable.values)))
        if not (texts or variable.dtype.kind in "biuUSMm" or _is_real(variable.dtype)):
            raise InputError(
                f"the variable '{name}' is an array of {variable.dtype}; a netCDF file holds "
                "integers, numbers of binary32 and binary64, texts and times: convert it"
            )
    told = {"the dataset": dataset.attrs}
    told |= {f"the variable '{n}'": v.attrs for n, v in dataset.variables.items()}
    for owner, attributes in told.items():
        for name, value in attributes.items():
            if not (isinstance(name, str) and name and _is_text(name) and _is_attribute(value)):
                raise InputError(
                    f"the attribute {shown(name)} of {owner} is {shown(value)}; in a netCDF file "
                    "attributes have names and are texts, real numbers, or lists of either: "
                    "leave it out, or write it as text"
                )


def _is_attribute(value: Any) -> bool:
    """Whether a netCDF file can hold an attribute."""
    if not isinstance(value, (str, int, float, list, tuple, np.ndarray, np.number)):
        return False
    try:
        array = np.asarray(value)
    except ValueError:  # rows of several lengths
        return False
    texts = array.dtype.kind == "U" and all(map(_is_text, array.ravel().tolist()))
    return array.ndim < 2 and (texts or array.dtype.kind in "iu" or _is_real(array.dtype))


def _is_real(kind: np.dtype) -> bool:
    """Whether numbers are of binary32 or binary64."""
    return kind.kind == "f" and kind.itemsize in (4, 8)


def _is_text(value: Any) -> bool:
    """Whether a value is text that a netCDF file can hold."""
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        return value.encode() is not None
    except UnicodeEncodeError:  # half of a pair
        return False
