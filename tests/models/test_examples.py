"""The examples against what is known of them from elsewhere."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

import sciprec
from sciprec.foundation.loading import load_files
from sciprec.workbench.kinds import kind
from sciprec.workbench.models import ModelArithmetic

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def example():
    """A function that loads a file of the examples and gives its module."""
    before = dict(kind._KINDS)

    def loaded(name):
        load_files(EXAMPLES / f"{name}.py")
        return sys.modules[f"sciprec_plugin_{name}"]

    yield loaded
    kind._KINDS.clear()
    kind._KINDS.update(before)
    for name in [n for n in sys.modules if n.startswith("sciprec_plugin_")]:
        del sys.modules[name]


def ran(function, parameters, backend="fp64", **how):
    return function(parameters, ModelArithmetic(backend, **how))


def test_waves_agree_with_a_solver_of_scipy(example):
    from scipy.integrate import solve_ivp

    def slope(_, x):
        return (np.roll(x, -1) - np.roll(x, 2)) * np.roll(x, 1) - x + 8.0

    lorenz = example("lorenz96")
    ring = lorenz.Ring(days=2.0, step=0.005, spin_up_days=20.0)
    made = ran(lorenz.lorenz96, ring)["wave"].values
    exact = solve_ivp(slope, (0.0, 0.4), made[0], rtol=1e-11, atol=1e-11).y[:, -1]
    np.testing.assert_allclose(made[-1], exact, atol=2e-6)


def test_heat_in_the_ground_agrees_with_its_series(example):
    """T = Ts + (T0 - Ts) sum 2/k sin(k z/L) exp(-k^2 D t / L^2), k = (n + 1/2) pi."""
    soil = example("soil_column")
    column = soil.Column(years=100.0, stored=2)
    made = ran(soil.soil_column, column)
    seconds = 100.0 * soil.SECONDS_PER_YEAR
    n, length = np.arange(200) + 0.5, 60.5  # no flux half a level below the last one
    k = n * np.pi
    depth = np.arange(1, 61)  # the surface is a level above the first one
    decay = np.exp(-(k**2) * 7e-7 * seconds / length**2)
    series = (2.0 / k * decay * np.sin(np.outer(depth / length, k))).sum(axis=1)
    exact = 280.0 + (273.15 - 280.0) * series
    np.testing.assert_allclose(made["temperature"].values[-1], exact, atol=2e-3)


def test_each_line_of_the_ground_gets_the_format_it_needs(example):
    """The split of Dawson et al. (2018): only the update of the state is wide."""
    soil = example("soil_column")
    tuned = sciprec.tune(
        soil.diffuse_by_flux, soil.year(), tolerance=1e-6, check=soil.colder_year(),
        output="temperature", formats=("fp64", "fp32", "fp16"),
    )  # fmt: skip
    rows = [line.split()[1:3] for line in str(tuned.assignment).splitlines()[2:]]
    assert rows == [["fp32", "difference"], ["fp16", "flux[k]"], ["fp16", "change"],
                    ["else", "fp64"]]  # fmt: skip
    assert tuned.error < 5e-7


def test_a_narrow_preconditioner_costs_no_iteration_and_no_digit(example):
    """28 iterations to 1e-10 in fp64, and in half precision, after Ackmann et al. (2022)."""
    half = example("half_preconditioner")
    sphere = half.Sphere()
    couplings = half.couplings(sphere)[:3]
    truth = ran(half.half_preconditioner, sphere)
    p = truth["solution"].values
    again = half.applied(p, *couplings)
    columns = [half.applied(e.reshape(p.shape), *couplings).ravel() for e in np.eye(p.size)]
    exact = np.linalg.solve(np.array(columns).T, again.ravel()).reshape(p.shape)
    np.testing.assert_allclose(exact, p, atol=1e-13)
    assert truth["residual"].values[-1] < 1e-14 and truth["iterations_needed"] == 28
    for backend in ("fp16", "bf16"):
        made = ran(half.half_preconditioner, sphere, backend)
        assert made["iterations_needed"] == 28
        np.testing.assert_allclose(made["solution"].values, p, atol=1e-12 * abs(p).max())
    eight_bits = ran(half.half_preconditioner, sphere, "e5m2")
    assert eight_bits["iterations_needed"] == sphere.iterations + 1


@pytest.mark.parametrize("variance", ["squares", "two-pass"])
def test_layers_are_normalised(example, variance):
    layers = example("layer_norm")
    layer = layers.Layer(variance=variance, batch=2, rows=16, columns=96, offsets=(0.0, 4.0))
    made = ran(layers.layer_norm, layer)
    drawn = np.random.default_rng(1).standard_normal((2, 16 * 96))
    np.testing.assert_allclose(made["mean"].values, drawn.mean(axis=1) + [[0.0], [4.0]], atol=1e-13)
    np.testing.assert_allclose(made["variance"].values, [drawn.var(axis=1)] * 2, rtol=1e-12)
    whole = (drawn - drawn.mean(axis=1, keepdims=True)) / np.sqrt(
        drawn.var(axis=1, keepdims=True) + 1e-5
    )
    np.testing.assert_allclose(made["normalised"].values, [whole[:, ::16]] * 2, atol=1e-11)


def test_the_second_pass_saves_single_precision_and_wide_sums_save_half(example):
    """At an offset of 100, batches of 8 with rows of 128 x 768 numbers."""
    layers = example("layer_norm")

    def error(backend, variance, accumulator="same"):
        layer = layers.Layer(variance=variance, accumulator=accumulator, offsets=(100.0,), batch=2)
        truth, made = (ran(layers.layer_norm, layer, b)["normalised"] for b in ("fp64", backend))
        return float(np.sqrt(((made - truth) ** 2).mean() / (truth**2).mean()))

    assert error("fp32", "squares") > 20.0 * error("fp32", "two-pass")
    assert not math.isfinite(error("fp16", "two-pass"))  # the sum of 98,304 numbers overflows
    assert error("fp16", "two-pass", "fp32") < 0.05


def test_jet_is_in_balance_and_its_bump_grows(example):
    """The wind hardly changes in half a day; one of a temperature that is out of balance does."""
    jet = example("polvani_2004").jet
    how = {"levels": 10, "output_hours": 6, "variables": ["u", "v"], "step_seconds": 1200.0}

    def changed(state):
        flow = sciprec.climate.run("jablonowski_williamson", "T21", 0.5, initial=state, **how)
        low = flow.isel(sigma=slice(3, None))  # the uppermost of ten levels are coarse
        return float(abs(low["u"] - low["u"].isel(time=0)).max()), float(abs(low["v"]).max())

    still = jet(10, nlat=121, nlon=64, bump=0.0)
    assert float(still["u"].max()) == pytest.approx(45.0, abs=1.0)
    wind, across = changed(still)
    mean = still["temperature"].weighted(np.cos(np.radians(still["lat"]))).mean(("lat", "lon"))
    level = (mean + 0.0 * still["temperature"]).transpose(*still["u"].dims)
    tilted = still.assign(temperature=level.assign_attrs(units="K"))
    assert wind < 0.1 * changed(tilted)[0]
    assert changed(jet(10, nlat=121, nlon=64))[1] > 1.5 * across
