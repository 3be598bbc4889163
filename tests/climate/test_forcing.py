"""Forcings of users on the sphere."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

from sciprec import climate
from sciprec.cli.commands import app
from sciprec.climate.catalogue import CASES
from sciprec.climate.running.checkpoint import digest
from sciprec.climate.running.lifted_model import LiftedModel
from sciprec.climate.running.request import check_request
from sciprec.foundation.errors import InputError
from tests.climate.small_models import SMALL, require_same_bits, started, stirred

DAY = 86400.0


@climate.forcing(
    parameters={
        "warm": (315.0, "K"), "across": (60.0, "K"), "static": (10.0, "K"), "cold": (200.0, "K"),
        "slow": (1 / 40, "1/day"), "quick": (0.25, "1/day"), "friction": (1.0, "1/day"),
        "base": (0.7, "1"), "kappa": (2 / 7, "1"), "reference": (1000.0, "hPa"),
    }
)  # fmt: skip
def held_suarez(fields, t, p, out):
    levels, nlat, nlon = fields.u.shape
    for k in range(levels):
        ground = max(0.0, (fields.sigma[k] - p.base) / (1.0 - p.base))
        for j in range(nlat):
            square = np.sin(fields.latitude[j]) ** 2
            rate = p.slow + (p.quick - p.slow) * ground * (1.0 - square) ** 2
            for i in range(nlon):
                depth = np.log(fields.sigma[k] * fields.surface_pressure[j, i] / p.reference)
                stable = p.warm - p.across * square - p.static * depth * (1.0 - square)
                aim = max(p.cold, stable * np.exp(p.kappa * depth))
                out.temperature[k, j, i] += rate * (aim - fields.temperature[k, j, i])
                out.u[k, j, i] -= p.friction * ground * fields.u[k, j, i]
                out.v[k, j, i] -= p.friction * ground * fields.v[k, j, i]


@climate.forcing(parameters={"rate": (0.5, "1/day")})
def sinking(fields, t, p, out):
    for j in range(fields.u.shape[1]):
        for i in range(fields.u.shape[2]):
            out.height[0, j, i] -= p.rate * (fields.height[0, j, i] + fields.latitude[j])


@climate.forcing(tracers=("clock",))
def counting(fields, t, out):
    for k in range(out.clock.shape[0]):
        for j in range(out.clock.shape[1]):
            for i in range(out.clock.shape[2]):
                out.clock[k, j, i] += t.day


@climate.forcing(tracers=("clock",))
def idle(fields, t, out):
    for j in range(fields.u.shape[1]):
        for i in range(fields.u.shape[2]):
            out.u[0, j, i] += 0.0 * fields.u[0, j, i]
            out.v[0, j, i] -= 0.0 * fields.v[0, j, i]
            out.clock[0, j, i] += 0.0 * fields.clock[0, j, i]


@climate.forcing
def dividing(fields, t, out):
    if t.day > 0.1:
        out.u[0, 3, 5] += 1.0 / (fields.u[0, 3, 5] - fields.u[0, 3, 5])


def slope(case, state=None, levels=1, **options):
    """The state and its tendency, flat, and the model."""
    request = check_request(case, SMALL, 1, **options)
    convert, exact = started(request)
    model = LiftedModel(request, convert)
    state = model.stored(exact) if state is None else state.astype(model.backend.carrier)
    out = np.zeros_like(state)
    if model.forcing is not None:
        model.forcing.begin(0, levels)
    model.steps.system.tendency(state, out)
    return state, out, model


@pytest.fixture
def dry(monkeypatch):
    """The case of Held and Suarez without their forcing."""
    own = CASES["held_suarez"]

    def initial(lon, lat, **parameters):
        state = own.initial(lon, lat, **parameters)
        return replace(state, friction=np.zeros_like(state.friction))

    changed = replace(own, name="dry", initial=initial, equations="primitive_equations")
    monkeypatch.setitem(CASES, "dry", changed)
    return "dry"


def moving(levels):
    """A state of air that moves, everywhere warm."""
    flow = climate.integrate("held_suarez", SMALL, 4, parameters={"levels": levels})
    _, exact, model = slope("held_suarez", parameters={"levels": levels})
    fields = {name: values[-1] for name, values in flow.fields.items()}
    assert np.hypot(fields["u"], fields["v"]).max() > 0.2
    rng = np.random.default_rng(4)
    state, _, _ = slope("held_suarez", parameters={"levels": levels})
    shaped = state.reshape(model.shape)
    degree = model.convert.transform.degree
    noise = rng.uniform(-1, 1, shaped.shape) / (1.0 + degree[:, None]) ** 2
    noise[(degree == 0) | (degree > SMALL.number)] = 0.0
    noise[model.convert.transform.order == 0, 1::2] = 0.0
    return (shaped + 0.5 * noise).ravel()


@pytest.mark.slow
def test_forcing_of_held_and_suarez_by_a_user_is_the_built_in_one(dry):
    options = {"parameters": {"levels": 5}}
    state = moving(5)
    _, built_in, model = slope("held_suarez", state, **options)
    _, own, _ = slope(dry, state, forcing=held_suarez, **options)
    _, without, _ = slope(dry, state, **options)
    roundoff = model.backend.storage.format.unit_roundoff
    shaped = [x.reshape(model.shape).astype(float) for x in (built_in, own, without)]
    for name, columns in model.groups().items():
        theirs, mine, bare = (x[:, columns] for x in shaped)
        size = np.abs(theirs).max()
        assert np.abs(mine - theirs).max() <= 400 * roundoff * size, name
        if name != "log_surface_pressure":
            assert np.abs(bare - theirs).max() > 0.01 * size, name


def test_friction_on_the_grid_is_that_of_the_coefficients():
    """Curl and divergence of -r v are -r times vorticity and divergence, of a dye likewise."""
    tracers = {"dye": "gaussian_hill"}
    state, forced, model = slope("galewsky", forcing=stirred, tracers=tracers)
    _, free, _ = slope("galewsky", tracers=tracers)
    rate = 0.5 / DAY * model.convert.units.seconds
    difference = (forced - free).reshape(model.shape)
    degree = model.convert.transform.degree
    held = (degree > 0) & (degree <= SMALL.number)  # no wind has mean vorticity
    expected = -rate * state.reshape(model.shape) * held[:, None]
    for name in ("vorticity", "divergence", "dye"):
        columns = model.groups()[name]
        size = np.abs(state).max()
        np.testing.assert_allclose(
            difference[held][:, columns], expected[held][:, columns], atol=1e-12 * size
        )


def test_source_of_height_is_one_of_the_geopotential():
    state, forced, model = slope("galewsky", forcing=sinking)
    _, free, _ = slope("galewsky")
    convert = model.convert
    rate = 0.5 / DAY * convert.units.seconds
    height = convert.to_fields(state.reshape(model.shape))["height"]
    south_to_north = np.radians(convert.transform.grid.lat)
    wanted = -rate * (height + south_to_north[:, None]) / convert.units.height
    spectrum = convert.transform.to_spectrum(convert.transform.grid.to_model(wanted)[None])
    made = (forced - free).reshape(model.shape)
    held = (convert.transform.degree <= SMALL.number)[:, None]
    np.testing.assert_allclose(made[:, 4:6], spectrum * held, atol=1e-11)
    np.testing.assert_array_equal(made[:, :4], 0.0)


def test_fields_are_those_of_the_output():
    """Names, units, latitudes from south to north, in a model whose latitudes go otherwise."""
    tracers = {"dye": "northern"}

    @climate.forcing(tracers=("dye",))
    def looking(fields, t, out):
        out.u[0, 0, 0] += fields.v[0, 0, 0] + fields.temperature[0, 0, 0] + fields.u[0, 0, 0]
        out.u[0, 0, 0] += fields.surface_pressure[0, 0] + fields.dye[0, 0, 0]

    state = moving(5)
    options = {"parameters": {"levels": 5}, "tracers": tracers}
    exact, _, _ = slope("held_suarez", **options)
    state = np.concatenate(
        [state.reshape(-1, 32), exact.reshape(-1, 42)[:, 32:]], axis=1
    ).ravel()  # fmt: skip
    _, _, model = slope("held_suarez", state, forcing=looking, **options)
    shown = model.forcing.arrays[1][5]
    fields = model.convert.to_fields(state.reshape(model.shape))
    for name, scale in (("u", 1), ("v", 1), ("temperature", 1), ("dye", 1)):
        np.testing.assert_allclose(getattr(shown, name), fields[name] * scale, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(shown.surface_pressure, fields["surface_pressure"] / 100.0)
    grid = model.convert.transform.grid
    np.testing.assert_allclose(shown.latitude, np.radians(grid.lat), atol=1e-15)
    np.testing.assert_allclose(shown.longitude, np.radians(grid.lon), atol=1e-15)
    np.testing.assert_array_equal(shown.sigma, model.convert.vertical["sigma"])


@pytest.mark.parametrize(
    ("case", "options"),
    [("williamson_2", {"time_scheme": "imex_ars443", "threads": 2}),
     ("rossby_haurwitz", {"backend": "fp16", "compensation": "carry"})],
    ids=str,
)  # fmt: skip
def test_zero_forcing_keeps_the_bits_of_none(case, options):
    options = {"tracers": {"clock": "cosine_bell"}, **options}
    about = case, SMALL, 1 / 12
    free = climate.integrate(*about, output_hours=1, **options)
    require_same_bits(climate.integrate(*about, output_hours=1, forcing=idle, **options), free)


@pytest.mark.parametrize("scheme", ["semi_implicit_leapfrog", "rk4", "imex_ars443", "ssprk3"])
def test_time_level_of_a_forcing(scheme):
    """The leapfrog's increments are 2 dt F(n - 1), without its filter; others' are dt F(n)."""
    steps, dt = 8, SMALL.step_seconds / DAY
    filtered = {"filter_nu": 0.0} if scheme == "semi_implicit_leapfrog" else {}
    flow = climate.integrate(
        "williamson_2", SMALL, steps * dt, output_hours=24 * dt, time_scheme=scheme,
        forcing=counting, tracers={"clock": 0.0}, parameters=filtered,
    )  # fmt: skip
    clock = [0.0, 0.0]
    for n in range(steps):
        first = n == 0 or not filtered
        clock.append(clock[-1] + dt * (n * dt) if first else clock[-2] + 2 * dt * ((n - 1) * dt))
    for n, expected in enumerate(clock[1:]):
        np.testing.assert_allclose(flow.fields["clock"][n], expected, atol=1e-14)


def test_threads_change_no_bit_of_a_forced_run():
    about = "galewsky", SMALL, 1 / 6
    options = {
        "forcing": stirred, "tracers": {"dye": "cosine_bell"}, "output_hours": 1,
        "time_scheme": "semi_implicit_leapfrog",
    }  # fmt: skip
    alone = climate.integrate(*about, **options)
    require_same_bits(climate.integrate(*about, threads=3, **options), alone)


def test_another_forcing_or_parameter_is_another_run():
    requests = [
        check_request("galewsky", SMALL, 1 / 8, output_hours=1, tracers={"dye": 1.0, "clock": 0.0},
                      forcing=forcing, forcing_parameters=parameters)
        for forcing, parameters in (
            (None, {}), (counting, {}), (stirred, {}), (stirred, {"rate": 0.7}),
            (stirred, {"rise": 1.0}),
        )
    ]  # fmt: skip
    assert len({digest(each) for each in requests}) == len(requests)


def test_branches_know_their_forcing(tmp_path):
    options = {
        "forcing": stirred, "tracers": {"dye": "cosine_bell"}, "output_hours": 1,
        "time_scheme": "semi_implicit_leapfrog",
    }  # fmt: skip
    whole = climate.run("galewsky", "T10", 1 / 4, **options)
    climate.run("galewsky", "T10", 1 / 8, checkpoints=tmp_path, **options)
    (file,) = tmp_path.glob("*.npz")
    branch = climate.run("galewsky", "T10", 1 / 8, start_from=file, **options)
    assert "with the bits of the run that was not stopped" in branch.attrs["initial_state"]
    np.testing.assert_array_equal(branch["dye"][-1], whole["dye"][-1])
    other = climate.run(
        "galewsky", "T10", 1 / 8, start_from=file, forcing_parameters={"rate": 2.0}, **options
    )
    words = other.attrs["initial_state"]
    assert "dropped: the tendencies of its forcing at the older level" in words
    assert "its forcing is stirred, here stirred, with other code, parameters or dates" in words
    assert (other["dye"][-1] != whole["dye"][-1]).any()
    assert other.attrs["forcing"] == "stirred"
    assert '"rate": [2.0, "1/day"]' in other.attrs["forcing_parameters"]


def test_tendency_that_is_not_finite_is_named():
    flow = climate.run("galewsky", "T10", 1, forcing=dividing, output_hours=6)
    words = "the forcing 'dividing' sets the tendency of u to nan at level 1, latitude -"
    assert words in flow.attrs["blow_up"] or words.replace("nan", "inf") in flow.attrs["blow_up"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"forcing": held_suarez}, "has no fields.sigma; it has u, v, height, latitude, longitude"),
        ({"forcing": stirred}, "sees or changes tracer 'dye', which .* does not carry"),
        ({"forcing": sinking, "case": "held_suarez"}, "has no fields.height; it has u, v, temp"),
        ({"forcing": sinking, "case": "williamson_1"}, "'advection', which take none; accepted:"),
        ({"forcing": abs}, "accepted: a kernel decorated by sciprec.climate.forcing"),
        ({"forcing": sinking, "forcing_parameters": {"rat": 1}}, "did you mean 'rate'"),
        ({"forcing_parameters": {"rate": 1}}, "is given without a forcing"),
        ({"forcing": "nowhere.py:heat"}, "the forcing 'nowhere.py' does not exist"),
        ({"forcing": "heat"}, "forcing is 'heat'; accepted: a kernel decorated"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)  # fmt: skip
def test_forcings_that_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        climate.run(**({"case": "galewsky", "truncation": "T10", "days": 1} | options))


def test_writing_into_a_field_is_refused():
    with pytest.raises(InputError, match=r"it writes into 'fields.u', which it is given; accepted"):

        @climate.forcing()
        def stopping(fields, t, out):
            fields.u[0, 0, 0] = 0.0


def test_tracer_that_is_not_declared_is_unknown():
    with pytest.raises(InputError, match=r"'fields' has no 'dye'; known: u, v, temperature"):

        @climate.forcing()
        def dyeing(fields, t, out):
            out.u[0, 0, 0] += fields.dye[0, 0, 0]


def test_forcing_of_a_file(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from sciprec import climate\n\n"
        "@climate.forcing(parameters={'rate': (0.5, '1/day')})\n"
        "def braking(fields, t, p, out):\n"
        "    for j in range(fields.u.shape[1]):\n"
        "        for i in range(fields.u.shape[2]):\n"
        "            out.u[0, j, i] -= p.rate * fields.u[0, j, i]\n"
    )
    flows = [
        climate.run("galewsky", "T10", 1 / 24, forcing=forcing, output_hours=1)
        for forcing in (f"{file}:braking", str(file), None)
    ]
    np.testing.assert_array_equal(flows[0]["u"], flows[1]["u"])
    assert (flows[0]["u"] != flows[2]["u"]).any()
    with pytest.raises(InputError, match=r"has no forcing 'brakin'; it has braking; did you mean"):
        climate.run("galewsky", "T10", 1, forcing=f"{file}:brakin")


@pytest.mark.slow
def test_forcing_in_a_scenario_and_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "from sciprec import climate\n\n"
        "@climate.forcing(parameters={'rate': (0.5, '1/day')})\n"
        "def braking(fields, t, p, out):\n"
        "    out.u[0, 3, 3] -= p.rate * fields.u[0, 3, 3]\n"
    )
    common = ["climate", "run", "williamson_2", "--truncation", "10", "--days", "0.05",
              "--output-hours", "1.2", "--quiet", "--backend", "fp32"]  # fmt: skip
    result = CliRunner().invoke(
        app, [*common, "--forcing", "mine.py:braking", "--set",
              "climate.forcing_parameters.rate=0.25", "--out", "stored"]
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    (file,) = (tmp_path / "stored").rglob("*fp32*.nc")
    with xr.open_dataset(file, decode_times=False) as stored:
        assert stored.attrs["forcing_parameters"] == '{"rate": [0.25, "1/day"]}'
    result = CliRunner().invoke(app, [*common, "--forcing", "mine.py:brake", "--out", "other"])
    assert "has no forcing 'brake'; it has braking" in str(result.exception)
