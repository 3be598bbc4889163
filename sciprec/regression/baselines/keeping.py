"""The part of a run that a baseline keeps: a digest of every variable, and few of its values.

Digests tell the same bits from others. How far other bits are from the old ones is told by some
values of each variable, evenly spread over its axes, and by mean and root mean square of them all.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import xarray as xr

from sciprec.results.comparison.pointwise.pairing import compared_names

MOST_VALUES = 2048
"""Most values of a variable that a baseline keeps."""
METRICS = {
    "max_abs": "largest difference",
    "rms": "RMS difference",
    "mean": "difference of the means",
    "level": "difference of the root mean squares",
}
"""Distances of two runs, in the variable's units: the first two of the kept values, the others of
all values.
"""


@dataclass(frozen=True)
class Fingerprint:
    """Facts about all values of a variable.

    Args:
        digest: of their bits; any NaN is any other.
        shape, dims: of the array.
        nan, above, below: how many are NaN, infinity and minus infinity.
        pattern: a digest of where these are.
        mean, rms: of the finite values; 0 where there is none.
    """

    digest: str
    shape: tuple[int, ...]
    dims: tuple[str, ...]
    nan: int
    above: int
    below: int
    pattern: str
    mean: float
    rms: float

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self) | {"shape": list(self.shape), "dims": list(self.dims)}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Fingerprint:
        """Read a fingerprint from what `as_dict` gave."""
        values = {name: stored[name] for name in cls.__dataclass_fields__}
        return cls(**values | {"shape": tuple(values["shape"]), "dims": tuple(values["dims"])})


def fingerprints(dataset: xr.Dataset) -> dict[str, Fingerprint]:
    """Fingerprints of every variable that is compared, and of every axis, by name."""
    along = [str(n) for n in dataset.dims if n in dataset.coords and _is_plain(dataset, n)]
    return {name: _fingerprint(dataset[name]) for name in (*compared_names(dataset), *along)}


def kept_values(dataset: xr.Dataset) -> xr.Dataset:
    """The variables that are compared, with as many of their values as a baseline keeps: the last
    ones along every axis among them.
    """
    names = compared_names(dataset)
    sizes = {str(dim): n for dim, n in dataset.sizes.items()}
    strides = dict.fromkeys(sizes, 1)

    def left(dim: str) -> int:
        return -(-sizes[dim] // strides[dim])

    for name in names:
        dims = [str(dim) for dim in dataset[name].dims]
        while math.prod(map(left, dims)) > MOST_VALUES:
            strides[max(dims, key=left)] += 1
    chosen = {d: np.arange(n - 1, -1, -strides[d])[::-1] for d, n in sizes.items()}
    thinned = dataset[names].isel({d: c for d, c in chosen.items() if strides[d] > 1})
    thinned = thinned.drop_vars(
        [n for n in thinned.coords if n not in thinned.dims or not _is_plain(thinned, n)]
    ).drop_attrs()
    for name in names:
        thinned[name].attrs["units"] = str(dataset[name].attrs.get("units", ""))
    return thinned.drop_encoding()


def differences(
    first: xr.Dataset, second: xr.Dataset,
    of_one: Mapping[str, Fingerprint], of_other: Mapping[str, Fingerprint], name: str,
) -> dict[str, float]:  # fmt: skip
    """METRICS of a variable of two runs, over the values that are finite in both; see there.

    Args:
        first, second: kept values.
        of_one, of_other: fingerprints.
        name: of a variable that both have with the same shape.
    """
    apart = difference(first, second, name)
    rms = math.sqrt(float(np.mean(apart**2))) if apart.size else 0.0
    return {
        "max_abs": float(np.max(np.abs(apart), initial=0.0)),
        "rms": rms,
        "mean": abs(of_one[name].mean - of_other[name].mean),
        "level": abs(of_one[name].rms - of_other[name].rms),
    }


def difference(first: xr.Dataset, second: xr.Dataset, name: str) -> np.ndarray:
    """first - second of the kept values of a variable, 0 where either is not finite."""
    values, second_values = (np.asarray(each[name].values, np.float64) for each in (first, second))
    with np.errstate(all="ignore"):
        apart = values - second_values
    return np.where(np.isfinite(values) & np.isfinite(second_values), apart, 0.0)


def relative_error(truth: xr.Dataset, run: xr.Dataset, name: str) -> float:
    """Relative l2 error of the kept values of a variable; 0 of a truth without any."""
    truth_values = np.asarray(truth[name].values, np.float64)
    size = float(np.linalg.norm(np.where(np.isfinite(truth_values), truth_values, 0.0)))
    return float(np.linalg.norm(difference(run, truth, name))) / size if size else 0.0


def _is_plain(dataset: xr.Dataset, axis: Any) -> bool:
    """Whether the values along an axis are single ones."""
    return getattr(dataset.indexes.get(axis), "nlevels", 1) == 1


def _fingerprint(variable: xr.DataArray) -> Fingerprint:
    values = np.ascontiguousarray(variable.values).reshape(variable.shape)
    if values.dtype.kind in "mM":
        values = values.view(np.int64)
    elif values.dtype.kind not in "fiub":
        values = np.frombuffer(repr(values.tolist()).encode(), np.uint8)
    lost = np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
    bits = np.where(lost, np.array(np.nan, values.dtype), values) if lost.any() else values
    bits = bits.astype(bits.dtype.newbyteorder("<"))
    above, below = values == np.inf, values == -np.inf
    finite = np.asarray(values[~(lost | above | below)], np.float64)
    scale = float(np.max(np.abs(finite), initial=0.0))
    unit = finite / scale if scale else finite  # squares neither overflow nor vanish
    shape = tuple(map(int, variable.shape))
    return Fingerprint(
        digest=_digest(f"{bits.dtype.str}{shape}".encode(), bits.tobytes()),
        shape=shape,
        dims=tuple(map(str, variable.dims)),
        nan=int(lost.sum()), above=int(above.sum()), below=int(below.sum()),
        pattern=_digest(*(np.packbits(mask).tobytes() for mask in (lost, above, below))),
        mean=scale * float(np.mean(unit)) if unit.size else 0.0,
        rms=scale * math.sqrt(float(np.mean(unit**2))) if unit.size else 0.0,
    )  # fmt: skip


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d:" % len(part) + part)
    return digest.hexdigest()
