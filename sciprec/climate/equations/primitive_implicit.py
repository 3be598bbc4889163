"""The stiff linear part of the primitive equations: gravity waves about rest, and friction.

About an isothermal state of rest at T_0, with A and B of `vertical` and c the implicit time:

    d zeta/dt = -friction zeta,         d D/dt = l (l+1) (A T' + P) - friction D
    d T'/dt   = -kappa T_0 B D,         d P/dt = -T_0 sum of thickness D

Source: Hoskins and Simmons (1975), section 2; Simmons and Burridge (1981).
"""

from __future__ import annotations

import numpy as np

from sciprec.climate.equations.share import FIRST, FIRST_ORDER, LAST_ORDER, Share
from sciprec.climate.equations.vertical import (
    SigmaLevels,
    compression,
    even_levels,
    hydrostatic,
    implicit_inverses,
)
from sciprec.climate.transform.grid import Truncation
from sciprec.climate.transform.legendre import coefficient_orders
from sciprec.precision.operations.reduce import accumulate, product
from sciprec.precision.registry import kernel


def _random(*shape):
    return np.random.default_rng(37).uniform(-1.0, 1.0, shape)


def implicit_constants(
    levels: SigmaLevels, reference: float, kappa: float, friction: np.ndarray,
    truncation: Truncation, time: float,
) -> tuple[np.ndarray, ...]:  # fmt: skip
    """Tables of `primitive_linear` and `primitive_solve`, binary64.

    Args:
        levels: L of them.
        reference: T_0.
        kappa: gas constant over heat capacity.
        friction: (L,), rates at which the wind is braked.
        truncation: the truncation.
        time: c, the implicit time.

    Returns:
        friction (L,); braked = 1 / (1 + c friction) (L,); laplacian = l (l+1) and c times it
        (coefficients,), zero above the truncation; exchange = (kappa T_0, T_0, c kappa T_0, c T_0);
        the table of `implicit_inverses`.
    """
    degree = coefficient_orders(truncation.number)[0]
    wave = degree * (degree + 1.0) * (degree <= truncation.number)
    friction = np.asarray(friction, np.float64)
    pair = np.array([kappa * reference, reference])
    largest = truncation.number + 1
    inverses = implicit_inverses(levels, reference, kappa, friction, largest, time)
    braked = 1.0 / (1.0 + time * friction)
    return friction, braked, wave, time * wave, np.append(pair, time * pair), inverses


def _implicit_example():
    levels = even_levels(2)
    friction = np.array([0.0, 0.5])
    small = Truncation(1, 4, 8, 3600.0)
    implicit = implicit_constants(levels, 21.0, 2 / 7, friction, small, 0.125)
    constants = levels.column, implicit, 0.0, 0.0, 0.0, 0.0, 0.0, Share(small).array
    return _random(5, 14), constants, np.zeros((5, 14))


@kernel(example=lambda: _implicit_example())
def primitive_linear(state, constants, out):
    """out = L state: gravity waves about the isothermal state of rest, and friction.

    D: l (l+1) (A T' + P) - friction D; T': -kappa T_0 B D; P: -T_0 sum of thickness D;
    zeta: -friction zeta

    Args:
        state: (coefficients, 6 levels + 2), those of the share alone.
        constants: of the set: (column of the levels, `implicit_constants`, ...), as in
            `air_tendency`.
        out: of the shape of the state, written.
    """
    share = constants[7]
    alpha, log_ratio, log_per_thickness, thickness, _, _ = constants[0]
    friction, _, laplacian, _, exchange, _ = constants[1]
    levels = alpha.shape[0]
    p = 6 * levels
    for i in range(state.shape[0]):
        wave = laplacian[share[FIRST] + i]
        hydrostatic(state[i], 4 * levels, alpha, log_ratio, out[i], 2 * levels)
        compression(state[i], 2 * levels, alpha, log_per_thickness, thickness, out[i], 4 * levels)
        for k in range(levels):
            for part in range(2):
                z = 2 * k + part
                d = 2 * levels + z
                pushed = wave * (out[i, d] + state[i, p + part])
                out[i, z] = -(friction[k] * state[i, z])
                out[i, d] = pushed - friction[k] * state[i, d]
                out[i, 2 * levels + d] = -(exchange[0] * out[i, 2 * levels + d])
        out[i, p] = -(exchange[1] * out[i, p])
        out[i, p + 1] = -(exchange[1] * out[i, p + 1])


@kernel(example=lambda: _implicit_example())
def primitive_solve(known, constants, out):
    """out = (1 - c L)^-1 known for the implicit time c of the tables.

    D = inverse[l] (known D + c l (l+1) (A known T' + known P)); T' and P follow from D.

    Args:
        known: (coefficients, 6 levels + 2), those of the share alone.
        constants: of the set: (column of the levels, `implicit_constants`, ...), as in
            `air_tendency`.
        out: of the shape of the known, written.

    Precision: products with the inverses in the matmul role, sums from the top level downwards in
        the accumulate role.
    """
    share = constants[7]
    alpha, log_ratio, log_per_thickness, thickness, _, _ = constants[0]
    _, braked, _, waves, exchange, inverses = constants[1]
    levels = alpha.shape[0]
    p = 6 * levels
    degrees = inverses.shape[0]
    i = 0
    for m in range(share[FIRST_ORDER], share[LAST_ORDER]):
        for l in range(m, degrees):  # noqa: E741
            wave = waves[share[FIRST] + i]
            hydrostatic(known[i], 4 * levels, alpha, log_ratio, out[i], 4 * levels)
            for k in range(levels):
                for part in range(2):
                    z = 2 * k + part
                    d = 2 * levels + z
                    risen = wave * (out[i, 2 * levels + d] + known[i, p + part])
                    out[i, 2 * levels + d] = known[i, d] + risen
                    out[i, d] = 0.0
                    out[i, z] = braked[k] * known[i, z]
            multiply_levels(inverses[l], out[i], 4 * levels, 2 * levels)
            start = 4 * levels
            compression(out[i], 2 * levels, alpha, log_per_thickness, thickness, out[i], start)
            for c in range(4 * levels, 6 * levels):
                out[i, c] = known[i, c] - exchange[2] * out[i, c]
            for part in range(2):
                out[i, p + part] = known[i, p + part] - exchange[3] * out[i, p + part]
            i = i + 1


@kernel(example=lambda: (_random(3, 3), np.round(8 * _random(12)) / 8, 0, 6))
def multiply_levels(matrix, values, source, target):
    """values[target + 2 k + part] += sum over j of values[source + 2 j + part] matrix[j, k].

    Args:
        matrix: (levels, levels).
        values: (columns,), real and imaginary parts in turn; those from target on are written.
        source, target: first columns.
    """
    levels = matrix.shape[0]
    for j in range(levels):
        re = values[source + 2 * j]
        im = values[source + 2 * j + 1]
        for k in range(levels):
            c = target + 2 * k
            d = c + 1
            values[c] = accumulate(values[c], product(matrix[j, k], re))
            values[d] = accumulate(values[d], product(matrix[j, k], im))
