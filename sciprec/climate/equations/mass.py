"""Global mass of the primitive equations, kept by the mean of ln(surface pressure).

The tendency of ln(surface pressure) conserves no mass; a constant added to it after each step does.
"""

from __future__ import annotations

import math

import numpy as np

from sciprec.climate.equations.primitive_spectral import make_air_work
from sciprec.climate.transform.grid import GaussianGrid, Truncation
from sciprec.climate.transform.spectral import make_tables, make_work, synthesize
from sciprec.precision.operations.reduce import accumulate
from sciprec.precision.registry import kernel


def mass_constants(grid: GaussianGrid, mean_excess: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the sums over longitudes (nlat,) in the model's order, and the mean to keep (1,).

    Args:
        grid: the grid.
        mean_excess: global mean of exp(q) - 1.
    """
    return np.tile(grid.weights_north, 2) / grid.nlon, np.array([mean_excess])


def _mass_example():
    small = Truncation(1, 4, 8, 3600.0)
    state = np.random.default_rng(41).integers(-8, 8, (5, 14)) / 8
    air = np.array([21.0, 1 / 21.0, 2 / 7])
    mass = mass_constants(GaussianGrid(small), 0.125)
    constants = 0.0, 0.0, 0.0, air, 0.0, mass
    work = 0.0, 0.0, 0.0, 0.0, make_work(small, 13), make_air_work(small, 2)
    return state, constants, make_tables(small), work


@kernel(example=lambda: _mass_example())
def restore_mass(state, constants, tables, work):
    """Add a constant to q so that the global mean of exp(q) - 1 is restored.

    d = ln(1 + (target - mean) / (1 + mean)), with mean = mean of exp(q) - 1

    Args:
        state: (coefficients, 6 levels + 2), the mean of P changed in place.
        constants: of the set: air and `mass_constants` are read.
        tables, work: as in `tendency.whole_tendency`; the set's own are from `make_air_work`.

    Precision: sums of exp(q) - 1 over longitudes first, then over latitudes in the model's order,
        in the accumulate role.
    """
    air = constants[3]
    weights, target = constants[5]
    spectrum, grid, sums = work[5][1]
    p = state.shape[1] - 2
    for i in range(state.shape[0]):
        spectrum[i, 0] = state[i, p] * air[1]
        spectrum[i, 1] = state[i, p + 1] * air[1]
    synthesize(spectrum, tables[0], work[4], grid)
    for j in range(sums.shape[0]):
        sums[j] = 0.0
    for i in range(grid.shape[1]):
        for j in range(sums.shape[0]):
            sums[j] = accumulate(sums[j], math.expm1(grid[0, i, j]))
    mean = 0.0
    for j in range(sums.shape[0]):
        mean = accumulate(mean, weights[j] * sums[j])
    state[0, p] = state[0, p] + air[0] * math.log1p((target[0] - mean) / (1.0 + mean))
