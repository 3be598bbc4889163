"""The gamma expansion: its variates, the law of the integrated variance, and prices in one step."""

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

from sciprec import heston
from sciprec.heston.schemes import gamma_expansion
from sciprec.heston.schemes.registry import Units, state_arrays
from sciprec.heston.semianalytic import analytic
from sciprec.heston.semianalytic.affine import affine_step
from sciprec.heston.simulation import paths
from sciprec.heston.simulation.monitoring import observed_payments
from sciprec.heston.variates import draws
from sciprec.precision.streams import word_at
from tests.heston.examples import ANDERSEN_1, CALM

N = 20_000


@njit
def many(draw, parameter, out):
    cursor = np.zeros(draws.CURSOR, dtype=np.int64)
    for i in range(out.size):
        draws.point_at(cursor, i, 0, 11, 0)
        out[i] = draw(parameter, cursor)


@njit
def plain_uniform(parameter, cursor):
    return draws.uniform(cursor)


@njit
def plain_normal(parameter, cursor):
    return draws.normal(cursor)


def drawn(draw, parameter=0.0):
    """Return N variates, one from each of N paths."""
    out = np.empty(N)
    many(draw, parameter, out)
    return out


def test_uniforms_are_the_words_of_their_address():
    cursor = np.zeros(draws.CURSOR, dtype=np.int64)
    path, step, seed = 2**40 + 3, 7, 2**33 + 5
    draws.point_at(cursor, path, step, seed & 0xFFFFFFFF, seed >> 32)
    for block in range(3):
        # words of (seed, path, step pair 7, dimension pair `block`): steps 14 and 15
        words = [word_at(seed, path, 14 + s, 2 * block + d) for s in (0, 1) for d in (0, 1)]
        for high, low in (words[:2], words[2:]):
            expected = (high * 2**20 + low // 2**12 + 0.5) / 2**52
            assert draws.uniform(cursor) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw, parameter, law",
    [
        (plain_uniform, 0.0, stats.uniform()),
        (plain_normal, 0.0, stats.norm()),
        *((draws.gamma, shape, stats.gamma(shape)) for shape in (0.04, 0.5, 1.0, 3.7, 250.0)),
    ],
)
def test_continuous_variates(draw, parameter, law):
    assert stats.kstest(drawn(draw, parameter), law.cdf).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.0, 1e-3, 0.7, 9.9, 10.0, 30.5, 4000.0])
def test_poisson(mean):
    """Chi-square over classes of at least ten expected counts."""
    got = drawn(draws.poisson, mean)
    assert np.all(got == np.floor(got)) and got.min() >= 0
    law = stats.poisson(mean)
    edges = np.unique(law.ppf(np.linspace(0.01, 0.99, 40)))
    chances = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]]))
    counts = np.bincount(np.searchsorted(edges, got), minlength=len(edges) + 1)
    keep = N * chances >= 10
    assert counts[~keep].sum() <= 3 * N * chances[~keep].sum() + 10
    expected = N * chances[keep] * counts[keep].sum() / (N * chances[keep].sum())
    if keep.sum() > 1:
        assert stats.chisquare(counts[keep], expected).pvalue > 1e-3


@pytest.mark.parametrize("model, years", [(ANDERSEN_1, 10.0), (CALM, 0.05), (CALM, 2.0)])
def test_tail_completes_the_series(model, years):
    """Mean and variance of the integral given both ends, against closed forms.

    Source: Glasserman and Kim (2011), eqs (4.2) and (4.4), as sums over the series here.
    """
    c = gamma_expansion.expansion_constants(model, years, Units.of(model, years))
    start = gamma_expansion.SCALARS
    rates, widths = c[start : start + 20], c[start + 20 :]
    half = 0.5 * model.kappa * years
    coth, csch2 = 1 / math.tanh(half), 1 / math.sinh(half) ** 2
    per_ends = coth / model.kappa - 0.5 * years * csch2
    per_degree = (model.sigma / model.kappa) ** 2 / 4 * (-2 + 2 * half * coth)
    ratio = (model.sigma / model.kappa) ** 4 / 8
    spread_per_degree = ratio * (-8 + 4 * half * coth + 4 * half * half * csch2)
    assert np.sum(rates * widths) + c[5] == pytest.approx(per_ends, rel=1e-9)
    assert np.sum(widths) + c[7] == pytest.approx(2 * per_degree, rel=1e-9)
    assert np.sum(widths**2) + c[8] == pytest.approx(2 * spread_per_degree, rel=1e-7)
    spread_per_ends = (
        coth + half * csch2 - 2 * half * half * coth * csch2
    ) * model.sigma**2 / model.kappa**3  # fmt: skip
    assert np.sum(2 * rates * widths**2) + c[6] == pytest.approx(spread_per_ends, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("model", [ANDERSEN_1, CALM], ids=["violent", "calm"])
@pytest.mark.parametrize("u", [0.5, 2.0 - 0.5j, -1j])
def test_joint_law_of_one_step(model, u):
    """E[exp(i u X + B v')] against the closed form, which knows nothing of the expansion."""
    years, n_paths, after = 1.0, 40_000, -3.0
    units = Units.of(model, years)
    constants = gamma_expansion.expansion_constants(model, years, units)
    arrays = state_arrays(model, years, n_paths)
    gamma_expansion.gamma_expansion(0, 0, 1, 1, 2, constants, *arrays)
    x, v = arrays[0] * units.log_spot_unit, arrays[2] * units.variance_unit
    values = np.exp(1j * u * x + after * v)
    constant, slope = affine_step(model, np.array(u + 0j), after, years)
    expected = np.exp(constant + slope * model.v0)
    for part in (np.real, np.imag):
        error = part(values).std() / math.sqrt(n_paths)
        assert abs(part(values).mean() - part(expected)) <= 4 * error


@pytest.mark.slow
def test_prices_in_one_step(references):
    for name in ("andersen_1_K100", "andersen_2_K100", "broadie_kaya_2", "kahl_jaeckel"):
        model, strike, maturity, call = references[name]
        got = paths.estimate(
            model, heston.Call(strike=strike, maturity=maturity),
            scheme="gamma_expansion", n_paths=2**14, n_steps=1,
        )  # fmt: skip
        assert abs(got.price[0] - call) < 4 * got.standard_error[0], name


def test_geometric_asian_from_date_to_date():
    """A path-dependent price, exact with one step per fixing."""
    asian = heston.AsianGeometric(strike=100, maturity=2, fixings=4)
    values = observed_payments(
        ANDERSEN_1, asian, paths.Block(0, 2**14), scheme="gamma_expansion", n_steps=4
    )[0]
    error = values.std() / 2**7
    assert abs(values.mean() - analytic.price(ANDERSEN_1, asian)) < 4 * error
