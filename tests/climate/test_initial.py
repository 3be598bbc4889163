"""Initial states that users bring: shipped states come back, all conventions of a grid give
the same bits, winds and levels are those of an oracle without shared code, bad files are refused.
"""

from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from scipy.interpolate import RegularGridInterpolator

from sciprec import climate
from sciprec.climate.cases.registry import CASES
from sciprec.climate.constants import GRAVITY_M_PER_S2, RADIUS_M
from sciprec.climate.running.labelled import fields_given
from sciprec.climate.running.lifted_model import conversion_of
from sciprec.climate.running.request import check_request
from sciprec.climate.running.start import initial_state
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.foundation.errors import InputError
from sciprec.foundation.timing import Timing
from sciprec.results.output.dataset import trajectory_dataset
from tests.climate.small_models import SMALL

GRID = GaussianGrid(SMALL)
SHORT = {"truncation": SMALL, "step_seconds": 1080.0, "output_hours": 1.2}
LEVELS = {"levels": 4}


def start(case, initial=None, names=None, **parameters):
    """The initial state, (..., lon, lat) in the model's order, its conversion and coefficients."""
    fields = fields_given(initial, names, case)
    request = check_request(case, SMALL, 1.0, parameters=parameters, initial=fields)
    state = initial_state(request, GRID)
    convert = conversion_of(request, state)
    return state, convert, convert.to_state(state)


def south_to_north(x):
    """A field (..., lon, lat) of a state as (..., lat, lon)."""
    return np.swapaxes(x[..., GRID.south_to_north], -1, -2)


@pytest.mark.slow
@pytest.mark.parametrize("left_out", [("u", "v"), ("vorticity", "divergence")])
@pytest.mark.parametrize("name", list(CASES))
def test_a_case_that_sciprec_wrote_is_read_to_its_own_coefficients(name, left_out, tmp_path):
    levels = LEVELS if "levels" in CASES[name].parameters else {}
    _, convert, exact = start(name, **levels)
    fields = {k: x[None] for k, x in convert.to_fields(exact).items()}
    written = trajectory_dataset(SimpleNamespace(
        time_days=[0.0], lat=GRID.lat, lon=GRID.lon, fields=fields, budgets={}, units={},
        vertical=convert.vertical, radius_m=1.0, step_seconds=1.0, steps=0, blow_up=None,
        timing=Timing(0.0, 0.0, 0.0), fixed_point=None,
    )).drop_vars(left_out, errors="ignore")  # fmt: skip
    if not {"u", "vorticity"} & set(written):
        with pytest.raises(InputError, match="has no vorticity and divergence or u and v"):
            start(name, written)
        return
    written.to_netcdf(tmp_path / "state.nc")
    _, _, again = start(name, tmp_path / "state.nc", **levels)
    largest = np.abs(exact).max(axis=0).reshape(-1, 2).max(axis=1).repeat(2)
    largest[largest < 1e-3 * largest.max()] = largest.max()  # a divergence beside a vorticity
    if "vorticity" in left_out:
        again[0] = exact[0]  # winds know nothing of the mean of an aliased vorticity
    assert (np.abs(again - exact) / largest).max() < 64 * 2.0**-52


# fields whose gradients, vorticity and divergence are known: harmonic polynomials in x, y, z
HARMONICS = {
    "x": (1, lambda x, y, z: x, lambda x, y, z: (1, 0, 0)),
    "z": (1, lambda x, y, z: z, lambda x, y, z: (0, 0, 1)),
    "xy": (2, lambda x, y, z: x * y, lambda x, y, z: (y, x, 0)),
    "yz": (2, lambda x, y, z: y * z, lambda x, y, z: (0, z, y)),
    "xyz": (3, lambda x, y, z: x * y * z, lambda x, y, z: (y * z, x * z, x * y)),
}


def along(name, lat, lon):
    """A harmonic on a grid, and its eastward and northward slope on the unit sphere."""
    phi, lam = np.radians(lat)[:, None], np.radians(lon)[None, :]
    place = np.broadcast_arrays(
        np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi) + 0 * lam
    )
    degree, value, slope = HARMONICS[name]
    a, b, c = slope(*place)
    east = -np.sin(lam) * a + np.cos(lam) * b
    north = -np.sin(phi) * (np.cos(lam) * a + np.sin(lam) * b) + np.cos(phi) * c
    return degree, value(*place), east, north


def weather(seed, lat, lon):
    """u, v (m/s) and height (m) on a grid, and vorticity and divergence (1/s) without rounding."""
    random = np.random.default_rng(seed)
    u = v = vorticity = divergence = height = 0.0
    for name in HARMONICS:
        psi, chi, bump = random.uniform(-1, 1, 3)
        degree, value, east, north = along(name, lat, lon)
        u, v = u + 10 * (chi * east - psi * north), v + 10 * (chi * north + psi * east)
        turning = -degree * (degree + 1) * 10 / RADIUS_M * value
        vorticity, divergence = vorticity + psi * turning, divergence + chi * turning
        height = height + 300 * bump * value
    return {"u": u, "v": v, "height": 9000 + height}, vorticity, divergence


def regular(nlat, nlon, poles=False):
    half = 0 if poles else 90 / nlat
    return np.linspace(-90 + half, 90 - half, nlat), np.arange(nlon) * 360 / nlon


def dataset(fields, lat, lon):
    return xr.Dataset({k: (("lat", "lon"), x) for k, x in fields.items()}, {"lat": lat, "lon": lon})


def by_scipy(lat, lon, fields, points):
    """Fields of a grid at latitudes of the model, poles by their Fourier coefficients: a vector at
    the north pole is c exp(-i lon) as u + i v, at the south pole c exp(i lon).
    """
    wind = fields["u"] + 1j * fields["v"]
    result = []
    for x, orders in ((wind, (1, -1)), (fields["height"], (0, 0))):
        if lat[-1] < 90:
            turning = [np.exp(1j * k * np.radians(lon)) for k in orders]
            ends = [np.fft.fft(x[j])[k] / lon.size * turn
                    for j, k, turn in zip((0, -1), orders, turning, strict=True)]  # fmt: skip
            x = np.vstack([ends[0], x, ends[1]])
        rows = lat if lat[-1] == 90 else [-90, *lat, 90]
        x = np.concatenate([x, x[:, :1]], axis=1)
        there = np.meshgrid(points, GRID.lon, indexing="ij")
        result.append(RegularGridInterpolator((rows, [*lon, 360.0]), x)(tuple(there)))
    return result[0].real, result[0].imag, result[1].real


@pytest.mark.parametrize("poles", [False, True])
def test_fields_and_winds_are_those_of_an_oracle_and_converge(poles):
    """Bilinear by SciPy; vorticity and divergence by parts: the mean of zeta Y is that of
    u dY/dnorth - v dY/deast, sums over numpy's Gauss points.
    """
    nodes, weights = np.polynomial.legendre.leggauss(SMALL.nlat)
    points = np.degrees(np.arcsin(nodes))
    errors = []
    for nlat in (8, 24, 72):
        lat, lon = regular(nlat + poles, 2 * nlat, poles)
        fields, *_ = weather(3, lat, lon)
        state, _, _ = start("williamson_2", dataset(fields, lat, lon))
        u, v, height = by_scipy(lat, lon, fields, points)
        np.testing.assert_allclose(south_to_north(state.height), height, rtol=1e-12)
        mine = [south_to_north(x) for x in (state.vorticity, state.divergence)]
        for name in HARMONICS:
            _, value, east, north = along(name, points, GRID.lon)
            by_parts = u * north - v * east, -u * east - v * north
            for one, other in zip(mine, by_parts, strict=True):
                means = [x.mean(axis=1) @ weights / 2 for x in (one * value, other)]
                assert means[0] == pytest.approx(means[1] / RADIUS_M, abs=1e-19)
        pairs = zip(mine, weather(3, points, GRID.lon)[1:], strict=True)
        errors.append([np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in pairs])
    assert (np.log(errors[0]) - np.log(errors[2]) > 1.7 * np.log(9)).all() and errors[2][0] < 1e-3


def permuted(fields, lat, lon, random):
    """A dataset with the same fields under other conventions, and what names its variables need."""
    given = dataset(fields, lat, lon)
    names = {
        "u": [("u", {}), ("U", {}), ("x1", {"standard_name": "eastward_wind"}), ("ua", {})],
        "v": [("v", {}), ("V", {}), ("x2", {"GRIB_shortName": "v"}), ("northward", None)],
        "height": [("height", {}), ("h", {}), ("gh", {"units": "gpm"}), ("x3", None)],
    }  # fmt: skip
    said = {}
    for field, choices in names.items():
        name, attrs = choices[random.integers(len(choices))]
        if attrs is None:
            said[field] = name
        given = given.rename({field: name}) if name != field else given
        x = given[name].assign_attrs(attrs or {})
        if field == "height" and random.integers(2):
            x = (x / 1000.0).assign_attrs(attrs or {}, units="km")
        elif field != "height":
            x.attrs["units"] = str(random.choice(["m s-1", "m/s", "m s**-1", "meters second-1"]))
        if random.integers(2) and not (x.attrs.get("units") == "km"):
            x = x.astype(np.float32).assign_attrs(x.attrs)
        given[name] = x.transpose(*random.permutation(["lat", "lon"]))
    given = given.isel(lat=slice(None, None, int(random.choice([-1, 1]))))
    given = given.roll(lon=int(random.integers(lon.size)), roll_coords=True)
    west = (given.lon + 180) % 360 - 180 if random.integers(2) else given.lon
    given = given.assign_coords(lon=west.astype(random.choice(["f4", "f8"])))
    given = given.assign_coords(lat=given.lat.astype(random.choice(["f4", "f8"])))
    if random.integers(2):
        given = given.rename(lat="latitude", lon="longitude")
    if random.integers(2):
        given = given.expand_dims(time=[np.datetime64("2001-02-03", "ns")])
    given = given[list(random.permutation(list(given)))]
    return given.chunk() if random.integers(2) else given, said


@pytest.mark.parametrize("seed", range(3))
def test_a_field_has_the_same_bits_under_every_convention(seed):
    random = np.random.default_rng(seed)
    lat, lon = regular(12 + seed, 24 + 3 * seed, seed == 1)
    fields, *_ = weather(seed, lat, lon)
    fields = {k: np.round(x * 8) / 8 for k, x in fields.items()}  # as binary32 has them
    fields["height"] = np.round(fields["height"] / 500) * 500  # as km have them
    _, _, wanted = start("williamson_5", dataset(fields, lat, lon))
    for _ in range(12):
        given, names = permuted(fields, lat, lon, random)
        assert start("williamson_5", given, names)[2].tobytes() == wanted.tobytes(), given


def air(levels=(850.0, 500.0, 1000.0, 250.0), unit="hPa", **changes):
    """An atmosphere as ERA5 writes it: binary32, 90 to -90, levels of pressure."""
    lat, lon = np.linspace(90, -90, 19, dtype="f4"), np.arange(0, 360, 10, dtype="f4")
    fields, *_ = weather(1, lat.astype(float), lon.astype(float))
    depth = np.log(np.array(levels) / 1000)[:, None, None]
    t = 288 + 40 * depth + 0.003 * (fields["height"] - 9000)
    along_levels = ("level", "latitude", "longitude")
    content = {
        "u": (along_levels, (fields["u"] * (1 - depth)).astype("f4"), {"units": "m s**-1"}),
        "v": (along_levels, (fields["v"] * (1 - depth)).astype("f4"), {"units": "m s**-1"}),
        "t": (along_levels, t.astype("f4"), {"units": "K"}),
        "sp": (along_levels[1:], (1e5 + 10 * fields["u"]).astype("f4"), {"units": "Pa"}),
        "z": (along_levels[1:], (98.0 * fields["v"]).astype("f4"), {"units": "m**2 s**-2"}),
    }  # fmt: skip
    axes = {"level": ("level", list(levels), {"units": unit}), "latitude": lat, "longitude": lon}
    return xr.Dataset(content, axes).assign(changes)


def test_levels_are_interpolated_in_log_p_as_numpy_does():
    given = air()
    state, _, _ = start("held_suarez", given, **LEVELS)
    by_level = given.assign(t=given.t * 0 + 150 + given.level / 5.0)
    flat, _, _ = start("held_suarez", by_level, **LEVELS)
    pressure = south_to_north(state.surface_pressure)
    known = np.sort(given.level.values)
    for k, sigma in enumerate(state.levels.full):
        wanted = np.interp(np.log(sigma * pressure), np.log(100 * known), 150 + known / 5.0)
        np.testing.assert_allclose(south_to_north(flat.temperature)[k], wanted, rtol=1e-12)
    lnsp = np.log(given.sp.astype(float)).assign_attrs(units="~")
    celsius = (given.t.astype(float) - 273.15).assign_attrs(units="degC")
    other, _, _ = start("held_suarez", given.drop_vars("sp").assign(lnsp=lnsp, t=celsius), **LEVELS)
    for field in ("u", "temperature", "surface_pressure", "orography"):
        np.testing.assert_allclose(getattr(other, field), getattr(state, field), rtol=1e-5)
    rows = given.z.astype(float).sortby("latitude").interp(
        latitude=GRID.lat[2:-2], longitude=GRID.lon[:-1]
    )  # fmt: skip
    mine = south_to_north(state.orography)[2:-2, :-1]
    np.testing.assert_allclose(mine, rows / GRAVITY_M_PER_S2, rtol=2e-3, atol=1e-6)


def hybrid(draw, sigma_like=False):
    """The atmosphere of `air` on hybrid levels, in a random spelling; their ap (Pa) and b."""
    b = np.sort(draw.uniform(0.0, 1.0, 4))
    ap = np.zeros(4) if sigma_like else np.sort(draw.uniform(500.0, 9000.0, 4)) * (1 - b)
    ap[0] += 2000.0 * (not sigma_like)
    b[0] *= sigma_like
    order = draw.permutation(4)
    given = air().drop_vars("level").rename(level="lev")
    given = given.isel(lev=np.arange(4)[order])
    pressure, unit = (1.0, "Pa") if draw.random() < 0.5 else (100.0, "hPa")
    terms, how = "ps: sp", draw.integers(3)
    if how == 0:
        given["hyam"] = ("lev", ap[order] / 1e5, {"units": "1"})
        given["P0"] = ((), 1e5 / pressure, {"units": unit})
        terms = f"a: hyam b: hybm p0: P0 {terms}"
    else:  # some say a where they mean ap
        given["hyam"] = ("lev", ap[order] / pressure, {"units": unit})
        terms = f"{'a' if how == 1 else 'ap'}: hyam b: hybm {terms}"
    given["hybm"] = ("lev", b[order], {"units": "1"})
    about = {
        "formula_terms": terms, "positive": "down", "units": draw.choice(["1", "hPa", "level"]),
        "standard_name": "atmosphere_hybrid_sigma_pressure_coordinate",
    }  # fmt: skip
    return given.assign_coords(lev=("lev", order + 1.0, about)), ap, b


@pytest.mark.parametrize("seed", range(6))
def test_hybrid_levels_are_interpolated_in_log_p_of_their_own_column(seed, tmp_path):
    """As numpy does in each column, whatever the file calls a and b; levels of sigma alone give
    what sigma levels give.
    """
    draw = np.random.default_rng(seed)
    given, ap, b = hybrid(draw, sigma_like=seed == 0)
    numbers = 200.0 + 20.0 * np.arange(4.0)
    given["t"] = given.t * 0 + given.lev.copy(data=numbers[given.lev.values.astype(int) - 1])
    given.to_netcdf(tmp_path / "hybrid.nc")
    for source in (given, tmp_path / "hybrid.nc"):
        state, *_ = start("held_suarez", source, **LEVELS)
        pressure = south_to_north(state.surface_pressure)
        found = south_to_north(state.temperature)
        for _ in range(40):
            j, i = draw.integers(pressure.shape[0]), draw.integers(pressure.shape[1])
            known = np.log(ap + b * pressure[j, i])
            wanted = np.log(state.levels.full * pressure[j, i])
            exact = np.interp(wanted, known, numbers)
            np.testing.assert_allclose(found[:, j, i], exact, rtol=1e-12)
    fields = fields_given(given, None, "held_suarez")
    assert "linear in ln p from 4 hybrid levels" in fields.in_words(GRID.lat, GRID.lon)
    if seed == 0:
        sigma = given.drop_vars(["hyam", "hybm", "P0"], errors="ignore").assign_coords(
            lev=("lev", given.hybm.values, {"standard_name": "atmosphere_sigma_coordinate"})
        )
        other, *_ = start("held_suarez", sigma, **LEVELS)
        np.testing.assert_allclose(other.temperature, state.temperature, rtol=1e-12)


def renamed(x, draw):
    """A variable under another's name, or one that nobody knows."""
    names = list(x.variables)
    return x.rename({draw.choice(names): draw.choice(["q", "ps", "lnsp", "lat2", "zz"])})


def without(x, draw):
    """A variable is gone."""
    return x.drop_vars(draw.choice(list(x.variables)))


def with_strange_attribute(x, draw):
    """An attribute is another text, a number, or gone."""
    variable = x[draw.choice(list(x.variables))]
    name = draw.choice(["units", "formula_terms", "standard_name", "positive", "axis"])
    strange = [
        "", "b:", "a: b: ps:", "ap: nowhere b: hybm ps: sp", "a: sp b: hybm", "hPa", "furlong", 3,
        "a: hyam b: hybm p0: lev", "atmosphere_sigma_coordinate", "degrees_north",
    ]  # fmt: skip
    variable.attrs[str(name)] = strange[draw.integers(len(strange))]
    return x.assign_coords({variable.name: variable}) if variable.name in x.coords else x.assign(
        {variable.name: variable})  # fmt: skip


def with_strange_values(x, draw):
    """Some values of a variable, or all, are no numbers, infinite, zero, negative or huge."""
    name = draw.choice(list(x.variables))
    if draw.random() < 0.2:
        return x.assign({name: x[name].astype(str)})
    values = np.array(x[name].values, float)
    at = draw.random(values.shape) < draw.choice([0.1, 1.0])
    values[at] = draw.choice([np.nan, np.inf, 0.0, -1.0, 1e30, 0.5])
    return x.assign({name: x[name].copy(data=values)})


def with_other_axes(x, draw):
    """Axes are shorter, backwards, longer, of one value, or other ones."""
    axis = draw.choice(list(x.dims))
    ways = [lambda: x.isel({axis: slice(0, 1)}), lambda: x.isel({axis: slice(0, 0)}),
            lambda: x.isel({axis: slice(None, None, -1)}), lambda: x.expand_dims("member"),
            lambda: x.expand_dims(time=3), lambda: x.rename({axis: "n"}),
            lambda: x.isel({axis: [0, 0, 1, 2]}), lambda: x.transpose()]  # fmt: skip
    return ways[draw.integers(len(ways))]()


@pytest.mark.parametrize("seed", range(30))
def test_a_strange_file_gives_a_state_or_a_sentence(seed):
    """One to three damages: whatever is read is finite, whatever is not gets one line."""
    draw = np.random.default_rng(1000 + seed)
    given, *_ = hybrid(draw)
    ways = (renamed, without, with_strange_attribute, with_strange_values, with_other_axes)
    for _ in range(draw.integers(1, 4)):
        try:
            given = ways[draw.integers(len(ways))](given, draw)
        except (ValueError, KeyError, TypeError, UserWarning):  # xarray does not let it be made
            continue
    try:
        state, *_ = start("held_suarez", given, **LEVELS)
    except InputError as error:
        assert "\n" not in str(error) and len(str(error)) > 30, error
        return
    for name in ("u", "v", "temperature", "surface_pressure"):
        assert np.isfinite(getattr(state, name)).all(), name


BAD = {
    "no t": (lambda x: x.drop_vars("t"), "has no temperature on levels; found: u, v, sp, z"),
    "misspelt": (lambda x: x.rename(t="temprature"), "did you mean 'temprature'"),
    "knots": (lambda x: x.assign(u=x.u.assign_attrs(units="knots")), "'u' is in 'knots'; accepted"),
    "kmh": (lambda x: x.assign(u=x.u * 5000), r"accepted for u: -250 to 250 m s-1"),
    "vorticity": (
        lambda x: x.assign(vo=x.u.assign_attrs(units="1/s"), d=0 * x.v.assign_attrs(units="s-1")),
        "for vorticity: -0.1 to 0.1 s-1",
    ),
    "NaN": (lambda x: x.assign(sp=x.sp.where(x.longitude != 40)), "'sp' is nan at latitude"),
    "cold": (lambda x: x.assign(t=x.t - 273), "accepted for temperature: 100 to 400 K"),
    "hPa": (lambda x: x.assign(sp=x.sp / 100), "for surface_pressure: 10000 to 200000 Pa"),
    "tropics": (lambda x: x.sel(latitude=slice(30, -30)), "nothing between -90 and -30"),
    "hole": (lambda x: x.drop_sel(latitude=[10, 20, 30]), "nothing between 0 and 40"),
    "west": (lambda x: x.sel(longitude=slice(0, 170)), "nothing between 170 and 0"),
    "curved": (
        lambda x: x.assign_coords(latitude=2 * x.latitude), "degrees of latitude from -90 to 90"
    ),
    "no grid": (lambda x: x.stack(n=("latitude", "longitude")), "longitudes along one axis"),
    "numbered": (lambda x: air(range(1, 5), "1"), r"'level' say no pressures \(units: '1'\)"),
    "twice": (lambda x: air((500.0, 500.0, 100.0)), "two or more different pressures"),
    "no level": (lambda x: x.isel(level=slice(0)), "'level' are 0; accepted: two or more"),
    "no time": (lambda x: x.expand_dims(time=2).isel(time=slice(0)), "holds no time: 'time'"),
    "no name": (lambda x: x.rename(t=("t", 1)), "has no temperature on levels; found: u, v, sp, z"),
    "north": (
        lambda x: x.assign_coords(latitude=x.latitude.astype(str)), "19 values, not all finite num"
    ),
    "members": (lambda x: x.expand_dims(number=2), "2 fields along 'number'"),
    "times": (
        lambda x: x.expand_dims(time=np.array(["2001-01-01", "2001-01-02"], "M8[ns]")),
        "holds 2 times, from 2001-01-01T00:00:00 to 2001-01-02T00:00:00; say which",
    ),
    "two": (
        lambda x: x.assign(a=x.t.assign_attrs(standard_name="air_temperature"),
                           b=x.t.assign_attrs(standard_name="air_temperature")),
        "several fields that are temperature: a, b; say which",
    ),
    "text": (lambda x: x.assign(sp=x.sp.astype(str)), "'sp' holds no numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_state_is_refused_with_a_sentence(name):
    spoilt, words = BAD[name]
    with pytest.raises(InputError, match=words) as refusal:
        start("held_suarez", spoilt(air()), **LEVELS)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("given, words", [
    ({"initial": 3}, "an xarray Dataset, or the path of a netCDF file"),
    ({"initial": "nowhere.nc"}, "nowhere.nc' does not exist"),
    ({"initial_fields": {"u": "U"}}, "initial_fields is given without initial"),
    ({"initial": air(), "initial_fields": {"tmperature": "t"}}, "did you mean 'temperature'"),
    ({"initial": air(), "initial_fields": {"u": "w"}}, "has no field 'w', which initial_fields"),
    ({"initial": air()}, "'u' has 4 levels"),
    ({"initial": air().isel(level=0, drop=True)}, "height less orography"),
])  # fmt: skip
def test_what_stands_beside_is_refused_too(given, words):
    with pytest.raises(InputError, match=words):
        climate.run("williamson_5", days=0.05, **SHORT, **given)


def test_a_run_goes_on_from_a_state_and_says_so(tmp_path):
    """Runge and Kutta's scheme knows no state before: a run from half way is the second half."""
    whole = climate.run("williamson_5", days=0.1, **SHORT)
    whole.to_netcdf(tmp_path / "half.nc")
    for time in ("0.05", "2000-01-01T01:12"):
        second = climate.run(
            "williamson_5", days=0.05, initial=f"{tmp_path}/half.nc@{time}", **SHORT
        )  # fmt: skip
        words = second.attrs["initial_state"]
        assert "half.nc' at 2000-01-01T01:12:00; on the model's own grid; transformed" in words
        assert "the orography that of case 'williamson_5'" in words
        for name in ("height", "vorticity"):
            one, other = second[name][-1], whole[name][-1]
            assert float(abs(one - other).max() / abs(other).max()) < 1e-12
    with pytest.raises(InputError, match="has no time '0.07'; it holds 3, from 2000-01-01T00:00"):
        climate.run("williamson_5", days=0.05, initial=f"{tmp_path}/half.nc@0.07", **SHORT)
