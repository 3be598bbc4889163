"""Parts of the bound: means and intervals, the steps' rule, sizes, moments, seeds."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from sciprec.heston.bounds import discretisation, statistics
from sciprec.heston.bounds import interval as bound
from sciprec.heston.parameters import Model
from sciprec.heston.schemes import moments
from sciprec.heston.simulation.block import Simulation
from sciprec.heston.simulation.paths import Block
from tests.heston.examples import ANDERSEN_2


def test_group_moments_against_numpy():
    values = np.random.default_rng(1).standard_normal((2, 3, 40 * statistics.GROUP))
    means = statistics.group_means(values)
    whole = statistics.GroupMoments(2, 3)
    whole.add(means)
    parts = statistics.GroupMoments(2, 3)
    for first, last in ((0, 7), (7, 8), (8, 40)):
        parts.add(means[first:last])
    assert np.array_equal(whole.mean, parts.mean)
    assert np.array_equal(whole.covariance(), parts.covariance())
    assert whole.paths == values.shape[2] and whole.freedom == 39
    assert np.allclose(whole.mean, values.mean(axis=2), rtol=0, atol=1e-14)
    assert np.allclose(whole.covariance_of_mean()[1], np.cov(means[:, 1].T) / 40, rtol=1e-12)
    mean, variance = whole.combined(np.array([[1.0, 0, 0], [1, -1, 2]]))
    mixed_means = means[:, 1] @ [1, -1, 2]
    assert mean[1] == pytest.approx(mixed_means.mean())
    assert variance[1] == pytest.approx(mixed_means.var(ddof=1) / 40)


def test_interval_of_a_sum_covers():
    """Two means with very different variances and few replications, 95 % of 20,000 times."""
    rng = np.random.default_rng(3)
    sizes, spreads, times = (32, 40), (1.0, 0.3), 20_000
    samples = [s * rng.standard_normal((times, n)) for n, s in zip(sizes, spreads, strict=True)]
    errors = sum(sample.mean(axis=1) for sample in samples)
    variances = [sample.var(axis=1, ddof=1) / n for sample, n in zip(samples, sizes, strict=True)]
    half, parts = statistics.summed_interval(variances, [n - 1 for n in sizes], 0.05)
    share = np.mean(np.abs(errors) <= half)
    assert abs(share - 0.95) < 4 * np.sqrt(0.95 * 0.05 / times)
    assert np.allclose(parts.sum(axis=0), half)


@pytest.mark.parametrize(
    "means, deviations, weight, size, rule",
    [
        ((0.1, 0.4), (0.01, 0.01), 1 / 3, 0.1 / 3, "order 2"),
        ((-0.1, -0.22), (0.01, 0.01), 1.0, 0.1, "order 1"),
        ((0.1, 0.15), (0.01, 0.01), 0.0, 0.15, "larger difference"),
        ((0.1, -0.4), (0.01, 0.02), 0.0, 0.4, "larger difference"),
        ((0.1, 0.4), (0.06, 0.01), 0.0, 0.4, "larger difference"),
        ((0.3, 0.1), (0.01, 0.2), 0.0, 0.3, "larger difference"),
        ((0.1, 0.6), (0.01, 0.01), 0.0, 0.6, "larger difference"),
        ((0.0, 0.0), (0.0, 0.0), 0.0, 0.0, "larger difference"),
    ],
)
def test_rule_of_the_steps(means, deviations, weight, size, rule):
    bias = discretisation.step_bias(np.array([means]), np.array([deviations]))
    assert bias.rule == (rule,) and bias.weight[0] == weight
    assert bias.size()[0] == pytest.approx(size)
    extrapolated = rule.startswith("order")
    np.testing.assert_allclose(bias.factors[0], (weight, 0) if extrapolated else (1, 1))
    assert bias.size(1.0)[0] <= bias.size()[0] and bias.size(100.0)[0] == 0


@pytest.mark.parametrize("order", [1, 2])
def test_extrapolation_removes_a_power(order):
    """An error of exactly c h^p is removed, and was within the bound."""
    errors = np.array([0.3 * (1 / n) ** order for n in (16, 8, 4)])
    means = np.array([[errors[0] - errors[1], errors[1] - errors[2]]])
    bias = discretisation.step_bias(means, np.full((1, 2), 1e-9))
    assert errors[0] + bias.weight[0] * means[0, 0] == pytest.approx(0, abs=1e-15)
    assert errors[0] <= bias.size()[0] * (1 + 1e-12)  # it is the correction itself


def made_level(rng, n_steps, means, covariance, trials, groups=40):
    """Return a stand-in for a Level: normal replications, one payoff for each trial."""
    moments = statistics.GroupMoments(trials, len(means))
    root = np.linalg.cholesky(covariance * groups)  # `covariance` is that of the level's mean
    moments.add(means + rng.standard_normal((groups, trials, len(means))) @ root.T)
    return SimpleNamespace(n_steps=n_steps, moments=moments)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1, 2, 4])
@pytest.mark.parametrize(
    "differences, sign",
    [((0.5, 0.4), 1), ((-0.4, 1.5), 1), ((-0.4, 1.5), -1), ((8.0, 32.0), 1), ((8.0, 19.0), -1)],
)
@pytest.mark.parametrize("correction", [True, False])
def test_the_bound_covers_the_largest_error_that_the_steps_may_leave(
    ratio, differences, sign, correction
):
    """20,000 trials; the true price lies as far off as the rule allows, to one side: at most 2.5 %
    are lost there, and not many fewer. Where the arithmetic is left, so is the truth by its error.
    """
    trials, rng = 20_000, np.random.default_rng(11)
    covariance = np.array([[0.04, -0.02], [-0.02, 0.09]])
    steps = made_level(rng, 8, np.array(differences), covariance, trials)
    coarser = sum(differences[: {1: 0, 2: 1, 4: 2}[ratio]])  # E[Y_n] less that of the base
    base = made_level(rng, 8 // ratio, np.array([100.0 - coarser]), np.array([[0.05]]), trials)
    rounding = made_level(rng, 8 // ratio, np.array([sign * 0.3]), np.array([[0.01]]), trials)
    given = bound.bound_of(base, rounding, steps, 0.05, correction)
    weight = {"order 2": 1 / 3, "order 1": 1.0, "larger difference": 0.0}[given.bias.rule[0]]
    same = np.array([rule == given.bias.rule[0] for rule in given.bias.rule])
    assert same.mean() > 0.9
    left = weight * abs(differences[0]) if weight else max(map(abs, differences))
    truth = 100.0 + weight * differences[0] + sign * (left + 0.3)
    lost = (np.abs(given.price - truth) > given.total)[same]
    deviation = np.sqrt(0.025 * 0.975 / same.sum())
    assert lost.mean() < 0.025 + 4 * deviation
    parts = given.statistical + given.discretisation + given.rounding
    np.testing.assert_allclose(parts, given.total)
    if differences[1] == 1.5 and ratio == 1:
        assert lost.mean() > 0.025 - 4 * deviation  # one difference, well apart from the other


@pytest.mark.parametrize(
    "rho, order, share",
    [(-0.5, 2, 1.0), (-0.5, 4, 1.0), (0.4, 2, 1.0), (0.8, 4, 0.64), (-0.9, 8, 1.0)],
)
def test_moment_explosion_against_the_riccati_equation(rho, order, share):
    """E[S^w] is exp(.. + B v0), B' = sigma^2 B^2 / 2 + (rho sigma w - kappa) B + w (w - 1) / 2."""
    model = Model(spot=1, v0=0.04, kappa=0.3, theta=0.04, sigma=0.9, rho=rho)
    expected = moments.moment_explosion(model, order, share)

    def slope(_, b):
        linear = rho * model.sigma * order - model.kappa
        return 0.5 * model.sigma**2 * b * b + linear * b + 0.5 * share * order * (order - 1)

    def far(_, b):
        return b[0] - 1e8

    far.terminal = True
    found = solve_ivp(slope, (0, 200), [0.0], events=far, rtol=1e-9, atol=1e-9)
    if np.isinf(expected):
        assert not found.t_events[0].size
    else:
        assert found.t_events[0][0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("scheme", ["quadratic_exponential", "quadratic_exponential_martingale"])
def test_schemes_keep_the_mean_of_the_integral(scheme):
    simulation = Simulation(
        ANDERSEN_2, Block(0, 2**16), step_years=0.25, backend="fp64", scheme=scheme, seed=4
    )
    simulation.advance(12)
    values = simulation.integrated_variance()
    error = values.std() / np.sqrt(values.size)
    assert abs(values.mean() - moments.mean_integrated_variance(ANDERSEN_2, 3.0, 12)) < 4 * error
