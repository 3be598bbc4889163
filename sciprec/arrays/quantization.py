"""Rounding of whole arrays into a backend's storage format."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, cast, overload

import numpy as np

from sciprec.arrays.integers.fixed_point import adaptive_quantize, dequantize
from sciprec.foundation.arguments import integer
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import (
    Backend,
    HandedBackend,
    resolve_backend,
    uniform_backend,
)
from sciprec.precision.formats.fixed_format import FixedFormat
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.registry import kernel


class _Labelled(Protocol):
    """The members of xarray's DataArray and Dataset that tell them apart from plain numbers."""

    @property
    def attrs(self) -> dict[Any, Any]: ...


class _Lazy(Protocol):
    """The members of dask's arrays that tell them apart from plain numbers."""

    def map_blocks(self, *args: Any, **kwargs: Any) -> Any: ...


_Kept = TypeVar("_Kept", bound=_Labelled | _Lazy)


@kernel(example=lambda: (np.array([0.1, -2.7, 1e-9, 3e5, 0.0]), np.zeros(5)))
def copy_rounded(x, out):
    """out = x, each element rounded on loading."""
    for i in range(x.size):
        out[i] = x[i]


@overload
def quantize(x: _Kept, backend: str | Backend, *, seed: int = 0) -> _Kept: ...
@overload
def quantize(
    x: np.ndarray | Sequence[Any], backend: str | Backend, *, seed: int = 0
) -> np.ndarray: ...
@overload
def quantize(x: float | np.number, backend: str | Backend, *, seed: int = 0) -> np.floating: ...
def quantize(x: Any, backend: str | Backend, *, seed: int = 0) -> Any:
    """Round numbers to the storage format of a backend.

    Args:
        x: number, sequence, NumPy array (any shape; float32, float64, integers), or xarray
        DataArray or Dataset
            (floating-point variables are rounded, coordinates are left; dask arrays stay lazy).
        backend: name, spec string or Backend.
        seed: chooses the random bits in a stochastic rounding.

    Returns:
        The same kind of object, shape and dtype (integers become float64, float16 becomes
        float32). A dtype narrower than the format rounds once more, to itself.

    Raises:
        InputError: complex, text or object data; unknown backend.

    Precision:
        One rounding per element. NaN stays NaN, zeros keep their sign; infinities stay where the
        format has them, and become NaN where it has none. In fixed point a whole array has the one
        unit that holds its largest finite element, with the format's headroom; infinities become
        the ends of the range, NaN zero.
    """
    resolved = resolve_backend(backend)
    integer("seed", seed, -(2**63), 2**64 - 1, "an integer")
    if resolved.storage.fixed and hasattr(x, "dask") and hasattr(x, "map_blocks"):
        return x.map_blocks(_in_unit, abs(x).max(), resolved, dtype=_result_dtype(x.dtype))
    if hasattr(x, "data_vars"):
        return x.map(
            lambda v: quantize(v, resolved, seed=seed) if v.dtype.kind == "f" else v,
            keep_attrs=True,
        )
    if hasattr(x, "dims") and hasattr(x, "copy"):
        return x.copy(data=quantize(x.data, resolved, seed=seed))
    if hasattr(x, "dask") and hasattr(x, "map_blocks"):
        return x.map_blocks(quantize, resolved, seed=seed, dtype=_result_dtype(x.dtype))
    values = np.asarray(x)
    if values.dtype.kind not in "fiub" or values.dtype.itemsize > 8:
        raise InputError(
            f"quantize is given data of dtype {values.dtype}; it takes real numbers "
            "(float64, float32, float16, integers): convert first, or take real and "
            "imaginary parts separately"
        )
    dtype = _result_dtype(values.dtype)
    if resolved.storage.fixed:
        finite = np.abs(values[np.isfinite(values)])
        rounded = _in_unit(values, finite.max(initial=0), resolved).astype(dtype)
        return rounded if isinstance(x, (np.ndarray, list, tuple)) else dtype.type(rounded[()])
    flat = np.ascontiguousarray(values, dtype=dtype if values.dtype.kind == "f" else None).reshape(
        -1
    )
    out = np.empty(flat.shape, dtype)
    _rounding_kernel(resolved, seed)(flat, out)
    rounded = out.reshape(values.shape)
    return rounded if isinstance(x, (np.ndarray, list, tuple)) else rounded.dtype.type(rounded[()])


def _in_unit(values: np.ndarray, largest, backend: Backend) -> np.ndarray:
    """The elements in the unit of fixed point that holds `largest`, with the format's headroom."""
    arithmetic = backend.storage
    fmt, value = cast(FixedFormat, arithmetic.format), np.asarray(largest, np.float64).ravel()[:1]
    fixed = functools.partial(
        adaptive_quantize, bits=fmt.bits, headroom=fmt.headroom, round=arithmetic.rounding
    )
    return dequantize(fixed(values, scale=fixed(value).scale, nonfinite="saturate"))


def _result_dtype(dtype: np.dtype) -> np.dtype:
    if dtype.kind != "f":
        return np.dtype(np.float64)
    return np.dtype(np.float32) if dtype.itemsize < 8 else np.dtype(np.float64)


def rounding_into(backend: Backend) -> Callable[[np.ndarray, np.ndarray], None]:
    """A function (values, out) of flat arrays that rounds each number once to the storage format,
    into an array whose dtype holds that; for a floating-point backend without random bits.
    """
    return _rounding_kernel(backend, 0)


def _rounding_kernel(backend: Backend, seed: int):
    if isinstance(backend, HandedBackend):
        return backend.maker.rounding(backend)
    lifted = _lifted(backend)
    return lift(copy_rounded, lifted.backend, seed=seed) if backend.random else lifted


@functools.lru_cache(maxsize=64)
def _lifted(backend: Backend):
    return lift(copy_rounded, uniform_backend(f"{backend.name} storage", backend.storage))
