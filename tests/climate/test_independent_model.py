"""The model against one written differently: plain NumPy, other formulas, SciPy's functions."""

import numpy as np
import pytest

from sciprec.climate.cases.galewsky import balanced_height, jet, unstable_jet
from sciprec.climate.cases.registry import CASES
from sciprec.climate.constants import RADIUS_M, ModelUnits
from sciprec.climate.diagnostics.reference import Reference
from sciprec.climate.equations.spherical import few_bits
from sciprec.climate.running.integration import integrate
from sciprec.climate.transform.grid import GaussianGrid
from tests.climate.published import reference_norms
from tests.climate.small_models import SMALL
from tests.oracles.shallow_water import GRAVITY, Flow, Integration, ShallowWater


def flow_of(case, model):
    given = CASES[case].initial(model.lon[:, None], np.arcsin(model.sine)[None, :])
    return Flow(given.height, given.vorticity, given.divergence), given.orography, given.coriolis


def oracle(case, truncation, diffusion):
    model = ShallowWater(truncation.number, truncation.nlat, truncation.nlon)
    flow, *places = flow_of(case, model)
    units = ModelUnits(truncation.step_seconds)
    mean = few_bits(np.mean(flow.height @ np.tile(model.weights, 2)) / units.height) * units.height
    return Integration(model, flow, *places, mean, truncation.step_seconds, diffusion)


def reference_of(run):
    state = run.state
    height = state[..., 2] / GRAVITY
    height[0, 0] += run.mean / GRAVITY
    return Reference(run.model.orders, state[..., 0], state[..., 1], height, run.relief[..., 0])


def distance(fields, other):
    """Norms of fields against an integration of the independent model, with its own mountain."""
    grid, reference = GaussianGrid(SMALL), reference_of(other)
    return reference_norms(reference, grid, fields, reference.fields(grid)["orography"])


@pytest.mark.parametrize(
    ("case", "scheme"),
    [("williamson_5", "rk4"), ("williamson_6", "semi_implicit_leapfrog"),
     ("galewsky", "semi_implicit_leapfrog")],
)  # fmt: skip
def test_same_flow_as_an_independent_model(case, scheme):
    """A day at T10 with diffusion; 200 roundings of binary64 per step.

    Both leapfrogs are semi-implicit about the same mean depth.
    """
    other = oracle(case, SMALL, diffusion=1.0e17)
    for _ in range(72):
        other.leapfrog() if "leapfrog" in scheme else other.runge_kutta()
    run = integrate(
        case, SMALL, 1.0, time_scheme=scheme,
        parameters={"diffusion_m4_per_s": 1.0e17, "viscosity": 0.0},
    )  # fmt: skip
    fields = {name: values[-1] for name, values in run.fields.items()}
    norms = distance(fields, other)
    assert max(norms.values()) < 72 * 200 * 2.0**-53
    assert norms["height_l2"] > 0


def test_height_of_the_jet_is_balanced_and_as_published():
    """10158.186 m: the highest initial height with a mean of 10 km (a model on SHTns)."""
    lat = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 4001)
    height = balanced_height(lat)
    assert abs(height.max() - 10158.186) < 5e-4
    assert abs(np.trapezoid(height * np.cos(lat), lat) / 2 - 1e4) < 2e-3
    assert abs(jet(lat).max() - 80.0) < 1e-3
    assert not jet(np.array([-1.0, np.pi / 7, np.pi / 2 - np.pi / 7, 1.5])).any()


def test_vorticity_of_the_jet_is_that_of_its_wind():
    """-d(u cos(lat))/dlat / (a cos(lat)) by central differences."""
    lat, d = np.linspace(0.5, 1.1, 7), 1e-5
    state = unstable_jet(np.zeros_like(lat), lat, 0.0)
    moments = [jet(lat + s * d) * np.cos(lat + s * d) for s in (1, -1)]
    expected = -(moments[0] - moments[1]) / (2 * d) / (RADIUS_M * np.cos(lat))
    np.testing.assert_allclose(state.vorticity, expected, atol=1e-9 * np.abs(expected).max())


def test_the_bump_is_where_it_belongs():
    lon, lat = np.array([[0.0], [np.pi]]), np.array([[np.pi / 4]])
    difference = unstable_jet(lon, lat).height - unstable_jet(lon, lat, 0.0).height
    np.testing.assert_allclose(difference[:, 0], [120.0 * np.sqrt(0.5), 0.0], atol=1e-11)
