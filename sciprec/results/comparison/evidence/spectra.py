"""Kinetic energy by scale: where a run's spectrum departs from that of the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import xarray as xr
from scipy.special import sph_legendre_p_all

from sciprec.foundation.errors import InputError
from sciprec.results.comparison.wording import factor
from sciprec.results.output.pieces import pieces_of

SPECTRUM = "kinetic_energy_spectrum"
TOLERANCE = 1.1
"""Factor between two spectra below which they count as one, unless members of the truth differ."""
NOTHING = 1e-24
"""Share of the largest energy below which a scale holds nothing but the rounding of transforms."""
MOST_LATITUDES = 192
"""Most latitudes of a field whose spectrum is made here: the table takes 8 nlat^3 bytes and more.
"""


@dataclass(frozen=True)
class SpectrumRatio:
    """A run's kinetic energy over the truth's, by total wavenumber.

    Args:
        wavenumber: from 1 (n,).
        golden, actual: kinetic energy (n,), m2/s2, means over the second half of the stored times.
        ratio: actual / golden (n,); 1 where both are zero.
        accepted: (n, 2), the lowest and the largest ratio that is no departure.
        departs_at: the smallest wavenumber from which on every ratio is outside of `accepted`; None
            where the last one is inside.
        sentence: what it comes to.
    """

    wavenumber: np.ndarray
    golden: np.ndarray
    actual: np.ndarray
    ratio: np.ndarray
    accepted: np.ndarray
    departs_at: int | None
    sentence: str


def spectrum_ratio(
    golden: xr.Dataset, actual: xr.Dataset, members: Sequence[xr.Dataset] = ()
) -> SpectrumRatio:
    """Compare the kinetic energy spectra of a run and of its truth.

    Args:
        golden, actual: with kinetic_energy_spectrum, or vorticity (and divergence) on all points of
            a Gaussian grid.
        members: other members of the truth, whose own ratios to it are no departure, either.

    Returns:
        A SpectrumRatio over the second half of the times that both have; levels are averaged.

    Raises:
        InputError: there is neither a spectrum nor vorticity on a Gaussian grid.
    """
    count = min(run.sizes["time"] for run in (golden, actual, *members))
    times = slice(count // 2, count)
    exact, spectrum = (mean_spectrum(run, times) for run in (golden, actual))
    length = _resolved(exact, spectrum)
    of_members = [_ratio(mean_spectrum(m, times), exact)[1:length] for m in members]
    ratio = _ratio(spectrum, exact)[1:length]
    accepted = np.empty((ratio.size, 2))
    accepted[:, 0] = np.min([np.full(ratio.size, 1.0 / TOLERANCE), *of_members], axis=0)
    accepted[:, 1] = np.max([np.full(ratio.size, TOLERANCE), *of_members], axis=0)
    inside = (ratio >= accepted[:, 0]) & (ratio <= accepted[:, 1])
    last = int(np.flatnonzero(inside)[-1]) + 1 if inside.any() else 0
    departs = last + 1 if last < ratio.size else None
    return SpectrumRatio(
        np.arange(1, length), exact[1:length], spectrum[1:length], ratio, accepted, departs,
        _sentence(ratio, departs),
    )  # fmt: skip


def mean_spectrum(dataset: xr.Dataset, times: slice) -> np.ndarray:
    """Kinetic energy by total wavenumber from 0 (n,), mean over times and levels, m2/s2.

    Degrees that the grid could hold and the run's truncation does not are zero to rounding.

    E[l] = a^2 / (2 l (l+1)) sum over m of (2 - [m = 0]) (|zeta[l, m]|^2 + |delta[l, m]|^2)

    Args:
        dataset: with kinetic_energy_spectrum, or vorticity (and divergence) on a Gaussian grid.
        times: which of the stored times.

    Raises:
        InputError: there is neither, or it is not finite.
    """
    for name in (SPECTRUM, "vorticity", "divergence"):
        parts = pieces_of(dataset[name].variable) if name in dataset else ()
        if not all(np.isfinite(part).all() for part in parts):
            raise InputError(f"'{name}' holds values that are not finite, which have no spectrum")
    if SPECTRUM in dataset:
        stored = dataset[SPECTRUM].transpose("time", ..., "total_wavenumber").values[times]
        return stored.reshape(-1, stored.shape[-1]).mean(axis=0)
    if "vorticity" not in dataset:
        raise InputError(
            f"the run has neither '{SPECTRUM}' nor 'vorticity'; store one of them with the key "
            "'variables' of [climate]"
        )
    names = [n for n in ("vorticity", "divergence") if n in dataset]
    power = sum(_power(dataset, dataset[n].variable[times]) for n in names)
    degree = np.arange(power.size, dtype=np.float64)
    square_radius = float(dataset["cell_area"].sum()) / (4.0 * math.pi)
    return power * square_radius / (2.0 * np.maximum(degree * (degree + 1.0), 1.0))


def _power(dataset: xr.Dataset, field: xr.Variable) -> np.ndarray:
    """Sum over orders of squared coefficients by degree (truncation + 1,), mean over the rest."""
    rows = []
    for values in pieces_of(field):
        squares = np.abs(coefficients(dataset, values)) ** 2
        power = np.sum(order_shares(squares.shape[-1]) * squares, axis=-1)
        rows.append(power.reshape(-1, power.shape[-1]))
    return np.concatenate(rows).mean(axis=0)


def order_shares(count: int) -> np.ndarray:
    """Weights of the orders in a sum of squares (count,): 1 for m = 0, 2 for the others."""
    return np.where(np.arange(count) > 0, 2.0, 1.0)


def coefficients(dataset: xr.Dataset, values: np.ndarray) -> np.ndarray:
    """Complex coefficients (..., degree, order) of fields on a Gaussian grid, of functions whose
    mean square is one.

    Args:
        dataset: whose latitudes and longitudes they are on.
        values: (..., lat, lon).

    Raises:
        InputError: the latitudes are not Gaussian from south to north, or too many.
    """
    sine, _ = np.polynomial.legendre.leggauss(dataset.sizes["lat"])
    if not np.allclose(np.sin(np.radians(dataset["lat"].values)), sine, atol=1e-6):
        raise InputError(
            "the latitudes are not those of a Gaussian grid from south to north; store "
            f"'{SPECTRUM}' with the key 'variables' of [climate]"
        )
    if sine.size > MOST_LATITUDES:
        raise InputError(
            f"{sine.size} latitudes are too many to make a spectrum of stored fields (at most "
            f"{MOST_LATITUDES}); store '{SPECTRUM}' with the key 'variables' of [climate]"
        )
    number = min((dataset.sizes["lon"] - 1) // 2, sine.size - 1)
    waves = np.fft.rfft(values, axis=-1)[..., : number + 1] / values.shape[-1]
    return np.einsum("lmj,...jm->...lm", _analysis_table(sine.size, number), waves)


@lru_cache(maxsize=2)
def _analysis_table(nlat: int, number: int) -> np.ndarray:
    """Legendre functions of mean square one times Gaussian weights, (degree, order, lat)."""
    sine, weights = np.polynomial.legendre.leggauss(nlat)
    functions = sph_legendre_p_all(number, number, np.arccos(sine))[0][:, : number + 1]
    return functions * (math.sqrt(4.0 * math.pi) * 0.5 * weights)


def _resolved(first: np.ndarray, second: np.ndarray) -> int:
    """The number of degrees that hold more than nothing in one of two spectra; at least 2."""
    largest = np.maximum(first, second)
    significant = np.flatnonzero(largest > NOTHING * largest.max())
    return max(2, int(significant[-1]) + 1) if significant.size else 2


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """The ratio, 1 where both hold nothing."""
    least = NOTHING * max(float(np.max(numerator)), float(np.max(denominator)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((numerator <= least) & (denominator <= least), 1.0, numerator / denominator)


def _sentence(ratio: np.ndarray, departs: int | None) -> str:
    """A sentence on where the spectrum departs."""
    if departs is None:
        most = float(np.max(np.maximum(ratio, 1.0 / np.maximum(ratio, 1e-300))))
        return (
            f"kinetic energy agrees down to the smallest scales (largest factor {factor(most)} at "
            "one wavenumber)"
        )
    end = float(ratio[-1])
    size = f"{factor(end)} times" if end >= 1.0 else f"1 / {factor(1.0 / max(end, 1e-300))} of"
    return (
        f"kinetic energy departs from total wavenumber {departs} on; at {ratio.size} it is {size} "
        "that of fp64"
    )
