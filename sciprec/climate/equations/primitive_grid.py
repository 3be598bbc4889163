"""Products of the primitive equations on the grid, one longitude at a time, latitudes inside.

Fields and their rows for L levels: vorticity, divergence, temperature anomaly T', U = u cos(lat),
V = v cos(lat) (L each); then d q/d lon, cos(lat) d q/d lat, q = ln(surface pressure / reference).
Rows of `products`: A, B (the forces of momentum), T' U, T' V, heating, kinetic energy (L each) and
the tendency of the pressure variable; vectors carry 1 / cos(lat)**2.
"""

from __future__ import annotations

import numpy as np

from sciprec.climate.equations.vertical import even_levels
from sciprec.precision.operations.reduce import accumulate
from sciprec.precision.registry import kernel


def _random(*shape):
    return np.random.default_rng(29).uniform(-1.0, 1.0, shape)


def _small():
    """(rows, inverse_cos2, column, (flow, sums, velocity), products) of three levels."""
    levels, nlat = 3, 4
    sweeps = tuple(_random(n, nlat) for n in (levels, levels + 1, levels + 1))
    column = even_levels(levels).column
    products = np.zeros((6 * levels + 1, 2, nlat))
    return _random(5 * levels + 3, nlat), 1.0 + _random(nlat) ** 2, column, sweeps, products


@kernel(example=lambda: (_random(3, 2, 4), 1, np.zeros((3, 4))))
def gather_rows(fields, i, rows):
    """The latitudes of one longitude of all fields, side by side.

    Neighbouring levels meet again and again in the products; in `fields` they lie so far apart, by
    a power of two, that a cache holds few of them at a time.

    Args:
        fields: (fields, nlon, nlat).
        i: which longitude.
        rows: (fields, nlat), written.
    """
    for f in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[f, j] = fields[f, i, j]


def _mass_example():
    rows, inverse_cos2, column, sweeps, _ = _small()
    return rows, inverse_cos2, column[3], column[5], *sweeps


@kernel(example=lambda: _mass_example())
def mass_flux(rows, inverse_cos2, thickness, half, flow, sums, velocity):
    """Advection of ln(surface pressure), mass divergence from the top, velocity of sigma.

    flow[k] = v[k] . grad q, sums[k] = sum over j < k of thickness[j] (D[j] + flow[j])
    velocity[k] = half[k] sums[levels] - sums[k], zero at the top and at the ground

    Args:
        rows: (5 levels + 3, nlat), from `gather_rows`.
        inverse_cos2: (nlat,): 1 / cos(lat)**2.
        thickness, half: (levels,), (levels + 1,): of the levels.
        flow: (levels, nlat), written.
        sums, velocity: (levels + 1, nlat), written.

    Precision: one sum per point from the top downwards, in the accumulate role.
    Source: Simmons and Burridge (1981), eqs 3.9 to 3.12.
    """
    levels = thickness.shape[0]
    nlat = inverse_cos2.shape[0]
    zonal_slope = rows[5 * levels]
    slope = rows[5 * levels + 1]
    for j in range(nlat):
        sums[0, j] = 0.0
    for k in range(levels):
        divergence = rows[levels + k]
        u_cos = rows[3 * levels + k]
        v_cos = rows[4 * levels + k]
        depth = thickness[k]
        along = flow[k]
        above = sums[k]
        below = sums[k + 1]
        for j in range(nlat):
            along[j] = (u_cos[j] * zonal_slope[j] + v_cos[j] * slope[j]) * inverse_cos2[j]
        for j in range(nlat):
            below[j] = accumulate(above[j], depth * (divergence[j] + along[j]))
    whole = sums[levels]
    for k in range(levels + 1):
        share = half[k]
        above = sums[k]
        sinking = velocity[k]
        for j in range(nlat):
            sinking[j] = share * whole[j] - above[j]
    for j in range(nlat):
        velocity[0, j] = 0.0
        velocity[levels, j] = 0.0


def _momentum_example():
    rows, inverse_cos2, column, sweeps, products = _small()
    return rows, 1, inverse_cos2, column[4], sweeps[2], products


@kernel(example=lambda: _momentum_example())
def momentum_products(rows, i, inverse_cos2, per_thickness, velocity, products):
    """Forces A and B: vorticity flux, vertical advection, pressure gradient of the anomaly.

    A = (zeta V - T' d q/d lon - W(U)) / cos(lat)**2
    B = -(zeta U + T' cos(lat) d q/d lat + W(V)) / cos(lat)**2
    W(X)[k] = (velocity[k+1] (X[k+1] - X[k]) + velocity[k] (X[k] - X[k-1])) / (2 thickness[k])

    Args:
        rows: (5 levels + 3, nlat), from `gather_rows`.
        i: which longitude.
        inverse_cos2: (nlat,).
        per_thickness: (levels,): 1 / (2 thickness).
        velocity: (levels + 1, nlat), from `mass_flux`.
        products: (6 levels + 1, nlon, nlat), rows 0 to 2 levels written.

    Source: Simmons and Burridge (1981), eqs 3.1, 3.13 and 3.22 in vorticity-divergence form.
    """
    levels = per_thickness.shape[0]
    nlat = inverse_cos2.shape[0]
    zonal_slope = rows[5 * levels]
    slope = rows[5 * levels + 1]
    for k in range(levels):
        upper = max(k - 1, 0)
        lower = min(k + 1, levels - 1)
        vorticity = rows[k]
        temperature = rows[2 * levels + k]
        u_cos = rows[3 * levels + k]
        u_upper = rows[3 * levels + upper]
        u_lower = rows[3 * levels + lower]
        v_cos = rows[4 * levels + k]
        v_upper = rows[4 * levels + upper]
        v_lower = rows[4 * levels + lower]
        above = velocity[k]
        below = velocity[k + 1]
        share = per_thickness[k]
        eastward = products[k, i]
        northward = products[levels + k, i]
        for j in range(nlat):
            pressure = temperature[j] * zonal_slope[j]
            force = vorticity[j] * v_cos[j] - pressure
            from_below = below[j] * (u_lower[j] - u_cos[j])
            moved = share * (from_below + above[j] * (u_cos[j] - u_upper[j]))
            eastward[j] = (force - moved) * inverse_cos2[j]
        for j in range(nlat):
            pressure = temperature[j] * slope[j]
            force = vorticity[j] * u_cos[j] + pressure
            from_below = below[j] * (v_lower[j] - v_cos[j])
            moved = share * (from_below + above[j] * (v_cos[j] - v_upper[j]))
            northward[j] = -((force + moved) * inverse_cos2[j])


def _thermal_example():
    rows, inverse_cos2, column, sweeps, products = _small()
    return rows, 1, inverse_cos2, column, np.array([21.0, 1 / 21.0, 2 / 7]), *sweeps, products


@kernel(example=lambda: _thermal_example())
def thermal_products(rows, i, inverse_cos2, column, air, flow, sums, velocity, products):
    """Fluxes of T', heating, kinetic energy and the tendency of the pressure variable.

    heating = T' D - W(T') + kappa (T_0 + T') omega / p
    omega / p = flow - (log_ratio / thickness sums + alpha (D + flow))
    energy = (U**2 + V**2) / (2 cos(lat)**2), pressure tendency = -T_0 sums[levels]

    Args:
        rows: (5 levels + 3, nlat), from `gather_rows`.
        i: which longitude.
        inverse_cos2: (nlat,).
        column: of the levels.
        air: (3,): T_0, 1 / T_0, kappa.
        flow, sums, velocity: from `mass_flux`.
        products: (6 levels + 1, nlon, nlat), rows from 2 levels on written.

    Source: Simmons and Burridge (1981), eqs 3.14, 3.18 and 3.19.
    """
    alpha, _, log_per_thickness, _, per_thickness, _ = column
    reference = air[0]
    kappa = air[2]
    levels = alpha.shape[0]
    nlat = inverse_cos2.shape[0]
    for k in range(levels):
        divergence = rows[levels + k]
        temperature = rows[2 * levels + k]
        t_upper = rows[2 * levels + max(k - 1, 0)]
        t_lower = rows[2 * levels + min(k + 1, levels - 1)]
        u_cos = rows[3 * levels + k]
        v_cos = rows[4 * levels + k]
        above = velocity[k]
        below = velocity[k + 1]
        along = flow[k]
        from_top = sums[k]
        share = per_thickness[k]
        deeper = log_per_thickness[k]
        own = alpha[k]
        east = products[2 * levels + k, i]
        north = products[3 * levels + k, i]
        heating = products[4 * levels + k, i]
        energy = products[5 * levels + k, i]
        for j in range(nlat):
            east[j] = temperature[j] * (u_cos[j] * inverse_cos2[j])
        for j in range(nlat):
            north[j] = temperature[j] * (v_cos[j] * inverse_cos2[j])
        for j in range(nlat):
            from_below = below[j] * (t_lower[j] - temperature[j])
            moved = share * (from_below + above[j] * (temperature[j] - t_upper[j]))
            expanded = own * (divergence[j] + along[j])
            rate = along[j] - (deeper * from_top[j] + expanded)
            gained = kappa * ((reference + temperature[j]) * rate)
            heating[j] = (temperature[j] * divergence[j] - moved) + gained
        for j in range(nlat):
            zonal = u_cos[j] * (u_cos[j] * inverse_cos2[j])
            meridional = v_cos[j] * (v_cos[j] * inverse_cos2[j])
            energy[j] = 0.5 * (zonal + meridional)
    whole = sums[levels]
    pressure = products[6 * levels, i]
    for j in range(nlat):
        pressure[j] = -(reference * whole[j])
