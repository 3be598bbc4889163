"""The results of a kernel's call, as arrays by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sciprec.foundation.errors import InputError

RETURNED = "result"
"""Name of what a kernel returns, of several things with their numbers; `returned` where an argument
has such a name.
"""


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
    stem = RETURNED if not any(n.startswith(RETURNED) for n in arrays) else "returned"
    results = {name: array for name, (_, array) in arrays.items()} | _returned(
        returned, stem, kinds
    )
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
