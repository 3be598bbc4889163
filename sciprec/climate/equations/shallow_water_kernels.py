"""Kernels of shallow water: to the grid, products there, tendencies, and gravity waves.

Columns of a state (coefficients, 6): vorticity, divergence, Phi; real and imaginary parts in turn.
"""

from __future__ import annotations

import numpy as np

from sciprec.climate.equations.spherical import spectral_constants
from sciprec.climate.transform.grid import Truncation
from sciprec.precision.registry import kernel


def _random(*shape):
    return np.random.default_rng(5).uniform(-1.0, 1.0, shape)


def wave_constants(
    laplacian: np.ndarray, mean_geopotential: float, time: float
) -> tuple[np.ndarray, ...]:
    """Tables of `gravity_waves` and `solve_gravity_waves` (each (coefficients,), binary64).

    Args:
        laplacian: l (l+1) / a**2, zero above the truncation.
        mean_geopotential: Phi_0 of the fluid at rest.
        time: c, the implicit time.

    Returns:
        laplacian, Phi_0 where it is not zero, c times both, 1 + c**2 laplacian Phi_0.
    """
    mean = np.where(laplacian > 0, mean_geopotential, 0.0)
    slow, deep = time * laplacian, time * mean
    return laplacian, mean, slow, deep, 1.0 + slow * deep


def _small_factors():
    return spectral_constants(Truncation(2, 4, 8, 3600.0), 8.0)


def _small_waves():
    return _small_factors(), 0.0, wave_constants(_small_factors()[6], 8.0, 0.125)


@kernel(example=lambda: (_random(9, 6), _small_waves(), np.zeros((9, 8))))
def grid_spectra(state, constants, spectra):
    """Coefficients of vorticity, Phi, u cos(lat) and v cos(lat) from those of the state.

    U[l] = -i m / (l (l+1)) delta[l] + eps(l+1) / (l+1) zeta[l+1] - eps(l) / l zeta[l-1]
    V[l] = -i m / (l (l+1)) zeta[l] - eps(l+1) / (l+1) delta[l+1] + eps(l) / l delta[l-1]

    Args:
        state: (coefficients, 6): vorticity, divergence, Phi; real and imaginary parts in turn.
        constants: of the set; the first are `spectral_constants`.
        spectra: (coefficients, 8), written.
    """
    _, zonal_inverse, wind_above, wind_below, _, _, _, _ = constants[0]
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
        _random(4, 8, 4), (0.0, (_random(8, 4), _random(8, 4), 1.0 + _random(4) ** 2)), (),
        np.zeros((5, 8, 4))
    )
)  # fmt: skip
def grid_fluxes(fields, constants, work, fluxes):
    """Products on the grid: fluxes of absolute vorticity and of depth anomaly, and kinetic energy.

    With u = U / cos(lat)**2, v = V / cos(lat)**2:
    (zeta + f) u, (zeta + f) v, (Phi - Phi_s) u, (Phi - Phi_s) v, (U u + V v) / 2

    Args:
        fields: (4, nlon, nlat): vorticity, Phi, U, V.
        constants: of the set; the second are what of f is multiplied here, Phi_s (nlon, nlat), and
            1 / cos(lat)**2 (nlat,).
        work: none.
        fluxes: (5, nlon, nlat), written.
    """
    coriolis, ground, inverse_cos2 = constants[1]
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
    """Tendencies of vorticity, divergence and Phi from the coefficients of the fluxes; Coriolis
    terms that are not among these come afterwards.

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
        pressure_re = wave * (spectra[i, 8] + state[i, 4])
        pressure_im = wave * (spectra[i, 9] + state[i, 5])
        gravity_re = mean * state[i, 2]
        gravity_im = mean * state[i, 3]
        tendency[i, 2] = (east_re - m * spectra[i, 3]) + pressure_re
        tendency[i, 3] = (east_im + m * spectra[i, 2]) + pressure_im
        tendency[i, 4] = (depth_re + m * spectra[i, 5]) - gravity_re
        tendency[i, 5] = (depth_im - m * spectra[i, 4]) - gravity_im


@kernel(example=lambda: (_random(9, 6), _small_waves(), np.zeros((9, 6))))
def gravity_waves(state, constants, out):
    """out = L state: d delta/dt = l (l+1) Phi, d Phi/dt = -Phi_0 delta, both at rest.

    Args:
        state: (coefficients, 6).
        constants: of the set; the third are `wave_constants`.
        out: (coefficients, 6), written.
    """
    laplacian, mean, _, _, _ = constants[2]
    for i in range(state.shape[0]):
        for part in range(2):
            out[i, part] = 0.0
            out[i, 2 + part] = laplacian[i] * state[i, 4 + part]
            out[i, 4 + part] = -(mean[i] * state[i, 2 + part])


@kernel(example=lambda: (_random(9, 6), _small_waves(), np.zeros((9, 6))))
def solve_gravity_waves(known, constants, out):
    """out = (1 - c L)^-1 known, c the implicit time of the tables.

    delta = (known delta + c l (l+1) known Phi) / (1 + c**2 l (l+1) Phi_0)

    Args:
        known: (coefficients, 6).
        constants: of the set; the third are `wave_constants`.
        out: (coefficients, 6), written.

    Source: Hoskins and Simmons (1975), section 2, for one level.
    """
    _, _, slow, deep, stiffness = constants[2]
    for i in range(known.shape[0]):
        for part in range(2):
            out[i, part] = known[i, part]
            solved = (known[i, 2 + part] + slow[i] * known[i, 4 + part]) / stiffness[i]
            out[i, 2 + part] = solved
            out[i, 4 + part] = known[i, 4 + part] - deep[i] * solved
