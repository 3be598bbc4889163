"""Tracers: what stays uniform, exact solutions, and the flow that does not feel them."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import sciprec
from sciprec import climate
from sciprec.climate.equations import tracers as carried
from sciprec.climate.equations.tracers import SHAPES
from sciprec.climate.running import lifted_model
from sciprec.climate.running.checkpoint import digest
from sciprec.climate.running.labelled import fields_given
from sciprec.climate.running.request import check_request
from sciprec.foundation.errors import InputError
from tests.climate.small_models import started

ALL = {"ones": 1.0, "quarter": -0.25, "hill": "gaussian_hill"}
AIR = {"case": "held_suarez", "truncation": "T10", "days": 0.125, "output_hours": 3, "levels": 3}
WATER = {"case": "williamson_2", "truncation": "T10", "days": 0.25, "output_hours": 6}
ROSSBY = WATER | {"case": "rossby_haurwitz"}


@pytest.mark.slow
@pytest.mark.parametrize(("flow", "arithmetic"), [
    (AIR, {"backend": "fp16", "compensation": "carry"}), (WATER, {}),
    (ROSSBY, {"backend": "fp32", "stages": "mixed-m0"}),
    (ROSSBY, {"backend": "fp16", "stored": "fp32"}),
], ids=["air", "water", "rossby-staged", "rossby-stored"])  # fmt: skip
def test_uniform_tracers_keep_their_bits_and_others_do_not(flow, arithmetic):
    """In fixed point, too: see `test_checkpoint`."""
    run = sciprec.climate.run(**flow, **arithmetic, tracers=ALL)
    assert (run["ones"] == 1.0).all() and (run["quarter"] == -0.25).all()
    assert abs(run["hill"][-1] - run["hill"][0]).max() > 0.01


@pytest.mark.parametrize("flow", [AIR, WATER], ids=["air", "water"])
def test_flow_does_not_feel_tracers_and_threads_change_no_bit(flow):
    alone = sciprec.climate.run(**flow)
    both = sciprec.climate.run(**flow, tracers=ALL)
    by_two = sciprec.climate.run(**flow, tracers=ALL, threads=2)
    for name in alone.data_vars:
        assert np.array_equal(alone[name], both[name]), name
    for name in both.data_vars:
        assert np.array_equal(by_two[name], both[name]), name


@pytest.mark.parametrize("levels", [2, 5, 6])
def test_blocks_have_the_bits_of_all_fields_at_once(levels, monkeypatch):
    options = AIR | {"levels": levels, "tracers": [*SHAPES]}
    blocks = [sciprec.climate.run(**options, threads=threads) for threads in (1, 2)]
    monkeypatch.setattr(lifted_model, "carries_in_blocks", lambda *of: False)
    at_once = sciprec.climate.run(**options)
    for run in blocks:
        for name in at_once.data_vars:
            assert np.array_equal(run[name], at_once[name]), name


def brake(winds, changes):
    changes.u[0, 0, 0] -= winds.u[0, 0, 0]


@climate.forcing
def handing_all_on(fields, t, out):
    brake(fields, out)


@climate.forcing
def handing_changes_on(fields, t, out):
    fill(fields.u[0, 0, 0], out)


def fill(wind, changes):
    changes.u[0, 0, 0] -= wind


@climate.forcing
def braking(fields, t, out):
    out.u[0, 0, 0] -= fields.u[0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize(("forcing", "in_blocks"), [
    (None, True), (braking, True), (handing_all_on, False), (handing_changes_on, False),
])  # fmt: skip
def test_tracers_that_a_forcing_may_know_are_not_in_blocks(forcing, in_blocks):
    options = AIR | {"parameters": {"levels": 3}, "tracers": ["northern"], "forcing": forcing}
    del options["levels"]
    request = check_request(**options)
    convert, _ = started(request)
    assert lifted_model.LiftedModel(request, convert).in_blocks == in_blocks


def test_hill_in_solid_body_rotation_meets_the_exact_solution():
    errors = []
    for truncation in ("T10", "T21"):
        run = sciprec.climate.run(
            "williamson_2", truncation, days=1, output_hours=24, tracers=["gaussian_hill"]
        )
        lon, lat = np.radians(run["lon"].values), np.radians(run["lat"].values)
        moved = np.cos(lat)[:, None] * np.cos(lon - 1.5 * np.pi - 2 * np.pi / 12)
        exact = np.exp(-10.0 * (1.0 - moved))
        errors.append(float(abs(run["gaussian_hill"][-1] - exact).max()))
    assert errors[0] < 2e-2
    assert errors[1] < 1e-5


def test_combined_tracers_stay_combined(monkeypatch):
    def both(lon, lat):
        return 2.0 * carried.gaussian_hill(lon, lat) - carried.northern(lon, lat)

    monkeypatch.setitem(carried.SHAPES, "both", both)
    run = sciprec.climate.run(**AIR, tracers=["both", "gaussian_hill", "northern"])
    made = 2.0 * run["gaussian_hill"] - run["northern"]
    assert abs(run["both"] - made).max() < 1e-13


def test_vertical_advection_is_that_of_the_formula():
    rng = np.random.default_rng(3)
    levels, nlat = 4, 6
    q, fields = rng.normal(size=(2, levels, nlat)), rng.normal(size=(5 * levels + 3 + 22, 1, nlat))
    velocity = rng.normal(size=(levels + 1, nlat))
    velocity[[0, -1]] = 0.0
    half, cosine = rng.uniform(1, 2, levels), rng.uniform(1, 2, nlat)
    first, expected = 5 * levels + 3, np.zeros((2, levels, nlat))
    for t in range(2):
        row = first + t * (3 * levels - 1)
        fields[row + 2 * levels : row + 3 * levels - 1, 0] = np.diff(q[t], axis=0)
        slopes = fields[row : row + 2 * levels, 0].reshape(2, levels, nlat)
        wind = fields[3 * levels : 5 * levels, 0].reshape(2, levels, nlat)
        rising = velocity[1:-1] * np.diff(q[t], axis=0)
        around = np.pad(rising, ((0, 1), (0, 0))) + np.pad(rising, ((1, 0), (0, 0)))
        expected[t] = -(wind * slopes).sum(axis=0) * cosine - half[:, None] * around
    sizes = np.array([levels, 2, 0, first, 1, 0])
    products = np.zeros((1 + 2 * levels, 1, nlat))
    none = np.zeros(1)
    tables = none, none, none, none, cosine, sizes
    carried.carried_in_air(0, fields, tables, half, velocity, products)
    np.testing.assert_allclose(products[1:, 0].reshape(expected.shape), expected, rtol=1e-13)


def test_run_that_was_stopped_goes_on_with_the_same_bits(tmp_path):
    options = AIR | {"backend": "fp16", "compensation": "carry", "tracers": ALL}
    whole = sciprec.climate.run(**options | {"days": 0.25})
    sciprec.climate.run(**options, checkpoints=tmp_path)
    longer = sciprec.climate.run(**options | {"days": 0.25}, checkpoints=tmp_path)
    for name in ("hill", "ones", "temperature"):
        assert np.array_equal(whole[name], longer[name])
    digests = {
        digest(check_request(**WATER, tracers=tracers))
        for tracers in (None, ALL, {**ALL, "hill": "northern"}, {**ALL, "ones": 2.0})
    }
    assert len(digests) == 4


def test_monitor_and_compensation_know_tracers():
    plan = {"watch": ["hill", "increment:hill"], "level": 1, "every": 2}
    run = sciprec.climate.run(**WATER, backend="fp16", monitor=plan, tracers=ALL)
    assert "hill" in str(dict(run.attrs))
    carry = {"hill": "carry"}
    run = sciprec.climate.run(**WATER, backend="fp16", compensation=carry, tracers=ALL)
    assert "hill" in run.attrs["compensation"]
    assert "gaussian_hill" in run.attrs["tracers"]


def test_tracers_are_named_where_a_run_breaks_down():
    run = sciprec.climate.run(**WATER | {"days": 5}, step_seconds=21600, tracers=ALL)
    assert "hill" in run.attrs["blow_up"]


@pytest.mark.parametrize(("case", "tracers", "words"), [
    ("williamson_2", {"bell": "cosine_bel"}, "did you mean 'cosine_bell'"),
    ("williamson_2", ["northern", "northern"], "names 'northern' twice"),
    ("williamson_2", {"height": 1.0}, "the name of another variable"),
    ("williamson_2", {"2nd": 1.0}, "a letter, then up to 39"),
    ("williamson_2", {"age": float("nan")}, "the initial value of tracer 'age'"),
    ("williamson_2", {"age": True}, "the initial value of tracer 'age'"),
    ("williamson_2", {"age": (0.0, 3)}, "the unit of tracer 'age' is 3; accepted: a text such as"),
    ("williamson_2", {"q": "initial"}, "begins as 'initial', and initial is not given; give init"),
    ("williamson_2", 3, "a table of initial fields by name"),
    ("williamson_1", {"age": 1.0}, "which carry none"),
])  # fmt: skip
def test_what_is_no_tracer_is_refused(case, tracers, words):
    with pytest.raises(InputError, match=words):
        sciprec.climate.run(case, "T10", days=0.25, tracers=tracers)


@pytest.mark.parametrize("flow", [AIR, WATER], ids=["air", "water"])
def test_tracers_begin_as_fields_of_a_file(flow, tmp_path):
    """On the model's own grid they come back; in units of their size, also where that is small."""
    made = sciprec.climate.run(**flow, tracers={"hill": ("gaussian_hill", "kg kg-1")})
    small = made.hill.isel(time=[-1]) * 1e-6
    given = made.isel(time=[-1]).assign(q=small.assign_attrs(units="kg/kg"))
    given.to_netcdf(tmp_path / "state.nc")
    started = {"initial": tmp_path / "state.nc", "tracers": {"q": "initial", "hill": "initial"}}
    run = sciprec.climate.run(**flow, **started)
    assert run.q.units == "kg/kg" and run.hill.units == "kg kg-1"
    assert "q, hill of" in run.attrs["initial_state"]
    np.testing.assert_allclose(run.hill[0], made.hill[-1], atol=1e-13)
    np.testing.assert_allclose(run.q[-1], run.hill[-1] * 1e-6, atol=1e-19)
    half = sciprec.climate.run(**flow, **started, backend="fp16")
    assert float(abs(half.q - run.q).max()) < 5e-3 * 1e-6
    named = {"tracers": {"rain": ("initial", "kg kg-1")}, "initial_fields": {"rain": "q"}}
    run = sciprec.climate.run(**flow, initial=tmp_path / "state.nc", **named)
    np.testing.assert_allclose(run.rain[0], made.hill[-1] * 1e-6, atol=1e-19)


def test_tracers_of_another_grid_are_interpolated_as_the_other_fields_are():
    """A field that is linear in latitude stays so; another content is another checkpoint."""
    lat, lon = np.linspace(-88.0, 88.0, 45), np.arange(0.0, 360.0, 5.0)
    fields = {name: (("lat", "lon"), np.zeros((45, 72)) + x)
              for name, x in {"u": 0.0, "v": 0.0, "height": 3e3, "orography": 0.0}.items()}
    q = (("lat", "lon"), np.zeros((45, 72)) + lat[:, None], {"units": "K"})
    given = xr.Dataset(fields | {"q": q}, {"lat": lat[::-1], "lon": lon})
    run = sciprec.climate.run(**WATER, initial=given, tracers={"q": "initial"})
    inner = run.q[0].sel(lat=slice(-60, 60))
    assert run.q.units == "K" and float(abs(inner + inner.lat).max()) < 1.0
    assert run.q.attrs["units"] == "K"
    digests = set()
    for factor in (1.0, 2.0):
        fields = fields_given(given.assign(q=given.q * factor), None, WATER["case"],
                              tracers={"q": "initial"})  # fmt: skip
        request = check_request(**WATER, initial=fields, tracers={"q": "initial"})
        digests.add(digest(request))
    assert len(digests) == 2
    for tracers, words in (
        ({"q": ("initial", "kg kg-1")}, "'q' is in 'K', and tracer 'q' in 'kg kg-1'; give the tr"),
        ({"dye": "initial"}, "a dataset in memory has no dye; found: u, v, height, orography, q"),
    ):
        with pytest.raises(InputError, match=words):
            sciprec.climate.run(**WATER, initial=given, tracers=tracers)


def test_tracers_of_a_file_go_on_in_a_branch(tmp_path):
    """From a netCDF file, and from a checkpoint of another truncation, in the unit of its state."""
    first = {"hill": ("gaussian_hill", "mg kg-1"), "big": 5000.0}
    made = sciprec.climate.run(**WATER, tracers=first, checkpoints=tmp_path)
    made.to_netcdf(tmp_path / "run.nc")
    run = sciprec.climate.run(
        **WATER, start_from=f"{tmp_path / 'run.nc'}@last", tracers={"hill": 3.0, "new": 1.0}
    )
    np.testing.assert_allclose(run.hill[0], made.hill[-1], atol=1e-13)
    assert run.hill.units == "mg kg-1" and "; new begins anew" in run.attrs["initial_state"]
    (file,) = tmp_path.glob("*.npz")
    finer = WATER | {"truncation": "T21", "start_from": file}
    run = sciprec.climate.run(**finer, tracers={"hill": 0.0, "big": 1.0})
    assert float(abs(run.hill[0].max() - made.hill[-1].max())) < 0.05
    np.testing.assert_allclose(run.big[0], 5000.0, rtol=1e-13)
    assert "begin" not in run.attrs["initial_state"]


def test_a_tracer_that_grows_beyond_all_numbers_is_named_alone():
    run = sciprec.climate.run(
        **WATER | {"days": 1}, backend="fp16", tracers={"dye": 1.0, "hill": "gaussian_hill"},
        forcing=growing, time_scheme="rk4",
    )  # fmt: skip
    assert ": dye is not finite" in run.attrs["blow_up"]


@sciprec.climate.forcing(tracers=("dye",))
def growing(fields, t, out):
    for j in range(fields.dye.shape[1]):
        for i in range(fields.dye.shape[2]):
            out.dye[0, j, i] += 100.0 * fields.dye[0, j, i]
