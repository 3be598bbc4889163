"""The results of a kernel's call, as arrays by name."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from sciprec.foundation.errors import InputError

RETURNED = "return"
"""Name of what a kernel returns, of several things with their numbers; `returned` where an argument
has such a name.
"""
_OLDER = re.compile(r"result(?=$|_\d+$)")


def todays_name(name: str, known: Collection[str]) -> str:
    """The name of a result; of `result`, as older versions called what is returned, `return`, with
    a warning.
    """
    today = _OLDER.sub(RETURNED, name)
    if name in known or today not in known or name == today:
        return name
    message = f"'{name}' is called '{today}' in every verb now; write that"
    warnings.warn(message, FutureWarning, stacklevel=4)
    return today


def left_by_call(
    values: Mapping[str, Any], returned: Any, kinds: str = "fiub"
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the arrays that a kernel was given, as they are now, and its results.

    Args:
        values: of its arguments.
        returned: by the call.
        kinds: of numbers that may be returned, as of NumPy's dtypes.

    Returns:
        The arrays by name, and of those that were given the parameter.

    Raises:
        InputError: what was returned is no number, array or tuple of them.
    """
    arrays = given_arrays(values)
    results = _returned(returned, RETURNED, kinds)
    if results.keys() & arrays.keys():
        results = _returned(returned, "returned", kinds)
    results = {name: array for name, (_, array) in arrays.items()} | results
    return results, {name: argument for name, (argument, _) in arrays.items()}


def given_arrays(values: Mapping[str, Any]) -> dict[str, tuple[str, np.ndarray]]:
    """Arrays by the name of a result, each with its parameter."""
    arrays: dict[str, tuple[str, np.ndarray]] = {}
    for name, value in values.items():
        parts = {f"{name}_{k}": v for k, v in enumerate(value)} if isinstance(value, tuple) else {
            name: value}  # fmt: skip
        arrays |= {n: (name, v) for n, v in parts.items() if isinstance(v, np.ndarray)}
    return arrays


def _returned(value: Any, stem: str, kinds: str) -> dict[str, np.ndarray]:
    """Return the returned numbers and arrays, by name.

    Raises:
        InputError: it is no number, array or tuple of them.
    """
    if value is None:
        return {}
    if not isinstance(value, tuple):
        return {stem: _as_array(value, kinds)}
    parts = enumerate(value)
    return {f"{stem}_{k}": _as_array(item, kinds) for k, item in parts if item is not None}


def _as_array(value: Any, kinds: str) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in kinds:
        raise InputError(
            f"it returns a {type(value).__name__}, which cannot be compared; return real numbers, "
            "arrays of them, or a tuple of these"
        )
    return array
