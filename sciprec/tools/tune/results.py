"""Results of a call: what it returns, and what its arguments hold after it."""

from __future__ import annotations

from typing import Any

import numpy as np

_NUMBERS = (float, complex, int, np.number, np.bool_)


def results_of(
    names: list[str], args: tuple, written: list[bool], returned: Any
) -> dict[str, np.ndarray]:
    """Arrays of numbers by name, in binary64, integers and truths as they are: arguments that may
    be written (`x_0`, `x_1` of those in a tuple `x`), and "return" (`return_0`, ... of several).

    Args:
        names: of the parameters.
        args: after the call.
        written: for each, whether it may be.
        returned: by the call.
    """
    results: dict[str, np.ndarray] = {}
    for name, argument, may_be in zip(names, args, written, strict=True):
        if may_be and isinstance(argument, (np.ndarray, tuple)):
            _note(results, name, argument, arrays_only=True)
    _note(results, "return", returned, arrays_only=False)
    return results


def _note(results: dict[str, np.ndarray], name: str, value: Any, arrays_only: bool) -> None:
    if isinstance(value, tuple):
        for number, item in enumerate(value):
            _note(results, f"{name}_{number}", item, arrays_only)
        return
    array = isinstance(value, np.ndarray)
    if not array and (arrays_only or not isinstance(value, _NUMBERS)):
        return
    values = np.asarray(value)
    if values.dtype.kind == "c":
        results[f"{name}.real"] = values.real.astype(np.float64)
        results[f"{name}.imag"] = values.imag.astype(np.float64)
    elif values.dtype.kind == "f":
        results[name] = values.astype(np.float64)
    elif values.dtype.kind in "iub":
        results[name] = values.copy()
