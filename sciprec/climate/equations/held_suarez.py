"""The forcing of Held and Suarez (1994): relaxation of temperature, friction near the ground."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from sciprec.climate.constants import SECONDS_PER_DAY
from sciprec.climate.equations.air import AirConversion, AirState, Planet
from sciprec.climate.equations.primitive_equations import AIR_SET
from sciprec.climate.equations.primitive_spectral import air_tendency, primitive_products
from sciprec.climate.equations.registry import equation_set
from sciprec.climate.equations.share import EAST, FIRST, LAST, WEST, Share
from sciprec.climate.equations.vertical import SigmaLevels, even_levels
from sciprec.climate.transform.grid import GaussianGrid, Truncation
from sciprec.foundation.portable import portable
from sciprec.precision.registry import kernel

PLANET = Planet(
    radius_m=6.371e6,
    rotation_per_second=7.292e-5,
    gravity_m_per_s2=9.8,
    gas_constant=1004.0 * 2 / 7,
    kappa=2 / 7,
)
"""The planet of Held and Suarez (1994), p. 1826."""
SURFACE_PRESSURE_PA = 1.0e5
BOUNDARY_LAYER_SIGMA = 0.7
FRICTION_PER_DAY = 1.0
COOLING_PER_DAY, GROUND_COOLING_PER_DAY = 1 / 40, 1 / 4
COLDEST_K, WARMEST_K, ACROSS_K, STATIC_K = 200.0, 315.0, 60.0, 10.0


def near_ground(levels: SigmaLevels) -> np.ndarray:
    """max(0, (sigma - sigma_b) / (1 - sigma_b)) at the levels."""
    depth = 1.0 - BOUNDARY_LAYER_SIGMA
    return np.maximum(0.0, (levels.full - BOUNDARY_LAYER_SIGMA) / depth)


def forcing_constants(
    levels: SigmaLevels, grid: GaussianGrid, kappa: float, kelvin: float, seconds: float
) -> tuple[np.ndarray, ...]:
    """Tables of `relax_temperature`, binary64.

    Args:
        levels: L of them.
        grid: the grid.
        kappa: gas constant over heat capacity.
        kelvin, seconds: the model's units of temperature and time.

    Returns:
        cooling = k_T (L, nlat), latitudes in the model's order; warm = 315 K - 60 K sin(lat)**2 and
        static = 10 K cos(lat)**2 (nlat,); log_sigma and sigma**kappa (L,); coldest = 200 K (1,).

    Source: Held and Suarez (1994), p. 1826.
    """
    square = grid.sin_lat**2
    ground = (GROUND_COOLING_PER_DAY - COOLING_PER_DAY) * near_ground(levels)
    cooling = COOLING_PER_DAY + np.outer(ground, (1.0 - square) ** 2)
    return (
        cooling * seconds / SECONDS_PER_DAY,
        (WARMEST_K - ACROSS_K * square) / kelvin,
        STATIC_K * (1.0 - square) / kelvin,
        portable(np.log, levels.full),
        portable(np.power, levels.full, kappa),
        np.array([COLDEST_K / kelvin]),
    )


def _forcing_example():
    return forcing_constants(even_levels(2), GaussianGrid(_SMALL), 2 / 7, 14.0, 1e5)


def _relax_example():
    rng = np.random.default_rng(43)
    rows, products = rng.uniform(-1.0, 1.0, (13, 4)), rng.integers(-8, 8, (13, 8, 4)) / 8
    air = np.array([21.0, 1 / 21.0, 2 / 7])
    return rows, 1, _forcing_example(), air, np.zeros(4), products


_SMALL = Truncation(1, 4, 8, 3600.0)


@kernel(example=lambda: _relax_example())
def relax_temperature(rows, i, forcing, air, warmth, products):
    """Add the relaxation -k_T (T - T_eq) to the heating at a longitude.

    T_eq = max(200 K, (315 K - 60 K sin(lat)**2 - 10 K ln(p / p_0) cos(lat)**2) (p / p_0)**kappa)

    Args:
        rows: (5 levels + 3, nlat), from `gather_rows`.
        i: which longitude.
        forcing: from `forcing_constants`.
        air: (3,): T_0, 1 / T_0, kappa.
        warmth: (nlat,), work: (surface pressure / p_0)**kappa.
        products: (6 levels + 1, nlon, nlat), the heating is added to.

    Precision: T_0 is taken from T_eq before T' is.
    Source: Held and Suarez (1994), p. 1826.
    """
    cooling, warm, static, log_sigma, sigma_power, coldest = forcing
    levels = log_sigma.shape[0]
    nlat = warm.shape[0]
    q = rows[5 * levels + 2]
    for j in range(nlat):
        warmth[j] = math.exp(air[2] * q[j])
    for k in range(levels):
        temperature = rows[2 * levels + k]
        heating = products[4 * levels + k, i]
        rate = cooling[k]
        depth = log_sigma[k]
        power = sigma_power[k]
        for j in range(nlat):
            stable = warm[j] - static[j] * (depth + q[j])
            equilibrium = max(coldest[0], stable * (power * warmth[j]))
            missing = (equilibrium - air[0]) - temperature[j]
            heating[j] = heating[j] + rate[j] * missing


@kernel(
    example=lambda: (
        np.ones((5, 14)), np.array([0.0, 0.5]), Share(_SMALL).array, np.ones((5, 14))
    )
)  # fmt: skip
def brake_wind(state, friction, share, tendency):
    """Add the friction -k_v zeta and -k_v D of each level.

    Args:
        state: (coefficients, 6 levels + 2).
        friction: (levels,).
        share: whose coefficients.
        tendency: (coefficients, 6 levels + 2), changed in place.

    Source: Held and Suarez (1994), p. 1826; the rate being that of a level, curl and div commute.
    """
    levels = friction.shape[0]
    for i in range(share[FIRST], share[LAST]):
        for k in range(levels):
            for part in range(2):
                z = 2 * k + part
                d = 2 * levels + z
                tendency[i, z] = tendency[i, z] - friction[k] * state[i, z]
                tendency[i, d] = tendency[i, d] - friction[k] * state[i, d]


def forced_air_products(fields, constants, work, products):
    """`air_products`, the relaxation of the temperature added.

    Args:
        fields, work, products: as there.
        constants: as in `forced_air_tendency`.
    """
    for i in range(constants[7][WEST], constants[7][EAST]):
        primitive_products(i, fields, constants, work[0], products)
        relax_temperature(work[0][0], i, constants[8], constants[3], work[1][2], products)


class ForcedConversion(AirConversion):
    """The conversion of the primitive equations, with the tables of the forcing."""

    @cached_property
    def constants(self) -> tuple:
        """The constants of `forced_air_tendency` in binary64."""
        grid, kappa = self.transform.grid, self.planet.kappa
        return (
            *super().constants,
            forcing_constants(self.levels, grid, kappa, self.kelvin, self.units.seconds),
        )


@equation_set(
    "held_suarez",
    products=forced_air_products,
    conversion=ForcedConversion,
    state=AirState,
    source="Held and Suarez (1994); Simmons and Burridge (1981)",
    **AIR_SET,
)
def forced_air_tendency(state, spectra, constants, tendency):
    """`air_tendency` under the forcing of Held and Suarez: with friction, which is of the implicit
    part, too.

    Args:
        state, spectra, tendency: as there.
        constants: those of `air_tendency`, and `forcing_constants`.
    """
    air_tendency(state, spectra, constants, tendency)
    brake_wind(state, constants[1][0], constants[7], tendency)
