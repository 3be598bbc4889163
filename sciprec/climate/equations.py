"""Equation sets: tendencies of spectral coefficients, one decorated kernel per set.

Shallow water in vorticity-divergence form on the sphere of radius one:

    d zeta/dt  = -div((zeta + f) v)
    d delta/dt = k . curl((zeta + f) v) - laplacian(E + Phi)
    d Phi/dt   = -div((Phi - Phi_s) v) - Phi_0 delta

Phi is the geopotential of the free surface as anomaly from the constant Phi_0, Phi_s that of the
ground, E = v.v / 2. A fluid at rest over a mountain stays at rest to the last bit.
Source: Williamson et al. (1992), eqs 3 to 7, with the anomaly taken from the free surface.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sciprec.climate.grid import GaussianGrid, Truncation
from sciprec.climate.legendre import coefficient_orders, epsilon
from sciprec.climate.transform import analyze, make_tables, make_work, synthesize
from sciprec.precision.registry import kernel


@dataclass(frozen=True)
class EquationSet:
    """A registered set of equations.

    Args:
        name: as in scenarios.
        prognostic: the fields of the state, in the order of their column pairs.
        tendency: kernel (state, tendency, constants, tables, work).
        implicit: kernel (tendency, previous, current, step, spectral constants, increment) that
            turns an explicit tendency into a semi-implicit increment over two steps.
        make_work: function (truncation, dtype) that makes the work arrays of the tendency.
    """

    name: str
    prognostic: tuple[str, ...]
    tendency: Callable
    implicit: Callable
    make_work: Callable


EQUATIONS: dict[str, EquationSet] = {}


def equation_set(
    name: str, *, prognostic: tuple[str, ...], implicit: Callable, make_work: Callable
):
    """Register the decorated tendency kernel as a set of equations; it is returned unchanged."""

    def register(tendency: Callable) -> Callable:
        EQUATIONS[name] = EquationSet(name, prognostic, tendency, implicit, make_work)
        return tendency

    return register


def _random(*shape):
    return np.random.default_rng(5).uniform(-1.0, 1.0, shape)


def spectral_constants(truncation: Truncation, mean_geopotential: float) -> tuple[np.ndarray, ...]:
    """Factors of the coefficients (each (coefficients,), binary64), named as in the kernels.

    Returns:
        zonal = m; zonal_inverse = m / (l (l+1));
        wind_above = eps(l+1) / (l+1); wind_below = eps(l) / l;
        flux_above = l eps(l+1); flux_below = (l+1) eps(l); laplacian = l (l+1); reference = Phi_0.
        Those of tendencies vanish above the truncation, so that the state stays zero there.
    """
    degree, order = coefficient_orders(truncation.number)
    kept = degree <= truncation.number
    inverse = 1.0 / np.maximum(degree, 1)
    above = np.where(kept, epsilon(degree + 1, order), 0).astype(np.float64)
    below = np.where(degree > order, epsilon(np.maximum(degree, 1), order), 0).astype(np.float64)
    return (
        order * kept.astype(np.float64),
        order * inverse / (degree + 1),
        above / (degree + 1),
        np.where(degree > 1, below * inverse, 0.0),
        degree * above,
        (degree + 1) * below * kept,
        degree * (degree + 1.0) * kept,
        np.where(kept, mean_geopotential, 0.0),
    )


def _small_factors():
    return spectral_constants(Truncation(2, 4, 8, 3600.0), 8.0)


@kernel(example=lambda: (_random(9, 6), *_small_factors()[1:4], np.zeros((9, 8))))
def grid_spectra(state, zonal_inverse, wind_above, wind_below, spectra):
    """Coefficients of vorticity, Phi, u cos(lat) and v cos(lat) from those of the state.

    U[l] = -i m / (l (l+1)) delta[l] + eps(l+1) / (l+1) zeta[l+1] - eps(l) / l zeta[l-1]
    V[l] = -i m / (l (l+1)) zeta[l] - eps(l+1) / (l+1) delta[l+1] + eps(l) / l delta[l-1]

    Args:
        state: (coefficients, 6): vorticity, divergence, Phi; real and imaginary parts in turn.
        zonal_inverse, wind_above, wind_below: (coefficients,), from `spectral_constants`.
        spectra: (coefficients, 8), written.
    """
    last = state.shape[0] - 1
    for i in range(last + 1):
        above = min(i + 1, last)
        below = max(i - 1, 0)
        zonal = zonal_inverse[i]
        up = wind_above[i]
        down = wind_below[i]
        spectra[i, 0] = state[i, 0]
        spectra[i, 1] = state[i, 1]
        spectra[i, 2] = state[i, 4]
        spectra[i, 3] = state[i, 5]
        spectra[i, 4] = (up * state[above, 0] - down * state[below, 0]) + zonal * state[i, 3]
        spectra[i, 5] = (up * state[above, 1] - down * state[below, 1]) - zonal * state[i, 2]
        spectra[i, 6] = (down * state[below, 2] - up * state[above, 2]) + zonal * state[i, 1]
        spectra[i, 7] = (down * state[below, 3] - up * state[above, 3]) - zonal * state[i, 0]


@kernel(
    example=lambda: (
        _random(4, 8, 4), _random(8, 4), _random(8, 4), 1.0 + _random(4) ** 2, np.zeros((5, 8, 4))
    )
)  # fmt: skip
def grid_fluxes(fields, coriolis, ground, inverse_cos2, fluxes):
    """Products on the grid: fluxes of absolute vorticity and of depth anomaly, and kinetic energy.

    With u = U / cos(lat)**2, v = V / cos(lat)**2:
    (zeta + f) u, (zeta + f) v, (Phi - Phi_s) u, (Phi - Phi_s) v, (U u + V v) / 2

    Args:
        fields: (4, nlon, nlat): vorticity, Phi, U, V.
        coriolis, ground: (nlon, nlat): f and Phi_s.
        inverse_cos2: (nlat,): 1 / cos(lat)**2.
        fluxes: (5, nlon, nlat), written.
    """
    for i in range(fields.shape[1]):
        vorticity = fields[0, i]
        surface = fields[1, i]
        u_cos = fields[2, i]
        v_cos = fields[3, i]
        for j in range(inverse_cos2.shape[0]):
            fluxes[0, i, j] = (vorticity[j] + coriolis[i, j]) * (u_cos[j] * inverse_cos2[j])
        for j in range(inverse_cos2.shape[0]):
            fluxes[1, i, j] = (vorticity[j] + coriolis[i, j]) * (v_cos[j] * inverse_cos2[j])
        for j in range(inverse_cos2.shape[0]):
            fluxes[2, i, j] = (surface[j] - ground[i, j]) * (u_cos[j] * inverse_cos2[j])
        for j in range(inverse_cos2.shape[0]):
            fluxes[3, i, j] = (surface[j] - ground[i, j]) * (v_cos[j] * inverse_cos2[j])
        for j in range(inverse_cos2.shape[0]):
            along = u_cos[j] * (u_cos[j] * inverse_cos2[j])
            across = v_cos[j] * (v_cos[j] * inverse_cos2[j])
            fluxes[4, i, j] = 0.5 * (along + across)


@kernel(example=lambda: (_random(9, 6), _random(9, 10), _small_factors(), np.zeros((9, 6))))
def spectral_tendency(state, spectra, factors, tendency):
    """Tendencies of vorticity, divergence and Phi from the coefficients of the fluxes.

    -div(A, B)[l] = -i m A[l] + ((l+1) eps(l) B[l-1] - l eps(l+1) B[l+1])
    curl(A, B)[l] = i m B[l] + ((l+1) eps(l) A[l-1] - l eps(l+1) A[l+1])

    Args:
        state: (coefficients, 6).
        spectra: (coefficients, 10): A, B (fluxes of absolute vorticity), C, D (of depth), E.
        factors: from `spectral_constants`.
        tendency: (coefficients, 6), written.

    Precision: E and Phi are added before the Laplacian multiplies them.
    """
    zonal, _, _, _, flux_above, flux_below, laplacian, reference = factors
    last = state.shape[0] - 1
    for i in range(last + 1):
        above = min(i + 1, last)
        below = max(i - 1, 0)
        m = zonal[i]
        up = flux_above[i]
        down = flux_below[i]
        wave = laplacian[i]
        mean = reference[i]
        north_re = down * spectra[below, 2] - up * spectra[above, 2]
        north_im = down * spectra[below, 3] - up * spectra[above, 3]
        east_re = down * spectra[below, 0] - up * spectra[above, 0]
        east_im = down * spectra[below, 1] - up * spectra[above, 1]
        depth_re = down * spectra[below, 6] - up * spectra[above, 6]
        depth_im = down * spectra[below, 7] - up * spectra[above, 7]
        tendency[i, 0] = north_re + m * spectra[i, 1]
        tendency[i, 1] = north_im - m * spectra[i, 0]
        tendency[i, 2] = (east_re - m * spectra[i, 3]) + wave * (spectra[i, 8] + state[i, 4])
        tendency[i, 3] = (east_im + m * spectra[i, 2]) + wave * (spectra[i, 9] + state[i, 5])
        tendency[i, 4] = (depth_re + m * spectra[i, 5]) - mean * state[i, 2]
        tendency[i, 5] = (depth_im - m * spectra[i, 4]) - mean * state[i, 3]


@kernel(
    example=lambda: (
        _random(9, 6), _random(9, 6), _random(9, 6) + 0.5, 0.125, _small_factors(), np.zeros((9, 6))
    )
)  # fmt: skip
def gravity_wave_increment(tendency, previous, current, step, factors, increment):
    """Increment over two steps with gravity waves averaged between the outer levels.

    x = 2 dt (tendency + L (previous - current)) + dt L x,
    L: d delta/dt = l (l+1) Phi, d Phi/dt = -Phi_0 delta

    Args:
        tendency: (coefficients, 6): the explicit tendency at the current level.
        previous, current: (coefficients, 6): states one step apart.
        step: dt.
        factors: from `spectral_constants`.
        increment: (coefficients, 6), written.

    Source: Robert (1969); Hoskins and Simmons (1975), section 2, for one level.
    Differs from the source: solved for the increment, so that small differences are computed first.
    """
    laplacian = factors[6]
    reference = factors[7]
    for i in range(tendency.shape[0]):
        wave = laplacian[i]
        mean = reference[i]
        stiffness = 1.0 + (step * wave) * (step * mean)
        for part in range(2):
            divergence = previous[i, 2 + part] - current[i, 2 + part]
            surface = previous[i, 4 + part] - current[i, 4 + part]
            known = 2.0 * (step * (tendency[i, 2 + part] + wave * surface))
            rising = 2.0 * (step * (tendency[i, 4 + part] - mean * divergence))
            solved = (known + (step * wave) * rising) / stiffness
            increment[i, part] = 2.0 * (step * tendency[i, part])
            increment[i, 2 + part] = solved
            increment[i, 4 + part] = rising - (step * mean) * solved


def make_shallow_water_work(truncation: Truncation, dtype=np.float64) -> tuple:
    """Work arrays of `shallow_water`: to the grid, on the grid, from the grid, the transform's."""
    size = coefficient_orders(truncation.number)[0].size
    shape = truncation.nlon, truncation.nlat
    return (
        np.zeros((size, 8), dtype),
        np.zeros((4, *shape), dtype),
        np.zeros((5, *shape), dtype),
        np.zeros((size, 10), dtype),
        make_work(truncation, 5, dtype),
    )


def grid_constants(grid: GaussianGrid, coriolis: np.ndarray, ground: np.ndarray) -> tuple:
    """(coriolis, ground, 1 / cos(lat)**2) for `shallow_water`, in the model's order and units."""
    sine = grid.sin_lat
    return coriolis, ground, 1.0 / ((1.0 - sine) * (1.0 + sine))


def _small_model():
    small = Truncation(1, 4, 8, 3600.0)
    grid = GaussianGrid(small)
    shape = small.nlon, small.nlat
    constants = grid_constants(grid, _random(*shape), _random(*shape))
    factors = spectral_constants(small, 8.0)
    state = _random(factors[0].size, 6)
    work = make_shallow_water_work(small)
    return state, np.zeros_like(state), (factors, constants), make_tables(small), work


@equation_set(
    "shallow_water",
    prognostic=("vorticity", "divergence", "geopotential"),
    implicit=gravity_wave_increment,
    make_work=make_shallow_water_work,
)
@kernel(example=lambda: _small_model())
def shallow_water(state, tendency, constants, tables, work):
    """Tendency of the shallow-water state: to the grid, products there, and back.

    Args:
        state: (coefficients, 6): vorticity, divergence, Phi; real and imaginary parts in turn.
        tendency: (coefficients, 6), written.
        constants: (`spectral_constants`, `grid_constants`).
        tables: from `transform.make_tables`.
        work: from `make_shallow_water_work`.
    """
    factors, grid_factors = constants
    synthesis_tables, analysis_tables = tables
    state_spectra, fields, fluxes, flux_spectra, transform_work = work
    coriolis, ground, inverse_cos2 = grid_factors
    grid_spectra(state, factors[1], factors[2], factors[3], state_spectra)
    synthesize(state_spectra, synthesis_tables, transform_work, fields)
    grid_fluxes(fields, coriolis, ground, inverse_cos2, fluxes)
    analyze(fluxes, analysis_tables, transform_work, flux_spectra)
    spectral_tendency(state, flux_spectra, factors, tendency)
