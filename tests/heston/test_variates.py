"""Variates of the paths: one word each, the same for any block, and coupled over step sizes."""

import math

import numpy as np
import pytest
from numba import njit
from scipy.special import ndtr, ndtri

from sciprec.heston.schemes.catalogue import schemes
from sciprec.heston.simulation.block import CHUNK_PATHS, CHUNK_STEPS, Simulation
from sciprec.heston.simulation.paths import Block
from sciprec.heston.variates.inversion import write_variates
from sciprec.heston.variates.random_numbers import CombinedVariates, PhiloxVariates
from sciprec.precision.streams import word_at
from tests.heston.examples import LEWIS

LIFTED = pytest.mark.parametrize("scheme", [n for n, s in sorted(schemes().items()) if s.lifts])


def simulated(n_steps, n_paths=64, first_path=0, stops=(), **given):
    """Return a Simulation of one year, advanced to its end with stops on the way."""
    given = {"backend": "fp64", "scheme": "quadratic_exponential_martingale", "seed": 3} | given
    run = Simulation(LEWIS, Block(first_path, n_paths), step_years=1 / n_steps, **given)
    for stop in (*stops, n_steps):
        run.advance(stop - run.step)
    return run


def filled(source, first_step, steps, paths, column=0, dtype=np.float64):
    """Return the three rows of variates of a source."""
    draws = np.zeros((steps, 3, paths), dtype=dtype)
    source.fill(column, first_step, draws)
    return draws


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-14), (np.float32, 4e-7)])
@pytest.mark.parametrize("first_step", [0, 5])
def test_variates_are_quantiles_of_the_words(first_step, dtype, tolerance):
    seed, first_path, paths = 2**40 + 7, 2**32 - 2, 6
    draws = filled(PhiloxVariates(seed, first_path - 1), first_step, 3, paths, 1, dtype)
    for step in range(3):
        for i in range(paths):
            words = [word_at(seed, first_path + i, first_step + step, d) for d in (0, 1)]
            below = (np.array(words) + 0.5) / 2.0**32
            expected = [*ndtri(below), -math.log1p(-below[0])]
            assert draws[step, :, i] == pytest.approx(expected, rel=tolerance, abs=tolerance)


@njit(error_model="numpy")
def written(words, draws):
    for row in range(draws.shape[0]):
        write_variates(words[row, 0], words[row, 1], row, True, draws)


@pytest.mark.slow
@pytest.mark.parametrize("dtype, normal, exponential", [(np.float64, 8, 3), (np.float32, 4, 2)])
def test_variates_of_many_words_are_accurate(dtype, normal, exponential):
    """In units of the format's epsilon; scipy's own quantile is good to about two of binary64."""
    words = np.random.default_rng(2).integers(0, 2**32, (16, 2, 4096))
    words[0, 0] = np.arange(2**31 - 2048, 2**31 + 2048)
    words[1, 0] = np.arange(-2048, 2048) % 2**32
    draws = np.zeros((16, 3, 4096), dtype=dtype)
    written(words, draws)
    ends = np.minimum(words, 2**32 - 1 - words)
    expected = np.where(words < 2**31, 1, -1) * ndtri((ends + 0.5) / 2**32)
    unit = np.finfo(dtype).eps
    assert np.max(np.abs(draws[:, :2] / expected - 1)) <= normal * unit
    expected = -np.log1p(-(words[:, 0] + 0.5) / 2**32)
    scale = expected if dtype == np.float64 else np.maximum(1, expected)
    assert np.max(np.abs(draws[:, 2] - expected) / scale) <= exponential * unit


@pytest.mark.parametrize("per_step", [2, 3])
def test_variates_of_long_steps_are_sums_of_those_of_short_ones(per_step):
    short = filled(PhiloxVariates(5, 0), 4 * per_step, 3 * per_step, 500)
    long = filled(CombinedVariates(PhiloxVariates(5, 0), per_step), 4, 3, 500)
    sums = short[:, :2].reshape(3, per_step, 2, 500).sum(axis=1) / math.sqrt(per_step)
    assert long[:, :2] == pytest.approx(sums, rel=1e-14, abs=1e-14)
    assert long[:, 2] == pytest.approx(-np.log(ndtr(-long[:, 0])), rel=1e-13)
    assert abs(long[:, 2].mean() - 1) < 4 / math.sqrt(1500)


@LIFTED
def test_coupled_paths_come_together_as_steps_shrink(scheme):
    """Mean squares of neighbouring differences fall; uncoupled ones stay at twice the variance."""
    differences = []
    for n_steps in (16, 64):
        fine = simulated(n_steps, 2000, scheme=scheme)
        coarse = simulated(n_steps // 4, 2000, scheme=scheme, draws_per_step=4)
        other = simulated(n_steps // 4, 2000, scheme=scheme)
        differences.append(np.mean((fine.log_ratio() - coarse.log_ratio()) ** 2))
        apart = np.mean((fine.log_ratio() - other.log_ratio()) ** 2)
        assert differences[-1] < 0.2 * apart
    assert differences[1] < 0.5 * differences[0]


@LIFTED
@pytest.mark.parametrize("backend, tolerance", [("fp64", 1e-12), ("fp32", 1e-4)])
def test_the_independent_normal_adds_the_conditional_variance(scheme, backend, tolerance):
    """Step by step, log spot less its conditional mean is sqrt(conditional variance) times Z."""
    given = {"step_years": 0.25, "backend": backend, "scheme": scheme, "seed": 3}
    whole = Simulation(LEWIS, Block(0, 50), **given)
    mean = Simulation(LEWIS, Block(0, 50), conditional=True, **given)
    gap, variance = np.zeros(50), np.zeros(50)
    for step in range(3):
        whole.advance(1)
        mean.advance(1)
        normals = filled(PhiloxVariates(3, 0), step, 1, 50)[0, 1]
        assert np.array_equal(whole.variance(), mean.variance())
        shock = whole.log_ratio() - mean.log_ratio() - gap
        added = mean.conditional_variance() - variance
        assert shock == pytest.approx(np.sqrt(np.maximum(added, 0)) * normals, abs=tolerance)
        gap, variance = gap + shock, variance + added
    expected = (1 - LEWIS.rho**2) * mean.integrated_variance()
    assert mean.conditional_variance() == pytest.approx(expected)


@LIFTED
@pytest.mark.parametrize("backend", ["fp64", "mlu370"])
def test_columns_chunks_and_stops_change_no_bit(scheme, backend):
    n_paths, n_steps = CHUNK_PATHS + 37, CHUNK_STEPS + 5
    given = {"scheme": scheme, "backend": backend}
    whole = simulated(n_steps, n_paths, **given)
    stopped = simulated(n_steps, n_paths, stops=(1, 4, 7), **given)
    late = simulated(n_steps, 40, first_path=n_paths - 40, **given)
    for look in ("log_ratio", "variance", "integrated_variance", "conditional_variance"):
        assert np.array_equal(getattr(whole, look)(), getattr(stopped, look)())
        assert np.array_equal(getattr(whole, look)()[-40:], getattr(late, look)())
