"""Scrambled Sobol points: evenly spread words, bridges, and prices with less noise."""

import math

import numpy as np
import pytest
from scipy import stats

from sciprec import heston
from sciprec.errors import InputError
from sciprec.heston.semianalytic import analytic
from sciprec.heston.simulation import paths, sobol
from sciprec.heston.simulation.monitoring import observed_payments
from sciprec.precision.streams import word_at
from tests.heston.examples import LEWIS

CALL = heston.Call(strike=100, maturity=1)


def test_bridge_keeps_independence():
    """The bridge of the unit matrix is orthogonal, and its first column is the even slope."""
    for steps in (1, 2, 7, 12):
        matrix = sobol.bridge(np.eye(steps))
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(steps), atol=1e-14)
        np.testing.assert_allclose(matrix[:, 0], 1 / math.sqrt(steps), rtol=1e-14)


def test_words_are_uniform_and_paths_are_evenly_spread():
    words = sobol.SobolPoints(6, seed=3, replication=0)(0, 1024)
    assert words.shape == (6, 2, 1024) and words.dtype == np.int64
    assert words.min() >= 0 and words.max() < 2**32
    uniforms = (words + 0.5) / 2**32
    for row in uniforms.reshape(12, -1):
        assert stats.kstest(row, stats.uniform.cdf).pvalue > 1e-3
    ends = stats.norm.ppf(uniforms).sum(axis=0) / math.sqrt(6)  # the first two coordinates
    cells = np.floor(stats.norm.cdf(ends) * 1024).astype(int)
    assert sorted(cells[0]) == sorted(cells[1]) == list(range(1024))  # one path in each cell
    boxes = (cells[0] // 32) * 32 + cells[1] // 32
    assert len(set(boxes)) == 1024  # and one in each box of the plane


def test_blocks_of_one_scramble_continue_it():
    points = sobol.SobolPoints(5, seed=1, replication=2)
    whole = points(0, 64)
    assert np.array_equal(points(16, 16), whole[:, :, 16:32])
    assert not np.array_equal(sobol.SobolPoints(5, seed=1, replication=3)(0, 64), whole)
    assert not np.array_equal(sobol.SobolPoints(5, seed=2, replication=2)(0, 64), whole)


@pytest.mark.parametrize("scheme", ["full_truncation_euler", "quadratic_exponential_martingale"])
def test_philoxs_own_words_given_make_the_same_paths(scheme):
    n_paths, steps, seed = 64, 5, 9
    words = np.array(
        [
            [[word_at(seed, path, step, d) for path in range(n_paths)] for d in (0, 1)]
            for step in range(steps)
        ]
    )
    given = {"scheme": scheme, "n_steps": steps, "seed": seed}
    block = paths.Block(0, n_paths)
    asian = heston.AsianArithmetic(strike=90, maturity=1, fixings=5)
    usual = observed_payments(LEWIS, [CALL, asian], block, **given)
    again = observed_payments(LEWIS, [CALL, asian], block, words=words, **given)
    assert np.array_equal(usual, again)


@pytest.mark.parametrize("backend", ["fp64", "fp32"])
def test_prices_with_less_noise(backend):
    options = [CALL, heston.AsianGeometric(strike=100, maturity=1, fixings=4)]
    truths = np.array([analytic.price(LEWIS, option) for option in options])
    given = {"n_steps": 32, "backend": backend}
    got = sobol.estimate(LEWIS, options, n_paths=2**11, seed=5, **given)
    assert np.all(np.abs(got.price - truths) < 5 * got.standard_error)
    plain = paths.estimate(LEWIS, CALL, n_paths=16 * 2**11, **given)
    assert got.standard_error[0] < plain.standard_error[0] / 3
    quantile = stats.t.ppf(0.975, 15)
    np.testing.assert_allclose(got.half_width, quantile * got.standard_error, rtol=1e-12)


def test_block_size_changes_no_price():
    given = {"n_paths": 256, "n_steps": 4, "seed": 8}
    one, other = (
        sobol.estimate(LEWIS, CALL, block_paths=size, **given).price[0] for size in (50, 4096)
    )
    assert one == pytest.approx(other, rel=1e-14)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"n_paths": 1000}, "n_paths is 1000; accepted: a power of two, such as 1024"),
        ({"n_paths": 1}, "n_paths is 1; accepted: an integer of at least 2"),
        ({"n_steps": 2.0}, "n_steps is 2.0; accepted: an integer of at least 1"),
        ({"replications": 8}, "replications is 8; accepted: an integer of at least 16"),
        ({"confidence": 1.0}, "confidence is 1.0; accepted: a number between 0 and 1"),
        ({"seed": -1}, "seed is -1; accepted: an integer of at least 0"),
        ({"n_steps": 20_000}, "n_steps is 20000 with Sobol points; accepted: at most 10600"),
        ({"scheme": "gamma_expansion"}, "scheme 'gamma_expansion' was given words; accepted: the"),
    ],
)
def test_bad_arguments(change, message):
    with pytest.raises(InputError, match=message):
        sobol.estimate(LEWIS, CALL, **{"n_paths": 16, "n_steps": 2} | change)
