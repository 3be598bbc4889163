"""Compensated integrations: what residuals do to levels, what they gain, and drifts of budgets."""

import functools
from fractions import Fraction

import numpy as np
import pytest

from sciprec import quantize
from sciprec.arrays.sums.compensation import Compensation
from sciprec.climate.diagnostics.budgets import scalar_errors
from sciprec.climate.equations import shallow_water
from sciprec.climate.running.integration import integrate
from sciprec.climate.stepping.levels import LEVEL_KERNELS, addition
from sciprec.climate.transform.fourier import compensated_sum_of_rows, sum_of_rows
from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation
from sciprec.precision import lift, resolve_backend
from tests.climate.small_models import SMALL

NAMES = ("vorticity", "divergence", "geopotential")
MLU = resolve_backend("mlu370")
U = MLU.compute.rounding_error


def numbers(*shape, seed=0, size=1.0):
    drawn = size * np.random.default_rng(seed).uniform(-1, 1, shape)
    return quantize(drawn, MLU).astype(np.float32)


def kernels():
    return {name: lift(k, MLU, trust_inputs=True) for name, k in LEVEL_KERNELS.items()}


def adder(compensation, rows=50):
    damping = quantize(np.tile([[1e-3], [2e-3]], 6 * rows), MLU).astype(np.float32)
    return addition(kernels(), damping, compensation, np.repeat(NAMES, 2), MLU)


def wholes(level):
    """Exact values of a level: state and residual."""
    pairs = zip(level.values.tolist(), level.residual.tolist(), strict=True)
    return [Fraction(x) + Fraction(r) for x, r in pairs]


@pytest.mark.parametrize("shares", [(1.0, 0.0), (0.15, 0.85)])
def test_an_increment_is_added_to_state_and_residual_together(shares):
    plan = adder(dict.fromkeys(NAMES, Compensation(*shares)))
    level, increment = plan.level(numbers(300)), numbers(300, seed=1, size=2.0**-8)
    for _ in range(3):
        before, x = wholes(level), level.values.copy()
        plan.add(level, increment, steps=2)
        for i, (old, new) in enumerate(zip(before, wholes(level), strict=True)):
            lost = Fraction(float(plan.damping[1, i])) * (
                Fraction(float(x[i])) + Fraction(float(increment[i]))
            )
            step = Fraction(float(increment[i])) - lost
            assert abs(new - old - step) <= 8 * U * (abs(step) + abs(lost) + U * abs(old))


def test_a_filter_moves_states_and_residuals_of_two_levels():
    plan = adder(dict.fromkeys(NAMES, Compensation()))
    near = [quantize(numbers(300) + numbers(300, seed=s, size=2.0**-14), MLU) for s in range(1, 4)]
    previous, current, following = (plan.level(x) for x in near)
    for seed, level in ((7, current), (8, following)):
        level.residual[:] = numbers(300, seed=seed, size=2.0**-22)
    x = [level.values.astype(float) for level in (previous, current, following)]
    before = wholes(current), wholes(following)
    plan.filter(previous, current, following, 0.05, 0.53)
    displaced = 0.05 * ((x[0] - x[1]) + (x[2] - x[1]))
    for old, level, step in zip(
        before, (current, following), (0.53 * displaced, -0.47 * displaced), strict=True
    ):
        moved = [float(n - o) for n, o in zip(wholes(level), old, strict=True)]
        np.testing.assert_allclose(moved, step, atol=20 * U * 2.0**-14)
        assert np.abs(level.residual).max() <= U


def test_variables_without_compensation_have_the_bits_of_plain_updates():
    plain, layered = adder({}), adder({"geopotential": Compensation()})
    first, second = plain.level(numbers(300)), layered.level(numbers(300))
    for step in range(1, 5):
        increment = numbers(300, seed=step, size=2.0**-16)
        plain.add(first, increment)
        layered.add(second, increment)
        layered.forget([second], step)
    a, b = (level.values.reshape(-1, 6) for level in (first, second))
    np.testing.assert_array_equal(a[:, :4], b[:, :4])
    assert (a[:, 4:] != b[:, 4:]).any()
    residual = second.residual.reshape(-1, 6)
    assert not residual[:, :4].any() and residual[:, 4:].any()


def test_residuals_forgotten_after_each_step_leave_the_uncompensated_run():
    runs = [
        integrate("williamson_5", SMALL, 0.5, backend="mlu370", compensation=c)
        for c in (None, Compensation(reset_every=1), Compensation(reset_every=6), "carry")
    ]
    heights = [run.fields["height"][-1] for run in runs]
    np.testing.assert_array_equal(heights[0], heights[1])
    assert len({h.tobytes() for h in heights}) == 3


@functools.cache
def run_of(case, truncation, days, scheme, backend="fp64", compensation=None):
    """A run with steps of 600 s."""
    return integrate(
        case, truncation, days, backend=backend, compensation=compensation, time_scheme=scheme,
        step_seconds=600.0,
    )  # fmt: skip


def errors(case, truncation, days, compensation, scheme):
    """l2 of the height against fp64, and the drift of energy beyond that of fp64."""
    truth = run_of(case, truncation, days, scheme)
    run = run_of(case, truncation, days, scheme, "mlu370", compensation)
    grid = GaussianGrid(resolve_truncation(truncation))
    height = scalar_errors(grid, run.fields["height"][-1], truth.fields["height"][-1])["l2"]
    drift = {n: abs(b[-1] / b[0] - truth.budgets[n][-1] / truth.budgets[n][0])
             for n, b in run.budgets.items()}  # fmt: skip
    return height, drift


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["rk4", "semi_implicit_leapfrog"])
def test_a_day_of_steady_flow_at_t21_is_better_with_each_kind(scheme):
    none, carry, sums = (
        errors("williamson_2", 21, 1.0, c, scheme) for c in (None, "carry", "carry-sums")
    )
    assert sums[0] < carry[0] < none[0] / 3 and sums[0] < none[0] / 10
    assert carry[1]["energy"] < none[1]["energy"] / 20
    assert max(drift["mass"] for _, drift in (none, carry, sums)) < 1e-14


def test_rows_are_summed_with_the_error_of_one_rounding():
    weights, rows = numbers(60, seed=3), numbers(60, 40, seed=4)
    plain, better, lost = (np.zeros(40, np.float32) for _ in range(3))
    lift(sum_of_rows, MLU)(weights, rows, 1, 1, 59, plain, lost)
    lift(compensated_sum_of_rows, MLU)(weights, rows, 1, 1, 59, better, lost)
    products = quantize(weights[:, None].astype(float) * rows.astype(float), MLU)[1:]
    exact = np.array([float(sum(map(Fraction, column))) for column in products.T.tolist()])
    total = np.abs(products).sum(axis=0)
    bound = U * np.abs(exact) + (59 * U) ** 2 * total
    assert np.all(np.abs(better - exact) <= bound)
    assert np.any(np.abs(plain - exact) > 3 * bound)


@pytest.mark.parametrize(
    ("case", "mean_included"), [("williamson_2", False), ("williamson_5", True)]
)
def test_mass_cannot_drift_whether_the_mean_is_in_the_state_or_not(
    case, mean_included, monkeypatch
):
    """The tendency of the mean's coefficient is made of products with zero alone.

    Budgets are means in binary64 of fields that come back from coefficients: 8 of its roundings.
    """
    if mean_included:
        monkeypatch.setattr(shallow_water, "few_bits", lambda mean: 0.0)
    for backend in ("mlu370", "fp16"):
        run = integrate(case, SMALL, 0.5, backend=backend, output_hours=6.0)
        mass = run.budgets["mass"]
        assert run.fixed_point is None  # floats have nothing to say about it
        assert abs(mass / mass[0] - 1.0).max() <= 8 * 2.0**-52
