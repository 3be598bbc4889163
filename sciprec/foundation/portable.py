"""Tables and initial states that do not follow the processor.

NumPy computes elementary functions of binary64 arrays by other code on processors with AVX-512,
whose last bits differ, and LAPACK and BLAS choose theirs by the processor, too. A model in few bits
makes much of that: the error of five days in the MLU370's arithmetic changed by 3 %. In extended
precision there is one code, of the C library, and its result rounded to binary64 is the nearest
number but for one in a thousand. Where a platform has no extended precision (Windows, macOS on
arm64), NumPy's own results stand.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

_Function = TypeVar("_Function", bound=Callable[..., Any])


def portable(function: Callable[..., Any], *args: ArrayLike) -> Any:
    """A NumPy function of binary64 numbers with the same bits on every processor: computed in
    extended precision and rounded once.

    Example:
        portable(np.exp, [0.0, 1.0])
    """
    return np.float64(function(*(np.asarray(x, np.longdouble) for x in args)))


def in_extended_precision(function: _Function) -> _Function:
    """Let a function of longitude and latitude compute in extended precision: both are widened,
    and the arrays of its result, those in fields of a dataclass too, are rounded to binary64.
    """

    @functools.wraps(function)
    def widened(lon: ArrayLike, lat: ArrayLike, *args: Any, **options: Any) -> Any:
        wide = (np.asarray(x, np.longdouble) for x in (lon, lat))
        return _rounded(function(*wide, *args, **options))

    return widened  # type: ignore[return-value]


def _rounded(result: Any) -> Any:
    if is_dataclass(result) and not isinstance(result, type):
        values = {f.name: getattr(result, f.name) for f in fields(result) if f.init}
        return replace(result, **{name: _rounded(value) for name, value in values.items()})
    is_wide = isinstance(result, np.ndarray | np.generic) and result.dtype == np.longdouble
    return np.float64(result) if is_wide else result
