"""The error of the wind by scale: by total wavenumber, and by bands of zonal wavenumbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.results.comparison.evidence.spectra import NOTHING, coefficients, order_shares
from sciprec.results.comparison.wording import number


@dataclass(frozen=True)
class ErrorScales:
    """A run's error of the wind relative to the truth's wind, scale by scale, at the last time.

    Args:
        days: which time that is.
        wavenumber: total wavenumbers from 1 (n,).
        by_degree: sqrt(kinetic energy of the difference / that of the truth) at each of them (n,);
            NaN where the truth holds nothing.
        by_band: the same by bands of zonal wavenumbers; bands without any wind are left out.
        whole: likewise, of the whole wind; pages and JSON have it under this name.
        sentence: what it comes to.
    """

    days: float
    wavenumber: np.ndarray
    by_degree: np.ndarray
    by_band: dict[str, float]
    whole: float
    sentence: str


def error_scales(golden: xr.Dataset, actual: xr.Dataset) -> ErrorScales:
    """The error of the wind of a run by scale.

    error[S] = sqrt(sum over (l, m) in S of E[actual - golden] / sum of E[golden]),
    E[l, m] = (2 - [m = 0]) (|zeta[l, m]|^2 + |delta[l, m]|^2) / (l (l+1))

    Args:
        golden, actual: with vorticity (and divergence) on all points of a Gaussian grid.

    Returns:
        Over the last time that both have, all levels together.

    Raises:
        InputError: there is no vorticity over time on a Gaussian grid, or it is not finite.
    """
    if "vorticity" not in golden or "vorticity" not in actual:
        raise InputError(
            "the run has no 'vorticity'; store it with the key 'variables' of [climate]"
        )
    last = min(golden.sizes["time"], actual.sizes["time"]) - 1
    size, error = 0.0, 0.0
    for name in ("vorticity", "divergence"):
        if name in golden and name in actual:
            truth, values = (run[name].isel(time=last).values for run in (golden, actual))
            if not (np.isfinite(truth).all() and np.isfinite(values).all()):
                raise InputError(f"'{name}' holds values that are not finite, which have no scales")
            size = size + _energy(golden, truth)
            error = error + _energy(golden, values - truth)
    bands = {name: _band(size, error, *ends) for name, ends in BANDS.items()}
    finite = {name: value for name, value in bands.items() if np.isfinite(value)}
    by_degree = _relative(size.sum(axis=1), error.sum(axis=1), size.sum())
    finite_degrees = np.flatnonzero(np.isfinite(by_degree))
    length = int(finite_degrees[-1]) + 1 if finite_degrees.size else 1
    total_error = float(_relative(size.sum(), error.sum(), size.sum()))
    return ErrorScales(
        float(golden["time"][last]), np.arange(1, length), by_degree[1:length], finite, total_error,
        _sentence(finite, total_error),
    )  # fmt: skip


def _energy(dataset: xr.Dataset, values: np.ndarray) -> np.ndarray:
    """Energy (degree, order) of a vorticity or divergence, levels added."""
    squared = np.abs(coefficients(dataset, values)) ** 2
    squares = squared.reshape(-1, *squared.shape[-2:]).sum(axis=0)
    degree = np.arange(squares.shape[0], dtype=np.float64)
    each = order_shares(squares.shape[1]) * squares / np.maximum(degree * (degree + 1), 1)[:, None]
    each[0] = 0.0
    return each


def _band(size: np.ndarray, error: np.ndarray, first: int, last: int | None) -> float:
    """The error of a band of orders."""
    orders = slice(first, None if last is None else last + 1)
    return float(_relative(size[:, orders].sum(), error[:, orders].sum(), size.sum()))


def _relative(size: np.ndarray, error: np.ndarray, total: float) -> np.ndarray:
    """sqrt(error / size); NaN where the truth holds nothing."""
    significant = size > NOTHING * total
    return np.where(significant, np.sqrt(error / np.where(significant, size, 1.0)), np.nan)


def _sentence(bands: dict[str, float], total: float) -> str:
    """The errors of the bands, in words."""
    errors = ", ".join(f"{number(value)} at {name}" for name, value in bands.items())
    return f"relative error of the wind {number(total)}: {errors}" if errors else "there is no wind"


BANDS = {"m = 0": (0, 0), "m = 1 to 3": (1, 3), "m = 4 to 15": (4, 15), "m above 15": (16, None)}
"""Name of a band of zonal wavenumbers -> its first and last one."""
