"""Path schemes against the textbook formulas that they rewrite."""

import dataclasses

import mpmath
import numpy as np
import pytest

from sciprec.foundation.errors import InputError
from sciprec.heston.parameters import Model
from sciprec.heston.schemes.catalogue import scheme_named
from sciprec.heston.schemes.martingale_correction import (
    log1p_quotient,
)
from sciprec.heston.schemes.quadratic_exponential import (
    SWITCH,
    qem_constants,
    qem_far,
    qem_kernel,
)
from sciprec.heston.schemes.registry import Units, state_arrays
from sciprec.heston.simulation import block
from sciprec.heston.simulation.block import Simulation, lifted
from sciprec.heston.simulation.paths import Block
from sciprec.heston.variates.random_numbers import PhiloxVariates
from sciprec.precision import resolve_backend
from sciprec.precision.elementary.logarithm import exponential_from_bits
from sciprec.precision.elementary.normal import normal_from_bits
from sciprec.precision.streams import word_at
from tests.heston.examples import ANDERSEN_1, CALM

FP64 = resolve_backend("fp64")
HALF = pytest.mark.parametrize("model", [ANDERSEN_1, CALM], ids=["violent", "calm"])


def andersen_step(model, dt, v, normal, uniform_above, across, martingale):
    """Return (v', log(S'/F') - log(S/F)) by Andersen (2008) as printed, in 40 digits.

    Args:
        uniform_above: 1 - U.
    """
    mp = mpmath.mp
    kappa, theta, sigma, rho, dt, v = map(
        mpmath.mpf, (model.kappa, model.theta, model.sigma, model.rho, dt, v)
    )
    fade = mp.exp(-kappa * dt)
    m = theta + (v - theta) * fade
    s2 = v * sigma**2 * fade / kappa * (1 - fade) + theta * sigma**2 / (2 * kappa) * (1 - fade) ** 2
    psi = s2 / m**2
    drift = kappa * rho / sigma - mpmath.mpf(1) / 2
    k0 = -rho * kappa * theta / sigma * dt
    k1 = dt / 2 * drift - rho / sigma
    k2 = dt / 2 * drift + rho / sigma
    k3 = k4 = dt / 2 * (1 - rho**2)
    a_exponent = k2 + k4 / 2
    if psi <= SWITCH:
        b2 = 2 / psi - 1 + mp.sqrt(2 / psi) * mp.sqrt(2 / psi - 1)
        a = m / (1 + b2)
        v_next = a * (mp.sqrt(b2) + normal) ** 2
        log_mean = a_exponent * b2 * a / (1 - 2 * a_exponent * a)
        log_mean -= mp.log(1 - 2 * a_exponent * a) / 2
    else:
        p = (psi - 1) / (psi + 1)
        beta = (1 - p) / m
        v_next = mp.log((1 - p) / uniform_above) / beta if 1 - uniform_above > p else mpmath.mpf(0)
        log_mean = mp.log(p + beta * (1 - p) / (beta - a_exponent))
    if martingale:
        k0 = -log_mean - (k1 + k3 / 2) * v
    gain = k0 + k1 * v + k2 * v_next + mp.sqrt(k3 * v + k4 * v_next) * across
    return v_next, gain


def simulation(model=CALM, first_path=7, n_paths=3, step_years=0.1, **given):
    """Return a Simulation of few paths."""
    given = {"backend": "fp64", "scheme": "quadratic_exponential_martingale", "seed": 5} | given
    return Simulation(model, Block(first_path, n_paths), step_years=step_years, **given)


@HALF
@pytest.mark.parametrize("dt", [0.25, 1.5])
@pytest.mark.parametrize("name", ["quadratic_exponential", "quadratic_exponential_martingale"])
def test_increments_are_andersens_formulas(name, model, dt):
    """The rewritten update follows the printed one to rounding, in both branches, in long steps."""
    scheme, steps, paths, seed, first = scheme_named(name), 6, 8, 5, 100
    units = Units.of(model, dt)
    arrays = state_arrays(model, dt, paths)
    draws = np.zeros((steps, 3 if scheme.exponential(model, dt) else 2, paths))
    PhiloxVariates(seed, first).fill(0, 0, draws)
    scheme.kernel_for(model, dt)(scheme.constants(model, dt, units), draws, *arrays)
    branches = set()
    with mpmath.workdps(40):
        for i in range(paths):
            v, log_spot = mpmath.mpf(model.v0), mpmath.mpf(0)
            for step in range(steps):
                word = word_at(seed, first + i, step, 0)
                across = normal_from_bits(word_at(seed, first + i, step, 1))
                above = mpmath.exp(-mpmath.mpf(exponential_from_bits(word)))
                v, gain = andersen_step(
                    model, dt, v, normal_from_bits(word), above, across, "martingale" in name
                )
                branches.add(v == 0)
                log_spot += gain
            assert arrays[2][i] * units.variance_unit == pytest.approx(
                float(v), rel=1e-11, abs=1e-14
            )
            assert arrays[0][i] * units.log_spot_unit == pytest.approx(float(log_spot), abs=1e-11)
    assert branches == ({True, False} if model is ANDERSEN_1 else {False})
    assert draws.shape[1] == (3 if model is ANDERSEN_1 else 2)


def test_long_steps_keep_the_exact_logarithm():
    scheme = scheme_named("quadratic_exponential_martingale")
    steep = Model(spot=100, v0=0.04, kappa=3, theta=0.3, sigma=1, rho=-0.9)
    assert not scheme.exponential(steep, 0.1) and scheme.exponential(steep, 1.5)
    assert not qem_far(steep, 0.1) and scheme.kernel_for(steep, 0.1) is qem_kernel(False, False)
    assert qem_far(steep, 1.5) and scheme.kernel_for(steep, 1.5) is qem_kernel(True, True)


@pytest.mark.parametrize("name", ["quadratic_exponential", "quadratic_exponential_martingale"])
def test_kernels_without_what_a_model_never_needs_have_the_same_bits(name):
    """Of models and steps drawn over their domain; every form is met."""
    scheme, met, random = scheme_named(name), set(), np.random.default_rng(16)
    for _ in range(120):
        v0, kappa, theta, sigma, dt = np.exp(random.uniform(np.log([.005, .05, .005, .02, .01]),
                                                            np.log([1, 10, 1, 3, 2])))  # fmt: skip
        given = {"spot": 100, "v0": v0, "kappa": kappa, "theta": theta, "sigma": sigma}
        model = Model(**given, rho=random.uniform(-0.999, 0.6))
        units, three = Units.of(model, dt), np.empty((3, 3, 8))
        try:
            constants = scheme.constants(model, dt, units)
        except InputError:
            continue
        PhiloxVariates(int(random.integers(2**32)), 0).fill(0, 0, three)
        kernel, all_of, few = scheme.kernel_for(model, dt), *(
            state_arrays(model, dt, 8) for _ in range(2)
        )
        lifted(scheme.kernel, FP64)(constants, three, *all_of)
        lifted(kernel, FP64)(constants, three[:, : 3 if scheme.exponential(model, dt) else 2], *few)
        assert [a.tobytes() for a in all_of] == [a.tobytes() for a in few], (model, dt)
        met.add(kernel)
    assert len(met) == (3 if "martingale" in name else 2)


def test_steps_of_another_length_take_the_kernel_that_they_need(monkeypatch):
    """Long steps, which need every branch, then short ones, which need none."""
    steep = Model(spot=100, v0=0.04, kappa=3, theta=0.3, sigma=1, rho=-0.9)
    scheme = scheme_named("quadratic_exponential_martingale")
    assert scheme.kernel_for(steep, 1.5) is not scheme.kernel_for(steep, 0.1)

    def paths():
        run = simulation(steep, step_years=1.5)
        run.advance(2)
        run.begin_stretch(0.1)
        run.advance(3)
        return run.log_ratio().tobytes(), run.variance().tobytes()

    narrow = paths()
    whole = dataclasses.replace(scheme, narrowed=None, exponential=lambda *_: True)
    monkeypatch.setattr(block, "scheme_named", lambda _: whole)
    assert paths() == narrow


@pytest.mark.parametrize("x", [1e-12, -1e-9, 1e-3, -0.1, 0.2499, -0.2499, 0.2501, -0.26, 0.9, -7.0])
def test_log1p_quotient(x):
    with mpmath.workdps(60):
        exact = float(-(mpmath.log1p(-mpmath.mpf(x)) + x) / mpmath.mpf(x) ** 2)
    assert log1p_quotient(x, 1 / (2 - x), True) == pytest.approx(exact, rel=2e-12)
    if abs(x) < 0.25:
        assert log1p_quotient(x, 1 / (2 - x), False) == pytest.approx(exact, rel=2e-12)


@pytest.mark.slow
def test_a_stop_on_the_way_changes_no_bit_of_the_exact_scheme():
    """Of the others: see `test_variates`."""
    whole, halves = (simulation(scheme="gamma_expansion") for _ in range(2))
    whole.advance(5)
    halves.advance(3)
    halves.advance(2)
    for look in ("log_ratio", "variance", "integrated_variance"):
        assert np.array_equal(getattr(whole, look)(), getattr(halves, look)())


def test_steps_too_long_for_the_martingale_correction():
    model = Model(spot=1, v0=0.1, kappa=0.1, theta=0.1, sigma=1, rho=0.9)
    with pytest.raises(
        InputError, match=r"a step of 3 years is too long .* below 1.11 years: take"
    ):
        qem_constants(model, 3.0, Units.of(model, 3.0))
    assert np.isfinite(qem_constants(model, 1.0, Units.of(model, 1.0))).all()
