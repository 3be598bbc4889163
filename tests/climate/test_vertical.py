"""The vertical scheme: hydrostatics, conservation, waves about rest, its messages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciprec.climate.equations.vertical import (
    SigmaLevels,
    compression,
    compression_matrix,
    even_levels,
    gravity_wave_matrix,
    hydrostatic,
    hydrostatic_matrix,
    resolve_levels,
)
from sciprec.foundation.errors import InputError

LEVELS = [even_levels(2), even_levels(20), SigmaLevels((0.0, 0.02, 0.1, 0.35, 0.8, 1.0))]
COLUMNS = st.lists(st.floats(-1.0, 1.0), min_size=5, max_size=5).map(np.array)


@pytest.mark.parametrize("levels", LEVELS)
def test_an_isothermal_column_has_the_heights_of_its_pressures(levels):
    """Phi at the pressure p[k] = p[k + 1/2] exp(-alpha) is exactly -T ln(sigma)."""
    height = hydrostatic_matrix(levels) @ np.ones(levels.count)
    expected = -np.log(np.array(levels.half[1:])) + levels.alpha
    np.testing.assert_allclose(height, expected, rtol=0, atol=8 * 2.0**-52 * levels.count)


def test_heights_converge_to_the_integral_at_second_order():
    """T = 1 + sigma**2: Phi = -ln(sigma) + (1 - sigma**2) / 2, below the top levels."""
    errors = []
    for count in (20, 40, 80):
        levels = even_levels(count)
        sigma = levels.full
        height = hydrostatic_matrix(levels) @ (1 + sigma**2)
        exact = -np.log(sigma) + 0.5 * (1 - sigma**2)
        errors.append(np.abs(height - exact)[sigma > 0.3].max())
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(slopes, 2.0, atol=0.2)


@pytest.mark.parametrize("levels", LEVELS)
def test_what_compression_heats_pressure_has_done(levels):
    """Energy: sum of thickness Phi G = sum of thickness T (B G) for all columns."""
    weights = np.diag(levels.thickness)
    lifted = hydrostatic_matrix(levels).T @ weights
    heated = weights @ compression_matrix(levels)
    np.testing.assert_allclose(lifted, heated, rtol=0, atol=8 * 2.0**-53)


@pytest.mark.parametrize("levels", LEVELS)
def test_mean_geopotential_is_mean_temperature(levels):
    """Angular momentum: sum of thickness (A T) = sum of thickness T, so that grad ps drops out."""
    total = levels.thickness @ hydrostatic_matrix(levels)
    np.testing.assert_allclose(total, levels.thickness, rtol=0, atol=8 * 2.0**-53 * levels.count)


@settings(max_examples=50, deadline=None)
@given(values=COLUMNS, flow=COLUMNS)
def test_vertical_advection_conserves_the_square(values, flow):
    """sum of thickness X W(X) + sum of X**2 (velocity below - velocity above) / 2 = 0."""
    levels = LEVELS[2]
    half = np.array(levels.half)
    sums = np.concatenate([[0.0], np.cumsum(levels.thickness * flow)])
    velocity = half * sums[-1] - sums
    velocity[[0, -1]] = 0.0
    steps = np.concatenate([[0.0], np.diff(values), [0.0]])
    moved = (velocity[1:] * steps[1:] + velocity[:-1] * steps[:-1]) * levels.column[4]
    balance = levels.thickness @ (values * moved) + 0.5 * values**2 @ np.diff(velocity)
    assert abs(balance) <= 64 * 2.0**-53


@pytest.mark.parametrize("levels", LEVELS)
def test_kernels_are_the_matrices(levels):
    rng = np.random.default_rng(0)
    row = rng.uniform(-1, 1, 2 * levels.count + 3)
    column = levels.column
    out = np.zeros(2 * levels.count + 4)
    hydrostatic(row, 3, column[0], column[1], out, 4)
    pairs = row[3:].reshape(-1, 2)
    tolerance = 4 * levels.count * 2.0**-53
    expected = hydrostatic_matrix(levels) @ pairs
    np.testing.assert_allclose(out[4:].reshape(-1, 2), expected, rtol=0, atol=8 * tolerance)
    compression(row, 3, column[0], column[2], column[3], out, 2)
    expected = np.vstack([compression_matrix(levels) @ pairs, levels.thickness @ pairs])
    np.testing.assert_allclose(out[2:].reshape(-1, 2), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("count", [10, 24])
def test_gravity_waves_have_the_frequencies_of_the_linearised_system(count):
    """Eigenvalues of the system in (D, T, q) against the matrix of the second derivative."""
    levels, reference, kappa, wave = even_levels(count), 21.0, 2 / 7, 20 * 21
    system = np.zeros((2 * count + 1, 2 * count + 1))
    for j in range(count):
        for k in range(j, count):
            height = levels.alpha[j] if j == k else levels.log_ratio[k]
            system[j, count + k] = wave * height
            heat = levels.alpha[k] if j == k else levels.log_ratio[k] / levels.thickness[k] / count
            system[count + k, j] = -kappa * reference * heat
        system[j, -1] = wave * reference
        system[-1, j] = -levels.thickness[j]
    frequencies = np.sort(np.abs(np.linalg.eigvals(system).imag))[1::2]
    squares = np.linalg.eigvals(gravity_wave_matrix(levels, reference, kappa))
    assert np.abs(squares.imag).max() < 1e-9 and squares.real.min() > 0
    expected = np.sqrt(wave * np.sort(squares.real))
    np.testing.assert_allclose(frequencies, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "given, message",
    [
        (1, "levels is 1; accepted: 2 to 200 even sigma levels"),
        ("many", "levels is 'many'; accepted: a number of even levels, such as 20, or the sigma"),
        (
            (0.0, 0.5, 0.4, 1.0),
            r"half levels are \(0.0, 0.5, 0.4, 1.0\); accepted: 3 to 201 ascending numbers",
        ),
        ((0.1, 0.5, 1.0), "the first 0 and the last 1"),
        (np.linspace(0, 1, 300), "half levels are 300 numbers from 0.0 to 1.0; accepted: 3 to"),
    ],
)
def test_levels_that_are_none_say_what_is_accepted(given, message):
    with pytest.raises(InputError, match=message):
        resolve_levels(given)
