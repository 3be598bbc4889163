"""Every registered time scheme converges with its declared order; diffusion is what it says."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from sciprec.climate.constants import RADIUS_M
from sciprec.climate.running.integration import integrate
from sciprec.climate.stepping.diffusion import ORDERS, damping, diffusion_rate
from sciprec.climate.stepping.levels import addition
from sciprec.climate.stepping.schemes import STEP_KERNELS, TIME_SCHEMES, WORK_ARRAYS, System
from sciprec.precision import resolve_backend
from tests.climate.small_models import SMALL

HOURS = 12.0


@cache
def heights(scheme, step_seconds):
    run = integrate(
        "williamson_6", SMALL, HOURS / 24, step_seconds=step_seconds, time_scheme=scheme
    )
    assert run.blow_up is None
    return run.fields["height"][-1]


@pytest.mark.parametrize("name", TIME_SCHEMES)
def test_measured_order_is_the_declared_one(name):
    truth = heights("rk4", 1200.0 / 2**5)
    steps = [600.0, 300.0, 150.0]
    errors = [np.sqrt(np.mean((heights(name, s) - truth) ** 2)) for s in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert abs(slope - TIME_SCHEMES[name].order) < 0.2


def nothing(*arguments, steps=1):
    return None


def bare(scheme, step_seconds=600.0, tendency=nothing, filtered=nothing):
    """A step of a scheme whose kernels do nothing."""
    kernels = dict.fromkeys(STEP_KERNELS, nothing)
    plain = addition(kernels, np.zeros((2, 4)), {}, ("vorticity",), resolve_backend("fp64"))
    levels = [plain.level(np.zeros(4)) for _ in range(scheme.levels)]
    system = System(
        0.25, step_seconds, (0.1, 0.53), SimpleNamespace(add=nothing, filter=filtered), tendency,
        nothing, nothing, kernels, np.zeros((WORK_ARRAYS, 4)), scheme.tables,
    )  # fmt: skip
    scheme.advance(system, levels)


@pytest.mark.parametrize("name", TIME_SCHEMES)
def test_a_step_evaluates_as_many_tendencies_as_declared(name):
    calls = []
    bare(TIME_SCHEMES[name], tendency=lambda state, out: calls.append(state))
    assert len(calls) == TIME_SCHEMES[name].tendencies


@pytest.mark.parametrize(
    ("step_seconds", "strength"), [(600.0, 0.025), (1200.0, 0.05), (24000.0, 0.5)]
)
def test_the_filter_is_as_strong_as_a_step_is_long(step_seconds, strength):
    """Half of nu at 1200 s, so that the scheme stays of second order; a half at the most."""
    asked = []
    leapfrog = TIME_SCHEMES["semi_implicit_leapfrog"]
    bare(leapfrog, step_seconds, filtered=lambda *given: asked.append(given[3:]))
    assert asked == [(pytest.approx(strength, rel=1e-15), 0.53)]


def test_hyperdiffusion_damps_as_a_backward_step():
    """With d = dt nu4 (l (l+1) / a**2)**2 a coefficient is divided by 1 + d."""
    state, increment = np.array([3.0, -2.0]), np.array([0.5, 0.25])
    d = np.array([0.0, 0.125])
    updated = np.zeros(2)
    STEP_KERNELS["apply_increment"](state, increment, d / (1 + d), updated)
    np.testing.assert_allclose(updated, (state + increment) / (1 + d), rtol=1e-15)


@pytest.mark.parametrize("scheme", [n for n, s in TIME_SCHEMES.items() if s.implicit_share])
def test_implicit_gravity_waves_allow_steps_that_break_an_explicit_scheme(scheme):
    """Gravity waves of 240 m/s at T21 oscillate with 8e-4 1/s: Runge and Kutta take 3500 s."""
    long = {"step_seconds": 5400.0, "output_hours": 48.0}
    assert integrate("williamson_5", "T21", 4.0, time_scheme="rk4", **long).blow_up is not None
    run = integrate("williamson_5", "T21", 4.0, time_scheme=scheme, **long)
    assert run.blow_up is None
    assert np.abs(run.fields["u"]).max() < 60.0


@pytest.mark.parametrize("parameter", ORDERS)
def test_a_wave_decays_at_the_rate_of_each_kind_of_diffusion(parameter):
    """zeta of degree l alone decays by 1 / (1 + dt nu (l (l+1) / a**2)**(order / 2)) a step."""
    degree, step, order = np.array([0, 1, 7]), 600.0, ORDERS[parameter]
    nu = 1e-5 * (RADIUS_M**2 / 56.0) ** (order / 2)
    rate = diffusion_rate(degree, RADIUS_M, {parameter: nu})
    np.testing.assert_allclose(rate, 1e-5 * np.array([0, 1 / 28, 1.0]) ** (order / 2), rtol=1e-14)
    taken = damping(rate, step, np.array([True, False])).reshape(2, 3, 2)
    np.testing.assert_allclose(1 - taken[0, :, 0], 1 / (1 + step * rate), rtol=1e-14)
    np.testing.assert_allclose(1 - taken[1, :, 0], 1 / (1 + 2 * step * rate), rtol=1e-14)
    assert not taken[:, :, 1].any()
