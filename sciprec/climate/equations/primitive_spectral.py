"""Dry primitive equations on sigma levels in vorticity-divergence form, on a sphere of radius one.

    d zeta/dt = curl(A, B)
    d D/dt    = div(A, B) - laplacian(E + Phi + P)
    d T'/dt   = -div(T' v) + T' D - W(T') + kappa (T_0 + T') omega / p
    d P/dt    = -T_0 (sum of thickness (D + v . grad q))

Temperatures are in units of geopotential and T = T_0 + T', P = T_0 q = T_0 ln(surface pressure /
reference pressure), Phi = Phi_s + A T' by Simmons and Burridge: T_0 grad q is part of a Laplacian,
and a fluid at rest at T_0 over a mountain stays at rest to the last bit.
Columns of the state for L levels, real and imaginary parts in turn: zeta, D, T' (L each), P.
Source: Simmons and Burridge (1981); Hoskins and Simmons (1975).
"""

from __future__ import annotations

import numpy as np

from sciprec.arrays.aligned import aligned_zeros
from sciprec.climate.equations.primitive_grid import (
    gather_rows,
    mass_flux,
    momentum_products,
    thermal_products,
)
from sciprec.climate.equations.share import EAST, FIRST, LAST, WEST, Share
from sciprec.climate.equations.spherical import coriolis_terms, spectral_constants
from sciprec.climate.equations.vertical import even_levels, hydrostatic
from sciprec.climate.transform.grid import Truncation
from sciprec.climate.transform.legendre import coefficient_orders, epsilon
from sciprec.precision.registry import kernel


def _random(*shape):
    return np.random.default_rng(31).uniform(-1.0, 1.0, shape)


def primitive_factors(truncation: Truncation) -> tuple[np.ndarray, ...]:
    """Factors of the coefficients (each (coefficients,), binary64), named as in the kernels.

    Returns:
        zonal, zonal_inverse, wind_above, wind_below, flux_above, flux_below, laplacian as in
        `spectral_constants`; slope_above = (l+2) eps(l+1), slope_below = (l-1) eps(l), the
        factors of cos(lat) d/dlat; kept: 1 up to the truncation, 0 above.
    """
    degree, order = coefficient_orders(truncation.number)
    within = degree <= truncation.number
    above = np.where(within, epsilon(degree + 1, order), 0).astype(np.float64)
    below = np.where(degree > order, epsilon(np.maximum(degree, 1), order), 0).astype(np.float64)
    factors = spectral_constants(truncation, 0.0)[:7]
    return (*factors, (degree + 2) * above, (degree - 1) * below, within.astype(np.float64))


def make_air_work(truncation: Truncation, levels: int, dtype: type = np.float64) -> tuple:
    """Work arrays of the air: rows and sums of a longitude, and what `restore_mass` needs."""
    size = coefficient_orders(truncation.number)[0].size
    shape = truncation.nlon, truncation.nlat
    return (
        tuple(
            aligned_zeros((count, truncation.nlat), dtype)
            for count in (5 * levels + 3, levels, levels + 1, levels + 1)
        ),
        (
            aligned_zeros((size, 2), dtype),
            aligned_zeros((1, *shape), dtype),
            aligned_zeros(truncation.nlat, dtype),
        ),
    )


_SMALL = Truncation(1, 4, 8, 3600.0)
_SMALL_AIR = np.array([21.0, 1 / 21.0, 2 / 7])


def _small_factors():
    return primitive_factors(_SMALL)


def _small_state():
    return _random(5, 14)


def _small_constants():
    return 0.0, 0.0, _small_factors(), _SMALL_AIR, 0.0, 0.0, 0.0, Share(_SMALL).array


@kernel(example=lambda: (_small_state(), _small_constants(), np.zeros((5, 26))))
def primitive_spectra(state, constants, spectra):
    """Coefficients of everything that the products need on the grid.

    U and V as in shallow water; q = P / T_0 and its slopes
    cos(lat) d q/d lat: (l+2) eps(l+1) q[l+1] - (l-1) eps(l) q[l-1]

    Args:
        state: (coefficients, 6 levels + 2).
        constants: as in `air_tendency`.
        spectra: (coefficients, 2 (5 levels + 3)), written: rows of `primitive_grid` in pairs; the
            coefficients of the share, as in the kernels below.
    """
    factors, air, share = constants[2], constants[3], constants[7]
    zonal, zonal_inverse, wind_above, wind_below, _, _, _, slope_above, slope_below, _ = factors
    last = state.shape[0] - 1
    levels = (state.shape[1] - 2) // 6
    p = 6 * levels
    q = 10 * levels
    for i in range(share[FIRST], share[LAST]):
        above = min(i + 1, last)
        below = max(i - 1, 0)
        up = wind_above[i]
        down = wind_below[i]
        around = zonal_inverse[i]
        for c in range(6 * levels):
            spectra[i, c] = state[i, c]
        for k in range(levels):
            z = 2 * k
            d = 2 * levels + z
            u = 6 * levels + z
            v = 8 * levels + z
            turning = up * state[above, z] - down * state[below, z]
            spectra[i, u] = turning + around * state[i, d + 1]
            turning_im = up * state[above, z + 1] - down * state[below, z + 1]
            spectra[i, u + 1] = turning_im - around * state[i, d]
            spreading = down * state[below, d] - up * state[above, d]
            spectra[i, v] = spreading + around * state[i, z + 1]
            spreading_im = down * state[below, d + 1] - up * state[above, d + 1]
            spectra[i, v + 1] = spreading_im - around * state[i, z]
        spectra[i, q] = -(zonal[i] * state[i, p + 1]) * air[1]
        spectra[i, q + 1] = (zonal[i] * state[i, p]) * air[1]
        for part in range(2):
            change = slope_above[i] * state[above, p + part]
            change_below = slope_below[i] * state[below, p + part]
            spectra[i, q + 2 + part] = (change - change_below) * air[1]
            spectra[i, q + 4 + part] = state[i, p + part] * air[1]


def _tendency_example():
    column = even_levels(2).column
    spectra, ground = _random(5, 26), _random(5, 2)
    share = Share(_SMALL).array
    return _small_state(), spectra, _small_factors(), column, ground, share, np.zeros((5, 14))


@kernel(example=lambda: _tendency_example())
def primitive_spectral_tendency(state, spectra, factors, column, ground, share, tendency):
    """Tendencies of zeta, D, T' and P from the coefficients of the products, without rotation.

    curl(A, B)[l] = i m B[l] + ((l+1) eps(l) A[l-1] - l eps(l+1) A[l+1])
    div(A, B)[l] = i m A[l] - ((l+1) eps(l) B[l-1] - l eps(l+1) B[l+1])

    Args:
        state: (coefficients, 6 levels + 2).
        spectra: (coefficients, 2 (6 levels + 1)): products of `primitive_grid` in pairs.
        factors: from `primitive_factors`.
        column: of the levels.
        ground: (coefficients, 2): Phi_s.
        share: whose coefficients.
        tendency: (coefficients, 6 levels + 2), written.

    Precision: P and Phi_s are added first, then A T', then E; the Laplacian multiplies their sum.
    """
    zonal, _, _, _, flux_above, flux_below, laplacian, _, _, kept = factors
    last = state.shape[0] - 1
    levels = (state.shape[1] - 2) // 6
    p = 6 * levels
    for i in range(share[FIRST], share[LAST]):
        above = min(i + 1, last)
        below = max(i - 1, 0)
        up = flux_above[i]
        down = flux_below[i]
        m = zonal[i]
        hydrostatic(state[i], 4 * levels, column[0], column[1], tendency[i], 2 * levels)
        level_re = state[i, p] + ground[i, 0]
        level_im = state[i, p + 1] + ground[i, 1]
        for k in range(levels):
            a = 2 * k
            b = 2 * levels + a
            energy = 10 * levels + a
            curl = down * spectra[below, a] - up * spectra[above, a]
            curl_im = down * spectra[below, a + 1] - up * spectra[above, a + 1]
            tendency[i, a] = curl - m * spectra[i, b + 1]
            tendency[i, a + 1] = curl_im + m * spectra[i, b]
            spread = up * spectra[above, b] - down * spectra[below, b]
            spread_im = up * spectra[above, b + 1] - down * spectra[below, b + 1]
            work = laplacian[i] * ((level_re + tendency[i, b]) + spectra[i, energy])
            work_im = laplacian[i] * ((level_im + tendency[i, b + 1]) + spectra[i, energy + 1])
            tendency[i, b] = (spread - m * spectra[i, a + 1]) + work
            tendency[i, b + 1] = (spread_im + m * spectra[i, a]) + work_im
        for k in range(levels):
            t = 4 * levels + 2 * k
            v = 6 * levels + 2 * k
            gain = 8 * levels + 2 * k
            flux = down * spectra[below, v] - up * spectra[above, v]
            flux_im = down * spectra[below, v + 1] - up * spectra[above, v + 1]
            tendency[i, t] = (flux + m * spectra[i, t + 1]) + kept[i] * spectra[i, gain]
            tendency[i, t + 1] = (flux_im - m * spectra[i, t]) + kept[i] * spectra[i, gain + 1]
        tendency[i, p] = kept[i] * spectra[i, 12 * levels]
        tendency[i, p + 1] = kept[i] * spectra[i, 12 * levels + 1]


def air_tendency(state, spectra, constants, tendency):
    """Tendency of the air from the coefficients of the products.

    Args:
        state: (coefficients, 6 levels + 2): zeta, D, T', P; real and imaginary parts in turn.
        spectra: (coefficients, 2 (6 levels + 1)), of the products of `air_products`.
        constants: (column of the levels, `implicit_constants`, `primitive_factors`, air,
            (1 / cos(lat)**2, Phi_s), those of `restore_mass`, `rotation_constants`, the share of a
            thread, see `share.Share`).
        tendency: (coefficients, 6 levels + 2), written; without friction.
    """
    ground, share = constants[4][1], constants[7]
    primitive_spectral_tendency(
        state, spectra, constants[2], constants[0], ground, share, tendency
    )  # fmt: skip
    levels = (state.shape[1] - 2) // 6
    coriolis_terms(state, constants[6], levels, share[FIRST], share[LAST], tendency)


def air_products(fields, constants, work, products):
    """The products of the share's longitudes, in the place of their fields.

    Args:
        fields: (5 levels + 3, nlon + 1, nlat).
        constants: as in `air_tendency`.
        work: from `make_air_work`.
        products: (6 levels + 1, nlon + 1, nlat), written.
    """
    for i in range(constants[7][WEST], constants[7][EAST]):
        primitive_products(i, fields, constants, work[0], products)


def primitive_products(i, fields, constants, work, products):
    """The products of a longitude, in the place of its fields; these stay in the rows of the work.

    Args:
        i: which longitude.
        fields, constants, products: as in `air_products`.
        work: the first of `make_air_work`.
    """
    column, air, places = constants[0], constants[3], constants[4]
    rows, flow, sums, velocity = work
    gather_rows(fields, i, rows)
    mass_flux(rows, places[0], column[3], column[5], flow, sums, velocity)
    momentum_products(rows, i, places[0], column[4], velocity, products)
    thermal_products(rows, i, places[0], column, air, flow, sums, velocity, products)
